"""Building blocks of the elementary functions: formats, polynomials, error-free sums and products, scaling.

Notation of the literature (Muller et al., Handbook of Floating-Point Arithmetic): u is half an ULP of 1, a *pair*
(high, low) stands for the unevaluated sum high + low with |low| at most half an ULP of high.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, Operand, bitcast, compare, const, constant_bits, fma, select

Pair: TypeAlias = tuple[Expr, Expr]


@dataclass(frozen=True)
class Format:
    """A binary floating-point format and the integers of its size.

    mantissa is the number of stored significand bits, bias that of the exponent; shifter is 1.5 * 2**mantissa, whose sum
    with a small value leaves that value, rounded to an integer, in the low bits.
    """

    kind: ElementKind
    signed: ElementKind
    unsigned: ElementKind
    mantissa: int
    bias: int

    @property
    def bits(self) -> int:
        return self.kind.bits

    @property
    def shifter(self) -> float:
        return 1.5 * 2.0**self.mantissa

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def infinity(self) -> int:
        """The bits of +inf."""
        return (2 * self.bias + 1) << self.mantissa

    def constant(self, value: float) -> Expr:
        return const(value, self.kind)


F32 = Format(ElementKind.F32, ElementKind.S32, ElementKind.U32, 23, 127)
F64 = Format(ElementKind.F64, ElementKind.S64, ElementKind.U64, 52, 1023)


def format_of(x: Expr) -> Format:
    return F32 if x.kind is ElementKind.F32 else F64


def horner(x: Expr, coefficients: Sequence[float]) -> Expr:
    """The polynomial with these coefficients, lowest power first, by fused multiply-adds."""
    result = const(coefficients[-1], x.kind)
    for c in reversed(coefficients[:-1]):
        result = fma(result, x, const(c, x.kind))
    return result


#: Polynomials on consecutive intervals: the end of each, the centre of its variable, and its coefficients.
Piecewise: TypeAlias = "Sequence[tuple[float, float, Sequence[float]]]"


def piecewise(x: Expr, table: Piecewise) -> Expr:
    """The polynomial of the first interval that does not end below x; the last one beyond."""
    values = [horner(x - centre, coefficients) for _, centre, coefficients in table]
    result = values[-1]
    for (end, _, _), value in zip(table[-2::-1], values[-2::-1], strict=True):
        result = select(x <= end, value, result)
    return result


def horner_to_pair(x: Expr, coefficients: Sequence[float], levels: int) -> Pair:
    """The polynomial as a pair: the rounding errors of the last `levels` steps are kept (compensated Horner scheme,
    Graillat, Langlois & Louvet 2009). Each of these steps must add its coefficient to something smaller."""
    value = horner(x, coefficients[levels:])
    low: Expr | None = None
    for c in reversed(coefficients[:levels]):
        following = fma(x, value, const(c, x.kind))
        lost = fma(x, value, c - following)
        low = lost if low is None else fma(x, low, lost)
        value = following
    assert low is not None
    return value, low


def fast_two_sum(a: Operand, b: Expr) -> Pair:
    """a + b as a pair, exact where |a| >= |b| or a = 0 (Dekker 1971)."""
    high = a + b
    return high, b - (high - a)


def two_sum(a: Expr, b: Expr) -> Pair:
    """a + b as a pair, exact for every a and b (Knuth)."""
    high = a + b
    of_b = high - a
    return high, (a - (high - of_b)) + (b - of_b)


def two_product(a: Expr, b: Expr) -> Pair:
    """a * b as a pair, exact unless the product underflows."""
    high = a * b
    return high, fma(a, b, -high)


#: Bits minus the bits of d are a first value of 1 / d in f32, 5.1% off at most.
_RECIPROCAL_MAGIC = 0x7EF311C0
#: The same for `rough_reciprocal`, and its polynomial: the smallest error of those that are exact at d = 1.
_ROUGH_MAGIC = 0x7EF40000
_ROUGH_CENTRE, _ROUGH_REST = 1.5011349, 0.74886554


def approximate_reciprocal(d: Expr) -> Expr:
    """1 / d in f32 to 12 bits, for d as in `reciprocal`: a Newton step of third order from a value read off the bits."""
    y = bitcast(const(_RECIPROCAL_MAGIC, F32.signed) - bitcast(d, F32.signed), F32.kind)
    error = fma(-d, y, F32.constant(1.0))
    return fma(y, fma(error, error, error), y)


def reciprocal(d: Expr, less: float = 0.0) -> Expr:
    """1 / d to about an ULP, for d normal and no larger than half the inverse of the smallest normal number; else any value.
    `less`, a small part of it, is left out.

    In f32 by a Newton step from `approximate_reciprocal`: a division is one operation in a formula, but some fifteen on a GPU,
    with a branch between them.
    """
    f = format_of(d)
    if f is F64:
        return f.constant(1.0 - less) / d
    y = approximate_reciprocal(d)
    return fma(y, fma(-d, y, f.constant(1.0 - less)), y)


def rough_reciprocal(d: Expr) -> Expr:
    """1 / d in f32 to 14 bits, for d normal as in `reciprocal`; 1 for d = 1.

    The polynomial (d y - A)**2 + B, nearly 1 / (d y), has the square's factor 1 because the first value y is chosen so.
    """
    f = format_of(d)
    y = bitcast(const(_ROUGH_MAGIC, f.signed) - bitcast(d, f.signed), f.kind)
    t = fma(d, y, f.constant(-_ROUGH_CENTRE))
    return y * fma(t, t, f.constant(_ROUGH_REST))


def sign_bit(x: Expr) -> Expr:
    f = format_of(x)
    return bitcast(x, f.unsigned) & f.sign


def flip_sign(x: Expr, sign: Expr) -> Expr:
    """x, negated where the sign bit is set."""
    f = format_of(x)
    return bitcast(bitcast(x, f.unsigned) ^ sign, f.kind)


def with_sign_of(magnitude: Expr, x: Expr) -> Expr:
    """A value that is not negative, or already has the sign of x, given the sign of x: so that f(-0) is -0."""
    f = format_of(x)
    return bitcast(bitcast(magnitude, f.unsigned) | sign_bit(x), f.kind)


def round_scaled(x: Expr, scale: float) -> tuple[Expr, Expr]:
    """n = x * scale rounded to an integer, as a float and as bits whose low part is n; |n| below 2**(mantissa-1)."""
    f = format_of(x)
    shifted = fma(x, scale, f.constant(f.shifter))
    return shifted - f.shifter, bitcast(shifted, f.signed)


def integer_of(shifted: Expr) -> Expr:
    """The integer that `round_scaled` left in the low bits."""
    f = F32 if shifted.kind is ElementKind.S32 else F64
    return shifted - bitcast(f.constant(f.shifter), f.signed)


def power_of_two(n: Expr) -> Expr:
    """2**n for an integer n, or bits from `round_scaled`, in the range of normal exponents."""
    f = F32 if n.kind is ElementKind.S32 else F64
    return bitcast((n << f.mantissa) + (f.bias << f.mantissa), f.kind)


def scale_in_range(x: Expr, n: Expr) -> Expr:
    """x * 2**n by adding to the exponent, where x and the result are normal."""
    f = format_of(x)
    return bitcast(bitcast(x, f.signed) + (n << f.mantissa), f.kind)


def scale(x: Expr, n: Expr) -> Expr:
    """x * 2**n for x near 1 and an integer n down to the subnormals and up to overflow, rounded once."""
    half = n >> 1
    return x * power_of_two(half) * power_of_two(n - half)


def either(condition: Expr, a: Operand, b: Operand) -> Expr:
    """a where the condition holds, else b."""
    return select(condition, a, b)


def not_below(x: Expr, bound: float) -> Expr:
    """True where |x| >= bound, and for NaN."""
    return ~compare("lt", abs(x), bound)


def between(x: Expr, low: float, high: float) -> Expr:
    """True where low <= x < high, by one comparison of bits, for x and low not below zero; false for NaN."""
    f = format_of(x)
    floor, end = (int(f.constant(bound).attr) for bound in (low, high))
    return compare("lt", bitcast(x, f.unsigned) - floor, const(end - floor, f.unsigned))


def infinity(f: Format) -> Expr:
    return constant_bits(f.infinity, f.kind)


def nan(f: Format) -> Expr:
    return constant_bits(f.infinity | 1 << (f.mantissa - 1), f.kind)
