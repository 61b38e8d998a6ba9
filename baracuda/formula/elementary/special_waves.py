"""The sine and cosine integrals and Fresnel's integrals.

Near zero polynomials in x**2 or x**4; beyond, two slowly varying functions f and g of 1/x by the sine and cosine of the angle
(Abramowitz & Stegun, 5.2.8 and 7.3.9). The angle pi x**2 / 2 is reduced by whole turns while x**2 is still exact.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.pieces import (
    either,
    fast_two_sum,
    flip_sign,
    format_of,
    infinity,
    piecewise,
    sign_bit,
    two_product,
    two_sum,
)
from baracuda.formula.elementary.special_pairs import product
from baracuda.formula.elementary.tables import bessel as b
from baracuda.formula.elementary.tables import waves as c
from baracuda.formula.elementary.trigonometric import Quadrant, cos_on, sin_on
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, cast, compare, fma, unary
from baracuda.formula.functions import cos, log, minimum, sin

#: From here on, and before, the waves of Fresnel's integrals are lost in 1/2.
_LOST = {ElementKind.F32: 2.0**30, ElementKind.F64: 2.0**60}
_PI = 3.141592653589793


def _auxiliary(a: Expr) -> tuple[Expr, Expr]:
    """f(a) and g(a) for a from 4."""
    v = 1.0 / a
    w = (v * 4.0) * (v * 4.0)
    return piecewise(w, c.SICI_F[a.kind]) * v, piecewise(w, c.SICI_G[a.kind]) * (v * v)


@elementary("sine_integral", ElementKind.F32, ElementKind.F64)
def sine_integral(x: Expr) -> Expr:
    f = format_of(x)
    a = abs(x)
    near = a * piecewise(a * a, c.SI_NEAR[f.kind])
    p, q = _auxiliary(a)
    wave = either(compare("eq", a, infinity(f)), 0.0, fma(p, cos(a), q * sin(a)))
    far = b.HALF_PI_HIGH[f.kind] - (wave - b.HALF_PI_LOW[f.kind])
    return flip_sign(either(a <= 4.0, near, far), sign_bit(x))


@elementary("cosine_integral", ElementKind.F32, ElementKind.F64)
def cosine_integral(x: Expr) -> Expr:
    """Ci(|x|): -inf at zero, 0 at both infinities."""
    f = format_of(x)
    a = abs(x)
    near = log(a) + piecewise(a * a, c.CI_NEAR[f.kind])
    p, q = _auxiliary(a)
    far = either(compare("eq", a, infinity(f)), 0.0, fma(p, sin(a), -(q * cos(a))))
    return either(a <= 4.0, near, far)


def _quarters(a: Expr) -> Quadrant:
    """pi a**2 / 2, reduced."""
    f = format_of(a)
    square, square_low = two_product(a, a)
    turns = [part - unary("rint", part * 0.25) * 4.0 for part in (square, square_low)]
    r, r_low = two_sum(*turns)
    n = unary("rint", r)
    rest = fast_two_sum(r - n, r_low)
    half_pi = f.constant(b.HALF_PI_HIGH[f.kind]), f.constant(b.HALF_PI_LOW[f.kind])
    high, low = product(rest, half_pi)
    return Quadrant(high, low, cast(n, f.signed))


def _fresnel(x: Expr, *, cosine: bool) -> Expr:
    f = format_of(x)
    k = f.kind
    a = minimum(abs(x), _LOST[k])
    u = (a * a) * (a * a)
    near = a * piecewise(u, c.FRESNEL_C[k]) if cosine else a * (a * a) * piecewise(u, c.FRESNEL_S[k])
    v = 1.0 / a
    w = (v * v) * (v * v) * 4.0
    p = piecewise(w, c.FRESNEL_F[k]) * (v * (1.0 / _PI))
    q = piecewise(w, c.FRESNEL_G[k]) * (v * v * v * (1.0 / _PI**2))
    angle = _quarters(a)
    s, co = sin_on(angle), cos_on(angle)
    far = 0.5 + fma(p, s, -(q * co)) if cosine else 0.5 - fma(p, co, q * s)
    return flip_sign(either(a <= 1.5, near, far), sign_bit(x))


@elementary("fresnel_s", ElementKind.F32, ElementKind.F64)
def fresnel_s(x: Expr) -> Expr:
    return _fresnel(x, cosine=False)


@elementary("fresnel_c", ElementKind.F32, ElementKind.F64)
def fresnel_c(x: Expr) -> Expr:
    return _fresnel(x, cosine=True)
