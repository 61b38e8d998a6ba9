"""Pointwise operations of three tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, select
from baracuda.formula.expr import fma as fused
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.traced import Own, Scalar, Shape, Value
from baracuda.ops.elementwise.binary_ops import at_least, at_most
from baracuda.ops.elementwise.comparisons import truth


@op()
def where(condition: Own, a: Value, b: Value) -> Value:
    """a where the condition, bool or a number other than 0, holds, else b."""
    holds = truth(condition)
    if isinstance(a, Complex) or isinstance(b, Complex):
        assert isinstance(a, Complex)
        assert isinstance(b, Complex)
        return Complex(select(holds, a.re, b.re), select(holds, a.im, b.im))
    return select(holds, a, b)


@op()
def clamp(x: Expr, min: Expr | None = None, max: Expr | None = None) -> Expr:
    """x limited to min ... max, each a tensor, a number or None; max where min is above it; NaN if one of them is NaN. The
    gradient of a tie is x's."""
    if min is None and max is None:
        raise InvalidProblemError("min, max: got None for both; expected at least one")
    limited = x if min is None else at_least(x, min)
    return limited if max is None else at_most(limited, max)


def _of_one_element(tensors: Mapping[str, tuple[Shape, ElementKind]], axes: tuple[int, ...], told: Mapping[str, Any]) -> None:
    """Of `lerp`, as in PyTorch."""
    first = next(kind for _, kind in tensors.values())
    for name, (_, kind) in tensors.items():
        if kind.category not in (Category.FLOAT, Category.COMPLEX):
            raise UnsupportedError(f"{name}: element is {kind}; expected one of f16, bf16, f32, f64, complex64, complex128")
        if kind is not first:
            raise InvalidProblemError(f"{name}: element is {kind}; expected {first}")
    number = told.get("weight")
    if isinstance(number, bool) or (isinstance(number, complex) and first.category is not Category.COMPLEX):
        raise InvalidProblemError(f"weight: {number!r}; expected a number, complex only for complex tensors, or a tensor")


@op(takes="float,complex", check=_of_one_element)
def lerp(a: Value, b: Value, weight: Value) -> Value:
    """a + weight * (b - a), with a number or a tensor of weights.

    PyTorch computes b - (b - a) * (1 - weight) where |weight| >= 0.5; here there is one form, so the result for weight 1 may
    differ from b by a rounding.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.lerp(np.zeros(2, np.float32), np.float32([1, 2]), 0.5).tolist()
    [0.5, 1.0]
    >>> baracuda.lerp(np.zeros(2, np.float32), np.float32([1, 2]), np.float32([0, 1])).tolist()
    [0.0, 2.0]
    >>> a, b, w = np.float32([1, 2]), np.float32([3, 5]), np.float32([0.25, 0.5])
    >>> [g.tolist() for g in baracuda.lerp_backward(np.ones(2, np.float32), a, b, w)]
    [[0.75, 0.5], [0.25, 0.5], [2.0, 3.0]]
    """
    return a + weight * (b - a)


@lerp.backward
def _lerp_backward(dy: Value, weight: Value) -> Any:
    """By a real number: (1 - weight) * dy, with one factor for all elements."""
    if isinstance(dy, Complex) or isinstance(weight, Complex) or weight.op != "param":
        return NotImplemented
    return {"da": (1.0 - weight) * dy, "db": weight * dy}


@op()
def addcmul(x: Value, a: Value, b: Value, *, value: Scalar = 1) -> Value:
    """x + value * a * b."""
    return x + a * b * value


@op()
def addcdiv(x: Value, a: Value, b: Value, *, value: Scalar = 1) -> Value:
    """x + value * a / b."""
    return x + a / b * value


@op()
def fma(a: Expr, b: Expr, c: Expr) -> Expr:
    """a * b + c, rounded once in the kind it computes in, and then to the element."""
    return fused(a, b, c)
