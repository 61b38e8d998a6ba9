"""The regularised incomplete beta function I_x(a, b), its density, and its derivatives by a and b.

It is a number of the size of 1 / sqrt(a) or 1 / sqrt(b) times e**E, where E = a ln(x (a+b) / a) + b ln((1-x) (a+b) / b), a pair,
is the exponent of the density by its largest value. That number is, with a fixed count of terms each:

- near the mean x = a / (a + b) of large a and b, Temme's expansion by the complementary error function (Temme 1996);
- below that else, the even part of the continued fraction of DiDonato & Morris (1992), whose terms depend on a (1-x) - b x,
  where digits could cancel;
- above, 1 less the same with a and b, and x and 1 - x, exchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.incomplete_pieces import (
    STIRLING_FROM,
    Dual,
    Factorial,
    factorial,
    moved,
    near_the_mean,
    scaled_exp,
)
from baracuda.formula.elementary.pieces import F64, Pair, either, horner, nan, two_product, two_sum
from baracuda.formula.elementary.special_gamma import log_of_pair
from baracuda.formula.elementary.special_pairs import product, total
from baracuda.formula.elementary.tables import gamma as gamma_c
from baracuda.formula.elementary.tables import incomplete as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, cast, compare, const, fma, unary
from baracuda.formula.functions import expm1, maximum, minimum
from baracuda.formula.special_functions import digamma, erfcx


class Terms(NamedTuple):
    """From which a and b and to which size of v the expansion about the mean serves, the terms of it, and of the fraction."""

    large: float
    near: float
    mean: int
    fraction: int
    #: The fraction gives I for x to (a + seam) / (a + b + 2 seam).
    seam: float


TERMS = {ElementKind.F32: Terms(40.0, 0.3, 8, 24, 3.0), ElementKind.F64: Terms(100.0, 0.25, 14, 44, 2.0)}
#: Where a and b are beyond this I is a step at the mean.
STEP_FROM = 2.0**100


class Density(NamedTuple):
    """x**a (1-x)**b (a+b) / (a b beta(a, b)) = base * e**exponent, and what it is made of."""

    base: Expr
    exponent: Pair
    #: ln(x s / t) and ln((1-x) s / t) with the `scale` s of a + b and t of a or b.
    logs: tuple[Expr, Expr]
    #: a (1-x) - b x.
    distance: Expr
    #: Stirling's correction of the beta function.
    star: Expr
    sum: Expr
    complement: Expr
    scales: tuple[Factorial, Factorial, Factorial]


def _log_of_ratio(x: Pair, times: Expr, by: Expr) -> Pair:
    """ln(x times / by)."""
    p, p_low = product(x, (times, F64.constant(0.0)))
    q = maximum(p / by, 2.0**-1074)
    return log_of_pair(q, (fma(-q, by, p) + p_low) / by)


def _density(a: Expr, b: Expr, x: Expr) -> Density:
    zero = F64.constant(0.0)
    r, r_low = two_sum(a, b)
    y, y_low = two_sum(F64.constant(1.0), -x)
    of_a, of_b, of_sum = factorial(a), factorial(b), factorial(r)
    log_a = _log_of_ratio((x, zero), of_sum.scale, of_a.scale)
    log_b = _log_of_ratio((y, y_low), of_sum.scale, of_b.scale)
    small = either(of_a.large, zero, a) + either(of_b.large, zero, b)  # of which Stirling's formula has no e**a
    rest = either(of_sum.large, r_low - small, zero)
    exponent = total(total(product((a, zero), log_a), product((b, zero), log_b)), (rest, zero))
    lost = either(of_sum.large, r_low / r, zero)
    tail = (of_sum.tail - of_a.tail) - of_b.tail
    star = 1.0 + expm1(tail)
    excess = (1.0 + of_a.excess) * (1.0 + of_b.excess) / (1.0 + of_sum.excess)
    base = excess * star * unary("sqrt", of_sum.root / of_a.root / of_b.root)
    (p, p_low), (q, q_low) = two_product(a, y), two_product(b, x)
    distance = (p - q) + (fma(a, y_low, p_low) - q_low)
    return Density(
        base, exponent, (log_a[0] + (log_a[1] + lost), log_b[0] + (log_b[1] + lost)), distance, star, r, y, (of_a, of_b, of_sum)
    )


def _fraction(p: Dual, q: Dual, r: Dual, distance: Dual, z: Expr, y: Expr, count: int) -> Dual:
    """I_z(p, q) p beta(p, q) / (z**p y**q), y = 1 - z, from the last term of the continued fraction.

    With d = p y - q z, f_n = n + n (q-n) z / (p+2n-1) + (p+n) (d + 1 + n (1+y)) / (p+2n+1) + alpha_(n+1) / f_(n+1), where
    alpha_n = n (q-n) (p+n-1) (p+q+n-1) z**2 / (p+2n-1)**2. Here f_n is taken by (p+2n-1) (p+2n+1), and to keep numerators and
    denominators in range by `scale`**2 and `other`, which are near 1 / p and 1 / d.
    """
    one, zero = F64.constant(1.0), F64.constant(0.0)
    scale, other = 1.0 / (p.value + float(count)), 1.0 / (maximum(distance.value, 0.0) + float(count))
    first, zo = p.scaled(scale), z * other
    qz, rz = q.scaled(zo), r.scaled(zo)
    slide, start = (1.0 + y) * other, distance.plus(one).scaled(other)
    now, before, above = Dual(one), Dual(zero), Dual(zero)
    for n in range(count, 0, -1):
        wide, narrow = moved(first, scale, 2.0 * n + 1.0), moved(first, scale, 2.0 * n - 1.0)
        w = moved(qz, zo, -float(n)).scaled(scale * float(n))
        inner = narrow.times_plus(Dual(other * float(n)), w)
        outer = moved(first, scale, float(n)).times(narrow)
        b = wide.times_plus(inner, outer.times(moved(start, slide, float(n))))
        now, before = b.times_plus(now, above.times(before)), now
        above = moved(first, scale, n - 1.0).times(moved(rz, zo, n - 1.0)).times(w).times(wide)
        above = above.times(moved(first, scale, 2.0 * n - 3.0))
    # of f_0, which is taken by (p+1) / p instead
    last = rz.times(moved(qz, zo, -1.0).scaled(scale / other)).times(moved(first, scale, 3.0))
    denominator = distance.plus(one).times_plus(now, last.times(before))
    inverse = 1.0 / denominator.value
    top = p.plus(one).times(now)
    value = top.value * inverse
    if top.slope is None or denominator.slope is None:
        return Dual(value)
    return Dual(value, fma(-value, denominator.slope, top.slope) * inverse)


class _Regions(NamedTuple):
    """Whether the expansion about the mean holds, whether x is below the mean, whether a and b are exchanged, and whether the
    formula gives I."""

    mean: Expr
    below: Expr
    swapped: Expr
    lower: Expr


class _Problem(NamedTuple):
    """Arguments in the domain of the formulas, and what all of them need."""

    a: Expr
    b: Expr
    x: Expr
    d: Density
    r: _Regions
    size: Expr
    v: Expr
    u: Expr
    terms: Terms


def _problem(a: Expr, b: Expr, x: Expr, kind: ElementKind) -> _Problem:
    least, most, terms = 2.0**-1022, 2.0**900, TERMS[kind]
    a, b = minimum(maximum(a, least), most), minimum(maximum(b, least), most)
    x = minimum(maximum(x, 2.0**-1074), 1.0 - 2.0**-53)
    d = _density(a, b, x)
    u = (1.0 / a) * (d.sum / b)
    fall = maximum(-(d.exponent[0] + d.exponent[1]), 0.0)
    size, v = unary("sqrt", fall), unary("sqrt", fall * u * 2.0)
    below = d.distance > 0.0
    mean = (minimum(a, b) >= terms.large) & (v <= terms.near)
    swapped = x * (d.sum + 2.0 * terms.seam) > a + terms.seam
    lower = (mean & below) | ~(mean | swapped)
    return _Problem(a, b, x, d, _Regions(mean, below, swapped, lower), size, either(below, -v, v), u, terms)


def _continued(t: _Problem, slope_a: float | None = None) -> Dual:
    """The fraction for I or 1 - I; its derivative by a where slope_a is 1, by b where it is 0."""
    d, swapped = t.d, t.r.swapped
    p, q = either(swapped, t.b, t.a), either(swapped, t.a, t.b)
    z, y = either(swapped, d.complement, t.x), either(swapped, t.x, d.complement)
    distance = either(swapped, -d.distance, d.distance)
    if slope_a is None:
        return _fraction(Dual(p), Dual(q), Dual(d.sum), Dual(distance), z, y, t.terms.fraction)
    one, zero = F64.constant(1.0), F64.constant(0.0)
    by_p = either(swapped, F64.constant(1.0 - slope_a), F64.constant(slope_a))
    by_q = one - by_p
    slope = either(compare("eq", by_p, zero), -z, y)
    return _fraction(Dual(p, by_p), Dual(q, by_q), Dual(d.sum, one), Dual(distance, slope), z, y, t.terms.fraction)


def _coefficients(t: _Problem) -> tuple[list[Expr], list[Expr]]:
    """Those of the expansion about the mean and their derivatives by d = (b - a) / (a + b)."""
    d = (t.b - t.a) / t.d.sum
    square = d * d
    values, slopes = [], []
    for m, table in enumerate(c.BETA_NEAR_MEAN[: t.terms.mean], 1):
        value = horner(square, table)
        odd = m % 2
        values.append(value * d if odd else value)
        powers = [(2 * i + odd) * x for i, x in enumerate(table)]
        slopes.append(horner(square, powers) if odd else horner(square, powers[1:]) * d)
    return values, slopes


def _betainc(a: Expr, b: Expr, x: Expr, kind: ElementKind) -> Expr:
    t = _problem(a, b, x, kind)
    correction = near_the_mean(t.v, t.u, _coefficients(t)[0]).value * t.d.base
    mean = fma(erfcx(t.size), F64.constant(0.5), either(t.r.below, -correction, correction))
    other = either(t.r.swapped, t.a, t.b) / t.d.sum
    value = scaled_exp(either(t.r.mean, mean, _continued(t).value * t.d.base * other), t.d.exponent)
    value = minimum(value, 1.0)
    return _settled(a, b, x, either(t.r.lower, value, 1.0 - value))


def _settled(a: Expr, b: Expr, x: Expr, value: Expr) -> Expr:
    """`value` inside the domain."""
    zero, one = F64.constant(0.0), F64.constant(1.0)
    mean = 1.0 / (1.0 + b / a)
    step = either(x < mean, zero, either(x > mean, one, F64.constant(0.5)))
    value = either(minimum(a, b) >= STEP_FROM, step, value)
    no_a, no_b = _at_an_end(a, b)
    value = either(no_a, one, either(no_b, zero, value))
    value = either(compare("eq", x, 0.0), zero, either(compare("eq", x, 1.0), one, value))
    return either(_undefined(a, b, x), nan(F64), value)


def _at_an_end(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Whether all of the distribution is at 0, and whether it is at 1."""
    infinite = 2.0**1023 * 1.9999999999999998
    return compare("eq", a, 0.0) | (b > infinite), compare("eq", b, 0.0) | (a > infinite)


def _undefined(a: Expr, b: Expr, x: Expr) -> Expr:
    at_zero, at_one = _at_an_end(a, b)
    return (at_zero & at_one) | ~((a >= 0.0) & (b >= 0.0) & (x >= 0.0) & (x <= 1.0))


def _by_x(a: Expr, b: Expr, x: Expr, kind: ElementKind) -> Expr:
    """The derivative by x, x**(a-1) (1-x)**(b-1) / beta(a, b)."""
    t = _problem(a, b, x, kind)
    value = scaled_exp(t.d.base * t.a * (t.b / t.d.sum) / (t.x * t.d.complement), t.d.exponent)

    def end(power: Expr, other: Expr) -> Expr:
        return either(power < 1.0, F64.constant(float("inf")), either(power > 1.0, F64.constant(0.0), other))

    value = either(compare("eq", x, 0.0), end(a, b), either(compare("eq", x, 1.0), end(b, a), value))
    at_zero, at_one = _at_an_end(a, b)
    value = either(at_zero | at_one | (minimum(a, b) >= STEP_FROM), F64.constant(0.0), value)
    return either(_undefined(a, b, x), nan(F64), value)


def _log_less_digamma(a: Expr, of: Factorial) -> Expr:
    """ln(scale of a) - digamma(a)."""
    v = 1.0 / maximum(a, STIRLING_FROM)
    large = v * fma(v, horner(v * v, gamma_c.DIGAMMA_LARGE[F64.kind]), const(0.5, F64.kind))
    return either(of.large, large, -digamma(minimum(a, STIRLING_FROM)))


def _of_correction(a: Expr) -> Expr:
    """The derivative of Stirling's correction of ln gamma."""
    v = 1.0 / a
    return -(v * v) * horner(v * v, gamma_c.DIGAMMA_LARGE[F64.kind])


def _by_parameter(by_a: bool) -> Callable[[Expr, Expr, Expr, ElementKind], Expr]:
    """The derivative of I by a or by b."""

    def define(a: Expr, b: Expr, x: Expr, kind: ElementKind) -> Expr:
        t = _problem(a, b, x, kind)
        d, zero = t.d, F64.constant(0.0)
        own, other = (t.a, t.b) if by_a else (t.b, t.a)
        of_a, of_b, of_sum = d.scales
        of_own, log_own = (of_a if by_a else of_b), d.logs[0 if by_a else 1]
        # Of the density x**a (1-x)**b / beta(a, b); where `own` stands for p, the factor 1 / p counts besides.
        direct = (log_own + _log_less_digamma(own, of_own)) - _log_less_digamma(d.sum, of_sum)
        fraction = _continued(t, 1.0 if by_a else 0.0)
        assert fraction.slope is not None
        as_p = ~t.r.swapped if by_a else t.r.swapped
        slope = fma(fraction.value, direct - either(as_p, 1.0 / own, zero), fraction.slope)
        slope = slope * (either(t.r.swapped, t.a, t.b) / d.sum)
        factor = either(t.r.mean, _mean_by(t, own, other, log_own, by_a), either(t.r.lower, slope, -slope))
        value = scaled_exp(factor * d.base, d.exponent)
        at_zero, at_one = _at_an_end(a, b)
        trivial = compare("eq", x, 0.0) | compare("eq", x, 1.0) | at_zero | at_one | (minimum(a, b) >= STEP_FROM)
        return either(_undefined(a, b, x), nan(F64), either(trivial, zero, value))

    return define


def _mean_by(t: _Problem, own: Expr, other: Expr, log_own: Expr, by_a: bool) -> Expr:
    """The derivative of the expansion about the mean by `own`, which is a or b, by the density.

    The exponent's is L = ln(x (a+b) / a) or ln((1-x) (a+b) / b), and v's is -L u / v - v other / (2 own (a+b)), where L / v =
    (L / g) / f(v) with g = (x - mean) (a+b)**2 / (a b), of which both factors are smooth.
    """
    d = t.d
    values, slopes = _coefficients(t)
    h = near_the_mean(t.v, t.u, values, slopes=slopes, derivatives=True)
    ratio = other / (own * d.sum)
    g = -d.distance * t.u
    limit = t.b / d.sum if by_a else -(t.a / d.sum)
    by_g = either(compare("eq", g, 0.0), limit, log_own / g)
    f = fma(t.v, _polynomial(t.v, values), const(1.0, F64.kind))
    slope = by_g / f
    by_v = fma(slope, t.u, t.v * ratio * 0.5) * -h.by_v
    by_d = (other / d.sum) * (-2.0 if by_a else 2.0) / d.sum * h.by_parameter
    whole = (by_v - t.u * ratio * h.by_u) + by_d
    star = _of_correction(own) - _of_correction(d.sum)
    return -(slope / d.star + fma(h.value, (log_own - star) - ratio * 0.5, whole))


def _polynomial(x: Expr, coefficients: list[Expr]) -> Expr:
    result = coefficients[-1]
    for a in reversed(coefficients[:-1]):
        result = fma(result, x, a)
    return result


def _by_kind(define: Callable[[Expr, Expr, Expr, ElementKind], Expr]) -> Callable[[Expr, Expr, Expr], Expr]:
    """In f64, and rounded once."""

    def definition(a: Expr, b: Expr, x: Expr) -> Expr:
        return cast(define(cast(a, F64.kind), cast(b, F64.kind), cast(x, F64.kind), a.kind), a.kind)

    return definition


elementary("betainc", ElementKind.F32, ElementKind.F64)(_by_kind(_betainc))
elementary("betainc_by_a", ElementKind.F32, ElementKind.F64)(_by_kind(_by_parameter(True)))
elementary("betainc_by_b", ElementKind.F32, ElementKind.F64)(_by_kind(_by_parameter(False)))
elementary("betainc_by_x", ElementKind.F32, ElementKind.F64)(_by_kind(_by_x))
