"""Pointwise operations of three tensors."""

from __future__ import annotations

from baracuda.core.errors import InvalidProblemError
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, select
from baracuda.formula.expr import fma as fused
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.traced import Own, Scalar, Value
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


@op(family="ternary", takes="float,complex")
def lerp_tensor(a: Value, b: Value, weight: Value) -> Value:
    """a + weight * (b - a), with a tensor of weights; `lerp` is the one with a number."""
    return a + weight * (b - a)


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
