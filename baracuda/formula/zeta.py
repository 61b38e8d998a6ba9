"""The zeta functions and polygamma, by the Euler-Maclaurin formula with a fixed number of terms.

zeta(x, q) = sum over k < N of (q + k)**-x, plus a**(1-x) / (x - 1) + a**-x (1/2 + sum over j <= M of c_j (x)_(2j-1) / a**(2j-1)),
with c_j = B_2j / (2j)! and a = q + N. With N = 4, M = 4 (f32) and N = 8, M = 10 (f64) what is left out is below 2**-28 and 2**-59
of the value for every x > 1 and q > 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula.expr import Expr, compare, const, fma, select
from baracuda.formula.functions import floor, pow_, rint, sin
from baracuda.formula.special_functions import digamma, power_of_positive, trigamma, zeta_reflection

#: Terms of the sum, and of the correction.
_TERMS = {ElementKind.F32: (4, 4), ElementKind.F64: (8, 10)}
#: The highest order of polygamma, whose constants are all in the range of f32.
MOST = 20


def bernoulli_numbers(count: int) -> list[Fraction]:
    """B_0, B_1 = -1/2, ... B_(count-1), exactly."""
    numbers: list[Fraction] = []
    for n in range(count):
        total = sum((math.comb(n + 1, k) * b for k, b in enumerate(numbers)), Fraction(0))
        numbers.append(Fraction(1) if n == 0 else -total / (n + 1))
    return numbers


def _correction(kind: ElementKind) -> list[float]:
    """B_2j / (2j)!."""
    terms = _TERMS[kind][1]
    numbers = bernoulli_numbers(2 * terms + 1)
    return [float(numbers[2 * j] / math.factorial(2 * j)) for j in range(1, terms + 1)]


def _tail(x: Expr, a: Expr, above: Expr) -> Expr:
    """What follows the sum: a**(1-x) / (x - 1) + a**-x (1/2 + ...), with `above` = x - 1. It counts for nothing where x is a
    large multiple of a, and might overflow there."""
    series = x / a
    inverse = 1.0 / (a * a)
    total = const(0.5, x.kind)
    for j, c in enumerate(_correction(x.kind)):
        if j:
            series = series * ((x + (2.0 * j - 1.0)) * (x + 2.0 * j) * inverse)
        total = fma(series, c, total)
    power = power_of_positive(a, -above)
    return select((x > a * 64.0) | compare("eq", power, 0.0), 0.0, fma(power / a, total, power / above))


def hurwitz(x: Expr, q: Expr) -> Expr:
    """zeta(x, q), the sum over k >= 0 of (q + k)**-x for x > 1; inf at x = 1 and at the poles q = 0, -1, -2, ... and -inf, NaN
    for x < 1 and for other q < 0."""
    count = _TERMS[x.kind][0]
    total = pow_(q, -x)
    for k in range(1, count):
        total = total + power_of_positive(q + float(k), -x)
    ordinary = total + _tail(x, q + float(count), x - 1.0)
    inf = const(math.inf, x.kind)
    ordinary = select(compare("eq", x, inf) | compare("eq", q, inf), pow_(q, -x), ordinary)
    pole = compare("eq", x, 1.0) | ((q <= 0.0) & compare("eq", floor(q), q))
    at_pole = select(pole & compare("eq", q, q), inf, const(math.nan, x.kind))
    return select((x > 1.0) & (q > 0.0), ordinary, select(x >= 1.0, at_pole, const(math.nan, x.kind)))


def riemann(x: Expr) -> Expr:
    """zeta(x) = zeta(x, 1), and below 0 by 2 (2 pi)**(x-1) sin(pi x / 2) gamma(1 - x) zeta(1 - x); inf at 1."""
    below = x < -(2.0**-7)
    s, above = select(below, 1.0 - x, x), select(below, -x, x - 1.0)
    powers = {p: power_of_positive(const(float(p), s.kind), -s) for p in (2, 3, 5, 7)}
    for k in (4, 6, 8):
        powers[k] = powers[2] * powers[k // 2]
    count = _TERMS[x.kind][0]
    total = const(1.0, x.kind)
    for k in range(2, count + 1):
        total = total + powers[k]
    value = total + _tail(s, const(count + 1.0, x.kind), above)
    value = select(compare("eq", s, math.inf), 1.0, value)
    half = x * 0.5
    turns = rint(half)
    odd = compare("ne", floor(turns * 0.5), turns * 0.5)
    wave = sin((half - turns) * math.pi) * 2.0
    mirrored = select(compare("eq", half, turns), 0.0, select(odd, -wave, wave) * zeta_reflection(s) * value)
    special = select(below, mirrored, select(compare("eq", x, 1.0), math.inf, value))
    return select(compare("eq", x, -math.inf), math.nan, special)


def polygamma(n: int, x: Expr) -> Expr:
    """The derivative of order n of digamma: (-1)**(n+1) n! zeta(n + 1, x), and by reflection below 0."""
    if not 0 <= n <= MOST:
        raise InvalidProblemError(f"n: {n}; expected an order from 0 to {MOST}")
    if n < 2:
        return trigamma(x) if n else digamma(x)
    below = x < 0.0
    q = select(below, 1.0 - x, x)
    sign = (-1) ** (n + 1)
    value = _of_positive(n, q) * (sign * float(math.factorial(n)))
    r = x - rint(x)
    cotangent = sin((0.5 - abs(r)) * math.pi) / sin(r * math.pi)  # exactly 0 half way between the poles
    mirrored = fma(_cotangent_derivative(n, cotangent), -(math.pi ** (n + 1)), value * float((-1) ** n))
    reflected = select(below, mirrored, value)
    pole = (x <= 0.0) & compare("eq", r, 0.0)
    return select(pole, sign * math.inf, select(compare("eq", x, -math.inf), math.nan, reflected))


def _of_positive(n: int, q: Expr) -> Expr:
    """zeta(n + 1, q) for q > 0."""
    count = _TERMS[q.kind][0]
    total = _power(1.0 / q, n + 1)
    for k in range(1, count):
        total = total + _power(1.0 / (q + float(k)), n + 1)
    v = 1.0 / (q + float(count))
    rising = [math.prod(range(n + 1, n + 2 * j)) for j in range(1, _TERMS[q.kind][1] + 1)]
    series = _horner(v * v, [c * r for c, r in zip(_correction(q.kind), rising, strict=True)])
    return fma(_power(v, n), fma(v, fma(v, series, const(0.5, q.kind)), const(1.0 / n, q.kind)), total)


def _cotangent_derivative(n: int, c: Expr) -> Expr:
    """The derivative of order n of cot, as a polynomial in the cotangent: that of a power k is -(1 + c**2) k c**(k-1)."""
    powers = {1: 1}
    for _ in range(n):
        following: dict[int, int] = {}
        for k, a in powers.items():
            for raised in (k - 1, k + 1):
                if k:
                    following[raised] = following.get(raised, 0) - k * a
        powers = following
    lowest = min(powers)
    value = _horner(c * c, [float(powers[k]) for k in sorted(powers)])
    return value * c if lowest else value


def _power(x: Expr, n: int) -> Expr:
    """x**n by squaring."""
    power: Expr | None = None
    while n:
        if n & 1:
            power = x if power is None else power * x
        x, n = x * x, n >> 1
    assert power is not None
    return power


def _horner(x: Expr, coefficients: Sequence[float]) -> Expr:
    result = const(coefficients[-1], x.kind)
    for c in reversed(coefficients[:-1]):
        result = fma(result, x, const(c, x.kind))
    return result
