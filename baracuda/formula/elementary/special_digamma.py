"""digamma and trigamma, the first two derivatives of lgamma.

For x >= 2 the asymptotic series as a polynomial in 1/x**2; on [1, 2] a polynomial, for digamma by the distance from its zero;
on (0, 1) one step of the recurrence. Below zero digamma(-a) = digamma(a) + 1/a + pi cot(pi a) and trigamma(-a) =
-trigamma(a) + 1/a**2 + (pi / sin(pi a))**2, with the distance r from the nearest integer in place of a in the last terms, which
are 1/r and 1/r**2 but for a polynomial.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.pieces import (
    Pair,
    either,
    fast_two_sum,
    format_of,
    horner,
    horner_to_pair,
    infinity,
    nan,
)
from baracuda.formula.elementary.special_pairs import log_to_pair, product, reciprocal, split_any, total
from baracuda.formula.elementary.tables import gamma as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, compare, fma, rare, unary

#: Below this |x|, digamma(x) is -1/x to the last digit.
_TINY = 2.0**-60


def _digamma(a: Expr) -> Pair:
    """digamma(a) for a > 0."""
    f = format_of(a)
    zero = f.constant(0.0)
    v, v_low = reciprocal(a)
    small = a < 1.0
    y = either(small, a, a - 1.0)
    d = y - c.DIGAMMA_ZERO_HIGH[f.kind]
    d, d_low = fast_two_sum(d, ((y - d) - c.DIGAMMA_ZERO_HIGH[f.kind]) - c.DIGAMMA_ZERO_LOW[f.kind])
    p = horner(y - 0.5, c.DIGAMMA[f.kind])
    middle = fast_two_sum(d, fma(d, p, fma(d_low, p, d_low)))
    near = total(middle, (either(small, -v, zero), either(small, -v_low, zero)))
    log = log_to_pair(split_any(a))
    large = total(log, (v * -0.5, fma(v * v, -horner(v * v, c.DIGAMMA_LARGE[f.kind]), v_low * -0.5)))
    below = a < 2.0
    return either(below, near[0], large[0]), either(below, near[1], large[1])


@elementary("digamma", ElementKind.F32, ElementKind.F64)
def digamma(x: Expr) -> Expr:
    """Infinite, with the sign of -x, at zero; NaN at the negative integers and at -inf."""
    f = format_of(x)
    a = abs(x)
    value, low = _digamma(a)
    whole = unary("rint", a)
    r = a - whole
    cotangent = total(reciprocal(r), fast_two_sum(f.constant(0.0), r * -horner(r * r, c.COTPI[f.kind])))
    high, rest = total(total(reciprocal(a), cotangent), (value, low))
    below = either(compare("eq", a, whole), nan(f), high + rest)
    outside = either(a < _TINY, -1.0 / x, either(x > 0.0, x, below))
    return rare(~((x >= _TINY) & (x < infinity(f))), outside, value + low)


def _trigamma(a: Expr) -> Pair:
    """trigamma(a) for a > 0."""
    f = format_of(a)
    zero = f.constant(0.0)
    v = reciprocal(a)
    square = product(v, v)
    small = a < 1.0
    middle = horner_to_pair(either(small, a, a - 1.0) - 0.5, c.TRIGAMMA[f.kind], 2)
    near = total((either(small, square[0], zero), either(small, square[1], zero)), middle)
    tail = v[0] * square[0] * horner(square[0], c.TRIGAMMA_LARGE[f.kind])
    large = total(v, (square[0] * 0.5, fma(square[1], 0.5, tail)))
    below = a < 2.0
    return either(below, near[0], large[0]), either(below, near[1], large[1])


@elementary("trigamma", ElementKind.F32, ElementKind.F64)
def trigamma(x: Expr) -> Expr:
    """Infinite at zero and the negative integers; NaN at -inf."""
    f = format_of(x)
    a = abs(x)
    value, low = _trigamma(a)
    r = a - unary("rint", a)
    inverse, inverse_r = reciprocal(a), reciprocal(r)
    middle = total(
        total(product(inverse, inverse), (-value, -low)), fast_two_sum(f.constant(0.0), horner(r * r, c.CSCPI[f.kind]))
    )
    high, rest = total(product(inverse_r, inverse_r), middle)
    below = either(compare("eq", r, 0.0), infinity(f), high + rest)
    least = 2.0 ** -((f.bias + 1) // 2)  # 1/x**2 overflows up to here
    outside = either(a <= least, infinity(f), either(x > 0.0, 1.0 / x, below))
    return rare(~((x > least) & (x < infinity(f))), outside, value + low)
