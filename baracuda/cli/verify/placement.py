"""Tensors laid out in memory on purpose: any strides, offset and alignment, inside a block with guards around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from baracuda.core.elements import ElementKind

#: Bytes before and after a tensor's elements, checked to be untouched.
GUARD = 256
#: Every way a tensor is laid out here; `written` tensors take the nearest one that an output may have.
LAYOUTS = ("contiguous", "transposed", "permuted", "mixed", "sliced", "negative", "broadcast", "padded", "misaligned", "in_place")


@dataclass(frozen=True)
class TensorPlacement:
    """Where a tensor's elements are in a block of `nbytes` bytes: strides in elements, offset of the first in bytes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    kind: ElementKind
    offset: int
    nbytes: int

    def view(self, block: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The tensor in a host block."""
        steps = tuple(s * self.kind.itemsize for s in self.strides)
        return np.ndarray(self.shape, self.kind.numpy, block.data, self.offset, steps)

    def block(self, poison: int) -> np.ndarray[Any, Any]:
        """A host block, aligned to 64 bytes, every byte of it `poison`."""
        raw = np.full(self.nbytes + 64, poison, np.uint8)
        start = -raw.ctypes.data % 64
        return raw[start : start + self.nbytes]


def dense_strides(shape: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Strides without gaps, with the axes of `order` from slowest to fastest."""
    strides, step = [0] * len(shape), 1
    for a in reversed(order):
        strides[a], step = step, step * max(shape[a], 1)
    return tuple(strides)


def placed(shape: Sequence[int], strides: Sequence[int], kind: ElementKind, shift: int = 0) -> TensorPlacement:
    """A block that these strides fit in, the first element `shift` elements off a 64-byte boundary (where none is negative)."""
    shape, strides = tuple(shape), tuple(strides)
    spans = [(n - 1) * s for n, s in zip(shape, strides, strict=True)] if 0 not in shape else []
    below, above = -sum(s for s in spans if s < 0), sum(s for s in spans if s > 0)
    size = kind.itemsize
    lead = GUARD + -(-below * size // 64) * 64 + shift * size
    return TensorPlacement(shape, strides, kind, lead, -(-(lead + (above + 1) * size + GUARD) // 64) * 64)


def place(shape: Sequence[int], kind: ElementKind, layout: str, *, writable: bool, number: int = 0) -> TensorPlacement:
    """A tensor in one of `LAYOUTS`; `number` is its position among the operands, which "mixed" layouts differ by."""
    rank = len(shape)
    axes = list(range(rank))
    if layout == "mixed":
        layout = ("contiguous", "transposed")[number % 2]
    if layout == "transposed":
        return placed(shape, dense_strides(shape, axes[::-1]), kind)
    if layout == "permuted":
        return placed(shape, dense_strides(shape, [*axes[-1:], *axes[:-1]]), kind)
    if layout == "sliced":
        steps = [3 if a == 0 and rank > 1 else 2 if a == rank - 1 else 1 for a in axes]
        parent = dense_strides([n * s for n, s in zip(shape, steps, strict=True)], axes)
        return placed(shape, [p * s for p, s in zip(parent, steps, strict=True)], kind, shift=1)
    if layout == "negative":
        return placed(shape, [-s for s in dense_strides(shape, axes)], kind)
    if layout == "broadcast" and not writable and rank:
        own = dense_strides([1 if a == number % rank else n for a, n in enumerate(shape)], axes)
        return placed(shape, [0 if a == number % rank else s for a, s in enumerate(own)], kind)
    if layout == "padded" and rank:
        return placed(shape, dense_strides([*shape[:-1], shape[-1] + 3], axes), kind)
    return placed(shape, dense_strides(shape, axes), kind, shift=int(layout == "misaligned"))
