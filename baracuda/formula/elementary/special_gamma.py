"""lgamma and gamma.

For x >= 5/2 Stirling's formula, (x - 1/2)(ln x - 1) + c + S(1/x**2) / x; below, lgamma(2 + y) for |y| <= 1/2 less the logarithm
of what leads there (x, or x (x + 1)). Below zero the reflection G(x) G(-x) = -pi / (x sin(pi x)). Everything is a pair, with
the logarithm of pow, so that lgamma keeps its digits where terms cancel and gamma, its exponential, has any.

In f32 lgamma of ordinary positive arguments is plainer: below 5/2 a polynomial by (x - 1) (x - 2), and in Stirling's formula
only the logarithm is a sum of two.
"""

from __future__ import annotations

from typing import NamedTuple

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.logarithm import split
from baracuda.formula.elementary.pieces import (
    Pair,
    between,
    either,
    fast_two_sum,
    format_of,
    horner,
    horner_to_pair,
    infinity,
    nan,
    reciprocal,
)
from baracuda.formula.elementary.power import log2_to_pair
from baracuda.formula.elementary.special_pairs import product, split_any, times_exp, total
from baracuda.formula.elementary.special_sinc import sine_of_turns
from baracuda.formula.elementary.tables import elementary as elementary_c
from baracuda.formula.elementary.tables import gamma as c
from baracuda.formula.elementary.tables import single
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, compare, const, fma, rare, unary
from baracuda.formula.functions import log


def log_of_pair(x: Expr, x_low: Expr) -> Pair:
    """ln(x + x_low) for x positive and finite, to 33 bits (f32) or 65."""
    k = x.kind
    high, low = log2_to_pair(split_any(x))
    ln2 = const(elementary_c.LN2_HIGH[k], k), const(elementary_c.LN2_LOW[k], k)
    high, low = product((high, low), ln2)
    return high, low + x_low / x


def _near(a: Expr) -> Pair:
    """lgamma(2 + y) for the y that is a, a - 1 or a - 2, a to 5/2."""
    k = a.kind
    y = a - either(a < 0.5, format_of(a).constant(0.0), either(a < 1.5, format_of(a).constant(1.0), 2.0))
    slope, slope_low = horner_to_pair(y, (c.LGAMMA_SLOPE_HIGH[k], *c.LGAMMA[k]), 2)
    return product((y, format_of(a).constant(0.0)), (slope, slope_low + c.LGAMMA_SLOPE_LOW[k]))


def _large(a: Expr, log_a: Pair) -> Pair:
    """Stirling's formula for a from 5/2."""
    f = format_of(a)
    b = a - 0.5
    steep = total(log_a, (f.constant(-1.0), f.constant(0.0)))
    leading = product((b, (a - b) - 0.5), steep)
    v = 1.0 / a
    constant = f.constant(c.STIRLING_CONSTANT_HIGH[f.kind])
    tail = fma(v, horner(v * v, c.STIRLING[f.kind]), f.constant(c.STIRLING_CONSTANT_LOW[f.kind]))
    return total(leading, fast_two_sum(constant, tail))


def log_gamma(a: Expr) -> Pair:
    """lgamma(a) for 0 < a <= LGAMMA_LARGEST."""
    f = format_of(a)
    zero = f.constant(0.0)
    small, middle, near = a < 0.5, a < 1.5, a < 2.5
    shifted = fma(a, a, a)
    of_log = either(small, shifted, either(middle, a, either(near, f.constant(1.0), a)))
    log_a, log_low = log_of_pair(of_log, either(small, fma(a, a, a - shifted), zero))
    below, above = total(_near(a), (-log_a, -log_low)), _large(a, (log_a, log_low))
    return either(near, below[0], above[0]), either(near, below[1], above[1])


class _Reflection(NamedTuple):
    """What a negative argument -a needs: whether it is an integer, and ln(a |sin(pi a)| / pi)."""

    pole: Expr
    log: Pair


def _reflection(a: Expr) -> _Reflection:
    whole = unary("rint", a)
    sine = sine_of_turns(abs(a - whole))
    return _Reflection(~compare("ne", a, whole), log_of_pair(*product((a, format_of(a).constant(0.0)), sine)))


#: Below this |x|, 1/x is gamma(x) to the last digit.
_TINY = 2.0**-60


def _ordinary_f32(x: Expr) -> Expr:
    """lgamma(x) for x positive, neither tiny nor huge."""
    f = format_of(x)
    k, m = split(x)
    log = fma(k, elementary_c.LN2_HIGH[f.kind], m)
    log_low = fma(m * m, horner(m, elementary_c.LOG[f.kind]), fma(k, elementary_c.LN2_HIGH[f.kind], -log) + m)
    small = x < single.LGAMMA_SMALL
    u = either(small, x, x - 1.0)
    near = fma(u, u, -u) * horner(u - (single.LGAMMA_CENTRE - 1.0), single.LGAMMA[f.kind])
    near = either(small, (near - log_low) - log, near)
    v, b = reciprocal(x), x - 0.5
    tail = fma(v, horner(v * v, c.STIRLING[f.kind]), f.constant(c.STIRLING_CONSTANT_LOW[f.kind]))
    tail = c.STIRLING_CONSTANT_HIGH[f.kind] + tail
    return either(x < single.LGAMMA_LARGE, near, fma(b, log - 1.0, fma(b, log_low, tail)))


def _general(x: Expr, g: Pair) -> Expr:
    """lgamma(x) for x below _TINY or beyond LGAMMA_LARGEST, g being that of |x|: +inf at zero and the negative integers, and
    at -inf."""
    f = format_of(x)
    a = abs(x)
    mirror = _reflection(a)
    high, low = total(mirror.log, g)
    below = either(mirror.pole, infinity(f), -(high + low))
    finite = either(a < _TINY, -log(a), below)
    return either(a > c.LGAMMA_LARGEST[f.kind], infinity(f), finite)


def _inside(x: Expr) -> Expr:
    return (x >= _TINY) & (x <= c.LGAMMA_LARGEST[x.kind])


@elementary("lgamma", ElementKind.F32)
def lgamma_f32(x: Expr) -> Expr:
    g = log_gamma(abs(x))
    slow = either(_inside(x), g[0] + g[1], _general(x, g))
    return rare(~between(x, _TINY, single.LGAMMA_END), slow, _ordinary_f32(x))


@elementary("lgamma", ElementKind.F64)
def lgamma_f64(x: Expr) -> Expr:
    g = log_gamma(abs(x))
    return rare(~_inside(x), _general(x, g), g[0] + g[1])


@elementary("gamma", ElementKind.F32, ElementKind.F64)
def gamma(x: Expr) -> Expr:
    """Infinite, with the sign of x, at zero; NaN at the negative integers and at -inf."""
    f = format_of(x)
    a = abs(x)
    bounded = either(a > c.GAMMA_BOUND[f.kind], c.GAMMA_BOUND[f.kind], a)
    one = f.constant(1.0), f.constant(0.0)
    g = log_gamma(bounded)
    mirror = _reflection(a)
    high, low = total(mirror.log, g)
    size = times_exp(one, -high, -low).rounded()
    half = unary("floor", a) * 0.5
    even = compare("eq", unary("trunc", half), half)
    below = either(mirror.pole, nan(f), either(even, -size, size))
    outside = either(a < _TINY, 1.0 / x, below)
    return rare(~(x >= _TINY), outside, times_exp(one, *g).rounded())
