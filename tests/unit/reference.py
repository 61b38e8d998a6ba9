"""The canonical arithmetic once more, in NumPy: what every bit of a graph of primitives must be.

An interpreter with no schedule, no layout and no code in common with either lowering. Only for small shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from baracuda.core.elements import Category, ElementKind
from baracuda.formula.expr import PRIMITIVES, Axes, Expr
from baracuda.formula.graph import Graph
from tests.unit.exact_fma import fma32, fma64

Array = np.ndarray[Any, np.dtype[Any]]
Params = Mapping[str, float]

#: A reduction cuts its elements into segments of this length,
SEGMENT = 1024
#: deals each segment to this many lanes, and adds lanes, then segments, in adjacent pairs.
LANES = 128


def run(
    graph: Graph, inputs: Mapping[str, Any], shape: Sequence[int], inner: Sequence[bool], params: Params | None = None
) -> dict[str, Array]:
    """The outputs, in their storage kinds, with extent 1 along the axes they do not vary along.

    Inputs are arrays in their storage kinds, of the rank of `shape`, with extent 1 along the axes they do not vary along.
    """
    space = _Space(tuple(shape), tuple(inner))
    values: dict[Expr, Array] = {}
    with np.errstate(all="ignore"):
        for n in graph.nodes:
            values[n] = _node(n, [values[a] for a in n.args], inputs, space, params or {})
            assert values[n].dtype == n.kind.numpy, (n, values[n].dtype)
        return {
            port.name: np.array(np.broadcast_to(values[expr], space.extents(port.axes))).astype(port.kind.numpy)
            for port, expr in graph.outputs
        }


class _Space:
    def __init__(self, shape: tuple[int, ...], inner: tuple[bool, ...]) -> None:
        assert len(shape) == len(inner)
        self.shape, self.inner = shape, inner

    def axes(self, over: Axes) -> list[int]:
        return [a for a, i in enumerate(self.inner) if over & (Axes.INNER if i else Axes.OUTER)]

    def extents(self, axes: Axes) -> tuple[int, ...]:
        return tuple(extent if a in self.axes(axes) else 1 for a, extent in enumerate(self.shape))


def _node(n: Expr, args: list[Array], inputs: Mapping[str, Any], space: _Space, params: Params) -> Array:
    assert n.op in PRIMITIVES, f"{n.op} is not a primitive: expand the graph first"
    dtype = n.kind.numpy
    ones = (1,) * len(space.shape)
    if n.op == "const":
        return np.full(ones, n.attr, f"u{dtype.itemsize}").view(dtype)
    if n.op == "input":
        name, storage, axes = n.attr
        array = np.asarray(inputs[name])
        assert array.dtype == storage.numpy, (name, array.dtype)
        np.broadcast_to(array, space.extents(axes))
        return array.astype(dtype)  # widening: exact
    if n.op == "param":
        given = params[n.attr] if n.attr in params else _row_length(n, space)
        return np.full(ones, dtype.type(given))
    if n.op == "coord":
        axis = n.attr % len(space.shape)
        return np.arange(space.shape[axis], dtype=dtype).reshape([-1 if a == axis else 1 for a in range(len(ones))])
    if n.op == "position":
        inner = space.extents(Axes.INNER)
        return np.arange(prod(inner), dtype=dtype).reshape(inner)
    if n.op == "reduce":
        return reduced(n.attr[0], args[0], space.axes(n.attr[1]), space.shape)
    if n.op in ("select", "rare"):
        return np.where(*args)
    if n.op == "cast":
        return cast(args[0], n.args[0].kind, n.kind)
    if n.op == "bitcast":
        return np.ascontiguousarray(args[0]).view(dtype)
    if n.op == "lookup":
        return np.array(n.attr, f"u{dtype.itemsize}").view(dtype)[args[0]]
    return np.asarray(arithmetic(n.op, n.args[0].kind)(*args))


def _row_length(n: Expr, space: _Space) -> int:
    assert n.attr == "#row_length", f"no value for the parameter {n.attr}"
    return prod(extent for extent, i in zip(space.shape, space.inner, strict=True) if i)


# --- reductions -------------------------------------------------------------------------------------------------------


def reduced(op: str, x: Array, axes: Sequence[int], shape: Sequence[int]) -> Array:
    """A reduction over some axes of the space, numbering the elements along them with the last axis fastest."""
    kept = [a for a in range(len(shape)) if a not in axes]
    along = [shape[a] if a in axes else x.shape[a] for a in range(len(shape))]
    rows = (
        np.broadcast_to(x, along)
        .transpose(*kept, *axes)
        .reshape([along[a] for a in kept] + [-1 if prod(along) else prod(shape[a] for a in axes)])
    )
    return row_reduced(op, rows).reshape([1 if a in axes else along[a] for a in range(len(shape))])


def row_reduced(op: str, rows: Array) -> Array:
    """The reduction of each row of the last axis, in the canonical order."""
    combine = arithmetic({"sum": "add", "prod": "mul"}.get(op, op), ElementKind.from_numpy(rows.dtype))
    n = rows.shape[-1]
    if n == 0:
        return np.full(rows.shape[:-1], 0 if op == "sum" else _identity(op, rows.dtype), rows.dtype)
    partial = [_segment(combine, op, rows[..., i : i + SEGMENT]) for i in range(0, n, SEGMENT)]
    while len(partial) > 1:
        pairs = [combine(partial[i], partial[i + 1]) for i in range(0, len(partial) - 1, 2)]
        partial = pairs + partial[len(pairs) * 2 :]
    return partial[0]


def _segment(combine: Callable[..., Array], op: str, x: Array) -> Array:
    padding = np.full((*x.shape[:-1], -x.shape[-1] % LANES), _identity(op, x.dtype), x.dtype)
    by_turn = np.concatenate([x, padding], axis=-1).reshape(*x.shape[:-1], -1, LANES)
    lanes = by_turn[..., 0, :]
    for turn in range(1, by_turn.shape[-2]):
        lanes = combine(lanes, by_turn[..., turn, :])
    while lanes.shape[-1] > 1:
        lanes = combine(lanes[..., 0::2], lanes[..., 1::2])
    return lanes[..., 0]


def _identity(op: str, dtype: np.dtype[Any]) -> Any:
    if op in ("sum", "prod"):
        return {"sum": dtype.type(-0.0), "prod": dtype.type(1)}[op]
    if op in ("and", "or", "xor"):
        return np.zeros((), dtype) if op != "and" else np.invert(np.zeros((), dtype))
    if dtype.kind == "f":
        return dtype.type(-np.inf if op == "max" else np.inf)
    return np.iinfo(dtype).min if op == "max" else np.iinfo(dtype).max


# --- arithmetic -------------------------------------------------------------------------------------------------------


def _maximum(a: Array, b: Array) -> Array:
    return np.where((a == 0) & (b == 0), a + b, np.maximum(a, b))  # +0 + -0 is +0


def _minimum(a: Array, b: Array) -> Array:
    return np.where((a == 0) & (b == 0), -(-a + -b), np.minimum(a, b))


_COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
_FLOAT: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative, "abs": np.abs,
    "sqrt": np.sqrt, "rint": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "max": _maximum, "min": _minimum,
}  # fmt: skip
_INTEGER: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "abs": np.abs,
    "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "not": np.invert, "shl": np.left_shift, "shr": np.right_shift,
}  # fmt: skip
_BOOLEAN: dict[str, Callable[..., Any]] = {
    "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor, "not": np.logical_not,
}  # fmt: skip


def arithmetic(op: str, kind: ElementKind) -> Callable[..., Any]:
    """The operation on arrays of a compute kind; NumPy rounds to nearest even, keeps subnormals, and wraps integers."""
    if op in _COMPARISONS:
        return _COMPARISONS[op]
    if kind.is_float:
        return {ElementKind.F32: fma32, ElementKind.F64: fma64}[kind] if op == "fma" else _FLOAT[op]
    return (_BOOLEAN if kind.category is Category.BOOL else _INTEGER)[op]


def cast(x: Array, source: ElementKind, target: ElementKind) -> Array:
    """Conversion by value: to nearest even; float to integer truncates, saturates, and sends NaN to 0."""
    if target is ElementKind.BOOL:
        return x != 0
    if not (source.is_float and target.is_integer):
        return x.astype(target.numpy)
    limits = np.iinfo(target.numpy)
    below, above = x <= float(limits.min), x >= 2.0 ** (limits.bits - (limits.min < 0))
    middle = np.where(below | above | np.isnan(x), 0, x).astype(target.numpy)
    return np.where(below, target.numpy.type(limits.min), np.where(above, target.numpy.type(limits.max), middle))
