"""Integer operations that no single instruction does on vectors as the contract asks."""

from __future__ import annotations

from baracuda.codegen.llvm.ir import Builder, Value, constant, intrinsic, vector
from baracuda.core.elements import Category, ElementKind


def _number(x: Value, value: int) -> Value:
    return constant(x.element, value, x.lanes)


def divide(b: Builder, kind: ElementKind, x: Value, y: Value, *, remainder: bool, plain: bool) -> Value:
    """x / y towards zero, or the remainder, which has the sign of x. x / 0 and its remainder are 0, and MIN / -1 wraps.

    `plain` says that y is a constant other than 0 and -1. Elsewhere the operands that a processor traps on are replaced, and
    32-bit vectors are divided in f64: the quotient differs from the integer above it by at least 2**-32 of itself, so its
    rounding does not reach that integer.
    """
    signed = kind.category is Category.SIGNED
    letter = "s" if signed else "u"
    if plain:
        return b.op(f"{letter}rem" if remainder else f"{letter}div", x, y)
    zero = b.compare("icmp eq", y, _number(y, 0))
    trap = zero
    if signed:
        least = b.compare("icmp eq", x, _number(x, -(1 << (kind.bits - 1))))
        trap = b.op("or", trap, b.op("and", least, b.compare("icmp eq", y, _number(y, -1))))
    safe = b.select(trap, _number(y, 1), y)
    if kind.bits == 32 and x.lanes > 1:
        wide = vector("double", x.lanes)
        exact = b.op("fdiv", b.convert(f"{letter}itofp", x, wide), b.convert(f"{letter}itofp", safe, wide))
        quotient = b.convert(f"fpto{letter}i", exact, x.type)
    else:
        quotient = b.op(f"{letter}div", x, safe)
    if remainder:
        return b.op("sub", x, b.op("mul", quotient, safe))
    return b.select(zero, _number(x, 0), quotient)


def high_product(b: Builder, kind: ElementKind, x: Value, y: Value) -> Value:
    """The upper half of the product of twice the width."""
    wide = vector(f"i{2 * kind.bits}", x.lanes)
    extend = "sext" if kind.category is Category.SIGNED else "zext"
    product = b.op("mul", b.convert(extend, x, wide), b.convert(extend, y, wide))
    return b.convert("trunc", b.op("lshr", product, constant(f"i{2 * kind.bits}", kind.bits, x.lanes)), x.type)


def population(b: Builder, x: Value) -> Value:
    """How many bits are set."""
    return b.call(x.type, intrinsic("ctpop", x.type), x)


def leading_zeros(b: Builder, x: Value) -> Value:
    """How many bits above the highest set one; all of them where none is."""
    return b.call(x.type, intrinsic("ctlz", x.type), x, Value("i1", "false"))


def greatest_divisor(b: Builder, kind: ElementKind, x: Value, y: Value) -> Value:
    """The greatest common divisor of |x| and |y| by the binary algorithm; that of 0 and y is |y|."""

    def zeros(v: Value) -> Value:  # of 0 it need only be small enough to shift by
        top = b.op("or", v, _number(v, 1 << (kind.bits - 1)))
        return b.call(v.type, intrinsic("cttz", v.type), top, Value("i1", "false"))

    def nonzero(v: Value) -> Value:
        return b.compare("icmp ne", v, _number(v, 0))

    if kind.category is Category.SIGNED:
        x, y = (b.call(v.type, intrinsic("abs", v.type), v, Value("i1", "false")) for v in (x, y))
    common = zeros(b.op("or", x, y))
    divisor = b.select(nonzero(x), x, y)
    odd = b.variable(b.op("lshr", divisor, zeros(divisor)))
    rest = b.variable(b.select(nonzero(x), y, _number(y, 0)))
    with b.while_(lambda: b.any(nonzero(rest.get()))):
        old, left = odd.get(), rest.get()
        right = b.op("lshr", left, zeros(left))
        smaller, larger = (b.call(x.type, intrinsic(name, x.type), old, right) for name in ("umin", "umax"))
        going = nonzero(left)
        odd.set(b.select(going, smaller, old))
        rest.set(b.select(going, b.op("sub", larger, smaller), left))
    return b.op("shl", odd.get(), common)
