"""What is ordered in tests, and the order it must have: by NumPy's own sort of numbers that stand for the elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from baracuda.core.elements import ElementKind

Array = Any
#: Every element that is whole bytes.
KINDS = [kind for kind in ElementKind if kind.bits >= 8]


def mixed(shape: tuple[int, ...], kind: ElementKind, seed: int = 0) -> Array:
    """Any bits, and among them many equal elements: zeros of both signs, NaN of both, infinities."""
    rng = np.random.default_rng([seed, *shape])
    if kind is ElementKind.BOOL:
        return rng.integers(0, 2, shape).astype(bool)
    dtype = kind.numpy
    x = rng.integers(0, 256, (*shape, dtype.itemsize), dtype=np.uint8).view(dtype).reshape(shape)
    if dtype.kind in "iu":
        return np.where(rng.random(shape) < 0.5, rng.integers(0, 3, shape).astype(dtype), x)
    ends = [] if kind is ElementKind.F8E4M3 else [np.inf, -np.inf]
    special = np.array([0.0, -0.0, 1, -1, 2, np.nan, -np.nan, *ends])
    few = rng.choice(special, shape)
    if dtype.kind == "c":
        few = few + 0j
        few.imag = rng.choice(special, shape)
    return np.where(rng.random(shape) < 0.5, few.astype(dtype), x)


def order_of(x: Array, *, descending: bool = False, nan_first: bool = False) -> Array:
    """The stable order of the rows along the last axis."""
    sign = -1 if descending else 1
    with np.errstate(invalid="ignore"):
        if x.dtype.kind == "c":
            re, im = x.real.astype(np.float64), x.imag.astype(np.float64)
            a, b = np.isnan(re), np.isnan(im)
            group = (2 * a + b) * (-1 if nan_first else 1)
            alone = np.where(a & b, 0, np.where(a, im, np.where(b, re, im)))
            return np.lexsort((sign * alone, np.where(a | b, 0, sign * re), group), axis=-1)
        if x.dtype.kind in "iub":
            number = x if x.dtype == np.uint64 else x.astype(np.int64)
            return np.argsort(~number if descending else number, axis=-1, kind="stable")
        number = x.astype(np.float64)
        nan = np.isnan(number)
        return np.lexsort((np.where(nan, 0, sign * number), -nan.astype(int) if nan_first else nan), axis=-1)


def raw(x: Array) -> Array:
    """The bytes of a tensor."""
    return np.ascontiguousarray(x).view(np.uint8)
