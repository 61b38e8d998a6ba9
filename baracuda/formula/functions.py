"""The words a formula is written in: `exp(x)`, `where(c, a, b)`, `sum_(x)`, ...

Each takes and returns expressions. The mathematical functions stay whole in the DAG, so that they can be differentiated
and documented; `baracuda.formula.expand` replaces them by primitives before lowering.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula.expr import (
    Axes,
    Expr,
    Operand,
    binary,
    compare,
    coord,
    node,
    pair,
    param,
    reduce,
    select,
    unary,
)

#: Functions of one float argument that `baracuda.formula.elementary` defines by primitives.
UNARY_FUNCTIONS = (
    "exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tan", "tanh", "sigmoid", "erf", "erfc", "rsqrt",
)  # fmt: skip


def _function(op: str, x: Expr) -> Expr:
    if not x.kind.is_float:
        raise InvalidProblemError(f"{op} is defined on f32 and f64, got {x.kind}")
    return node(op, (x,), x.kind)


def exp(x: Expr) -> Expr:
    """e**x."""
    return _function("exp", x)


def exp2(x: Expr) -> Expr:
    """2**x."""
    return _function("exp2", x)


def expm1(x: Expr) -> Expr:
    """e**x - 1, accurate near 0."""
    return _function("expm1", x)


def log(x: Expr) -> Expr:
    """The natural logarithm; -inf at 0, NaN below."""
    return _function("log", x)


def log2(x: Expr) -> Expr:
    """The logarithm to base 2."""
    return _function("log2", x)


def log1p(x: Expr) -> Expr:
    """log(1 + x), accurate near 0."""
    return _function("log1p", x)


def sin(x: Expr) -> Expr:
    """The sine of x radians, reduced exactly for every finite x."""
    return _function("sin", x)


def cos(x: Expr) -> Expr:
    """The cosine of x radians, reduced exactly for every finite x."""
    return _function("cos", x)


def tan(x: Expr) -> Expr:
    """The tangent of x radians, reduced exactly for every finite x."""
    return _function("tan", x)


def tanh(x: Expr) -> Expr:
    """The hyperbolic tangent."""
    return _function("tanh", x)


def sigmoid(x: Expr) -> Expr:
    """1 / (1 + e**-x)."""
    return _function("sigmoid", x)


def erf(x: Expr) -> Expr:
    """The error function."""
    return _function("erf", x)


def erfc(x: Expr) -> Expr:
    """1 - erf(x), accurate in the far tail."""
    return _function("erfc", x)


def rsqrt(x: Expr) -> Expr:
    """1 / sqrt(x)."""
    return _function("rsqrt", x)


def sqrt(x: Expr) -> Expr:
    """The square root, correctly rounded."""
    return unary("sqrt", x)


def pow_(x: Operand, y: Operand) -> Expr:
    """x**y with the special cases of IEEE 754's pow."""
    a, b = pair(x, y)
    return node("pow", (a, b), a.kind)


def rint(x: Expr) -> Expr:
    """x rounded to an integer, halves to even."""
    return unary("rint", x)


def nearest_integer(x: Expr) -> Expr:
    """x rounded to an s32, halves to even, for |x| up to 2**21; beyond that, and for NaN, any integer."""
    if not x.kind.is_float:
        raise InvalidProblemError(f"nearest_integer is defined on f32 and f64, got {x.kind}")
    return node("nearest_integer", (x,), ElementKind.S32)


def floor(x: Expr) -> Expr:
    """The largest integer not above x."""
    return unary("floor", x)


def maximum(a: Operand, b: Operand) -> Expr:
    """IEEE 754-2019 maximum: a NaN on either side gives NaN, and +0 is above -0."""
    return binary("max", a, b)


def minimum(a: Operand, b: Operand) -> Expr:
    """IEEE 754-2019 minimum: a NaN on either side gives NaN, and -0 is below +0."""
    return binary("min", a, b)


def clamp(x: Expr, low: Operand, high: Operand) -> Expr:
    """minimum(maximum(x, low), high)."""
    return minimum(maximum(x, low), high)


def where(condition: Expr, a: Operand, b: Operand) -> Expr:
    """a where the condition holds, else b."""
    return select(condition, a, b)


def equal(a: Operand, b: Operand) -> Expr:
    """a == b, false where either is NaN."""
    return compare("eq", a, b)


def not_equal(a: Operand, b: Operand) -> Expr:
    """a != b, true where either is NaN."""
    return compare("ne", a, b)


def sum_(x: Expr) -> Expr:
    """The sum over the row (the inner axes), in the canonical order."""
    return reduce("sum", x)


def prod(x: Expr) -> Expr:
    """The product over the row, in the canonical order."""
    return reduce("prod", x)


def max_(x: Expr) -> Expr:
    """The largest element of the row; NaN if one is NaN."""
    return reduce("max", x)


def min_(x: Expr) -> Expr:
    """The smallest element of the row; NaN if one is NaN."""
    return reduce("min", x)


def sum_rows(x: Expr) -> Expr:
    """The sum over the rows (the outer axes), one result for each inner cell, in the canonical order."""
    return reduce("sum", x, Axes.OUTER)


def row_length(kind: ElementKind) -> Expr:
    """The number of elements of a row, as a scalar of `kind`."""
    return param(ROW_LENGTH, kind)


def mean(x: Expr) -> Expr:
    """sum_(x) divided by the length of the row."""
    return sum_(x) / row_length(x.kind)


def index(axis: int) -> Expr:
    """The index along one axis of the iteration space, as s32."""
    return coord(axis)


#: Reserved name of the parameter that a plan fills with the row length.
ROW_LENGTH = "#row_length"
