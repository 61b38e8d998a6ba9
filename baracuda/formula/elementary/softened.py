"""The exponential of arguments that are known not to be positive, as in every softmax.

It has the bits of `exp` on them, without a rare path: no overflow can occur, so that a clamp and a scaling in two
multiplications, of which only the last rounds, cover every case.
"""

from __future__ import annotations

from baracuda.formula.elementary import coefficients as c
from baracuda.formula.elementary.exponential import reduce_exponent
from baracuda.formula.elementary.pieces import format_of, horner
from baracuda.formula.expr import Expr, binary, bitcast


def is_nonpositive(x: Expr) -> bool:
    """Whether x is a value less the largest of its row, or -|value|."""
    if x.op != "sub":
        return x.op == "neg" and x.args[0].op == "abs"
    value, largest = x.args
    return largest.op == "reduce" and largest.attr[0] == "max" and largest.args[0] is value


def exp_of_nonpositive(x: Expr) -> Expr:
    """e**x for x <= 0 or NaN."""
    f = format_of(x)
    lift = 100 * f.mantissa // 23  # keeps 2**n normal down to the smallest subnormal
    clamped = binary("max", x, -(f.bias + f.mantissa + 1) * 0.6931471805599453)  # e**clamped is under half a subnormal
    r, n = reduce_exponent(clamped)
    power = bitcast((n << f.mantissa) + ((f.bias + lift) << f.mantissa), f.kind)
    return horner(r, c.EXP[f.kind]) * power * 2.0**-lift
