"""erfinv and ndtri.

Near the middle they are polynomials of the square of the distance from it. In the tail, for a probability p, sqrt(-ln p) or
sqrt(-2 ln p) is all but the answer: what is left is a small and smooth function of it.

In f32 erfinv is x times a polynomial in w = -ln(1 - x**2) (Giles, Approximating the erfinv function, 2010), or another where w is
large.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.logarithm import split
from baracuda.formula.elementary.pieces import (
    Pair,
    either,
    fast_two_sum,
    flip_sign,
    format_of,
    horner,
    infinity,
    nan,
    sign_bit,
)
from baracuda.formula.elementary.root import sqrt_to_pair
from baracuda.formula.elementary.special_pairs import Table, log_to_pair, mapped_polynomial, split_any
from baracuda.formula.elementary.tables import elementary as elementary_c
from baracuda.formula.elementary.tables import normal as c
from baracuda.formula.elementary.tables import single
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, compare, const, fma, rare


def _corrected(root: Pair, centre: float, table: Table, sign: float) -> Expr:
    """s + sign P(t), t = (s - c) / (s + c), for s a pair."""
    s, s_low = root
    p, p_low = mapped_polynomial(s, s_low, centre, table)
    high, low = fast_two_sum(s, p * sign)
    return high + (low + (s_low + p_low * sign))


def _at_edge(x: Expr) -> Expr:
    """erfinv of |x| >= 1, or of NaN, without the sign."""
    f = format_of(x)
    return either(compare("eq", abs(x), 1.0), infinity(f), nan(f))


@elementary("erfinv", ElementKind.F32)
def erfinv_f32(x: Expr) -> Expr:
    """x P(w)."""
    kind = x.kind
    k, m = split(fma(-x, x, const(1.0, kind)))
    log = fma(k, elementary_c.LN2_HIGH[kind], fma(m * m, horner(m, elementary_c.LOG[kind]), m))
    near = horner(-single.ERFINV_CENTRE - log, single.ERFINV[kind])
    tail = horner(-single.ERFINV_TAIL_CENTRE - log, single.ERFINV_TAIL[kind])
    inside = x * either(log < -single.ERFINV_SPLIT, tail, near)
    return rare(~(abs(x) < 1.0), flip_sign(_at_edge(x), sign_bit(x)), inside)


@elementary("erfinv", ElementKind.F64)
def erfinv_f64(x: Expr) -> Expr:
    """x + x P(x**2) for small |x|, else s + P(t) with s = sqrt(-ln(1 - |x|))."""
    f = format_of(x)
    a = abs(x)
    near = fma(a, horner(a * a, c.ERFINV[f.kind]), a)
    log, log_low = log_to_pair(split(1.0 - a))
    root = sqrt_to_pair(-log, -log_low)
    table = Table(c.ERFINV_TAIL[f.kind], c.ERFINV_TAIL_REST[f.kind], c.ERFINV_TAIL_SLOPE[f.kind])
    far = _corrected(root, c.ERFINV_CENTRE, table, 1.0)
    return flip_sign(rare(~(a < 1.0), _at_edge(x), either(a < c.ERFINV_SMALL, near, far)), sign_bit(x))


@elementary("ndtri", ElementKind.F32, ElementKind.F64)
def ndtri(p: Expr) -> Expr:
    """5/2 d + d P(d**2) with d = p - 1/2 for p from 1/4 to 3/4, else s - P(t), with s = sqrt(-2 ln q) and q = p or 1 - p."""
    f = format_of(p)
    d = p - 0.5
    near = fma(d, 2.5, d * horner(d * d, c.NDTRI[f.kind]))
    above = p > 0.5
    q = either(above, 1.0 - p, p)
    log, log_low = log_to_pair(split_any(q))
    root = sqrt_to_pair(log * -2.0, log_low * -2.0)
    table = Table(c.NDTRI_TAIL[f.kind], c.NDTRI_TAIL_REST[f.kind], c.NDTRI_TAIL_SLOPE[f.kind])
    tail = _corrected(root, c.NDTRI_CENTRE, table, -1.0)
    if f.kind is ElementKind.F64:  # the far tail takes up the exponents that f32 has not
        table = Table(c.NDTRI_FAR[f.kind], c.NDTRI_FAR_REST[f.kind], c.NDTRI_FAR_SLOPE[f.kind])
        far = _corrected(root, c.NDTRI_FAR_CENTRE, table, -1.0)
        tail = rare(root[0] > c.NDTRI_FAR_FROM, far, tail)
    outside = either(compare("eq", p, 0.0), -infinity(f), either(compare("eq", p, 1.0), infinity(f), nan(f)))
    inside = either(abs(d) <= 0.25, near, either(above, tail, -tail))
    return rare(~((p > 0.0) & (p < 1.0)), outside, inside)
