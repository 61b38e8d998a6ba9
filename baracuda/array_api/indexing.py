"""Indexing functions."""

from __future__ import annotations

import baracuda
from baracuda.frontends.array import Array


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """`baracuda.index_select`; an index out of range is an error, which on a GPU is raised when values are next read."""
    return baracuda.index_select(x, indices, axis=0 if axis is None else axis)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """`baracuda.gather`; errors as for `take`."""
    return baracuda.gather(x, indices, axis=axis)
