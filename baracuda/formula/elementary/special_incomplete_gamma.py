"""The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P, their density, and P's derivative by a.

All are a number of the size of 1 / sqrt(a) times e**E, where E = a ln(x / a) + a - x, a pair, is the exponent of the density
by its largest value. That number is, with a fixed count of terms each:

- near the mean x = a of a large a, Temme's expansion by the complementary error function (Temme 1979);
- below max(a, 2) else, of P, the series of x**n / ((a+1) ... (a+n)), whose terms are positive;
- above, of Q, Legendre's continued fraction.

P and Q are one of them and 1 less the other, but that for a < 1 and x < 2, where the series makes P near 1, Q has a formula
of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.incomplete_pieces import (
    Factorial,
    factorial,
    log_of_quotient,
    near_the_mean,
    scaled_exp,
)
from baracuda.formula.elementary.pieces import F64, Pair, either, horner, infinity, nan, two_sum
from baracuda.formula.elementary.special_pairs import product, total
from baracuda.formula.elementary.tables import gamma as gamma_c
from baracuda.formula.elementary.tables import incomplete as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, cast, compare, const, fma, unary
from baracuda.formula.functions import exp, expm1, log, maximum, minimum
from baracuda.formula.special_functions import digamma, erfcx


class Terms(NamedTuple):
    """From which a the expansion about the mean serves, and the terms of it, of the series, of the fraction, and of Q's own."""

    large: float
    mean: int
    series: int
    fraction: int
    small: int


TERMS = {ElementKind.F32: Terms(8.0, 18, 26, 20, 16), ElementKind.F64: Terms(20.0, 34, 56, 46, 26)}
#: Where the expansion about the mean serves, as x / a.
MEAN_FROM, MEAN_TO = 0.4, 2.0
#: Below this x the series serves for every a.
SERIES_TO = 2.0
#: From this a on P is a step at x = a.
STEP_FROM = 2.0**900


class Density(NamedTuple):
    """x**a e**-x / gamma(1 + a) = base * e**exponent."""

    base: Expr
    exponent: Pair
    one_by_gamma_star: Expr
    log_of_x: Expr
    of_a: Factorial


def _density(a: Expr, x: Expr) -> Density:
    """Of positive and finite a and x."""
    zero = F64.constant(0.0)
    of_a = factorial(a)
    log_x = log_of_quotient(x, of_a.scale)
    deviation = two_sum(either(of_a.large, a, zero), -x)
    exponent = total(product((a, zero), log_x), deviation)
    star = 1.0 + expm1(-of_a.tail)
    return Density((1.0 + of_a.excess) * star / unary("sqrt", of_a.root), exponent, star, log_x[0], of_a)


class _Series(NamedTuple):
    value: Expr
    by_a: Expr


def _series(a: Expr, x: Expr, count: int, *, derivative: bool = False) -> _Series:
    """The sum of x**n / ((a+1) ... (a+n)) and its derivative by a: as a fraction, from its last term."""
    zero, one = const(0.0, a.kind), const(1.0, a.kind)
    scale = 1.0 / (a + count / 2.718281828)  # keeps numerator and denominator in range
    first, step = a * scale, x * scale
    p, q, p_by_a, q_by_a = one, one, zero, zero
    for k in range(count, 0, -1):
        factor = fma(scale, float(k), first)
        if derivative:  # of a factor by a, scaled the same
            q_by_a, p_by_a = fma(factor, q_by_a, scale * q), fma(step, p_by_a, fma(factor, q_by_a, scale * q))
        q, p = factor * q, fma(step, p, factor * q)
    inverse = 1.0 / q
    value = p * inverse
    return _Series(value, fma(-value, q_by_a, p_by_a) * inverse)


def _fraction(a: Expr, x: Expr, count: int, *, derivative: bool = False) -> _Series:
    """gamma(1 + a) Q(a, x) / (a x**a e**-x) by 1 / (x + 1 - a + 1 (a - 1) / (x + 3 - a + 2 (a - 2) / ...)), from its last
    term."""
    zero, one = const(0.0, a.kind), const(1.0, a.kind)
    distance = x - a
    scale = 1.0 / (maximum(distance, 0.0) + float(count))
    first, step, above = distance * scale, scale * scale, a * scale * scale
    now, before = one, one
    now_by_a, before_by_a = zero, zero
    for k in range(count, -1, -1):
        b = fma(scale, 2.0 * k + 1.0, first)
        lifted = fma(step, -(k + 1.0), above) * (k + 1.0)
        if derivative:
            slope = fma(b, now_by_a, fma(lifted, before_by_a, fma(step * (k + 1.0), before, -(scale * now))))
            now_by_a, before_by_a = slope, now_by_a
        now, before = fma(b, now, lifted * before), now
    inverse = scale / now
    value = before * inverse
    return _Series(value, fma(-value / scale, now_by_a, before_by_a) * inverse)


class Regions(NamedTuple):
    """Which of the formulas holds, whether it gives P, and whether x is below the mean."""

    mean: Expr
    lower: Expr
    below: Expr


def regions(a: Expr, x: Expr, terms: Terms) -> Regions:
    mean = (a >= terms.large) & (x > a * MEAN_FROM) & (x < a * MEAN_TO)
    below = x < a
    return Regions(mean, either(mean, below, x < maximum(a, SERIES_TO)), below)


def _deviation(a: Expr, x: Expr, exponent: Pair) -> tuple[Expr, Expr]:
    """sqrt(-E), and v, of which the square is -2 E / a and the sign that of x - a."""
    size = unary("sqrt", maximum(-(exponent[0] + exponent[1]), 0.0))
    v = size * unary("sqrt", 2.0 / a)
    return size, either(x < a, -v, v)


def _either_tail(a: Expr, x: Expr, d: Density, r: Regions, terms: Terms) -> Expr:
    """P(a, x) or Q(a, x), as r.lower says."""
    size, v = _deviation(a, x, d.exponent)
    u = 1.0 / a
    correction = near_the_mean(v, u, c.GAMMA_NEAR_MEAN[: terms.mean]).value * d.base
    mean = fma(erfcx(size), F64.constant(0.5), either(r.below, -correction, correction))
    series = _series(a, x, terms.series).value * d.base
    fraction = _fraction(a, x, terms.fraction).value * d.base * a
    value = scaled_exp(either(r.mean, mean, either(r.lower, series, fraction)), d.exponent)
    return minimum(value, 1.0)


def _bounded(a: Expr, x: Expr) -> tuple[Expr, Expr]:
    """Arguments in the domain of the formulas."""
    least, most = 2.0**-1074, 2.0**1000
    return minimum(maximum(a, least), STEP_FROM), minimum(maximum(x, least), most)


def _settled(a: Expr, x: Expr, value: Expr, low: float, high: float) -> Expr:
    """`value` inside the domain; low and high are the values at x = 0 and x = inf."""
    f = F64
    zero_x, infinite_x, infinite_a = compare("eq", x, 0.0), compare("eq", x, infinity(f)), compare("eq", a, infinity(f))
    zero_a = compare("eq", a, 0.0)
    step = either(x < a, f.constant(low), either(x > a, f.constant(high), f.constant(0.5)))
    value = either(a >= STEP_FROM, step, value)
    value = either(zero_x, f.constant(low), either(infinite_x | zero_a, f.constant(high), value))
    undefined = (zero_x & zero_a) | (infinite_x & infinite_a) | ~((a >= 0.0) & (x >= 0.0))
    return either(undefined, nan(f), value)


def _igamma(a: Expr, x: Expr, kind: ElementKind) -> Expr:
    terms, (p, y) = TERMS[kind], _bounded(a, x)
    r = regions(p, y, terms)
    value = _either_tail(p, y, _density(p, y), r, terms)
    return _settled(a, x, either(r.lower, value, 1.0 - value), 0.0, 1.0)


def _igammac(a: Expr, x: Expr, kind: ElementKind) -> Expr:
    terms, (p, y) = TERMS[kind], _bounded(a, x)
    r = regions(p, y, terms)
    d = _density(p, y)
    value = _either_tail(p, y, d, r, terms)
    small = (p < 1.0) & (y < SERIES_TO)
    value = either(small, _small(minimum(p, 1.0), minimum(y, SERIES_TO), d, terms), either(r.lower, 1.0 - value, value))
    return _settled(a, x, value, 1.0, 0.0)


def _small(a: Expr, x: Expr, d: Density, terms: Terms) -> Expr:
    """Q for a < 1 and x < 2: 1 - x**a / gamma(1 + a) (1 + a T), T the sum over n >= 1 of (-x)**n / (n! (a + n))."""
    p, q = F64.constant(0.0), F64.constant(1.0)
    for n in range(terms.small, 0, -1):  # T_n = (1 / (a + n) + T_(n+1)) (-x) / n
        factor = a + float(n)
        p, q = fma(factor, p, q) * (x * (-1.0 / n)), q * factor
    power = expm1(a * d.log_of_x)
    rest = fma(a * (p / q), 1.0 + d.of_a.excess, d.of_a.excess)
    return -fma(power, 1.0 + rest, rest)


def _by_x(a: Expr, x: Expr, kind: ElementKind) -> Expr:
    """The derivative of P by x, x**(a-1) e**-x / gamma(a)."""
    p, y = _bounded(a, x)
    d = _density(p, y)
    value = scaled_exp(d.base * p / y, d.exponent)
    at_zero = either(a < 1.0, infinity(F64), either(a > 1.0, F64.constant(0.0), 1.0))
    far = compare("eq", x, infinity(F64)) | (a >= STEP_FROM) | (compare("eq", a, 0.0) & (x > 0.0))
    value = either(compare("eq", x, 0.0), at_zero, either(far, F64.constant(0.0), value))
    return either((a >= 0.0) & (x >= 0.0), value, nan(F64))


def slope_by_a(p: Expr, y: Expr, r: Regions, log_ratio: Expr, mean: Expr, terms: Terms) -> Expr:
    """The derivative of P by a over x**a e**-x / gamma(1 + a), that of each formula; `log_ratio` is ln x - digamma(a + 1)."""
    series, fraction = _series(p, y, terms.series, derivative=True), _fraction(p, y, terms.fraction, derivative=True)
    below = fma(log_ratio, series.value, series.by_a)
    above = fma(fma(p, log_ratio, const(1.0, p.kind)), fraction.value, p * fraction.by_a)
    return either(r.mean, mean, either(r.lower, below, -above))


def slope_of_draw(a: Expr, log_x: Expr, kind: ElementKind) -> Expr:
    """The derivative of ln x by a where P(a, x) stays, that of P by a over the one by ln x, in f64 for draws in a kind; for
    numbers in the domain of the formulas."""
    p, y = _bounded(a, exp(log_x))
    return -_by_a_over_density(p, y, _density(p, y), TERMS[kind]) / p


def _by_a_over_density(p: Expr, y: Expr, d: Density, terms: Terms) -> Expr:
    _, v = _deviation(p, y, d.exponent)
    mean = mean_by_a(p, v, F64.constant(1.0) / d.one_by_gamma_star, terms)
    return slope_by_a(p, y, regions(p, y, terms), log(y) - digamma(p + 1.0), mean, terms)


def _by_a(a: Expr, x: Expr, kind: ElementKind) -> Expr:
    """The derivative of P by a."""
    terms, (p, y) = TERMS[kind], _bounded(a, x)
    d = _density(p, y)
    value = scaled_exp(_by_a_over_density(p, y, d, terms) * d.base, d.exponent)
    undefined = (compare("eq", x, 0.0) & compare("eq", a, 0.0)) | ~((a >= 0.0) & (x >= 0.0))
    undefined = undefined | (compare("eq", x, infinity(F64)) & compare("eq", a, infinity(F64)))
    trivial = compare("eq", x, 0.0) | compare("eq", x, infinity(F64)) | (a >= STEP_FROM)
    return either(undefined, nan(F64), either(trivial, F64.constant(0.0), value))


def mean_by_a(a: Expr, v: Expr, gamma_star: Expr, terms: Terms) -> Expr:
    """The derivative of the expansion about the mean, by the density and x; `gamma_star` is Stirling's correction.

    With L = ln(x / a), which is v (1 / f(v) - v / 2), the exponent's derivative is L and that of v is -(L / v + v / 2) / a.
    """
    u = 1.0 / a
    f = horner(v, (1.0, *c.GAMMA_NEAR_MEAN[: terms.mean]))
    slope = fma(v, -0.5, 1.0 / f)
    h = near_the_mean(v, u, c.GAMMA_NEAR_MEAN[: terms.mean], derivatives=True)
    star = -(u * u) * horner(u * u, gamma_c.DIGAMMA_LARGE[a.kind])  # of the logarithm of Stirling's correction
    turned = -u * fma(fma(v, 0.5, slope), h.by_v, u * h.by_u)
    rest = fma(h.value, fma(v, slope, -star) - 0.5 * u, turned)
    return -(slope * gamma_star + rest)


def _by_kind(define: Callable[[Expr, Expr, ElementKind], Expr]) -> Callable[[Expr, Expr], Expr]:
    """In f64, and rounded once."""

    def definition(a: Expr, x: Expr) -> Expr:
        return cast(define(cast(a, F64.kind), cast(x, F64.kind), a.kind), a.kind)

    return definition


elementary("igamma", ElementKind.F32, ElementKind.F64)(_by_kind(_igamma))
elementary("igammac", ElementKind.F32, ElementKind.F64)(_by_kind(_igammac))
elementary("igamma_by_a", ElementKind.F32, ElementKind.F64)(_by_kind(_by_a))
elementary("igamma_by_x", ElementKind.F32, ElementKind.F64)(_by_kind(_by_x))
