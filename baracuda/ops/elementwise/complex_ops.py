"""Complex numbers made of real ones, and taken apart.

`view_as_real` and `view_as_complex` change no element: they are views, made by the tensor's own library.
"""

from __future__ import annotations

import math

from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, const, select
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Value


@op()
def complex_(re: Expr, im: Expr) -> Complex:
    """re + i im, in complex64, or complex128 for f64."""
    return Complex(re, im)


@op()
def polar(size: Expr, angle: Expr) -> Complex:
    """size * e**(i angle), in complex64, or complex128 for f64."""
    return Complex(size * f.cos(angle), size * f.sin(angle))


@op()
def real(x: Value) -> Expr:
    """The real part."""
    return x.re if isinstance(x, Complex) else x


@op()
def imag(x: Value) -> Expr:
    """The imaginary part."""
    assert isinstance(x, Complex)
    return x.im


@op()
def conj(x: Value) -> Value:
    """The complex conjugate; a real number itself."""
    return x.conjugate() if isinstance(x, Complex) else x


@op()
def resolve_conj(x: Value) -> Value:
    """x itself: no tensor is conjugated lazily here, and a lazily conjugated one of another library is read as its values."""
    return x


@op()
def resolve_neg(x: Value) -> Value:
    """x itself: no tensor is negated lazily here, and a lazily negated one of another library is read as its values."""
    return x


@op(Rule.FLOATING)
def angle(x: Value) -> Expr:
    """The angle of x in radians, from -pi to pi; of a real number 0 or pi, and NaN of NaN. The gradient at 0, and by a real
    number, is zero."""
    if isinstance(x, Complex):
        return f.atan2(x.im, x.re)
    return select(f.equal(x, x), select(x < 0.0, const(math.pi, x.kind), 0.0), x)


@angle.backward
def _angle_backward(dy: Expr, x: Value) -> dict[str, Value]:
    if not isinstance(x, Complex):
        return {"dx": const(0.0, dy.kind)}
    size = abs(x)
    at_zero = f.equal(size, 0.0)
    slope = dy / size
    return {"dx": Complex(select(at_zero, 0.0, -(slope * (x.im / size))), select(at_zero, 0.0, slope * (x.re / size)))}
