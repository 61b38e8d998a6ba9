"""The derivative of each operation: what a node's adjoint contributes to the adjoint of one operand.

A rule is written in the node itself wherever that is cheaper and better than starting again from the operands
(tanh' = 1 - tanh**2). Conventions at corners are PyTorch's: abs'(0) = 0, sqrt'(0) = inf but root'(0) = 0, a tie of maximum or
minimum is shared in halves, a tie of a row's max or min in equal parts, d(x**0)/dx = 0. The gradients of atan2 and, unlike
PyTorch's, of hypot are 0 at the origin.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import Expr, cast, compare, const, fma, power, reduce, select, unary
from baracuda.formula.functions import cos, cosh, exp, log, rsqrt, sin, sinh
from baracuda.formula.small_floats import FORMATS

#: A condition, and the value it must have.
Literal: TypeAlias = tuple[Expr, bool]


@dataclass(frozen=True)
class Term:
    """A contribution to an adjoint: `value` where every condition of the guard has its value, else zero.

    The guard is not multiplied in and not selected at once: it travels with the value towards the inputs and is applied
    there, so that an infinity or NaN made on the way through a branch that was not taken never comes out.
    """

    value: Expr
    guard: tuple[Literal, ...] = ()


#: From a node, its adjoint and the number of an operand; None is zero.
Rule: TypeAlias = Callable[[Expr, Expr, int], Expr | Term | None]
RULES: dict[str, Rule] = {}


def _rule(*ops: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops, rule))
        return rule

    return register


def _literal(x: Expr) -> float | None:
    """The value of a constant."""
    return float(x.value) if x.op == "const" else None


# --- arithmetic -------------------------------------------------------------------------------------------------------


@_rule("add")
def _add(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy


@_rule("sub")
def _sub(y: Expr, dy: Expr, operand: int) -> Expr:
    return -dy if operand else dy


@_rule("mul")
def _mul(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy * y.args[1 - operand]


@_rule("div")
def _div(y: Expr, dy: Expr, operand: int) -> Expr:
    numerator, denominator = y.args
    if operand == 0:
        return dy / denominator
    if _literal(numerator) == 1.0:
        return -(dy * y * y)
    return -(dy / denominator * y)  # shares its division with the numerator's


@_rule("fma")
def _fma(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy if operand == 2 else dy * y.args[1 - operand]


@_rule("neg")
def _neg(y: Expr, dy: Expr, operand: int) -> Expr:
    return -dy


@_rule("abs")
def _abs(y: Expr, dy: Expr, operand: int) -> Expr:
    (x,) = y.args
    return select(x > 0.0, dy, select(x < 0.0, -dy, 0.0))


@_rule("sqrt")
def _sqrt(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy / (y + y)


@_rule("root")
def _root(y: Expr, dy: Expr, operand: int) -> Term:
    return Term(dy / (y + y), ((compare("eq", y, 0.0), False),))


@_rule("max", "min")
def _extremum(y: Expr, dy: Expr, operand: int) -> Term:
    this, other = y.args[operand], y.args[1 - operand]
    loses = this < other if y.op == "max" else this > other
    return Term(select(compare("eq", this, other), dy * 0.5, dy), ((loses, False),))


@_rule("select", "rare")
def _select(y: Expr, dy: Expr, operand: int) -> Term:
    return Term(dy, ((y.args[0], operand == 1),))


@_rule("cast", *(f"round_to_{kind.label}" for kind in FORMATS))
def _cast(y: Expr, dy: Expr, operand: int) -> Expr:
    return cast(dy, y.args[0].kind)


@_rule("fmod")
def _fmod(y: Expr, dy: Expr, operand: int) -> Expr:
    x, divisor = y.args
    return dy if operand == 0 else -(dy * unary("trunc", x / divisor))


@_rule("remainder")
def _remainder(y: Expr, dy: Expr, operand: int) -> Expr:
    x, divisor = y.args
    return dy if operand == 0 else -(dy * unary("floor", x / divisor))


@_rule("rint", "floor", "ceil", "trunc", "nearest_integer", "detach")
def _step(y: Expr, dy: Expr, operand: int) -> None:
    return None


# --- functions --------------------------------------------------------------------------------------------------------


@_rule("exp")
def _exp(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy * y


@_rule("exp2")
def _exp2(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy * y * math.log(2.0)


@_rule("expm1")
def _expm1(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy * exp(y.args[0])  # y + 1 has no correct digit left where y is close to -1


@_rule("log")
def _log(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy / y.args[0]


@_rule("log2")
def _log2(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy / y.args[0] * (1.0 / math.log(2.0))


@_rule("log1p")
def _log1p(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy / (1.0 + y.args[0])


@_rule("sin")
def _sin(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy * cos(y.args[0])


@_rule("cos")
def _cos(y: Expr, dy: Expr, operand: int) -> Expr:
    return -(dy * sin(y.args[0]))


@_rule("tan")
def _tan(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy * fma(y, y, const(1.0, y.kind))


@_rule("tanh")
def _tanh(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy * fma(-y, y, const(1.0, y.kind))


@_rule("sigmoid")
def _sigmoid(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy * (y * (1.0 - y))


@_rule("erf", "erfc")
def _erf(y: Expr, dy: Expr, operand: int) -> Expr:
    (x,) = y.args
    slope = 2.0 / math.sqrt(math.pi)
    return dy * (exp(-(x * x)) * (slope if y.op == "erf" else -slope))


@_rule("rsqrt")
def _rsqrt(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy * -0.5 * y * y * y


@_rule("exp10")
def _exp10(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy * y * math.log(10.0)


@_rule("log10")
def _log10(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy / y.args[0] * (1.0 / math.log(10.0))


@_rule("asin", "acos")
def _asin(y: Expr, dy: Expr, operand: int) -> Expr:
    (x,) = y.args
    slope = dy * rsqrt(fma(-x, x, const(1.0, x.kind)))
    return slope if y.op == "asin" else -slope


@_rule("atan")
def _atan(y: Expr, dy: Expr, operand: int) -> Expr:
    (x,) = y.args
    return dy / fma(x, x, const(1.0, x.kind))


@_rule("atan2")
def _atan2(y: Expr, dy: Expr, operand: int) -> Term:
    opposite, adjacent = y.args
    square = fma(opposite, opposite, adjacent * adjacent)
    slope = dy * (adjacent / square) if operand == 0 else -(dy * (opposite / square))
    return Term(slope, ((compare("eq", square, 0.0), False),))


@_rule("sinh", "cosh")
def _sinh(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy * (cosh if y.op == "sinh" else sinh)(y.args[0])


@_rule("asinh")
def _asinh(y: Expr, dy: Expr, operand: int) -> Expr:
    (x,) = y.args
    return dy * rsqrt(fma(x, x, const(1.0, x.kind)))


@_rule("acosh")
def _acosh(y: Expr, dy: Expr, operand: int) -> Expr:
    (x,) = y.args
    return dy * rsqrt(fma(x, x, const(-1.0, x.kind)))


@_rule("atanh")
def _atanh(y: Expr, dy: Expr, operand: int) -> Expr:
    (x,) = y.args
    return dy / fma(-x, x, const(1.0, x.kind))


@_rule("cbrt")
def _cbrt(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy / (y * y * 3.0)


@_rule("hypot")
def _hypot(y: Expr, dy: Expr, operand: int) -> Term:
    return Term(dy * (y.args[operand] / y), ((compare("eq", y, 0.0), False),))


@_rule("pow")
def _pow(y: Expr, dy: Expr, operand: int) -> Expr | Term | None:
    base, exponent = y.args
    if operand == 1:
        slope = dy * (y * log(base))
        if base.op == "const" and _literal(base) != 0.0:
            return slope
        constant = compare("eq", base, 0.0) & (exponent >= 0.0)  # 0**e stays 0 (or 1) whichever way e moves
        return Term(slope, ((constant, False),))
    known = _literal(exponent)
    if known is None:
        return Term(dy * (exponent * power(base, exponent - 1.0)), ((compare("eq", exponent, 0.0), False),))
    if known == 0.0:
        return None
    return dy if known == 1.0 else dy * (exponent * power(base, known - 1.0))


# --- reductions -------------------------------------------------------------------------------------------------------


@_rule("reduce")
def _reduce(y: Expr, dy: Expr, operand: int) -> Expr | Term:
    op, over = y.attr
    (x,) = y.args
    if op == "sum":
        return dy
    if op == "prod":
        # The product of the others: P/x where nothing is zero; where one element is, P for it and zero for the rest.
        zero = compare("eq", x, 0.0)
        is_zero, others = select(zero, const(1.0, x.kind), 0.0), select(zero, const(1.0, x.kind), x)
        product, zeros = reduce("prod", others, over), reduce("sum", is_zero, over)
        return Term(dy * product / others, ((compare("eq", zeros, is_zero), True),))
    loses = x < y if op == "max" else x > y
    # Where a NaN is in the row, y is NaN and no element loses or wins: the count, and so the gradient, becomes NaN.
    weight = select(loses, 0.0, select(compare("eq", x, y), const(1.0, x.kind), math.nan))
    return Term(dy / reduce("sum", weight, over), ((loses, False),))


@_rule("scan")
def _scan(y: Expr, dy: Expr, operand: int) -> Expr | None:
    combine = y.attr.combine
    if combine.backward is None:
        raise UnsupportedError(f"the scan {combine.name} has no derivative; expected one of the scans of baracuda.formula.scans")
    slope: Expr | None = combine.backward(y, dy, operand)
    return slope


from baracuda.formula import derivatives_special as derivatives_special  # noqa: E402  (registers its rules)
