"""Arithmetic of an array's shape and strides: the views that it has."""

from __future__ import annotations

from functools import lru_cache
from operator import index
from typing import Any

from baracuda.core.errors import InvalidProblemError


def integers(extents: tuple[Any, ...]) -> tuple[int, ...]:
    """Some integers, or a tuple or list of them, as Python's."""
    given = extents[0] if len(extents) == 1 and isinstance(extents[0], tuple | list) else extents
    return tuple(map(index, given))


@lru_cache(maxsize=4096)
def transposed(
    shape: tuple[int, ...], strides: tuple[int, ...], axes: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides with the axes in another order, by default in reverse."""
    rank = len(shape)
    order = tuple(a % rank for a in axes) if axes and rank else tuple(range(rank))[::-1]
    if sorted(order) != list(range(rank)) or (axes and not rank) or any(not -rank <= a < rank for a in axes):
        raise InvalidProblemError(f"axes: {axes}; expected each of the {rank} axes of shape {shape} once")
    return tuple(shape[a] for a in order), tuple(strides[a] for a in order)
