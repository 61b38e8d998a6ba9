"""Sums, means and maxima of the rows of a table, whose norms may be limited."""

from __future__ import annotations

from typing import Any, Literal

from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.traced import IndexBound
from baracuda.ops.declaration.words import Bounds, Order, PositiveFloat
from baracuda.ops.indexing import embedding
from baracuda.ops.normalization.vector_norms import renorm


@composed(
    index="bags places : s32 s64",
    weight="rows *row",
    per_sample_weights="bags places : float",
    out=True,
    numbers={"padding_idx": ()},
)
def embedding_bag(
    do: Steps,
    index: TensorRef,
    weight: TensorRef,
    per_sample_weights: Given = None,
    *,
    mode: Literal["sum", "mean", "max"] = "mean",
    padding_idx: int | None = None,
    max_norm: PositiveFloat | None = None,
    p: Order = 2.0,
    bounds: Bounds = "check",
) -> Any:
    """The sum, mean or maximum of the rows of a table that each bag names, in one pass: nothing of the size of the rows is
    written.

    index is (bags, indices of a bag), weight (rows, ...); the result is (bags, ...). With mode "sum", per_sample_weights, of
    the shape of index, are factors of the rows. Indices equal to padding_idx, which may count from the end, count for nothing,
    and a bag in which nothing counts gives 0. Each column is summed in the canonical order over the bag.

    With max_norm, rows whose norm of order p is above it count as row * max_norm / (norm + 1e-7). torch writes them back
    into the table; here weight stays as it is, and its `renorm` is made beside it. The gradient is that of the table
    renorm(weight, p, max_norm=max_norm), which is what `embedding_bag_backward` then takes for weight.

    bounds="check" raises `InvalidProblemError` for an index out of range (on a GPU when values are next read on the host, or by
    `baracuda.synchronize()`); bounds="clamp" checks nothing and takes the nearest row.

    Differs from PyTorch: bags are rows of indices, not told apart by offsets, which come third there.

    Source: torch.nn.functional.embedding_bag.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.embedding_bag(np.array([[0, 2]]), np.float32([[1, 2], [3, 4], [5, 6]]), mode="sum").tolist()
    [[6.0, 8.0]]
    """
    if max_norm is not None:
        weight = do.run(renorm, {"x": weight}, p=p, max_norm=max_norm, axis=tuple(range(1, len(weight.shape))))
    if bounds == "check":
        do.check_indices(index, "index", IndexBound(weight.shape[0]))
    tensors = {"index": index, "weight": weight, "per_sample_weights": per_sample_weights}
    return do.run(embedding.embedding_bag, tensors, do.out, mode=mode, padding_idx=padding_idx)
