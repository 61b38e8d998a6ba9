"""pow: exp2(y log2 |x|) with the logarithm and the product as pairs.

log2(m) = s (C0 + z (C1 + z Q(z))) with s = (m - 1) / (m + 1) and z = s**2, everything down to C1 as pairs; its relative error
is below 2**-33 (f32) and 2**-65 (f64), so that the exponential's argument is good to a small part of an ULP of the result.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.logarithm import Split, is_ordinary, split, split_subnormal
from baracuda.formula.elementary.pieces import (
    Format,
    Pair,
    either,
    fast_two_sum,
    flip_sign,
    format_of,
    horner,
    infinity,
    integer_of,
    nan,
    not_below,
    round_scaled,
    scale,
    scale_in_range,
    sign_bit,
    two_product,
)
from baracuda.formula.elementary.tables import elementary as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, compare, const, fma, rare, unary


def log2_to_pair(x: Split) -> Pair:
    """log2(2**k (1 + f)) as a pair."""
    k, f = x
    kind = f.kind
    d, d_low = fast_two_sum(format_of(f).constant(2.0), f)
    reciprocal = 1.0 / d
    s = f * reciprocal
    s_low = fma(-s, d_low, fma(-s, d, f)) * reciprocal
    z = s * s
    z_low = fma(s + s, s_low, fma(s, s, -z))
    q = horner(z, c.POW_LOG2[kind])
    w = fma(z, q, const(c.POW_C1_HIGH[kind], kind))
    w_low = fma(z, q, c.POW_C1_HIGH[kind] - w) + c.POW_C1_LOW[kind]
    p, p_low = two_product(z, w)
    p_low = fma(z_low, w, fma(z, w_low, p_low))
    a, a_low = fast_two_sum(c.POW_C0_HIGH[kind], p)
    a_low = (a_low + p_low) + c.POW_C0_LOW[kind]
    log, log_low = two_product(s, a)
    log_low = fma(s_low, a, fma(s, a_low, log_low))
    high, low = fast_two_sum(k, log)
    return high, low + log_low


def _times(y: Expr, log: Pair) -> Pair:
    high, low = two_product(y, log[0])
    return high, fma(y, log[1], low)


def _exp2_pair(t: Pair) -> tuple[Expr, Expr]:
    """2**(t - n) and the bits holding the integer n nearest to t."""
    n, shifted = round_scaled(t[0], 1.0)
    return horner((t[0] - n) + t[1], c.EXP2[n.kind]), shifted


@elementary("pow", ElementKind.F32, ElementKind.F64)
def pow_(x: Expr, y: Expr) -> Expr:
    """x**y with the special cases of IEEE 754's pow: x**0 = 1**y = 1 even for NaN, (-1)**inf = 1, NaN for a negative finite x
    and y not an integer."""
    f = format_of(x)
    t = _times(y, log2_to_pair(split(x)))
    p, n = _exp2_pair(t)
    ordinary = is_ordinary(x) & ~not_below(t[0], f.bias - 1)
    return rare(~ordinary, _general(x, y, f), scale_in_range(p, n))


def _general(x: Expr, y: Expr, f: Format) -> Expr:
    """pow for every x and y."""
    a, large = abs(x), infinity(f)
    normal, subnormal = split(a), split_subnormal(a)
    is_subnormal = a < 2.0 ** (1 - f.bias)
    pieces = Split(either(is_subnormal, subnormal.k, normal.k), either(is_subnormal, subnormal.f, normal.f))
    t = _times(y, log2_to_pair(pieces))
    p, n = _exp2_pair(t)
    computed = scale(p, integer_of(n))
    computed = either(t[0] > f.bias + 2.0, large, either(t[0] < -(f.bias + f.mantissa + 2.0), 0.0, computed))

    infinite_y = compare("eq", abs(y), large)
    extreme = compare("eq", a, 0.0) | compare("eq", a, large) | infinite_y
    limit = either((a > 1.0) ^ (y < 0.0), large, 0.0)
    magnitude = either(extreme, either(infinite_y & compare("eq", a, 1.0), 1.0, limit), computed)
    half = y * 0.5
    integer = compare("eq", unary("trunc", y), y)
    odd = integer & compare("ne", unary("trunc", half), half)
    value = flip_sign(magnitude, either(odd, sign_bit(x), 0))
    undefined = ((x < 0.0) & (x > -large) & ~integer) | compare("ne", x, x) | compare("ne", y, y)
    one = compare("eq", y, 0.0) | compare("eq", x, 1.0)
    return either(one, 1.0, either(undefined, nan(f), value))


@elementary("power_of_positive", ElementKind.F32, ElementKind.F64)
def power_of_positive(x: Expr, y: Expr) -> Expr:
    """x**y for x positive, normal and finite and y finite, without a rare path."""
    f = format_of(x)
    high, low = _times(y, log2_to_pair(split(x)))
    edge = 2.0 * f.bias
    bounded = unary("abs", high) <= edge
    p, n = _exp2_pair((either(bounded, high, either(high < 0.0, f.constant(-edge), edge)), either(bounded, low, 0.0)))
    return scale(p, integer_of(n))
