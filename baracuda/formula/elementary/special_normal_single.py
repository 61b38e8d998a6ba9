"""log_ndtr and its derivative for ordinary arguments in f32.

With L(a) = ln ndtr(-a) + a**2/2, two polynomials, log_ndtr is L(-x) - x**2/2 for negative and small x, where both terms have one
sign, and log(1 - q) with q = e**(L(x) - x**2/2) above; all before the logarithm is kept in pairs. The derivative comes from the
inverse R(a) of Mills' ratio, a plus one of two polynomials: it is R(-x) below zero and, with the density d, d R / (R - d) above.
"""

from __future__ import annotations

import math

from baracuda.formula.elementary.pieces import (
    F32,
    either,
    fast_two_sum,
    horner,
    power_of_two,
    reciprocal,
    round_scaled,
    two_product,
    two_sum,
)
from baracuda.formula.elementary.tables import elementary as elementary_c
from baracuda.formula.elementary.tables import single as c
from baracuda.formula.expr import Expr, const, fma

_K = F32.kind
_LOG2_E, _LN2_HIGH, _LN2_LOW = elementary_c.LOG2_E[_K], elementary_c.LN2_HIGH[_K], elementary_c.LN2_LOW[_K]


def log_ndtr_single(x: Expr) -> Expr:
    """log_ndtr(x) for |x| up to NDTR_END."""
    below = x < c.NDTR_LOG_TURN
    a = either(below, -x, x)
    beyond = a > c.NDTR_LOG_SPLIT
    near, far = a - c.NDTR_LOG_CENTRE, a - c.NDTR_LOG_FAR_CENTRE
    t = either(beyond, far, near)
    start, slope = (either(beyond, const(c.NDTR_LOG_FAR[_K][i], _K), c.NDTR_LOG[_K][i]) for i in (0, 1))
    rest = either(beyond, horner(far, c.NDTR_LOG_FAR[_K][2:]), horner(near, c.NDTR_LOG[_K][2:]))
    inner = fma(t, rest, slope)
    h, h_low = two_product(a * 0.5, a)
    base, base_low = two_sum(start, -h)
    y = fma(t, inner, base)
    unseen = a - (near + c.NDTR_LOG_CENTRE)  # not 0 next to a = 0 only, where the slope of L is about -3/4
    y_low = fma(t, inner, base - y) + fma(unseen, -0.75, base_low - h_low)
    y_low = fma(t, fma(t, rest, slope - inner), y_low)
    n, shifted = round_scaled(y, _LOG2_E)
    r = fma(n, -_LN2_HIGH, y)
    e, e_low = fast_two_sum(const(1.0, _K), r)
    e_low = fma(r * r, horner(r, elementary_c.EXPM1[_K]), e_low)
    e_low = fma(e + e_low, fma(n, -_LN2_LOW, y_low), e_low)
    power = power_of_two(shifted)
    q = fma(e_low, power, e * power)
    q_low = fma(e_low, power, e * power - q)
    above = q + fma(q, q * horner(q, c.NDTR_LOG1P[_K]), fma(q_low, q, q_low))
    return either(below, y + y_low, -above)


def inverse_mills_single(x: Expr) -> Expr:
    """density(x) / ndtr(x) for |x| up to NDTR_END."""
    a = abs(x)
    near = horner(a - c.MILLS_CENTRE, c.MILLS[_K])
    ratio = a + either(a > c.MILLS_SPLIT, horner(a - c.MILLS_FAR_CENTRE, c.MILLS_FAR[_K]), near)
    h, h_low = two_product(a * 0.5, a)
    n, shifted = round_scaled(-h, _LOG2_E)
    r = fma(n, -_LN2_HIGH, -h) + fma(n, -_LN2_LOW, -h_low)
    density = horner(r, elementary_c.EXP[_K]) * power_of_two(shifted) * (1.0 / math.sqrt(2.0 * math.pi))
    return ratio * either(x < 0.0, 1.0, density * reciprocal(ratio - density))
