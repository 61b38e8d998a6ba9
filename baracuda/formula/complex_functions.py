"""The elementary functions of complex numbers as words, with their derivatives.

A function is two nodes, for the real and the imaginary part, that stay whole in the DAG. As it is holomorphic, its derivative
f' gives both parts' gradients by the Cauchy-Riemann equations: that of the argument is the result's times the conjugate of f'.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import baracuda.formula.elementary.complex_exponential
import baracuda.formula.elementary.complex_inverse  # noqa: F401  (both register on import)
from baracuda.formula.complex import FUNCTIONS as FUNCTIONS
from baracuda.formula.complex import Complex, Value
from baracuda.formula.derivatives import RULES, Term
from baracuda.formula.elementary.complex_pieces import is_zero, operation
from baracuda.formula.expr import Expr, const

Slope = Callable[[Complex], Complex]


def _turned(z: Complex) -> Complex:
    """i z."""
    return Complex(-z.im, z.re)


def _turned_back(z: Complex) -> Complex:
    """-i z."""
    return Complex(z.im, -z.re)


def _as_complex(x: Value) -> Complex:
    return x if isinstance(x, Complex) else Complex(x, const(0.0, x.kind))


def _contribution(y: Expr, dy: Expr, slope: Complex, operand: int) -> Expr:
    """What a part of a value adds to the gradient of a part of the argument."""
    imaginary = y.op.endswith(".im")
    if imaginary == bool(operand % 2):
        return dy * slope.re
    return dy * slope.im if imaginary else -(dy * slope.im)


def _register(name: str, slope: Slope) -> None:
    def function(z: Complex) -> Complex:
        return operation(name, z)

    def rule(y: Expr, dy: Expr, operand: int) -> Expr:
        return _contribution(y, dy, slope(Complex(*y.args)), operand)

    FUNCTIONS[name] = function
    RULES.update({f"complex_{name}.re": rule, f"complex_{name}.im": rule})


def _rsqrt_slope(z: Complex) -> Complex:
    w = operation("rsqrt", z)
    return w * w * w * -0.5


def _tanh_slope(z: Complex) -> Complex:
    w = operation("tanh", z)
    return (1.0 - w) * (1.0 + w)


def _sigmoid_slope(z: Complex) -> Complex:
    return operation("sigmoid", z) * operation("sigmoid", -z)


def _asin_slope(z: Complex) -> Complex:
    return operation("rsqrt", 1.0 - z) * operation("rsqrt", 1.0 + z)


for _name, _slope in {
    "exp": lambda z: operation("exp", z),
    "exp2": lambda z: operation("exp2", z) * math.log(2.0),
    "expm1": lambda z: operation("exp", z),
    "sinh": lambda z: operation("cosh", z),
    "cosh": lambda z: operation("sinh", z),
    "tanh": _tanh_slope,
    "sigmoid": _sigmoid_slope,
    "log": lambda z: 1.0 / z,
    "log1p": lambda z: 1.0 / (1.0 + z),
    "sqrt": lambda z: operation("rsqrt", z) * 0.5,
    "rsqrt": _rsqrt_slope,
    "asin": _asin_slope,
    "acos": lambda z: -_asin_slope(z),
    "acosh": lambda z: operation("rsqrt", z - 1.0) * operation("rsqrt", z + 1.0),
    "atanh": lambda z: 1.0 / ((1.0 - z) * (1.0 + z)),
}.items():
    _register(_name, _slope)


def log2(z: Complex) -> Complex:
    """log(z) / ln 2."""
    return operation("log", z) * (1.0 / math.log(2.0))


def log10(z: Complex) -> Complex:
    """log(z) / ln 10."""
    return operation("log", z) * (1.0 / math.log(10.0))


def sin(z: Complex) -> Complex:
    """-i sinh(i z)."""
    return _turned_back(operation("sinh", _turned(z)))


def cos(z: Complex) -> Complex:
    """cosh(i z)."""
    return operation("cosh", _turned(z))


def tan(z: Complex) -> Complex:
    """-i tanh(i z)."""
    return _turned_back(operation("tanh", _turned(z)))


def asinh(z: Complex) -> Complex:
    """-i asin(i z)."""
    return _turned_back(operation("asin", _turned(z)))


def atan(z: Complex) -> Complex:
    """-i atanh(i z)."""
    return _turned_back(operation("atanh", _turned(z)))


def pow_(z: Value, w: Value) -> Complex:
    """z**w = e**(w log z); 0 to a power with a positive real part is 0, and anything to the power 0 is 1."""
    return operation("pow", _as_complex(z), _as_complex(w))


def _pow_rule(y: Expr, dy: Expr, operand: int) -> Term:
    z, w = Complex(*y.args[:2]), Complex(*y.args[2:])
    if operand < 2:
        slope = w * operation("pow", z, w - 1.0)
        constant = is_zero(w.re) & is_zero(w.im)
    else:
        slope = operation("pow", z, w) * operation("log", z)
        constant = is_zero(z.re) & is_zero(z.im) & (w.re >= 0.0)  # 0**w stays 0 (or 1) whichever way w moves
    return Term(_contribution(y, dy, slope, operand), ((constant, False),))


RULES.update({"complex_pow.re": _pow_rule, "complex_pow.im": _pow_rule})
FUNCTIONS.update({f.__name__.rstrip("_"): f for f in (log2, log10, sin, cos, tan, asinh, atan, pow_)})
