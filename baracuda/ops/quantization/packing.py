"""Codes of four, two or one bits packed into bytes, and apart again.

A code is the low bits of an integer. Byte b of a row has the codes of number count * b + j, of j = 0 (in the lowest bits, of
`low_first`) to count - 1, with count = 8 // bits; what a last byte lacks is 0.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_of, permuted, slab, view
from baracuda.formula.expr import Expr, cast
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Stored

_U8, _S8, _S32, _U32, _U16, _U64 = (
    ElementKind.U8, ElementKind.S8, ElementKind.S32, ElementKind.U32, ElementKind.U16, ElementKind.U64
)  # fmt: skip
_INTERNAL: dict[str, Any] = {"family": "quantization", "takes": "int", "differentiable": False}
_WORDS = {2: _U16, 4: _U32, 8: _U64}
#: Which of the codes of a byte lies in its lowest bits.
Order = Literal["low_first", "high_first"]


def _shift(j: int, bits: int, low_first: bool) -> int:
    return bits * j if low_first else 8 - bits * (j + 1)


def _joined(codes: list[Expr], bits: int, low_first: bool) -> Expr:
    total: Expr | None = None
    for j, code in enumerate(codes):
        low, by = cast(code, _S32) & (1 << bits) - 1, _shift(j, bits, low_first)
        low = low << by if by else low
        total = low if total is None else total | low
    assert total is not None
    return total


def _pack(
    a: Own, b: Own | None = None, c: Own | None = None, d: Own | None = None, *, bits: int, low_first: bool = True
) -> Stored:
    return Stored(_joined([x for x in (a, b, c, d) if x is not None], bits, low_first), _U8)


def _unpack(q: Own, *, bits: int, count: int, signed: bool, low_first: bool = True) -> tuple[Stored, ...]:
    return tuple(Stored(_code(q, _shift(j, bits, low_first), bits, signed), _S8 if signed else _U8) for j in range(count))


def _code(byte: Expr, by: int, bits: int, signed: bool) -> Expr:
    if signed:
        return byte << (32 - bits - by) >> (32 - bits)
    return (byte >> by if by else byte) & (1 << bits) - 1


def _pack_words(x: Own, *, bits: int, low_first: bool = True) -> Stored:
    """All codes of a byte lie in one word, a byte each."""
    return Stored(_joined([x >> 8 * j if j else x for j in range(8 // bits)], bits, low_first), _U8)


def _unpack_words(q: Own, *, bits: int, signed: bool, low_first: bool = True) -> Stored:
    word: Expr | None = None
    count = 8 // bits
    for j in range(count):
        code = (_code(q, _shift(j, bits, low_first), bits, signed) & 255) << 8 * j
        word = code if word is None else word | code
    assert word is not None
    return Stored(word if count == 2 else cast(word, _U32), _U16 if count == 2 else _U32)


_pack_op = Op(_pack, Rule.EACH, name="packed_codes", **_INTERNAL)
_pack_words_op = Op(_pack_words, Rule.EACH, name="packed_words", **_INTERNAL)
_unpack_words_op = Op(_unpack_words, Rule.EACH, name="words_of_codes", **_INTERNAL)


@cache
def _unpack_op(count: int) -> Op:
    names = tuple("abcd"[:count])
    return Op(_unpack, Rule.EACH, name=f"unpacked_codes_{count}", results=names if count > 1 else (), **_INTERNAL)


def words_of(t: TensorRef, count: int) -> Any | None:
    """A tensor as one of words of `count` neighbours of the last axis each; None where these do not lie so."""
    size = count * t.kind.itemsize
    if size not in _WORDS or not t.shape or t.strides[-1] != 1 or t.shape[-1] % count or t.pointer % size:
        return None
    if any(s % count for n, s in zip(t.shape[:-1], t.strides[:-1], strict=True) if n > 1):
        return None
    strides = (*(s // count for s in t.strides[:-1]), 1)
    return replace(t, kind=_WORDS[size], shape=(*t.shape[:-1], t.shape[-1] // count), strides=strides)


def _bytes(t: TensorRef, count: int) -> Any | None:
    return words_of(t, count) if t.kind.bits == 8 else None


def every(t: TensorRef, first: int, step: int, count: int) -> Any:
    """`count` elements along the last axis, `step` from one to the next."""
    return view(t, first * t.strides[-1], (*t.shape[:-1], count), (*t.strides[:-1], step * t.strides[-1]))


def pack_into(do: Steps, x: TensorRef, q: TensorRef, bits: int, *, low_first: bool = True) -> None:
    """Write codes of x packed along the last axis."""
    if 0 in x.shape:
        return
    count = 8 // bits
    words, whole = _bytes(x, count), x.shape[-1] // count
    if words is not None:
        do.run(_pack_words_op, {"x": words}, q, bits=bits, low_first=low_first)
        return
    for at, bytes_, codes in ((0, whole, count), (whole, 1, x.shape[-1] % count)):
        if bytes_ and codes:
            parts = {name: every(x, at * count + j, count, bytes_) for name, j in zip("abcd", range(codes), strict=False)}
            do.run(_pack_op, parts, slab(q, len(q.shape) - 1, at, at + bytes_), bits=bits, low_first=low_first)


def unpack_into(do: Steps, q: TensorRef, y: TensorRef, bits: int, *, signed: bool, low_first: bool = True) -> None:
    """Write the codes that q's bytes hold along the last axis, as many as y has."""
    if 0 in y.shape:
        return
    count = 8 // bits
    words, whole = _bytes(y, count), y.shape[-1] // count
    if words is not None:
        do.run(_unpack_words_op, {"q": q}, words, bits=bits, signed=signed, low_first=low_first)
        return
    for at, bytes_, codes in ((0, whole, count), (whole, 1, y.shape[-1] % count)):
        if bytes_ and codes:
            into = tuple(every(y, at * count + j, count, bytes_) for j in range(codes))
            source = slab(q, len(q.shape) - 1, at, at + bytes_)
            do.run(
                _unpack_op(codes), {"q": source}, into if codes > 1 else into[0], bits=bits, count=codes, signed=signed,
                low_first=low_first,
            )  # fmt: skip


def _last(t: TensorRef, axis: int) -> Any:
    return permuted(t, (*(a for a in range(len(t.shape)) if a != axis), axis))


def _packed(do: Steps, x: TensorRef, axis: int, bits: int, order: Order) -> Any:
    at = axis_of(axis, len(x.shape))
    q = do.new((*x.shape[:at], -(-x.shape[at] * bits // 8), *x.shape[at + 1 :]), _U8, x)
    pack_into(do, _last(x, at), _last(q, at), bits, low_first=order == "low_first")
    return q


def _apart(do: Steps, q: TensorRef, axis: int, bits: int, order: Order, signed: bool, size: int | None) -> Any:
    if q.kind is not _U8:
        raise InvalidProblemError(f"x: element is {q.kind}; expected u8, that of packed codes")
    at, count = axis_of(axis, len(q.shape)), 8 // bits
    most = count * q.shape[at]
    least = max(most - count + 1, 0)
    extent = most if size is None else size
    if not least <= extent <= most:
        raise InvalidProblemError(f"size: {size}; expected {least} to {most} codes of {q.shape[at]} bytes")
    y = do.new((*q.shape[:at], extent, *q.shape[at + 1 :]), _S8 if signed else _U8, q)
    unpack_into(do, _last(q, at), _last(y, at), bits, signed=signed, low_first=order == "low_first")
    return y


@composed(x="... : int")
def pack_int4(do: Steps, x: TensorRef, *, axis: int = -1, order: Order = "low_first") -> Any:
    """The low four bits of integers, two neighbours along an axis to a byte (u8): element 2i in the low half with
    order="low_first", in the high half with "high_first"; of an odd extent the last byte has 0 beside the last element.

    Both two's complement (s4) and unsigned codes (u4) are packed so; higher bits are dropped.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.pack_int4(np.int8([1, -2, 7])).tolist()
    [225, 7]
    >>> baracuda.pack_int4(np.int8([1, -2, 7]), order="high_first").tolist()
    [30, 112]
    """
    return _packed(do, x, axis, 4, order)


@composed(x="... : u8")
def unpack_int4(
    do: Steps, x: TensorRef, *, axis: int = -1, signed: bool = True, order: Order = "low_first", size: int | None = None
) -> Any:
    """The inverse of `pack_int4`: the two codes of each byte, as s8 with `signed`, else as u8; `size` is their number along the
    axis, by default twice x's extent.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.unpack_int4(np.uint8([225, 7]), size=3).tolist()
    [1, -2, 7]
    >>> baracuda.unpack_int4(np.uint8([225]), signed=False).tolist()
    [1, 14]
    """
    return _apart(do, x, axis, 4, order, signed, size)


@composed(x="... : int")
def pack_int2(
    do: Steps,
    x: TensorRef,
    *,
    axis: int = -1,
    order: Order = "low_first",
    inverse: bool = False,
    signed: bool = True,
    size: int | None = None,
) -> Any:
    """The low two bits of integers, four neighbours along an axis to a byte (u8): element 4i in the lowest bits with
    order="low_first", in the highest with "high_first"; what the last byte lacks is 0.

    With `inverse` the codes of bytes apart: s8, -2 to 1, with `signed`, else u8; `size` is their number along the axis, by
    default four times x's extent.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.pack_int2(np.int8([1, -1, 0, -2, 1])).tolist()
    [141, 1]
    >>> baracuda.pack_int2(np.uint8([141, 1]), inverse=True, size=5).tolist()
    [1, -1, 0, -2, 1]
    """
    if inverse:
        return _apart(do, x, axis, 2, order, signed, size)
    return _packed(do, x, axis, 2, order)
