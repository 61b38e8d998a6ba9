"""Utility functions."""

from __future__ import annotations

import baracuda
from baracuda.array_api.operands import Axes
from baracuda.frontends.array import Array


def all(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """`baracuda.all`."""
    return baracuda.all(x, axis=axis, keepdims=keepdims)


def any(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """`baracuda.any`."""
    return baracuda.any(x, axis=axis, keepdims=keepdims)


def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Array | None = None, append: Array | None = None) -> Array:
    """`baracuda.diff`."""
    return baracuda.diff(x, n=n, axis=axis, prepend=prepend, append=append)
