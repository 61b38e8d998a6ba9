"""Fused multiply-add on NumPy arrays, correctly rounded, out of unfused operations."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def fma32(a: Array, b: Array, c: Array) -> Array:
    """a*b + c in float32, rounded once.

    The product is exact in float64. The sum is taken there rounding to odd, which keeps the later rounding to float32
    correct because float64 has more than two bits to spare, for subnormal results too.
    """
    a, b, c = np.broadcast_arrays(*(np.asarray(x, np.float32).astype(np.float64) for x in (a, b, c)))
    with np.errstate(all="ignore"):
        return _add_to_odd(a * b, c).astype(np.float32)


def fma64(a: Array, b: Array, c: Array) -> Array:
    """a*b + c in float64, rounded once.

    By error-free transformations (S. Boldo and G. Melquiond, Emulation of FMA and correctly rounded sums, 2008), and by
    rational arithmetic where an intermediate could overflow, underflow or be subnormal.
    """
    a, b, c = (np.array(x, np.float64) for x in np.broadcast_arrays(a, b, c))
    with np.errstate(all="ignore"):
        high, low = _two_product(a, b)
        sum_high, sum_low = _two_sum(c, low)
        top, bottom = _two_sum(high, sum_high)
        result = top + _add_to_odd(bottom, sum_low)
        # A zero or non-finite operand leaves nothing to round: the unfused expression has the right bits and signs,
        # unless a finite product overflows beside an infinite c.
        finite_product = np.isfinite(a) & np.isfinite(b)
        plain = ~finite_product | ~np.isfinite(c) | (a == 0) | (b == 0)
        result = np.where(plain, np.where(finite_product & ~np.isfinite(c), c, a * b + c), result)
        exponents = np.frexp(a)[1] + np.frexp(b)[1]
        third = np.frexp(c)[1]
        tame = (np.abs(exponents) < 800) & ((c == 0) | (np.abs(third) < 800)) & (np.frexp(a)[1] < 900) & (np.frexp(b)[1] < 900)
    for i in np.argwhere(~plain & (~tame | (result == 0))):
        at = tuple(i)
        result[at] = _rational(float(a[at]), float(b[at]), float(c[at]))
    return np.asarray(result)


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _split(a: Array) -> tuple[Array, Array]:
    t = a * 134217729.0  # 2**27 + 1
    high = t - (t - a)
    return high, a - high


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    p = a * b
    (a1, a0), (b1, b0) = _split(a), _split(b)
    return p, ((a1 * b1 - p) + a1 * b0 + a0 * b1) + a0 * b0


def _add_to_odd(a: Array, b: Array) -> Array:
    """a + b in float64, and if that is inexact, of the two neighbours the one whose last bit is set."""
    s, error = _two_sum(a, b)
    even = (np.ascontiguousarray(s).view(np.uint64) & np.uint64(1)) == 0
    fix = np.isfinite(s) & (error != 0) & even
    return np.where(fix, np.nextafter(s, np.where(error > 0, np.inf, -np.inf)), s)


def _rational(a: float, b: float, c: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:  # x + -x is +0; two zeros of one sign were dealt with before, as a*b is not zero
        return 0.0
    try:
        return exact.numerator / exact.denominator  # Python rounds the quotient of two integers correctly
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")
