"""log, log1p, sqrt, rsqrt, pow, asin, acos, acosh and atanh of complex numbers.

The inverse functions follow Kahan, Branch Cuts for Complex Elementary Functions (1987): no sum in them cancels, and the sign of
a zero says on which side of a branch cut the argument lies.
"""

from __future__ import annotations

import math

from baracuda.formula import functions as real
from baracuda.formula.complex import Complex, divide
from baracuda.formula.elementary.complex_pieces import (
    complex_elementary,
    is_infinite,
    is_number,
    is_zero,
    log1p_of_abs,
    log_of_abs,
    root,
)
from baracuda.formula.elementary.logarithm import is_ordinary
from baracuda.formula.elementary.pieces import either, format_of, with_sign_of
from baracuda.formula.expr import Expr, compare, const, fma, rare
from baracuda.formula.functions import atan2, cos, hypot, maximum, sin


@complex_elementary("log")
def log(z: Complex) -> Complex:
    return Complex(log_of_abs(z), atan2(z.im, z.re))


@complex_elementary("log1p")
def log1p(z: Complex) -> Complex:
    return Complex(log1p_of_abs(z), atan2(z.im, 1.0 + z.re))


@complex_elementary("sqrt")
def sqrt(z: Complex) -> Complex:
    return root(z)


@complex_elementary("rsqrt")
def rsqrt(z: Complex) -> Complex:
    return divide(Complex(const(1.0, z.kind), const(0.0, z.kind)), root(z))


@complex_elementary("pow")
def pow_(z: Complex, w: Complex) -> Complex:
    """|z|**(re w) e**(-im w arg z), turned by re w arg z + im w log |z|; 0 to a power with a positive real part is 0, and
    anything to the power 0 is 1."""
    size, angle, log_size = hypot(z.re, z.im), atan2(z.im, z.re), log_of_abs(z)
    power, straight = real.pow_(size, w.re), is_zero(w.im)
    inwards = either(straight, 0.0, -(w.im * angle))
    outwards = either(straight, 0.0, w.im * log_size)
    grown = rare(~is_ordinary(power) & ~straight, real.exp(fma(w.re, log_size, inwards)), power * real.exp(inwards))
    turned = fma(w.re, angle, outwards)
    nothing, one = is_zero(size) & (w.re > 0.0), is_zero(w.re) & straight
    re, im = grown * cos(turned), either(is_zero(turned), turned, grown * sin(turned))
    return Complex(either(one, 1.0, either(nothing, 0.0, re)), either(one | nothing, 0.0, im))


# --- inverse functions ------------------------------------------------------------------------------------------------


def _both(z: Complex) -> tuple[Complex, Complex]:
    """sqrt(1 - z) and sqrt(1 + z)."""
    return root(Complex(1.0 - z.re, -z.im)), root(Complex(1.0 + z.re, z.im))


def _far(z: Complex) -> Expr:
    """Whether z is so large that 1 does not count beside it, nor z beside its square."""
    bound = 2.0 ** (format_of(z.re).bias // 2)
    return (abs(z.re) >= bound) | (abs(z.im) >= bound)


def _upright(z: Complex) -> Expr:
    """Whether z is on the imaginary axis, nobody knows where."""
    return is_zero(z.re) & ~is_number(z.im)


def _log_twice(z: Complex) -> Expr:
    return log_of_abs(z) + math.log(2.0)


@complex_elementary("asin")
def asin(z: Complex) -> Complex:
    a, b = _both(z)
    far = _far(z)
    re = rare(far, atan2(z.re, abs(z.im)), atan2(z.re, a.re * b.re - a.im * b.im))
    im = rare(far, with_sign_of(_log_twice(z), z.im), real.asinh(a.re * b.im - a.im * b.re))
    return Complex(either(is_zero(z.re), z.re, re), im)


@complex_elementary("acos")
def acos(z: Complex) -> Complex:
    a, b = _both(z)
    far = _far(z)
    re = rare(far, atan2(abs(z.im), z.re), atan2(a.re, b.re) * 2.0)
    im = rare(far, with_sign_of(_log_twice(z), -z.im), real.asinh(b.re * a.im - b.im * a.re))
    return Complex(either(_upright(z), math.pi / 2, re), im)


@complex_elementary("acosh")
def acosh(z: Complex) -> Complex:
    a, b = root(Complex(z.re - 1.0, z.im)), root(Complex(z.re + 1.0, z.im))
    far = _far(z)
    re = rare(far, _log_twice(z), real.asinh(a.re * b.re + a.im * b.im))
    return Complex(re, either(_upright(z), math.pi / 2, rare(far, atan2(z.im, z.re), atan2(a.im, b.re) * 2.0)))


@complex_elementary("atanh")
def atanh(z: Complex) -> Complex:
    """log1p(4 x / ((1 - x)**2 + y**2)) / 4 for x >= 0, and half the angle of (1 - x)(1 + x) - y**2 + 2 i y."""
    f = format_of(z.re)
    ax, ay = abs(z.re), abs(z.im)
    rest, far = 1.0 - ax, _far(z)
    square = z.im * z.im
    near = real.log1p(ax * 4.0 / fma(rest, rest, square)) * 0.25
    pole = compare("eq", ax, 1.0) & (ay < 2.0**-f.mantissa)
    near = rare(pole, (math.log(2.0) - real.log(ay)) * 0.5, near)
    long, shorter = maximum(ax, ay), real.minimum(ax, ay)
    ratio = shorter / long  # x / |z|**2, where |z|**2 would overflow
    distant = either(is_infinite(ax) | is_infinite(ay), 0.0, ax / long / long / fma(ratio, ratio, f.constant(1.0)))
    half_pi = either(is_number(z.im), with_sign_of(const(math.pi / 2, z.kind), z.im), z.im)
    im = atan2(z.im + z.im, fma(rest, 1.0 + ax, -square)) * 0.5
    re = either(is_zero(ax), 0.0, rare(far, distant, near))
    return Complex(with_sign_of(re, z.re), rare(far, half_pi, im))
