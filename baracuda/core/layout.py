"""Arithmetic of shapes and strides: which elements a tensor covers, and whether any two of them are the same memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from math import gcd, prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from baracuda.core.tensor import TensorRef

#: Steps that a search for overlap may take before the answer becomes the safe one, "they overlap".
SEARCH_LIMIT = 100_000


def round_up(n: int, step: int) -> int:
    """The least multiple of `step` that is at least `n`."""
    return -(-n // step) * step


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides in elements of a C-contiguous tensor; an extent of 0 counts as 1."""
    return _contiguous(tuple(shape))


@lru_cache(maxsize=4096)
def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(accumulate((max(n, 1) for n in shape[:0:-1]), int.__mul__, initial=1))[::-1] if shape else ()


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements of a tensor lie in logical order without gaps, whatever the strides of axes of extent 1 are."""
    dense = contiguous_strides(shape)
    return tuple(strides) == dense or 0 in shape or all(n == 1 or s == d for n, s, d in zip(shape, strides, dense, strict=True))


def reach(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """The lowest and the highest element offset that an index tuple has; (0, -1) for a tensor without elements."""
    if 0 in shape:
        return 0, -1
    spans = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    return sum(d for d in spans if d < 0), sum(d for d in spans if d > 0)


def has_internal_overlap(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether two index tuples have the same element offset; such a tensor cannot be written.

    Exact for up to two axes that interlock, and beyond that within `SEARCH_LIMIT` steps; a search that runs out of them
    answers True.
    """
    if 0 in shape:
        return False
    axes = merged_axes(sorted((abs(s), n) for s, n in zip(strides, shape, strict=True) if n > 1))
    while axes and axes[-1][0] > _span(axes[:-1]):  # no sum of smaller steps reaches one step of this axis
        axes.pop()
    if not axes:
        return False
    if axes[0][0] == 0 or prod(n for _, n in axes) > _span(axes) // gcd(*(s for s, _ in axes)) + 1:
        return True
    try:
        return _Search(axes).overlaps()
    except _OutOfStepsError:
        return True


def merged_axes(axes: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ascending (stride, extent) pairs, with an axis that continues its predecessor joined to it."""
    merged: list[tuple[int, int]] = []
    for stride, extent in axes:
        if merged and stride == merged[-1][0] * merged[-1][1] != 0:
            merged[-1] = (merged[-1][0], merged[-1][1] * extent)
        else:
            merged.append((stride, extent))
    return merged


def _span(axes: Sequence[tuple[int, int]]) -> int:
    return sum((n - 1) * s for s, n in axes)


class _OutOfStepsError(Exception):
    """The search used up `SEARCH_LIMIT`."""


class _Search:
    """Two index tuples share an offset where sum(d_j * stride_j) = 0 has a solution with |d_j| < extent_j, not all 0."""

    def __init__(self, axes: Sequence[tuple[int, int]]) -> None:
        self.axes = axes
        self.spans = [_span(axes[:k]) for k in range(len(axes) + 1)]
        self.divisors = [gcd(*(s for s, _ in axes[:k])) for k in range(len(axes) + 1)]
        self.steps = 0

    def overlaps(self) -> bool:
        """Whether there is a solution; of d and -d, the one whose last nonzero d_j is positive is looked for."""
        return any(
            self.reaches(top, -step * self.axes[top][0])
            for top in range(1, len(self.axes))
            for step in self.candidates(top, 0, lowest=1)
        )

    def candidates(self, axis: int, target: int, lowest: int) -> range:
        """The d of `axis`, from `lowest` up, that leave the axes before it a remainder within their span and divisor."""
        stride, extent = self.axes[axis]
        divisor, span = self.divisors[axis], self.spans[axis]
        common = gcd(stride, divisor)
        period = divisor // common  # stride * d = target modulo the divisor holds for every period-th d
        residue = target // common * pow(stride // common, -1, period) % period
        lowest = max(lowest, -((span - target) // stride))  # ceil((target - span) / stride)
        highest = min(extent - 1, (target + span) // stride)
        return range(lowest + (residue - lowest) % period, highest + 1, period)

    def reaches(self, count: int, target: int) -> bool:
        """Whether the first `count` axes have d_j with sum(d_j * stride_j) = target."""
        self.steps += 1
        if self.steps > SEARCH_LIMIT:
            raise _OutOfStepsError
        if abs(target) > self.spans[count] or target % self.divisors[count]:
            return False
        if count == 1:
            return True
        axis = count - 1
        stride, extent = self.axes[axis]
        return any(self.reaches(axis, target - d * stride) for d in self.candidates(axis, target, lowest=1 - extent))


def byte_range(tensor: TensorRef) -> tuple[int, int]:
    """The half-open range of addresses that a tensor's elements lie in; empty where it has none."""
    lowest, highest = reach(tensor.shape, tensor.strides)
    bits = tensor.kind.bits
    return tensor.pointer + lowest * bits // 8, tensor.pointer - (-(highest + 1) * bits // 8)


def same_view(a: TensorRef, b: TensorRef) -> bool:
    """Whether two tensors are the same elements in the same order, as when an op works in place."""
    return (a.pointer, a.shape, a.strides, a.kind, a.device) == (b.pointer, b.shape, b.strides, b.kind, b.device)


class _ByteWindow:
    """A tensor's addresses as an array that NumPy can reason about but never reads."""

    def __init__(self, tensor: TensorRef) -> None:
        size = tensor.kind.itemsize
        self.__array_interface__: dict[str, Any] = {
            "version": 3,
            "data": (tensor.pointer, True),
            "shape": tensor.shape,
            "strides": tuple(s * size for s in tensor.strides),
            "typestr": f"|V{size}",
        }


def may_share(a: TensorRef, b: TensorRef) -> bool:
    """Whether two tensors have a byte in common.

    Exact within `SEARCH_LIMIT` steps, so that x[::2] and x[1::2] do not share; beyond that, and for packed kinds, which
    share bytes between elements, tensors whose address ranges intersect count as sharing.
    """
    (a_low, a_high), (b_low, b_high) = byte_range(a), byte_range(b)
    if a.device != b.device or max(a_low, b_low) >= min(a_high, b_high):
        return False
    if a.kind.bits < 8 or b.kind.bits < 8 or same_view(a, b):
        return True
    limit: Any = SEARCH_LIMIT  # NumPy's annotation knows only its two special values
    try:
        return np.shares_memory(np.asarray(_ByteWindow(a)), np.asarray(_ByteWindow(b)), max_work=limit)
    except np.exceptions.TooHardError:
        return True
