"""Arithmetic of two tensors: sums, products, quotients, powers, extrema, and functions of two numbers."""

from __future__ import annotations

from typing import Any, Literal

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.formula import functions as f
from baracuda.formula import integer_functions as whole
from baracuda.formula.complex import FUNCTIONS, Complex
from baracuda.formula.expr import Expr, bitcast, cast, const, power, rare, select
from baracuda.formula.scaling import scale_by_power_of_two
from baracuda.formula.small_floats import FORMATS, narrow, widen
from baracuda.ops.declaration.op import map_parts, op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar, Value

_INF = float("inf")
#: Exponents that are worth a formula of their own where they are given as a Python number.
_COMMON_EXPONENTS = (-2, -1, -0.5, 0, 0.5, 1, 2, 3)


def _is_nan(x: Expr) -> Expr:
    return f.not_equal(x, x)


# --- sums, products, quotients ----------------------------------------------------------------------------------------


@op()
def add(a: Value, b: Value, *, alpha: Scalar | None = None) -> Value:
    """a + alpha b, with alpha 1 where it is not given; integers wrap, and of bool it is whether either is true."""
    return a + (b if alpha is None else b * alpha)


@op()
def sub(a: Value, b: Value, *, alpha: Scalar | None = None) -> Value:
    """a - alpha b, with alpha 1 where it is not given; integers wrap."""
    return a - (b if alpha is None else b * alpha)


@op()
def rsub(a: Value, b: Value, *, alpha: Scalar | None = None) -> Value:
    """b - alpha a, with alpha 1 where it is not given; integers wrap."""
    return b - (a if alpha is None else a * alpha)


@op()
def mul(a: Value, b: Value) -> Value:
    """a * b; integers wrap, and of bool it is whether both are true. A product of complex numbers is (ac - bd) + (ad + bc)i,
    without C99's recovery of infinities."""
    return a * b


@op()
def div(a: Value, b: Value, *, rounding_mode: Literal["trunc", "floor"] | None = None) -> Value:
    """a / b; of integers and bool, in f32. rounding_mode="trunc" rounds the quotient towards zero, "floor" down: then integers
    stay integers, one divided by 0 is 0, and the gradient is zero."""
    if rounding_mode is None:
        if isinstance(a, Expr) and isinstance(b, Expr) and not a.kind.is_float:
            a, b = cast(a, ElementKind.F32), cast(b, ElementKind.F32)
        return a / b
    if isinstance(a, Expr) and a.kind is ElementKind.BOOL:
        raise UnsupportedError(f"rounding_mode: {rounding_mode!r} of a quotient of bool; expected None, or numbers")
    if isinstance(a, Complex) or isinstance(b, Complex):
        raise InvalidProblemError(f"rounding_mode: {rounding_mode!r} of a complex quotient; expected None")
    if rounding_mode == "trunc":
        return whole.truncate_divide(a, b)
    quotient = whole.floor_divide(a, b)
    return f.floor(quotient) if quotient.kind.is_float else quotient  # whole already; floor says that it has no slope


@op()
def floor_divide(a: Expr, b: Expr) -> Expr:
    """a / b rounded down, as Python's //; of floats, (a - remainder) / b, and floor(a / b) where one of them is infinite, as in
    the array API. An integer divided by 0 is 0, and MIN // -1 wraps.

    Differs from PyTorch: on a CPU it raises where an integer is divided by 0; of infinite numbers inf // 2 is NaN there, and
    1 // -inf is -1.
    """
    return whole.floor_divide(a, b)


@op()
def remainder(a: Expr, b: Expr) -> Expr:
    """The remainder of a / b rounded down, with the sign of b, as Python's %; exact for floats; by an integer 0 it is 0.

    Differs from PyTorch: on a CPU it raises where an integer is divided by 0.
    """
    return whole.remainder(a, b)


@remainder.backward
def _remainder_backward(dy: Expr, a: Expr, b: Expr) -> dict[str, Expr]:
    return {"da": dy, "db": -(dy * whole.floor_divide(a, b))}


@op()
def fmod(a: Expr, b: Expr) -> Expr:
    """The remainder of a / b rounded towards zero, with the sign of a, as C's fmod; exact for floats; by an integer 0 it is 0.

    Differs from PyTorch: on a CPU it raises where an integer is divided by 0.
    """
    return whole.fmod(a, b)


@op(results=("quotient", "remainder"))
def divmod_(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """floor_divide(a, b) and remainder(a, b)."""
    return whole.floor_divide(a, b), whole.remainder(a, b)


# --- powers -----------------------------------------------------------------------------------------------------------


def _integer_power(base: Expr, exponent: Expr) -> Expr:
    """base**exponent by squaring, wrapped."""

    def steps(first: int, bits: int, square: Expr, product: Expr) -> tuple[Expr, Expr]:
        for bit in range(first, bits):
            odd = f.not_equal(exponent & (1 << bit), 0)
            product = select(odd, product * square, product)
            square = square * square
        return square, product

    one, few = const(1, base.kind), 6
    square, product = steps(0, few, base, one)
    _, long = steps(few, base.kind.bits, square, product)
    result = rare(exponent >= 1 << few, long, product)
    if base.kind.category is Category.UNSIGNED:
        return result
    return select(exponent < 0, _inverse_power(base, exponent), result)


def _inverse_power(base: Expr, exponent: Expr) -> Expr:
    """base**exponent for a negative exponent: +-1 for a base of +-1, else 0."""
    one = const(1, base.kind)
    if base.kind.category is Category.UNSIGNED:
        return select(f.equal(base, one), one, 0)
    odd = f.not_equal(exponent & 1, 0)
    return select(f.equal(base, one), one, select(f.equal(base, -one), select(odd, -one, one), 0))


def _power(base: Value, exponent: Value) -> Value:
    if isinstance(exponent, Expr) and exponent.op == "const":
        return _literal_power(base, float(exponent.value))
    if isinstance(base, Complex) or isinstance(exponent, Complex):
        return FUNCTIONS["pow"](base, exponent)  # type: ignore[no-any-return]
    return f.pow_(base, exponent) if base.kind.is_float else _integer_power(base, exponent)


def _literal_power(base: Value, exponent: float) -> Value:
    """The power to an exponent of `_COMMON_EXPONENTS`."""

    def function(name: str) -> Any:
        return FUNCTIONS[name](base) if isinstance(base, Complex) else getattr(f, name)(base)

    if exponent in (0.5, -0.5):
        return function("sqrt" if exponent > 0 else "rsqrt")  # type: ignore[no-any-return]
    if isinstance(base, Expr) and not base.kind.is_float and exponent < 0:
        return _inverse_power(base, const(int(exponent), ElementKind.S32))
    if exponent == 0:
        one = const(1, base.kind)
        return one if isinstance(base, Expr) else Complex(one, const(0.0, base.kind))
    if isinstance(base, Expr) and exponent > 0:
        return power(base, exponent)
    product: Value = base
    for _ in range(int(abs(exponent)) - 1):
        product = product * base
    return product if exponent > 0 else 1.0 / product


@op(literals={"exponent": _COMMON_EXPONENTS})
def pow_(x: Value, exponent: Value) -> Value:
    """x**exponent, with the special cases of IEEE 754's pow, and of integers, wrapped.

    An integer to a negative power is 0, or +-1 where x is +-1. The Python numbers -2, -1, 0, 1, 2 and 3 as exponents take
    products and quotients, and 0.5 and -0.5 sqrt and rsqrt, with their special cases.
    """
    return _power(x, exponent)


def _in_f64(x: Value) -> Value:
    return map_parts(lambda v: cast(v, ElementKind.F64), x)


@op(Rule.EACH, literals={"exponent": _COMMON_EXPONENTS})
def float_power(x: Value, exponent: Value) -> Value:
    """x**exponent as `pow`, computed and stored in f64 or complex128."""
    return _power(_in_f64(x), _in_f64(exponent))


# --- extrema ----------------------------------------------------------------------------------------------------------


@op()
def maximum(a: Expr, b: Expr) -> Expr:
    """The larger, IEEE 754-2019 maximum: NaN if either is, and +0 above -0. The gradient of a tie goes to both in halves."""
    return f.maximum(a, b)


@op()
def minimum(a: Expr, b: Expr) -> Expr:
    """The smaller, IEEE 754-2019 minimum: NaN if either is, and -0 below +0. The gradient of a tie goes to both in halves."""
    return f.minimum(a, b)


def _ignoring_nan(word: Any, a: Expr, b: Expr) -> Expr:
    if not a.kind.is_float:
        return word(a, b)  # type: ignore[no-any-return]
    return word(select(_is_nan(a), b, a), select(_is_nan(b), a, b))  # type: ignore[no-any-return]


@op()
def fmax(a: Expr, b: Expr) -> Expr:
    """The larger, and the other one where one is NaN. The gradient of a tie goes to a."""
    return _ignoring_nan(f.maximum, a, b)


@fmax.backward
def _fmax_backward(dy: Expr, a: Expr, b: Expr) -> dict[str, Expr]:
    first = (a >= b) | _is_nan(b)
    return {"da": select(first, dy, 0.0), "db": select(first, 0.0, dy)}


@op()
def fmin(a: Expr, b: Expr) -> Expr:
    """The smaller, and the other one where one is NaN. The gradient of a tie goes to a."""
    return _ignoring_nan(f.minimum, a, b)


@fmin.backward
def _fmin_backward(dy: Expr, a: Expr, b: Expr) -> dict[str, Expr]:
    first = (a <= b) | _is_nan(b)
    return {"da": select(first, dy, 0.0), "db": select(first, 0.0, dy)}


def at_least(x: Expr, low: Expr) -> Expr:
    """x, or low where x is below; a NaN of either stays. The gradient of a tie is x's."""
    keep = x >= low
    return select(keep | _is_nan(x) if x.kind.is_float else keep, x, low)


def at_most(x: Expr, high: Expr) -> Expr:
    """x, or high where x is above; a NaN of either stays. The gradient of a tie is x's."""
    keep = x <= high
    return select(keep | _is_nan(x) if x.kind.is_float else keep, x, high)


@op()
def clamp_min(x: Expr, min: Expr) -> Expr:
    """x, or min where x is below it; NaN if either is. The gradient of a tie is x's."""
    return at_least(x, min)


@op()
def clamp_max(x: Expr, max: Expr) -> Expr:
    """x, or max where x is above it; NaN if either is. The gradient of a tie is x's."""
    return at_most(x, max)


# --- functions --------------------------------------------------------------------------------------------------------


@op(Rule.FLOATING, takes="float,int")
def atan2(a: Expr, b: Expr) -> Expr:
    """The angle of the point (b, a) in radians, from -pi to pi, with the special cases of IEEE 754. The gradient at the
    origin is zero."""
    return f.atan2(a, b)


@op(Rule.FLOATING, takes="float,int")
def hypot(a: Expr, b: Expr) -> Expr:
    """sqrt(a**2 + b**2) without overflow or underflow on the way. The gradient at the origin is zero."""
    return f.hypot(a, b)


@op(Rule.FLOATING, takes="float,int")
def copysign(a: Expr, b: Expr) -> Expr:
    """|a| with the sign bit of b. The gradient by a is zero at 0, that by b everywhere."""
    signed = ElementKind.S32 if b.kind is ElementKind.F32 else ElementKind.S64
    return select(bitcast(b, signed) < 0, -abs(a), abs(a))


@op()
def nextafter(a: Expr, b: Expr, *, element: ElementKind) -> Expr:
    """The float next to a in the direction of b, in the element that the result is stored in; b where they are equal."""
    if element in FORMATS:
        pattern, smallest = narrow(a, element), widen(const(1, ElementKind.S32), element)
    else:
        pattern = bitcast(a, ElementKind.S32 if a.kind is ElementKind.F32 else ElementKind.S64)
        smallest = bitcast(const(1, pattern.kind), a.kind)
    one = const(1, pattern.kind)
    outwards = ~((b > a) ^ (a > 0.0))
    stepped = pattern + select(outwards, one, -one)
    stepped = widen(stepped & 0xFFFF, element) if element in FORMATS else bitcast(stepped, a.kind)
    neighbour = select(f.equal(a, 0.0), select(b > a, smallest, -smallest), stepped)
    return select(f.equal(a, b), b, select(_is_nan(a) | _is_nan(b), a + b, neighbour))


@op(Rule.FLOATING, takes="float,complex")
def ldexp(x: Value, exponent: Own) -> Value:
    """x * 2**exponent, rounded once for an integer exponent; for a float one the product with exp2(exponent). The result has x's
    element, f32 for integers."""
    if isinstance(exponent, Complex):
        raise UnsupportedError("exponent: it is complex; expected an integer or a float")
    if exponent.kind.is_float:
        return x * f.exp2(cast(exponent, x.kind))
    if exponent.kind is ElementKind.BOOL:
        exponent = cast(exponent, ElementKind.S32)
    if isinstance(x, Complex):
        return Complex(scale_by_power_of_two(x.re, exponent), scale_by_power_of_two(x.im, exponent))
    return scale_by_power_of_two(x, exponent)


@op()
def logaddexp(a: Value, b: Value) -> Value:
    """log(e**a + e**b) = max + log(1 + e**-|a - b|), without overflow."""
    if isinstance(a, Complex) or isinstance(b, Complex):
        assert isinstance(a, Complex)
        assert isinstance(b, Complex)
        return _complex_logaddexp(a, b)
    return f.maximum(a, b) + f.log1p(f.exp(_below(a, b)))


@op()
def logaddexp2(a: Expr, b: Expr) -> Expr:
    """log2(2**a + 2**b) = max + log2(1 + 2**-|a - b|), without overflow."""
    return f.maximum(a, b) + f.log1p(f.exp2(_below(a, b))) * 1.4426950408889634


def _below(a: Expr, b: Expr) -> Expr:
    """-|a - b|, and 0 for equal infinities."""
    return select(f.equal(a, b), 0.0, -abs(a - b))


def _complex_logaddexp(a: Complex, b: Complex) -> Value:
    first = a.re >= b.re
    high = Complex(select(first, a.re, b.re), select(first, a.im, b.im))
    low = Complex(select(first, b.re, a.re), select(first, b.im, a.im))
    ratio = FUNCTIONS["exp"](Complex(select(f.equal(low.re, high.re), 0.0, low.re - high.re), low.im - high.im))
    return high + FUNCTIONS["log1p"](ratio)  # type: ignore[no-any-return]


@op()
def heaviside(x: Expr, values: Expr) -> Expr:
    """0 below 0, 1 above, values at 0; NaN where x is NaN."""
    step = select(x > const(0, x.kind), const(1, x.kind), 0)
    step = select(_is_nan(x), x, step) if x.kind.is_float else step
    return select(f.equal(x, const(0, x.kind)), values, step)
