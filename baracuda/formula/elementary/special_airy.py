"""Airy's function Ai.

With z = 2/3 |x|**(3/2) as a pair: for x from 2, e**-z x**(-1/4) times a polynomial in 1/z; from -5 down modulus times cosine of
the phase, z - pi/4 + P(1/|x|**3) / z; in between polynomials. f32 takes the phase of large arguments in f64. Below -2**32 the
phase is not known to a quarter of a turn any more, and the result is NaN.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.payne_hanek import reduce_huge
from baracuda.formula.elementary.pieces import F64, Pair, either, format_of, nan, piecewise
from baracuda.formula.elementary.root import sqrt_to_pair
from baracuda.formula.elementary.special_bessel_j import turned
from baracuda.formula.elementary.special_pairs import product, times_exp
from baracuda.formula.elementary.tables import bessel_y as c
from baracuda.formula.elementary.tables import elementary as elementary_c
from baracuda.formula.elementary.trigonometric import Quadrant, cos_on, reduce_moderate
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, cast, compare, rare, unary
from baracuda.formula.functions import minimum

#: From here on Ai is zero.
_NOTHING = {ElementKind.F32: 30.0, ElementKind.F64: 110.0}
#: The largest |x| below zero.
_LARGEST = 2.0**32


def _two_thirds_power(a: Expr) -> tuple[Pair, Expr]:
    """2/3 a**(3/2), and sqrt(a), for a normal."""
    k = a.kind
    zero = format_of(a).constant(0.0)
    s = sqrt_to_pair(a)
    thirds = format_of(a).constant(c.TWO_THIRDS_HIGH[k]), format_of(a).constant(c.TWO_THIRDS_LOW[k])
    return product(product((a, zero), s), thirds), s[0]


def _positive(x: Expr) -> Expr:
    """Ai(x) for x >= 2."""
    f = format_of(x)
    a = minimum(x, _NOTHING[f.kind])
    (z, z_low), s = _two_thirds_power(a)
    value = piecewise(1.0 / z, c.AIRY_POSITIVE[f.kind]) / unary("sqrt", s)
    return times_exp((value, f.constant(0.0)), -z, -z_low).rounded()


def _wave(a: Expr, *, huge: bool) -> Expr:
    """Ai(-a) for a >= 5."""
    k = a.kind
    (z, z_low), s = _two_thirds_power(a)
    v = 1.0 / a
    w = v * v * v
    q = Quadrant(*reduce_huge(z)) if huge else reduce_moderate(z)
    phase = turned(Quadrant(q.high, q.low + z_low, q.n), (-piecewise(w, c.AIRY_PHASE[k]) / z, format_of(a).constant(0.0)))
    return piecewise(w, c.AIRY_MODULUS[k]) / unary("sqrt", s) * cos_on(phase)


@elementary("airy_ai", ElementKind.F32, ElementKind.F64)
def airy_ai(x: Expr) -> Expr:
    f = format_of(x)
    a = -x
    middle = piecewise(x, (*c.AIRY_WAVE[f.kind], *c.AIRY_NEAR[f.kind]))
    below = either(a > 5.0, _wave(a, huge=False), middle)
    value = either(x > 2.0, _positive(x), below)
    limit = (1.5 * elementary_c.TRIG_LIMIT[f.kind]) ** (2 / 3) * 0.99
    wide = _wave(cast(minimum(a, _LARGEST), F64.kind), huge=True)
    far = either(a <= _LARGEST, cast(wide, f.kind), nan(f))
    return rare(~compare("le", a, limit), far, value)
