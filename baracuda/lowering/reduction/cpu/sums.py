"""Row-wise problems with reductions over the rows beside them, in one pass over memory.

A *chain* is the rows that one lane of a segment adds up: rows l, l + 128, ... of 1024. A unit of work takes an aligned
group of 2**k chains: it works through their rows, adds each row's contribution to a buffer as long as a row, and combines
the buffers of chains in adjacent pairs. Later steps combine the units' results in adjacent pairs, which completes the
canonical order whatever the size of a group, and evaluate what the formula does with the sums.
"""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.codegen.llvm.evaluate import Evaluator
from baracuda.codegen.llvm.ir import Value, i64, vector
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.codegen.llvm.tree import identity, join
from baracuda.formula.expr import READS, Axes, Expr, coord, input_, rebuild, topological
from baracuda.formula.graph import Graph, Port
from baracuda.formula.order import CHAIN, LANES, SEGMENT
from baracuda.lowering.elementwise.cpu.pointwise import pointwise_step
from baracuda.lowering.nest.cpu.analysis import RowAnalysis
from baracuda.lowering.nest.cpu.kernel import Kernel, Words, element_ns
from baracuda.lowering.nest.problem import Nest, Operand, position_from
from baracuda.lowering.nest.sequence import directions
from baracuda.lowering.reduction.cpu.rows import RowPasses, scratch_fits
from baracuda.lowering.reduction.cpu.schedules import row_iterator
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch, Lowered

#: About how many units the rows are cut into, whatever the number of threads.
_UNITS = 64
#: Columns that one unit of the combining step takes.
_COLUMNS = 1024


def chains(rows: int) -> int:
    """How many lanes of segments have a row."""
    return rows // SEGMENT * LANES + min(LANES, rows % SEGMENT)


@dataclass(frozen=True)
class _Buffers:
    """The workspace: for each unit, levels of a binary counter, each a row of partial sums for each reduction."""

    across: tuple[Expr, ...]
    units: int
    levels: int
    columns: int

    @property
    def level_bytes(self) -> int:
        return sum(n.kind.itemsize for n in self.across) * self.columns

    @property
    def unit_bytes(self) -> int:
        return self.level_bytes * self.levels

    def offset(self, n: Expr) -> int:
        """Of a reduction's row, in bytes from the start of its level."""
        return sum(m.kind.itemsize for m in self.across[: self.across.index(n)]) * self.columns


def in_one_pass(graph: Graph) -> bool:
    """Whether every sum over the rows is of values along them, and what it gives goes into no reduction and no element."""
    reductions = [n for n in graph.nodes if n.op == "reduce"]
    if any(directions(n.args[0]) & Axes.OUTER for n in reductions):
        return False
    if any(p.axes is Axes.FULL and directions(e) & Axes.OUTER for p, e in graph.outputs):
        return False
    return all(graph.axes[n.args[0]] & Axes.INNER for n in reductions if n.attr[1] is Axes.OUTER)


def lower_sums(nest: Nest, words: Words, target: CpuTarget) -> Lowered:
    """Rows, their outputs, and sums over the rows."""
    analysis = RowAnalysis(nest)
    total = chains(nest.rows)
    group = 1
    while group * _UNITS < total:
        group *= 2
    columns = -(-nest.row_length // 64) * 64
    buffers = _Buffers(tuple(analysis.across), -(-total // group), group.bit_length(), columns)
    rows, name = _rows(nest, words, target, analysis, buffers, group, total)
    steps = [rows]
    if buffers.units > 1:
        steps.append(_combine(nest, words, target, buffers))
    steps += _finish(nest, words, target, analysis, buffers)
    return Lowered(tuple(steps), tuple(words.integers), buffers.unit_bytes * buffers.units, name)


def _rows(
    nest: Nest, words: Words, target: CpuTarget, analysis: RowAnalysis, buffers: _Buffers, group: int, total: int
) -> tuple[Launch, str]:
    kernel = Kernel(nest, words, target)
    b = kernel.b
    passes = RowPasses(kernel, analysis, keep=scratch_fits(analysis))
    segments = kernel.integer(-(-nest.row_length // SEGMENT))
    rows, all_chains, per_unit = kernel.integer(nest.rows), kernel.integer(total), kernel.integer(group)
    level_bytes, unit_bytes = kernel.integer(buffers.level_bytes), kernel.integer(buffers.unit_bytes)
    offsets = {n: kernel.integer(buffers.offset(n)) for n in buffers.across}
    bytes_used = kernel.integer(buffers.columns)
    workspace = kernel.workspace
    iterator = row_iterator(kernel)
    with b.loop(kernel.begin, kernel.end) as unit:
        base = b.at(workspace, b.mul(unit, unit_bytes))
        first = b.mul(unit, per_unit)
        last = b.min(b.add(first, per_unit), all_chains)
        depth = b.variable(i64(0))

        def merge() -> None:
            """The two newest levels into one."""
            depth.set(b.sub(depth.get(), 1))
            right = b.at(base, b.mul(depth.get(), level_bytes))
            left = b.at(base, b.mul(b.sub(depth.get(), 1), level_bytes))
            for n in buffers.across:
                _add_rows(kernel, n, b.at(left, offsets[n]), b.at(right, offsets[n]), i64(0), bytes_used)

        with b.loop(first, last) as chain:
            level = b.at(base, b.mul(depth.get(), level_bytes))
            top = b.add(b.mul(b.shr(chain, LANES.bit_length() - 1), SEGMENT), b.and_(chain, LANES - 1))
            stop = b.min(b.add(top, CHAIN * LANES), rows)
            with b.loop(top, stop, LANES) as row:
                iterator.start(row)
                passes.begin(iterator.pointers(), iterator.indices())
                for p in range(analysis.passes):
                    for n, value in passes.reduce(p, i64(0), segments).items():
                        passes.set_result(n, value)
                fresh = b.equal(row, top)

                def contribute(evaluator: Evaluator, start: Value, mask: Value | None) -> None:
                    for n in buffers.across:
                        type_, size = vector(compute_type(n.kind), kernel.lanes), n.kind.itemsize
                        for i, v in enumerate(evaluator.value(n.args[0])):
                            position = b.add(b.add(passes.segments.first, start), i * kernel.lanes)
                            at = b.at(b.at(level, offsets[n]), b.mul(position, size))
                            before = b.select(fresh, identity(n, kernel.lanes), b.load(type_, at, size))
                            b.store(join(b, n, before, v), at, size)

                passes.write_elements(i64(0), segments, contribute)
                passes.write_row()
            depth.set(b.add(depth.get(), i64(1)))
            rest = b.variable(b.sub(chain, first))
            with b.while_(lambda: b.compare("icmp ne", b.and_(rest.get(), 1), 0)):
                merge()
                rest.set(b.shr(rest.get(), 1))
        with b.while_(lambda: b.compare("icmp sgt", depth.get(), 1)):
            merge()
    passes.streaming.fence()
    per_unit_rows = nest.rows / buffers.units
    cost = (element_ns(nest, nest.graph.nodes) + 0.2) * nest.row_length * per_unit_rows + 50
    return kernel.step(buffers.units, cost), "rows+sums"


def _add_rows(kernel: Kernel, n: Expr, left: Value, right: Value, first: Value, last: Value) -> None:
    """left[i] becomes the combination of left[i] and right[i]; the range is whole vectors of a padded row."""
    b, size = kernel.b, n.kind.itemsize
    type_ = vector(compute_type(n.kind), kernel.lanes)
    with b.loop(first, last, kernel.lanes) as i:
        at = b.at(left, b.mul(i, size))
        b.store(join(b, n, b.load(type_, at, size), b.load(type_, b.at(right, b.mul(i, size)), size)), at, size)


def _combine(nest: Nest, words: Words, target: CpuTarget, buffers: _Buffers) -> Launch:
    """The first level of every unit, in adjacent pairs, into that of unit 0; a step's unit is a stretch of columns."""
    kernel = Kernel(nest, words, target)
    b = kernel.b
    count, unit_bytes = kernel.integer(buffers.units), kernel.integer(buffers.unit_bytes)
    offsets = {n: kernel.integer(buffers.offset(n)) for n in buffers.across}
    columns = kernel.integer(buffers.columns)
    workspace = kernel.workspace
    with b.loop(kernel.begin, kernel.end) as block:
        first = b.mul(block, _COLUMNS)
        last = b.min(b.add(first, i64(_COLUMNS)), columns)
        distance = b.variable(i64(1))
        with b.while_(lambda: b.less(distance.get(), count)):
            with b.loop(0, b.sub(count, distance.get()), b.mul(distance.get(), 2)) as unit:
                left = b.at(workspace, b.mul(unit, unit_bytes))
                right = b.at(left, b.mul(distance.get(), unit_bytes))
                for n in buffers.across:
                    _add_rows(kernel, n, b.at(left, offsets[n]), b.at(right, offsets[n]), first, last)
            distance.set(b.mul(distance.get(), 2))
    return kernel.step(-(-buffers.columns // _COLUMNS), 0.3 * buffers.units * _COLUMNS)


def _finish(nest: Nest, words: Words, target: CpuTarget, analysis: RowAnalysis, buffers: _Buffers) -> list[Launch]:
    """The outputs that depend on sums over the rows, as pointwise problems over the inner axes."""
    graph = nest.graph
    finished = {i for i, _ in (*analysis.element_outputs, *analysis.row_outputs)}
    pending = [(i, p, e) for i, (p, e) in enumerate(graph.outputs, len(graph.inputs)) if i not in finished]
    outer = len(nest.outer)
    sums = {n: input_(f"#sum{i}", n.kind) for i, n in enumerate(buffers.across)}

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n in sums:
            return sums[n]
        if n.op == "position":
            return position_from(range(len(nest.inner)), nest.inner, n.kind)
        return coord(n.attr - outer) if n.op == "coord" else rebuild(n, args)

    rewritten = {e: g for (_, e), (_, g) in zip(graph.outputs, graph.map(rewrite).outputs, strict=True)}
    contiguous: list[int] = []
    stride = 1
    for extent in reversed(nest.inner):
        contiguous.insert(0, stride)
        stride *= extent
    steps = []
    for whole in (True, False):
        chosen = [(i, p, rewritten[e]) for i, p, e in pending if bool(p.axes & Axes.INNER) is whole]
        if not chosen:
            continue
        read_names = {n.attr[0] for n in topological(e for _, _, e in chosen) if n.op in READS}
        inputs = [(i, p) for i, p in enumerate(graph.inputs) if p.name in read_names]
        partial = [n for n, x in sums.items() if x.attr[0] in read_names]
        ports = (*(p for _, p in inputs), *(Port(sums[n].attr[0], n.kind) for n in partial))
        axes = range(outer, outer + len(nest.inner)) if whole else range(0)
        operands = [Operand(nest.operands[i].kind, tuple(nest.operands[i].strides[a] for a in axes)) for i, _ in inputs]
        operands += [Operand(n.kind, tuple(contiguous) if whole else ()) for n in partial]
        operands += [Operand(nest.operands[i].kind, tuple(nest.operands[i].strides[a] for a in axes)) for i, _, _ in chosen]
        places = [words.place(i) for i, _ in inputs]
        places += [words.scratch(buffers.offset(n)) for n in partial]
        places += [words.place(i) for i, _, _ in chosen]
        part = Nest(
            Graph(ports, tuple((p, e) for _, p, e in chosen), (False,) * len(axes)),
            nest.inner if whole else (),
            (),
            tuple(operands),
        )
        steps.append(pointwise_step(part, words, target, places)[0])
    return steps
