"""Elements read and written where indices say, and found."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

import baracuda
from baracuda.onnx.coded import moving
from baracuda.onnx.operators.registry import Wanted, operator
from baracuda.onnx.operators.values import Host, Tensor, near, positive, scalar

_REDUCE = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}
_Reduction = Literal["none", "add", "mul", "max", "min"]


@operator("Gather")
@moving
def gather(x: Tensor, index: Tensor, *, axis: int = 0) -> Tensor:
    """Slices of x along an axis."""
    at = positive(axis, len(x.shape))
    rows = baracuda.index_select(x, baracuda.reshape(index, (math.prod(index.shape),)), axis=at)
    return baracuda.reshape(rows, (*x.shape[:at], *index.shape, *x.shape[at + 1 :]))


@operator("GatherElements", since=11)
def gather_elements(x: Tensor, index: Tensor, *, axis: int = 0) -> Tensor:
    """Each element's own index along an axis."""
    at = positive(axis, len(x.shape))
    others = [i for i in range(len(x.shape)) if i != at and index.shape[i] < x.shape[i]]
    for i in others:
        x = baracuda.slice(x, 0, index.shape[i], i)
    return baracuda.gather(x, index, axis=at)


@operator("GatherND", since=11)
def gather_nd(x: Tensor, index: Tensor, *, batch_dims: int = 0) -> Tensor:
    """Slices of x at tuples of indices."""
    return baracuda.gather_nd(x, index, batch_dims=batch_dims)


@operator("Scatter", since=9)
def scatter(x: Tensor, index: Tensor, updates: Tensor, *, axis: int = 0) -> Tensor:
    """`baracuda.scatter`."""
    return baracuda.scatter(x, index, updates, axis=axis)


@operator("ScatterElements", since=11)
def scatter_elements(x: Tensor, index: Tensor, updates: Tensor, *, axis: int = 0, reduction: _Reduction = "none") -> Tensor:
    """`baracuda.scatter`, or combined as in `baracuda.scatter_reduce`."""
    if reduction == "none":
        return baracuda.scatter(x, index, updates, axis=axis)
    return baracuda.scatter_reduce(x, index, updates, axis=axis, reduce=_REDUCE[reduction])


@operator("ScatterND", since=11)
def scatter_nd(x: Tensor, index: Tensor, updates: Tensor, *, reduction: _Reduction = "none") -> Tensor:
    """`baracuda.scatter_nd`."""
    if reduction == "none":
        return baracuda.scatter_nd(x, index, updates)
    return baracuda.scatter_nd_reduce(x, index, updates, reduce=_REDUCE[reduction])


@operator("TensorScatter", since=24)
def tensor_scatter(
    cache: Tensor, update: Tensor, write: Tensor = None, *, axis: int = -2, mode: Literal["linear", "circular"] = "linear"
) -> Tensor:
    """update written along an axis from each sample's own place on."""
    at = positive(axis, len(cache.shape))
    steps, capacity = update.shape[at], cache.shape[at]
    start = baracuda.zeros((cache.shape[0],), np.dtype(np.int64), like=cache) if write is None else write
    line = [1] * len(cache.shape)
    line[at] = steps
    places = baracuda.add(
        baracuda.reshape(baracuda.arange(0, steps, 1, np.dtype(np.int64), like=update), tuple(line)),
        baracuda.reshape(start, (cache.shape[0], *(1,) * (len(cache.shape) - 1))),
    )
    if mode == "circular":
        places = baracuda.remainder(places, near(capacity, places))
    return baracuda.scatter(cache, baracuda.broadcast_to(places, tuple(update.shape)), update, axis=at)


@operator("NonZero", since=9)
def nonzero(x: Tensor) -> Tensor:
    """Where elements are not 0, a row for each axis."""
    return baracuda.permute(baracuda.nonzero(x, as_tuple=False), (1, 0))


@operator("Compress", since=9)
def compress(x: Tensor, condition: Tensor, *, axis: int | None = None) -> Tensor:
    """`baracuda.compress`."""
    return baracuda.compress(condition, x, axis=axis)


@operator("TopK", since=10)
def topk(x: Tensor, k: Host, *, axis: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, ...]:
    """`baracuda.topk`."""
    return tuple(baracuda.topk(x, scalar(k), axis=axis, largest=largest, sorted=sorted))


@operator("TopK", since=1)
def topk_by_attribute(x: Tensor, *, k: int, axis: int = -1) -> tuple[Tensor, ...]:
    """`baracuda.topk`."""
    return tuple(baracuda.topk(x, k, axis=axis))


@operator("Unique", since=11)
def unique(x: Tensor, *, axis: int | None = None, sorted: bool = True, wanted: Wanted) -> tuple[Tensor, ...]:
    """`baracuda.unique`."""
    y, first, inverse, counts = baracuda.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis, sorted=sorted
    )
    return y, first, baracuda.reshape(inverse, (math.prod(inverse.shape),)), counts
