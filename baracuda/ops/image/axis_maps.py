"""Where the elements of a resized axis lie on the axis that it is made of, as numbers for kernels, and how many taps that takes.

An element o of the result lies at c = scale * (o + shift) + offset, in elements of x counted from the first one's centre; of a
filter, from its outer edge. Each operation is rounded in the kind of the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Any, Literal

import numpy as np

Kind = Literal["nearest", "linear", "cubic", "area", "filter", "blur"]
Rounding = Literal["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"]


@dataclass(frozen=True)
class AxisMap:
    """One axis of a resizing.

    Attributes
    ----------
    source, extent
        The extents of the axis of x and of the result.
    kind
        Whether a nearest element is taken, two or four neighbours are weighted, a window of whole elements is averaged, a
        filter is laid around the place, or ("blur") one of 2 * support + 1 weights around each element, reflected at the edges.
    scale, shift, offset
        As above; of a window they say nothing.
    rounding
        How the nearest element is found.
    support
        How far a filter reaches from its place, in elements of x.
    stretch
        The factor of distances that the filter's kernel is taken at.
    precise
        Whether it is computed in f64, else f32.
    inside
        Whether places outside of x take no part.
    """

    source: int
    extent: int
    kind: Kind
    scale: float = 1.0
    shift: float = 0.0
    offset: float = 0.0
    rounding: Rounding = "floor"
    support: float = 0.0
    stretch: float = 1.0
    precise: bool = False
    inside: bool = False

    @property
    def reach(self) -> float:
        """How far from its place an element may be that counts, towards smaller numbers of the result."""
        distance = {"nearest": 1.0, "linear": 1.0, "cubic": 2.0, "filter": self.support + 0.5}.get(self.kind, self.support)
        return distance if self.scale >= 0 else -distance

    @property
    def inverse(self) -> float:
        """Elements of the result for one of x."""
        return 1.0 / self.scale if self.scale else 0.0

    @property
    def forward_taps(self) -> int:
        """How many elements of x count for one of the result, at most."""
        if self.kind == "area":
            return max(1, int((_area(self)[1] - _area(self)[0]).max(initial=1)))
        return {"nearest": 1, "linear": 2, "cubic": 4}.get(self.kind, 2 * ceil(self.support) + 1)

    @property
    def backward_taps(self) -> tuple[int, int]:
        """How many elements of the result an element of x may count for, from the first that is tried on, and how far that one is
        moved towards 0."""
        return _backward_taps(self)


def _area(m: AxisMap) -> tuple[Any, Any]:
    """The first element and the one after the last of each window."""
    o = np.arange(m.extent, dtype=np.int64)
    return o * m.source // max(m.extent, 1), -(-(o + 1) * m.source // max(m.extent, 1))


def _windows(m: AxisMap) -> tuple[Any, Any]:
    """The first and the last element of x that each element of the result reads, as kernels compute them."""
    real: Any = np.float64 if m.precise else np.float32
    if m.kind == "area":
        start, stop = _area(m)
        return start, stop - 1
    if m.kind == "blur":
        i, r = np.arange(m.extent), int(m.support)
        return np.maximum(i - r, 0), np.minimum(i + r, m.source - 1)
    o = np.arange(m.extent).astype(real)
    c = real(m.scale) * (o + real(m.shift)) + real(m.offset)
    last = m.source - 1
    if m.kind == "filter":
        low, high = c - real(m.support) + real(0.5), c + real(m.support) + real(0.5)
        start = np.maximum(np.trunc(low), 0).astype(np.int64)
        return start, np.minimum(np.trunc(high), m.source).astype(np.int64) - 1
    low = np.floor(c)
    if m.kind == "nearest":  # of any rounding
        return np.clip(low, 0, last).astype(np.int64), np.clip(low + 1, 0, last).astype(np.int64)
    ends = (0, 1) if m.kind == "linear" else (-1, 2)
    return np.clip(low + ends[0], 0, last).astype(np.int64), np.clip(low + ends[1], 0, last).astype(np.int64)


def first_reader(m: AxisMap, i: Any, lead: int) -> Any:
    """The first element of the result that is tried for each element i of x, as kernels compute it."""
    real: Any = np.float64 if m.precise else np.float32
    if m.kind == "area":
        return np.maximum(i * m.extent // max(m.source, 1) - lead, 0)
    place = ((i.astype(real) - real(m.reach)) - real(m.offset)) * real(m.inverse) - real(m.shift)
    held = np.minimum(np.maximum(np.floor(place), real(-1)), real(m.extent))
    return np.maximum(held.astype(np.int64) - lead, 0)


@lru_cache(maxsize=4096)
def _backward_taps(m: AxisMap) -> tuple[int, int]:
    if not m.extent or not m.source:
        return 1, 0
    o = np.arange(m.extent)
    start, stop = _windows(m)
    some = stop >= start
    o, start, stop = o[some], start[some], stop[some]
    i = np.arange(m.source)
    lead = 0
    if o.size:
        lead = max(0, int((first_reader(m, start, 0) - o).max()), int((first_reader(m, stop, 0) - o).max()))
    first = first_reader(m, i, lead)
    if not o.size:
        return 1, lead
    return max(1, int(max((o - first[start]).max(), (o - first[stop]).max())) + 1), lead
