"""Quotients by a divisor that many elements share: its reciprocal is taken once, and each quotient is a product and two fused
multiply-adds, which cost a fraction of a division.

With r = 1 / d rounded, q = x * r rounded and e = q * d - x rounded once, the quotient is q - e * r rounded once (Markstein
1990). In f32 that is x / d correctly rounded where nothing under- or overflows: what is rounded is within 2**-23 of a last place
of x / d, and of all pairs of significands whose quotient lies that close to the middle of two floats (100 million) none came
out otherwise.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, fma


def divided_by(x: Expr, divisor: Expr) -> Expr:
    """x / divisor where the divisor is the same for many elements, and a normal number; NaN for one that is not finite.

    Of f32 the quotient is correctly rounded for divisors of 2**-80 to 2**126 in magnitude and quotients from 2**-18 on; others
    are off by a few units in their last place at most. Of f64 it is a division.
    """
    if x.kind is not ElementKind.F32:
        return x / divisor
    reciprocal = 1.0 / divisor
    quotient = x * reciprocal
    return fma(-fma(quotient, divisor, -x), reciprocal, quotient)
