"""Linear interpolation between two tensors, by a number or by a tensor of weights."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from numbers import Complex, Real
from typing import Any

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.spec import check_number
from baracuda.frontends.arrays import broadcast
from baracuda.frontends.call import apply, describe, one
from baracuda.frontends.declared import at_run_time, declared
from baracuda.frontends.families import function
from baracuda.ops.elementwise.binary import (
    BinaryKind,
    BinaryParamArgs,
    BinaryParamBackwardArgs,
    BinaryParamBackwardDescriptor,
    BinaryParamBackwardPlan,
    BinaryParamDescriptor,
    BinaryParamPlan,
)


def _number(weight: Any, element: ElementKind) -> Any:
    """The number that a weight is; None for a tensor of weights."""
    if isinstance(weight, Complex):
        if element.category is Category.COMPLEX and not isinstance(weight, Real):
            return complex(weight)
        check_number("weight", weight)
        return weight if isinstance(weight, int) else float(weight)  # type: ignore[arg-type]
    return None


@at_run_time(weight=())
@declared(a="... : T float complex", b="... : T", weight="... or number : T")
def lerp(a: Any, b: Any, weight: Any, *, out: Any = None) -> Any:
    """a + weight * (b - a), elementwise, broadcasting.

    Parameters
    ----------
    a, b : tensors of the same element: f16, bf16, f32, f64, complex64 or complex128.
    weight : a number, complex only for complex tensors, or a tensor of that element.
    out : where to write the result.

    PyTorch computes b - (b - a) * (1 - weight) where |weight| >= 0.5; here there is one form, so the result for weight 1 may
    differ from b by a rounding. A tensor of weights, or complex numbers, are the op `lerp_tensor`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.lerp(np.zeros(2, np.float32), np.float32([1, 2]), 0.5).tolist()
    [0.5, 1.0]
    >>> baracuda.lerp(np.zeros(2, np.float32), np.float32([1, 2]), np.float32([0, 1])).tolist()
    [0.0, 2.0]
    """
    first, second = describe(a, "a"), describe(b, "b")
    number = _number(weight, first.kind)
    shape = _broadcast_shape(first.shape, second.shape)
    if number is None or first.kind.category is Category.COMPLEX:
        return function("lerp_tensor")(a, b, weight if number is None else number, out=out)
    like = a if prod(first.shape) == prod(shape) else b
    descriptor = BinaryParamDescriptor(BinaryKind.LERP, shape, first.kind, number)
    inputs = (broadcast(a, shape), broadcast(b, shape))
    return one(apply(BinaryParamPlan, BinaryParamArgs, descriptor, like, inputs, [(shape, first.kind)], [out]))


@at_run_time(weight=())
@declared(dy="... : T float complex", weight="... or number : T", a="... : T", b="... : T")
def lerp_backward(dy: Any, weight: Any, a: Any = None, b: Any = None) -> tuple[Any, ...]:
    """(da, db) = ((1 - weight) * dy, weight * dy) for a number; (da, db, dweight) for a tensor of weights.

    a and b are asked for where weight is a tensor, whose gradient is dy * (b - a), and may be given where they were broadcast:
    then each gradient is summed to the shape of its tensor, by the op `lerp_tensor_backward`. Of complex tensors they are
    PyTorch's, with the conjugates of the factors.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [g.tolist() for g in baracuda.lerp_backward(np.ones(1, np.float32), 0.25)]
    [[0.75], [0.25]]
    >>> a, b, w = np.float32([1, 2]), np.float32([3, 5]), np.float32([0.25, 0.5])
    >>> [g.tolist() for g in baracuda.lerp_backward(np.ones(2, np.float32), w, a, b)]
    [[0.75, 0.5], [0.25, 0.5], [2.0, 3.0]]
    """
    ref = describe(dy, "dy")
    number = _number(weight, ref.kind)
    if (a is None) is not (b is None) or (a is None and number is None):
        missing = "a" if a is None else "b"
        raise InvalidProblemError(f"{missing}: got None; expected a and b, which the gradient of a tensor of weights is made of")
    if a is None and ref.kind.category is not Category.COMPLEX:
        descriptor = BinaryParamBackwardDescriptor(BinaryKind.LERP, ref.shape, ref.kind, number)
        outputs = [(ref.shape, ref.kind)] * 2
        return apply(BinaryParamBackwardPlan, BinaryParamBackwardArgs, descriptor, dy, (dy,), outputs)
    left, right = (dy, dy) if a is None else (a, b)  # with a number, only their shapes matter
    made: tuple[Any, ...] = function("lerp_tensor_backward")(dy, left, right, weight if number is None else number)
    return made


def _broadcast_shape(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    rank = max(len(a), len(b))
    left, right = (1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)
    if any(m != n and 1 not in (m, n) for m, n in zip(left, right, strict=True)):
        raise InvalidProblemError(f"shapes {tuple(a)} and {tuple(b)} do not broadcast")
    return tuple(n if m == 1 else m for m, n in zip(left, right, strict=True))
