"""tanh and sigmoid, without a division.

Both come from E = e**-|t| in (0, 1] and a reciprocal of 1 + E: a small polynomial refined by one cubic Newton step
(1/d = y (1 + e + e**2 + ...), e = 1 - d y), whose correction stays apart from y, so that only the last operation rounds.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.exponential import (
    exp_minus_one_on_r,
    reduce_exponent,
    reduce_exponent_to_pair,
)
from baracuda.formula.elementary.pieces import (
    Pair,
    either,
    flip_sign,
    format_of,
    horner,
    integer_of,
    not_below,
    power_of_two,
    scale,
    sign_bit,
)
from baracuda.formula.elementary.tables import elementary as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, fma, rare


def _reciprocal_of_one_plus(e: Expr, e_low: Expr) -> Pair:
    """1 / (1 + e + e_low) for e in [0, 1] as a pair.

    The first value y is at least 1/2 (the polynomial is made so, and an odd-order step keeps the sign of its error), so
    1 - y is exact.
    """
    y = horner(e, c.RECIPROCAL[e.kind])
    if e.kind is ElementKind.F64:  # one more step from the same starting polynomial
        error = fma(-y, e, 1.0 - y)
        y = fma(y, fma(error, error, error), y)
    error = fma(-y, e_low, fma(-y, e, 1.0 - y))
    return y, y * fma(error, error, error)


@elementary("sigmoid", ElementKind.F32, ElementKind.F64)
def sigmoid(x: Expr) -> Expr:
    """1 / (1 + E) for x >= 0 and E / (1 + E) below, with E = e**-|x| as a pair."""
    f = format_of(x)
    r, low, shifted = reduce_exponent_to_pair(-abs(x))
    u, p = r * r, horner(r, c.EXP[f.kind][2:])
    tail = u * p if f.kind is ElementKind.F32 else fma(u, p, low)  # f32 can do without the low part of r
    power = power_of_two(shifted)
    e = fma(power, r + tail, power)
    e_low = fma(power, tail, fma(power, r, power - e))
    y, y_low = _reciprocal_of_one_plus(e, e_low)
    fast = either(x < 0.0, fma(e, y, fma(e, y_low, e_low * y)), y + y_low)
    smallest = -(f.bias + f.mantissa + 2) * 0.6931471805599453
    near_zero_or_one = either(x < smallest, 0.0, either(x < 0.0, scale(1.0 + (r + tail), integer_of(shifted)), 1.0))
    edge = either(not_below(x, float("inf")), either(x < 0.0, 0.0, either(x > 0.0, 1.0, x)), near_zero_or_one)
    return rare(not_below(x, (f.bias - 2) * 0.6931471805599453), edge, fast)


@elementary("tanh", ElementKind.F32, ElementKind.F64)
def tanh(x: Expr) -> Expr:
    """x + x**3 P(x**2) for small |x|, else 1 - 2 E / (1 + E) with E = e**-2|x|, and 1 where that is the nearest value."""
    f = format_of(x)
    a = abs(x)
    u = x * x
    small = fma(a, u * horner(u, c.TANH[f.kind]), a)
    t = either(a > c.TANH_ONE[f.kind], c.TANH_ONE[f.kind], a)
    r, shifted = reduce_exponent(t * -2.0)
    power = power_of_two(shifted)
    e = fma(power, exp_minus_one_on_r(r), power)
    large = fma(e * -2.0, horner(e, c.TANH_RECIPROCAL[f.kind]), f.constant(1.0))
    return flip_sign(either(a < c.TANH_SMALL, small, large), sign_bit(x))
