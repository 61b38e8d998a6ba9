"""Orders by several keys, and values that follow theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.indexing.indexing import gather
from baracuda.ops.sorting.rows import check_like, in_order, row_of


def order_by(do: Steps, keys: Sequence[TensorRef], axis: int) -> TensorRef:
    """Where elements lie in the stable order by several keys, the last of which counts most."""
    order: TensorRef | None = None
    for key in keys:
        if order is None:
            order = in_order(do, key, axis, "indices")
        else:
            again = in_order(do, do.run(gather, {"x": key, "index": order}, axis=axis), axis, "indices")
            order = do.run(gather, {"x": order, "index": again}, axis=axis)
    assert order is not None
    return order


@composed(keys="list *shape or count *shape")
def lexsort(do: Steps, keys: Any, axis: int = -1) -> TensorRef:
    """Where elements lie in the order by several keys along an axis, in s64: by the last key, where that is equal by the one
    before it, and so on; of elements that are equal in all of them the first comes first.

    keys is a list of tensors of one shape and any elements, or a tensor whose first axis is their number. Source: numpy.lexsort.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.lexsort([np.array([2, 1, 0]), np.array([1, 0, 1])]).tolist()
    [1, 2, 0]
    """
    if isinstance(keys, TensorRef):
        keys = [view(keys, i * keys.strides[0], keys.shape[1:], keys.strides[1:]) for i in range(keys.shape[0])]
    if not keys:
        raise InvalidProblemError("keys: none; expected one or more")
    rows = [row_of(do, key, axis) for key in keys]
    order = order_by(do, [row for row, _ in rows], rows[0][1])
    return order if order.shape == keys[0].shape else do.reshaped(order, keys[0].shape)


@composed(keys="*shape : int", values="*shape")
def radix_sort_pairs(
    do: Steps, keys: TensorRef, values: TensorRef, axis: int = -1, *, descending: bool = False
) -> tuple[TensorRef, TensorMut]:
    """Integer keys in order along an axis, and the values that belong to them; those of equal keys keep their order.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [r.tolist() for r in baracuda.radix_sort_pairs(np.array([2, 0, 2, 1]), np.float32([1, 2, 3, 4]))]
    [[0, 1, 2, 2], [2.0, 4.0, 1.0, 3.0]]
    """
    check_like("values", values, keys.shape)
    row, along = row_of(do, keys, axis)
    ordered, order = in_order(do, row, along, "values", "indices", descending=descending)
    moved = do.run(gather, {"x": do.reshaped(values, row.shape), "index": order}, axis=along)
    if row.shape == keys.shape:
        return ordered, moved
    return do.reshaped(ordered, keys.shape), do.reshaped(moved, keys.shape)
