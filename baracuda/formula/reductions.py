"""Reductions that are more than one operation: where in its row the largest or the smallest element is."""

from __future__ import annotations

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula.expr import Expr, Operand, bitcast, cast, const, position, reduce, select
from baracuda.formula.functions import equal, not_equal

_LARGEST = 0xFFFFFFFF


def argmax(x: Expr, *, long_rows: bool = False) -> Expr:
    """The number in the row, as s64, of its largest element; of the first one where several are equal.

    Elements are numbered along the inner axes in logical order, the last axis fastest. A NaN is larger than every number,
    and -0.0 equals +0.0. A row without elements has no largest one: what comes out for it means nothing.

    Parameters
    ----------
    x : Expr
        Of any real kind or bool. Kinds of 32 bits or fewer take one pass over the row, for which it may have at most 2**32
        elements; with `long_rows` they take two, like kinds of 64 bits, and rows of any length.

    Raises `InvalidProblemError` for another kind; a plan of a row that is too long raises `UnsupportedError`.
    """
    return _first(x, "max", long_rows)


def argmin(x: Expr, *, long_rows: bool = False) -> Expr:
    """The number in the row, as s64, of its smallest element: as `argmax`, and a NaN is smaller than every number."""
    return _first(x, "min", long_rows)


def _first(x: Expr, op: str, long_rows: bool) -> Expr:
    if x.kind is ElementKind.BOOL:
        x = cast(x, ElementKind.U32)
    if not (x.kind.is_float or x.kind.is_integer) or x.kind.bits < 32:
        raise InvalidProblemError(f"arg{op} is defined on real compute kinds and bool, got {x.kind}")
    if x.kind.bits == 32 and not long_rows:
        return _packed(x, op)
    extreme = reduce(op, x)
    matches = equal(x, extreme)
    if x.kind.is_float:
        matches = matches | not_equal(x, x)  # where there is a NaN, the extreme is one and equals nothing
    return reduce("min", select(matches, position(), _last_position()))


def _last_position() -> Operand:
    return const(2**63 - 1, ElementKind.S64)


def _packed(x: Expr, op: str) -> Expr:
    """One reduction of the value and the number of the element in one integer: value above, number below, complemented so
    that the largest integer has the least number."""
    key = _ordered(x)
    if op == "min":
        key = ~key
    if x.kind.is_float:
        key = select(not_equal(x, x), _LARGEST, key)
    number = ~position(ElementKind.U32)
    packed = (cast(key, ElementKind.U64) << 32) | cast(number, ElementKind.U64)
    return cast(~cast(reduce("max", packed), ElementKind.U32), ElementKind.S64)


def _ordered(x: Expr) -> Expr:
    """An unsigned integer that grows with x; the same one for both zeros."""
    sign = 0x80000000
    if x.kind.category is Category.UNSIGNED:
        return x
    bits = bitcast(x + 0.0 if x.kind.is_float else x, ElementKind.U32)
    return bits ^ sign if x.kind.is_integer else select(bits < sign, bits | sign, ~bits)
