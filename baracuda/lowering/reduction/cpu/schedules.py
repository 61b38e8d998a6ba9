"""Schedules of row-wise problems: which rows are worked on together, and by whom."""

from __future__ import annotations

from collections.abc import Callable

from baracuda.codegen.llvm.ir import Value, i64
from baracuda.formula.order import SEGMENT
from baracuda.lowering.nest.cpu.analysis import RowAnalysis, along
from baracuda.lowering.nest.cpu.kernel import Kernel, Words, element_ns
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator, with_last
from baracuda.lowering.nest.indexed_reads import runs_of_gathers
from baracuda.lowering.nest.problem import Nest
from baracuda.lowering.reduction.cpu.column_tiles import ColumnTiles, column_tile_shape, for_column_tiles, is_column_tiled
from baracuda.lowering.reduction.cpu.columns import ColumnPasses
from baracuda.lowering.reduction.cpu.register_rows import is_short, short_rows
from baracuda.lowering.reduction.cpu.rows import RowPasses, scratch_fits
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch, Lowered

#: What to do with the rows that passes were begun for, given the first one's number and the number of the part of it.
ColumnWork = Callable[[ColumnPasses, Value, Value], None]
#: Rows shorter than this are worked on many at a time, element by element.
_TINY = 6


def row_iterator(kernel: Kernel) -> StridedIterator:
    """The rows of a nest: for each, the addresses of every operand's first element."""
    nest = kernel.nest
    axes = range(len(nest.outer))
    operands = range(len(nest.operands))
    return StridedIterator(
        kernel.b,
        kernel.integers(nest.outer),
        {i: kernel.byte_strides(i, axes) for i in operands},
        {i: kernel.operand(i) for i in operands},
    )


def column_axis(nest: Nest) -> int | None:
    """The outer axis to run vectors along, where operands have their neighbours rather there than along the rows. What all rows
    have in common has no say: it stays in the cache."""
    outer, rank = len(nest.outer), len(nest.outer) + len(nest.inner)
    inner = range(outer, rank)
    both_ways = ((i, o) for i, o in enumerate(nest.operands) if any(o.strides[a] for a in range(outer)))
    varying = [i for i, o in both_ways if any(o.strides[a] for a in inner)]
    if any(o.general for o in nest.operands) or not outer:
        return None
    if nest.row_length <= _TINY:
        longest = max(range(outer), key=lambda a: nest.outer[a])
        return longest if nest.outer[longest] >= 64 else None
    runs = runs_of_gathers(nest)
    if runs:
        return max(runs)
    votes = [0] * outer
    for i in varying:
        operand = nest.operands[i]
        if along(nest, i, inner) == "unit" or operand.strides[rank - 1] == 1:
            continue
        for a in range(outer):
            if operand.strides[a] == 1 and nest.outer[a] >= 8:
                votes[a] += operand.kind.itemsize
    best = max(range(outer), key=lambda a: votes[a])
    return best if 2 * votes[best] > sum(nest.operands[i].kind.itemsize for i in varying) else None


def run_passes(passes: RowPasses | ColumnPasses, segments: Value) -> None:
    """All passes over the rows that were begun."""
    analysis = passes.analysis
    for p in range(analysis.passes):
        for n, value in passes.reduce(p, i64(0), segments).items():
            passes.set_result(n, value)
    if analysis.element_outputs:
        passes.write_elements(i64(0), segments)
    passes.write_row()


def lower_rows(nest: Nest, words: Words, target: CpuTarget) -> Lowered:
    """Problems with reductions along rows only."""
    axis = column_axis(nest)
    if axis is None:
        step, name = _rows(Kernel(nest, words, target))
    else:
        step, name = _columns(Kernel(with_last(nest, axis), words, target))
    return Lowered((step,), tuple(words.integers), 0, name)


def _rows(kernel: Kernel) -> tuple[Launch, str]:
    """Each unit of work is one row: all its passes, while the row is in the cache."""
    nest, b = kernel.nest, kernel.b
    analysis = RowAnalysis(nest)
    if is_short(nest, analysis, kernel.lanes):
        return short_rows(kernel, analysis)
    passes = RowPasses(kernel, analysis, keep=scratch_fits(analysis))
    segments = kernel.integer(-(-nest.row_length // SEGMENT))
    iterator = row_iterator(kernel)
    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        passes.begin(iterator.pointers(), iterator.indices())
        run_passes(passes, segments)
        iterator.advance()
    passes.streaming.fence()
    cost = element_ns(nest, nest.graph.nodes) * nest.row_length + 20
    return kernel.step(nest.rows, cost), f"rows{'+kept' if passes.scratch else ''}"


def vectors_across(nest: Nest, lanes: int, *, most: int) -> int:
    """How many vectors of rows to work on together: many, as long as there are units of work to share out."""
    count = most
    while count > 1 and nest.rows < 16 * count * lanes:
        count //= 2
    return count


def for_blocks(
    kernel: Kernel,
    analysis: RowAnalysis,
    count: int,
    work: ColumnWork,
    extra: int = 1,
    make: Callable[[Kernel, RowAnalysis, int], ColumnPasses] = ColumnPasses,
) -> tuple[int, int]:
    """Emit `work` for blocks of `count` vectors of rows, and for what is left over; returns units and rows to a unit.

    extra multiplies the units: `work` is given the number within, which varies fastest.
    """
    nest, b = kernel.nest, kernel.b
    block = count * kernel.lanes
    blocks = -(-nest.outer[-1] // block)
    axes = range(len(nest.outer))
    operands = range(len(nest.operands))
    strides = {i: kernel.byte_strides(i, axes) for i in operands}
    with b.at_entry():
        wide = {i: b.mul(s[-1], block) for i, s in strides.items()}
    iterator = StridedIterator(
        b,
        kernel.integers([*nest.outer[:-1], blocks, extra]),
        {i: [*s[:-1], wide[i], i64(0)] for i, s in strides.items()},
        {i: kernel.operand(i) for i in operands},
    )
    extents = kernel.integers(nest.outer)
    full, part = make(kernel, analysis, count), make(kernel, analysis, 1)
    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        pointers, indices = iterator.pointers(), iterator.indices()
        number = indices.pop()
        first = b.mul(indices[-1], block)
        remaining = b.sub(extents[-1], first)
        row = i64(0)
        for index, extent in zip(indices[:-1], extents[:-1], strict=True):
            row = b.add(b.mul(row, extent), index)
        row = b.add(b.mul(row, extents[-1]), first)
        whole = b.compare("icmp sge", remaining, block)
        with b.if_(whole):
            full.begin(pointers, [*indices[:-1], first])
            work(full, row, number)
        with b.else_(whole), b.loop(0, remaining, kernel.lanes) as column:
            column_pointers = {i: b.at(p, b.mul(column, strides[i][-1])) for i, p in pointers.items()}
            part.begin(column_pointers, [*indices[:-1], b.add(first, column)], b.min(kernel.lanes, b.sub(remaining, column)))
            work(part, b.add(row, column), number)
        iterator.advance()
    return nest.rows // nest.outer[-1] * blocks * extra, block


def _columns(kernel: Kernel) -> tuple[Launch, str]:
    """Each unit of work is a block of neighbouring rows, a vector lane each."""
    nest = kernel.nest
    analysis = RowAnalysis(nest)
    segments = kernel.integer(-(-nest.row_length // SEGMENT))
    if is_column_tiled(nest, analysis):
        return _column_tiles(kernel, analysis, segments)
    count = vectors_across(nest, kernel.lanes, most=4 if analysis.passes > 1 or analysis.element_outputs else 8)
    units, rows = for_blocks(kernel, analysis, count, lambda passes, row, number: run_passes(passes, segments))
    cost = element_ns(nest, nest.graph.nodes) * nest.row_length * rows + 50
    return kernel.step(units, cost), "columns"


def _column_tiles(kernel: Kernel, analysis: RowAnalysis, segments: Value) -> tuple[Launch, str]:
    """Each unit of work is a column tile of neighbouring rows."""
    nest = kernel.nest
    width, _ = column_tile_shape(nest, analysis, kernel.lanes)

    def work(tiles: ColumnTiles, row: Value, part: Value) -> None:
        tiles.reduce(i64(0), segments)

        def write(passes: ColumnPasses, row: Value) -> None:
            for n in tiles.reductions:
                passes.set_result(n, tiles.results(n, passes, row))
            passes.write_row()

        tiles.each(write)

    units = for_column_tiles(kernel, analysis, width, 1, work)
    cost = element_ns(nest, nest.graph.nodes) * nest.row_length * width + 50
    return kernel.step(units, cost), "sheets"
