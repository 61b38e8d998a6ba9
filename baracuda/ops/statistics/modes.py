"""The most frequent element of a row."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.formula.expr import Expr, cast, coord
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.indexing.indexing import gather
from baracuda.ops.reductions.arg_reductions import argmax
from baracuda.ops.sorting.rows import check_like, in_order, placed, row_of, without_axis
from baracuda.ops.sorting.searches import search


def _from_here(after: Expr, *, axis: int = 0) -> Expr:
    return after - cast(coord(axis), ElementKind.S64)


_from_here_op = Op(_from_here, Rule.COMMON, name="run_from_here", family="statistics", takes="int", differentiable=False)


def _found(do: Steps, x: TensorRef, axis: int) -> tuple[TensorRef, TensorRef]:
    """The mode of each row, and where the first of its elements lies; the rows' axis stays."""
    if not x.shape[axis]:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected an element in each row")
    ordered, order = in_order(do, x, axis, "values", "indices")
    # of an element in order, how many equal ones there are from it on: at the first of a run its whole length
    after = search(do, ordered, ordered, right=True, axis=axis)
    lengths = do.run(_from_here_op, {"after": after}, axis=axis)
    place = do.run(argmax, {"x": lengths}, axis=axis, keepdims=True)
    values, indices = (do.run(gather, {"x": t, "index": place}, axis=axis) for t in (ordered, order))
    return values, indices


@composed(x="...")
def mode(do: Steps, x: TensorRef, axis: int = -1, *, keepdims: bool = False) -> tuple[TensorRef, TensorRef]:
    """The most frequent element of each row along an axis, the smallest of those that are, and where in the row the first of its
    elements lies, in s64. NaN are equal, and larger than all numbers. Source: torch.mode, which does not say which of equal
    elements its index is of.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [r.tolist() for r in baracuda.mode(np.array([[3, 1, 3, 1, 2]]))]
    [[1], [1]]
    """
    row, along = row_of(do, x, axis)
    keepdims = keepdims and row.shape == x.shape
    values, indices = _found(do, row, along)
    return without_axis(do, values, along, keepdims=keepdims), without_axis(do, indices, along, keepdims=keepdims)


@composed(x="...", dy="...", indices="... : s32 s64")
def mode_backward(
    do: Steps, dy: TensorRef, x: TensorRef, indices: Given = None, *, axis: int = -1, keepdims: bool = False
) -> Any:
    """The gradient of `mode`'s x, given that of its values: dy where they lie, 0 elsewhere.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.mode_backward(np.array(7, np.float32), np.float32([3, 1, 1])).tolist()
    [0.0, 7.0, 0.0]
    """
    row, along = row_of(do, x, axis)
    if indices is None:
        _, indices = _found(do, row, along)
    assert indices is not None
    shape = (*row.shape[:along], 1, *row.shape[along + 1 :])
    check_like("dy", dy, shape if keepdims else shape[:along] + shape[along + 1 :])
    found: Any = placed(do, do.reshaped(dy, shape), do.reshaped(indices, shape), row, along)
    return do.reshaped(found, x.shape)
