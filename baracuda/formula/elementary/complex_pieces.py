"""What the functions of a complex number are made of: registration of both parts, the absolute value's logarithm, the root."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from baracuda.core.elements import ElementKind
from baracuda.formula.complex import Complex
from baracuda.formula.elementary.logarithm import Split, exponent, is_ordinary, log_of_split, split
from baracuda.formula.elementary.pieces import (
    Pair,
    either,
    fast_two_sum,
    flip_sign,
    format_of,
    infinity,
    nan,
    power_of_two,
    sign_bit,
    two_product,
    two_sum,
    with_sign_of,
)
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, compare, const, node, rare
from baracuda.formula.functions import hypot, maximum, sqrt

Definition: TypeAlias = Callable[..., Complex]
_KINDS = (ElementKind.F32, ElementKind.F64)


def operation(name: str, *arguments: Complex) -> Complex:
    """A function of complex numbers as two nodes, one for each part of its value."""
    operands = tuple(p for z in arguments for p in (z.re, z.im))
    return Complex(node(f"complex_{name}.re", operands, operands[0].kind), node(f"complex_{name}.im", operands, operands[0].kind))


def complex_elementary(name: str) -> Callable[[Definition], Definition]:
    """Register the definition, by primitives or by other elementary functions, of a function of complex numbers."""

    def register(define: Definition) -> Definition:
        def of(operands: tuple[Expr, ...]) -> Complex:
            return define(*(Complex(*operands[i : i + 2]) for i in range(0, len(operands), 2)))

        elementary(f"complex_{name}.re", *_KINDS)(lambda *operands: of(operands).re)
        elementary(f"complex_{name}.im", *_KINDS)(lambda *operands: of(operands).im)
        return define

    return register


def is_infinite(x: Expr) -> Expr:
    return compare("eq", abs(x), infinity(format_of(x)))


def is_number(x: Expr) -> Expr:
    """Whether x is not NaN."""
    return compare("eq", x, x)


def is_zero(x: Expr) -> Expr:
    return compare("eq", x, 0.0)


def signed_zero(*signs: Expr) -> Expr:
    """A zero with the sign of a product."""
    zero = const(0.0, signs[0].kind)
    for x in signs:
        zero = flip_sign(zero, sign_bit(x))
    return zero


# --- the logarithm of the absolute value ------------------------------------------------------------------------------


def _square_sum(a: Pair, b: Expr) -> Pair:
    """(a + a_low)**2 + b**2 as a pair."""
    p, p_low = two_product(a[0], a[0])
    q, q_low = two_product(b, b)
    total, low = two_sum(p, q)
    return total, (low + (p_low + q_low)) + (a[0] + a[0]) * a[1]


def _split_pair(total: Pair) -> tuple[Split, Expr]:
    """total = 2**k (1 + f) + low with the low part as what it adds to the logarithm."""
    pieces = split(total[0])
    low = total[1] * power_of_two(-exponent(total[0]))
    return pieces, low - pieces.f * low


def log_abs(x: Pair, y: Expr, near_one: tuple[Expr, Pair] | None = None) -> Expr:
    """log |x + iy| for x given as a pair, without overflow, and without cancellation near 1: the square of the absolute value
    is a pair.

    near_one is a condition, and a pair that is then the square less 1.
    """
    f = format_of(y)
    reach = f.bias * 3 // 4
    ax, ay = abs(x[0]), abs(y)
    long = maximum(ax, ay)
    large, small = long > 2.0 ** (f.bias // 2 - 1), long < 2.0 ** (f.mantissa + 5 - f.bias // 2)
    factor = either(large, f.constant(2.0**-reach), either(small, f.constant(2.0**reach), 1.0))
    exponent_shift = either(large, f.constant(2.0 * reach), either(small, f.constant(-2.0 * reach), 0.0))
    total = _square_sum((x[0] * factor, x[1] * factor), y * factor)
    pieces, low = _split_pair(total)
    k, m = pieces.k + exponent_shift, pieces.f
    if near_one is not None:
        near, (m_near, low_near) = near_one
        k, m = either(near, f.constant(0.0), k), either(near, m_near, m)
        low = either(near, low_near - m_near * low_near, low)
    value = log_of_split(Split(k, m), low) * 0.5
    edge = either(is_infinite(x[0]) | is_infinite(y), infinity(f), either(is_zero(long), -infinity(f), nan(f)))
    return rare(~is_ordinary(total[0]), edge, value)


def log_of_abs(z: Complex) -> Expr:
    """log |z|."""
    return log_abs((z.re, const(0.0, z.kind)), z.im)


def log1p_of_abs(z: Complex) -> Expr:
    """log |1 + z|. For a small z the square less 1 is 2x + x**2 + y**2, with the errors of both sums."""
    w = two_sum(const(1.0, z.kind), z.re)
    x2, x2_low = two_product(z.re, z.re)
    y2, y2_low = two_product(z.im, z.im)
    first, first_low = two_sum(z.re + z.re, y2)
    second, second_low = two_sum(first, x2)
    close = (abs(z.re) < 0.125) & (abs(z.im) < 0.125)
    return log_abs(w, z.im, (close, fast_two_sum(second, (first_low + second_low) + (x2_low + y2_low))))


# --- the square root --------------------------------------------------------------------------------------------------


def root(z: Complex) -> Complex:
    """sqrt(z), the larger part first: t = sqrt((|x| + |z|) / 2), and the other is |y| / (2 t)."""
    f = format_of(z.re)
    ax, ay = abs(z.re), abs(z.im)
    long = maximum(ax, ay)
    lift = f.mantissa + 1 + (f.mantissa + 1) % 2
    large, small = long > 2.0 ** (f.bias - 2), long < 2.0 ** (lift - f.bias)
    factor = either(large, f.constant(2.0**-4), either(small, f.constant(2.0 ** (2 * lift)), 1.0))
    back = either(large, f.constant(4.0), either(small, f.constant(2.0**-lift), 1.0))
    ax, ay = ax * factor, ay * factor
    t = sqrt((ax + hypot(ax, ay)) * 0.5)
    other = either(is_zero(t), 0.0, ay / (t + t)) * back
    t = t * back
    left = z.re < 0.0
    upright = is_infinite(z.im)
    re, im = either(left, other, t), either(left, t, other)
    return Complex(either(upright, infinity(f), re), with_sign_of(either(upright, infinity(f), im), z.im))
