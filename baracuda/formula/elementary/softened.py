"""The exponentials of arguments that are known not to be positive, as in every softmax, and log1p of these.

The exponentials have the bits of `exp` and `exp2`, without a rare path: no overflow can occur, so that a clamp and a scaling
in two multiplications, of which only the last rounds, cover every case. Of values from 0 to 1, log1p is a polynomial.
"""

from __future__ import annotations

from collections.abc import Callable

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.exponential import reduce_exponent
from baracuda.formula.elementary.pieces import Format, format_of, horner, round_scaled, scale_in_range
from baracuda.formula.elementary.tables import elementary as c
from baracuda.formula.expr import Expr, binary, bitcast, fma


def softened(n: Expr, x: Expr) -> Callable[[Expr], Expr] | None:
    """The definition of a function whose operand, in primitives x, allows for a simpler one; None where there is none."""
    if n.op in _EXPONENTIALS and is_nonpositive(x):
        return _EXPONENTIALS[n.op]
    if n.op == "log1p" and n.kind is ElementKind.F32 and n.args[0].op in _EXPONENTIALS and is_nonpositive(n.args[0].args[0]):
        return log1p_of_fraction
    return None


def is_nonpositive(x: Expr) -> bool:
    """Whether x is a value less the largest of its row, or -|value|, or one of these or 0."""
    if x.op == "select":
        return all(is_nonpositive(a) or (a.op == "const" and a.value == 0) for a in x.args[1:])
    if x.op in ("stored_bf16", "stored_f16"):
        return is_nonpositive(x.args[0])
    if x.op != "sub":
        return x.op == "neg" and x.args[0].op == "abs"
    value, largest = x.args
    return largest.op == "reduce" and largest.attr[0] == "max" and largest.args[0] is value


def exp_of_nonpositive(x: Expr) -> Expr:
    """e**x for x <= 0 or NaN."""
    f = format_of(x)
    r, n = reduce_exponent(binary("max", x, -_least(f) * 0.6931471805599453))
    return _scaled(horner(r, c.EXP[f.kind]), n, f)


#: Taken from the integer part of an exponent in `exp_within`, so that it is negative, and has the same high bits, for all there.
_BELOW = 3
#: The bits that a number has in all but the last seven, which `exp_within` gives for an argument it is right for.
WITHIN = 0x4B3FFF80


def exp_within(x: Expr) -> tuple[Expr, Expr]:
    """e**x as `exp_of_nonpositive`, in f32 from -86 to 0 and a little above, in fewer steps; and the number that says whether x
    is one of these. (That the sum is rounded at another place changes nothing: no x is a tie but 0.)"""
    f = format_of(x)
    shifter = f.shifter - _BELOW
    shifted = fma(x, c.LOG2_E[f.kind], f.constant(shifter))
    n = shifted - shifter
    r = fma(n, -c.LN2_LOW[f.kind], fma(n, -c.LN2_HIGH[f.kind], x))
    scaled = horner(r, [a * 2.0**_BELOW for a in c.EXP[f.kind]])
    return scale_in_range(scaled, bitcast(shifted, f.signed)), shifted


def exp2_of_nonpositive(x: Expr) -> Expr:
    """2**x for x <= 0 or NaN."""
    f = format_of(x)
    clamped = binary("max", x, -float(_least(f)))
    n, shifted = round_scaled(clamped, 1.0)
    return _scaled(horner(clamped - n, c.EXP2[f.kind]), shifted, f)


def _least(f: Format) -> int:
    """2 to minus this is under half a subnormal."""
    return f.bias + f.mantissa + 1


def _scaled(x: Expr, n: Expr, f: Format) -> Expr:
    """x * 2**n for x near 1 and n in the low bits of an integer, down to the subnormals."""
    lift = 100 * f.mantissa // 23  # keeps 2**n normal down to the smallest subnormal
    power = bitcast((n << f.mantissa) + ((f.bias + lift) << f.mantissa), f.kind)
    return x * power * 2.0**-lift


def log1p_of_fraction(x: Expr) -> Expr:
    """log(1 + x) for 0 <= x <= 1 or NaN, in f32, at most 1.2 ULP off."""
    return fma(x * x, horner(x, c.LOG1P), x)


_EXPONENTIALS = {"exp": exp_of_nonpositive, "exp2": exp2_of_nonpositive}
