"""Elements that masks, segments and flat indices select."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves
from baracuda.torch.write import write

aten = torch.ops.aten


@serves(aten.masked_select.default)
def masked_select(x: Any, mask: Any) -> Any:
    x, mask = torch.broadcast_tensors(x, mask)
    return baracuda.masked_select(x, mask)


@serves(aten.nonzero_static.default)
def nonzero_static(x: Any, *, size: int, fill_value: int = -1) -> Any:
    return baracuda.nonzero(x, as_tuple=False, size=size, fill_value=fill_value)


@serves(aten.repeat_interleave.Tensor)
def repeat_interleave(repeats: Any, *, output_size: Any = None) -> Any:
    numbers = baracuda.arange(0, repeats.shape[0], 1, torch.int64, like=repeats)
    return baracuda.repeat_interleave(numbers, repeats, 0, output_size=output_size)


@serves(aten.put.default)
def put(x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    y = baracuda.put_flat(x.reshape(-1), index.reshape(-1), source.reshape(-1), accumulate=accumulate)
    return y.reshape(x.shape)


@serves(aten.take.default)
def take(x: Any, index: Any) -> Any:
    return baracuda.take_flat(x.reshape(-1), index)


@serves(aten.index_reduce.default)
def index_reduce(x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    return baracuda.index_reduce(x, index, source, reduce=reduce, axis=dim, include_self=include_self)


@serves(aten.segment_reduce.default)
def segment_reduce(
    x: Any,
    reduce: str,
    *,
    lengths: Any = None,
    indices: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Any:
    return baracuda.segment_reduce(x, reduce, lengths, offsets, axis=axis, initial=initial)


@serves(aten._segment_reduce_backward.default)
def segment_reduce_backward(
    dy: Any, y: Any, x: Any, reduce: str, *, lengths: Any = None, offsets: Any = None, axis: int = 0, initial: Any = None
) -> Any:
    return baracuda.segment_reduce_backward(dy, x, reduce, lengths, offsets, axis=axis, initial=initial)


@serves(aten.as_strided_scatter.default)
def as_strided_scatter(x: Any, source: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    y = write(torch.empty_like(x), x)
    write(y.as_strided(size, stride, storage_offset), source)
    return y


@serves(aten._pdist_forward.default)
def pdist(x: Any, p: float = 2.0) -> Any:
    return baracuda.pdist(x, p)


@serves(aten._pdist_backward.default)
def pdist_backward(dy: Any, x: Any, p: float, y: Any) -> Any:
    return baracuda.pdist_backward(dy, x, y, p=p)


@serves(aten._cdist_forward.default)
def cdist(a: Any, b: Any, p: float, compute_mode: Any) -> Any:
    return baracuda.cdist(a, b, p)


@serves(aten._cdist_backward.default)
def cdist_backward(dy: Any, a: Any, b: Any, p: float, y: Any) -> Any:
    return baracuda.cdist_backward(dy, a, b, y, p=p, wrt=("a",))
