"""Bits of bytes, packed and apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_of, permuted
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, const, coord, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Result, Shape, Space, Stored
from baracuda.ops.declaration.words import AxisOrFlat

BitOrder = Literal["big", "little"]
_U8, _S32 = ElementKind.U8, ElementKind.S32
_INTERNAL: dict[str, Any] = {"family": "shape_layout", "takes": "int,bool", "differentiable": False}


def _read_last(shapes: Mapping[str, Shape], extent: int) -> Space:
    rank = len(shapes["x"])
    return Space({"x": (*range(rank - 1), None)}, {rank - 1: extent})


def _pack_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return _read_last(shapes, -(-shapes["x"][-1] // 8))


def _packed(x: Table, *, little: bool = False) -> Result:
    first = coord(-1) * 8
    total: Expr = const(0, _S32)
    for k in range(8):
        at = first + k
        value = take(x, at)
        assert isinstance(value, Expr)
        other = value if value.kind is ElementKind.BOOL else f.not_equal(value, const(0, value.kind))
        bit = select((at < table_extent(x, 0, _S32)) & other, const(1 << (k if little else 7 - k), _S32), 0)
        total = total | bit
    return Stored(total, _U8)


def _unpack_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return _read_last(shapes, options["count"])


def _unpacked(x: Table, *, little: bool = False, count: int = 0) -> Result:
    at = coord(-1)
    byte, bit = at >> 3, at & 7
    value = take(x, byte)
    assert isinstance(value, Expr)
    shifted = value >> (bit if little else 7 - bit)
    return Stored(select(byte < table_extent(x, 0, _S32), shifted & 1, 0), _U8)


packed = Op(_packed, Rule.EACH, name="packed_bits", space=_pack_space, **_INTERNAL)
unpacked = Op(_unpacked, Rule.EACH, name="unpacked_bits", space=_unpack_space, **_INTERNAL)


def _last(x: TensorRef, axis: int) -> Any:
    return permuted(x, (*(a for a in range(len(x.shape)) if a != axis), axis))


@composed(x="...", out=True)
def packbits(do: Steps, x: TensorRef, axis: AxisOrFlat = None, *, bitorder: BitOrder = "big") -> Any:
    """Eight elements along an axis as a byte (u8): a bit of each, 1 where it is not 0; without an axis x counts as one row.

    With bitorder "big" the first element is the highest bit, with "little" the lowest. The last byte is filled with 0.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.packbits(np.array([True, False, True])).tolist()
    [160]
    """
    if x.kind is not ElementKind.BOOL and not x.kind.is_integer:
        raise UnsupportedError(f"x: {x.kind}; expected bool or an integer")
    x, at = (do.reshaped(x, (-1,)), 0) if axis is None else (x, axis_of(axis, len(x.shape)))
    y = do.result((*x.shape[:at], -(-x.shape[at] // 8), *x.shape[at + 1 :]), _U8)
    if 0 not in y.shape:
        do.run(packed, {"x": _last(x, at)}, _last(y, at), little=bitorder == "little")
    return y


@composed(x="... : u8", out=True)
def unpackbits(do: Steps, x: TensorRef, axis: AxisOrFlat = None, *, count: int | None = None, bitorder: BitOrder = "big") -> Any:
    """The bits of bytes (u8) along an axis, 0 or 1 each; without an axis x counts as one row.

    With bitorder "big" the highest bit comes first, with "little" the lowest. `count` is how many there are, those
    beyond the last byte 0; below 0 it says how many are left out at the end.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.unpackbits(np.array([160], np.uint8), count=3).tolist()
    [1, 0, 1]
    """
    x, at = (do.reshaped(x, (-1,)), 0) if axis is None else (x, axis_of(axis, len(x.shape)))
    bits = 8 * x.shape[at]
    size = bits if count is None else count + bits if count < 0 else count
    if size < 0:
        raise InvalidProblemError(f"count: {count}; expected {-bits} or more")
    y = do.result((*x.shape[:at], size, *x.shape[at + 1 :]), _U8)
    if x.shape[at] == 0:
        do.zero(y)
    elif 0 not in y.shape:
        do.run(unpacked, {"x": _last(x, at)}, _last(y, at), little=bitorder == "little", count=size)
    return y
