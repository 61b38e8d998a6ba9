"""asin, acos, atan and atan2.

Each is base + (t + t**3 P(t**2)) with base a multiple of pi/2 and a reduced argument t, both as pairs, so that only the last
addition rounds at full size. atan has |t| <= 1: x itself or -1/x. asin and acos have |t| <= 1/2 in the arcsine: x itself, or
sqrt((1 - |x|) / 2), of which they take twice the arcsine.
"""

from __future__ import annotations

from typing import NamedTuple

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.pieces import (
    between,
    either,
    flip_sign,
    format_of,
    horner,
    nan,
    reciprocal,
    sign_bit,
)
from baracuda.formula.elementary.root import sqrt_to_pair
from baracuda.formula.elementary.tables import elementary as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, compare, const, fma, rare


class _Arc(NamedTuple):
    """An inverse function g at t + t_low: rest is g(t) / t - 1, and what t_low adds and rest lost to rounding is in low."""

    t: Expr
    rest: Expr
    low: Expr

    def from_base(self, base: Expr) -> Expr:
        """base + g(t + t_low), for a base that is zero or at least |t|: a multiple of pi/2, rounded, that stands for the
        exact one."""
        high = base + self.t
        low = fma(base, c.HALF_PI_RATIO[base.kind], (base - high) + self.t)
        return high + fma(self.t, self.rest, low + self.low)


def _arctangent(t: Expr, t_low: Expr) -> _Arc:
    """Near t = 1 the rest is a fifth of t, so that the rounding errors of its last two operations count, and are kept."""
    u, p = t * t, c.ATAN[t.kind]
    inner = horner(u, p[1:])
    outer = fma(u, inner, const(p[0], t.kind))
    outer_low = fma(u, inner, p[0] - outer)
    rest = u * outer
    rest_low = fma(u, outer_low, fma(u, outer, -rest))
    slope = fma(u, -0.5, format_of(t).constant(1.0))  # 1 / (1 + u) to the few bits that t_low needs
    return _Arc(t, rest, fma(slope, t_low, t * rest_low))


@elementary("atan", ElementKind.F32, ElementKind.F64)
def atan(x: Expr) -> Expr:
    """Of |x| up to 1, or as pi/2 - atan(1/|x|), with the remainder of the reciprocal put back."""
    f = format_of(x)
    a = abs(x)
    a = either(a > 2.0**60, 2.0**60, a)  # an infinity has no remainder
    steep = a > 1.0
    d = either(steep, a, f.constant(1.0))
    inverse = reciprocal(d)
    t = either(steep, -inverse, a)
    t_low = either(steep, inverse * fma(inverse, d, f.constant(-1.0)), 0.0)
    base = either(steep, f.constant(c.HALF_PI_HIGH[f.kind]), 0.0)
    return flip_sign(_arctangent(t, t_low).from_base(base), sign_bit(x))


class _Octant(NamedTuple):
    """A point turned into the first octant: legs 0 <= short <= long, and how the angle there gives the angle asked for."""

    long: Expr
    short: Expr
    base: Expr
    turn: Expr


def _octant(y: Expr, x: Expr) -> _Octant:
    f = format_of(x)
    ax, ay = abs(x), abs(y)
    steep, behind = ay > ax, sign_bit(x)
    half_pi = f.constant(c.HALF_PI_HIGH[f.kind])
    base = either(steep, half_pi, either(compare("ne", behind, 0), half_pi * 2.0, 0.0))
    return _Octant(either(steep, ay, ax), either(steep, ax, ay), base, behind ^ either(steep, const(f.sign, f.unsigned), 0))


@elementary("atan2", ElementKind.F32, ElementKind.F64)
def atan2(y: Expr, x: Expr) -> Expr:
    """The angle of the point (x, y), with the special cases of IEEE 754; the quotient of the legs is taken as a pair."""
    f = format_of(x)
    o = _octant(y, x)
    short, inverse = flip_sign(o.short, o.turn), 1.0 / o.long
    q = short * inverse
    fast = _arctangent(q, fma(-q, o.long, short) * inverse).from_base(o.base)

    # Short of these bounds neither the inverse nor the remainder loses bits to underflow.
    reach, least = 2.0 ** (f.bias - 7), 2.0 ** (f.mantissa + 10 - f.bias)
    smallest = 2.0 ** (1 - f.bias - f.mantissa)
    edge = ~between(o.long, 1 / reach, reach) | between(o.short, smallest, least)
    return flip_sign(rare(edge, _atan2_general(o, f.kind), fast), sign_bit(y))


def _atan2_general(o: _Octant, kind: ElementKind) -> Expr:
    """The angle without a sign for every pair of legs: the remainder counts only where the legs are close to each other, so
    that scaling both is exact."""
    equal = compare("eq", o.long, o.short)
    ratio = either(equal, either(compare("eq", o.long, 0.0), o.long, 1.0), o.short / o.long)
    factor = either(o.long > 1.0, const(2.0**-100, kind), 2.0**100)
    long, short = o.long * factor, o.short * factor
    remainder = either(equal | (ratio < 2.0 ** -(format_of(ratio).mantissa // 2 + 2)), 0.0, fma(-ratio, long, short) / long)
    return _arctangent(flip_sign(ratio, o.turn), flip_sign(remainder, o.turn)).from_base(o.base)


def _arcsine(a: Expr, small: Expr, turn: Expr) -> _Arc:
    """Of a where a is small, else of the root of (1 - a) / 2, doubled; turned in sign."""
    f = format_of(a)
    square = fma(a, -2.0, f.constant(2.0))  # of twice the root, exact where it is used
    root, root_low = sqrt_to_pair(square)
    u = either(small, a * a, square * 0.25)
    t, t_low = flip_sign(either(small, a, root), turn), flip_sign(either(small, 0.0, root_low), turn)
    return _Arc(t, u * horner(u, c.ASIN[f.kind]), t_low)


def _undefined_beyond_one(a: Expr, value: Expr) -> Expr:
    return either(a > 1.0, nan(format_of(a)), value)


@elementary("asin", ElementKind.F32, ElementKind.F64)
def asin(x: Expr) -> Expr:
    """asin(|x|) below 1/2, else pi/2 - 2 asin(sqrt((1 - |x|) / 2))."""
    f, a = format_of(x), abs(x)
    small = a < 0.5
    base = either(small, f.constant(0.0), c.HALF_PI_HIGH[f.kind])
    value = _arcsine(a, small, either(small, const(0, f.unsigned), f.sign)).from_base(base)
    return _undefined_beyond_one(a, flip_sign(value, sign_bit(x)))


@elementary("acos", ElementKind.F32, ElementKind.F64)
def acos(x: Expr) -> Expr:
    """pi/2 - asin(x) below 1/2, 2 asin(sqrt((1 - x) / 2)) above and pi - 2 asin(sqrt((1 + x) / 2)) below."""
    f, a = format_of(x), abs(x)
    small = a < 0.5
    half_pi = f.constant(c.HALF_PI_HIGH[f.kind])
    base = either(small, half_pi, either(x < 0.0, half_pi * 2.0, 0.0))
    value = _arcsine(a, small, sign_bit(x) ^ either(small, const(f.sign, f.unsigned), 0)).from_base(base)
    return _undefined_beyond_one(a, value)
