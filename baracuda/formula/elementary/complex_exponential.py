"""exp, expm1, exp2, sinh, cosh, tanh and sigmoid of complex numbers.

The parts are products of a function of x and one of y, exact about zeros and infinities as in C99's annex G. Where only the
function of x would overflow, its exponential is taken apart into two factors.
"""

from __future__ import annotations

import math

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as real
from baracuda.formula.complex import Complex
from baracuda.formula.elementary.complex_pieces import complex_elementary, is_infinite, is_number, is_zero, signed_zero
from baracuda.formula.elementary.pieces import F32, either, flip_sign, format_of, infinity, nan, sign_bit, with_sign_of
from baracuda.formula.expr import Expr, compare, fma, rare
from baracuda.formula.functions import cos, expm1, sin, sqrt, tan

_LN2 = 0.6931471805599453
#: What ln 2 has beyond its value in f32 and f64.
_LN2_LOW = {ElementKind.F32: -1.904654323148236e-09, ElementKind.F64: 2.3190468138462996e-17}


def _grown(x: Expr) -> tuple[Expr, Expr, Expr]:
    """e**x as a product of two factors that do not overflow before the result does, and whether there are two: x less a number
    that leaves it exact."""
    f = format_of(x)
    limit, subtracted = (87.0, 64.0) if f is F32 else (708.0, 512.0)
    big = x > limit
    return real.exp(either(big, x - subtracted, x)), either(big, f.constant(math.exp(subtracted)), 1.0), big


def _turn(x: Expr, y: Expr, beyond: Expr) -> tuple[Expr, Expr]:
    """cos y and sin y; where y has none and x is infinite, 1 and `beyond`."""
    lost = is_infinite(x) & ~(abs(y) < infinity(format_of(y)))
    return either(lost, 1.0, cos(y)), either(lost, beyond, sin(y))


@complex_elementary("exp")
def exp(z: Complex) -> Complex:
    f = format_of(z.re)
    size, factor, _ = _grown(z.re)
    c, s = _turn(z.re, z.im, either(z.re > 0.0, nan(f), 0.0))
    return Complex(size * c * factor, either(is_zero(z.im), z.im, size * s * factor))


@complex_elementary("exp2")
def exp2(z: Complex) -> Complex:
    """The angle y ln 2 is a pair."""
    f = format_of(z.re)
    subtracted = f.bias // 2 + 1
    big = z.re > float(f.bias - 1)
    size = real.exp2(either(big, z.re - float(subtracted), z.re))
    factor = either(big, f.constant(2.0**subtracted), 1.0)
    angle = z.im * _LN2
    low = fma(z.im, _LN2_LOW[f.kind], fma(z.im, _LN2, -angle))
    c, s = cos(angle), sin(angle)
    c, s = fma(-low, s, c), fma(low, c, s)
    return Complex(size * c * factor, either(is_zero(z.im), z.im, size * s * factor))


@complex_elementary("expm1")
def expm1_(z: Complex) -> Complex:
    """expm1(x) cos y - 2 sin(y/2)**2, which for a large x is the exponential itself."""
    whole = exp(z)
    half = sin(z.im * 0.5)
    near = fma(expm1(z.re), cos(z.im), -(half * half * 2.0)) + 0.0  # which has no -0
    near = either(compare("eq", z.re, -infinity(format_of(z.re))), -1.0, near)
    return Complex(either(z.re > (50.0 if format_of(z.re) is F32 else 80.0), whole.re, near), whole.im)


def _hyperbolic(x: Expr) -> tuple[Expr, Expr, Expr]:
    """sinh x and cosh x, and a factor of both that is not 1 where they would overflow."""
    a = abs(x)
    size, factor, big = _grown(a)
    sine, cosine = rare(big, size * 0.5, real.sinh(a)), rare(big, size * 0.5, real.cosh(a))
    return flip_sign(sine, sign_bit(x)), cosine, factor


@complex_elementary("sinh")
def sinh(z: Complex) -> Complex:
    x, y = z.re, z.im
    sine, cosine, factor = _hyperbolic(x)
    c, s = _turn(x, y, nan(format_of(x)))
    return Complex(either(is_zero(x) & ~is_number(c), x, sine * c * factor), either(is_zero(y), y, cosine * s * factor))


@complex_elementary("cosh")
def cosh(z: Complex) -> Complex:
    x, y = z.re, z.im
    sine, cosine, factor = _hyperbolic(x)
    c, s = _turn(x, y, nan(format_of(x)))
    return Complex(cosine * c * factor, either(is_zero(x) | is_zero(y), signed_zero(x, y), sine * s * factor))


@complex_elementary("tanh")
def tanh(z: Complex) -> Complex:
    """With t = tan y, b = 1 + t**2 and s = sinh x: (b s sqrt(1 + s**2) + i t) / (1 + b s**2) (Kahan 1987); far from the
    imaginary axis 1 + 4 i sin y cos y e**-2x, with sin y cos y = t / b, and at an infinite x 1 + 0 i with the sign of y, as the
    array API has it and C not."""
    f = format_of(z.re)
    one = f.constant(1.0)
    a, far = abs(z.re), (12.0 if f is F32 else 22.0)
    t = tan(z.im)
    b = fma(t, t, one)
    s = real.sinh(real.minimum(a, far))
    bs = b * s
    bottom = fma(bs, s, one)
    beyond = either(is_infinite(a), signed_zero(z.im), t / b * (4.0 * real.exp(a * -2.0)))
    distant = a > far
    re = either(distant & (is_number(t) | is_infinite(a)), 1.0, bs * sqrt(fma(s, s, one)) / bottom)
    im = either(is_zero(z.im), z.im, rare(distant, beyond, t / bottom))
    return Complex(either(is_zero(a), z.re, with_sign_of(re, z.re)), im)


@complex_elementary("sigmoid")
def sigmoid(z: Complex) -> Complex:
    """With w = e**-|x| e**iy and d = |1 + w|**2: (1 + w) / d to the right and (w + |w|**2) / d to the left. The real part of
    1 + w is (1 - e**-|x|) + 2 e**-|x| cos(y/2)**2, without cancellation."""
    x, y = z.re, z.im
    a = abs(x)
    u = real.exp(-a)
    c, s = cos(y * 0.5), sin(y * 0.5)
    upper = fma(u, c * c * 2.0, -expm1(-a))
    side = u * (c * s * 2.0)
    d = fma(upper, upper, side * side)
    return Complex(either(x < 0.0, u * (cos(y) + u), upper) / d, either(is_zero(y), y * u, side) / d)
