"""Statistical functions. Sums and products of integers and booleans are of 64 bits."""

from __future__ import annotations

from typing import Any

import baracuda
from baracuda.array_api.operands import Axes, DType, kind_of
from baracuda.core.errors import InvalidProblemError
from baracuda.frontends.array import Array
from baracuda.frontends.array import empty as _empty
from baracuda.ops.declaration.promotion import Rule, result_element


def cumulative_prod(x: Array, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False) -> Array:
    """`baracuda.cumprod`."""
    return _cumulative(baracuda.cumprod, 1, x, axis, dtype, include_initial)


def cumulative_sum(x: Array, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False) -> Array:
    """`baracuda.cumsum`."""
    return _cumulative(baracuda.cumsum, 0, x, axis, dtype, include_initial)


def _cumulative(function: Any, first: int, x: Array, axis: int | None, dtype: DType | None, include_initial: bool) -> Array:
    """The scan of x, after its first value where that is wanted."""
    if axis is None and x.ndim != 1:
        raise InvalidProblemError(f"axis: None of shape {x.shape}; expected an axis, or an array of one axis")
    along = -1 if axis is None else axis
    kind = result_element(Rule.ACCUMULATING, x.kind) if dtype is None else kind_of(dtype)
    if not include_initial:
        return function(x, axis=along, dtype=kind)
    along %= x.ndim
    result = _empty((*x.shape[:along], x.shape[along] + 1, *x.shape[along + 1 :]), kind, x.device)
    before = (slice(None),) * along
    result[(*before, slice(0, 1))] = first
    if x.size:
        function(x, axis=along, dtype=kind, out=result[(*before, slice(1, None))])
    return result


def max(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """`baracuda.max`: NaN where there is one."""
    return baracuda.max(x, axis=axis, keepdims=keepdims)


def mean(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """`baracuda.mean`."""
    return baracuda.mean(x, axis=axis, keepdims=keepdims)


def min(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """`baracuda.min`: NaN where there is one."""
    return baracuda.min(x, axis=axis, keepdims=keepdims)


def prod(x: Array, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False) -> Array:
    """`baracuda.prod`."""
    return baracuda.prod(x, axis=axis, keepdims=keepdims, dtype=None if dtype is None else kind_of(dtype))


def std(x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """`baracuda.std`."""
    return baracuda.std(x, axis=axis, correction=correction, keepdims=keepdims)


def sum(x: Array, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False) -> Array:
    """`baracuda.sum`."""
    return baracuda.sum(x, axis=axis, keepdims=keepdims, dtype=None if dtype is None else kind_of(dtype))


def var(x: Array, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """`baracuda.var`."""
    return baracuda.var(x, axis=axis, correction=correction, keepdims=keepdims)
