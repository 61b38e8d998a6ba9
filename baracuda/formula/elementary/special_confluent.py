"""Kummer's function M(a, b, x), the sum of (a)_n x**n / ((b)_n n!).

For negative x it is e**x M(b-a, b, -x), so that the terms have one sign wherever they can. For |x| up to `Terms.end` the sum,
from its last term, as a fraction; beyond it both of its asymptotic expansions, of which one decides unless a is near a negative
integer. All in f64.
"""

from __future__ import annotations

from typing import NamedTuple

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.incomplete_pieces import scaled_exp
from baracuda.formula.elementary.pieces import F64, either, infinity, nan
from baracuda.formula.elementary.special_gamma import log_of_pair
from baracuda.formula.elementary.special_pairs import product, total
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, cast, compare, fma, unary
from baracuda.formula.functions import maximum, minimum
from baracuda.formula.special_functions import lgamma


class Terms(NamedTuple):
    """To which |x| the sum serves, and for large a and b to half as much again; its terms, and those of the expansions beyond."""

    end: float
    series: int
    expansion: int


TERMS = {ElementKind.F32: Terms(60.0, 128, 20), ElementKind.F64: Terms(80.0, 168, 32)}


def _series(a: Expr, b: Expr, x: Expr, count: int) -> Expr:
    """The sum for x >= 0."""
    scale = 1.0 / (abs(b) + count / 3.0)  # keeps numerator and denominator in range
    first, step = b * scale, x * scale
    p = q = F64.constant(1.0)
    for n in range(count - 1, -1, -1):
        factor = fma(scale, float(n), first) * q
        p, q = fma((a + float(n)) * (step * (1.0 / (n + 1))), p, factor), factor
    return p / q


def _expansion(p: Expr, q: Expr, v: Expr, count: int) -> Expr:
    """The sum of (p)_n (q)_n v**n / n!."""
    value = one = F64.constant(1.0)
    for n in range(count - 1, -1, -1):
        value = fma((p + float(n)) * (q + float(n)) * (v * (1.0 / (n + 1))), value, one)
    return value


def _is_odd(x: Expr) -> Expr:
    half = unary("floor", x) * 0.5
    return compare("ne", unary("floor", half), half)


def _is_pole(x: Expr) -> Expr:
    """Of the gamma function."""
    return (x <= 0.0) & compare("eq", unary("floor", x), x)


def _ratio(b: Expr, a: Expr) -> tuple[Expr, Expr]:
    """gamma(b) / gamma(a) for b that is no pole: 1, 0 or -1, and the logarithm of its size, 0 where that is 0."""
    zero, one = F64.constant(0.0), F64.constant(1.0)
    odd = ((b < 0.0) & _is_odd(b)) ^ ((a < 0.0) & _is_odd(a))
    pole = _is_pole(a)
    return either(pole, zero, either(odd, -one, one)), either(pole, zero, lgamma(b) - lgamma(a))


def _beyond(a: Expr, b: Expr, x: Expr, shift: Expr, count: int) -> Expr:
    """e**shift M(a, b, x) for large x: gamma(b) (e**x x**(a-b) / gamma(a) + cos(pi a) x**-a / gamma(b-a)), each by a series."""
    zero = F64.constant(0.0)
    log_x = log_of_pair(x, zero)
    rest, v = b - a, 1.0 / x
    sign, size = _ratio(b, a)
    exponent = total(product((-rest, zero), log_x), total((x, zero), (shift, zero)))
    main = scaled_exp(sign * _expansion(rest, 1.0 - a, v, count), total(exponent, (size, zero)))
    sign, size = _ratio(b, rest)
    exponent = total(product((-a, zero), log_x), (shift, zero))
    other = scaled_exp(sign * _expansion(a, 1.0 - rest, -v, count), total(exponent, (size, zero)))
    turned = _cosine_of_turns(a)
    return fma(other, turned, main)


def _cosine_of_turns(a: Expr) -> Expr:
    """cos(pi a), exact at the integers; of what counts only there and nearby, to some digits for the rest."""
    whole = unary("rint", a)
    r = a - whole
    square = r * r * 9.869604401089358
    value = F64.constant(1.0)
    for n in range(9, 0, -1):
        value = fma(square * (-1.0 / (2 * n * (2 * n - 1))), value, F64.constant(1.0))
    return either(_is_odd(whole), -value, value)


def _hyp1f1(a: Expr, b: Expr, x: Expr, kind: ElementKind) -> Expr:
    terms, zero, one = TERMS[kind], F64.constant(0.0), F64.constant(1.0)
    # A polynomial that ends before the pole of its coefficients; b is moved by a few roundings, which the last term sets right.
    pole = _is_pole(b)
    ends = pole & _is_pole(a) & (a >= b)
    below = (x < 0.0) & ~ends
    size, first = abs(x), either(below, b - a, a)
    shift = either(below, x, zero)
    bounded = minimum(size, 1.5 * terms.end)
    bounded = either(ends & (x < 0.0), -bounded, bounded)
    near = _series(first, either(ends, fma(b, 2.0**-50, b) - 2.0**-60, b), bounded, terms.series)
    near = scaled_exp(near, (shift, zero))
    far = _beyond(first, b, minimum(maximum(size, terms.end), 2.0**1000), maximum(shift, -(2.0**1000)), terms.expansion)
    # Where the expansion's terms grow at first; they have one sign, to begin with, where a is larger than 1 and than b.
    growth = abs((b - first) * (first - 1.0))
    slow = (size <= 1.5 * terms.end) & (growth > either(first > maximum(b, 1.0), size * 4.0, size))
    value = either((size <= terms.end) | slow, near, far)
    value = either(compare("eq", x, 0.0) | compare("eq", a, 0.0), one, value)
    value = either(pole, either(ends & (size <= 1.5 * terms.end), near, infinity(F64)), value)
    unordered = compare("ne", a, a) | compare("ne", b, b) | compare("ne", x, x)
    return either(unordered, nan(F64), value)


@elementary("hyp1f1", ElementKind.F32, ElementKind.F64)
def hyp1f1(a: Expr, b: Expr, x: Expr) -> Expr:
    return cast(_hyp1f1(cast(a, F64.kind), cast(b, F64.kind), cast(x, F64.kind), a.kind), a.kind)
