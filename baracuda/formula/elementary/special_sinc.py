"""sinc, and the sine of multiples of pi it is made of."""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.pieces import Pair, either, fast_two_sum, format_of, horner_to_pair, two_product
from baracuda.formula.elementary.tables import gamma as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, compare, fma, unary


def _sine_ratio(r: Expr) -> Pair:
    """sin(pi r) / (pi r) for |r| <= 1/2."""
    u = r * r
    q, q_low = horner_to_pair(u, c.SINPI[r.kind], 1)
    p, p_low = two_product(u, q)
    high, low = fast_two_sum(format_of(r).constant(1.0), p)
    return high, low + fma(fma(r, r, -u), q, fma(u, q_low, p_low))


def sine_of_turns(r: Expr) -> Pair:
    """sin(pi r) / pi for |r| <= 1/2."""
    ratio, ratio_low = _sine_ratio(r)
    high, low = two_product(r, ratio)
    return high, fma(r, ratio_low, low)


@elementary("sinc", ElementKind.F32, ElementKind.F64)
def sinc(x: Expr) -> Expr:
    """With r the distance from the nearest integer n, (-1)**n sin(pi r) / (pi x); for n = 0 without the division."""
    whole = unary("rint", x)
    r = x - whole
    ratio, ratio_low = _sine_ratio(r)
    sine, low = two_product(r, ratio)
    v = 1.0 / x
    q = sine * v
    size = fma(fma(-q, x, sine) + fma(r, ratio_low, low), v, q)
    half = whole * 0.5
    odd = compare("ne", unary("trunc", half), half)
    return either(abs(x) <= 0.5, ratio + ratio_low, either(odd, -size, size))
