"""The canonical arithmetic once more, in NumPy: what every bit of a graph of primitives must be.

An interpreter with no schedule, no layout and no code in common with either lowering: it arbitrates where two disagree, and
the tests hold both against it. Only for small shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.host import HostName, value_of
from baracuda.formula.exact_fma import fma32, fma64
from baracuda.formula.expr import PRIMITIVES, Axes, Expr, topological
from baracuda.formula.functions import ROW_LENGTH, reserved_value
from baracuda.formula.graph import Graph
from baracuda.formula.loops import turned
from baracuda.formula.oracle_reads import read
from baracuda.formula.order import pool_block
from baracuda.formula.pooling import block_outputs, pools, unpooled
from baracuda.formula.scans import Combine, Scan

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Params: TypeAlias = Mapping[str, float]
Values: TypeAlias = "dict[Expr, Array]"

#: A reduction cuts its elements into segments of this length,
SEGMENT = 1024
#: deals each segment to this many lanes, and adds lanes, then segments, in adjacent pairs.
LANES = 128


def run(
    graph: Graph, inputs: Mapping[str, Any], shape: Sequence[int], inner: Sequence[bool], params: Params | None = None
) -> dict[str, Array]:
    """The outputs, in their storage kinds, with extent 1 along the axes they do not vary along.

    Inputs are arrays in their storage kinds, of the rank of `shape`, with extent 1 along the axes they do not vary along.

    Raises
    ------
    InvalidProblemError
        A node is no primitive (expand the graph first), an input has another element than the graph says, or a parameter has
        no value.
    UnsupportedError
        A primitive that this interpreter does not have.
    """
    space = _Space(tuple(shape), tuple(inner))
    pool = pools(graph, space.shape, space.inner)
    graph = graph if pool else unpooled(graph)
    with np.errstate(all="ignore"):
        values = _from_blocks(graph, inputs, space, params or {}) if pool else {}
        _evaluate((e for _, e in graph.outputs), values, inputs, space, params or {})
        return {
            port.name: np.array(np.broadcast_to(values[expr], space.extents(port.axes))).astype(port.kind.numpy)
            for port, expr in graph.outputs
        }


class _Space:
    def __init__(self, shape: tuple[int, ...], inner: tuple[bool, ...]) -> None:
        self.shape, self.inner = shape, inner

    def axes(self, over: Axes) -> list[int]:
        return [a for a, i in enumerate(self.inner) if over & (Axes.INNER if i else Axes.OUTER)]

    def extents(self, axes: Axes) -> tuple[int, ...]:
        return tuple(extent if a in self.axes(axes) else 1 for a, extent in enumerate(self.shape))


def _evaluate(roots: Iterable[Expr], values: Values, inputs: Mapping[str, Any], space: _Space, params: Params) -> None:
    """Add to the values that are known those of some nodes and of what they need."""
    waiting = list(roots)
    while waiting:
        n = waiting[-1]
        missing = [a for a in n.args if a not in values]
        if n in values or not missing:
            waiting.pop()
        if n not in values and not missing:
            values[n] = _node(n, [values[a] for a in n.args], inputs, space, params)
        elif n not in values:
            waiting += missing


def _node(n: Expr, args: list[Array], inputs: Mapping[str, Any], space: _Space, params: Params) -> Array:
    if n.op not in PRIMITIVES:
        raise InvalidProblemError(f"{n.op} is not a primitive; expected an expanded graph")
    dtype = n.kind.numpy
    ones = (1,) * len(space.shape)
    if n.op == "const":
        return np.full(ones, n.attr, f"u{dtype.itemsize}").view(dtype)
    if n.op == "input":
        name, storage, axes = n.attr
        array = np.asarray(inputs[name])
        if array.dtype != storage.numpy:
            raise InvalidProblemError(f"{name}: element is {array.dtype}; expected {storage}")
        np.broadcast_to(array, space.extents(axes))
        return array.astype(dtype)  # widening: exact
    if n.op == "param":
        fill = reserved_value(n.attr, space.shape, space.inner)
        if fill is None and (n.attr in params or isinstance(n.attr, HostName)):
            fill = value_of(n.attr, params)
        if fill is None:
            raise InvalidProblemError(f"parameter {n.attr!r} is missing; got {', '.join(params) or 'none'}")
        return np.full(ones, dtype.type(fill))
    if n.op == "coord":
        axis = n.attr % len(space.shape)
        return np.arange(space.shape[axis], dtype=dtype).reshape([-1 if a == axis else 1 for a in range(len(ones))])
    if n.op == "position":
        inner = space.extents(Axes.INNER)
        return np.arange(prod(inner), dtype=dtype).reshape(inner)
    if n.op == "reduce":
        return reduced(n.attr[0], args[0], space.axes(n.attr[1]), space.shape)
    if n.op == "gather":
        return read(n.attr, np.asarray(inputs[n.attr.name]).astype(dtype), space.shape, space.inner, args)
    if n.op == "scan":
        return _scanned(n.attr, args, space)
    return _pure(n, args)


def _pure(n: Expr, args: list[Array]) -> Array:
    """A node that looks at its operands alone."""
    dtype = n.kind.numpy
    if n.op == "const":
        return np.asarray(np.array(n.attr, f"u{dtype.itemsize}").view(dtype))
    if n.op in ("select", "rare"):
        return np.where(*args)
    if n.op == "loop":
        return np.asarray(turned(n, args, _pure, np.where))
    if n.op == "cast":
        return cast(args[0], n.args[0].kind, n.kind)
    if n.op == "bitcast":
        return np.ascontiguousarray(args[0]).view(dtype)
    if n.op == "lookup":
        return np.array(n.attr, f"u{dtype.itemsize}").view(dtype)[args[0]]
    return np.asarray(arithmetic(n.op, n.args[0].kind)(*args)).astype(dtype, copy=False)


# --- reductions -------------------------------------------------------------------------------------------------------


def reduced(op: str, x: Array, axes: Sequence[int], shape: Sequence[int]) -> Array:
    """A reduction over some axes of the space, numbering the elements along them with the last axis fastest."""
    remaining = [a for a in range(len(shape)) if a not in axes]
    along = [shape[a] if a in axes else x.shape[a] for a in range(len(shape))]
    rows = (
        np.broadcast_to(x, along)
        .transpose(*remaining, *axes)
        .reshape([along[a] for a in remaining] + [-1 if prod(along) else prod(shape[a] for a in axes)])
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


# --- pooled sums ------------------------------------------------------------------------------------------------------


def _from_blocks(graph: Graph, inputs: Mapping[str, Any], space: _Space, params: Params) -> Values:
    """The reductions and pooled sums of rows that are cut into blocks, and the nodes below them that do not vary along a row."""
    leaves = [n for n in graph.nodes if not n.args and n.op != "state"]
    seen: Values = {}
    _evaluate(leaves, seen, inputs, space, params)
    sums = [n for n in graph.nodes if n.op == "pooled"]
    outputs = block_outputs(graph)
    roots = [*outputs, *(a for n in sums for a in n.args[2:])]
    blocks: list[Values] = []
    for window in _windows(space):
        part = _Space(tuple(w.stop - w.start for w in window), space.inner)
        # What has extent 1 along an axis does not vary along it. The length of a row is that of the block's.
        own = {
            n: v[tuple(w if extent > 1 else slice(None) for w, extent in zip(window, v.shape, strict=True))]
            for n, v in seen.items()
            if n.attr != ROW_LENGTH
        }
        _evaluate(roots, own, inputs, part, params)
        blocks.append(own)

    def across(op: str, values: list[Array]) -> Array:
        return row_reduced(op, np.stack(np.broadcast_arrays(*values), axis=-1))

    plain = outputs.keys() - {n.args[0] for n in sums}
    values: Values = {n: across(n.attr[0], [b[n] for b in blocks]) for n in plain}
    for n in sums:
        _evaluate(n.args[2:], values, inputs, space, params)
        values[n] = across("sum", [_moved(n, b, values) for b in blocks])
    return values


def _windows(space: _Space) -> Iterator[tuple[slice, ...]]:
    """The blocks of a row, in order, over all rows."""
    inner = space.axes(Axes.INNER)
    at, length = pool_block([space.shape[a] for a in inner])
    steps = {a: 1 if i < at else length if i == at else space.shape[a] for i, a in enumerate(inner)}
    starts = [range(0, extent, steps.get(a, extent) or 1) for a, extent in enumerate(space.shape)]
    for corner in product(*starts):
        yield tuple(slice(c, min(c + steps.get(a, n), n)) for a, (c, n) in enumerate(zip(corner, space.shape, strict=True)))


def _moved(n: Expr, block: Values, row: Values) -> Array:
    """What a block counts in a pooled sum."""
    values: Values = {}
    for m in topological([n.args[1]]):
        if m.op == "state":
            name, i = m.attr
            values[m] = block[n.args[0]] if name == "part" else (block if name == "own" else row)[n.args[2 + i]]
        else:
            values[m] = _pure(m, [values[a] for a in m.args])
    return values[n.args[1]]


# --- scans ------------------------------------------------------------------------------------------------------------

#: Elements to a chunk, a block, a tile and a span of a scan.
CHUNK, BLOCK, TILE, SPAN = 8, 256, 4096, 64 * 4096

State: TypeAlias = "list[Array]"


def _scanned(scan: Scan, args: list[Array], space: _Space) -> Array:
    """One component of a scan along the inner axes, the last fastest."""
    outer, inner = space.axes(Axes.OUTER), space.axes(Axes.INNER)
    order = [*outer, *inner]
    shape = [space.shape[a] for a in order]
    length = prod(shape[len(outer) :])
    rows = [np.broadcast_to(x, space.shape).transpose(order).reshape(*shape[: len(outer)], length) for x in args]
    if scan.reverse:
        rows = [x[..., ::-1] for x in rows]
    first = [np.full(x.shape[:-1], c.value, x.dtype) for c, x in zip(scan.combine.identity, rows, strict=True)]
    result = np.empty_like(rows[scan.component])
    for i, state in enumerate(_running(scan.combine, rows, length, exclusive=scan.exclusive)):
        result[..., i] = (first if state is None else state)[scan.component]
    turned = result[..., ::-1] if scan.reverse else result
    return turned.reshape(shape).transpose(np.argsort(order))


def _running(combine: Combine, rows: list[Array], length: int, *, exclusive: bool) -> Iterator[State | None]:
    """The state of each element; None where there is nothing before it."""

    def joined(left: State | None, right: State | None) -> State | None:
        if left is None or right is None:
            return right if left is None else left
        return _combined(combine, left, right)

    def chunk(start: int, stop: int) -> list[State]:
        states = [[x[..., start] for x in rows]]
        for i in range(start + 1, stop):
            states.append(_combined(combine, states[-1], [x[..., i] for x in rows]))
        return states

    spans: State | None = None
    tiles: State | None = None
    blocks: State | None = None
    for start in range(0, length, BLOCK):
        if start % TILE == 0:
            tiles, blocks = joined(tiles, blocks), None
        if start % SPAN == 0:
            spans, tiles = joined(spans, tiles), None
        stop = min(start + BLOCK, length)
        chunks = [chunk(i, min(i + CHUNK, stop)) for i in range(start, stop, CHUNK)]
        totals = [states[-1] for states in chunks]
        for d in (1, 2, 4, 8, 16):
            totals = [_combined(combine, totals[j - d], t) if j >= d else t for j, t in enumerate(totals)]
        before = joined(joined(spans, tiles), blocks)
        for j, states in enumerate(chunks):
            up_to_chunk = joined(before, totals[j - 1] if j else None)
            yield from (joined(up_to_chunk, own) for own in ([None, *states[:-1]] if exclusive else states))
        blocks = joined(blocks, totals[-1])


def _combined(combine: Combine, left: State, right: State) -> State:
    """A scan's operation on two states."""
    values = dict(zip((*combine.left, *combine.right), (*left, *right), strict=True))
    for n in combine.nodes:
        if n not in values:
            values[n] = _pure(n, [values[a] for a in n.args])
    return [np.broadcast_to(values[r], left[0].shape) for r in combine.results]


# --- arithmetic -------------------------------------------------------------------------------------------------------


def _maximum(a: Array, b: Array) -> Array:
    return np.where((a == 0) & (b == 0), a + b, np.maximum(a, b))  # +0 + -0 is +0


def _minimum(a: Array, b: Array) -> Array:
    return np.where((a == 0) & (b == 0), -(-a + -b), np.minimum(a, b))


def _unsigned(x: Array) -> Array:
    bits: Array = x.view(f"u{x.dtype.itemsize}")
    return bits


def _quotient(x: Array, y: Array) -> Array:
    """Towards zero; 0 where y is."""
    down = np.floor_divide(x, y)
    quotient: Array = down + ((np.fmod(x, y) != 0) & ((x < 0) != (y < 0)) & (y != 0)).astype(x.dtype)
    return np.where(y == 0, x.dtype.type(0), quotient)


def _upper_half(x: Array, y: Array) -> Array:
    exact = x.astype(object) * y.astype(object) >> 8 * x.dtype.itemsize
    return np.asarray(exact).astype(x.dtype)


def _leading_zeros(x: Array) -> Array:
    bits = 8 * x.dtype.itemsize
    return np.asarray(np.vectorize(lambda v: bits - int(v).bit_length(), otypes=[x.dtype])(x))


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
    "not": np.invert, "shl": np.left_shift, "shr": np.right_shift, "gcd": np.gcd,
    "idiv": lambda x, y: _quotient(x, y), "irem": lambda x, y: np.where(y == 0, x.dtype.type(0), np.fmod(x, y)),
    "mulhi": lambda x, y: _upper_half(x, y), "popcount": lambda x: np.bitwise_count(_unsigned(x)),
    "clz": lambda x: _leading_zeros(_unsigned(x)),
}  # fmt: skip
_BOOLEAN: dict[str, Callable[..., Any]] = {
    "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor, "not": np.logical_not,
}  # fmt: skip


def arithmetic(op: str, kind: ElementKind) -> Callable[..., Any]:
    """The operation on arrays of a compute kind; NumPy rounds to nearest even, keeps subnormals, and wraps integers."""
    if op in _COMPARISONS:
        return _COMPARISONS[op]
    if op == "fma" and kind.is_float:
        return fma32 if kind is ElementKind.F32 else fma64
    table = _FLOAT if kind.is_float else _BOOLEAN if kind.category is Category.BOOL else _INTEGER
    if op not in table:
        raise UnsupportedError(f"{op} on {kind}; expected one of {', '.join(sorted(table))}")
    return table[op]


def cast(x: Array, source: ElementKind, target: ElementKind) -> Array:
    """Conversion by value: to nearest even; float to integer truncates, saturates, and sends NaN to 0."""
    if target is ElementKind.BOOL:
        return np.asarray(x != 0)
    if not (source.is_float and target.is_integer):
        return x.astype(target.numpy)
    limits = np.iinfo(target.numpy)
    below, above = x <= float(limits.min), x >= 2.0 ** (limits.bits - (limits.min < 0))
    middle = np.where(below | above | np.isnan(x), 0, x).astype(target.numpy)
    return np.where(below, target.numpy.type(limits.min), np.where(above, target.numpy.type(limits.max), middle))
