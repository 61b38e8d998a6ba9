"""Rows of different lengths: one after another, or padded to the longest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import as_bits, slab
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, cast, coord, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Shape, Space, Value
from baracuda.ops.declaration.words import Count
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan
from baracuda.ops.scans.scans import cumsum

_S64 = ElementKind.S64
_INTERNAL: dict[str, Any] = {"family": "shape_layout", "takes": "any", "byte_floats": True, "differentiable": False}


def _padded_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    row = len(shapes["x"]) - 1
    places = (None, *range(2, 2 + row))
    return Space({"x": places, "starts": (0,), "stops": (0,), "padding": ()}, {0: shapes["starts"][0], 1: options["length"]})


def _kept(valid: Expr, value: Value, instead: Value) -> Value:
    if isinstance(value, Complex):
        assert isinstance(instead, Complex)
        return Complex(select(valid, value.re, instead.re), select(valid, value.im, instead.im))
    assert isinstance(instead, Expr)
    return select(valid, value, instead)


def _padded(x: Table, starts: Own, stops: Own, padding: Value, *, length: int = 0) -> Value:
    """x[starts[b] + t] where that is before stops[b], else the padding."""
    at = starts + cast(coord(1), starts.kind)
    return _kept((at < stops) & (at < table_extent(x, 0, at.kind)), take(x, at), padding)


def _packed_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    row = len(shapes["x"]) - 2
    places = (None, None, *range(1, 1 + row))
    return Space({"x": places, "starts": (None,), "row": (0,), "padding": ()}, {})


def _packed(x: Table, starts: Own, row: Own, padding: Value) -> Value:
    """x[b, i - starts[b]] with b the row that place i is of."""
    assert isinstance(starts, Table)
    first = take(starts, row)
    assert isinstance(first, Expr)
    at = cast(coord(0), first.kind) - first
    valid = (row < cast(table_extent(x, 0, row.kind), row.kind)) & (at < table_extent(x, 1, at.kind)) & (at >= 0)
    return _kept(valid, take(x, row, at), padding)


padded = Op(_padded, Rule.COMMON, name="padded_rows", space=_padded_space, **_INTERNAL)
packed = Op(_packed, Rule.COMMON, name="packed_rows", space=_packed_space, **_INTERNAL)


def _batch(offsets: TensorRef) -> int:
    """How many rows offsets are of: the last says where the last row ends."""
    if offsets.shape[0] == 0:
        raise InvalidProblemError(f"offsets: shape {offsets.shape}; expected one element or more")
    return offsets.shape[0] - 1


def _to_padded(do: Steps, x: TensorRef, offsets: TensorRef, length: int, value: complex) -> Any:
    batch = _batch(offsets)
    y = do.result((batch, length, *x.shape[1:]), x.kind)
    if 0 in x.shape or 0 in y.shape:
        do.fill(y, value, "padding_value")
        return y
    filling = do.rows((), x.kind)
    do.fill(filling, value, "padding_value")
    tensors = {
        "x": as_bits(x), "starts": slab(offsets, 0, 0, batch), "stops": slab(offsets, 0, 1, batch + 1),
        "padding": as_bits(filling),
    }  # fmt: skip
    do.run(padded, tensors, as_bits(y), length=length)
    return y


def _to_nested(do: Steps, x: TensorRef, offsets: TensorRef, total: int) -> Any:
    batch = _batch(offsets)
    y = do.result((total, *x.shape[2:]), x.kind)
    if 0 in y.shape:
        return y
    if 0 in x.shape:
        do.zero(y)
        return y
    counted = ScatterDescriptor(ScatterKind.COUNT, (total + 1,), 0, (batch,), _S64, offsets.kind)
    ended = do.plan(ScatterPlan, counted, {"index": slab(offsets, 0, 1, batch + 1)})  # how many rows end at each place
    row = do.run(cumsum, {"x": slab(ended, 0, 0, total)}, axis=0, dtype=_S64)
    filling = do.rows((), x.kind)
    do.zero(filling)
    tensors = {"x": as_bits(x), "starts": slab(offsets, 0, 0, batch), "row": row, "padding": as_bits(filling)}
    do.run(packed, tensors, as_bits(y))
    return y


_OFFSETS = "n : s32 s64"


@composed(x="total *row", offsets=_OFFSETS, out=True, numbers={"padding_value": ()})
def nested_to_padded(
    do: Steps, x: TensorRef, offsets: TensorRef, *, padding_value: complex = 0, max_length: Count | None = None
) -> Any:
    """Rows of different lengths, one after another in x, as (batch, length, ...), with padding_value behind each.

    Row b is x[offsets[b]] to before x[offsets[b + 1]]. The length is that of the longest row, which is read back, unless
    max_length says it: then nothing is read, the call can be captured, and what is longer is cut off.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.nested_to_padded(np.array([1, 2, 3]), np.array([0, 2, 3])).tolist()
    [[1, 2], [3, 0]]
    """
    return _to_padded(do, x, offsets, _longest(do, offsets) if max_length is None else max_length, padding_value)


def _longest(do: Steps, offsets: TensorRef) -> int:
    values = do.on_host(offsets)
    return int((values[1:] - values[:-1]).max(initial=0))


@composed(dy="batch length *row", x="total *row", offsets=_OFFSETS, out=True)
def nested_to_padded_backward(do: Steps, dy: TensorRef, x: TensorRef, offsets: TensorRef) -> Any:
    """The gradient of `nested_to_padded`'s x: the rows of dy one after another; 0 for what was cut off.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.nested_to_padded_backward(np.array([[1.0, 2], [3, 4]]), np.zeros(3), np.array([0, 2, 3])).tolist()
    [1.0, 2.0, 3.0]
    """
    return _to_nested(do, dy, offsets, x.shape[0])


@composed(x="batch length *row", offsets=_OFFSETS, out=True)
def padded_to_nested(do: Steps, x: TensorRef, offsets: TensorRef, *, total: Count | None = None) -> Any:
    """The first offsets[b + 1] - offsets[b] elements of each row b, one row after another.

    How many there are in all, offsets[-1], is read back, unless `total` says it: then nothing is read and the call can be
    captured; places beyond offsets[-1], and beyond the length of a row, are 0.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.padded_to_nested(np.array([[1, 2], [3, 0]]), np.array([0, 2, 3])).tolist()
    [1, 2, 3]
    """
    if total is None:
        batch = _batch(offsets)
        total = int(do.on_host(slab(offsets, 0, batch, batch + 1))[0])
    return _to_nested(do, x, offsets, total)


@composed(dy="total *row", x="batch length *row", offsets=_OFFSETS, out=True)
def padded_to_nested_backward(do: Steps, dy: TensorRef, x: TensorRef, offsets: TensorRef) -> Any:
    """The gradient of `padded_to_nested`'s x: dy's rows padded with 0.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.padded_to_nested_backward(np.array([1.0, 2, 3]), np.zeros((2, 2)), np.array([0, 2, 3])).tolist()
    [[1.0, 2.0], [3.0, 0.0]]
    """
    return _to_padded(do, dy, offsets, x.shape[1], 0)
