"""Whole numbers and bits: divisors, products of twice the bits, logic on bits, shifts, counts."""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula import integer_functions as whole
from baracuda.formula.expr import Expr
from baracuda.ops.declaration.op import op


@op()
def gcd(a: Expr, b: Expr) -> Expr:
    """The greatest common divisor of |a| and |b|; gcd(0, b) is |b|."""
    return whole.gcd(a, b)


@op()
def lcm(a: Expr, b: Expr) -> Expr:
    """The least common multiple of |a| and |b|, wrapped; 0 where either is 0."""
    return whole.lcm(a, b)


@op()
def mulhi(a: Expr, b: Expr, *, element: ElementKind) -> Expr:
    """The upper half of the product of twice the element's bits."""
    return whole.multiply_high(a, b) if element.bits >= 32 else (a * b) >> element.bits


@op()
def bitwise_and(a: Expr, b: Expr) -> Expr:
    """The bits set in both; of bool, and."""
    return a & b


@op()
def bitwise_or(a: Expr, b: Expr) -> Expr:
    """The bits set in either; of bool, or."""
    return a | b


@op()
def bitwise_xor(a: Expr, b: Expr) -> Expr:
    """The bits set in exactly one; of bool, exclusive or."""
    return a ^ b


@op()
def bitwise_left_shift(a: Expr, b: Expr) -> Expr:
    """a * 2**b, wrapped; 0 where b is negative or not below the number of bits."""
    return whole.shift_left(a, b)


@op()
def bitwise_right_shift(a: Expr, b: Expr) -> Expr:
    """a / 2**b rounded down; 0, or -1 for a negative a, where b is negative or not below the number of bits."""
    return whole.shift_right(a, b)


@op()
def logical_right_shift(a: Expr, b: Expr, *, element: ElementKind) -> Expr:
    """The element's bits moved down, with zeros above; 0 where b is negative or not below their number."""
    return whole.shift_right_logical(a, b, element)


@op()
def popcount(x: Expr, *, element: ElementKind) -> Expr:
    """How many of the element's bits are set."""
    return whole.popcount(x, element)


@op()
def clz(x: Expr, *, element: ElementKind) -> Expr:
    """How many of the element's bits are above the highest one set."""
    return whole.clz(x, element)
