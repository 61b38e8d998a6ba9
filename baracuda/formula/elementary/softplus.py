"""log(1 + e**x) = max(x, 0) + log(1 + E) with E = e**-|x| in [0, 1], so that a polynomial of E takes the place of the logarithm
and nothing overflows."""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.elementary.exponential import exp_minus_one_on_r, reduce_exponent
from baracuda.formula.elementary.pieces import either, fast_two_sum, format_of, horner
from baracuda.formula.elementary.tables import elementary as c
from baracuda.formula.expand import elementary
from baracuda.formula.expr import Expr, binary, bitcast, fma
from baracuda.formula.functions import exp, log1p, maximum, minimum

#: What powers of two are raised by, so that they are normal down to the smallest subnormal result.
_LIFT = 100


@elementary("softplus", ElementKind.F32)
def softplus(x: Expr) -> Expr:
    """E and the sum of E and max(x, 0) as pairs, so that only the last addition rounds at full size."""
    f = format_of(x)
    smallest = -(f.bias + f.mantissa + 1) * 0.6931471805599453  # E is under half a subnormal there
    r, n = reduce_exponent(binary("max", -abs(x), smallest))
    p, p_low = fast_two_sum(f.constant(1.0), exp_minus_one_on_r(r))
    power = bitcast((n << f.mantissa) + ((f.bias + _LIFT) << f.mantissa), f.kind)
    e, e_low = p * power * 2.0**-_LIFT, p_low * (power * 2.0**-_LIFT)
    ramp = maximum(x, 0.0)
    high, low = fast_two_sum(maximum(ramp, e), minimum(ramp, e))
    low = fma(e_low, fma(e, -0.5, f.constant(1.0)), low)  # 1 / (1 + E) to the few bits that it needs
    value = high + fma(e * e, horner(e, c.LOG1P), low)
    return either(x > 32.0, x, value)  # at infinity the sum has no low part


@elementary("softplus", ElementKind.F64)
def softplus_f64(x: Expr) -> Expr:
    """By log1p, since in f64 the polynomial would have more terms than log1p has operations."""
    return maximum(x, 0.0) + log1p(exp(-abs(x)))
