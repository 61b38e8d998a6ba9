"""exp, exp2, exp10 and expm1.

Reduction after Cody & Waite (Software Manual for the Elementary Functions, 1980): x = n ln 2 + r with ln 2 in two parts,
then a minimax polynomial in r, |r| <= ln(2)/2, and 2**n put into the exponent. Results that are not normal, and inputs that
are not finite, take the rare path, which scales in two multiplications so that a subnormal result is rounded once.
"""

from __future__ import annotations

from typing import NamedTuple

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.pieces import (
    Format,
    either,
    fast_two_sum,
    format_of,
    horner,
    infinity,
    integer_of,
    not_below,
    power_of_two,
    round_scaled,
    scale,
    scale_in_range,
    with_sign_of,
)
from baracuda.formula.elementary.tables import elementary as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, fma, rare


class Reduced(NamedTuple):
    """An argument n ln 2 + r: r, and n in the low bits of an integer."""

    r: Expr
    n: Expr


def reduce_exponent(x: Expr) -> Reduced:
    """x = n ln 2 + r, |r| <= ln(2)/2 up to rounding."""
    r, _, shifted = reduce_exponent_to_pair(x)
    return Reduced(r, shifted)


def reduce_exponent_to_pair(x: Expr) -> tuple[Expr, Expr, Expr]:
    """x = n ln 2 + r + low: r, low, and n in the low bits of an integer."""
    k = x.kind
    n, shifted = round_scaled(x, c.LOG2_E[k])
    first = fma(n, -c.LN2_HIGH[k], x)  # exact
    r = fma(n, -c.LN2_LOW[k], first)
    return r, fma(n, -c.LN2_LOW[k], first - r), shifted


def exp_minus_one_on_r(r: Expr) -> Expr:
    """e**r - 1, at most 0.6 ULP off."""
    return fma(r * r, horner(r, c.EXP[r.kind][2:]), r)


def _limits(f: Format) -> tuple[float, float, float]:
    """Bounds of x: |x| for a normal result, the largest worth computing, the smallest worth computing."""
    ln2 = 0.6931471805599453
    return (f.bias - 1) * ln2, (f.bias + 1.01) * ln2, -(f.bias + f.mantissa + 2) * ln2


@elementary("exp", ElementKind.F32, ElementKind.F64)
def exp(x: Expr) -> Expr:
    f = format_of(x)
    normal, largest, smallest = _limits(f)
    r, n = reduce_exponent(x)
    p = horner(r, c.EXP[f.kind])
    edge = either(x < smallest, 0.0, either(x > largest, infinity(f), scale(p, integer_of(n))))
    return rare(not_below(x, normal), edge, scale_in_range(p, n))


@elementary("exp_moderate", ElementKind.F32, ElementKind.F64)
def exp_moderate(x: Expr) -> Expr:
    """e**x for |x| up to 80, without a rare path."""
    r, n = reduce_exponent(x)
    return scale_in_range(horner(r, c.EXP[x.kind]), n)


@elementary("exp2", ElementKind.F32, ElementKind.F64)
def exp2(x: Expr) -> Expr:
    f = format_of(x)
    n, shifted = round_scaled(x, 1.0)
    p = horner(x - n, c.EXP2[f.kind])
    computed = scale(p, integer_of(shifted))
    edge = either(x < -(f.bias + f.mantissa + 2), 0.0, either(x > f.bias + 1.5, infinity(f), computed))
    return rare(not_below(x, f.bias - 1), edge, scale_in_range(p, shifted))


@elementary("exp10", ElementKind.F32, ElementKind.F64)
def exp10(x: Expr) -> Expr:
    """x = n log10(2) + part, part exact up to its last operation; then 1 + (r + tail) with r = part ln 10, as a pair."""
    f = format_of(x)
    n, shifted = round_scaled(x, c.LOG2_10[f.kind])
    first = fma(n, -c.LOG10_2_HIGH[f.kind], x)
    part = fma(n, -c.LOG10_2_LOW[f.kind], first)
    part_low = fma(n, -c.LOG10_2_LOW[f.kind], first - part)
    r = part * c.LN10_HIGH[f.kind]
    low = fma(part_low, c.LN10_HIGH[f.kind], fma(part, c.LN10_LOW[f.kind], fma(part, c.LN10_HIGH[f.kind], -r)))
    high, rest = fast_two_sum(1.0, r)
    p = high + (rest + fma(r * r, horner(r, c.EXPM1[f.kind]), low))
    decade = 0.30102999566398120
    edge = either(x < -(f.bias + f.mantissa + 2) * decade, 0.0, scale(p, integer_of(shifted)))
    edge = either(x > (f.bias + 1.5) * decade, infinity(f), edge)
    return rare(not_below(x, (f.bias - 1) * decade), edge, scale_in_range(p, shifted))


@elementary("expm1", ElementKind.F32, ElementKind.F64)
def expm1(x: Expr) -> Expr:
    """2**n (r + tail) + (2**n - 1), the large terms as a pair; where 2**n - 1 is not exact, 2**n (1 + (q - 2**-n))."""
    f = format_of(x)
    r, low, shifted = reduce_exponent_to_pair(x)
    tail, power = fma(r * r, horner(r, c.EXPM1[f.kind]), low), power_of_two(shifted)
    offset = power - 1.0
    high = fma(power, r, offset)
    fast = with_sign_of(high + fma(power, tail, fma(power, r, offset - high)), x)
    n = integer_of(shifted)
    large = scale(1.0 + ((r + tail) - power_of_two(-either(n > f.bias - 1, f.bias - 1, n))), n)
    edge = either(x < 0.0, -1.0, either(x > _limits(f)[1], infinity(f), large))
    return rare(not_below(x, (f.mantissa + 1.4) * 0.6931471805599453), edge, fast)
