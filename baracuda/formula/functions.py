"""The words a formula is written in: `exp(x)`, `where(c, a, b)`, `sum_(x)`, ...

Each takes and returns expressions. The mathematical functions stay whole in the DAG, so that they can be differentiated
and documented; `baracuda.formula.expand` replaces them by primitives before lowering.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as prod_of

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
    "exp10", "log10", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "cbrt",
)  # fmt: skip
#: The same of two float arguments of one kind.
BINARY_FUNCTIONS = ("pow", "atan2", "hypot")


def _function(op: str, x: Expr) -> Expr:
    if not x.kind.is_float:
        raise InvalidProblemError(f"{op} is defined on f32 and f64, got {x.kind}")
    return node(op, (x,), x.kind)


def _function_of_two(op: str, x: Operand, y: Operand) -> Expr:
    a, b = pair(x, y)
    if not a.kind.is_float:
        raise InvalidProblemError(f"{op} is defined on f32 and f64, got {a.kind}")
    return node(op, (a, b), a.kind)


def exp(x: Expr) -> Expr:
    """e**x."""
    return _function("exp", x)


def exp2(x: Expr) -> Expr:
    """2**x."""
    return _function("exp2", x)


def exp10(x: Expr) -> Expr:
    """10**x."""
    return _function("exp10", x)


def expm1(x: Expr) -> Expr:
    """e**x - 1, accurate near 0."""
    return _function("expm1", x)


def log(x: Expr) -> Expr:
    """The natural logarithm; -inf at 0, NaN below."""
    return _function("log", x)


def log2(x: Expr) -> Expr:
    """The logarithm to base 2."""
    return _function("log2", x)


def log10(x: Expr) -> Expr:
    """The logarithm to base 10."""
    return _function("log10", x)


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


def asin(x: Expr) -> Expr:
    """The arcsine in radians; NaN beyond 1."""
    return _function("asin", x)


def acos(x: Expr) -> Expr:
    """The arccosine in radians; NaN beyond 1."""
    return _function("acos", x)


def atan(x: Expr) -> Expr:
    """The arctangent in radians."""
    return _function("atan", x)


def atan2(y: Operand, x: Operand) -> Expr:
    """The angle of the point (x, y) in radians, from -pi to pi, with the special cases of IEEE 754."""
    return _function_of_two("atan2", y, x)


def sinh(x: Expr) -> Expr:
    """The hyperbolic sine."""
    return _function("sinh", x)


def cosh(x: Expr) -> Expr:
    """The hyperbolic cosine."""
    return _function("cosh", x)


def tanh(x: Expr) -> Expr:
    """The hyperbolic tangent."""
    return _function("tanh", x)


def asinh(x: Expr) -> Expr:
    """The inverse of the hyperbolic sine."""
    return _function("asinh", x)


def acosh(x: Expr) -> Expr:
    """The inverse of the hyperbolic cosine; NaN below 1."""
    return _function("acosh", x)


def atanh(x: Expr) -> Expr:
    """The inverse of the hyperbolic tangent; infinite at 1, NaN beyond."""
    return _function("atanh", x)


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


def root(x: Expr) -> Expr:
    """The square root of what grows as a square, a norm's or a deviation's: its derivative at 0 is 0, where that of `sqrt` is
    infinite."""
    return _function("root", x)


def cbrt(x: Expr) -> Expr:
    """The cube root."""
    return _function("cbrt", x)


def hypot(x: Operand, y: Operand) -> Expr:
    """sqrt(x**2 + y**2) without overflow or underflow on the way; infinite where either is, even if the other is NaN."""
    return _function_of_two("hypot", x, y)


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


def detach(x: Expr) -> Expr:
    """x itself, without a derivative: what depends on it counts as constant there."""
    return node("detach", (x,), x.kind)


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


def row_count(kind: ElementKind) -> Expr:
    """The number of rows, as a scalar of `kind`."""
    return param(_ROW_COUNT, kind)


def extent(axis: int, kind: ElementKind) -> Expr:
    """The extent of one axis of the iteration space, as a scalar of `kind`."""
    return param(f"{_EXTENT}{axis}", kind)


#: Reserved names of the parameters that a plan fills with extents of the iteration space.
ROW_LENGTH, _ROW_COUNT, _EXTENT = "#row_length", "#row_count", "#extent."


def counts_rows(name: str) -> bool:
    """Whether a parameter of this name is the number of rows."""
    return name == _ROW_COUNT


def reads_extent(name: str) -> int | None:
    """The axis whose extent a parameter of this name is; None for another."""
    return int(name.removeprefix(_EXTENT)) if name.startswith(_EXTENT) else None


def reserved_value(name: str, shape: Sequence[int], inner: Sequence[bool]) -> float | None:
    """The value of a parameter of a reserved name; None for another."""
    if name in (ROW_LENGTH, _ROW_COUNT):
        return float(prod_of(n for n, i in zip(shape, inner, strict=True) if i is (name == ROW_LENGTH)))
    axis = reads_extent(name)
    if axis is None:
        return None
    if not -len(shape) <= axis < len(shape):
        raise InvalidProblemError(f"the extent of axis {axis}: the shape is {tuple(shape)}; expected one of its axes")
    return float(shape[axis])
