"""Whether two tensors are the same, whatever their shapes."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import function
from baracuda.frontends.views import filled


@declared(a="*a", b="*b")
def array_equal(a: Any, b: Any, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, out: Any = None) -> Any:
    """Whether a and b have one shape and every element of a equals that of b; NaN equals nothing.

    With `axis` or `keepdims` the result has an element for each row, and other shapes than one raise `InvalidProblemError`.
    Source: torch.equal and numpy.array_equal.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> bool(baracuda.array_equal(np.float32([1, 2]), np.float32([1, 2]))), bool(baracuda.array_equal(np.zeros(2), np.zeros(3)))
    (True, False)
    """
    shapes = describe(a, "a").shape, describe(b, "b").shape
    if shapes[0] == shapes[1]:
        return function("array_equal")(a, b, axis=axis, keepdims=keepdims, out=out)
    if axis is not None or keepdims or out is not None:
        raise InvalidProblemError(f"array_equal: shapes {shapes[0]} and {shapes[1]} along axis {axis}; expected the same")
    return filled(a, (), ElementKind.BOOL, value=False)
