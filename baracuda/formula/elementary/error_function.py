"""erf and erfc."""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary import coefficients as c
from baracuda.formula.elementary.pieces import either, flip_sign, format_of, horner, sign_bit
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, fma


@elementary("erf", ElementKind.F32)
def erf_f32(x: Expr) -> Expr:
    """x + x P(x**2) for small |x|, a polynomial in |x| - centre up to where erf rounds to 1."""
    f = format_of(x)
    a = abs(x)
    small = fma(a, horner(x * x, c.ERF[f.kind]), a)
    t = either(a > c.ERF_ONE, c.ERF_ONE, a)
    large = horner(t - c.ERF_CENTRE, c.ERF_MIDDLE[f.kind])
    return flip_sign(either(a < c.ERF_SMALL, small, large), sign_bit(x))
