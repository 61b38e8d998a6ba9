"""What the incomplete gamma and beta functions share: reciprocals of gamma functions, logarithms of ratios, Temme's expansion.

All of it computes in f64, also for f32: beside the range of f64 nothing there over- or underflows, and no pairs are needed beyond
those of the exponent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from baracuda.formula.elementary.pieces import F64, Pair, either, horner
from baracuda.formula.elementary.special_gamma import log_of_pair
from baracuda.formula.elementary.special_pairs import times_exp
from baracuda.formula.elementary.tables import gamma as gamma_c
from baracuda.formula.elementary.tables import incomplete as c
from baracuda.formula.expr import Expr, compare, const, fma
from baracuda.formula.functions import maximum, minimum

#: From here on a gamma function is Stirling's formula.
STIRLING_FROM = 2.5
#: e to less than this is 0, and to more infinite.
LEAST_EXPONENT, GREATEST_EXPONENT = -1100.0, 1100.0


class Factorial(NamedTuple):
    """1 / gamma(1 + a): (e / a)**a e**-tail / sqrt(root) where a is `large`, else 1 + excess. What does not count is 0 or 1."""

    large: Expr
    scale: Expr
    excess: Expr
    root: Expr
    tail: Expr


def factorial(a: Expr) -> Factorial:
    """Of a >= 0: by a polynomial, and Stirling's formula."""
    one = F64.constant(1.0)
    large = a >= STIRLING_FROM
    v = 1.0 / maximum(a, STIRLING_FROM)
    tail = either(large, v * horner(v * v, gamma_c.STIRLING[F64.kind]), 0.0)
    excess = either(large, 0.0, a * horner(minimum(a, STIRLING_FROM), c.RECIPROCAL_GAMMA[F64.kind]))
    return Factorial(large, either(large, a, one), excess, either(large, a * TWO_PI, one), tail)


TWO_PI = 6.283185307179586


def log_of_quotient(x: Expr, y: Expr) -> Pair:
    """ln(x / y) for positive x and y, but for digits where the quotient is below the normal range."""
    q = maximum(x / y, 2.0**-1074)
    return log_of_pair(q, fma(-q, y, x) / y)


def scaled_exp(factor: Expr, exponent: Pair) -> Expr:
    """factor * e**exponent for a factor of a moderate size."""
    h = minimum(maximum(exponent[0], LEAST_EXPONENT), GREATEST_EXPONENT)
    low = either(compare("eq", h, exponent[0]), exponent[1], 0.0)
    return times_exp((factor, F64.constant(0.0)), h, low).rounded()


class Mean(NamedTuple):
    """The expansion about the mean, and the derivatives that were asked for, by v, by u and by the coefficients' parameter."""

    value: Expr
    by_v: Expr
    by_u: Expr
    by_parameter: Expr


def near_the_mean(
    v: Expr, u: Expr, coefficients: Sequence[Expr | float], *, slopes: Sequence[Expr] | None = None, derivatives: bool = False
) -> Mean:
    """H: the integral of f(t) e**(-t**2 / 2u) up to v is a multiple of that of e**(-t**2 / 2u), less u H e**(-v**2 / 2u).

    f has the given coefficients from t**1 on. By parts, the integral of t**m e**... is -u K_m e**... with K_m = v**(m-1) +
    (m - 1) u K_(m-2), but for a multiple of the integral of e**..., and H is the sum of coefficient times K_m (Temme 1979).
    `slopes` are the coefficients' derivatives by their parameter.
    """
    zero, one = const(0.0, v.kind), const(1.0, v.kind)
    terms = [(zero, zero, zero), (one, zero, zero)]
    power, total, by_v, by_u, by_parameter = one, one * coefficients[0], zero, zero, zero
    if slopes is not None:
        by_parameter = slopes[0]
    for m in range(2, len(coefficients) + 1):
        before = terms[m - 2]
        lifted = u * (m - 1.0)
        next_power = power * v
        value = fma(lifted, before[0], next_power)
        a = coefficients[m - 1]
        total = fma(value, a, total)
        slope_v = slope_u = zero
        if derivatives:
            slope_v = fma(lifted, before[1], power * (m - 1.0))
            slope_u = fma(lifted, before[2], before[0] * (m - 1.0))
            by_v, by_u = fma(slope_v, a, by_v), fma(slope_u, a, by_u)
        if slopes is not None:
            by_parameter = fma(value, slopes[m - 1], by_parameter)
        terms.append((value, slope_v, slope_u))
        power = next_power
    return Mean(total, by_v, by_u, by_parameter)


class Dual(NamedTuple):
    """A value and its derivative; None for one that is 0."""

    value: Expr
    slope: Expr | None = None

    def plus(self, constant: Expr) -> Dual:
        return Dual(self.value + constant, self.slope)

    def scaled(self, by: Expr | float) -> Dual:
        return Dual(self.value * by, None if self.slope is None else self.slope * by)

    def times(self, other: Dual) -> Dual:
        value = self.value * other.value
        if self.slope is None:
            return Dual(value, None if other.slope is None else self.value * other.slope)
        slope = self.slope * other.value
        return Dual(value, slope if other.slope is None else fma(self.value, other.slope, slope))

    def times_plus(self, other: Dual, more: Dual) -> Dual:
        """The product, and one more addend."""
        slope = more.slope
        for a, b in ((self.value, other.slope), (other.value, self.slope)):
            if b is not None:
                slope = a * b if slope is None else fma(a, b, slope)
        return Dual(fma(self.value, other.value, more.value), slope)


def moved(a: Dual, step: Expr, times: float) -> Dual:
    """a + times * step."""
    return Dual(fma(step, times, a.value), a.slope)
