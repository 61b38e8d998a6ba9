"""Reductions and scans along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import baracuda
from baracuda.onnx.operators.registry import Ints, operator
from baracuda.onnx.operators.values import Host, Tensor, ints, near, scalar


def _l1(x: Tensor, **options: Any) -> Tensor:
    return baracuda.sum(baracuda.abs(x), **options)


def _l2(x: Tensor, **options: Any) -> Tensor:
    if np.dtype(x.dtype).kind in "iu":
        root = baracuda.sqrt(baracuda.cast(baracuda.reduce_sum_square(x, **options), dtype=np.dtype(np.float64)))
        return baracuda.cast(root, dtype=x.dtype)
    return baracuda.vector_norm(x, 2, **options)


def _log_sum(x: Tensor, **options: Any) -> Tensor:
    return baracuda.log(baracuda.sum(x, **options))


def _integer_mean(x: Tensor, **options: Any) -> Tensor:
    found = baracuda.mean(x, **options)
    return found if found.dtype == x.dtype else baracuda.cast(found, dtype=x.dtype)


def _in_own_element(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Tensor, **options: Any) -> Tensor:
        found = function(x, **options)
        return found if found.dtype == x.dtype else baracuda.cast(found, dtype=x.dtype)

    return run


#: Each reduction, and the version from which its axes are an input.
_REDUCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    "ReduceSum": (_in_own_element(baracuda.sum), 13),
    "ReduceMean": (_integer_mean, 18),
    "ReduceProd": (_in_own_element(baracuda.prod), 18),
    "ReduceMax": (baracuda.max, 18),
    "ReduceMin": (baracuda.min, 18),
    "ReduceL1": (_in_own_element(_l1), 18),
    "ReduceL2": (_l2, 18),
    "ReduceLogSum": (_log_sum, 18),
    "ReduceLogSumExp": (baracuda.logsumexp, 18),
    "ReduceSumSquare": (_in_own_element(baracuda.reduce_sum_square), 18),
}


def _least(x: Tensor, name: str, axes: tuple[int, ...] | None, keepdims: bool) -> Tensor:
    """Maximum and minimum of nothing: the element's own bound."""
    rank = len(x.shape)
    over = set(range(rank)) if axes is None else {a % rank for a in axes}
    shape = tuple(1 if i in over else n for i, n in enumerate(x.shape) if keepdims or i not in over)
    kind = np.dtype(x.dtype)
    if kind.kind == "b":
        bound: Any = name == "ReduceMin"
    elif kind.kind in "iu":
        bound = np.iinfo(kind).min if name == "ReduceMax" else np.iinfo(kind).max
    else:
        bound = -np.inf if name == "ReduceMax" else np.inf
    return baracuda.full(shape, bound, kind, like=x)


def _run(name: str, function: Callable[..., Any], x: Tensor, axes: tuple[int, ...] | None, keepdims: bool) -> Tensor:
    if name in ("ReduceMax", "ReduceMin") and 0 in x.shape:
        return _least(x, name, axes, keepdims)
    return function(x, axis=axes, keepdims=bool(keepdims))


#: Reductions that leave a number by itself as it is.
_PLAIN = {"ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin"}


def _of(name: str, function: Callable[..., Any], since: int) -> None:
    @operator(name, since=1)
    def by_attribute(x: Tensor, *, axes: Ints | None = None, keepdims: bool = True) -> Tensor:
        return _run(name, function, x, axes, keepdims)

    @operator(name, since=since)
    def by_input(x: Tensor, axes: Host = None, *, keepdims: bool = True, noop_with_empty_axes: bool = False) -> Tensor:
        over = None if axes is None else ints(axes)
        if not over:
            if noop_with_empty_axes:
                return x if name in _PLAIN else function(x, axis=(), keepdims=True)
            over = None
        return _run(name, function, x, over, keepdims)


for _name, (_function, _since) in _REDUCTIONS.items():
    _of(_name, _function, _since)


def _arg(x: Tensor, largest: bool, axis: int, keepdims: bool, last: bool) -> Tensor:
    find = baracuda.argmax if largest else baracuda.argmin
    if not last:
        return find(x, axis=axis, keepdims=bool(keepdims))
    backwards = find(baracuda.flip(x, axis), axis=axis, keepdims=bool(keepdims))
    return baracuda.sub(near(x.shape[axis] - 1, x, np.int64), backwards)


@operator("ArgMax")
def argmax(x: Tensor, *, axis: int = 0, keepdims: bool = True, select_last_index: bool = False) -> Tensor:
    """Where the largest element of each row is."""
    return _arg(x, True, axis, keepdims, select_last_index)


@operator("ArgMin")
def argmin(x: Tensor, *, axis: int = 0, keepdims: bool = True, select_last_index: bool = False) -> Tensor:
    """Where the least element of each row is."""
    return _arg(x, False, axis, keepdims, select_last_index)


@operator("CumSum", since=11)
def cumsum(x: Tensor, axis: Host, *, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Sums up to each element."""
    return _in_own_element(baracuda.cumsum)(x, axis=scalar(axis), reverse=bool(reverse), exclusive=bool(exclusive))


@operator("CumProd", since=26)
def cumprod(x: Tensor, axis: Host, *, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Products up to each element."""
    return _in_own_element(baracuda.cumprod)(x, axis=scalar(axis), reverse=bool(reverse), exclusive=bool(exclusive))
