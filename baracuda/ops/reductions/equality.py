"""Whether two tensors are the same, whatever their shapes."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.reductions import reductions


@composed(a="*a", b="*b", out=True)
def array_equal(
    do: Steps, a: TensorRef, b: TensorRef, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> Any:
    """Whether a and b have one shape and every element of a equals that of b; NaN equals nothing.

    With `axis` or `keepdims` the result has an element for each row, and other shapes than one raise `InvalidProblemError`.
    Source: torch.equal and numpy.array_equal.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> bool(baracuda.array_equal(np.float32([1, 2]), np.float32([1, 2]))), bool(baracuda.array_equal(np.zeros(2), np.zeros(3)))
    (True, False)
    """
    if a.shape == b.shape:
        return do.run(reductions.array_equal, {"a": a, "b": b}, do.out, axis=axis, keepdims=keepdims)
    if axis is not None or keepdims or do.out is not None:
        raise InvalidProblemError(f"array_equal: shapes {a.shape} and {b.shape} along axis {axis}; expected the same")
    return do.filled((), ElementKind.BOOL, value=False)
