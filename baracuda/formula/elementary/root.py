"""rsqrt, cbrt and hypot, by Newton steps from a first value read off the bits: no square root, no division."""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.logarithm import is_ordinary
from baracuda.formula.elementary.pieces import (
    Format,
    Pair,
    between,
    either,
    flip_sign,
    format_of,
    horner,
    infinity,
    nan,
    sign_bit,
    two_product,
    with_sign_of,
)
from baracuda.formula.elementary.tables import elementary as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, binary, bitcast, compare, const, fma, rare, unary

#: Factors of e and e**2 in 1/sqrt(1 - e): of the series, and in f32 the best for the e of the first value, to 15 bits.
_SERIES = (0.5, 0.375)
_FITTED = {ElementKind.F32: (0.501094400882721, 0.3755468428134918), ElementKind.F64: _SERIES}


def _approximate_rsqrt(x: Expr, factors: tuple[float, float] = _SERIES) -> Expr:
    """1 / sqrt(x) for x positive and normal to 12 bits or, in f64, to 38; finite for x = 0.

    With e = 1 - x y**2, 1/sqrt(x) = y (1 + e/2 + 3 e**2/8 + ...).
    """
    f = format_of(x)
    y = bitcast(const(c.RSQRT_MAGIC[f.kind], f.signed) - (bitcast(x, f.signed) >> 1), f.kind)
    for _ in range(c.RSQRT_STEPS[f.kind]):
        e = fma(-(x * y), y, f.constant(1.0))
        y = fma(y, e * fma(e, factors[1], f.constant(factors[0])), y)
    return y


def rsqrt_normal(x: Expr) -> Expr:
    """1 / sqrt(x) for x positive and normal. The last step takes x y as a pair, so that e is as good as its own size and only
    the final addition rounds."""
    y = _approximate_rsqrt(x)
    t, t_low = two_product(x, y)
    e = fma(-t_low, y, fma(-t, y, format_of(x).constant(1.0)))
    return fma(y * 0.5, e, y)


def sqrt_to_pair(x: Expr, x_low: Expr | None = None) -> Pair:
    """sqrt(x + x_low) as a pair for x zero or positive, normal and not so small that its remainders underflow."""
    y = _approximate_rsqrt(x)
    half, s = y * 0.5, x * y
    s = fma(half, fma(-s, s, x), s)
    rest = fma(-s, s, x)
    return s, half * (rest if x_low is None else rest + x_low)


def sqrt_with_slope(x: Expr) -> Pair:
    """sqrt(x) to little more than half an ULP, and its derivative 1 / (2 sqrt(x)) to 15 bits, by which what is left of an
    argument is turned into what is left of the root; for x as in `_approximate_rsqrt`."""
    y = _approximate_rsqrt(x, _FITTED[x.kind])
    slope, root = y * 0.5, x * y
    return fma(slope, fma(-root, root, x), root), slope


@elementary("rsqrt", ElementKind.F32, ElementKind.F64)
def rsqrt(x: Expr) -> Expr:
    f = format_of(x)
    shift = f.mantissa + 1 + (f.mantissa + 1) % 2  # even, so that its root is a power of two
    subnormal = rsqrt_normal(x * 2.0**shift) * 2.0 ** (shift // 2)
    finite = either(compare("eq", x, 0.0), with_sign_of(infinity(f), x), subnormal)
    edge = either(x < infinity(f), either(x < 0.0, nan(f), finite), either(x > 0.0, 0.0, x))
    return rare(~is_ordinary(x), edge, rsqrt_normal(x))


def _cbrt_normal(x: Expr) -> Expr:
    """The cube root of x positive, normal and not so small that its remainder underflows.

    With e = 1 - x y**3, x**(-1/3) = y (1 + e/3 + 2 e**2/9 + 14 e**3/81 + ...); then t = x y**2 and a Newton step for t whose
    remainder x - t**3 is good to its own size.
    """
    f = format_of(x)
    half = f.bits // 2  # a third of the upper half of the bits is enough
    third = (bitcast(x, f.signed) >> half) * ((1 << half) // 3)
    y = bitcast(const(c.CBRT_MAGIC[f.kind], f.signed) - third, f.kind)
    for _ in range(c.CBRT_STEPS[f.kind]):
        e = fma(-(x * y), y * y, f.constant(1.0))
        y = fma(y, e * horner(e, (1 / 3, 2 / 9, 14 / 81)), y)
    square = y * y
    t = x * square
    t2, t2_low = two_product(t, t)
    rest = fma(-t2_low, t, fma(-t2, t, x))
    return fma(square * (1 / 3), rest, t)


@elementary("root", ElementKind.F32, ElementKind.F64)
def root(x: Expr) -> Expr:
    return unary("sqrt", x)


@elementary("cbrt", ElementKind.F32, ElementKind.F64)
def cbrt(x: Expr) -> Expr:
    f = format_of(x)
    a, lift = abs(x), 3 * (f.mantissa + 10)
    small = _cbrt_normal(a * 2.0**lift) * 2.0 ** (-lift // 3)
    inside = between(a, 2.0 ** (f.mantissa + 10 - f.bias), float("inf"))
    return flip_sign(rare(~inside, either(a < infinity(f), small, a), _cbrt_normal(a)), sign_bit(x))


def _length(long: Expr, short: Expr) -> Expr:
    """sqrt(long**2 + short**2) for long >= short, neither far from 1 unless it does not count.

    The sum of the squares is a pair. The root is one Newton step from a first value of 15 bits or more, which counts the low
    part, so that little is lost before its last operation.
    """
    square, square_low = two_product(long, long)
    total = fma(short, short, square)
    low = fma(short, short, square - total) + square_low
    y = _approximate_rsqrt(total, _FITTED[long.kind])
    root = total * y
    return fma(y * 0.5, fma(-root, root, total) + low, root)


def _length_general(ax: Expr, ay: Expr, long: Expr, short: Expr, f: Format) -> Expr:
    """The length for every pair of legs, by scaling; an infinity counts more than a NaN."""
    inf, large = infinity(f), long > 1.0
    down, up = f.constant(2.0 ** -(f.bias * 3 // 4)), f.constant(2.0 ** (f.bias * 3 // 4))
    factor, back = either(large, down, up), either(large, up, down)
    return either(compare("eq", ax, inf) | compare("eq", ay, inf), inf, _length(long * factor, short * factor) * back)


@elementary("hypot", ElementKind.F32, ElementKind.F64)
def hypot(x: Expr, y: Expr) -> Expr:
    """sqrt(x**2 + y**2); where a square leaves the range, of both scaled."""
    f = format_of(x)
    ax, ay = abs(x), abs(y)
    long, short = binary("max", ax, ay), binary("min", ax, ay)
    inside = between(long, 2.0 ** (f.mantissa + 5 - f.bias // 2), 2.0 ** (f.bias // 2))
    return rare(~inside, _length_general(ax, ay, long, short, f), _length(long, short))
