"""How a draw of the gamma distribution follows its shape: d ln x / da where its probability P(a, x) stays.

That is the quotient of P's derivatives by a and by ln x, in which what makes both small cancels, by the formulas of
`special_incomplete_gamma`: for f64 in f64, for f32 in f32, with D(a, x) = a ln(a / x) + x - a as a series near the mean. For x
below e**-60 it is (digamma(a + 1) - ln x) / a.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.logarithm import log_of_split, split
from baracuda.formula.elementary.pieces import either, horner
from baracuda.formula.elementary.special_incomplete_gamma import (
    STEP_FROM,
    TERMS,
    mean_by_a,
    regions,
    slope_by_a,
    slope_of_draw,
)
from baracuda.formula.elementary.tables import gamma as gamma_c
from baracuda.formula.expr import Expr, compare, const, fma, unary
from baracuda.formula.functions import exp, maximum, minimum
from baracuda.formula.special_functions import digamma

F32, F64 = ElementKind.F32, ElementKind.F64
#: Below this logarithm of x, P(a, x) is x**a / gamma(1 + a).
_SMALL = -60.0
#: Terms of the series of `deviance`.
_TERMS = {F32: 5, F64: 10}


def deviance(k: Expr, m: Expr, away: Expr) -> Expr:
    """k ln(k / m) + m - k for positive m (m where k is 0), given away = k - m, by Loader's series (2000) where that is small.

    k is 0 or not below 1.
    """
    v = away / (k + m)
    w = v * v
    series = horner(w, [1 / (2 * j + 3) for j in range(_TERMS[k.kind])])
    near = fma(k * 2.0 * v * w, series, away * v)
    far = fma(k, log_of_split(split(maximum(k, 1.0) / m)), -away)
    return either(abs(v) < 0.1, near, far)


def _in_f32(a: Expr, log_x: Expr) -> Expr:
    terms = TERMS[F32]
    p, y = (minimum(maximum(x, 2.0**-100), 2.0**100) for x in (a, exp(log_x)))
    v = unary("sqrt", maximum(deviance(maximum(p, 1.0), y, p - y) / p * 2.0, 0.0))
    u = 1.0 / maximum(p, terms.large)
    star = exp(u * horner(u * u, gamma_c.STIRLING[F32]))
    mean = mean_by_a(p, either(y < p, -v, v), star, terms)
    return -slope_by_a(p, y, regions(p, y, terms), log_x - digamma(p + 1.0), mean, terms) / p


def slope_of_log_gamma(a: Expr, log_x: Expr) -> Expr:
    """d ln x / da, of one kind with a and ln x; NaN for a negative a."""
    kind = log_x.kind
    slope = _in_f32(a, log_x) if kind is F32 else slope_of_draw(a, log_x, kind)
    most = 2.0**100 if kind is F32 else STEP_FROM
    slope = either(log_x < _SMALL, (digamma(a + 1.0) - log_x) / a, either(a >= most, 1.0 / a, slope))
    return either((a >= 0.0) & compare("eq", log_x, log_x), slope, const(float("nan"), kind))
