"""The modified Bessel functions i0, i0e, i1 and i1e.

The exponentially scaled ones are nearly constant up to x = 8 once they are multiplied by x + 4/3 or so (order 1: divided by x
and multiplied by the square of x + 9/5), and then polynomials in (x - c) / (x + c); beyond that they are a polynomial in
16/x - 1 by 1 / sqrt(x). Both are pairs, which e**x multiplies as such.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary import coefficients_bessel as c
from baracuda.formula.elementary.pieces import (
    Pair,
    either,
    format_of,
    horner_to_pair,
    not_below,
    with_sign_of,
)
from baracuda.formula.elementary.root import sqrt_to_pair
from baracuda.formula.elementary.special_pairs import Table, inverse_of_sum, mapped_polynomial, product, reciprocal, times_exp
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, fma, rare

_SHIFT = {0: c.I0_SHIFT, 1: c.I1_SHIFT}
_FAR = {0: (c.I0E_LARGE, c.I0E_LARGE_REST), 1: (c.I1E_LARGE, c.I1E_LARGE_REST)}


def _table(order: int, kind: ElementKind) -> Table:
    if order:
        return Table(c.I1E[kind], c.I1E_REST[kind], c.I1E_SLOPE[kind])
    return Table(c.I0E[kind], c.I0E_REST[kind], c.I0E_SLOPE[kind])


def _near(order: int, a: Expr) -> Pair:
    """e**-a I(a), for order 1 divided by a."""
    weight = inverse_of_sum(a, None, _SHIFT[order])
    value = product(weight, mapped_polynomial(a, None, c.BESSEL_CENTRE, _table(order, a.kind), levels=4 if order else 6))
    return product(weight, value) if order else value


def _far(order: int, a: Expr) -> Pair:
    """e**-a I(a) for a from 8."""
    table, rest = _FAR[order]
    r, r_low = reciprocal(*sqrt_to_pair(a))
    t = fma(r * r, 2.0 * c.BESSEL_LARGE, format_of(a).constant(-1.0))
    p, p_low = horner_to_pair(t, table[a.kind], 2)
    return product((r, r_low), (p, p_low + rest[a.kind]))


def _scaled(order: int, a: Expr) -> Pair:
    """e**-a I(a) for 0 <= a < inf, not so large that sqrt(a) has no remainder."""
    near, near_low = _near(order, a)
    far = _far(order, a)
    if order:
        near, near_low = a * near, fma(a, near_low, fma(a, near, -(a * near)))
    large = a > c.BESSEL_LARGE
    return either(large, far[0], near), either(large, far[1], near_low)


def _define_scaled(order: int, x: Expr) -> Expr:
    a = abs(x)
    high, low = _scaled(order, a)
    return rare(not_below(x, float("inf")), either(a > 0.0, 0.0, x), high + low)


def _define(order: int, x: Expr) -> Expr:
    f = format_of(x)
    a = abs(x)
    a = either(a > c.BESSEL_INFINITE[f.kind], c.BESSEL_INFINITE[f.kind], a)
    return times_exp(_scaled(order, a), a, f.constant(0.0)).rounded()


@elementary("i0e", ElementKind.F32, ElementKind.F64)
def i0e(x: Expr) -> Expr:
    return _define_scaled(0, x)


@elementary("i1e", ElementKind.F32, ElementKind.F64)
def i1e(x: Expr) -> Expr:
    return with_sign_of(_define_scaled(1, x), x)


@elementary("i0", ElementKind.F32, ElementKind.F64)
def i0(x: Expr) -> Expr:
    return _define(0, x)


@elementary("i1", ElementKind.F32, ElementKind.F64)
def i1(x: Expr) -> Expr:
    return with_sign_of(_define(1, x), x)
