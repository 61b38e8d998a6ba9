"""Elementwise functions: each is a function of the library, with the standard's name.

Operands of different elements find their common one as `baracuda.ops.declaration.promotion` says, which completes the standard's
tables: an integer with a float takes the float. A Python number takes the other operand's element where it is of its kind.
"""

from __future__ import annotations

import baracuda
from baracuda.array_api.operands import Operand, in_kind_of
from baracuda.core.elements import Category
from baracuda.frontends.array import Array


def abs(x: Array, /) -> Array:
    """`baracuda.abs`."""
    return baracuda.abs(x)


def acos(x: Array, /) -> Array:
    """`baracuda.acos`."""
    return baracuda.acos(x)


def acosh(x: Array, /) -> Array:
    """`baracuda.acosh`."""
    return baracuda.acosh(x)


def add(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.add`."""
    return baracuda.add(x1, x2)


def asin(x: Array, /) -> Array:
    """`baracuda.asin`."""
    return baracuda.asin(x)


def asinh(x: Array, /) -> Array:
    """`baracuda.asinh`."""
    return baracuda.asinh(x)


def atan(x: Array, /) -> Array:
    """`baracuda.atan`."""
    return baracuda.atan(x)


def atan2(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.atan2`."""
    return baracuda.atan2(x1, x2)


def atanh(x: Array, /) -> Array:
    """`baracuda.atanh`."""
    return baracuda.atanh(x)


def bitwise_and(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.bitwise_and`."""
    return baracuda.bitwise_and(x1, x2)


def bitwise_invert(x: Array, /) -> Array:
    """`baracuda.bitwise_not`."""
    return baracuda.bitwise_not(x)


def bitwise_left_shift(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.bitwise_left_shift`."""
    return baracuda.bitwise_left_shift(x1, x2)


def bitwise_or(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.bitwise_or`."""
    return baracuda.bitwise_or(x1, x2)


def bitwise_right_shift(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.bitwise_right_shift`."""
    return baracuda.bitwise_right_shift(x1, x2)


def bitwise_xor(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.bitwise_xor`."""
    return baracuda.bitwise_xor(x1, x2)


def ceil(x: Array, /) -> Array:
    """`baracuda.ceil`."""
    return baracuda.ceil(x)


def clip(x: Array, /, min: Operand | None = None, max: Operand | None = None) -> Array:
    """`baracuda.clamp`, in the element of x."""
    return in_kind_of(x, baracuda.clamp(x, min, max)) if min is not None or max is not None else x.copy()


def conj(x: Array, /) -> Array:
    """`baracuda.conj`."""
    return baracuda.conj(x)


def copysign(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.copysign`."""
    return baracuda.copysign(x1, x2)


def cos(x: Array, /) -> Array:
    """`baracuda.cos`."""
    return baracuda.cos(x)


def cosh(x: Array, /) -> Array:
    """`baracuda.cosh`."""
    return baracuda.cosh(x)


def divide(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.div`."""
    return baracuda.div(x1, x2)


def equal(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.eq`."""
    return baracuda.eq(x1, x2)


def exp(x: Array, /) -> Array:
    """`baracuda.exp`."""
    return baracuda.exp(x)


def expm1(x: Array, /) -> Array:
    """`baracuda.expm1`."""
    return baracuda.expm1(x)


def floor(x: Array, /) -> Array:
    """`baracuda.floor`."""
    return baracuda.floor(x)


def floor_divide(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.floor_divide`."""
    return baracuda.floor_divide(x1, x2)


def greater(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.gt`."""
    return baracuda.gt(x1, x2)


def greater_equal(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.ge`."""
    return baracuda.ge(x1, x2)


def hypot(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.hypot`."""
    return baracuda.hypot(x1, x2)


def imag(x: Array, /) -> Array:
    """`baracuda.imag`."""
    return baracuda.imag(x)


def isfinite(x: Array, /) -> Array:
    """`baracuda.isfinite`."""
    return baracuda.isfinite(x)


def isinf(x: Array, /) -> Array:
    """`baracuda.isinf`."""
    return baracuda.isinf(x)


def isnan(x: Array, /) -> Array:
    """`baracuda.isnan`."""
    return baracuda.isnan(x)


def less(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.lt`."""
    return baracuda.lt(x1, x2)


def less_equal(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.le`."""
    return baracuda.le(x1, x2)


def log(x: Array, /) -> Array:
    """`baracuda.log`."""
    return baracuda.log(x)


def log10(x: Array, /) -> Array:
    """`baracuda.log10`."""
    return baracuda.log10(x)


def log1p(x: Array, /) -> Array:
    """`baracuda.log1p`."""
    return baracuda.log1p(x)


def log2(x: Array, /) -> Array:
    """`baracuda.log2`."""
    return baracuda.log2(x)


def logaddexp(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.logaddexp`."""
    return baracuda.logaddexp(x1, x2)


def logical_and(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.logical_and`."""
    return baracuda.logical_and(x1, x2)


def logical_not(x: Array, /) -> Array:
    """`baracuda.logical_not`."""
    return baracuda.logical_not(x)


def logical_or(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.logical_or`."""
    return baracuda.logical_or(x1, x2)


def logical_xor(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.logical_xor`."""
    return baracuda.logical_xor(x1, x2)


def maximum(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.maximum`."""
    return baracuda.maximum(x1, x2)


def minimum(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.minimum`."""
    return baracuda.minimum(x1, x2)


def multiply(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.mul`."""
    return baracuda.mul(x1, x2)


def negative(x: Array, /) -> Array:
    """`baracuda.neg`."""
    return baracuda.neg(x)


def nextafter(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.nextafter`."""
    return baracuda.nextafter(x1, x2)


def not_equal(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.ne`."""
    return baracuda.ne(x1, x2)


def positive(x: Array, /) -> Array:
    """`baracuda.positive`."""
    return baracuda.positive(x)


def pow(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.pow`."""
    return baracuda.pow(x1, x2)


def real(x: Array, /) -> Array:
    """`baracuda.real`."""
    return baracuda.real(x)


def reciprocal(x: Array, /) -> Array:
    """`baracuda.reciprocal`."""
    return baracuda.reciprocal(x)


def remainder(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.remainder`."""
    return baracuda.remainder(x1, x2)


def round(x: Array, /) -> Array:
    """`baracuda.round`, of complex numbers in both parts."""
    if x.kind.category is Category.COMPLEX:
        return baracuda.view_as_complex(baracuda.round(baracuda.view_as_real(x)))
    return baracuda.round(x)


def sign(x: Array, /) -> Array:
    """`baracuda.sign`, of complex numbers `baracuda.sgn`, and 0 for -0."""
    return baracuda.sgn(x) if x.kind.category is Category.COMPLEX else baracuda.sign(x) + 0


def signbit(x: Array, /) -> Array:
    """`baracuda.signbit`."""
    return baracuda.signbit(x)


def sin(x: Array, /) -> Array:
    """`baracuda.sin`."""
    return baracuda.sin(x)


def sinh(x: Array, /) -> Array:
    """`baracuda.sinh`."""
    return baracuda.sinh(x)


def sqrt(x: Array, /) -> Array:
    """`baracuda.sqrt`."""
    return baracuda.sqrt(x)


def square(x: Array, /) -> Array:
    """`baracuda.square`."""
    return baracuda.square(x)


def subtract(x1: Operand, x2: Operand, /) -> Array:
    """`baracuda.sub`."""
    return baracuda.sub(x1, x2)


def tan(x: Array, /) -> Array:
    """`baracuda.tan`."""
    return baracuda.tan(x)


def tanh(x: Array, /) -> Array:
    """`baracuda.tanh`."""
    return baracuda.tanh(x)


def trunc(x: Array, /) -> Array:
    """`baracuda.trunc`."""
    return baracuda.trunc(x)
