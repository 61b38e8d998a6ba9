"""Complex values in formulas: a pair of real expressions with the arithmetic of complex numbers.

A complex tensor is read and written as its two parts, so nothing below the formula knows about complex numbers, and the
gradient of a real loss by (re, im) is PyTorch's convention for complex gradients: dL/dRe + i dL/dIm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, as_expr, node

Value: TypeAlias = "Expr | Complex"
Operand: TypeAlias = "Expr | Complex | complex"

#: Functions of a complex argument, by the name of the real function; `baracuda.formula.complex_functions` fills it.
FUNCTIONS: dict[str, Callable[..., Any]] = {}


@dataclass(frozen=True)
class Complex:
    """re + i im.

    A real operand is real: it takes no part in the imaginary part, whose zero keeps its sign (the side of a branch cut).
    """

    re: Expr
    im: Expr

    @property
    def kind(self) -> ElementKind:
        """The kind of either part."""
        return self.re.kind

    def _of(self, other: Operand) -> Complex:
        if isinstance(other, Complex):
            return other
        if isinstance(other, complex):
            return Complex(as_expr(other.real, self.kind), as_expr(other.imag, self.kind))
        return Complex(as_expr(other, self.kind), as_expr(0.0, self.kind))

    def __add__(self, other: Operand) -> Complex:
        if isinstance(other, (Expr, int, float)):
            return Complex(self.re + other, self.im)
        b = self._of(other)
        return Complex(self.re + b.re, self.im + b.im)

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Complex:
        if isinstance(other, (Expr, int, float)):
            return Complex(self.re - other, self.im)
        b = self._of(other)
        return Complex(self.re - b.re, self.im - b.im)

    def __rsub__(self, other: Operand) -> Complex:
        if isinstance(other, (Expr, int, float)):
            return Complex(other - self.re, -self.im)
        return self._of(other) - self

    def __mul__(self, other: Operand) -> Complex:
        if isinstance(other, (Expr, int, float)):
            return Complex(self.re * other, self.im * other)
        b = self._of(other)
        return Complex(self.re * b.re - self.im * b.im, self.re * b.im + self.im * b.re)

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Complex:
        if isinstance(other, (Expr, int, float)):
            return Complex(self.re / other, self.im / other)
        return divide(self, self._of(other))

    def __rtruediv__(self, other: Operand) -> Complex:
        return divide(self._of(other), self)

    def __neg__(self) -> Complex:
        return Complex(-self.re, -self.im)

    def __abs__(self) -> Expr:
        return node("hypot", (self.re, self.im), self.kind)

    def conjugate(self) -> Complex:
        return Complex(self.re, -self.im)


def divide(a: Complex, b: Complex) -> Complex:
    """a / b by Smith's method, scaled by the larger part of b so that no intermediate overflows."""
    from baracuda.formula.expr import select

    larger = abs(b.re) >= abs(b.im)
    top, bottom = select(larger, b.re, b.im), select(larger, b.im, b.re)
    ratio = bottom / top
    scale = top + bottom * ratio
    plain, turned = a.re + a.im * ratio, a.re * ratio + a.im
    plain_im, turned_im = a.im - a.re * ratio, a.im * ratio - a.re
    return Complex(select(larger, plain, turned) / scale, select(larger, plain_im, turned_im) / scale)
