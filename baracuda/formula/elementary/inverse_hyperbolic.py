"""asinh, acosh and atanh.

In f64 as log1p of a pair: asinh x = log1p(x + (sqrt(x**2 + 1) - 1)), acosh x = log1p(t + sqrt(t (t + 2))) with t = x - 1, and
atanh x = log1p(2 x / (1 - x)) / 2, each for x >= 0. The root and the quotient are pairs, so that nothing is lost where the result
is small, and no small range needs a polynomial of its own.

In f32, where a GPU counts operations, asinh and acosh are the logarithm of a sum that is at least 1, the rest of which is as good
as its own size; so near 1 its rest is the result, and nothing is lost there either. atanh is the atanh of a smaller argument.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.logarithm import Split, exponent, log_of_split, split
from baracuda.formula.elementary.pieces import (
    F32,
    Pair,
    approximate_reciprocal,
    between,
    either,
    fast_two_sum,
    flip_sign,
    format_of,
    horner,
    infinity,
    nan,
    not_below,
    power_of_two,
    reciprocal,
    sign_bit,
)
from baracuda.formula.elementary.root import sqrt_to_pair, sqrt_with_slope
from baracuda.formula.elementary.tables import elementary as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, binary, bitcast, cast, compare, const, fma, rare

#: From here on the root is x itself.
_FAR = 2.0**60
#: From this (1 + x) / (1 - x) on, where atanh passes 1/4 and its ULP doubles, its argument is reduced in f32.
_REDUCED = 1.75
#: From here on 1 + 2**k is no float in atanh, f32.
_NEXT_TO_ONE = 1.0 - 2.0**-23


def _log1p_pair(w: Pair) -> Expr:
    """log(1 + w) for w >= 0, as in log1p, but for a low part that can be some ULP: it counts by 1 - m + m**2."""
    f = format_of(w[0])
    k = exponent(1.0 + w[0])
    power = power_of_two(-k)
    offset = power - 1.0
    m = fma(w[0], power, offset)
    m_low = fma(w[1], power, fma(w[0], power, offset - m))
    return log_of_split(Split(cast(k, f.kind), m), fma(-m, fma(-m, m_low, m_low), m_low))


def _log_twice(x: Expr) -> Expr:
    """log(2 x) for a large finite x."""
    s = split(x)
    return log_of_split(Split(s.k + 1.0, s.f))


def _asinh_with_edges(x: Expr, near: Expr) -> Expr:
    """asinh of every x from that of |x| below _FAR."""
    f, a = format_of(x), abs(x)
    return flip_sign(rare(not_below(x, _FAR), either(a < infinity(f), _log_twice(a), a), near), sign_bit(x))


def _acosh_with_edges(x: Expr, near: Expr) -> Expr:
    """acosh of every x from that of x from 1 to _FAR."""
    f = format_of(x)
    far = either(x < infinity(f), either(x < 1.0, nan(f), _log_twice(x)), x)
    return rare(~between(x, 1.0, _FAR), far, near)


def _octaves(difference: Expr) -> Expr:
    """k, the integer part of a difference of bits over a binade of them, times that binade: what adds k to an exponent."""
    return difference & -(1 << F32.mantissa)


def _times_ln2(k: Expr, scale: float, f: Expr) -> Pair:
    """scale k ln 2 + f as a pair, for k from `_octaves`; the f32 ln 2 happens to be good to 28 bits."""
    ln2 = c.LN2_HIGH[f.kind] * 2.0**-F32.mantissa * scale
    k = cast(k, f.kind)
    high = fma(k, ln2, f)
    return high, fma(k, ln2, -high) + f


def _log_of_sum(large: Expr, small: Expr, rest: Expr, slope: Expr) -> Expr:
    """log(large + small + rest * slope), f32, for a sum w >= 1 whose last part is about an ULP at most.

    w = 2**k (1 + f + low), where f is exact. The low part counts by 1 / (1 + f), of which 1 - f + f**2 are taken.
    """
    w = large + small
    k = _octaves(bitcast(w, F32.signed) - int(F32.constant(c.LOG_OF_SUM_FIRST).attr))
    power = bitcast(const(F32.bias << F32.mantissa, F32.signed) - k, F32.kind)
    f = fma(w, power, F32.constant(-1.0))
    low = fma(slope, rest, small - (w - large)) * power
    high, high_low = _times_ln2(k, 1.0, f)
    tail = fma(f, horner(f, c.LOG_OF_SUM[F32.kind]), -fma(-f, low, low))
    return high + fma(f, tail, low + high_low)


@elementary("asinh", ElementKind.F32)
def asinh_f32(x: Expr) -> Expr:
    """log(sqrt(x**2 + 1) + |x|). Its last bits can exceed those of a small |x|, which no asinh does."""
    a, one = abs(x), F32.constant(1.0)
    root, slope = sqrt_with_slope(fma(a, a, one))
    near = _log_of_sum(root, a, fma(a, a, fma(-root, root, one)), slope)
    return _asinh_with_edges(x, binary("min", near, a))


@elementary("asinh", ElementKind.F64)
def asinh_f64(x: Expr) -> Expr:
    f = format_of(x)
    a, one = abs(x), f.constant(1.0)
    square = fma(a, a, one)
    root, root_low = sqrt_to_pair(square, fma(a, a, one - square))
    high, low = fast_two_sum(a, root - 1.0)
    near = _log1p_pair((high, low + root_low))
    return _asinh_with_edges(x, near)


@elementary("acosh", ElementKind.F32)
def acosh_f32(x: Expr) -> Expr:
    """log(x + sqrt(x**2 - 1)). What is left under the root is that of t x + t, t = x - 1, which hardly rounds where it counts."""
    t = x - 1.0
    root, slope = sqrt_with_slope(fma(x, x, F32.constant(-1.0)))
    return _acosh_with_edges(x, _log_of_sum(x, root, fma(t, x, fma(-root, root, t)), slope))


@elementary("acosh", ElementKind.F64)
def acosh_f64(x: Expr) -> Expr:
    t = x - 1.0
    twice = t + t
    square = fma(t, t, twice)
    root, root_low = sqrt_to_pair(square, fma(t, t, twice - square))
    high, low = fast_two_sum(root, t)
    near = _log1p_pair((high, low + root_low))
    return _acosh_with_edges(x, near)


@elementary("atanh", ElementKind.F32)
def atanh_f32(x: Expr) -> Expr:
    """atanh |x| = k ln(2) / 2 + atanh(s), where (1 + |x|) / (1 - |x|) = 2**k (1 + s) / (1 - s).

    Then s = (|x| (1 + 2**k) + (1 - 2**k)) / (|x| (1 - 2**k) + (1 + 2**k)). For k = 0 it is |x| itself, however small. The
    quotient is one of 12 bits and its rest, whose error can take the last bit of a small |x|, which no atanh does.
    """
    a, one = abs(x), F32.constant(1.0)
    up, down = one + a, one - a
    unit = F32.bias << F32.mantissa
    above = (1 << F32.mantissa) + unit - int(F32.constant(_REDUCED).attr)
    k = _octaves(bitcast(up, F32.signed) - bitcast(down, F32.signed) + above)
    power = bitcast(k + unit, F32.kind)
    plus, minus = power + 1.0, 1.0 - power
    n, d = fma(a, plus, minus), fma(a, minus, plus)
    inverse = approximate_reciprocal(d)
    q = n * inverse
    rest = fma(-q, d, n)
    s = fma(rest, inverse, q)
    square = s * s
    high, low = _times_ln2(k, 0.5, q)
    near = high + fma(s * square, horner(square, c.ATANH[x.kind]), fma(rest, inverse, low))
    last = log_of_split(split(down * 0.5)) * -0.5  # (1 + a) / 2 is 1
    edge = either(compare("eq", a, 1.0), infinity(F32), either(a < 1.0, last, nan(F32)))
    return flip_sign(rare(not_below(x, _NEXT_TO_ONE), edge, binary("max", near, a)), sign_bit(x))


@elementary("atanh", ElementKind.F64)
def atanh_f64(x: Expr) -> Expr:
    f = format_of(x)
    a = abs(x)
    twice = a + a
    d, d_low = fast_two_sum(f.constant(1.0), -a)
    inverse = reciprocal(d)
    q = twice * inverse
    near = _log1p_pair((q, fma(-q, d_low, fma(-q, d, twice)) * inverse)) * 0.5
    edge = either(compare("eq", a, 1.0), infinity(f), nan(f))
    return flip_sign(rare(not_below(x, 1.0), edge, near), sign_bit(x))
