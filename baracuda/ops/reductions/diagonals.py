"""The trace of matrices: the sum along a diagonal, which is a view."""

from __future__ import annotations

from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import diagonal, expanded_dims, view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import Dtype
from baracuda.ops.reductions import reductions


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
    y: TensorRef = do.run(reductions.sum_, {"x": diagonal(x, offset, axis1, axis2)}, do.out, axis=-1, dtype=dtype)
    return y


@composed(x="*lead m n", dy=_without)
def trace_backward(do: Steps, dy: TensorRef, x: TensorRef, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorMut:
    """The gradient of `trace`'s x: dy on the diagonal, 0 elsewhere."""
    dx = do.new(x.shape, x.kind)
    along = diagonal(dx, offset, axis1, axis2)
    do.zero(dx)
    column = expanded_dims(dy, range(len(dy.shape)), len(along.shape))
    do.copy(view(column, 0, along.shape, (*dy.strides, 0)), along)
    return dx
