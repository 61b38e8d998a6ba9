"""sin, cos and tan of radians.

|x| below a bound is reduced by pi/2 in three parts with fused multiply-adds (Cody & Waite): x - n C1 is exact, and the rest is
kept as a pair. Anything larger takes the rare path of `payne_hanek`. Either way |x| = n pi/2 + (high + low), and the
polynomials on [-pi/4, pi/4] add `low` last, so that only the final operation rounds at full size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.payne_hanek import reduce_huge
from baracuda.formula.elementary.pieces import (
    Format,
    either,
    fast_two_sum,
    flip_sign,
    format_of,
    horner,
    not_below,
    reciprocal,
    rough_reciprocal,
    round_scaled,
    sign_bit,
)
from baracuda.formula.elementary.tables import elementary as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, bitcast, compare, fma, rare


class Quadrant(NamedTuple):
    """|x| = n pi/2 + high + low, n in the low bits of an integer."""

    high: Expr
    low: Expr
    n: Expr


def reduce_moderate(a: Expr) -> Quadrant:
    """The reduction for 0 <= a < TRIG_LIMIT.

    `first` is exact, being a multiple of ulp(C1) / 2 below 1. So is the error of `high`, by Dekker's argument if
    |first| >= |part|, and otherwise because first, high and part are multiples of one ulp that is not far below part.
    """
    k = a.kind
    n, shifted = round_scaled(a, c.TWO_OVER_PI[k])
    first = fma(n, -c.HALF_PI_HIGH[k], a)
    part = n * c.HALF_PI_MIDDLE[k]
    rest = fma(n, c.HALF_PI_LOW[k], fma(n, c.HALF_PI_MIDDLE[k], -part))
    high = first - part
    return Quadrant(high, ((first - high) - part) - rest, shifted)


def _sine(q: Quadrant, u: Expr) -> Expr:
    return q.high + fma(q.high, u * horner(u, c.SIN[u.kind]), q.low)


def _cosine(q: Quadrant, u: Expr) -> Expr:
    """1 + u C(u), less what the rounding of u = high**2 and leaving out 2 high low changed in u/2."""
    missing = fma(q.high, q.low, fma(q.high, q.high, -u) * 0.5)
    return 1.0 + fma(u, horner(u, c.COS[u.kind]), -missing)


def _odd(n: Expr) -> Expr:
    return compare("ne", n & 1, 0)


def _sign_from_bit_1(f: Format, n: Expr) -> Expr:
    return bitcast((n & 2) << (f.bits - 2), f.unsigned)


def sin_on(q: Quadrant) -> Expr:
    u = q.high * q.high
    value = either(_odd(q.n), _cosine(q, u), _sine(q, u))
    return flip_sign(value, _sign_from_bit_1(format_of(u), q.n))


def cos_on(q: Quadrant) -> Expr:
    u = q.high * q.high
    value = either(_odd(q.n), _sine(q, u), _cosine(q, u))
    return flip_sign(value, _sign_from_bit_1(format_of(u), q.n + 1))


def _reduce_briefly(a: Expr) -> Quadrant:
    """`reduce_moderate` in two operations less.

    first - high is exact by Dekker's argument if |first| is above what is taken from it, and else because nothing was lost in
    `high`, as there.
    """
    k = a.kind
    n, shifted = round_scaled(a, c.TWO_OVER_PI[k])
    first = fma(n, -c.HALF_PI_HIGH[k], a)
    high = first - n * c.HALF_PI_MIDDLE[k]
    low = fma(n, -c.HALF_PI_LOW[k], fma(n, -c.HALF_PI_MIDDLE[k], first - high))
    return Quadrant(high, low, shifted)


def _tan_on_f32(q: Quadrant) -> Expr:
    """With c = r cot(r), which is in [pi/4, 1], the quotient r / c or -c / r, from a reciprocal of 14 bits and the remainder.

    The remainder counts what rounding took from c, and `low`, whose share is low / r (2 - c) of the quotient to a few bits. Near
    a multiple of pi/2 `low` may be 2**-9 of `high`, so the reciprocal of r includes it; that of c, which is 1 there, is exact.
    """
    f, u = format_of(q.high), q.high * q.high
    p = horner(u, c.COT[f.kind])
    cotangent = fma(-u, p, f.constant(1.0))
    missing = 1.0 - cotangent
    cross = fma(q.low, 1.0 + missing, -(q.high * fma(-u, p, missing)))
    odd = _odd(q.n)
    above, below = either(odd, -cotangent, q.high), either(odd, q.high, cotangent)
    y = rough_reciprocal(below + q.low)
    quotient = above * y
    return fma(fma(cross, y, fma(-quotient, below, above)), y, quotient)


def _tan_on_f64(q: Quadrant) -> Expr:
    """T = tan(high + low) as a pair, or -1/T with the remainder of the reciprocal put back."""
    f, u = format_of(q.high), q.high * q.high
    p = horner(u, c.TAN[f.kind])
    # What u lost to rounding counts by the derivative of u P(u), which near pi/4, where it matters, is 4/3 P(u).
    up = fma(u, p, p * (fma(q.high, q.high, -u) * (4.0 / 3.0)))
    near = fma(q.high, up, q.high)
    t, t_low = fast_two_sum(q.high, fma(q.high, up, fma(near * q.low, near, q.low)))
    inverse = -reciprocal(t)
    error = fma(inverse, t_low, fma(inverse, t, f.constant(1.0)))
    return either(_odd(q.n), fma(inverse, error, inverse), t)


def _define(x: Expr, on: Callable[[Quadrant], Expr], moderate: Callable[[Expr], Quadrant] = reduce_moderate) -> Expr:
    """The function of |x| on either reduction; NaN for what is not finite."""
    a = abs(x)
    return rare(not_below(x, c.TRIG_LIMIT[x.kind]), on(Quadrant(*reduce_huge(a))) + (x - x), on(moderate(a)))


@elementary("sin", ElementKind.F32, ElementKind.F64)
def sin(x: Expr) -> Expr:
    return flip_sign(_define(x, sin_on), sign_bit(x))


@elementary("cos", ElementKind.F32, ElementKind.F64)
def cos(x: Expr) -> Expr:
    return _define(x, cos_on)


@elementary("tan", ElementKind.F32)
def tan_f32(x: Expr) -> Expr:
    return flip_sign(_define(x, _tan_on_f32, _reduce_briefly), sign_bit(x))


@elementary("tan", ElementKind.F64)
def tan_f64(x: Expr) -> Expr:
    return flip_sign(_define(x, _tan_on_f64), sign_bit(x))
