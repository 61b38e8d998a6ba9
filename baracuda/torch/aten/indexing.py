"""Reading and writing at indices."""

from __future__ import annotations

import math
from typing import Any

import torch

import baracuda
from baracuda.torch.aten.elements import converted, dense, number
from baracuda.torch.registry import serves
from baracuda.torch.write import write

aten = torch.ops.aten


@serves(aten.embedding.default)
def embedding(weight: Any, index: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False) -> Any:
    return baracuda.embedding(index, weight)


@serves(aten.embedding_dense_backward.default)
def embedding_backward(dy: Any, index: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    weight = dy.new_empty(num_weights, dy.shape[-1])
    return baracuda.embedding_backward(
        dy, index, weight, padding_idx=None if padding_idx < 0 else padding_idx, scale_grad_by_freq=scale_grad_by_freq
    )


def _along(function: Any) -> Any:
    """A function along an axis, for scalars too, which PyTorch takes for rows of one, and for indices that reach nowhere."""

    def along(x: Any, dim: int, index: Any, *args: Any, **keywords: Any) -> Any:
        index = converted(index, torch.int64) if index.dtype not in (torch.int32, torch.int64) else index
        if x.ndim and index.ndim == x.ndim:
            return function(x, dim, index, *args, **keywords)
        if x.ndim == 0:
            args = tuple(a[None] if isinstance(a, torch.Tensor) and a.ndim == 0 else a for a in args)
            y = function(x[None], 0, index.reshape(-1), *args, **keywords)
            return y.reshape(index.shape if function.__name__ == "gather" else ())
        if index.numel() == 0:
            return x.new_empty(index.shape) if function.__name__ == "gather" else baracuda.positive(x)
        return function(x, dim, index, *args, **keywords)

    return along


@serves(aten.index_select.default)
def index_select(x: Any, dim: int, index: Any) -> Any:
    if x.ndim == 0:
        return baracuda.index_select(x[None], index.reshape(-1), 0).reshape(())
    return baracuda.index_select(dense(x), index, dim)


@serves(aten.gather.default)
@_along
def gather(x: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    for axis, (have, read) in enumerate(zip(x.shape, index.shape, strict=True)):
        if have != read and axis != dim % x.ndim:  # what lies beyond the index is not read
            x = x.narrow(axis, 0, read)
    return baracuda.gather(x, index, dim)


@serves(aten.scatter_add.default)
@_along
def scatter_add(x: Any, dim: int, index: Any, source: Any) -> Any:
    return baracuda.scatter_add(x, index, source, axis=dim)


@serves(aten.scatter.src)
@_along
def scatter(x: Any, dim: int, index: Any, source: Any) -> Any:
    return baracuda.scatter(x, index, source, axis=dim)


@serves(aten.select_backward.default)
def select_backward(dy: Any, sizes: Any, dim: int, index: int) -> Any:
    return baracuda.select_backward(dy, dy.new_empty(tuple(sizes)), axis=dim, index=index)


@serves(aten.slice_backward.default)
def slice_backward(dy: Any, sizes: Any, dim: int, start: int, end: int, step: int) -> Any:
    y = baracuda.full(tuple(sizes), 0, dy.dtype, like=dy)
    if dy.numel():
        baracuda.positive(dy, out=aten.slice.Tensor(y, dim, start, end, step))
    return y


def _picked(x: Any, indices: Any) -> tuple[Any, ...]:
    """An index for each leading axis: masks as the places that they mark, and everything where there is none."""
    found: list[Any] = []
    for i in indices:
        if i is not None and i.dtype in (torch.bool, torch.uint8):
            found += baracuda.nonzero(i, as_tuple=True)
        else:
            found.append(slice(None) if i is None else i)
    return tuple(found)


@serves(aten.index.Tensor, aten._unsafe_index.Tensor)
def index(x: Any, indices: Any) -> Any:
    """Along the axes that indices are given for; where they are not neighbours, theirs come first, as in PyTorch."""
    picked = _picked(x, indices)
    where = [i for i, p in enumerate(picked) if not isinstance(p, slice)]
    first, count = where[0], len(where)
    together = where == list(range(first, first + count))
    order = [*where, *(i for i in range(x.ndim) if i not in where)]
    y = baracuda.index_get(x.permute(order), *_alike([picked[i] for i in where]))
    if not together or not first:
        return y
    rank = y.ndim - (x.ndim - count)
    return y.movedim(list(range(rank)), list(range(first, first + rank)))


def _alike(indices: list[Any]) -> list[Any]:
    """Indices of one element and shape."""
    if len(indices) == 1:
        return indices
    return list(torch.broadcast_tensors(*indices))


@serves(aten.index_put.default, aten._unsafe_index_put.default)
def index_put(x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    if values.device != x.device:  # a number of the host's
        values = baracuda.full(tuple(values.shape), number(values), values.dtype, like=x)
    return baracuda.index_put(x, _picked(x, indices), values, accumulate=accumulate)


@serves(aten.scatter.value)
@_along
def scatter_value(x: Any, dim: int, index: Any, value: Any) -> Any:
    source = baracuda.full((1,) * max(1, index.ndim), number(value), x.dtype, like=x)
    return baracuda.scatter(x, index, source.expand(index.shape), axis=dim)


@serves(aten.scatter_reduce.two)
@_along
def scatter_reduce(x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    return baracuda.scatter_reduce(x, index, source, reduce=reduce, axis=dim, include_self=include_self)


@serves(aten.scatter.reduce)
@_along
def scatter_combined(x: Any, dim: int, index: Any, source: Any, *, reduce: str) -> Any:
    kind = {"add": "sum", "multiply": "prod"}[reduce]
    return baracuda.scatter_reduce(x, index, source, reduce=kind, axis=dim)


@serves(aten.embedding_renorm_.default)
def embedding_renorm(weight: Any, index: Any, max_norm: float, norm_type: float) -> Any:
    rows = baracuda.embedding_renorm(index, weight, max_norm, norm_type)
    return baracuda.index_put(weight, (index,), rows)


@serves(aten.index_add.default)
def index_add(x: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    return baracuda.index_add(x, index, source, axis=dim, alpha=int(alpha) if isinstance(alpha, bool) else alpha)


@serves(aten.slice_scatter.default)
def slice_scatter(x: Any, source: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return baracuda.slice_scatter(x, source, dim, start, end, step)


@serves(aten.select_scatter.default)
def select_scatter(x: Any, source: Any, dim: int, index: int) -> Any:
    return baracuda.select_scatter(x, source, dim, index)


@serves(aten.diagonal_scatter.default)
def diagonal_scatter(x: Any, source: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    y = baracuda.positive(x)
    write(y.diagonal(offset, dim1, dim2), source)
    return y


@serves(aten.masked_scatter.default)
def masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    return baracuda.masked_scatter(x, mask, source)


@serves(aten.masked_scatter_backward.default)
def masked_scatter_backward(dy: Any, mask: Any, sizes: Any) -> Any:
    """The gradient of the source: the marked elements, and zeros for those that were not taken."""
    marked = baracuda.masked_select(dy, mask)
    source = baracuda.full((math.prod(sizes),), 0, dy.dtype, like=dy)
    write(source[: marked.numel()], marked)
    return source.view(tuple(sizes))


@serves(aten.nonzero.default)
def nonzero(x: Any) -> Any:
    return baracuda.nonzero(x, as_tuple=False)


@serves(aten.bincount.default)
def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    if weights is not None and not weights.is_floating_point():
        weights = converted(weights, torch.float64)
    return baracuda.bincount(x, weights, minlength)
