"""A run's elements combined on the CPU, in the canonical order, for a chunk of columns at a time.

The lanes of a segment are taken in groups of eight neighbours, whose sum is the tree of adjacent pairs over them; the groups'
results go through a binary counter of arrays, one entry for each column, and so do a run's segments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from baracuda.codegen.llvm.ir import Value, constant, i64, vector
from baracuda.codegen.llvm.lanes import first_lanes
from baracuda.codegen.llvm.memory import load
from baracuda.codegen.llvm.primitives import combine, compute_type
from baracuda.core.elements import ElementKind
from baracuda.formula import order
from baracuda.formula.expr import const
from baracuda.formula.order import COMBINE, LANES, SEGMENT
from baracuda.lowering.scatter.problem import LIMIT, Scatter, TensorLayout, unit_inner
from baracuda.lowering.sort.cpu.code import StepBuilder
from baracuda.runtime.jit import CpuTarget

#: Bytes of one column array of the counter.
_CHUNK_BYTES = 2048
_GROUP = 8
#: Levels of the counter within a segment, and for the segments of the longest run.
_LEVELS = max(LANES.bit_length(), (LIMIT // SEGMENT + 1).bit_length() + 1)

#: Takes a column of the chunk, its values, and the lanes that exist (None: all).
Sink = Callable[[Value, Value, Value | None], None]


def lanes_of(scatter: Scatter, target: CpuTarget) -> int:
    """Columns to a vector: as many as fit, but no more than there are; 1 where they are not neighbours."""
    if not unit_inner(scatter):
        return 1
    most = target.vector_bits // max(32, scatter.compute.bits)
    return min(most, 1 << (scatter.inner[-1] - 1).bit_length())


class ColumnAccumulators:
    """What is computed for each column of a chunk, and where."""

    def __init__(self, code: StepBuilder, scatter: Scatter, lanes: int) -> None:
        self.code, self.b, self.scatter, self.lanes = code, code.b, scatter, lanes
        self.kind = scatter.compute
        self.type = compute_type(self.kind)
        self.size = self.kind.itemsize
        self.chunk = _CHUNK_BYTES // self.size
        self.stack = self.b.array(self.type, self.chunk * _LEVELS)
        self.width = i64(0)

    def each(self, body: Callable[[Value, Value | None], None]) -> None:
        """body(column, lanes that exist) for the vectors of the chunk."""
        b, lanes = self.b, self.lanes
        whole = b.and_(self.width, -lanes) if lanes > 1 else self.width
        with b.loop(0, whole, lanes) as column:
            body(column, None)
        if lanes > 1:
            with b.if_(b.less(whole, self.width)):
                body(whole, first_lanes(b, lanes, b.sub(self.width, whole)))

    def join(self, left: Value, right: Value) -> Value:
        """Two values combined, the earlier one left."""
        return combine(self.b, COMBINE[self.scatter.op], self.kind, [left, right])

    def pairs(self, values: Sequence[Value]) -> Value:
        pending = list(values)
        while len(pending) > 1:
            pending = [self.join(*pending[i : i + 2]) for i in range(0, len(pending), 2)]
        return pending[0]

    def constant(self, value: float) -> Value:
        return constant(self.type, const(value, self.kind).attr, self.lanes)

    def _at(self, level: Value, column: Value) -> Value:
        b = self.b
        return b.at(self.stack, b.mul(b.add(b.mul(level, self.chunk), column), self.size))

    def _level(self, level: Value, column: Value) -> Value:
        return self.b.load(vector(self.type, self.lanes), self._at(level, column), self.size)

    def push(self, value: Value, number: Value, level: int, column: Value) -> None:
        """The `number`th value of 2**level elements: combined with those that wait for it."""
        b = self.b
        total, at, counter = b.variable(value), b.variable(i64(level)), b.variable(number)
        with b.while_(lambda: b.equal(b.and_(counter.get(), 1), 1)):
            total.set(self.join(self._level(at.get(), column), total.get()))
            at.set(b.add(at.get(), i64(1)))
            counter.set(b.shr(counter.get(), 1))
        b.store(total.get(), self._at(at.get(), column), self.size)

    def finish(self, count: Value, sink: Sink) -> None:
        """What is left in the counter after `count` elements, from the newest to the oldest."""
        b = self.b
        lowest = b.call("i64", "llvm.cttz.i64", count, Value("i1", "true"))

        def body(column: Value, exist: Value | None) -> None:
            total = b.variable(self._level(lowest, column))
            at = b.variable(b.add(lowest, i64(1)))
            counter = b.variable(b.shr(b.shr(count, lowest), 1))
            with b.while_(lambda: b.less(0, counter.get())):
                with b.if_(b.equal(b.and_(counter.get(), 1), 1)):
                    total.set(self.join(self._level(at.get(), column), total.get()))
                at.set(b.add(at.get(), i64(1)))
                counter.set(b.shr(counter.get(), 1))
            sink(column, total.get(), exist)

        self.each(body)


class DestinationRuns:
    """The elements that entries bring, and segments of them."""

    def __init__(self, code: StepBuilder, columns: ColumnAccumulators, entries: Value, x: int, rows: int, weights: int) -> None:
        """`x`, `rows` and `weights` are the words of these operands."""
        scatter = columns.scatter
        assert scatter.x is not None
        self.code, self.b, self.columns, self.entries = code, code.b, columns, entries
        self.x = scatter.x
        self.base = code.operand(x)
        self.extents = code.numbers(scatter.keys.shape)
        self.strides = code.numbers([s * self.x.kind.itemsize for s in self.x.outer])
        self.rows = self._index_operand(rows, scatter.rows)
        self.last = code.integer(scatter.sources - 1) if scatter.rows is not None else None
        self.weights = self._index_operand(weights, scatter.weights)
        self.offsets = self.b.array("i64", SEGMENT)
        self.factors = self.b.array(columns.type, SEGMENT) if self.weights is not None else None
        inner = self.x.inner[-1]
        self.step = i64(self.x.kind.itemsize) if inner == 1 and columns.lanes > 1 else code.integer(inner * self.x.kind.itemsize)
        self.pointer = self.base

    def _index_operand(self, word: int, tensor_layout: TensorLayout | None) -> tuple[Value, list[Value], ElementKind] | None:
        if tensor_layout is None:
            return None
        return (
            self.code.operand(word),
            self.code.numbers([s * tensor_layout.kind.itemsize for s in tensor_layout.outer]),
            tensor_layout.kind,
        )

    def _coordinates(self, position: Value) -> list[Value]:
        b, rest = self.b, position
        indices: list[Value] = []
        for axis in range(len(self.extents) - 1, 0, -1):
            indices.insert(0, b.rem(rest, self.extents[axis]))
            rest = b.div(rest, self.extents[axis])
        return [rest, *indices]

    def _dot(self, coordinates: Sequence[Value], strides: Sequence[Value]) -> Value:
        b, total = self.b, i64(0)
        for c, s in zip(coordinates, strides, strict=True):
            total = b.add(total, b.mul(c, s))
        return total

    def _offset_and_factor(self, entry: Value) -> tuple[Value, Value | None]:
        """The offset of what an entry brings, and its factor."""
        b, code = self.b, self.code
        where = self._coordinates(code.position(code.entry(self.entries, entry)))
        if self.rows is None:
            offset = self._dot(where, self.strides)
        else:
            base, strides, kind = self.rows
            assert self.last is not None
            row = b.load(f"i{kind.bits}", b.at(base, self._dot(where, strides)), kind.itemsize)
            row = code.maximum(b.min(b.convert("sext", row, "i64"), self.last), 0)
            offset = b.mul(row, self.strides[0])
        if self.weights is None:
            return offset, None
        base, strides, kind = self.weights
        return offset, load(b, kind, b.at(base, self._dot(where, strides)), 1)

    def element(self, entry: Value) -> Value:
        """What an entry brings, where that is one column."""
        offset, factor = self._offset_and_factor(entry)
        value = load(self.b, self.x.kind, self.b.at(self.base, offset), 1)
        return value if factor is None else combine(self.b, "mul", self.columns.kind, [value, factor])

    def find(self, first: Value, count: Value) -> None:
        """Look up where the elements of a segment are."""
        b = self.b
        with b.loop(0, count) as j:
            offset, factor = self._offset_and_factor(b.add(first, j))
            b.store(offset, b.at(self.offsets, b.mul(j, 8)), 8)
            if factor is not None:
                assert self.factors is not None
                b.store(factor, b.at(self.factors, b.mul(j, self.columns.size)), self.columns.size)

    def _element(self, j: Value, column: Value, exist: Value | None) -> Value:
        b, columns = self.b, self.columns
        offset = b.load("i64", b.at(self.offsets, b.mul(j, 8)), 8)
        pointer = b.at(b.at(self.pointer, offset), b.mul(column, self.step))
        value = load(b, self.x.kind, pointer, columns.lanes, exist)
        if self.factors is None:
            return value
        factor = b.load(columns.type, b.at(self.factors, b.mul(j, columns.size)), columns.size)
        return combine(b, "mul", columns.kind, [value, b.splat(factor, columns.lanes)])

    def segment(self, count: Value, sink: Sink) -> None:
        """The columns of a segment of 1 to SEGMENT elements that `find` has looked up; `pointer` is the first column's
        address for the offset 0."""
        b, columns = self.b, self.columns
        many = b.less(LANES, count)
        with b.if_(b.equal(count, 1)):
            columns.each(lambda column, exist: sink(column, self._element(i64(0), column, exist), exist))
        with b.else_(b.equal(count, 1)):
            with b.else_(many):
                self._lanes(count)
            with b.if_(many):
                self._chains(count)
            columns.finish(b.min(count, LANES), sink)

    def _lanes(self, count: Value) -> None:
        """Lanes of one element each: groups of 8, then of 4, 2 and 1."""
        b, columns = self.b, self.columns
        first = i64(0)
        for level in (3, 2, 1, 0):
            size = 1 << level
            end = b.and_(count, -size)
            with b.loop(first, end, size) as j:

                def body(column: Value, exist: Value | None, j: Value = j, level: int = level, size: int = size) -> None:
                    value = columns.pairs([self._element(b.add(j, i), column, exist) for i in range(size)])
                    # below 8 there is at most one group of a size, and nothing waits at its level
                    columns.push(value, b.shr(j, 3) if level == 3 else i64(0), level, column)

                columns.each(body)
            first = end

    def _chains(self, count: Value) -> None:
        """All lanes, of up to SEGMENT / LANES elements."""
        b, columns = self.b, self.columns
        full, rest = b.shr(count, LANES.bit_length() - 1), b.and_(count, LANES - 1)
        with b.loop(0, LANES, _GROUP) as j:

            def body(column: Value, exist: Value | None) -> None:
                lanes = [b.add(j, i) for i in range(_GROUP)]
                sums = [b.variable(self._element(lane, column, exist)) for lane in lanes]
                with b.loop(1, full) as k:
                    start = b.mul(k, LANES)
                    for lane, total in zip(lanes, sums, strict=True):
                        total.set(columns.join(total.get(), self._element(b.add(start, lane), column, exist)))
                start = b.mul(full, LANES)
                for lane, total in zip(lanes, sums, strict=True):
                    more = b.less(lane, rest)
                    # the first element stands in for one that does not exist
                    at = b.select(more, b.add(start, lane), lane)
                    combined = columns.join(total.get(), self._element(at, column, exist))
                    total.set(b.select(more, combined, total.get()))
                columns.push(columns.pairs([s.get() for s in sums]), b.shr(j, 3), 3, column)

            columns.each(body)


def identity(scatter: Scatter) -> float:
    """What a destination gets that nothing goes to and that has no base."""
    kind = scatter.y.kind
    if kind.is_float:
        return order.empty(scatter.op, scatter.compute)
    return 0.0 if scatter.op == "sum" else order.identity(scatter.op, kind)
