"""Arithmetic of an array's shape and strides: the views that it has."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from operator import index
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import contiguous_strides


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


@lru_cache(maxsize=4096)
def extents_of(shape: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    """Another shape of as many elements, one extent of which may be -1."""
    extents, size = list(wanted), prod(shape)
    if extents.count(-1) == 1 and (rest := -prod(extents)) and size % rest == 0:
        extents[extents.index(-1)] = size // rest
    if prod(extents) != size or any(n < 0 for n in extents):
        raise InvalidProblemError(f"shape: {wanted}; expected the {size} elements of shape {shape}")
    return tuple(extents)


@lru_cache(maxsize=4096)
def strides_in(shape: tuple[int, ...], strides: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...] | None:
    """The strides of a tensor in another shape; None where there are none."""
    if 0 in wanted:
        return contiguous_strides(wanted)
    merged: list[tuple[int, int]] = []  # axes that lie one behind the other are one
    for n, s in zip(shape, strides, strict=True):
        if n != 1 and merged and merged[-1][1] == n * s:
            merged[-1] = (merged[-1][0] * n, s)
        elif n != 1:
            merged.append((n, s))
    reversed_strides: list[int] = []
    remaining, step = 1, 0
    for n in reversed(wanted):
        if n == 1:
            reversed_strides.append(0)
            continue
        if remaining == 1:
            remaining, step = merged.pop()
        if remaining % n:
            return None
        reversed_strides.append(step)
        remaining, step = remaining // n, step * n
    return tuple(reversed_strides[::-1])
