"""Indexed reads as the oracle makes them: NumPy's own indexing."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

from baracuda.formula.gathers import GatherSource

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def read(source: GatherSource, table: Array, shape: Sequence[int], inner: Sequence[bool], indices: Sequence[Array]) -> Array:
    """The element of each point of an iteration space: its own coordinates along the axes that the table follows, the indices
    along the others. The table has the rank of the space, and behind it the axes that are read at indices."""
    rank = len(shape)
    at = [
        np.arange(n if table.shape[a] != 1 else 1).reshape([-1 if b == a else 1 for b in range(rank)])
        for a, n in enumerate(shape)
    ]
    dims = range(rank, table.ndim) if source.dims is not None else [a for a, i in enumerate(inner) if i]
    extents = [table.shape[d] for d in dims]
    if source.flat:
        indices = np.unravel_index(_in_range(indices[0], prod(extents), source.wrap), extents)
    for d, extent, index in zip(dims, extents, indices, strict=True):
        at = [*at[:d], _in_range(index, extent, source.wrap), *at[d + 1 :]]  # in place of a coordinate, or behind them
    elements: Array = table[tuple(np.broadcast_arrays(*at))]
    return elements


def _in_range(index: Array, extent: int, wrap: bool) -> Array:
    """An index brought into range, a negative one counted from the end where `wrap` is set."""
    wide = index.astype(np.int64)
    return np.clip(np.where(wide < 0, wide + extent, wide) if wrap else wide, 0, extent - 1)
