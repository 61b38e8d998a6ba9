"""binomial(n, k) and pochhammer(x, m): ratios of gamma functions of real arguments.

Where k (or m) is an integer up to `STEPS` they are products; elsewhere the exponential of a sum of logarithms that are pairs,
which are good to 33 bits (f32) or 65: the error is some 2**-33 or 2**-65 of the largest of the logarithms.
"""

from __future__ import annotations

from typing import NamedTuple

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.pieces import Pair, either, flip_sign, format_of, infinity, nan, two_sum
from baracuda.formula.elementary.special_gamma import log_gamma, log_of_pair
from baracuda.formula.elementary.special_pairs import product, times_exp, total
from baracuda.formula.elementary.special_sinc import sine_of_turns
from baracuda.formula.elementary.tables import gamma as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, compare, const, fma, unary
from baracuda.formula.functions import log, maximum, minimum
from baracuda.formula.special_functions import digamma

#: The longest product.
STEPS = 20


def _sum(x: Expr, y: Expr, y_low: Expr | None = None) -> Pair:
    high, low = two_sum(x, y)
    return high, low if y_low is None else low + y_low


def _log_gamma(a: Pair) -> Pair:
    """lgamma(a) for a > 0, what the sum a has lost to rounding counting by the slope, which is near enough ln a - 1/(2a)."""
    high, low = log_gamma(_bounded(a[0]))
    slope = log(a[0]) - 0.5 / a[0]
    return high, low + either(a[0] < c.LGAMMA_LARGEST[a[0].kind], a[1] * slope, 0.0)


def _bounded(a: Expr) -> Expr:
    """a, brought into the domain of `log_gamma`."""
    least = 2.0**-60
    return minimum(maximum(a, least), const(c.LGAMMA_LARGEST[a.kind], a.kind))


def _exp(h: Pair) -> Expr:
    """e**h for a pair of any size: 0 or infinite from 1.3 times the bias on."""
    f = format_of(h[0])
    bounded = minimum(maximum(h[0], -1.3 * f.bias), 1.3 * f.bias)
    low = either(compare("eq", bounded, h[0]), h[1], 0.0)
    return times_exp((f.constant(1.0), f.constant(0.0)), bounded, low).rounded()


def _is_integer(x: Expr) -> Expr:
    return compare("eq", unary("rint", x), x)


def _over(x: Expr, n: float) -> Expr:
    """x / n without the division (Markstein): exact where the quotient is."""
    inverse = format_of(x).constant(1.0 / n)
    q = x * inverse
    return either(abs(q) < infinity(format_of(x)), fma(fma(q, -n, x), inverse, q), q)


@elementary("binomial", ElementKind.F32, ElementKind.F64)
def binomial(n: Expr, k: Expr) -> Expr:
    """gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1)) for 0 <= k <= n; 0 elsewhere."""
    f = format_of(n)
    one = f.constant(1.0)
    other = n - k
    swap = _is_integer(n) & (other < k)
    steps, rest = either(swap, other, k), either(swap, k, other)
    value = one
    for i in range(1, STEPS + 1):
        value = either(steps >= float(i), _over(value * (rest + float(i)), float(i)), value)
    few_steps = _is_integer(steps) & (steps <= float(STEPS))
    below = total(_log_gamma(_sum(k, one)), _log_gamma(_sum(one, *two_sum(n, -k))))
    above = _log_gamma(_sum(n, one))
    inside = either(few_steps, value, _exp(total(above, (-below[0], -below[1]))))
    by_ratio = either((k >= 0.0) & (k <= n), inside, 0.0)
    unordered = compare("ne", n, n) | compare("ne", k, k) | (compare("eq", n, infinity(f)) & (k >= 0.0))
    return either(unordered, nan(f), by_ratio)


class _Factor(NamedTuple):
    """gamma(a): the logarithm of its size, the bit of its sign, and whether it is a pole.

    At a pole the logarithm is that of the residue, so that the ratio of two poles is the limit but for the sign.
    """

    log: Pair
    sign: Expr
    pole: Expr


def _factor(a: Pair) -> _Factor:
    """gamma(a) for a of either sign."""
    f = format_of(a[0])
    zero = f.constant(0.0)
    above = a[0] > 0.0
    size = _bounded(abs(a[0]))
    high, low = log_gamma(size)
    r = abs(a[0]) - unary("rint", abs(a[0]))
    pole = ~above & compare("eq", r, 0.0)
    sine = sine_of_turns(abs(r))
    # gamma(-a) = -pi / (a sin(pi a) gamma(a)); sine is by pi already
    by = either(pole, f.constant(1.0), sine[0]), either(pole, zero, sine[1])
    mirror = log_of_pair(*product((size, zero), by))
    below = total(mirror, (high, low))
    correction = either(pole | compare("eq", a[1], 0.0), zero, a[1] * digamma(a[0]))
    half = unary("floor", a[0]) * 0.5
    even = compare("eq", unary("trunc", half), half)
    sign = either(above | even, const(0, f.unsigned), const(f.sign, f.unsigned))
    return _Factor((either(above, high, -below[0]), either(above, low, -below[1]) + correction), sign, pole)


@elementary("pochhammer", ElementKind.F32, ElementKind.F64)
def pochhammer(x: Expr, m: Expr) -> Expr:
    """gamma(x + m) / gamma(x), with the limit where both are poles."""
    f = format_of(x)
    zero = f.constant(0.0)
    size = abs(m)
    # The factors of (x)_m, or of 1 / (x)_m for negative m: x, x + 1, ... or x - 1, x - 2, ...
    value = f.constant(1.0)
    step = either(m > 0.0, f.constant(1.0), -1.0)
    start = either(m > 0.0, x, x - 1.0)
    for i in range(STEPS):
        value = either(size > float(i), value * (start + step * float(i)), value)
    few_steps = _is_integer(m) & (size <= float(STEPS))
    inverse = either(compare("eq", value, 0.0), infinity(f), 1.0 / value)
    by_product = either(m >= 0.0, value, inverse)
    top, bottom = _factor(two_sum(x, m)), _factor((x, zero))
    size_of_ratio = _exp(total(top.log, (-bottom.log[0], -bottom.log[1])))
    ratio = flip_sign(size_of_ratio, top.sign ^ bottom.sign)
    half = m * 0.5
    odd = compare("ne", unary("rint", half), half)
    limit = either(odd, -size_of_ratio, size_of_ratio)
    by_poles = either(bottom.pole, either(top.pole, limit, 0.0), either(top.pole, infinity(f), ratio))
    finite = compare("lt", abs(x), infinity(f)) & compare("lt", size, infinity(f))
    ordinary = either(few_steps, by_product, either(finite, by_poles, nan(f)))
    return either(compare("ne", x, x) | compare("ne", m, m), x + m, ordinary)


@elementary("zeta_reflection", ElementKind.F32, ElementKind.F64)
def zeta_reflection(s: Expr) -> Expr:
    """gamma(s) / (2 pi)**s for s >= 1."""
    f = format_of(s)
    constant = f.constant(-c.LN_2PI_HIGH[f.kind]), f.constant(-c.LN_2PI_LOW[f.kind])
    return _exp(total(log_gamma(_bounded(s)), product((s, f.constant(0.0)), constant)))
