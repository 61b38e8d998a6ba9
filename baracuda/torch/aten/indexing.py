"""Reading and writing at indices."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves

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


@serves(aten.index_select.default)
def index_select(x: Any, dim: int, index: Any) -> Any:
    return baracuda.index_select(x, index, dim)


@serves(aten.gather.default)
def gather(x: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    return baracuda.gather(x, index, dim)


@serves(aten.scatter_add.default)
def scatter_add(x: Any, dim: int, index: Any, source: Any) -> Any:
    return baracuda.scatter_add(x, index, source, axis=dim)


@serves(aten.scatter.src)
def scatter(x: Any, dim: int, index: Any, source: Any) -> Any:
    return baracuda.scatter(x, index, source, axis=dim)


@serves(aten.select_backward.default)
def select_backward(dy: Any, sizes: Any, dim: int, index: int) -> Any:
    return baracuda.select_backward(dy, dy.new_empty(tuple(sizes)), axis=dim, index=index)


@serves(aten.slice_backward.default)
def slice_backward(dy: Any, sizes: Any, dim: int, start: int, end: int, step: int) -> Any:
    y = baracuda.zeros(tuple(sizes), dy.dtype, like=dy)
    if dy.numel():
        baracuda.positive(dy, out=aten.slice.Tensor(y, dim, start, end, step))
    return y
