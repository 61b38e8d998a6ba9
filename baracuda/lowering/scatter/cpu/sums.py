"""Segment sums on the CPU over sorted entries: first the segments of long runs, then every destination."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from baracuda.codegen.llvm.ir import Value, i64, vector
from baracuda.codegen.llvm.memory import load, store
from baracuda.codegen.llvm.primitives import combine
from baracuda.core.elements import Category
from baracuda.formula import order
from baracuda.formula.order import COMBINE, SEGMENT
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.lowering.scatter.cpu.runs import ColumnAccumulators, DestinationRuns, identity, lanes_of
from baracuda.lowering.scatter.problem import BASE, OPERANDS, ROWS, WEIGHTS, Arrays, Scatter, TensorLayout, X, Y
from baracuda.lowering.sort.cpu.code import Integers, StepBuilder
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

#: Elements of a run that are combined without a branch.
_FEW = 4


class Sums:
    def __init__(self, scatter: Scatter, places: Arrays, integers: Integers, target: CpuTarget) -> None:
        self.scatter, self.places, self.integers = scatter, places, integers
        self.target = target
        self.lanes = lanes_of(scatter, target)

    def _code(self) -> StepBuilder:
        return StepBuilder(self.integers, self.target)

    @contextmanager
    def _chunks(
        self, code: StepBuilder, columns: ColumnAccumulators, bases: dict[int, tuple[Value, TensorLayout]]
    ) -> Iterator[tuple[dict[int, Value], Value]]:
        """For each chunk of the columns: the addresses of its first one, and its number among all columns."""
        b, inner = code.b, self.scatter.inner
        last = code.integer(inner[-1])
        extents = code.numbers(inner[:-1])
        strides = {i: code.numbers([s * t.kind.itemsize for s in t.inner]) for i, (_, t) in bases.items()}
        addresses = {i: address for i, (address, _) in bases.items()}

        def chunks(pointers: dict[int, Value], start: Value) -> Iterator[tuple[dict[int, Value], Value]]:
            with b.loop(0, last, columns.chunk) as first:
                columns.width = b.min(b.sub(last, first), columns.chunk)
                shifted = {i: b.at(p, b.mul(first, strides[i][-1])) for i, p in pointers.items()}
                yield shifted, b.add(start, first)

        if len(inner) == 1:
            yield from chunks(addresses, i64(0))
            return
        iterator = StridedIterator(b, extents, {i: s[:-1] for i, s in strides.items()}, addresses)
        iterator.start(i64(0))
        rows = code.integer(self.scatter.columns // max(inner[-1], 1))
        with b.loop(0, rows) as row:
            yield from chunks(iterator.pointers(), b.mul(row, last))
            iterator.advance()

    def _partial(self, code: StepBuilder, columns: ColumnAccumulators, slot: Value, column: Value) -> Value:
        b = code.b
        at = b.add(b.mul(slot, code.integer(self.scatter.columns)), column)
        return b.at(code.scratch(self.places.partials), b.mul(at, columns.size))

    def segments(self) -> Launch:
        """The segments of runs longer than one, which threads share.

        Of the segments that start in one window of SEGMENT entries at most two belong to such runs: one of the run that the
        first entry is in, and the start of the one that the last entry is in.
        """
        code = self._code()
        b, scatter = code.b, self.scatter
        columns = ColumnAccumulators(code, scatter, self.lanes)
        entries, starts = code.scratch(self.places.entries[0]), code.scratch(self.places.starts)
        n, nowhere = code.integer(scatter.keys.positions), code.integer(scatter.keys.count)
        runs = DestinationRuns(code, columns, entries, X, ROWS, WEIGHTS)
        with b.loop(b.mul(code.begin, 2), b.mul(code.end, 2)) as unit:
            window, second = b.mul(b.shr(unit, 1), SEGMENT), b.equal(b.and_(unit, 1), 1)
            at = b.select(second, b.sub(b.min(b.add(window, SEGMENT), n), i64(1)), window)
            key = code.key(code.entry(entries, at))
            with b.if_(b.less(key, nowhere)):
                start, end = code.u32(starts, key), code.u32(starts, b.add(key, i64(1)))
                inside = b.compare("icmp sgt", start, window)
                skipped = b.shr(b.add(b.select(inside, i64(0), b.sub(window, start)), SEGMENT - 1), 10)
                first = b.add(start, b.mul(skipped, SEGMENT))
                belongs = b.and_(b.equal(b.op("xor", second, inside), 0), b.less(SEGMENT, b.sub(end, start)))
                starts_here = b.less(first, b.min(end, b.add(window, SEGMENT)))
                with b.if_(b.and_(belongs, starts_here)):
                    count = b.min(b.sub(end, first), SEGMENT)
                    runs.find(first, count)
                    slot = b.add(b.shr(start, 9), skipped)
                    assert scatter.x is not None
                    with self._chunks(code, columns, {X: (runs.base, scatter.x)}) as (pointers, column):
                        runs.pointer = pointers[X]
                        to = self._partial(code, columns, slot, column)

                        def sink(c: Value, value: Value, exist: Value | None, to: Value = to) -> None:
                            store(b, columns.kind, value, b.at(to, b.mul(c, columns.size)), exist)

                        runs.segment(count, sink)
        windows = -(-scatter.keys.positions // SEGMENT)
        return code.step("segments", windows, SEGMENT * (4 + scatter.columns * columns.size * 0.06))

    def destinations(self, long: bool) -> Launch:
        """Every destination: its run combined, or the results of its segments."""
        code = self._code()
        b, scatter = code.b, self.scatter
        columns = ColumnAccumulators(code, scatter, self.lanes)
        entries, starts = code.scratch(self.places.entries[0]), code.scratch(self.places.starts)
        runs = DestinationRuns(code, columns, entries, X, ROWS, WEIGHTS) if scatter.x is not None else None
        finish = _Finish(code, scatter, columns)
        iterator = finish.iterator
        iterator.start(code.begin)
        with b.loop(code.begin, code.end) as d:
            start, end = code.u32(starts, d), code.u32(starts, b.add(d, i64(1)))
            count = b.sub(end, start)
            finish.begin(count)
            bases = {
                i: (p, t) for i, p in iterator.pointers().items() if (t := scatter.y if i == Y else scatter.base) is not None
            }
            empty = b.equal(count, 0) if runs is not None else None
            if runs is None or empty is None:
                with self._chunks(code, columns, bases) as (pointers, _):
                    finish.pointers = pointers
                    columns.each(finish.counted)
            elif scatter.columns == 1 and scatter.keys.positions:
                few = b.less(count, _FEW + 1)
                finish.pointers = {i: p for i, (p, _) in bases.items()}
                with b.if_(few):
                    self._few(columns, runs, finish, start, count)
                with b.else_(few):
                    runs.pointer = runs.base
                    columns.width = i64(1)
                    one = b.less(count, SEGMENT + 1)
                    with b.if_(one):
                        runs.find(start, count)
                        runs.segment(count, finish.store)
                    if long:
                        with b.else_(one):
                            self._joined(code, columns, finish, start, count, i64(0))
            else:
                assert scatter.x is not None
                with b.if_(empty), self._chunks(code, columns, bases) as (pointers, _):
                    finish.pointers = pointers
                    columns.each(finish.nothing)
                within = b.and_(b.less(0, count), b.less(count, SEGMENT + 1))
                with b.if_(within):
                    runs.find(start, count)
                    with self._chunks(code, columns, {**bases, X: (runs.base, scatter.x)}) as (pointers, _):
                        finish.pointers, runs.pointer = pointers, pointers[X]
                        runs.segment(count, finish.store)
                if long:
                    with b.if_(b.less(SEGMENT, count)), self._chunks(code, columns, bases) as (pointers, column):
                        finish.pointers = pointers
                        self._joined(code, columns, finish, start, count, column)
            iterator.advance()
        mean = scatter.keys.positions / scatter.keys.count
        size = columns.size if scatter.x is not None else 0
        return code.step(
            "destinations", scatter.keys.count, 4 + mean * 4 + scatter.columns * (mean * size + scatter.y.kind.itemsize) * 0.06
        )

    def _few(self, columns: ColumnAccumulators, runs: DestinationRuns, finish: _Finish, start: Value, count: Value) -> None:
        """The one column of a run of 0 to _FEW elements, without a branch: their number is hard to predict."""
        b = columns.b
        last = columns.code.integer(self.scatter.keys.positions - 1)
        neutral = columns.constant(order.identity(self.scatter.op, columns.kind))
        lanes = []
        for i in range(_FEW):
            exists = b.less(i, count)
            # one that does not exist is left out, but something that does is read
            at = b.min(b.add(start, b.select(exists, i64(i), i64(0))), last)
            lanes.append(b.select(exists, runs.element(at), neutral))
        finish.store(i64(0), columns.pairs(lanes), None, some=b.less(0, count))

    def _joined(
        self, code: StepBuilder, columns: ColumnAccumulators, finish: _Finish, start: Value, count: Value, column: Value
    ) -> None:
        """The results of a run's segments, in adjacent pairs."""
        b = code.b
        segments = b.shr(b.add(count, SEGMENT - 1), 10)
        with b.loop(0, segments) as s:
            of = self._partial(code, columns, b.add(b.shr(start, 9), s), column)

            def body(c: Value, exist: Value | None) -> None:
                value = load(b, columns.kind, b.at(of, b.mul(c, columns.size)), columns.lanes, exist)
                columns.push(value, s, 0, c)

            columns.each(body)
        columns.finish(segments, finish.store)


class _Finish:
    """From a run's combination to what is stored: alpha, the mean, the base, one rounding."""

    def __init__(self, code: StepBuilder, scatter: Scatter, columns: ColumnAccumulators) -> None:
        self.code, self.b, self.scatter, self.columns = code, code.b, scatter, columns
        outputs: list[tuple[int, TensorLayout]] = [(Y, scatter.y)]
        if scatter.base is not None:
            outputs.append((BASE, scatter.base))
        self.alpha = code.word(columns.type, OPERANDS + 1) if scatter.scaled else None
        extents = code.numbers(scatter.destinations)
        strides = {i: code.numbers([s * t.kind.itemsize for s in t.outer]) for i, t in outputs}
        self.iterator = StridedIterator(code.b, extents, strides, {i: code.operand(i) for i, _ in outputs})
        self.steps = {
            i: i64(t.kind.itemsize) if columns.lanes > 1 else code.integer(t.inner[-1] * t.kind.itemsize) for i, t in outputs
        }
        self.pointers: dict[int, Value] = {}
        self.count = self.divisor = i64(0)

    def begin(self, count: Value) -> None:
        """A destination with a run of this length."""
        b, kind = self.b, self.columns.kind
        self.count = count
        if self.scatter.mean:
            number = b.add(count, i64(1)) if self.scatter.combined_base is not None else self.code.maximum(count, 1)
            if kind.is_float:
                self.divisor = b.convert("uitofp", number, self.columns.type)
            else:
                self.divisor = b.convert("trunc", number, self.columns.type)

    def _base(self, column: Value, exist: Value | None) -> Value:
        assert self.scatter.base is not None
        pointer = self.b.at(self.pointers[BASE], self.b.mul(column, self.steps[BASE]))
        return load(self.b, self.scatter.base.kind, pointer, self.columns.lanes, exist)

    def _write(self, column: Value, value: Value, exist: Value | None) -> None:
        pointer = self.b.at(self.pointers[Y], self.b.mul(column, self.steps[Y]))
        store(self.b, self.scatter.y.kind, value, pointer, exist)

    def store(self, column: Value, value: Value, exist: Value | None, some: Value | None = None) -> None:
        """A combination of elements, of one or more unless `some` says whether there are any."""
        b, columns, kind = self.b, self.columns, self.columns.kind
        if self.alpha is not None:
            value = combine(b, "mul", kind, [value, b.splat(self.alpha, columns.lanes)])
        if self.scatter.combined_base is not None:
            value = combine(b, COMBINE[self.scatter.op], kind, [self._base(column, exist), value])
        if self.scatter.mean:
            value = self._divided(value)
        if some is not None:
            value = b.select(some, value, self._empty(column, exist))
        self._write(column, value, exist)

    def _divided(self, value: Value) -> Value:
        """Over the count; integers round down."""
        b, kind, lanes = self.b, self.columns.kind, self.columns.lanes
        divisor = b.splat(self.divisor, lanes)
        if kind.is_float:
            return b.op("fdiv", value, divisor)
        if kind.category is not Category.SIGNED:
            return b.op("udiv", value, divisor)
        quotient = b.op("sdiv", value, divisor)
        below = b.compare("icmp slt", value, b.op("mul", quotient, divisor))
        return b.op("add", quotient, b.convert("sext", below, vector(value.element, lanes)))

    def nothing(self, column: Value, exist: Value | None) -> None:
        """A destination that nothing goes to."""
        self._write(column, self._empty(column, exist), exist)

    def _empty(self, column: Value, exist: Value | None) -> Value:
        if self.scatter.base is not None:
            return self._base(column, exist)
        return self.columns.constant(identity(self.scatter))

    def counted(self, column: Value, exist: Value | None) -> None:
        """The length of the run."""
        b, columns = self.b, self.columns
        number = self.count
        kind = columns.kind
        if kind.is_float:
            number = b.convert("uitofp", number, columns.type)
        elif kind.bits < 64:
            number = b.convert("trunc", number, columns.type)
        self._write(column, b.splat(number, columns.lanes), exist)
