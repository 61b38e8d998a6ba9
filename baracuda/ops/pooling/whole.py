"""Pooling over everything behind the channels: global_avg_pool, global_max_pool and global_lp_pool."""

from __future__ import annotations

from math import prod
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.words import Order
from baracuda.ops.pooling.averages import check_slope
from baracuda.ops.pooling.maxima import check_ordered, max_backward, max_forward
from baracuda.ops.pooling.shared import adaptive_maxima
from baracuda.ops.reductions.reductions import max_, mean, vector_norm

_X = "batch c ... n"


def _over(x: TensorRef, channels_last: bool) -> tuple[int, ...]:
    return tuple(range(1, len(x.shape) - 1)) if channels_last else tuple(range(2, len(x.shape)))


def _result(x: TensorRef, over: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(1 if a in over else n for a, n in enumerate(x.shape))


@composed(x=f"{_X} : float complex", out=True)
def global_avg_pool(do: Steps, x: TensorRef, *, channels_last: bool = False) -> Any:
    """The mean of each channel, over all axes behind it, whose extents become 1: the mean of `baracuda.mean`, in its order.

    x has shape (batch, c, ...), or with `channels_last` (batch, ..., c). Source: ONNX GlobalAveragePool.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.global_avg_pool(np.float32([[[1, 3], [5, 7]]])).tolist()
    [[[2.0], [6.0]]]
    """
    return do.run(mean, {"x": x}, do.out, axis=_over(x, channels_last), keepdims=True)


@composed(dy="? : float complex", x=f"{_X} : float complex")
def global_avg_pool_backward(do: Steps, dy: TensorRef, x: TensorRef, *, channels_last: bool = False) -> Any:
    """The gradient of `global_avg_pool`'s x: dy divided by the number of elements, everywhere."""
    over = _over(x, channels_last)
    _check(dy, x, over)
    return do.gradients(mean, {"x": x}, dy, ("x",), axis=over, keepdims=True)["x"]


def _check(dy: TensorRef, x: TensorRef, over: tuple[int, ...]) -> None:
    if dy.shape != _result(x, over):
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {_result(x, over)}")


@composed(x=_X)
def global_max_pool(do: Steps, x: TensorRef, return_indices: bool = False, *, channels_last: bool = False) -> Any:
    """The largest element of each channel, over all axes behind it, whose extents become 1; with return_indices also where it
    is, as s64: its number within its channel. Ties, NaN and zeros as in `max_pool2d`.

    x has shape (batch, c, ...), or with `channels_last` (batch, ..., c). Source: ONNX GlobalMaxPool.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.global_max_pool(np.float32([[[1, 3], [7, 5]]])).tolist()
    [[[3.0], [7.0]]]
    """
    check_ordered(x)
    over = _over(x, channels_last)
    if not prod(x.shape[a] for a in over):
        raise InvalidProblemError(f"x: shape is {x.shape}; expected elements along axes {over}")
    if not return_indices:
        return do.run(max_, {"x": x}, axis=over, keepdims=True)
    return max_forward(do, x, adaptive_maxima(x.shape, len(over), 1, channels_last), return_indices=True)


@composed(dy="? : float", x=f"{_X} : float", indices="? : s64 s32", out=True)
def global_max_pool_backward(
    do: Steps, dy: TensorRef, x: TensorRef, *, indices: Given = None, channels_last: bool = False
) -> Any:
    """The gradient of `global_max_pool`'s x: dy at the largest element, the first of equal ones, 0 elsewhere."""
    over = _over(x, channels_last)
    check_slope(dy, x, _result(x, over))
    return max_backward(do, dy, x, indices, adaptive_maxima(x.shape, len(over), 1, channels_last))


@composed(x=f"{_X} : float", out=True)
def global_lp_pool(do: Steps, x: TensorRef, p: Order = 2.0, *, channels_last: bool = False) -> Any:
    """The p-norm of each channel, over all axes behind it, whose extents become 1: that of `baracuda.vector_norm`, in its order.

    x has shape (batch, c, ...), or with `channels_last` (batch, ..., c). Source: ONNX GlobalLpPool.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.global_lp_pool(np.float32([[[3, 4], [6, 8]]])).tolist()
    [[[5.0], [10.0]]]
    """
    return do.run(vector_norm, {"x": x}, do.out, p=p, axis=_over(x, channels_last), keepdims=True)


@composed(dy="? : float", x=f"{_X} : float")
def global_lp_pool_backward(do: Steps, dy: TensorRef, x: TensorRef, p: Order = 2.0, *, channels_last: bool = False) -> Any:
    """The gradient of `global_lp_pool`'s x."""
    over = _over(x, channels_last)
    _check(dy, x, over)
    return do.gradients(vector_norm, {"x": x}, dy, ("x",), p=p, axis=over, keepdims=True)["x"]
