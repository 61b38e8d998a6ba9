"""Attention in integers by the written order of its sums, in NumPy: the order of chains with other products."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from baracuda.formula.exact_fma import fma32
from baracuda.formula.integer_products import BLOCK, scaled
from baracuda.ops.attention.descriptor import AttentionDescriptor
from tests.lowering.attention_reference import Array, Emulation


class IntegerEmulation(Emulation):
    """The order of sums with products of integers of so many bits, whose sums over a block or a tile are exact."""

    def __init__(self, d: AttentionDescriptor, tensors: Mapping[str, Array], bits: int) -> None:
        self.bits = bits
        super().__init__(d, tensors)

    def _rows(self, x: Array) -> tuple[Array, Array]:
        """The integers of rows, s64, and their scales; those of a row that is not finite are 0 and NaN."""
        finite = np.isfinite(x).all(-1)
        q, exponent = scaled(np.where(finite[..., None], x, np.float32(0)), self.bits)
        return q, np.where(finite, np.ldexp(np.float32(1), exponent - self.bits), np.float32(np.nan))

    def _dots(self, a: Array, b: Array) -> Array:
        (left, of_left), (right, of_right) = self._rows(a), self._rows(b)
        of_left, of_right = of_left[..., :, None], of_right[..., None, :]
        low, high = np.minimum(of_left, of_right), np.maximum(of_left, of_right)
        total = np.zeros((*a.shape[:3], b.shape[2]), np.float32)
        for first in range(0, a.shape[-1], BLOCK):
            block = slice(first, first + BLOCK)
            exact = left[..., block] @ np.swapaxes(right[..., block], -1, -2)
            with np.errstate(over="ignore", invalid="ignore"):
                total = fma32(exact.astype(np.float32) * low, high, total)
        return total

    def _weighted(self, total: Array, weights: Array, rows: Array) -> Array:
        q, scales = self._rows(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            w: Any = np.where(weights == 0, np.float32(0), weights * scales[..., None, :])
        u, scale = self._rows(w)
        return fma32((u @ q).astype(np.float32), scale[..., None], total)
