"""asinh, acosh and atanh, as log1p of a pair.

asinh x = log1p(x + (sqrt(x**2 + 1) - 1)), acosh x = log1p(t + sqrt(t (t + 2))) with t = x - 1, and
atanh x = log1p(2 x / (1 - x)) / 2, each for x >= 0. The root and the quotient are pairs, so that nothing is lost where the result
is small, and no small range needs a polynomial of its own.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.logarithm import Split, exponent, log_of_split, split
from baracuda.formula.elementary.pieces import (
    Pair,
    between,
    either,
    fast_two_sum,
    flip_sign,
    format_of,
    infinity,
    nan,
    not_below,
    power_of_two,
    reciprocal,
    sign_bit,
)
from baracuda.formula.elementary.root import sqrt_to_pair
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, cast, compare, fma, rare

#: From here on the root is x itself.
_FAR = 2.0**60


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


@elementary("asinh", ElementKind.F32, ElementKind.F64)
def asinh(x: Expr) -> Expr:
    f = format_of(x)
    a, one = abs(x), f.constant(1.0)
    square = fma(a, a, one)
    root, root_low = sqrt_to_pair(square, fma(a, a, one - square))
    high, low = fast_two_sum(a, root - 1.0)
    near = _log1p_pair((high, low + root_low))
    return flip_sign(rare(not_below(x, _FAR), either(a < infinity(f), _log_twice(a), a), near), sign_bit(x))


@elementary("acosh", ElementKind.F32, ElementKind.F64)
def acosh(x: Expr) -> Expr:
    f = format_of(x)
    t = x - 1.0
    twice = t + t
    square = fma(t, t, twice)
    root, root_low = sqrt_to_pair(square, fma(t, t, twice - square))
    high, low = fast_two_sum(root, t)
    near = _log1p_pair((high, low + root_low))
    far = either(x < infinity(f), either(x < 1.0, nan(f), _log_twice(x)), x)
    return rare(~between(x, 1.0, _FAR), far, near)


@elementary("atanh", ElementKind.F32, ElementKind.F64)
def atanh(x: Expr) -> Expr:
    f = format_of(x)
    a = abs(x)
    twice = a + a
    d, d_low = fast_two_sum(f.constant(1.0), -a)
    inverse = reciprocal(d)
    q = twice * inverse
    near = _log1p_pair((q, fma(-q, d_low, fma(-q, d, twice)) * inverse)) * 0.5
    edge = either(compare("eq", a, 1.0), infinity(f), nan(f))
    return flip_sign(rare(not_below(x, 1.0), edge, near), sign_bit(x))
