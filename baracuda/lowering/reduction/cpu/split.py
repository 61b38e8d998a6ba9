"""A few long rows: each is cut into parts of whole segments, and every pass is a step over all parts of all rows.

Parts of 2**k segments leave their partial results in the workspace, one array of rows for each part and reduction; a
small step combines the parts in adjacent pairs, which completes the canonical order whatever the size of a part.
"""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.codegen.llvm.copying import copy_run
from baracuda.codegen.llvm.evaluate import Group
from baracuda.codegen.llvm.ir import Value, i64, vector
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.codegen.llvm.tree import join
from baracuda.formula.expr import Expr
from baracuda.formula.order import SEGMENT
from baracuda.lowering.nest.cpu.analysis import RowAnalysis
from baracuda.lowering.nest.cpu.kernel import Kernel, Words, element_ns, lanes_of
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator, with_last
from baracuda.lowering.nest.problem import Nest
from baracuda.lowering.reduction.cpu.column_tiles import ColumnTiles, column_tile_shape, for_column_tiles, is_column_tiled
from baracuda.lowering.reduction.cpu.columns import ColumnPasses
from baracuda.lowering.reduction.cpu.rows import RowPasses
from baracuda.lowering.reduction.cpu.schedules import column_axis, for_blocks, vectors_across
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch, Lowered

#: Rows are cut where whole ones would make fewer units of work than this.
_UNITS = 32
#: No part is shorter than this many elements over all the rows that a unit works on.
_LEAST = 16384
#: Rows that one unit of the combining step takes.
_ROWS = 1024


@dataclass(frozen=True)
class _Parts:
    """The workspace: for each reduction of every pass, `count` arrays of a value for each row."""

    reductions: tuple[Expr, ...]
    count: int
    rows: int

    def bytes_per_part(self, n: Expr) -> int:
        return n.kind.itemsize * self.rows

    def offset(self, n: Expr) -> int:
        before = self.reductions[: self.reductions.index(n)]
        return sum(self.bytes_per_part(m) for m in before) * self.count

    @property
    def bytes(self) -> int:
        return sum(self.bytes_per_part(n) for n in self.reductions) * self.count


def part_segments(nest: Nest, lanes: int) -> int:
    """Segments to a part, a power of two, or 0 where the rows need not be cut."""
    axis = column_axis(nest)
    block = 1 if axis is None else lanes * vectors_across(nest, lanes, most=4)
    if axis is not None:
        whole = with_last(nest, axis)
        analysis = RowAnalysis(whole)
        if is_column_tiled(whole, analysis):
            return column_tile_shape(whole, analysis, lanes)[1]
    units = nest.rows if axis is None else nest.rows // nest.outer[axis] * -(-nest.outer[axis] // block)
    segments = -(-nest.row_length // SEGMENT)
    if units >= _UNITS or min(block, nest.rows) * nest.row_length < 2 * _LEAST:
        return 0
    size = 1
    while 2 * size <= segments * units // (2 * _UNITS) or size * SEGMENT * min(block, nest.rows) < _LEAST:
        size *= 2
    return size if size < segments else 0


def lower_split(nest: Nest, words: Words, target: CpuTarget) -> Lowered:
    """Reductions along rows that are too few to be shared out whole."""
    axis = column_axis(nest)
    size = part_segments(nest, lanes_of(nest, target))
    if axis is not None:
        nest = with_last(nest, axis)
    analysis = RowAnalysis(nest)
    segments = -(-nest.row_length // SEGMENT)
    reductions = tuple(n for nodes in analysis.reductions for n in nodes)
    partials = _Parts(reductions, -(-segments // size), -(-nest.rows // 64) * 64 + 64)
    steps = []
    in_column_tiles = axis is not None and is_column_tiled(nest, analysis)
    for p in range(analysis.passes):
        if in_column_tiles:
            steps.append(_column_tile_step(nest, words, target, analysis, partials, size))
        else:
            steps.append(_step(nest, words, target, analysis, partials, size, p, by_columns=axis is not None))
        steps.append(_combine(nest, words, target, partials, analysis.reductions[p]))
    if analysis.element_outputs:
        steps.append(_step(nest, words, target, analysis, partials, size, analysis.passes, by_columns=axis is not None))
    if analysis.row_outputs:
        steps.append(_step(nest, words, target, analysis, partials, 0, analysis.passes, by_columns=axis is not None))
    name = "split+sheets" if in_column_tiles else "split+columns" if axis is not None else "split"
    return Lowered(tuple(steps), tuple(words.integers), partials.bytes, name)


def _step(
    nest: Nest, words: Words, target: CpuTarget, analysis: RowAnalysis, partials: _Parts, size: int, p: int, *, by_columns: bool
) -> Launch:
    """One pass over all parts: reductions, or outputs along the rows; with size 0, the outputs of whole rows."""
    kernel = Kernel(nest, words, target)
    b = kernel.b
    workspace = kernel.workspace
    per_part, segments = kernel.integer(size), kernel.integer(-(-nest.row_length // SEGMENT))
    earlier = [n for nodes in analysis.reductions[:p] for n in nodes]
    now = analysis.reductions[p] if p < analysis.passes else []
    offsets = {n: kernel.integer(partials.offset(n)) for n in (*earlier, *now)}
    strides = {n: kernel.integer(partials.bytes_per_part(n)) for n in now}

    def work(passes: RowPasses | ColumnPasses, row: Value, part: Value) -> None:
        lanes, count = (passes.lanes, passes.count) if isinstance(passes, ColumnPasses) else (1, 1)

        def value_at(n: Expr, base: Value, i: int) -> Value:
            return b.at(base, b.mul(b.add(row, i * lanes), n.kind.itemsize))

        for n in earlier:
            type_ = vector(compute_type(n.kind), lanes)
            base = b.at(workspace, offsets[n])
            values: Group = [b.load(type_, value_at(n, base, i), n.kind.itemsize) for i in range(count)]
            passes.set_result(n, values)
        first = b.mul(part, per_part)
        last = b.min(b.add(first, per_part), segments)
        if now:
            for n, group in passes.reduce(p, first, last).items():
                base = b.at(b.at(workspace, offsets[n]), b.mul(part, strides[n]))
                for i, v in enumerate(group):
                    to = value_at(n, base, i)
                    if isinstance(passes, ColumnPasses) and passes.left is not None:
                        _store_some(passes, v, to, n.kind.itemsize)
                    else:
                        b.store(v, to, n.kind.itemsize)
        elif size:
            passes.write_elements(first, last)
        else:
            passes.write_row()

    count = partials.count if size else 1
    if by_columns:
        vectors = vectors_across(nest, kernel.lanes, most=4)
        units, rows = for_blocks(kernel, analysis, vectors, work, count)
    else:
        passes = RowPasses(kernel, analysis, keep=False)
        axes = range(len(nest.outer))
        operands = range(len(nest.operands))
        iterator = StridedIterator(
            b,
            kernel.integers([*nest.outer, count]),
            {i: [*kernel.byte_strides(i, axes), i64(0)] for i in operands},
            {i: kernel.operand(i) for i in operands},
        )
        many = kernel.integer(count)
        iterator.start(kernel.begin)
        with b.loop(kernel.begin, kernel.end) as unit:
            indices = iterator.indices()
            passes.begin(iterator.pointers(), indices[:-1])
            work(passes, b.div(unit, many), indices[-1])
            iterator.advance()
        passes.streaming.fence()
        units, rows = nest.rows * count, 1
    elements = min(size * SEGMENT, nest.row_length) if size else 1
    return kernel.step(units, element_ns(nest, nest.graph.nodes) * elements * rows + 50)


def _column_tile_step(nest: Nest, words: Words, target: CpuTarget, analysis: RowAnalysis, partials: _Parts, size: int) -> Launch:
    """The one pass over all parts of all column tiles."""
    kernel = Kernel(nest, words, target)
    b = kernel.b
    workspace = kernel.workspace
    per_part, segments = kernel.integer(size), kernel.integer(-(-nest.row_length // SEGMENT))
    offsets = {n: kernel.integer(partials.offset(n)) for n in partials.reductions}
    strides = {n: kernel.integer(partials.bytes_per_part(n)) for n in partials.reductions}
    width, _ = column_tile_shape(nest, analysis, kernel.lanes)

    def work(tiles: ColumnTiles, row: Value, part: Value) -> None:
        first = b.mul(part, per_part)
        tiles.reduce(first, b.min(b.add(first, per_part), segments))
        for n in tiles.reductions:
            to = b.at(b.at(workspace, offsets[n]), b.add(b.mul(part, strides[n]), b.mul(row, n.kind.itemsize)))
            copy_run(b, n.kind, kernel.lanes, tiles.rows, to, None, tiles.address(n), None)

    units = for_column_tiles(kernel, analysis, width, partials.count, work)
    return kernel.step(units, element_ns(nest, nest.graph.nodes) * size * SEGMENT * width + 50)


def _store_some(passes: ColumnPasses, v: Value, to: Value, size: int) -> None:
    """The lanes that exist; what follows belongs to other rows."""
    b = passes.b
    assert passes.left is not None
    for lane in range(v.lanes):
        with b.if_(b.less(lane, passes.left)):
            b.store(b.extract(v, lane), b.at(to, lane * size), size)


def _combine(nest: Nest, words: Words, target: CpuTarget, partials: _Parts, reductions: list[Expr]) -> Launch:
    """All parts of each row, in adjacent pairs, into the first part; a unit is a stretch of rows."""
    kernel = Kernel(nest, words, target)
    b, lanes = kernel.b, kernel.lanes
    count, rows = kernel.integer(partials.count), kernel.integer(-(-nest.rows // lanes) * lanes)
    bases = {n: b.at(kernel.workspace, kernel.integer(partials.offset(n))) for n in reductions}
    strides = {n: kernel.integer(partials.bytes_per_part(n)) for n in reductions}
    with b.loop(kernel.begin, kernel.end) as block:
        first = b.mul(block, _ROWS)
        last = b.min(b.add(first, i64(_ROWS)), rows)
        distance = b.variable(i64(1))
        with b.while_(lambda: b.less(distance.get(), count)):
            step = b.mul(distance.get(), 2)
            with b.loop(0, b.sub(count, distance.get()), step) as part, b.loop(first, last, lanes) as row:
                for n in reductions:
                    type_, size = vector(compute_type(n.kind), lanes), n.kind.itemsize
                    left = b.at(b.at(bases[n], b.mul(part, strides[n])), b.mul(row, size))
                    right = b.at(left, b.mul(distance.get(), strides[n]))
                    b.store(join(b, n, b.load(type_, left, size), b.load(type_, right, size)), left, size)
            distance.set(step)
    return kernel.step(-(-nest.rows // _ROWS), 0.3 * partials.count * min(_ROWS, nest.rows))
