"""erf and erfc.

Near zero erf is x + x P(x**2). In the tail erfc(x) = e**(-x**2) R(x), where R(x) (x + c) is a polynomial in
t = (x - c) / (x + c), a variable in which the whole tail is a short interval (Shepherd & Laframboise, Chebyshev approximation
of (1 + 2x) exp(x**2) erfc(x), 1981). x**2, t and R are kept as pairs, so that the error does not grow with x.

f32 takes ln erfc(x) + x**2 from polynomials in x, and one exponential of the difference, which is kept as a pair too.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.pieces import (
    Pair,
    either,
    fast_two_sum,
    flip_sign,
    format_of,
    horner,
    horner_to_pair,
    integer_of,
    power_of_two,
    round_scaled,
    scale,
    scale_in_range,
    sign_bit,
    two_product,
    two_sum,
)
from baracuda.formula.elementary.tables import elementary as c
from baracuda.formula.elementary.tables import single
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, const, fma, rare


def _scaled_tail(x: Expr) -> Pair:
    """e**(x**2) erfc(x) for x >= 5/8 as a pair."""
    f = format_of(x)
    centre, p = c.ERFC_CENTRE, c.ERFC[f.kind]
    one = f.constant(1.0)
    d, d_low = two_sum(x, f.constant(centre))
    v = 1.0 / d
    error = fma(-d_low, v, fma(-d, v, one))  # 1/(x + c) = v (1 + error)
    t = fma(v, -2.0 * centre, one)
    t_low = fma(v, -2.0 * centre, 1.0 - t) - 2.0 * centre * v * error
    high, low = horner_to_pair(t, p, 3)
    slope = horner(t, [i * a for i, a in enumerate(p)][1:7])  # t_low is so small that the first terms will do
    low = fma(t_low, slope, low + c.ERFC_REST[f.kind])
    product, product_low = two_product(v, high)
    return product, product_low + v * fma(error, high, low)


def _erfc_tail(x: Expr) -> Expr:
    """erfc(x) for x >= 5/8."""
    f = format_of(x)
    a = either(x > c.ERFC_ZERO[f.kind], c.ERFC_ZERO[f.kind], x)
    tail, tail_low = _scaled_tail(a)
    h, h_low = two_product(a, a)
    n, shifted = round_scaled(-h, c.LOG2_E[f.kind])
    r, r_low = fast_two_sum(fma(n, -c.LN2_HIGH[f.kind], -h), fma(n, -c.LN2_LOW[f.kind], -h_low))
    rest = fma(r * r, horner(r, c.EXPM1[f.kind]), r_low)  # e**r = 1 + r + rest
    high = fma(tail, r, tail)
    low = fma(tail, r, tail - high) + fma(tail, rest, fma(tail_low, r, tail_low))
    return scale(high + low, integer_of(shifted))


@elementary("erf", ElementKind.F32)
def erf_f32(x: Expr) -> Expr:
    """x + x P(x**2) for small |x|, else 1 - e**L with L = ln erfc(|x|), a short polynomial, up to where erf rounds to 1."""
    a, k = abs(x), x.kind
    small = fma(a, horner(x * x, c.ERF[k]), a)
    log = horner(either(a > c.ERF_ONE, c.ERF_ONE, a) - c.ERF_SMALL, c.ERF_LOG)
    n, shifted = round_scaled(log, c.LOG2_E[k])
    tail = horner(fma(n, -c.LN2_HIGH[k], log), c.EXP[k])
    large = fma(-tail, power_of_two(shifted), const(1.0, k))
    return flip_sign(either(a < c.ERF_SMALL, small, large), sign_bit(x))


@elementary("erf", ElementKind.F64)
def erf_f64(x: Expr) -> Expr:
    """x + x P(x**2) for small |x|, else 1 - erfc(|x|)."""
    a = abs(x)
    small = fma(a, horner(x * x, c.ERF[x.kind]), a)
    return flip_sign(either(a < c.ERF_SMALL, small, 1.0 - _erfc_tail(a)), sign_bit(x))


def _ordinary_f32(a: Expr) -> Expr:
    """erfc(a) for 0 <= a <= ERFC_END: e**(log - a**2)."""
    kind = a.kind
    near, near_low = two_product(a, horner(a - single.ERFC_LOG_CENTRE, single.ERFC_LOG[kind]))
    far, far_low = horner_to_pair(a - single.ERFC_LOG_FAR_CENTRE, single.ERFC_LOG_FAR[kind], 1)
    beyond = a > single.ERFC_SPLIT
    log, log_low = either(beyond, far, near), either(beyond, far_low, near_low)
    h, h_low = two_product(a, a)
    y, y_low = fast_two_sum(-h, log)  # what it loses for small a, where the square is smaller, does not count
    n, shifted = round_scaled(y, c.LOG2_E[kind])
    r = fma(n, -c.LN2_LOW[kind], fma(n, -c.LN2_HIGH[kind], y)) + (y_low + (log_low - h_low))
    return scale_in_range(horner(r, c.EXP[kind]), shifted)


def _of_either_sign(x: Expr, positive: Expr) -> Expr:
    """erfc(x), that of |x| being given."""
    return either(x < 0.0, 2.0 - positive, positive)


@elementary("erfc", ElementKind.F32)
def erfc_f32(x: Expr) -> Expr:
    a = abs(x)
    return _of_either_sign(x, rare(~(a <= single.ERFC_END), _erfc_tail(a), _ordinary_f32(a)))


@elementary("erfc", ElementKind.F64)
def erfc_f64(x: Expr) -> Expr:
    """1 - x - x P(x**2) for |x| < 5/8, the tail above, 2 - tail below."""
    a = abs(x)
    high, low = fast_two_sum(format_of(x).constant(1.0), -x)
    near = high + fma(-x, horner(x * x, c.ERF[x.kind]), low)
    return either(a < 0.625, near, _of_either_sign(x, _erfc_tail(a)))
