"""Roots of unity, correctly rounded: cosines and sines of 2 pi m / n for whole numbers m and n.

The angle is reduced exactly, to the first eighth of the turn. Its cosine and sine are Taylor series in pairs of float64, of which
the second holds what the first leaves: 30 digits, rounded once. Every operation is one of IEEE 754, so that the tables are the
same on every host.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache
from math import factorial
from typing import Any, TypeAlias

import numpy as np

Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
#: An unevaluated sum of two numbers.
Double: TypeAlias = tuple[Floats, Floats]

#: Bits of pi, by Machin's formula in whole numbers.
_BITS = 200


def _pi() -> Fraction:
    scale = 1 << (_BITS + 20)
    total = Fraction(0)
    for factor, x in ((16, 5), (-4, 239)):
        power, k, sign = scale // x, 1, 1
        while power:
            total += Fraction(sign * factor * (power // k), scale)
            power //= x * x
            k, sign = k + 2, -sign
    return total


def _double(value: Fraction) -> tuple[float, float]:
    high = float(value)
    return high, float(value - Fraction(high))


def _two_sum(a: Any, b: Any) -> Double:
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _two_product(a: Any, b: Any) -> Double:
    def split(x: Any) -> tuple[Any, Any]:
        c = 134217729.0 * x
        high = c - (c - x)
        return high, x - high

    p = a * b
    (ah, al), (bh, bl) = split(a), split(b)
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def _add(x: Double, y: Double) -> Double:
    s, e = _two_sum(x[0], y[0])
    t, f = _two_sum(x[1], y[1])
    s, e = _two_sum(s, e + t)
    return _two_sum(s, e + f)


def _multiply(x: Double, y: Double) -> Double:
    p, e = _two_product(x[0], y[0])
    return _two_sum(p, e + (x[0] * y[1] + x[1] * y[0]))


@cache
def _series() -> tuple[tuple[tuple[float, float], ...], tuple[tuple[float, float], ...], tuple[float, float]]:
    """The coefficients of cosine and sine by the square of the angle, highest first, and a quarter of pi."""
    cosine = tuple(_double(Fraction((-1) ** k, factorial(2 * k))) for k in range(14, -1, -1))
    sine = tuple(_double(Fraction((-1) ** k, factorial(2 * k + 1))) for k in range(14, -1, -1))
    return cosine, sine, _double(_pi() / 4)


def _polynomial(coefficients: tuple[tuple[float, float], ...], x: Double) -> Double:
    zero = np.zeros_like(x[0])
    total = zero + coefficients[0][0], zero + coefficients[0][1]
    for high, low in coefficients[1:]:
        total = _add(_multiply(total, x), (zero + high, zero + low))
    return total


def exact_roots(m: np.ndarray[Any, Any], n: int) -> tuple[Double, Double]:
    """cos(2 pi m / n) and sin(2 pi m / n) as sums of two float64, for whole numbers m and 0 < n < 2**50."""
    m = np.asarray(m, np.int64) % n
    eighth, rest = np.divmod(8 * m, n)
    rest = np.where(eighth % 2 == 1, n - rest, rest)
    t, whole = rest.astype(np.float64), float(n)
    high = t / whole
    p, e = _two_product(high, whole)
    share = _two_sum(high, ((t - p) - e) / whole)
    cosines, sines, quarter = _series()
    zero = np.zeros_like(t)
    angle = _multiply(share, (zero + quarter[0], zero + quarter[1]))
    square = _multiply(angle, angle)
    c, s = _polynomial(cosines, square), _multiply(angle, _polynomial(sines, square))
    swapped = np.isin(eighth % 8, (1, 2, 5, 6))
    cosine = tuple(np.where(swapped, b, a) for a, b in zip(c, s, strict=True))
    sine = tuple(np.where(swapped, a, b) for a, b in zip(c, s, strict=True))
    left, lower = np.isin(eighth, (2, 3, 4, 5)), eighth >= 4
    found_c = tuple(np.where(left, -x, x) + 0.0 for x in cosine)
    found_s = tuple(np.where(lower, -x, x) + 0.0 for x in sine)
    return (found_c[0], found_c[1]), (found_s[0], found_s[1])


def rounded(x: Double, dtype: Any) -> np.ndarray[Any, Any]:
    """A sum of two float64 rounded once to float32 or float64."""
    high, low = x
    if np.dtype(dtype) == np.float64:
        return high
    # to odd: what is left below the last bit then decides ties as the whole number would
    inexact = low != 0
    opposite = inexact & (np.signbit(low) != np.signbit(high))
    bits = high.view(np.int64) - opposite.astype(np.int64)
    odd: np.ndarray[Any, Any] = np.where(inexact, bits | 1, bits).view(np.float64).astype(dtype)
    return odd


def roots(m: np.ndarray[Any, Any], n: int, dtype: Any) -> np.ndarray[Any, Any]:
    """exp(-2 pi i m / n), real and imaginary parts along a new last axis, each correctly rounded."""
    cosine, sine = exact_roots(m, n)
    return np.stack([rounded(cosine, dtype), rounded((-sine[0], -sine[1]), dtype) + 0.0], axis=-1)


@lru_cache(maxsize=1024)
def cosine_of(turns: Fraction, dtype: Any) -> Any:
    """cos(2 pi turns), correctly rounded."""
    turns %= 1
    cosine, _ = exact_roots(np.array([turns.numerator]), turns.denominator)
    return rounded(cosine, dtype)[0]


def split_bits(n: int) -> int:
    """How many low bits of m the second of the two tables for n has."""
    return (max(n - 1, 1).bit_length() + 1) // 2


@lru_cache(maxsize=4)
def split_tables(n: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """For w = exp(-2 pi i / n) the powers w**(a * 2**s) and w**b, b below 2**s, in float64."""
    step = 1 << split_bits(n)
    return roots(np.arange(-(-n // step)) * step, n, np.float64), roots(np.arange(step), n, np.float64)


def products_of_roots(m: np.ndarray[Any, Any], n: int, dtype: Any) -> np.ndarray[Any, Any]:
    """exp(-2 pi i m / n) as the product of an entry of each of the two tables, every operation of float64 rounded, in the end
    rounded to dtype."""
    high, low = split_tables(n)
    m = np.asarray(m, np.int64)
    a, b = high[m >> split_bits(n)], low[m & ((1 << split_bits(n)) - 1)]
    re = a[..., 0] * b[..., 0] - a[..., 1] * b[..., 1]
    im = a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]
    return np.stack([re, im], axis=-1).astype(dtype)
