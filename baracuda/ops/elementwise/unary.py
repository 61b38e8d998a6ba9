"""Functions of one number: arithmetic, roots, exponentials, logarithms, trigonometry, rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.complex_functions import FUNCTIONS
from baracuda.formula.expr import Expr, bitcast, cast, const, fma, select, unary
from baracuda.ops.declaration.op import Op, op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Scalar, Value


def _sigmoid_backward(dy: Value, y: Value) -> dict[str, Value]:
    slope = y * (1.0 - y)
    return {"dx": dy * (slope.conjugate() if isinstance(slope, Complex) else slope)}


def _tanh_backward(dy: Value, y: Value) -> dict[str, Value]:
    slope = (1.0 - y * y).conjugate() if isinstance(y, Complex) else fma(-y, y, const(1.0, y.kind))
    return {"dx": dy * slope}


#: Functions whose derivative costs far less from their value than from their argument.
_FROM_RESULT: dict[Callable[[Expr], Expr], Callable[..., dict[str, Value]]] = {
    f.sigmoid: _sigmoid_backward,
    f.tanh: _tanh_backward,
}


def _elementary(real: Callable[[Expr], Expr]) -> Op:
    """The op of an elementary function, on complex numbers too where the catalogue says so."""

    def formula(x: Any) -> Any:
        return FUNCTIONS[real.__name__](x) if isinstance(x, Complex) else real(x)

    formula.__doc__ = real.__doc__
    slope = _FROM_RESULT.get(real)
    declared = op(Rule.FLOATING, name=real.__name__, saves=("y",) if slope else ())(formula)
    if slope:
        declared.backward(slope)
    return declared


for _function in (
    f.sqrt, f.rsqrt, f.cbrt, f.exp, f.exp2, f.expm1, f.log, f.log2, f.log10, f.log1p, f.sin, f.cos, f.tan, f.asin, f.acos,
    f.atan, f.sinh, f.cosh, f.tanh, f.asinh, f.acosh, f.atanh, f.sigmoid,
):  # fmt: skip
    _elementary(_function)


@op()
def abs_(x: Value) -> Expr:
    """|x|; the smallest signed integer stays itself."""
    if isinstance(x, Expr) and x.kind.category in (Category.UNSIGNED, Category.BOOL):
        return x
    return abs(x)


@op()
def neg(x: Value) -> Value:
    """-x; integers wrap."""
    return -x


@op(takes="any")
def positive(x: Value) -> Value:
    """x itself."""
    return x


def _sign(x: Expr) -> Expr:
    if x.kind is ElementKind.BOOL:
        return x
    zero, one = const(0, x.kind), const(1, x.kind)
    positive_ = select(x > zero, one, x) if x.kind.is_float else select(x > zero, one, zero)
    if x.kind.category is Category.UNSIGNED:
        return positive_
    return select(x < zero, -one, positive_)


@op(differentiable=True)
def sign(x: Expr) -> Expr:
    """-1, 0 or 1; a zero keeps its sign and NaN stays NaN. Its gradient is zero."""
    return _sign(x)


@sign.backward
def _sign_backward(dy: Expr, x: Expr) -> dict[str, Expr]:
    return {"dx": const(0.0, dy.kind)}


@op()
def sgn(x: Value) -> Value:
    """x / |x|, and 0 at 0: the sign of a complex number. The gradient at 0, and by a real number, is zero."""
    if isinstance(x, Expr):
        return _sign(x)
    size = abs(x)
    zero = f.equal(size, 0.0)
    return Complex(select(zero, 0.0, x.re / size), select(zero, 0.0, x.im / size))


@sgn.backward
def _sgn_backward(dy: Value, x: Value) -> dict[str, Value]:
    if isinstance(x, Expr):
        return {"dx": const(0.0, x.kind)}
    assert isinstance(dy, Complex)
    size = abs(x)
    zero = f.equal(size, 0.0)
    re, im = x.re / size, x.im / size
    along = dy.re * re + dy.im * im
    return {"dx": Complex(*(select(zero, 0.0, (d - along * u) / size) for d, u in ((dy.re, re), (dy.im, im))))}


@op()
def signbit(x: Expr) -> Expr:
    """Whether the sign bit is set: true for -0.0 and for a negative NaN."""
    if x.kind.category is Category.UNSIGNED:
        return x < const(0, x.kind)
    if not x.kind.is_float:
        return x < 0
    signed = ElementKind.S32 if x.kind is ElementKind.F32 else ElementKind.S64
    return bitcast(x, signed) < const(0, signed)


@op(Rule.FLOATING)
def reciprocal(x: Value) -> Value:
    """1 / x."""
    return 1.0 / x


@op()
def square(x: Value) -> Value:
    """x * x; of bool as s64, as in PyTorch."""
    if isinstance(x, Expr) and x.kind is ElementKind.BOOL:
        return cast(x, ElementKind.S64)
    return x * x


def _of_decimals(x: Expr, decimals: int) -> Expr:
    """x rounded to so many digits after the point, halves to even: by way of x times, or over, a power of ten."""
    if not x.kind.is_float:
        if decimals < 0:
            raise UnsupportedError(f"decimals: {decimals} of {x.kind}; expected 0 or more for integers")
        return x
    if decimals == 0:
        return unary("rint", x)
    power = 10.0 ** abs(decimals)
    if decimals < 0:
        return unary("rint", x / power) * power
    large = x * power
    return select(abs(large) < float("inf"), unary("rint", large) / power, x)  # what overflows has no digits after the point


def _rounding(name: str, how: str, doc: str) -> Op:
    def formula(x: Expr) -> Expr:
        return unary(how, x) if x.kind.is_float else x

    formula.__doc__ = doc
    declared = op(name=name, differentiable=True)(formula)

    def flat(dy: Expr, x: Expr) -> dict[str, Expr]:
        return {"dx": const(0.0, dy.kind)}

    declared.backward(flat)
    return declared


ceil = _rounding("ceil", "ceil", "The smallest integer not below x. Its gradient is zero.")
floor = _rounding("floor", "floor", "The largest integer not above x. Its gradient is zero.")
trunc = _rounding("trunc", "trunc", "x rounded towards zero. Its gradient is zero.")


@op(differentiable=True)
def round_(x: Expr, *, decimals: int = 0) -> Expr:
    """x rounded to an integer, or to `decimals` digits after the point (before it where negative), halves to even, as
    rint(x * 10**decimals) / 10**decimals. Its gradient is zero. Source: torch.round."""
    return _of_decimals(x, decimals)


@round_.backward
def _round_backward(dy: Expr, x: Expr, *, decimals: int) -> dict[str, Expr]:
    return {"dx": const(0.0, dy.kind)}


@op()
def frac(x: Expr) -> Expr:
    """x - trunc(x), with the sign of x. Its gradient is dy."""
    return x - unary("trunc", x)


@frac.backward
def _frac_backward(dy: Expr) -> dict[str, Expr]:
    return {"dx": dy}


@op(results=("fractional", "integral"))
def modf(x: Expr) -> tuple[Expr, Expr]:
    """The fractional and the integral part, each with the sign of x; of an infinity, a zero and the infinity."""
    whole = unary("trunc", x)
    return select(f.equal(abs(x), float("inf")), _zero_like(x), x - whole), whole


def _zero_like(x: Expr) -> Expr:
    """A zero with the sign of x."""
    return select(x < 0.0, const(-0.0, x.kind), const(0.0, x.kind))


@modf.backward
def _modf_backward(dfractional: Expr) -> dict[str, Expr]:
    return {"dx": dfractional}


@op(Rule.FLOATING)
def deg2rad(x: Expr) -> Expr:
    """x * pi / 180."""
    return x * 0.017453292519943295


@op(Rule.FLOATING)
def rad2deg(x: Expr) -> Expr:
    """x * 180 / pi."""
    return x * 57.29577951308232


@op()
def nan_to_num(
    x: Expr, *, nan: Scalar = 0.0, posinf: Scalar | None = None, neginf: Scalar | None = None, element: ElementKind
) -> Expr:
    """x with NaN, +inf and -inf replaced; by default by 0 and the largest and smallest finite numbers of x's element."""
    if not x.kind.is_float:
        return x
    largest = float(ml_dtypes.finfo(element.numpy).max)
    high, low = (d if v is None else v for v, d in ((posinf, largest), (neginf, -largest)))
    finite = select(f.equal(x, float("inf")), high, select(f.equal(x, float("-inf")), low, x))
    return select(f.not_equal(x, x), nan, finite)


@op()
def bitwise_not(x: Expr) -> Expr:
    """Every bit flipped; on bool, not."""
    return ~x


@op()
def spacing(x: Expr) -> Expr:
    """The distance from |x| to the next larger float of the element it computes in, with the sign of x."""
    signed = ElementKind.S32 if x.kind is ElementKind.F32 else ElementKind.S64
    above = bitcast(bitcast(abs(x), signed) + const(1, signed), x.kind) - abs(x)
    return select(bitcast(x, signed) < const(0, signed), -above, above)


@op()
def straight_through_round(x: Expr) -> Expr:
    """x rounded to an integer, halves to even; the gradient is that of the identity."""
    return f.rint(x)


@straight_through_round.backward
def _straight_through_round_backward(dy: Expr) -> dict[str, Expr]:
    return {"dx": dy}
