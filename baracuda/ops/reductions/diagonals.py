"""The trace of matrices: the sum along a diagonal, which is a view."""

from __future__ import annotations

from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import axis_of, expanded_dims, view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import Dtype
from baracuda.ops.reductions import reductions


def _diagonal(tensor: TensorRef, offset: int, axis1: int, axis2: int) -> Any:
    """A diagonal as the last axis, after the axes that are not of the matrices."""
    rank = len(tensor.shape)
    first, second = axis_of(axis1, rank), axis_of(axis2, rank)
    if first == second:
        raise InvalidProblemError(f"axis1, axis2: {axis1}, {axis2} are one axis; expected two")
    axes = [a for a in range(rank) if a not in (first, second)]
    (m, n), (down, right) = ((t[first], t[second]) for t in (tensor.shape, tensor.strides))
    length = max(min(m + min(offset, 0), n - max(offset, 0)), 0)
    start = (max(offset, 0) * right - min(offset, 0) * down) if length else 0
    return view(tensor, start, (*(tensor.shape[a] for a in axes), length), (*(tensor.strides[a] for a in axes), down + right))


def _without(lead: tuple[int, ...], m: int, n: int, axis1: int, axis2: int) -> tuple[int, ...] | None:
    """A shape without two axes; None where these are not two of it."""
    shape = (*lead, m, n)
    gone = {a % len(shape) for a in (axis1, axis2) if -len(shape) <= a < len(shape)}
    return tuple(e for a, e in enumerate(shape) if a not in gone) if len(gone) == 2 else None


@composed(x="... m n", out=True)
def trace(do: Steps, x: TensorRef, *, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Dtype = None) -> TensorRef:
    """The sum of the diagonal x[i, i + offset] of the matrices along two axes; the other axes stay.

    Integers are summed in s64 (u64) unless dtype says otherwise. Only the diagonal is read.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> float(baracuda.trace(np.float32([[1, 2], [3, 4]])))
    5.0
    """
    y: TensorRef = do.run(reductions.sum_, {"x": _diagonal(x, offset, axis1, axis2)}, do.out, axis=-1, dtype=dtype)
    return y


@composed(x="*lead m n", dy=_without)
def trace_backward(do: Steps, dy: TensorRef, x: TensorRef, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorMut:
    """The gradient of `trace`'s x: dy on the diagonal, 0 elsewhere."""
    dx = do.new(x.shape, x.kind)
    diagonal = _diagonal(dx, offset, axis1, axis2)
    do.zero(dx)
    column = expanded_dims(dy, range(len(dy.shape)), len(diagonal.shape))
    do.copy(view(column, 0, diagonal.shape, (*dy.strides, 0)), diagonal)
    return dx
