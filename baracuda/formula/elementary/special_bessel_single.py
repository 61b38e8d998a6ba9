"""bessel_j0, bessel_j1, bessel_y0 and bessel_y1 of ordinary arguments in f32.

To x = 4 J_n is x**n (x**2 - zero**2) P(x**2), with the first zero, or next to 0 a polynomial that is exact there; Y_n is made
of J_n and the logarithm as in `special_bessel_second`. Beyond, all four are M(1/x**2) / sqrt(x) sin(x + turn pi + P(1/x**2) / x),
and the angle is reduced by pi: a sine on [-pi/2, pi/2] takes hardly more than one on half of it, and one is enough. Errors count
against the modulus, so that the reduced angle need not be a pair.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.logarithm import split
from baracuda.formula.elementary.pieces import F32, either, flip_sign, horner
from baracuda.formula.elementary.root import rsqrt_normal
from baracuda.formula.elementary.tables import bessel as cj
from baracuda.formula.elementary.tables import elementary as elementary_c
from baracuda.formula.elementary.tables import single as c
from baracuda.formula.expr import Expr, bitcast, const, fma

_ZERO = {0: (c.J0_SQUARED_ZERO_HIGH, c.J0_SQUARED_ZERO_LOW), 1: (c.J1_SQUARED_ZERO_HIGH, c.J1_SQUARED_ZERO_LOW)}
_J_SMALL = {0: cj.J0_SMALL, 1: cj.J1_SMALL}
_J_NEAR = {0: c.J0_NEAR, 1: c.J1_NEAR}
_Y_NEAR = {0: c.Y0_NEAR, 1: c.Y1_NEAR}
_MODULUS: dict[int, Mapping[ElementKind, Sequence[float]]] = {0: c.BESSEL0_MODULUS, 1: c.BESSEL1_MODULUS}
_PHASE = {0: c.BESSEL0_PHASE, 1: c.BESSEL1_PHASE}
_K = F32.kind


def _wave(order: int, turn: float, a: Expr, root: Expr) -> Expr:
    """Modulus times sine for a from 4, root being 1 / sqrt(a)."""
    v = root * root
    w = v * v
    phase = v * horner(w, _PHASE[order][_K])
    shifted = fma(a, c.ONE_OVER_PI, const(turn, _K)) + F32.shifter
    n = (shifted - F32.shifter) - turn
    r = fma(n, -c.PI_HIGH[_K], a) + fma(n, -c.PI_LOW[_K], phase)
    u = r * r
    sine = fma(r * u, horner(u, c.BESSEL_SINE[_K]), r)
    return flip_sign(horner(w, _MODULUS[order][_K]) * root * sine, bitcast(shifted, F32.unsigned) << 31)


def _j_near(order: int, square: Expr, a: Expr) -> Expr:
    """J(a), divided by a for order 1, for a to 4."""
    zero, zero_low = (part[_K] for part in _ZERO[order])
    difference = fma(a, a, const(-zero, _K)) - zero_low
    return difference * horner(square - c.BESSEL_MIDDLE, _J_NEAR[order][_K])


def j_single(order: int, a: Expr) -> Expr:
    """J(a) for a from 0 to TRIG_LIMIT."""
    u = a * a
    small = fma(u, horner(u, _J_SMALL[order][_K]), const(0.5 if order else 1.0, _K))
    near = either(a < cj.BESSEL_J_SMALL, small, _j_near(order, u, a))
    return either(a < c.BESSEL_FAR, a * near if order else near, _wave(order, 0.25 - order / 2, a, rsqrt_normal(a)))


def y_single(order: int, x: Expr) -> Expr:
    """Y(x) for x normal and up to TRIG_LIMIT."""
    root, square, s = rsqrt_normal(x), x * x, split(x)
    log = fma(s.f * s.f, horner(s.f, elementary_c.LOG[_K]), s.f)
    log = fma(s.k, math.log(2.0) * 2.0 / math.pi, log * (2.0 / math.pi))
    near = fma(log, _j_near(order, square, x), horner(square - c.BESSEL_MIDDLE, _Y_NEAR[order][_K]))
    if order:
        v = root * root
        inverse = fma(v, fma(-x, v, const(1.0, _K)), v)
        near = fma(x, near, inverse * (-2.0 / math.pi))
    return either(x < c.BESSEL_FAR, near, _wave(order, -0.25 - order / 2, x, root))
