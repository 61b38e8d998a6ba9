"""Searching functions."""

from __future__ import annotations

from typing import Literal

import baracuda
from baracuda.array_api.operands import Axes, Operand, beside
from baracuda.frontends.array import Array


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """`baracuda.argmax`: of equal elements the first."""
    return baracuda.argmax(x, axis=axis, keepdims=keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """`baracuda.argmin`: of equal elements the first."""
    return baracuda.argmin(x, axis=axis, keepdims=keepdims)


def count_nonzero(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """`baracuda.count_nonzero`."""
    return baracuda.count_nonzero(x, axis=axis, keepdims=keepdims)


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """`baracuda.nonzero`, which waits for the device to learn how many there are."""
    return tuple(baracuda.nonzero(x))


def searchsorted(x1: Array, x2: Operand, /, *, side: Literal["left", "right"] = "left", sorter: Array | None = None) -> Array:
    """`baracuda.searchsorted`."""
    return baracuda.searchsorted(*beside(x1, x2), side=side, sorter=sorter)


def where(condition: Array, x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.where`."""
    return baracuda.where(condition, x1, x2)
