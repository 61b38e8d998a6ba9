"""Reductions of rows that lie side by side, read in the order of memory.

A *column tile* is a stretch of neighbouring rows, read as wide as it is: lane by lane, the elements of its chains are streams
through memory that neighbours follow one another in. What the lanes give meets in adjacent pairs in a binary counter whose
levels are as wide as the column tile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from baracuda.codegen.llvm.evaluate import Group
from baracuda.codegen.llvm.ir import Value, Variable, i64, vector
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.codegen.llvm.tree import join, order_free
from baracuda.formula.expr import Expr
from baracuda.formula.order import CHAIN, LANES, SEGMENT
from baracuda.lowering.nest.costs import vector_cost
from baracuda.lowering.nest.cpu.analysis import RowAnalysis
from baracuda.lowering.nest.cpu.kernel import Kernel
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.lowering.nest.problem import Nest
from baracuda.lowering.reduction.cpu.columns import ColumnPasses

#: The most segments to a part, and levels of a counter that are enough for them.
_SEGMENTS, _LEVELS = 4096, 24
#: Bytes of all reductions' levels that are this wide.
_WIDEST = 8192
#: Instructions that a chain may unroll to.
_UNROLLED = 240
#: Units of work to have where there are elements enough, and elements that make one.
_UNITS, _LEAST = 32, 32768
#: Rows narrower than this many bytes side by side are not worth a stream.
_NARROWEST = 32

#: Given the passes of some neighbouring rows and the number of the first of them in the column tile.
Body = Callable[[ColumnPasses, Value], None]


def is_column_tiled(nest: Nest, analysis: RowAnalysis) -> bool:
    """Whether the rows along the last outer axis are reduced in one pass that writes nothing along them."""
    if analysis.passes != 1 or analysis.element_outputs or analysis.across:
        return False
    size = min((o.kind.itemsize for o in nest.operands[: len(nest.graph.inputs)]), default=1)
    return nest.outer[-1] * size >= _NARROWEST and nest.row_length > 8


def column_tile_shape(nest: Nest, analysis: RowAnalysis, lanes: int) -> tuple[int, int]:
    """Rows to a column tile, and segments to a part of them (a power of two, 0 for all)."""
    across, segments = nest.outer[-1], -(-nest.row_length // SEGMENT)
    widest = _width(analysis, lanes)
    width = widest
    while True:
        tiles = -(-across // width)
        units, each = nest.rows // across * tiles, min(width, across)
        size = 1
        while size < _SEGMENTS and (2 * size <= segments * units // (2 * _UNITS) or size * SEGMENT * each < _LEAST):
            size *= 2
        size = 0 if size >= segments or (units >= _UNITS and segments <= _SEGMENTS) else size
        total = units * (-(-segments // size) if size else 1)
        if total >= _UNITS or width <= 8 * lanes or each * nest.row_length < 2 * _LEAST:
            break
        width //= 2
    even = -(-across // tiles)
    return min(width, -(-even // lanes) * lanes), size


def _width(analysis: RowAnalysis, lanes: int) -> int:
    """The most rows to a column tile."""
    each = sum(n.kind.itemsize for n in analysis.reductions[0])
    width = 8 * lanes
    while 2 * width * each <= _WIDEST:
        width *= 2
    return width


class ColumnTiles:
    """Emits the one pass of a nest over a column tile; the results stay in a buffer for each reduction."""

    def __init__(self, kernel: Kernel, analysis: RowAnalysis) -> None:
        self.kernel, self.analysis, self.b, self.lanes = kernel, analysis, kernel.b, kernel.lanes
        self.reductions = analysis.reductions[0]
        self.pitch = _width(analysis, self.lanes) + 4 * self.lanes  # levels must not all share their cache sets
        self.levels = {n: self.b.array(compute_type(n.kind), _LEVELS * self.pitch) for n in self.reductions}
        cost = sum(map(vector_cost, analysis.cone(analysis.roots(0), set()))) + len(self.reductions)
        together = 2 if cost <= 4 else 1
        self.unrolled = CHAIN * together * cost <= _UNROLLED
        self.full, self.part = ColumnPasses(kernel, analysis, together), ColumnPasses(kernel, analysis, 1)
        self.length = kernel.integer(kernel.nest.row_length)

    def begin(self, pointers: Mapping[int, Value], indices: Sequence[Value], rows: Value) -> None:
        """A new column tile: the addresses of its first row's first element, that row's outer indices, and how many rows."""
        self.pointers, self.indices, self.rows = dict(pointers), list(indices), rows

    def each(self, body: Body) -> None:
        """Emit `body` over all rows of the column tile, a few vectors of them at a time."""
        b = self.b
        step = self.full.count * self.lanes
        whole = b.and_(self.rows, -step)

        def at(passes: ColumnPasses, row: Value, remaining: Value | None) -> None:
            row_pointers = {i: b.at(p, b.mul(row, passes.across[i])) for i, p in self.pointers.items()}
            passes.begin(row_pointers, [*self.indices[:-1], b.add(self.indices[-1], row)], remaining)
            body(passes, row)

        with b.loop(0, whole, step) as row:
            at(self.full, row, None)
        with b.loop(whole, self.rows, self.lanes) as row:
            at(self.part, row, b.min(self.lanes, b.sub(self.rows, row)))

    def reduce(self, first: Value, last: Value) -> None:
        """The segments from `first` to before `last` (at least one)."""
        b = self.b
        lanes_met = b.variable(i64(0))
        with b.loop(first, last) as segment:
            start = b.mul(segment, SEGMENT)
            rest = b.min(i64(SEGMENT), b.sub(self.length, start))
            lanes, lane = b.min(i64(LANES), rest), b.variable(i64(0))
            if self.unrolled:
                whole = b.sub(rest, (CHAIN - 1) * LANES)
                with b.while_(lambda: b.less(lane.get(), whole)):
                    self._push(lanes_met, b.add(start, lane.get()), None)
                    lane.set(b.add(lane.get(), i64(1)))
            with b.while_(lambda: b.less(lane.get(), lanes)):
                self._push(lanes_met, b.add(start, lane.get()), b.add(start, rest))
                lane.set(b.add(lane.get(), i64(1)))
        self._finish(lanes_met.get())

    def _push(self, lanes_met: Variable, first: Value, end: Value | None) -> None:
        """One lane of a segment: every LANES-th element from `first` to before `end`, or a full chain of them."""
        b = self.b
        met = lanes_met.get()
        lanes_met.set(b.add(met, i64(1)))
        some = b.convert("zext", b.compare("icmp ne", met, 0), "i64")
        depth = b.call("i64", "llvm.ctpop.i64", met)
        full = b.call("i64", "llvm.cttz.i64", b.sub(-1, met), Value("i1", "false"))
        level = b.sub(depth, full)

        def body(passes: ColumnPasses, row: Value) -> None:
            passes.prepare(0)
            totals = [[b.variable(v) for v in group] for group in passes.element(0, first)]

            def add(position: Value) -> None:
                for n, total, group in zip(self.reductions, totals, passes.element(0, position), strict=True):
                    for t, v in zip(total, group, strict=True):
                        t.set(join(b, n, t.get(), v))

            if end is None:
                for k in range(1, CHAIN):
                    add(b.add(first, k * LANES))
            else:
                with b.loop(b.add(first, LANES), end, LANES) as position:
                    add(position)
            for n, total in zip(self.reductions, totals, strict=True):
                waiting = (i64(0), some) if order_free(n) else (level, depth)
                self._combine_levels(n, [t.get() for t in total], row, *waiting)

        self.each(body)

    # --- counters -----------------------------------------------------------------------------------------------------

    def _slot(self, n: Expr, level: Value, row: Value) -> Value:
        return self.b.at(self.levels[n], self.b.mul(self.b.add(self.b.mul(level, self.pitch), row), n.kind.itemsize))

    def _combine_levels(self, n: Expr, group: Group, row: Value, level: Value, depth: Value) -> None:
        """Combine some vectors with what waits in the levels from `level` on, newest first, and let the results wait."""
        b, size = self.b, n.kind.itemsize
        tops = [b.variable(v) for v in group]
        newest = b.variable(depth)
        with b.while_(lambda: b.less(level, newest.get())):
            newest.set(b.sub(newest.get(), 1))
            self._combine(n, newest.get(), row, tops)
        to = self._slot(n, level, row)
        for i, top in enumerate(tops):
            b.store(top.get(), b.at(to, i * self.lanes * size), size)

    def _combine(self, n: Expr, level: Value, row: Value, tops: Sequence[Variable]) -> None:
        b, size = self.b, n.kind.itemsize
        at = self._slot(n, level, row)
        for i, top in enumerate(tops):
            waiting = b.load(vector(compute_type(n.kind), self.lanes), b.at(at, i * self.lanes * size), size)
            top.set(join(b, n, waiting, top.get()))

    def _finish(self, met: Value) -> None:
        """Everything that waits, newest first, into the first level."""
        b = self.b
        depth = b.call("i64", "llvm.ctpop.i64", met)
        for n in self.reductions:
            if order_free(n):
                continue
            newest = b.sub(depth, 1)
            with b.if_(b.compare("icmp sgt", newest, 0)), b.loop(0, self.rows, self.lanes) as row:
                top = b.load(vector(compute_type(n.kind), self.lanes), self._slot(n, newest, row), n.kind.itemsize)
                self._combine_levels(n, [top], row, i64(0), newest)

    def results(self, n: Expr, passes: ColumnPasses, row: Value) -> Group:
        """The finished values of a reduction for the rows that passes were begun for."""
        type_, size = vector(compute_type(n.kind), self.lanes), n.kind.itemsize
        at = self._slot(n, i64(0), row)
        return [self.b.load(type_, self.b.at(at, i * self.lanes * size), size) for i in range(passes.count)]

    def address(self, n: Expr) -> Value:
        """Where the results of a reduction are, one for each row of the column tile."""
        return self.levels[n]


def for_column_tiles(
    kernel: Kernel, analysis: RowAnalysis, width: int, parts: int, work: Callable[[ColumnTiles, Value, Value], None]
) -> int:
    """Emit `work` for every part of every column tile, given the number of the first row and of the part; returns the units."""
    nest, b = kernel.nest, kernel.b
    tiles = -(-nest.outer[-1] // width)
    axes, operands = range(len(nest.outer)), range(len(nest.operands))
    strides = {i: [nest.operands[i].strides[a] * nest.operands[i].kind.itemsize for a in axes] for i in operands}
    iterator = StridedIterator(
        b,
        kernel.integers([*nest.outer[:-1], tiles, parts]),
        {i: [*kernel.integers([*s[:-1], s[-1] * width]), i64(0)] for i, s in strides.items()},
        {i: kernel.operand(i) for i in operands},
    )
    extents, most = kernel.integers(nest.outer), kernel.integer(width)
    emitted = ColumnTiles(kernel, analysis)
    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        indices = iterator.indices()
        part = indices.pop()
        indices[-1] = b.mul(indices[-1], most)
        row = i64(0)
        for index, extent in zip(indices, extents, strict=True):
            row = b.add(b.mul(row, extent), index)
        emitted.begin(iterator.pointers(), indices, b.min(most, b.sub(extents[-1], indices[-1])))
        work(emitted, row, part)
        iterator.advance()
    return nest.rows // nest.outer[-1] * tiles * parts
