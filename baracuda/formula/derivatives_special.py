"""The derivatives of the special functions; `baracuda.formula.derivatives` imports this module, which registers them."""

from __future__ import annotations

import math
from collections.abc import Callable

from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.derivatives import RULES
from baracuda.formula.expr import Expr, compare, const, fma, select
from baracuda.formula.functions import cos, exp, rint
from baracuda.formula.special_functions import bessel_j0, bessel_j1, digamma, erfcx, i0, i0e, i1, i1e, trigamma

_TWO_BY_ROOT_PI = 2.0 / math.sqrt(math.pi)


def _erfinv(x: Expr, y: Expr) -> Expr:
    return exp(y * y) * (1.0 / _TWO_BY_ROOT_PI)


def _erfcx(x: Expr, y: Expr) -> Expr:
    return fma(x + x, y, const(-_TWO_BY_ROOT_PI, x.kind))


def _ndtr(x: Expr, y: Expr) -> Expr:
    return exp(x * x * -0.5) * (1.0 / math.sqrt(2.0 * math.pi))


def _log_ndtr(x: Expr, y: Expr) -> Expr:
    """The density by ndtr, both without their exponential, so that neither tail underflows to 0 / 0."""
    return math.sqrt(2.0 / math.pi) / erfcx(x * -math.sqrt(0.5))


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
    return i1e(x) - _sign(x) * y


def _i1(x: Expr, y: Expr) -> Expr:
    return i0(x) - _by_x(y, x)


def _i1e(x: Expr, y: Expr) -> Expr:
    return i0e(x) - _sign(x) * y - _by_x(y, x)


def _bessel_j0(x: Expr, y: Expr) -> Expr:
    return -bessel_j1(x)


def _bessel_j1(x: Expr, y: Expr) -> Expr:
    return bessel_j0(x) - _by_x(y, x)


def _sinc(x: Expr, y: Expr) -> Expr:
    """(cos(pi x) - sinc(x)) / x; for |x| < 1/4, where that cancels, the Taylor series."""
    turns = x - 2.0 * rint(x * 0.5)
    u = x * x
    series = const(0.0, x.kind)
    for k in range(6 if x.kind is ElementKind.F32 else 9, 0, -1):
        series = fma(u, series, const((-1) ** k * 2 * k * math.pi ** (2 * k) / math.factorial(2 * k + 1), x.kind))
    return select(abs(x) < 0.25, x * series, (cos(turns * math.pi) - y) / x)


def _register(op: str, derivative: Callable[[Expr, Expr], Expr]) -> None:
    def rule(y: Expr, dy: Expr, operand: int) -> Expr:
        return dy * derivative(y.args[0], y)

    RULES[op] = rule


for _op, _derivative in {
    "erfinv": _erfinv, "erfcx": _erfcx, "ndtr": _ndtr, "log_ndtr": _log_ndtr, "ndtri": _ndtri, "lgamma": _lgamma,
    "gamma": _gamma, "digamma": _digamma, "trigamma": _trigamma, "i0": _i0, "i0e": _i0e, "i1": _i1, "i1e": _i1e, "sinc": _sinc,
    "bessel_j0": _bessel_j0, "bessel_j1": _bessel_j1,
}.items():  # fmt: skip
    _register(_op, _derivative)
