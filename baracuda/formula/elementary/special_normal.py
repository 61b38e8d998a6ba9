"""erfcx, ndtr, log_ndtr and its derivative.

All of them come from e**(x**2) erfc(x) for x >= 0, a polynomial in (x - c) / (x + c), by 1 / (x + 1/2). It is kept as a pair,
and so is x**2, so that the exponential does not lose what the square has lost to rounding. f32 has
`special_normal_single` for ordinary arguments of log_ndtr and its derivative.
"""

from __future__ import annotations

import math

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.logarithm import Split, split
from baracuda.formula.elementary.pieces import (
    Pair,
    either,
    fast_two_sum,
    format_of,
    infinity,
    not_below,
    power_of_two,
    scale,
    two_product,
    two_sum,
)
from baracuda.formula.elementary.special_normal_single import inverse_mills_single, log_ndtr_single
from baracuda.formula.elementary.special_pairs import Table, inverse_of_sum, log_to_pair, mapped_polynomial, product, times_exp
from baracuda.formula.elementary.tables import normal as c
from baracuda.formula.elementary.tables import single
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, cast, compare, fma, node, rare


def _scaled_erfc(x: Expr, x_low: Expr | None = None) -> Pair:
    """e**(x**2) erfc(x) for x + x_low >= 0, not so large that 1/x is subnormal."""
    k = x.kind
    table = Table(c.ERFCX[k], c.ERFCX_REST[k], c.ERFCX_SLOPE[k])
    flat = mapped_polynomial(x, x_low, c.ERFCX_CENTRE, table)
    return product(inverse_of_sum(x, x_low, c.ERFCX_SHIFT), flat)


@elementary("erfcx", ElementKind.F32, ElementKind.F64)
def erfcx(x: Expr) -> Expr:
    """The pair for x >= 0; below, 2 (e**(x**2) - erfcx(-x) / 2)."""
    f = format_of(x)
    a = abs(x)
    m, m_low = _scaled_erfc(a)
    bounded = either(a > c.ERFCX_SMALLEST[f.kind], c.ERFCX_SMALLEST[f.kind], a)
    e = times_exp((f.constant(1.0), f.constant(0.0)), *two_product(bounded, bounded))
    power = power_of_two(e.n)
    high, low = fast_two_sum(power * e.high, m * -0.5)
    mirrored = (high + (low + fma(power, e.low, m_low * -0.5))) * 2.0
    large = either(x < 0.0, infinity(f), _over(c.ERFCX_ASYMPTOTE_HIGH[f.kind], c.ERFCX_ASYMPTOTE_LOW[f.kind], x))
    return rare(a > c.ERFCX_LARGE[f.kind], large, either(x < 0.0, mirrored, m + m_low))


def _over(high: float, low: float, x: Expr) -> Expr:
    """(high + low) / x for x large or infinite."""
    q = high / x
    rest = fma(-q, x, format_of(x).constant(high)) + low
    return either(compare("lt", x, infinity(format_of(x))), q + rest / x, q)


def _half_square(a: Expr) -> Pair:
    """a**2 / 2."""
    return two_product(a * 0.5, a)


def _mills_twice(a: Expr) -> Pair:
    """2 e**(a**2/2) ndtr(-a) for a >= 0."""
    k = a.kind
    z = a * c.SQRT_HALF_HIGH[k]
    return _scaled_erfc(z, fma(a, c.SQRT_HALF_LOW[k], fma(a, c.SQRT_HALF_HIGH[k], -z)))


@elementary("ndtr", ElementKind.F32, ElementKind.F64)
def ndtr(x: Expr) -> Expr:
    f = format_of(x)
    a = abs(x)
    a = either(a > c.NDTR_ZERO[f.kind], c.NDTR_ZERO[f.kind], a)
    h, h_low = _half_square(a)
    tail = times_exp(_mills_twice(a), -h, -h_low)
    below = scale(tail.high + tail.low, tail.n - 1)
    return either(x < 0.0, below, 1.0 - below)


@elementary("log_ndtr", ElementKind.F64)
def log_ndtr(x: Expr) -> Expr:
    """-x**2/2 + ln(e**(x**2/2) ndtr(x)) for x < 0, else ln(1 - ndtr(-x)), with ndtr(-x) as a pair q and, in the logarithm,
    1 - q or, where that is below sqrt(1/2), twice that."""
    f = format_of(x)
    a = abs(x)
    m, m_low = _mills_twice(a)
    h, h_low = _half_square(a)
    bounded = either(a > c.NDTR_ZERO[f.kind], c.NDTR_ZERO[f.kind], a)
    e, e_low = _half_square(bounded)
    tail = times_exp((m, m_low), -e, -e_low)
    q, q_low = fast_two_sum(tail.high, tail.low)
    q, q_low = scale(q, tail.n - 1), scale(q_low, tail.n - 1)
    doubled = q > 0.29
    below = split(m)
    k_below = cast(below.k, f.kind) - 1.0
    low_below = m_low * power_of_two(-cast(below.k, f.signed))
    above = either(doubled, fma(q, -2.0, f.constant(1.0)), -q)
    negative = x < 0.0
    k = either(negative, k_below, either(doubled, f.constant(-1.0), 0.0))
    g = either(negative, below.f, above)
    g_low = either(negative, low_below, either(doubled, q_low * -2.0, -q_low))
    log, log_low = log_to_pair(Split(k, g), fma(-g, g_low, g_low))
    high, low = two_sum(either(negative, -h, 0.0), log)
    near = high + (low + (log_low - either(negative, h_low, 0.0)))
    far = either(x < 0.0, -h, either(x > 0.0, 0.0, x))
    return rare(not_below(x, 2.0 ** (f.mantissa + 10)), far, near)


@elementary("log_ndtr", ElementKind.F32)
def log_ndtr_f32(x: Expr) -> Expr:
    return rare(~(abs(x) <= single.NDTR_END), log_ndtr(x), log_ndtr_single(x))


@elementary("inverse_mills", ElementKind.F64)
def inverse_mills(x: Expr) -> Expr:
    """The density by ndtr, both without their exponential, so that neither tail underflows to 0 / 0."""
    return math.sqrt(2.0 / math.pi) / node("erfcx", (x * -math.sqrt(0.5),), x.kind)


@elementary("inverse_mills", ElementKind.F32)
def inverse_mills_f32(x: Expr) -> Expr:
    return rare(~(abs(x) <= single.NDTR_END), inverse_mills(x), inverse_mills_single(x))
