"""sinh and cosh.

With |x| = n ln 2 + r, and with A and B the halves of 2**n -+ 2**-n, sinh x = A cosh r + B sinh r and
cosh x = B cosh r + A sinh r. The polynomials are short, no division is needed, and n = 0 leaves sinh x = sinh r with every bit.
"""

from __future__ import annotations

from typing import NamedTuple

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.exponential import reduce_exponent, reduce_exponent_to_pair
from baracuda.formula.elementary.pieces import (
    Pair,
    either,
    fast_two_sum,
    flip_sign,
    format_of,
    horner,
    infinity,
    integer_of,
    not_below,
    scale,
    sign_bit,
)
from baracuda.formula.elementary.tables import elementary as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, bitcast, fma, rare


class _Parts(NamedTuple):
    """|x| = n ln 2 + r: 2**n / 2, 2**-n / 2, r, what sinh r has beyond r, and cosh r - 1."""

    half: Expr
    inverse: Expr
    r: Expr
    sine: Expr
    cosine: Expr


def _parts(a: Expr) -> _Parts:
    f = format_of(a)
    r, r_low, shifted = reduce_exponent_to_pair(a)
    grown = (shifted << f.mantissa) + ((f.bias - 1) << f.mantissa)
    half, inverse = bitcast(grown, f.kind), bitcast(((2 * f.bias - 2) << f.mantissa) - grown, f.kind)
    u = r * r
    return _Parts(half, inverse, r, fma(r * u, horner(u, c.SINH[f.kind]), r_low), u * horner(u, c.COSH[f.kind]))


def _combined(whole: Pair, factor: Expr, p: _Parts) -> Expr:
    """whole cosh r + factor sinh r, for whole >= factor r or whole = 0."""
    high = fma(factor, p.r, whole[0])
    low = fma(factor, p.r, whole[0] - high) + whole[1]
    return high + fma(whole[0], p.cosine, fma(factor, p.sine, low))


def _extended(a: Expr, fast: Expr) -> Expr:
    """Half the exponential where `fast` would leave the range of its powers of two; infinity beyond the largest result."""
    f = format_of(a)
    ln2 = 0.6931471805599453
    r, n = reduce_exponent(a)
    half = scale(horner(r, c.EXP[f.kind]), integer_of(n) - 1)
    return rare(not_below(a, (f.bias - 2) * ln2), either(a > (f.bias + 2.01) * ln2, infinity(f), half), fast)


@elementary("sinh", ElementKind.F32, ElementKind.F64)
def sinh(x: Expr) -> Expr:
    a = abs(x)
    p = _parts(a)
    value = _combined(fast_two_sum(p.half, -p.inverse), p.half + p.inverse, p)
    return flip_sign(_extended(a, value), sign_bit(x))


@elementary("cosh", ElementKind.F32, ElementKind.F64)
def cosh(x: Expr) -> Expr:
    a = abs(x)
    p = _parts(a)
    return _extended(a, _combined(fast_two_sum(p.half, p.inverse), p.half - p.inverse, p))
