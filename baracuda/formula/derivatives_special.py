"""The derivatives of the special functions; `baracuda.formula.derivatives` imports this module, which registers them."""

from __future__ import annotations

import math
from collections.abc import Callable

from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.derivatives import RULES
from baracuda.formula.expr import Expr, compare, const, fma, select
from baracuda.formula.functions import cos, exp, log, log1p, rint, sigmoid, sin
from baracuda.formula.special_functions import (
    bessel_j0,
    bessel_j1,
    bessel_k0,
    bessel_k0e,
    bessel_k1,
    bessel_k1e,
    bessel_y0,
    bessel_y1,
    betainc_by_a,
    betainc_by_b,
    betainc_by_x,
    digamma,
    hyp1f1,
    i0,
    i0e,
    i0e_slope,
    i1,
    i1e,
    igamma_by_a,
    igamma_by_x,
    inverse_mills,
    trigamma,
)

_TWO_BY_ROOT_PI = 2.0 / math.sqrt(math.pi)


def _erfinv(x: Expr, y: Expr) -> Expr:
    return exp(y * y) * (1.0 / _TWO_BY_ROOT_PI)


def _erfcx(x: Expr, y: Expr) -> Expr:
    return fma(x + x, y, const(-_TWO_BY_ROOT_PI, x.kind))


def _ndtr(x: Expr, y: Expr) -> Expr:
    return exp(x * x * -0.5) * (1.0 / math.sqrt(2.0 * math.pi))


def _log_ndtr(x: Expr, y: Expr) -> Expr:
    return inverse_mills(x)


def _inverse_mills(x: Expr, y: Expr) -> Expr:
    return -y * (x + y)


def _ndtri(x: Expr, y: Expr) -> Expr:
    return exp(y * y * 0.5) * math.sqrt(2.0 * math.pi)


def _lgamma(x: Expr, y: Expr) -> Expr:
    return digamma(x)


def _gamma(x: Expr, y: Expr) -> Expr:
    return y * digamma(x)


def _digamma(x: Expr, y: Expr) -> Expr:
    return trigamma(x)


def _trigamma(x: Expr, y: Expr) -> Expr:
    raise UnsupportedError("trigamma has no derivative here; expected at most the second derivative of lgamma")


def _sign(x: Expr) -> Expr:
    return select(x > 0.0, const(1.0, x.kind), select(x < 0.0, const(-1.0, x.kind), x))


def _by_x(y: Expr, x: Expr) -> Expr:
    """y / x for an odd function y of x with slope 1/2 at zero."""
    return select(compare("eq", x, 0.0), const(0.5, x.kind), y / x)


def _i0(x: Expr, y: Expr) -> Expr:
    return i1(x)


def _i0e(x: Expr, y: Expr) -> Expr:
    return i0e_slope(x)


def _i0e_slope(x: Expr, y: Expr) -> Expr:
    return _i1e(x, i1e(x)) - _sign(x) * y


def _i1(x: Expr, y: Expr) -> Expr:
    return i0(x) - _by_x(y, x)


def _i1e(x: Expr, y: Expr) -> Expr:
    return i0e(x) - _sign(x) * y - _by_x(y, x)


def _bessel_j0(x: Expr, y: Expr) -> Expr:
    return -bessel_j1(x)


def _bessel_j1(x: Expr, y: Expr) -> Expr:
    return bessel_j0(x) - _by_x(y, x)


def _logit(x: Expr, y: Expr) -> Expr:
    return 1.0 / (x * (1.0 - x))


def _sinc(x: Expr, y: Expr) -> Expr:
    """(cos(pi x) - sinc(x)) / x; for |x| < 1/4, where that cancels, the Taylor series."""
    turns = x - 2.0 * rint(x * 0.5)
    u = x * x
    series = const(0.0, x.kind)
    for k in range(6 if x.kind is ElementKind.F32 else 9, 0, -1):
        series = fma(u, series, const((-1) ** k * 2 * k * math.pi ** (2 * k) / math.factorial(2 * k + 1), x.kind))
    return select(abs(x) < 0.25, x * series, (cos(turns * math.pi) - y) / x)


def _exp1(x: Expr, y: Expr) -> Expr:
    return -exp(-x) / x


def _expi(x: Expr, y: Expr) -> Expr:
    return exp(x) / x


def _dawsn(x: Expr, y: Expr) -> Expr:
    return fma(x * -2.0, y, const(1.0, x.kind))


def _spence(x: Expr, y: Expr) -> Expr:
    at_one = compare("eq", x, 1.0)
    return select(at_one, const(-1.0, x.kind), log(x) / (1.0 - x))


def _sine_integral(x: Expr, y: Expr) -> Expr:
    return select(compare("eq", x, 0.0), const(1.0, x.kind), sin(x) / x)


def _cosine_integral(x: Expr, y: Expr) -> Expr:
    return cos(x) / x


def _fresnel_angle(x: Expr) -> Expr:
    """pi x**2 / 2 without its whole turns."""
    square = x * x
    return (square - rint(square * 0.25) * 4.0) * (math.pi / 2.0)


def _fresnel_s(x: Expr, y: Expr) -> Expr:
    return sin(_fresnel_angle(x))


def _fresnel_c(x: Expr, y: Expr) -> Expr:
    return cos(_fresnel_angle(x))


def _bessel_y0(x: Expr, y: Expr) -> Expr:
    return -bessel_y1(x)


def _bessel_y1(x: Expr, y: Expr) -> Expr:
    return bessel_y0(x) - y / x


def _bessel_k0(x: Expr, y: Expr) -> Expr:
    return -bessel_k1(x)


def _bessel_k1(x: Expr, y: Expr) -> Expr:
    return -bessel_k0(x) - y / x


def _bessel_k0e(x: Expr, y: Expr) -> Expr:
    return y - bessel_k1e(x)


def _bessel_k1e(x: Expr, y: Expr) -> Expr:
    return y - y / x - bessel_k0e(x)


def _binomial(y: Expr, dy: Expr, operand: int) -> Expr:
    n, k = y.args
    other = digamma(n - k + 1.0)
    return dy * (y * (digamma(n + 1.0) - other if operand == 0 else other - digamma(k + 1.0)))


def _pochhammer(y: Expr, dy: Expr, operand: int) -> Expr:
    x, m = y.args
    shifted = digamma(x + m)
    return dy * (y * (shifted - digamma(x) if operand == 0 else shifted))


def _power_of_positive(y: Expr, dy: Expr, operand: int) -> Expr:
    x, exponent = y.args
    return dy * (y * (exponent / x if operand == 0 else log(x)))


def _zeta_reflection(s: Expr, y: Expr) -> Expr:
    return y * (digamma(s) - math.log(2.0 * math.pi))


def _igamma(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy * (igamma_by_x if operand else igamma_by_a)(*y.args)


def _igammac(y: Expr, dy: Expr, operand: int) -> Expr:
    return -_igamma(y, dy, operand)


def _igamma_by_x(y: Expr, dy: Expr, operand: int) -> Expr:
    a, x = y.args
    return dy * (y * ((a - 1.0) / x - 1.0 if operand else log(x) - digamma(a)))


def _igamma_by_a(y: Expr, dy: Expr, operand: int) -> Expr:
    if not operand:
        raise UnsupportedError("igamma_by_a has no derivative by a; expected one by x, or the first derivative of igamma by a")
    a, x = y.args
    return dy * (igamma_by_x(a, x) * (log(x) - digamma(a)))


def _betainc(y: Expr, dy: Expr, operand: int) -> Expr:
    return dy * (betainc_by_a, betainc_by_b, betainc_by_x)[operand](*y.args)


def _slope_of_beta_density(y: Expr, operand: int) -> Expr:
    """The derivative of ln(x**a (1-x)**b / beta(a, b)) by a or b."""
    a, b, x = y.args
    return (log1p(-x) - digamma(b) if operand else log(x) - digamma(a)) + digamma(a + b)


def _betainc_by_x(y: Expr, dy: Expr, operand: int) -> Expr:
    a, b, x = y.args
    return dy * (y * ((a - 1.0) / x - (b - 1.0) / (1.0 - x) if operand == 2 else _slope_of_beta_density(y, operand)))


def _of_betainc_by(parameter: int) -> Callable[[Expr, Expr, int], Expr]:
    def rule(y: Expr, dy: Expr, operand: int) -> Expr:
        if operand != 2:
            raise UnsupportedError(
                f"{y.op} has no derivative by {'ab'[operand]}; expected one by x, or the first derivative of betainc by a or b"
            )
        return dy * (betainc_by_x(*y.args) * _slope_of_beta_density(y, parameter))

    return rule


def _hyp1f1(y: Expr, dy: Expr, operand: int) -> Expr:
    if operand != 2:
        raise UnsupportedError(f"hyp1f1 has no derivative by {'ab'[operand]}; expected one by x")
    a, b, x = y.args
    return dy * (a / b * hyp1f1(a + 1.0, b + 1.0, x))


RULES.update(
    binomial=_binomial, pochhammer=_pochhammer, power_of_positive=_power_of_positive, igamma=_igamma, igammac=_igammac,
    igamma_by_x=_igamma_by_x, igamma_by_a=_igamma_by_a, betainc=_betainc, betainc_by_x=_betainc_by_x,
    betainc_by_a=_of_betainc_by(0), betainc_by_b=_of_betainc_by(1), hyp1f1=_hyp1f1,
)  # fmt: skip


def _register(op: str, derivative: Callable[[Expr, Expr], Expr]) -> None:
    def rule(y: Expr, dy: Expr, operand: int) -> Expr:
        return dy * derivative(y.args[0], y)

    RULES[op] = rule


for _op, _derivative in {
    "erfinv": _erfinv, "erfcx": _erfcx, "ndtr": _ndtr, "log_ndtr": _log_ndtr, "ndtri": _ndtri, "lgamma": _lgamma,
    "gamma": _gamma, "digamma": _digamma, "trigamma": _trigamma, "i0": _i0, "i0e": _i0e, "i1": _i1, "i1e": _i1e,
    "sinc": _sinc, "bessel_j0": _bessel_j0, "bessel_j1": _bessel_j1, "zeta_reflection": _zeta_reflection,
    "exp_moderate": lambda x, y: y, "softplus": lambda x, y: sigmoid(x), "logit": _logit, "exp1": _exp1,
    "expi": _expi, "dawsn": _dawsn, "spence": _spence, "sine_integral": _sine_integral, "cosine_integral": _cosine_integral,
    "fresnel_s": _fresnel_s, "fresnel_c": _fresnel_c, "bessel_y0": _bessel_y0, "bessel_y1": _bessel_y1,
    "bessel_k0": _bessel_k0, "bessel_k1": _bessel_k1, "bessel_k0e": _bessel_k0e, "bessel_k1e": _bessel_k1e,
    "inverse_mills": _inverse_mills, "i0e_slope": _i0e_slope,
}.items():  # fmt: skip
    _register(_op, _derivative)
