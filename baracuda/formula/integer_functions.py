"""Words for whole numbers: division with its remainders, divisors, shifts and bits.

Division and remainders are defined on floats as well. The kinds are compute kinds: an 8- or 16-bit integer is an s32 here,
and where a word depends on how many bits there are, it takes the storage kind that is meant.
"""

from __future__ import annotations

import math

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula.expr import Expr, Operand, as_expr, binary, bitcast, cast, compare, const, node, pair, select, unary
from baracuda.formula.functions import floor

_UNSIGNED = {ElementKind.S32: ElementKind.U32, ElementKind.S64: ElementKind.U64}


def _integers(word: str, x: Operand, y: Operand) -> tuple[Expr, Expr]:
    a, b = pair(x, y)
    _check_integer(word, a)
    return a, b


def _check_integer(word: str, x: Expr) -> None:
    if not x.kind.is_integer:
        raise InvalidProblemError(f"{word} is defined on integers, got {x.kind}")


def _is_zero(x: Expr) -> Expr:
    return compare("eq", x, 0)


def is_number(x: Expr, number: Expr | int) -> Expr:
    """Whether an integer is this one, an s64, which its kind need not have."""
    wide = as_expr(number, ElementKind.S64)
    own = cast(wide, x.kind)
    held = compare("eq", cast(own, ElementKind.S64), wide)
    if x.kind.category is Category.UNSIGNED:
        held = held & compare("ge", wide, 0)
    return compare("eq", x, own) & held


# --- division ---------------------------------------------------------------------------------------------------------


def truncate_divide(x: Operand, y: Operand) -> Expr:
    """x / y rounded towards zero. An integer divided by 0 is 0, and MIN / -1 wraps to MIN."""
    a, b = pair(x, y)
    return unary("trunc", a / b) if a.kind.is_float else binary("idiv", a, b)


def fmod(x: Operand, y: Operand) -> Expr:
    """The remainder of x / y rounded towards zero, which has the sign of x, as C's fmod and %.

    It is exact. For floats it is NaN where x is infinite or y is 0, and x where y is infinite; by an integer 0 it is 0.
    """
    a, b = pair(x, y)
    return node("fmod", (a, b), a.kind) if a.kind.is_float else binary("irem", a, b)


def remainder(x: Operand, y: Operand) -> Expr:
    """The remainder of x / y rounded down, which has the sign of y, as Python's %; by an integer 0 it is 0.

    For floats it is `fmod(x, y)`, plus y where the signs differ; a zero has the sign of y.
    """
    a, b = pair(x, y)
    if a.kind.is_float:
        return node("remainder", (a, b), a.kind)
    rest = fmod(a, b)
    return select(_astray(rest, b), rest + b, rest)


def floor_divide(x: Operand, y: Operand) -> Expr:
    """x / y rounded down, as Python's //. An integer divided by 0 is 0, and MIN / -1 wraps to MIN.

    For floats it is (x - remainder(x, y)) / y, rounded to an integer at the end, and x / y rounded down where y is 0 or one of
    them is infinite.
    """
    a, b = pair(x, y)
    rest = fmod(a, b)
    if not a.kind.is_float:
        quotient = binary("idiv", a, b)
        return select(_astray(rest, b), quotient - 1, quotient)
    near = (a - rest) / b
    near = select(_astray(rest, b), near - 1.0, near)
    down = floor(near)
    down = select(near - down > 0.5, down + 1.0, down)
    quotient = a / b
    down = select(_is_zero(near), _signed_zero(quotient), down)
    unusual = _is_zero(b) | compare("eq", abs(a), math.inf) | compare("eq", abs(b), math.inf)
    return select(unusual, floor(quotient), down)


def _astray(rest: Expr, divisor: Expr) -> Expr:
    """Whether a truncated quotient's remainder is not 0 and has another sign than the divisor."""
    if rest.kind.category is Category.UNSIGNED:
        return const(False, ElementKind.BOOL)
    return ~_is_zero(rest) & ((rest < 0) ^ (divisor < 0))


def _signed_zero(x: Expr) -> Expr:
    """The zero of x's sign, that of a zero included."""
    bits = ElementKind.U32 if x.kind is ElementKind.F32 else ElementKind.U64
    return bitcast(bitcast(x, bits) & const(1 << bits.bits - 1, bits), x.kind)


def gcd(x: Operand, y: Operand) -> Expr:
    """The greatest common divisor of |x| and |y|; gcd(0, y) is |y|. Only MIN has no absolute value, and keeps its sign."""
    return binary("gcd", *_integers("gcd", x, y))


def lcm(x: Operand, y: Operand) -> Expr:
    """The least common multiple of |x| and |y|, which wraps; 0 where one of them is 0."""
    a, b = _integers("lcm", x, y)
    return abs(binary("idiv", a, gcd(a, b)) * b)


def multiply_high(x: Operand, y: Operand) -> Expr:
    """The upper half of the product of twice the bits."""
    return binary("mulhi", *_integers("multiply_high", x, y))


# --- bits -------------------------------------------------------------------------------------------------------------


def _width(word: str, x: Expr, storage: ElementKind | None) -> int:
    _check_integer(word, x)
    kind = storage or x.kind
    if not kind.is_integer or kind.compute is not x.kind:
        raise InvalidProblemError(f"{word}: {kind} is no storage kind of integers that compute in {x.kind}")
    return kind.bits


def popcount(x: Expr, storage: ElementKind | None = None) -> Expr:
    """How many bits of x are set, of those that `storage` (default: x's own kind) has."""
    bits = _width("popcount", x, storage)
    return unary("popcount", x if bits == x.kind.bits else x & (1 << bits) - 1)


def clz(x: Expr, storage: ElementKind | None = None) -> Expr:
    """How many bits of x are above the highest one set, of those that `storage` (default: x's own kind) has; all of them
    where none is set."""
    bits = _width("clz", x, storage)
    if bits == x.kind.bits:
        return unary("clz", x)
    return unary("clz", x & (1 << bits) - 1) - (x.kind.bits - bits)


def _beyond(count: Expr, bits: int) -> Expr:
    """Whether a shift count is negative or at least the number of bits."""
    beyond = count >= bits
    return beyond if count.kind.category is Category.UNSIGNED else beyond | (count < 0)


def shift_left(x: Expr, count: Operand) -> Expr:
    """x * 2**count, wrapped. A count that is negative or not below the number of bits gives 0."""
    _check_integer("shift_left", x)
    n = as_expr(count, x.kind)
    beyond = _beyond(n, x.kind.bits)
    return select(beyond, 0, x << select(beyond, 0, n))


def shift_right(x: Expr, count: Operand) -> Expr:
    """x / 2**count rounded down. A count that is negative or not below the number of bits gives 0, or -1 for a negative x."""
    _check_integer("shift_right", x)
    n, most = as_expr(count, x.kind), x.kind.bits - 1
    if x.kind.category is Category.UNSIGNED:
        beyond = _beyond(n, x.kind.bits)
        return select(beyond, 0, x >> select(beyond, 0, n))
    return x >> select(_beyond(n, x.kind.bits), most, n)


def shift_right_logical(x: Expr, count: Operand, storage: ElementKind | None = None) -> Expr:
    """The bits of x, as many as `storage` (default: x's own kind) has, moved down, with zeros above. A count that is
    negative or not below their number gives 0."""
    bits = _width("shift_right_logical", x, storage)
    n, kind = as_expr(count, x.kind), x.kind
    if bits != kind.bits:
        return shift_right(x & (1 << bits) - 1, n)
    unsigned = _UNSIGNED.get(kind, kind)
    return cast(shift_right(cast(x, unsigned), cast(n, unsigned)), kind)
