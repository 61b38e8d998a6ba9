"""log, log2, log10, log1p and logit.

x = 2**k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), then log(1 + f) = f + f**2 Q(f) with a minimax polynomial Q. Zero,
subnormal, negative and non-finite inputs take the rare path.
"""

from __future__ import annotations

from typing import NamedTuple

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.pieces import (
    Format,
    between,
    either,
    fast_two_sum,
    format_of,
    horner,
    infinity,
    nan,
    power_of_two,
    reciprocal,
    with_sign_of,
)
from baracuda.formula.elementary.tables import elementary as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, bitcast, cast, compare, const, fma, rare


class Split(NamedTuple):
    """A positive value 2**k (1 + f): k as a float, and f."""

    k: Expr
    f: Expr


def _bits_of_sqrt_half(f: Format) -> int:
    return int(f.constant(0.7071067811865476).attr)


def exponent(x: Expr) -> Expr:
    """The integer k for which x / 2**k is in [sqrt(1/2), sqrt(2)), x positive and normal."""
    f = format_of(x)
    return (bitcast(x, f.signed) - _bits_of_sqrt_half(f)) >> f.mantissa


def split(x: Expr) -> Split:
    """x = 2**k (1 + f) exactly, for x positive and normal."""
    f = format_of(x)
    k = exponent(x)
    m = bitcast(bitcast(x, f.signed) - (k << f.mantissa), f.kind)
    return Split(cast(k, f.kind), m - 1.0)


def split_subnormal(x: Expr) -> Split:
    """The same for x positive and below the normal range."""
    f = format_of(x)
    k, m = split(x * 2.0 ** (f.mantissa + 1))
    return Split(k - (f.mantissa + 1), m)


def is_ordinary(x: Expr) -> Expr:
    """True for x positive, normal and finite."""
    f = format_of(x)
    least = 1 << f.mantissa
    return compare("lt", bitcast(x, f.unsigned) - least, const(f.infinity - least, f.unsigned))


def log_of_split(s: Split, correction: Expr | None = None) -> Expr:
    """ln(2**k (1 + f)): k ln 2 + f as a pair, so that only the last addition rounds; plus a small correction."""
    k, f = s
    ln2 = c.LN2_HIGH[f.kind]
    high = fma(k, ln2, f)
    low = fma(k, ln2, -high) + f
    if f.kind is ElementKind.F64:  # the f32 constant happens to be good to 28 bits
        low = fma(k, c.LN2_LOW[f.kind], low)
    if correction is not None:
        low = low + correction
    return high + fma(f * f, horner(f, c.LOG[f.kind]), low)


def log2_of_split(s: Split) -> Expr:
    """log2(2**k (1 + f))."""
    k, f = s
    tail = fma(f * f, horner(f, c.LOG2[f.kind]), f * c.LOG2_E_LOW[f.kind])
    return k + fma(f, c.LOG2_E_HIGH[f.kind], tail)


def log10_of_split(s: Split) -> Expr:
    """log10(2**k (1 + f)): k log10(2), whose high part is exact, and f / ln 10 as a pair, so that only the last addition
    rounds."""
    k, f = s
    part = f * c.LOG10_E_HIGH[f.kind]
    part_low = fma(f, c.LOG10_E_LOW[f.kind], fma(f, c.LOG10_E_HIGH[f.kind], -part))
    high, low = fast_two_sum(k * c.LOG10_2_HIGH[f.kind], part)
    low = low + fma(k, c.LOG10_2_LOW[f.kind], part_low)
    return high + fma(f * f, horner(f, c.LOG10[f.kind]), low)


def _with_edges(x: Expr, fast: Expr, subnormal: Expr) -> Expr:
    """The logarithm `fast`, valid for ordinary x, extended to every x by its value on subnormals."""
    f = format_of(x)
    finite = either(compare("eq", x, 0.0), -infinity(f), either(x < 0.0, nan(f), subnormal))
    return rare(~is_ordinary(x), either(x < infinity(f), finite, x), fast)


@elementary("log", ElementKind.F32, ElementKind.F64)
def log(x: Expr) -> Expr:
    return _with_edges(x, log_of_split(split(x)), log_of_split(split_subnormal(x)))


@elementary("log2", ElementKind.F32, ElementKind.F64)
def log2(x: Expr) -> Expr:
    return _with_edges(x, log2_of_split(split(x)), log2_of_split(split_subnormal(x)))


@elementary("log10", ElementKind.F32, ElementKind.F64)
def log10(x: Expr) -> Expr:
    return _with_edges(x, log10_of_split(split(x)), log10_of_split(split_subnormal(x)))


@elementary("log1p", ElementKind.F32, ElementKind.F64)
def log1p(x: Expr) -> Expr:
    """k from 1 + x rounded; then f = 2**-k x + (2**-k - 1) as a pair, whose low part counts by 1 / (1 + f)."""
    f = format_of(x)
    k = exponent(1.0 + x)
    power = power_of_two(-k)
    offset = power - 1.0
    m = fma(x, power, offset)
    m_low = fma(x, power, offset - m)
    fast = with_sign_of(log_of_split(Split(cast(k, f.kind), m), fma(-m, m_low, m_low)), x)
    large = log_of_split(split(x))
    finite = either(compare("eq", x, -1.0), -infinity(f), either(x < 0.0, nan(f), large))
    in_range = (x > -1.0) & (x < 2.0 ** (f.bias - 2))
    return rare(~in_range, either(x < infinity(f), finite, x), fast)


@elementary("logit", ElementKind.F32, ElementKind.F64)
def logit(x: Expr) -> Expr:
    """log(q + q_low), the quotient x / (1 - x) as a pair. Where the logarithm is small q is near 1, and q - 1 is exact."""
    f = format_of(x)
    d, d_low = fast_two_sum(f.constant(1.0), -x)
    inverse = reciprocal(d)
    q = x * inverse
    q_low = fma(-q, d_low, fma(-q, d, x)) * inverse
    s = split(q)
    m_low = q_low * bitcast((f.bias << f.mantissa) - (exponent(q) << f.mantissa), f.kind)
    fast = log_of_split(s, fma(-s.f, fma(-s.f, m_low, m_low), m_low))
    least = 2.0 ** (1 - f.bias)
    inside = either((x > 0.0) & (x < least), log_of_split(split_subnormal(x)), nan(f))
    ends = either(compare("eq", x, 0.0), -infinity(f), either(compare("eq", x, 1.0), infinity(f), inside))
    return rare(~between(x, least, 1.0), ends, fast)
