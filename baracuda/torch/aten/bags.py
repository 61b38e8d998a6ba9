"""Sums, means and maxima of the rows of a table that bags name, each bag a stretch of indices."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.aten.elements import converted
from baracuda.torch.registry import serves

aten = torch.ops.aten
SUM, MEAN, MAX = range(3)
REDUCTIONS = ("sum", "mean", "max")


def _bags(index: Any, offsets: Any, include_last_offset: bool) -> Any:
    """The bag of each index, and the number of bags."""
    offsets = offsets[:-1] if include_last_offset else offsets
    places = baracuda.arange(0, index.shape[0], 1, offsets.dtype, like=offsets)
    return baracuda.sub(baracuda.searchsorted(offsets, places, "right"), 1), offsets.shape[0]


def _counted(index: Any, bags: Any, padding_idx: int) -> tuple[Any, Any]:
    """The indices that count, and their bags."""
    if padding_idx < 0:
        return index, bags
    keep = baracuda.ne(index, padding_idx)
    return baracuda.masked_select(index, keep), baracuda.masked_select(bags, keep)


@serves(aten._embedding_bag.default, aten._embedding_bag_forward_only.default)
def bag(
    weight: Any,
    index: Any,
    offsets: Any,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> Any:
    """The results of the bags, the bag of each index, how many indices count in each bag, and of a maximum where it is from."""
    bags, count = _bags(index, offsets, include_last_offset)
    if per_sample_weights is not None and padding_idx >= 0:
        per_sample_weights = baracuda.masked_select(per_sample_weights, baracuda.ne(index, padding_idx))
    own, into = _counted(index, bags, padding_idx)
    ones = baracuda.full(tuple(own.shape), 1, torch.int64, like=own)
    sizes = converted(baracuda.segment_sum(ones, into, count), offsets.dtype)
    rows = baracuda.embedding(own, weight)
    if per_sample_weights is not None:
        rows = baracuda.mul(rows, per_sample_weights[:, None])
    y = baracuda.segment_reduce(
        rows, REDUCTIONS[mode], segment_ids=into, num_segments=count, initial=0.0 if mode == SUM else None
    )
    if mode != SUM:
        y = baracuda.where(baracuda.eq(sizes, 0)[:, None], 0.0, y)
    if mode != MAX:
        return y, bags, sizes, sizes.new_empty(0)
    places = baracuda.arange(0, own.shape[0], 1, torch.int64, like=own)[:, None].expand(rows.shape)
    first = baracuda.where(baracuda.eq(rows, baracuda.embedding(into, y)), places, own.shape[0])
    first = baracuda.segment_reduce(first, "min", segment_ids=into, num_segments=count)
    empty = baracuda.eq(sizes, 0)[:, None]
    where = baracuda.index_select(own, baracuda.where(empty, 0, first).reshape(-1), 0).reshape(y.shape)
    return y, bags, sizes, baracuda.where(empty, 0, where)


@serves(aten._embedding_bag_dense_backward.default)
def bag_backward(
    dy: Any,
    index: Any,
    bags: Any,
    sizes: Any,
    places: Any,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Any,
    padding_idx: int = -1,
) -> Any:
    table = (num_weights, dy.shape[1])
    if mode == MAX:
        dy = baracuda.where(baracuda.eq(sizes, 0)[:, None], 0.0, dy)
        return baracuda.scatter_add(baracuda.full(table, 0, dy.dtype, like=dy), places, dy, axis=0)
    if mode == MEAN:
        dy = baracuda.div(dy, converted(baracuda.maximum(sizes, 1), dy.dtype)[:, None])
    rows = baracuda.embedding(bags, dy)
    if per_sample_weights is not None:
        rows = baracuda.mul(rows, per_sample_weights[:, None])
    padding = None if padding_idx < 0 else padding_idx
    return baracuda.embedding_backward(
        rows, index, dy.new_empty(table), padding_idx=padding, scale_grad_by_freq=scale_grad_by_freq
    )


@serves(aten._embedding_bag_backward.default)
def bag_backward_of_any(
    dy: Any,
    index: Any,
    offsets: Any,
    bags: Any,
    sizes: Any,
    places: Any,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Any,
    padding_idx: int = -1,
) -> Any:
    if sparse:
        raise baracuda.UnsupportedError("embedding_bag: sparse=True; expected False")
    options = num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx
    return bag_backward(dy, index, bags, sizes, places, *options)


@serves(aten._embedding_bag_per_sample_weights_backward.default)
def per_sample_weights_backward(
    dy: Any, weight: Any, index: Any, offsets: Any, bags: Any, mode: int, padding_idx: int = -1
) -> Any:
    products = baracuda.sum(baracuda.mul(baracuda.embedding(index, weight), baracuda.embedding(bags, dy)), 1)
    return products if padding_idx < 0 else baracuda.where(baracuda.eq(index, padding_idx), 0.0, products)
