"""The trace of matrices: the sum along a diagonal, which is a view."""

from __future__ import annotations

from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import ops
from baracuda.frontends.views import axis_of, copy, output, placed, run, view, zero_op
from baracuda.frontends.words import Dtype


def _diagonal(tensor: TensorRef, offset: int, axis1: int, axis2: int) -> Any:
    """A diagonal as the last axis, after the axes that are not of the matrices."""
    rank = len(tensor.shape)
    first, second = axis_of(axis1, rank), axis_of(axis2, rank)
    if first == second:
        raise InvalidProblemError(f"axis1, axis2: {axis1}, {axis2} are one axis; expected two")
    kept = [a for a in range(rank) if a not in (first, second)]
    (m, n), (down, right) = ((t[first], t[second]) for t in (tensor.shape, tensor.strides))
    length = max(min(m + min(offset, 0), n - max(offset, 0)), 0)
    start = (max(offset, 0) * right - min(offset, 0) * down) if length else 0
    return view(tensor, start, (*(tensor.shape[a] for a in kept), length), (*(tensor.strides[a] for a in kept), down + right))


def _without(lead: tuple[int, ...], m: int, n: int, axis1: int, axis2: int) -> tuple[int, ...] | None:
    """A shape without two axes; None where these are not two of it."""
    shape = (*lead, m, n)
    gone = {a % len(shape) for a in (axis1, axis2) if -len(shape) <= a < len(shape)}
    return tuple(e for a, e in enumerate(shape) if a not in gone) if len(gone) == 2 else None


@declared(x="... m n")
def trace(x: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Dtype = None, out: Any = None) -> Any:
    """The sum of the diagonal x[i, i + offset] of the matrices along two axes; the other axes stay.

    Integers are summed in s64 (u64) unless dtype says otherwise. Only the diagonal is read.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> float(baracuda.trace(np.float32([[1, 2], [3, 4]])))
    5.0
    """
    diagonal = _diagonal(describe(x, "x"), offset, axis1, axis2)
    (y,) = run(ops()["sum"], {"x": diagonal}, x, out, axis=-1, dtype=dtype).values()
    return y


@declared(x="*lead m n", dy=_without)
def trace_backward(dy: Any, x: Any, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The gradient of `trace`'s x: dy on the diagonal, 0 elsewhere."""
    ref, given = describe(x, "x"), describe(dy, "dy")
    result, target = output(x, ref.shape, ref.kind)
    diagonal = _diagonal(target, offset, axis1, axis2)
    run(zero_op, {"x": target}, x, target)
    column = placed(given, range(len(given.shape)), len(diagonal.shape))
    copy(view(column, 0, diagonal.shape, (*given.strides, 0)), diagonal, x)
    return result
