"""rsqrt, by Newton steps from a first value read off the bits: no square root, no division."""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary import coefficients as c
from baracuda.formula.elementary.logarithm import is_ordinary
from baracuda.formula.elementary.pieces import either, format_of, infinity, nan, two_product, with_sign_of
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, bitcast, compare, const, fma, rare


def _rsqrt_normal(x: Expr) -> Expr:
    """1 / sqrt(x) for x positive and normal.

    With e = 1 - x y**2, 1/sqrt(x) = y (1 + e/2 + 3 e**2/8 + ...). The last step takes x y as a pair, so that e is as good
    as its own size and only the final addition rounds.
    """
    f = format_of(x)
    y = bitcast(const(c.RSQRT_MAGIC[f.kind], f.signed) - (bitcast(x, f.signed) >> 1), f.kind)
    for _ in range(c.RSQRT_STEPS[f.kind]):
        e = fma(-(x * y), y, f.constant(1.0))
        y = fma(y, e * fma(e, 0.375, f.constant(0.5)), y)
    t, t_low = two_product(x, y)
    e = fma(-t_low, y, fma(-t, y, f.constant(1.0)))
    return fma(y * 0.5, e, y)


@elementary("rsqrt", ElementKind.F32, ElementKind.F64)
def rsqrt(x: Expr) -> Expr:
    f = format_of(x)
    shift = f.mantissa + 1 + (f.mantissa + 1) % 2  # even, so that its root is a power of two
    subnormal = _rsqrt_normal(x * 2.0**shift) * 2.0 ** (shift // 2)
    finite = either(compare("eq", x, 0.0), with_sign_of(infinity(f), x), subnormal)
    edge = either(x < infinity(f), either(x < 0.0, nan(f), finite), either(x > 0.0, 0.0, x))
    return rare(~is_ordinary(x), edge, _rsqrt_normal(x))
