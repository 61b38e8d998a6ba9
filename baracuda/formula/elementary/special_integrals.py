"""The exponential integrals exp1 and expi, Dawson's integral dawsn, and the dilogarithm spence.

exp1 up to 1 is P(x) - ln x, beyond e**-x / x by a polynomial in 1/x; expi up to 6 is ln(x / x0) + (x - x0) P(x) with its zero x0,
beyond e**x / x by a polynomial in 1/x. spence is u - u**2/4 + u**3 P(u**2) with u = -ln x for |u| <= 2, and elsewhere comes
from there by Euler's reflection and inversion.
"""

from __future__ import annotations

import math

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.pieces import either, flip_sign, format_of, infinity, piecewise, sign_bit
from baracuda.formula.elementary.special_pairs import times_exp
from baracuda.formula.elementary.tables import exponential_integral as ce
from baracuda.formula.elementary.tables import integrals as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, compare, fma
from baracuda.formula.functions import log, log1p, minimum

#: From here on e**-x is zero, and e**x / x infinite.
_EDGE = {ElementKind.F32: 110.0, ElementKind.F64: 760.0}


def _exp1(x: Expr) -> Expr:
    """E1(x) for x >= 0."""
    f = format_of(x)
    near = piecewise(x, ce.E1_NEAR[f.kind]) - log(x)
    v = 1.0 / x
    factor = piecewise(v, ce.E1_FAR[f.kind]) * v
    far = times_exp((factor, f.constant(0.0)), -minimum(x, _EDGE[f.kind]), f.constant(0.0)).rounded()
    return either(x <= 1.0, near, far)


@elementary("exp1", ElementKind.F32, ElementKind.F64)
def exp1(x: Expr) -> Expr:
    """inf at zero, NaN below."""
    return _exp1(x)


@elementary("expi", ElementKind.F32, ElementKind.F64)
def expi(x: Expr) -> Expr:
    """-inf at zero, -E1(-x) below."""
    f = format_of(x)
    k = f.kind
    d = (x - ce.EI_ZERO_HIGH[k]) - ce.EI_ZERO_LOW[k]
    t = d * ce.EI_ZERO_INVERSE[k]
    ratio = either(t > -0.5, log1p(t), log(x) - math.log(ce.EI_ZERO_HIGH[ElementKind.F64]))
    near = fma(d, piecewise(x, ce.EI_NEAR[k]), ratio)
    v = 1.0 / x
    factor = piecewise(v, ce.EI_FAR[k]) * v
    far = times_exp((factor, f.constant(0.0)), minimum(x, _EDGE[k]), f.constant(0.0)).rounded()
    above = either(x <= 6.0, near, either(x > _EDGE[k], infinity(f), far))
    return either(x > 0.0, above, -_exp1(-x))


@elementary("dawsn", ElementKind.F32, ElementKind.F64)
def dawsn(x: Expr) -> Expr:
    k = x.kind
    a = abs(x)
    v = 1.0 / a
    near = a * piecewise(a * a, c.DAWSN_NEAR[k])
    far = v * piecewise(v * v, c.DAWSN_FAR[k])
    middle = piecewise(a, c.DAWSN_MIDDLE[k])
    return flip_sign(either(a <= 1.0, near, either(a <= 6.0, middle, far)), sign_bit(x))


@elementary("spence", ElementKind.F32, ElementKind.F64)
def spence(x: Expr) -> Expr:
    """Li2(1 - x): pi**2/6 at zero, NaN below, -inf at inf."""
    f = format_of(x)
    k = f.kind
    log_x = log(x)
    inside = abs(log_x) <= 2.0
    small = x < 1.0
    y = either(small, x, 1.0 / x)
    other = log1p(-y)
    u = 0.0 - either(inside, log_x, other)  # 0 and not -0 at x = 1
    series = fma(u * u, fma(u, piecewise(u * u, c.SPENCE[k]), f.constant(-0.25)), u)
    cross = either(compare("eq", y, 0.0), 0.0, log_x * other)
    high, low = c.ZETA_2_HIGH[k], c.ZETA_2_LOW[k]
    reflected = f.constant(high) - ((cross + series) - low)
    inverted = fma(log_x * -0.5, log_x, -(f.constant(high) + ((cross - series) + low)))
    return either(inside, series, either(small, reflected, inverted))
