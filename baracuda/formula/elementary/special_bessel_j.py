"""The Bessel functions of the first kind, bessel_j0 and bessel_j1.

From 0 a polynomial in x**2; around the first zero z a polynomial by x**2 - z**2, with x - z exact; from x = 5 modulus times
cosine of the phase, x - pi/4 - n pi/2 + P(1/x**2) / x for order n, which is reduced by pi/2 as the argument of a sine is.

f32 has `special_bessel_single` for ordinary arguments.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.payne_hanek import reduce_huge
from baracuda.formula.elementary.pieces import Pair, either, flip_sign, format_of, horner, infinity, not_below, sign_bit
from baracuda.formula.elementary.special_bessel_single import j_single
from baracuda.formula.elementary.special_pairs import total
from baracuda.formula.elementary.tables import bessel as c
from baracuda.formula.elementary.tables import elementary as elementary_c
from baracuda.formula.elementary.trigonometric import Quadrant, cos_on, reduce_moderate, sin_on
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, compare, fma, rare, unary

_SMALL = {0: c.J0_SMALL, 1: c.J1_SMALL}
_MIDDLE = {0: c.J0_MIDDLE, 1: c.J1_MIDDLE}
_ZERO = {0: (c.J0_ZERO_HIGH, c.J0_ZERO_LOW), 1: (c.J1_ZERO_HIGH, c.J1_ZERO_LOW)}
_MODULUS = {0: c.J0_MODULUS, 1: c.J1_MODULUS}
_PHASE = {0: c.J0_PHASE, 1: c.J1_PHASE}


def near(order: int, a: Expr) -> Expr:
    """J(a), divided by a for order 1, for a to 5."""
    k, u = a.kind, a * a
    zero, zero_low = (part[k] for part in _ZERO[order])
    start = format_of(a).constant(0.5 if order else 1.0)
    small = fma(u, horner(u, _SMALL[order][k]), start)
    difference = (a - zero) - zero_low
    middle = difference * ((a + zero) * horner(u - c.BESSEL_J_MIDDLE, _MIDDLE[order][k]))
    return either(a < c.BESSEL_J_SMALL, small, middle)


def turned(q: Quadrant, correction: Pair) -> Quadrant:
    """The angle of q, less pi/4, plus a correction: reduced again."""
    f = format_of(q.high)
    quarter = f.constant(-c.QUARTER_PI_HIGH[f.kind]), f.constant(-c.QUARTER_PI_LOW[f.kind])
    high, low = total(total((q.high, q.low), quarter), correction)
    half = f.constant(c.HALF_PI_HIGH[f.kind]), f.constant(c.HALF_PI_LOW[f.kind])
    up = total((high, low), half)
    below = high < -c.QUARTER_PI_HIGH[f.kind]
    return Quadrant(either(below, up[0], high), either(below, up[1], low), either(below, q.n - 1, q.n))


def modulus_and_phase(order: int, a: Expr, q: Quadrant) -> tuple[Expr, Quadrant]:
    """The modulus of the Bessel functions at a from 5, and their phase plus, for order 1, pi/2; q being the reduction of a."""
    f = format_of(a)
    v = 1.0 / a
    t = fma(v * v, 2.0 * c.BESSEL_J_LARGE**2, f.constant(-1.0))
    reduced = turned(q, (v * horner(t, _PHASE[order][f.kind]), f.constant(0.0)))
    return horner(t, _MODULUS[order][f.kind]) * unary("sqrt", v), reduced


def _far(order: int, a: Expr, q: Quadrant) -> Expr:
    """J(a) for a from 5, q being the reduction of a."""
    modulus, phase = modulus_and_phase(order, a, q)
    return modulus * (sin_on(phase) if order else cos_on(phase))


def _define(order: int, a: Expr) -> Expr:
    """J(a) for a >= 0."""
    huge = _far(order, a, Quadrant(*reduce_huge(a))) + (a - a)
    if a.kind is ElementKind.F32:
        value = j_single(order, a)
    else:
        small = near(order, a)
        value = either(a < c.BESSEL_J_LARGE, a * small if order else small, _far(order, a, reduce_moderate(a)))
    beyond = either(compare("eq", a, infinity(format_of(a))), 0.0, huge)
    return rare(not_below(a, elementary_c.TRIG_LIMIT[a.kind]), beyond, value)


@elementary("bessel_j0", ElementKind.F32, ElementKind.F64)
def bessel_j0(x: Expr) -> Expr:
    return _define(0, abs(x))


@elementary("bessel_j1", ElementKind.F32, ElementKind.F64)
def bessel_j1(x: Expr) -> Expr:
    return flip_sign(_define(1, abs(x)), sign_bit(x))
