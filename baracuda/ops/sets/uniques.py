"""Each value once: of a whole tensor, of its slices along an axis, and of neighbours."""

from __future__ import annotations

from math import prod
from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_of, view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import Count
from baracuda.ops.indexing.indexing import gather, index_select
from baracuda.ops.sets.runs import Runs, numbered
from baracuda.ops.sorting.rows import flat, in_order
from baracuda.ops.sorting.several_keys import order_by


def _slices(do: Steps, x: TensorRef, axis: int | None) -> tuple[TensorRef, int]:
    """The elements of x as a row, or its slices along an axis as rows of a matrix; and the axis."""
    if axis is None:
        return flat(do, x), 0
    axis = axis_of(axis, len(x.shape))
    order = (axis, *(a for a in range(len(x.shape)) if a != axis))
    turned = view(x, 0, tuple(x.shape[a] for a in order), tuple(x.strides[a] for a in order))
    if len(x.shape) == 1:
        return turned, axis
    if axis:
        turned = do.run(index_select, {"x": turned, "index": numbered(do, x.shape[axis])}, axis=0)
    return do.reshaped(turned if axis else x, (x.shape[axis], prod(turned.shape[1:]))), axis


def _ordered(do: Steps, rows: TensorRef) -> tuple[TensorRef, TensorRef, TensorRef]:
    """A row or the rows of a matrix in order, where each lies, and the place of each."""
    if len(rows.shape) == 1:
        found: tuple[TensorRef, TensorRef, TensorRef] = in_order(do, rows, 0, "values", "indices", "ranks")
        return found
    n, width = rows.shape
    columns = [view(rows, c * rows.strides[1], (n,), rows.strides[:1]) for c in reversed(range(width))]
    order = order_by(do, columns, 0) if width else numbered(do, n)
    return do.run(index_select, {"x": rows, "index": order}, axis=0), order, in_order(do, order, 0, "indices")


@composed(x="...")
def unique(
    do: Steps,
    x: TensorRef,
    *,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    sorted: bool = True,
    equal_nan: bool = True,
    size: Count | None = None,
    fill_value: complex | None = None,
) -> Any:
    """The values of x, each once and in the order of `sort`; with an axis, its slices along that, in the order of their elements.

    With return_index also where the first of each lies in x (numbered as one row without an axis), with return_inverse which of
    the values each element is, in the shape of x, or each slice, and with return_counts how often each occurs; all in s64, and in
    this order. With sorted=False values come as they first occur in x. With equal_nan all NaN are one value; without it each is
    one of its own. -0 and +0 are one value, which is written as the first of them.

    The number of values is read from the device. With a `size` nothing is read, and the result has that many: the first ones,
    and behind them fill_value, by default the first value, which occurs 0 times there.

    Source: numpy.unique, jax.numpy.unique for size and fill_value; the array API's unique_all has equal_nan=False.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [r.tolist() for r in baracuda.unique(np.array([3, 1, 3]), return_inverse=True, return_counts=True)]
    [[1, 3], [1, 0, 1], [1, 2]]
    >>> baracuda.unique(np.array([3, 1, 3]), size=4, fill_value=0).tolist()
    [1, 3, 0, 0]
    """
    rows, along = _slices(do, x, axis)
    ordered, order, ranks = _ordered(do, rows)
    runs = Runs(do, ordered, equal_nan=equal_nan, size=size)
    index = runs.first(order) if return_index or not sorted or axis is not None else None
    if axis is None:
        values = runs.first(ordered, fill=fill_value)
    else:
        assert index is not None
        values = runs.first(do.run(index_select, {"x": x, "index": order}, axis=along), along, fill_value)
    inverse = do.run(gather, {"x": runs.of, "index": ranks}, axis=0) if return_inverse and rows.shape[0] else ranks
    counts = runs.counts() if return_counts else None
    if not sorted and runs.count:
        assert index is not None
        place, rank = in_order(do, index, 0, "indices", "ranks")
        values = do.run(index_select, {"x": values, "index": place}, axis=along)
        index = do.run(index_select, {"x": index, "index": place}, axis=0)
        counts = None if counts is None else do.run(index_select, {"x": counts, "index": place}, axis=0)
        inverse = do.run(gather, {"x": rank, "index": inverse}, axis=0) if return_inverse else inverse
    results = [values]
    if return_index:
        assert index is not None
        results.append(index)
    if return_inverse:
        results.append(do.reshaped(inverse, x.shape) if axis is None else inverse)
    if counts is not None:
        results.append(counts)
    return results[0] if len(results) == 1 else tuple(results)


@composed(x="...")
def unique_consecutive(
    do: Steps,
    x: TensorRef,
    *,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    equal_nan: bool = False,
    size: Count | None = None,
    fill_value: complex | None = None,
) -> Any:
    """x, as one row, without the elements that equal the one before them; with an axis without such slices along it.

    With return_inverse also which of the results each element or slice is, and with return_counts how many neighbours each
    stands for, in s64. `size` and fill_value are as in `unique`, and without equal_nan no NaN equals another. Source:
    torch.unique_consecutive.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [r.tolist() for r in baracuda.unique_consecutive(np.array([1, 1, 3, 1]), return_counts=True)]
    [[1, 3, 1], [2, 1, 1]]
    """
    rows, along = _slices(do, x, axis)
    runs = Runs(do, rows, equal_nan=equal_nan, size=size)
    results = [runs.first(rows if axis is None else x, along, fill_value)]
    if return_inverse:
        results.append(do.reshaped(runs.of, x.shape) if axis is None else runs.of)
    if return_counts:
        results.append(runs.counts())
    return results[0] if len(results) == 1 else tuple(results)
