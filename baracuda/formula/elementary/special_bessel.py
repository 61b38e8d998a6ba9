"""The modified Bessel functions i0, i0e, i1 and i1e, and the derivative of i0e.

The exponentially scaled ones are nearly constant up to x = 8 once they are multiplied by x + 4/3 or so (order 1: divided by x
and multiplied by the square of x + 9/5), and then polynomials in (x - c) / (x + c); beyond that they are a polynomial in
16/x - 1 by 1 / sqrt(x). Both are pairs, which e**x multiplies as such.

f32 takes the scaled ones and the derivative to x = 10 from two polynomials in x each.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.pieces import (
    Pair,
    either,
    flip_sign,
    format_of,
    horner,
    horner_to_pair,
    not_below,
    power_of_two,
    sign_bit,
    with_sign_of,
)
from baracuda.formula.elementary.root import sqrt_to_pair
from baracuda.formula.elementary.special_pairs import Table, inverse_of_sum, mapped_polynomial, product, reciprocal, times_exp
from baracuda.formula.elementary.tables import bessel as c
from baracuda.formula.elementary.tables import single
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, compare, const, fma, node, rare

_SHIFT = {0: c.I0_SHIFT, 1: c.I1_SHIFT}
_ORDINARY = {
    0: (single.I0E_CENTRE, single.I0E, single.I0E_FAR_CENTRE, single.I0E_FAR),
    1: (single.I1E_CENTRE, single.I1E, single.I1E_FAR_CENTRE, single.I1E_FAR),
}
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


def _ordinary_f32(order: int, a: Expr) -> Pair:
    """e**-a I(a) for 0 <= a <= BESSEL_END."""
    centre, table, far_centre, far_table = _ORDINARY[order]
    t = a - centre
    lost = a - (t + centre)  # not 0 for small a only, where these are about the slopes of the logarithms
    slope = fma(a, 0.23, const(-1.0, a.kind)) if order else None
    value, low = horner_to_pair(t, table[a.kind], 1)
    low = fma(lost, value * (-value if slope is None else slope), low)
    if order:
        value, low = product((a, format_of(a).constant(0.0)), (value, low))
    far, far_low = horner_to_pair(a - far_centre, far_table[a.kind], 1)
    beyond = a > single.BESSEL_SPLIT
    return either(beyond, far, value), either(beyond, far_low, low)


def _scaled_f32(order: int, x: Expr) -> Expr:
    """e**-|x| I(|x|)."""
    a = abs(x)
    near, far = _ordinary_f32(order, a), _far(order, a)
    edge = either(a < float("inf"), far[0] + far[1], either(a > 0.0, 0.0, a))
    return rare(~(a <= single.BESSEL_END), edge, near[0] + near[1])


def _bounded(a: Expr) -> Expr:
    """a, or the least argument whose result is infinite."""
    return either(a > c.BESSEL_INFINITE[a.kind], c.BESSEL_INFINITE[a.kind], a)


def _unscaled_f32(order: int, x: Expr) -> Expr:
    """I(|x|)."""
    a, zero = abs(x), format_of(x).constant(0.0)
    near = times_exp(_ordinary_f32(order, a), a, zero)
    far = times_exp(_far(order, _bounded(a)), _bounded(a), zero).rounded()
    return rare(~(a <= single.BESSEL_END), far, (near.high + near.low) * power_of_two(near.n))


def _scaled_f64(order: int, x: Expr) -> Expr:
    a = abs(x)
    high, low = _scaled(order, a)
    return rare(not_below(x, float("inf")), either(a > 0.0, 0.0, x), high + low)


def _unscaled_f64(order: int, x: Expr) -> Expr:
    a = _bounded(abs(x))
    return times_exp(_scaled(order, a), a, format_of(x).constant(0.0)).rounded()


def _scaled_by_kind(order: int, x: Expr) -> Expr:
    return _scaled_f32(order, x) if x.kind is ElementKind.F32 else _scaled_f64(order, x)


def _unscaled_by_kind(order: int, x: Expr) -> Expr:
    return _unscaled_f32(order, x) if x.kind is ElementKind.F32 else _unscaled_f64(order, x)


@elementary("i0e", ElementKind.F32, ElementKind.F64)
def i0e(x: Expr) -> Expr:
    return _scaled_by_kind(0, x)


@elementary("i0e_slope", ElementKind.F64)
def i0e_slope(x: Expr) -> Expr:
    """I1(x) less I0(x) with the sign of x, both times e**-|x|; 0 at 0, between the slopes on its sides."""
    e0, e1 = (node(op, (x,), x.kind) for op in ("i0e", "i1e"))
    return e1 - either(x > 0.0, e0, either(x < 0.0, -e0, x))


@elementary("i0e_slope", ElementKind.F32)
def i0e_slope_f32(x: Expr) -> Expr:
    """From two polynomials to BESSEL_END."""
    a, k = abs(x), x.kind
    near = horner(a - single.I0E_SLOPE_CENTRE, single.I0E_SLOPE[k])
    far = horner(a - single.I0E_SLOPE_FAR_CENTRE, single.I0E_SLOPE_FAR[k])
    value = flip_sign(either(a > single.BESSEL_SPLIT, far, near), sign_bit(x))
    return rare(~(a <= single.BESSEL_END), i0e_slope(x), either(compare("eq", a, 0.0), x, value))


@elementary("i1e", ElementKind.F32, ElementKind.F64)
def i1e(x: Expr) -> Expr:
    return with_sign_of(_scaled_by_kind(1, x), x)


@elementary("i0", ElementKind.F32, ElementKind.F64)
def i0(x: Expr) -> Expr:
    return _unscaled_by_kind(0, x)


@elementary("i1", ElementKind.F32, ElementKind.F64)
def i1(x: Expr) -> Expr:
    return with_sign_of(_unscaled_by_kind(1, x), x)
