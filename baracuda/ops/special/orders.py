"""Special functions with an order that is an option: its recurrence is written out in the kernel. And Owen's T function."""

from __future__ import annotations

import math
from typing import Annotated

from baracuda.core.bounds import AtLeast, AtMost
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula import functions as f
from baracuda.formula import special_functions as s
from baracuda.formula.complex import Complex
from baracuda.formula.elementary.tables.owen import OWEN
from baracuda.formula.expr import Expr, const, fma, select
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.promotion import Rule

# --- exponential integrals --------------------------------------------------------------------------------------------

#: Where the recurrence from E1 upwards goes over to the continued fraction, and the terms of that.
_EXPN_LARGE = 2.0
_EXPN_TERMS = {ElementKind.F32: 16, ElementKind.F64: 60}


def _expn(n: int, x: Expr) -> Expr:
    decay = f.exp(-x)
    if n == 0:
        return select(x < 0.0, math.nan, select(f.equal(x, 0.0), math.inf, decay / x))
    small = s.exp1(x)
    if n == 1:
        return small
    for k in range(1, n):
        small = fma(-x, small, decay) * (1.0 / k)
    # 1 / (x + n / (1 + 1 / (x + (n+1) / (1 + 2 / (x + ...))))) by its convergents: positive terms, and one division for all
    one = const(1.0, x.kind)
    bounded = f.minimum(x, 1e3)
    p, p_before, q, q_before = one, const(0.0, x.kind), bounded, one
    for k in range(_EXPN_TERMS[x.kind]):
        for a, b in ((float(n + k), one), (k + 1.0, bounded)):
            scale = 0.25 if k < 8 else 0.0625  # keeps them in range
            p, p_before = fma(b, p, p_before * a) * scale, p * scale
            q, q_before = fma(b, q, q_before * a) * scale, q * scale
    large = decay * (p / q)
    return select(x <= _EXPN_LARGE, select(f.equal(x, 0.0), 1.0 / (n - 1), small), large)


@op(Rule.FLOATING, takes="float")
def expn(x: Expr, *, n: Annotated[int, AtLeast(0), AtMost(50)] = 1) -> Expr:
    """The exponential integral E_n(x), the integral of e**(-x t) / t**n from t = 1; NaN below zero.

    x: any shape, float. n: the order, an option from 0 to 50. E_(k+1) = (e**-x - x E_k) / k up to x = 2, beyond a continued
    fraction with a fixed number of terms; within 10 ULP. Raises `InvalidProblemError` for another order.
    """
    return _expn(n, x)


@expn.backward
def _(dy: Expr, x: Expr, *, n: int = 1) -> dict[str, Expr]:
    if n == 0:
        return {"dx": -dy * f.exp(-x) * (1.0 / x + 1.0) / x}
    return {"dx": -dy * _expn(n - 1, x)}


# --- Bessel functions -------------------------------------------------------------------------------------------------

_SERIES_TERMS = {ElementKind.F32: 11, ElementKind.F64: 20}
#: From which multiple of sqrt(n) above n the downward recurrence starts.
_START = {ElementKind.F32: 40.0, ElementKind.F64: 140.0}


def _bessel_jn(n: int, x: Expr) -> Expr:
    if n < 0:
        return _bessel_jn(-n, x) * (-1.0) ** n
    if n < 2:
        return s.bessel_j1(x) if n else s.bessel_j0(x)
    before, up = s.bessel_j0(x), s.bessel_j1(x)
    v = 2.0 / x
    for k in range(1, n):
        before, up = up, fma(v * float(k), up, -before)
    up = select(f.equal(abs(x), math.inf), 0.0, up)
    half = x * 0.5
    series = const(1.0, x.kind)
    for k in range(_SERIES_TERMS[x.kind], 0, -1):
        series = fma(half * half * (-1.0 / (k * (n + k))), series, const(1.0, x.kind))
    power = const(1.0, x.kind)
    for k in range(1, n + 1):
        power = power * (half * (1.0 / k))
    small = power * series
    middle = select(abs(x) <= n, _downwards(n, f.clamp(x, -float(n), float(n))), up)
    return select(x * x <= 4.0 * (n + 1), small, middle)


def _downwards(n: int, x: Expr) -> Expr:
    """J_n by the recurrence from above, where it is stable, and the sum J_0 + 2 J_2 + 2 J_4 + ... = 1 (Miller)."""
    start = 2 * math.ceil((n + math.sqrt(_START[x.kind] * n)) / 2)
    v = 2.0 / x
    after, now = const(0.0, x.kind), const(1e-30, x.kind)
    total, current = const(0.0, x.kind), now
    for k in range(start, 0, -1):
        if k % 2 == 0:
            total = total + now
        if k == n:
            current = now
        after, now = now, fma(v * float(k), now, -after)
    return current / fma(total, 2.0, now)


@op(Rule.FLOATING, takes="float")
def bessel_jn(x: Expr, *, n: Annotated[int, AtLeast(-40), AtMost(40)] = 0) -> Expr:
    """The Bessel function of the first kind of an integer order, J_n(x).

    x: any shape, float. n: the order, an option from -40 to 40. By its power series, the recurrence downwards for |x| up to n,
    and the recurrence upwards from J_0 and J_1 beyond; within some n ULP of the largest of them. Raises `InvalidProblemError`
    for another order.
    """
    return _bessel_jn(n, x)


@bessel_jn.backward
def _(dy: Expr, x: Expr, *, n: int = 0) -> dict[str, Expr]:
    return {"dx": dy * (_bessel_jn(n - 1, x) - _bessel_jn(n + 1, x)) * 0.5}


# --- spherical harmonics ----------------------------------------------------------------------------------------------


@op(Rule.FLOATING, takes="float")
def sph_harm_y(theta: Expr, phi: Expr, *, n: Annotated[int, AtLeast(0), AtMost(64)] = 0, m: int = 0) -> Complex:
    """The spherical harmonic Y_n^m of the polar angle theta and the azimuth phi, with the phase of Condon and Shortley.

    theta, phi: broadcast, float; the result is complex, complex64 or for f64 complex128. n, m: degree from 0 to 64 and order up
    to n in size, options. By the recurrence of the normalised Legendre functions in n, within some 2 n roundings of 1. Raises
    `InvalidProblemError` for another degree or order.
    """
    size = abs(m)
    if size > n:
        raise InvalidProblemError(f"m: {m}; expected an order from {-n} to {n}")
    x, sine = f.cos(theta), abs(f.sin(theta))
    now = const(math.sqrt(1.0 / (4.0 * math.pi)), x.kind)
    for k in range(1, size + 1):
        now = now * (sine * -math.sqrt((2 * k + 1) / (2 * k)))
    before = const(0.0, x.kind)
    for k in range(size + 1, n + 1):
        c = math.sqrt((4 * k * k - 1) / (k * k - size * size))
        d = c * math.sqrt(max((k - 1) ** 2 - size * size, 0) / (4 * (k - 1) ** 2 - 1)) if k > 1 else 0.0
        before, now = now, fma(x * c, now, before * -d)
    sign = (-1.0) ** size if m < 0 else 1.0
    turn = phi * float(m)
    return Complex(now * f.cos(turn) * sign, now * f.sin(turn) * sign)


# --- Owen's T ---------------------------------------------------------------------------------------------------------

#: The integrand is negligible where h x is larger.
_OWEN_RANGE = {ElementKind.F32: 6.0, ElementKind.F64: 8.8}


def _owen_inside(h: Expr, a: Expr) -> Expr:
    """T for h >= 0 and 0 <= a <= 1: the integral of e**(-h**2 (1 + x**2) / 2) / (1 + x**2) from 0 to a, by 2 pi."""
    most = f.minimum(a, _OWEN_RANGE[h.kind] / f.maximum(h, 1.0))
    above, below = const(0.0, h.kind), const(1.0, h.kind)
    for point, weight in OWEN[h.kind]:  # a sum of fractions, with one division at its end
        x = most * point
        square = x * x
        value = s.exp_moderate(h * h * square * -0.5) * weight
        above, below = fma(above, square + 1.0, value * below), below * (square + 1.0)
    hh = h * h
    lost = fma(h, h, -hh)
    return most * (f.exp(hh * -0.5) * fma(lost, -0.5, const(1.0, h.kind))) * (above / below) * (0.5 / math.pi)


@op(Rule.FLOATING, takes="float")
def owens_t(h: Expr, a: Expr) -> Expr:
    """Owen's T function: the integral of e**(-h**2 (1 + x**2) / 2) / (1 + x**2) from 0 to a, by 2 pi (Owen 1956).

    h, a: broadcast, float. By Gauss's quadrature with 12 points (f32) or 24 for |a| <= 1, and beyond by T(h, a) = (Q(h) + Q(ah))
    / 2 - Q(h) Q(ah) - T(ah, 1/a) with Q the upper tail of the normal distribution. Within 10 ULP and the rounding of h**2 / 2.
    """
    size, slope = abs(h), abs(a)
    large = slope > 1.0
    scaled_size = select(f.equal(size, 0.0), 0.0, size * slope)
    inside = _owen_inside(select(large, f.minimum(scaled_size, 1e4), f.minimum(size, 1e4)), select(large, 1.0 / slope, slope))
    p, q = s.ndtr(-size), s.ndtr(-scaled_size)
    value = select(large, (p + q) * 0.5 - p * q - inside, inside)
    value = select(f.equal(size, 0.0), f.atan(slope) * (0.5 / math.pi), value)
    value = select(f.not_equal(h, h) | f.not_equal(a, a), h + a, value)
    return select(a < 0.0, -value, value)


@owens_t.backward
def _(dy: Expr, h: Expr, a: Expr) -> dict[str, Expr]:
    along = f.exp(h * h * -0.5) * f.erf(a * h * math.sqrt(0.5)) * (-0.5 / math.sqrt(2.0 * math.pi))
    square = fma(a, a, const(1.0, a.kind))
    return {"dh": dy * along, "da": dy * f.exp(h * h * square * -0.5) / square * (0.5 / math.pi)}
