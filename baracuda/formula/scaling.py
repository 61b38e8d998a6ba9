"""Words for the exponent of a float: multiplication by a power of two, and taking a float apart."""

from __future__ import annotations

from baracuda.core.elements import Category, ElementKind
from baracuda.formula.elementary.pieces import format_of, power_of_two
from baracuda.formula.expr import Expr, binary, bitcast, cast, compare, const, select


def scale_by_power_of_two(x: Expr, n: Expr) -> Expr:
    """x * 2**n for every integer n, rounded once. Its gradient by x is 2**n.

    The factor is taken apart into three in the range of the exponents. On the way down all but the last leave room for a
    whole significand above the subnormals, so that only the last product rounds.
    """
    f = format_of(x)
    lowest = 1 - f.bias
    remaining = _limited(n, 2 * (f.bias + f.mantissa) + 10, f.signed)
    for _ in range(2):
        step = select(remaining < lowest, const(lowest + f.mantissa + 1, f.signed), binary("min", remaining, f.bias))
        x, remaining = x * power_of_two(step), remaining - step
    return x * power_of_two(_clamp(remaining, lowest, f.bias))


def _clamp(n: Expr, low: int, high: int) -> Expr:
    return binary("min", binary("max", n, low), high)


def _limited(n: Expr, reach: int, kind: ElementKind) -> Expr:
    """An integer limited to -reach ... reach, in `kind`."""
    if n.kind.category is Category.UNSIGNED:
        return cast(binary("min", n, reach), kind)
    return cast(_clamp(n, -reach, reach), kind)


def exponent_of(x: Expr) -> Expr:
    """The integer e with 0.5 <= |x| / 2**e < 1, in the integers of x's size; 0 for zero, infinities and NaN."""
    f = format_of(x)
    lift = f.mantissa + 1
    subnormal = abs(x) < 2.0 ** (1 - f.bias)
    lifted = select(subnormal, x * 2.0**lift, x)
    biased = (bitcast(lifted, f.signed) >> f.mantissa) & (2 * f.bias + 1)
    e = biased - select(subnormal, const(f.bias - 1 + lift, f.signed), f.bias - 1)
    ordinary = (abs(x) < float("inf")) & compare("ne", x, 0.0)
    return select(ordinary, e, 0)
