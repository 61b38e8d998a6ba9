"""The Bessel functions of the second kind, bessel_y0 and bessel_y1, and the modified ones, bessel_k0, bessel_k1, and times e**x.

Near zero, with a polynomial P in x**2: Y0 = 2/pi ln x J0 + P and Y1 = 2/pi (ln x J1 - 1/x) + x P up to x = 5, K0 = P - ln x I0
and K1 = 1/x + ln x I1 + x P up to 1. Beyond, Y0 and Y1 are the modulus times the sine of the phase that J0 and J1 are the cosine
of, and e**x sqrt(x) K is a polynomial in 1/x. NaN below zero.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.payne_hanek import reduce_huge
from baracuda.formula.elementary.pieces import between, either, format_of, infinity, not_below, piecewise
from baracuda.formula.elementary.special_bessel_j import modulus_and_phase, near
from baracuda.formula.elementary.special_bessel_single import y_single
from baracuda.formula.elementary.special_pairs import times_exp
from baracuda.formula.elementary.tables import bessel as j
from baracuda.formula.elementary.tables import bessel_k as ck
from baracuda.formula.elementary.tables import bessel_y as cy
from baracuda.formula.elementary.tables import elementary as elementary_c
from baracuda.formula.elementary.trigonometric import Quadrant, cos_on, reduce_moderate, sin_on
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, compare, const, fma, rare, unary
from baracuda.formula.functions import exp, log, minimum

_Y = {0: cy.Y0_NEAR, 1: cy.Y1_NEAR}
_K = {0: ck.K0_NEAR, 1: ck.K1_NEAR}
_K_FAR = {0: ck.K0_FAR, 1: ck.K1_FAR}
#: From here on e**-x is zero.
_NOTHING = {ElementKind.F32: 110.0, ElementKind.F64: 760.0}


def _y_near(order: int, x: Expr) -> Expr:
    """Y(x) for 0 < x < 5."""
    k = x.kind
    rest, wave = piecewise(x * x, _Y[order][k]), near(order, x)
    if not order:
        return fma(log(x) * cy.TWO_OVER_PI_HIGH[k], wave, rest)
    return fma(x, fma(log(x) * cy.TWO_OVER_PI_HIGH[k], wave, rest), const(-cy.TWO_OVER_PI_HIGH[k], k) / x)


def _y_far(order: int, x: Expr, q: Quadrant) -> Expr:
    modulus, phase = modulus_and_phase(order, x, q)
    return modulus * (-cos_on(phase) if order else sin_on(phase))


def _define_y(order: int, x: Expr) -> Expr:
    general = _y_general(order, x)
    if x.kind is not ElementKind.F32:
        return general
    return rare(~between(x, 2.0**-126, elementary_c.TRIG_LIMIT[x.kind]), general, y_single(order, x))


def _y_general(order: int, x: Expr) -> Expr:
    f = format_of(x)
    huge = _y_far(order, x, Quadrant(*reduce_huge(abs(x)))) + (x - x)
    value = either(x < j.BESSEL_J_LARGE, _y_near(order, x), _y_far(order, x, reduce_moderate(x)))
    beyond = either(compare("eq", x, infinity(f)), 0.0, either(x < 0.0, x - x + log(x), huge))
    at_zero = either(compare("eq", x, 0.0), -infinity(f), value)
    return rare(not_below(x, elementary_c.TRIG_LIMIT[f.kind]), beyond, at_zero)


def _k_near(order: int, x: Expr) -> Expr:
    """K(x) for 0 < x <= 1."""
    k, u = x.kind, x * x
    rest = piecewise(u, _K[order][k])
    if not order:
        return fma(-log(x), piecewise(u, ck.K_I0[k]), rest)
    value = fma(x, fma(log(x), piecewise(u, ck.K_I1[k]), rest), 1.0 / x)
    return either(compare("eq", x, 0.0), infinity(format_of(x)), value)


def _k_far(order: int, x: Expr) -> Expr:
    """e**x K(x) for x >= 1."""
    v = 1.0 / x
    return piecewise(v, _K_FAR[order][x.kind]) * unary("sqrt", v)


def _define_k(order: int, x: Expr) -> Expr:
    f = format_of(x)
    most = _NOTHING[f.kind]
    far = times_exp((_k_far(order, x), f.constant(0.0)), -minimum(x, most), f.constant(0.0)).rounded()
    return either(x <= 1.0, _k_near(order, x), far)


def _define_scaled_k(order: int, x: Expr) -> Expr:
    return either(x <= 1.0, exp(x) * _k_near(order, x), _k_far(order, x))


@elementary("bessel_y0", ElementKind.F32, ElementKind.F64)
def bessel_y0(x: Expr) -> Expr:
    return _define_y(0, x)


@elementary("bessel_y1", ElementKind.F32, ElementKind.F64)
def bessel_y1(x: Expr) -> Expr:
    return _define_y(1, x)


@elementary("bessel_k0", ElementKind.F32, ElementKind.F64)
def bessel_k0(x: Expr) -> Expr:
    return _define_k(0, x)


@elementary("bessel_k1", ElementKind.F32, ElementKind.F64)
def bessel_k1(x: Expr) -> Expr:
    return _define_k(1, x)


@elementary("bessel_k0e", ElementKind.F32, ElementKind.F64)
def bessel_k0e(x: Expr) -> Expr:
    return _define_scaled_k(0, x)


@elementary("bessel_k1e", ElementKind.F32, ElementKind.F64)
def bessel_k1e(x: Expr) -> Expr:
    return _define_scaled_k(1, x)
