"""Set functions: values in rising order, each NaN a value of its own. They wait for the device to learn how many there are."""

from __future__ import annotations

from typing import NamedTuple

import baracuda
from baracuda.array_api.operands import Operand, beside
from baracuda.frontends.array import Array


class UniqueAll(NamedTuple):
    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    values: Array
    inverse_indices: Array


def isin(x1: Operand, x2: Operand, /, *, invert: bool = False) -> Array:
    """`baracuda.isin`."""
    return baracuda.isin(*beside(x1, x2), invert=invert)


def unique_all(x: Array, /) -> UniqueAll:
    """`baracuda.unique` with indices, inverse and counts."""
    return UniqueAll(*baracuda.unique(x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False))


def unique_counts(x: Array, /) -> UniqueCounts:
    """`baracuda.unique` with counts."""
    return UniqueCounts(*baracuda.unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: Array, /) -> UniqueInverse:
    """`baracuda.unique` with inverse."""
    return UniqueInverse(*baracuda.unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: Array, /) -> Array:
    """`baracuda.unique`."""
    return baracuda.unique(x, equal_nan=False)
