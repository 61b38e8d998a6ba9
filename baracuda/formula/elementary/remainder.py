"""The remainder of a truncated quotient, which is always representable, and so exact."""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.pieces import F32, format_of, infinity, nan, with_sign_of
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, cast, fma, rare, select, unary


def _step(a: Expr, b: Expr, quotient: Expr) -> Expr:
    """a mod b for 0 <= a and 0 < b < inf, where the quotient, rounded, has no more bits than its kind.

    Truncated, it is the wanted integer n, or n + 1 where rounding went up; a - n*b and a - (n+1)*b have no more bits than
    a and b, so that neither the fused multiply-add nor the correction rounds.
    """
    left = fma(-unary("trunc", quotient), b, a)
    return select(left < 0.0, left + b, left)


def _by_steps(a: Expr, b: Expr, reach: int) -> Expr:
    """a mod b in f64, where a / b is below 2**reach, by way of a modulo b * 2**power for powers 53 apart.

    A modulus that overflows is above a, and one above a leaves it.
    """
    for power in (*range(reach - 53, 0, -53), 0):
        once = min(power, 1023)
        modulus = b * 2.0**once * 2.0 ** (power - once)
        a = select(modulus <= a, _step(a, modulus, a / modulus), a)
    return a


@elementary("fmod", ElementKind.F32, ElementKind.F64)
def fmod(x: Expr, y: Expr) -> Expr:
    """|x| modulo |y| with the sign of x; a quotient of too many bits is taken apart, for f32 in f64."""
    f = format_of(x)
    a, b = abs(x), abs(y)
    quotient = a / b
    plain = (quotient < 2.0 ** (f.mantissa + 1)) & (b < infinity(f))
    if f is F32:
        wide = _by_steps(cast(a, ElementKind.F64), cast(b, ElementKind.F64), 277)
        slow = cast(wide, ElementKind.F32)
    else:
        slow = _by_steps(a, b, 2098)
    slow = select((a < infinity(f)) & (b > 0.0), slow, nan(f))
    return with_sign_of(rare(~plain, slow, _step(a, b, quotient)), x)
