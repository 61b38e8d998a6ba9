"""The remainders of a quotient rounded towards zero, which is always representable and so exact, and rounded down."""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.pieces import (
    F32,
    between,
    flip_sign,
    format_of,
    infinity,
    nan,
    reciprocal,
    sign_bit,
    with_sign_of,
)
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, cast, compare, fma, node, rare, select, unary

#: Quotients in f32 below this have a remainder by `_around_zero`, whose reciprocal is too small by this part.
_REACH, _LESS = 2.0**18, 2.0**-21


def _step(a: Expr, b: Expr, quotient: Expr) -> Expr:
    """a mod b for 0 <= a and 0 < b < inf, where the quotient, rounded, has no more bits than its kind.

    Truncated, it is the wanted integer n, or n + 1 where rounding went up; a - n*b and a - (n+1)*b have no more bits than
    a and b, so that neither the fused multiply-add nor the correction rounds.
    """
    rest = fma(-unary("trunc", quotient), b, a)
    return select(rest < 0.0, rest + b, rest)


def _by_steps(a: Expr, b: Expr, reach: int) -> Expr:
    """a mod b in f64, where a / b is below 2**reach, by way of a modulo b * 2**power for powers 53 apart.

    A modulus that overflows is above a, and one above a leaves it.
    """
    for power in (*range(reach - 53, 0, -53), 0):
        once = min(power, 1023)
        modulus = b * 2.0**once * 2.0 ** (power - once)
        a = select(modulus <= a, _step(a, modulus, a / modulus), a)
    return a


def _in_steps(a: Expr, b: Expr) -> Expr:
    """a mod b for a and b not below zero; a quotient of too many bits is taken apart, for f32 in f64."""
    f = format_of(a)
    if f is F32:
        slow = cast(_by_steps(cast(a, ElementKind.F64), cast(b, ElementKind.F64), 277), ElementKind.F32)
    else:
        slow = _by_steps(a, b, 2098)
    return select((a < infinity(f)) & (b > 0.0), slow, nan(f))


def _around_zero(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """In f32 a mod b, less b where it is not below b / 2 or nearly so; and whether that holds: not for a quotient from about
    2**18 on, or a divisor so small or large that its reciprocal is none.

    The quotient, slightly too small, is rounded to the nearest integer n, which is that rounded down or the next. Where a < b, n
    is 1 only from b / 2 on, and else a and b are multiples of b's ULP: so a - n*b is exact, and so is adding b.
    """
    shifted = fma(a, reciprocal(b, _LESS), F32.constant(F32.shifter))
    n = shifted - F32.shifter
    return fma(-n, b, a), between(b, 2.0**-126, 2.0**125) & (n < _REACH)


def _not_negative(x: Expr, b: Expr) -> Expr:
    return select(x < 0.0, x + b, x)


@elementary("fmod", ElementKind.F32)
def fmod(x: Expr, y: Expr) -> Expr:
    """|x| modulo |y| with the sign of x."""
    a, b = abs(x), abs(y)
    rest, plain = _around_zero(a, b)
    return with_sign_of(rare(~plain, _in_steps(a, b), _not_negative(rest, b)), x)


@elementary("fmod", ElementKind.F64)
def fmod_f64(x: Expr, y: Expr) -> Expr:
    f = format_of(x)
    a, b = abs(x), abs(y)
    quotient = a / b
    plain = (quotient < 2.0 ** (f.mantissa + 1)) & (b < infinity(f))
    return with_sign_of(rare(~plain, _in_steps(a, b), _step(a, b, quotient)), x)


@elementary("remainder", ElementKind.F32)
def remainder(x: Expr, y: Expr) -> Expr:
    """|x| modulo |y|, or its distance from |y| where the signs differ, with the sign of y."""
    a, b = abs(x), abs(y)
    rest, plain = _around_zero(a, b)
    turn = sign_bit(x) ^ sign_bit(y)
    slow = _not_negative(flip_sign(_in_steps(a, b), turn), b)
    return with_sign_of(abs(rare(~plain, slow, _not_negative(flip_sign(rest, turn), b))), y)


@elementary("remainder", ElementKind.F64)
def remainder_f64(x: Expr, y: Expr) -> Expr:
    """fmod(x, y), plus y where the signs differ; a zero has the sign of y."""
    rest = node("fmod", (x, y), x.kind)
    zero = compare("eq", rest, 0.0)
    result = select(~zero & ((rest < 0.0) ^ (y < 0.0)), rest + y, rest)
    return select(zero, with_sign_of(format_of(x).constant(0.0), y), result)
