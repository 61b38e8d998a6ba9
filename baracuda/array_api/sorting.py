"""Sorting functions: always stable; NaN is last, -0 and 0 are equal."""

from __future__ import annotations

import baracuda
from baracuda.frontends.array import Array


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """`baracuda.argsort`."""
    return baracuda.argsort(x, axis=axis, descending=descending, stable=stable)


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """`baracuda.sort`."""
    return baracuda.sort(x, axis=axis, descending=descending, stable=stable)
