"""Schedules of scans: whole rows, rows side by side, and a few long rows in three steps.

Long rows are cut into parts of whole tiles. The first step leaves the total of each tile in the workspace, the second puts
in its place what is before the tile, and the third scans again with it.
"""

from __future__ import annotations

from collections.abc import Callable

from baracuda.codegen.llvm.ir import Value, i64, vector
from baracuda.codegen.llvm.lanes import store_lanes
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.formula.order import SCAN_TILE, SEGMENT
from baracuda.lowering.nest.cpu.analysis import RowAnalysis
from baracuda.lowering.nest.cpu.kernel import Kernel, Words, element_ns
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator, with_last
from baracuda.lowering.nest.problem import Nest
from baracuda.lowering.reduction.cpu.columns import ColumnPasses
from baracuda.lowering.reduction.cpu.schedules import column_axis, for_blocks, row_iterator, vectors_across
from baracuda.lowering.scan.cpu.columns import TURNED, ColumnScans
from baracuda.lowering.scan.cpu.rows import RowScans
from baracuda.lowering.scan.cpu.state import BLOCKS, Carry, State, combine_cost, get_all, set_all
from baracuda.lowering.scan.problem import ScanGroup, scan_groups, widest_bits
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.pool import get_num_threads
from baracuda.runtime.program import Launch, Lowered

#: Bytes of local arrays that scans side by side may take.
_LOCAL_BYTES = 128 << 10
#: A part has at least so many tiles.
_LEAST = 4
#: Rows that one unit of the second step takes.
_ROWS = 64


def lower_scans(nest: Nest, words: Words, target: CpuTarget) -> Lowered:
    """A problem whose only way along its rows are scans in one direction."""
    axis = column_axis(nest)
    if axis is None and _needs_transpose(nest, target):
        axis = len(nest.outer) - 1
    if axis is not None:
        nest = with_last(nest, axis)
    schedule = _Schedule(nest, words, target, by_columns=axis is not None)
    return schedule.split() if schedule.parts > 1 else schedule.whole()


def _needs_transpose(nest: Nest, target: CpuTarget) -> bool:
    """Whether rows are short, neighbours in memory along themselves, and many."""
    is_short = len(nest.outer) > 0 and len(nest.inner) == 1 and nest.row_length <= TURNED
    return is_short and nest.outer[-1] >= target.vector_bits // 32 and "strided" not in RowAnalysis(nest).access.values()


class _Schedule:
    """The steps of one problem."""

    def __init__(self, nest: Nest, words: Words, target: CpuTarget, *, by_columns: bool) -> None:
        self.nest, self.words, self.target, self.by_columns = nest, words, target, by_columns
        self.groups = scan_groups(nest.graph)
        self.analysis = RowAnalysis(nest)
        self.lanes = target.vector_bits // max(32, widest_bits(nest, self.groups))
        components = sum(len(g.operands) for g in self.groups)
        most = max(1, _LOCAL_BYTES // (components * 16384))
        self.vectors = vectors_across(nest, self.lanes, most=min(4, 1 << (most.bit_length() - 1))) if by_columns else 1
        self.tiles = -(-nest.row_length // SCAN_TILE)
        self.part, self.parts = self._parts()
        #: Values of a component for one tile in the workspace: all rows, and what a vector may reach beyond them.
        self.pitch = -(-nest.rows // 64) * 64 + 64

    def _parts(self) -> tuple[int, int]:
        """Tiles to a part and parts to a row: one, unless the rows are too few for the threads."""
        nest = self.nest
        units = nest.rows // nest.outer[-1] * -(-nest.outer[-1] // (self.vectors * self.lanes)) if self.by_columns else nest.rows
        threads = get_num_threads()
        if units >= threads or self.tiles < 2 * _LEAST:
            return self.tiles, 1
        part = max(_LEAST, -(-self.tiles * units // (4 * threads)))
        return part, -(-self.tiles // part)

    def _kernel(self) -> Kernel:
        kernel = Kernel(self.nest, self.words, self.target)
        kernel.lanes = self.lanes
        return kernel

    def _cost(self, elements: int) -> float:
        combining = sum(map(combine_cost, self.groups)) * 3 + 4
        return (element_ns(self.nest, self.nest.graph.nodes) + combining * 0.025) * elements + 60

    def whole(self) -> Lowered:
        """Each unit is a row, or a block of rows side by side."""
        kernel = self._kernel()
        b = kernel.b
        if self.by_columns:
            turn = _needs_transpose(self.nest, self.target)

            def work(passes: ColumnPasses, row: Value, number: Value) -> None:
                assert isinstance(passes, ColumnScans)
                passes.run(i64(0), passes.length)
                passes.finish()

            def make(kernel: Kernel, analysis: RowAnalysis, count: int) -> ColumnScans:
                scans = ColumnScans(kernel, analysis, count)
                if turn:
                    scans.transpose()
                return scans

            units, rows = for_blocks(kernel, self.analysis, self.vectors, work, make=make)
            step = kernel.step(units, self._cost(self.nest.row_length * rows))
            return Lowered((step,), tuple(self.words.integers), 0, "scan turned rows" if turn else "scan columns")
        scans = RowScans(kernel, self.analysis, self.groups)
        segments = kernel.integer(-(-self.nest.row_length // SEGMENT))
        iterator = row_iterator(kernel)
        iterator.start(kernel.begin)
        with b.loop(kernel.begin, kernel.end):
            scans.begin(iterator.pointers(), iterator.indices())
            scans.run(i64(0), segments)
            iterator.advance()
        scans.streaming.fence()
        step = kernel.step(self.nest.rows, self._cost(self.nest.row_length))
        return Lowered((step,), tuple(self.words.integers), 0, "scan rows")

    # --- three steps --------------------------------------------------------------------------------------------------

    def split(self) -> Lowered:
        nbytes = sum(8 * self.pitch * self.tiles * len(g.operands) for g in self.groups)
        steps = (self._step(apply=False), self._fold(), self._step(apply=True))
        name = "scan split" + (" columns" if self.by_columns else "")
        return Lowered(steps, tuple(self.words.integers), nbytes, name)

    def _places(self, kernel: Kernel) -> Callable[[ScanGroup, int, Value, Value], Value]:
        """Gives the address of a component of a scan for a tile and a row."""
        b = kernel.b
        starts: dict[tuple[ScanGroup, int], Value] = {}
        nbytes = 0
        for g in self.groups:
            for c in range(len(g.operands)):
                starts[g, c] = b.at(kernel.workspace, kernel.integer(nbytes))
                nbytes += 8 * self.pitch * self.tiles
        pitch = kernel.integer(self.pitch)

        def place(g: ScanGroup, c: int, tile: Value, row: Value) -> Value:
            return b.at(starts[g, c], b.mul(b.add(b.mul(tile, pitch), row), g.kinds[c].itemsize))

        return place

    def _step(self, *, apply: bool) -> Launch:
        """The first step or the third."""
        kernel = self._kernel()
        b = kernel.b
        place = self._places(kernel)
        per_part, tiles = kernel.integer(self.part), kernel.integer(self.tiles)

        def load(carry: Carry, g: ScanGroup, row: Value, tile: Value) -> None:
            count = len(carry.before_tile[0])
            state: State = []
            for c, kind in enumerate(g.kinds):
                at = [place(g, c, tile, b.add(row, v * self.lanes)) for v in range(count)]
                if self.by_columns:
                    state.append([b.load(vector(compute_type(kind), self.lanes), a, kind.itemsize) for a in at])
                else:
                    state.append([b.splat(b.load(compute_type(kind), at[0], kind.itemsize), self.lanes)])
            set_all(carry.before_tile, state)

        def store(carry: Carry, g: ScanGroup, row: Value, tile: Value, remaining: Value | None) -> None:
            for c, values in enumerate(get_all(carry.blocks)):
                size = g.kinds[c].itemsize
                for v, value in enumerate(values):
                    at = place(g, c, tile, b.add(row, v * self.lanes))
                    if self.by_columns:
                        store_lanes(b, g.kinds[c], value, at, None, remaining)
                    else:
                        b.store(b.extract(value, 0), at, size)

        def work(passes: ColumnScans | RowScans, row: Value, part: Value) -> None:
            first = b.mul(part, per_part)
            last = b.min(b.add(first, per_part), tiles)
            remaining = passes.left if isinstance(passes, ColumnScans) else None

            def before(number: Value) -> None:
                with b.if_(b.equal(b.and_(number, BLOCKS - 1), 0)):
                    for s in passes.scans:
                        load(s.carry, s.group, row, b.div(number, BLOCKS))

            def scan(first: Value, last: Value) -> None:
                if isinstance(passes, ColumnScans):
                    end = b.min(b.mul(last, SCAN_TILE), passes.length)
                    passes.run(b.mul(first, SCAN_TILE), end, before if apply else None, apply=apply)
                else:
                    whole = SCAN_TILE // SEGMENT
                    end = b.min(b.mul(last, whole), b.div(b.add(passes.windows.length, SEGMENT - 1), SEGMENT))
                    passes.run(b.mul(first, whole), end, before if apply else None)

            if apply:
                scan(first, last)
                return
            with b.loop(first, last) as tile:
                scan(tile, b.add(tile, 1))
                for s in passes.scans:
                    store(s.carry, s.group, row, tile, remaining)

        elements = min(self.part * SCAN_TILE, self.nest.row_length)
        if self.by_columns:

            def columns(passes: ColumnPasses, row: Value, part: Value) -> None:
                assert isinstance(passes, ColumnScans)
                work(passes, row, part)

            units, rows = for_blocks(kernel, self.analysis, self.vectors, columns, self.parts, make=ColumnScans)
            return kernel.step(units, self._cost(elements * rows))
        scans = RowScans(kernel, self.analysis, self.groups, apply=apply)
        axes, operands = range(len(self.nest.outer)), range(len(self.nest.operands))
        iterator = StridedIterator(
            b,
            kernel.integers([*self.nest.outer, self.parts]),
            {i: [*kernel.byte_strides(i, axes), i64(0)] for i in operands},
            {i: kernel.operand(i) for i in operands},
        )
        many = kernel.integer(self.parts)
        iterator.start(kernel.begin)
        with b.loop(kernel.begin, kernel.end) as unit:
            indices = iterator.indices()
            scans.begin(iterator.pointers(), indices[:-1])
            work(scans, b.div(unit, many), indices[-1])
            iterator.advance()
        scans.streaming.fence()
        return kernel.step(self.nest.rows * self.parts, self._cost(elements))

    def _fold(self) -> Launch:
        """The second step: for each row, tile after tile, from its total to what is before it."""
        kernel = self._kernel()
        b, lanes = kernel.b, self.lanes
        place = self._places(kernel)
        tiles, rows = kernel.integer(self.tiles), kernel.integer(self.nest.rows)
        carries = [(g, Carry(b, g, lanes, 1)) for g in self.groups]
        with b.loop(kernel.begin, kernel.end) as unit:
            first = b.mul(unit, _ROWS)
            with b.loop(first, b.min(b.add(first, i64(_ROWS)), rows), lanes) as row, b.loop(0, tiles) as tile:
                for g, carry in carries:
                    at = [place(g, c, tile, row) for c in range(len(g.kinds))]
                    types = [vector(compute_type(kind), lanes) for kind in g.kinds]
                    total = [[b.load(t, a, k.itemsize)] for t, a, k in zip(types, at, g.kinds, strict=True)]
                    for a, (value,), kind in zip(at, get_all(carry.before_tile), g.kinds, strict=True):
                        b.store(value, a, kind.itemsize)
                    set_all(carry.blocks, total)
                    carry.add_tile(tile)
        return kernel.step(-(-self.nest.rows // _ROWS), 2.0 * self.tiles * min(_ROWS, self.nest.rows))
