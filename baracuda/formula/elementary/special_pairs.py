"""What the special functions share: exponentials, logarithms and reciprocals as pairs, and polynomials of a mapped variable.

The variable t = (x - c) / (x + c) brings x from 0 to infinity into -1 <= t < 1, where one polynomial does for what takes
several in x (Shepherd & Laframboise, Chebyshev approximation of (1 + 2x) exp(x**2) erfc(x), 1981).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from baracuda.formula.elementary.logarithm import Split, split
from baracuda.formula.elementary.pieces import (
    Pair,
    either,
    fast_two_sum,
    format_of,
    horner,
    integer_of,
    round_scaled,
    scale,
    two_product,
    two_sum,
)
from baracuda.formula.elementary.tables import elementary as c
from baracuda.formula.expr import Expr, fma


def product(a: Pair, b: Pair) -> Pair:
    """a * b to about twice the precision."""
    high, low = two_product(a[0], b[0])
    return high, fma(a[0], b[1], fma(a[1], b[0], low))


def total(a: Pair, b: Pair) -> Pair:
    """a + b, to the precision of the larger."""
    high, low = two_sum(a[0], b[0])
    return fast_two_sum(high, low + (a[1] + b[1]))


def reciprocal(x: Expr, x_low: Expr | None = None) -> Pair:
    """1 / (x + x_low)."""
    v = 1.0 / x
    error = fma(-x, v, format_of(x).constant(1.0))
    return v, v * (error if x_low is None else fma(-x_low, v, error))


def inverse_of_sum(x: Expr, x_low: Expr | None, c: float) -> Pair:
    """1 / (x + x_low + c)."""
    d, d_low = two_sum(x, format_of(x).constant(c))
    return reciprocal(d, d_low if x_low is None else d_low + x_low)


class Table(NamedTuple):
    """A polynomial whose constant coefficient is that of the list plus `rest`, and a rough one for its derivative."""

    coefficients: Sequence[float]
    rest: float
    slope: Sequence[float]


def mapped_polynomial(x: Expr, x_low: Expr | None, c: float, table: Table, levels: int = 3) -> Pair:
    """A polynomial in (x + x_low - c) / (x + x_low + c), c a power of two, its last `levels` steps as pairs."""
    v, v_low = inverse_of_sum(x, x_low, c)
    t, t_low = fast_two_sum(format_of(x).constant(1.0), v * (-2.0 * c))  # exact, for what is subtracted is at most 2
    high = horner(t, table.coefficients[levels:])
    lost: list[Expr] = []
    for a in reversed(table.coefficients[:levels]):
        p, p_low = two_product(t, high)
        high, rounded = two_sum(format_of(x).constant(a), p)
        lost.append(rounded + p_low)
    low = lost[0]
    for following in lost[1:]:
        low = fma(t, low, following)
    return high, fma(fma(v_low, -2.0 * c, t_low), horner(t, table.slope), low + table.rest)


class Scaled(NamedTuple):
    """(high + low) 2**n."""

    high: Expr
    low: Expr
    n: Expr

    def rounded(self) -> Expr:
        return scale(self.high + self.low, self.n)


def times_exp(factor: Pair, h: Expr, h_low: Expr) -> Scaled:
    """factor * e**(h + h_low)."""
    k = h.kind
    n, shifted = round_scaled(h, c.LOG2_E[k])
    r, r_low = fast_two_sum(fma(n, -c.LN2_HIGH[k], h), fma(n, -c.LN2_LOW[k], h_low))
    rest = fma(r * r, horner(r, c.EXPM1[k]), r_low)  # e**r = 1 + r + rest
    a, a_low = factor
    high = fma(a, r, a)
    low = fma(a, r, a - high) + fma(a, rest, fma(a_low, r, a_low))
    return Scaled(high, low, integer_of(shifted))


def log_to_pair(s: Split, correction: Expr | None = None) -> Pair:
    """ln(2**k (1 + f)) plus a small correction: a pair whose low part is good to an ULP of its own."""
    k, f = s
    high = fma(k, c.LN2_HIGH[f.kind], f)
    low = fma(k, c.LN2_LOW[f.kind], fma(k, c.LN2_HIGH[f.kind], -high) + f)
    if correction is not None:
        low = low + correction
    return fast_two_sum(high, fma(f * f, horner(f, c.LOG[f.kind]), low))


def split_any(x: Expr) -> Split:
    """x = 2**k (1 + f) for x positive and finite, subnormals included."""
    f = format_of(x)
    tiny = x < 2.0 ** (1 - f.bias)
    lift = f.mantissa + 1
    k, m = split(either(tiny, x * 2.0**lift, x))
    return Split(either(tiny, k - lift, k), m)
