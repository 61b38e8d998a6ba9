"""Rows and columns in one pass: a resident row schedule that also sums over the rows (a norm's weight gradient).

A slot of a block takes whole lanes of rows - rows l, l+128, ... of a 1024-row segment - for `lanes` neighbouring lanes, and
leaves one partial result a column in the workspace; a second launch combines those in canonical order. Chains stay in
registers where those are there.
"""

from __future__ import annotations

from baracuda.codegen.cuda.emit import Emitter, table_definitions
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.formula.expr import Axes, Expr, const, topological
from baracuda.formula.graph import Graph, substitute
from baracuda.formula.order import CHAIN, LANES, SEGMENT, segments
from baracuda.lowering.nest.cuda.kernel import Frame, Target
from baracuda.lowering.nest.phases import Phases
from baracuda.lowering.nest.problem import Nest
from baracuda.lowering.reduction.cuda.row_schedules import OVERHEAD, REGISTERS, registers_held, resident_phases
from baracuda.lowering.reduction.cuda.rows import OPERATION, RowKernel, RowShape, identity, row_shape
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Elements a thread, up to which its column terms stay in registers.
IN_REGISTERS = 16
#: Elements to a run, and registers that a row's runs may take in a thread before runs have half as many: more cost registers for
#: two rows a multiprocessor, fewer make more threads wait for each barrier (H200, 2026-11-22, bf16 and f32, rows of 64 to 8192).
VECTOR, _CROWDED = 4, 96
#: Threads of a block that takes several rows; those a row may take, and bytes of shared memory a block may.
_THREADS, MOST_THREADS, MOST_SHARED = 128, 512, 100 * 1024


def _shape(nest: Nest) -> RowShape | None:
    """The layout of a resident row whose column terms stay on the multiprocessor; None where that does not fit."""
    columns = sum(n.op == "reduce" and bool(n.attr[1] & Axes.OUTER) for n in nest.graph.nodes)
    wide, narrow = (row_shape(nest, vector, _THREADS, _THREADS) for vector in (VECTOR, VECTOR // 2))
    several = columns > 1 and wide.chains * wide.vector > IN_REGISTERS
    crowded = several or registers_held(nest, wide) > _CROWDED
    shape = narrow if crowded and narrow.group * narrow.groups <= MOST_THREADS else wide
    return shape if shape.group * shape.groups <= MOST_THREADS and len(nest.inner) <= 1 else None


def _one_pass(graph: Graph) -> bool:
    """Whether one pass over the rows has everything that its outputs and column sums need."""
    columns = [n for n in graph.nodes if n.op == "reduce" and n.attr[1] & Axes.OUTER]
    sums = set(columns)
    for n in columns:
        if not graph.axes[n.args[0]] & Axes.INNER or sums & set(topological(n.args)):
            return False
    for port, expr in graph.outputs:
        above = topological([substitute(expr, {n: const(0.0, n.kind) for n in columns})])
        if port.axes is Axes.INNER:
            if any(n.op == "reduce" for n in above):
                return False
        elif port.axes is Axes.NONE or sums & set(topological([expr])):
            return False
    return True


def _lanes(nest: Nest, shape: RowShape, columns: list[Expr], target: Target) -> int:
    """Neighbouring lanes of rows that one slot takes: many save partial results, few fill the device."""
    lanes = 16
    size = sum(n.kind.itemsize for n in columns) * shape.chains * shape.vector * shape.threads
    # Long rows fill the device with two blocks a multiprocessor, and their partial results are dear; short ones want many.
    blocks = 2 if shape.threads // shape.rows >= 256 else max(2, 1536 // shape.threads)
    slots = target.multiprocessors * blocks * shape.rows
    while lanes > 1 and (segments(nest.rows) * LANES // lanes < slots - 8 or lanes.bit_length() * size > MOST_SHARED):
        lanes //= 2
    return lanes


def lower_rows_and_columns(frame: Frame, target: Target) -> Lowered | None:
    """Lower a nest with reductions over its outer axes; None where its rows do not stay resident."""
    nest, words = frame.nest, frame.words
    shape = _shape(nest)
    if shape is None or not _one_pass(nest.graph):
        return None
    kernel = RowKernel(frame, shape, resident=True)
    columns = kernel.phases.columns
    lanes = _lanes(nest, shape, columns, target)
    units = segments(nest.rows) * LANES // lanes
    runs = [i for i in range(frame.inputs) if kernel.varies(i)]
    terms = _Terms(kernel, columns, lanes)
    shared, phases = resident_phases(kernel, [f"{terms.chain(c)}.v[v]" for c in range(len(columns))])
    n_units = words.signed(units)
    visit = [*kernel.enter_row(), *kernel.declare_runs(runs), *kernel.load_runs(runs, "group"), *phases, "parity ^= 1;"]
    body = [
        *shared,
        "extern __shared__ double dynamic[];",
        *frame.pointers(),
        *kernel.place(),
        "int parity = 0;",
        f"const i64 unit = (i64)blockIdx.x * {shape.rows} + slot;",
        f"const i64 base = unit / {LANES // lanes} * {SEGMENT} + unit % {LANES // lanes} * {lanes};",
        *terms.declare(),
        f"for (int j = 0; j < {lanes}; ++j) {{",
        *terms.reset(),
        "#pragma unroll 1",
        f"for (int chain = 0; chain < {CHAIN}; ++chain) {{",
        f"const i64 row = base + chain * {LANES} + j;",
        f"const bool live = unit < {n_units} && row < {kernel.rows};",
        # One row a block: all its threads leave a missing row out together, barriers and all.
        *(["if (live) {", *visit, "}"] if shape.rows == 1 else visit),
        "}",
        *terms.push(),
        "}",
    ]
    starts = _partial_starts(columns, units * nest.row_length)
    for c, n in enumerate(columns):
        kind = COMPUTE_TYPE[n.kind]
        body += [
            f"if (unit < {n_units})",
            "#pragma unroll",
            f"for (int k = 0; k < {shape.chains}; ++k) {{",
            kernel.run_start("group"),
            f"{kind}* const to = ({kind}*){frame.workspace(starts[c])} + unit * {kernel.length} + e;",
            *_stored_partials(kernel, n, terms.chain(c)),
            "}",
        ]
    source = frame.kernel(
        body, shape.threads, kernel.definitions(), blocks=max(1, frame.tuning.resident_threads // shape.threads)
    )
    first = Launch(KernelSource(source), (-(-units // shape.rows), 1, 1), shape.threads, terms.bytes)
    second = _combine(frame, units, starts)
    schedule = f"rows+columns v{shape.vector} t{shape.threads} r{shape.rows} l{lanes}"
    return Lowered((first, second), tuple(words.values), starts[-1], schedule)


def _stored_partials(kernel: RowKernel, n: Expr, chain: str) -> list[str]:
    """Puts a run's partial results of a column where `to` points; they lie on bounds of 16 bytes where rows are whole runs."""
    vector = kernel.shape.vector
    if kernel.checks == "element":
        return ["#pragma unroll", f"for (int v = 0; v < {vector}; ++v) if (e + v < {kernel.length}) to[v] = {chain}.v[v];"]
    test = "" if kernel.checks == "none" else f"if (e < {kernel.length}) "
    return [f"{test}store<{min(vector, 16 // n.kind.itemsize)}>(to, {chain});"]


def _partial_starts(columns: list[Expr], count: int) -> list[int]:
    """The workspace byte where each column reduction's partial results start, and the end."""
    starts = [0]
    for n in columns:
        starts.append(starts[-1] + -(-count * n.kind.itemsize // 16) * 16)
    return starts


class _Terms:
    """The column sums of one slot: a chain for each column, and the results of chains that wait for their neighbours.

    Chains are in registers where two blocks of such threads fit a multiprocessor, else in shared memory; results wait in
    registers where they are few, else in shared memory. Every thread has slots of its own there, so that nothing waits.
    """

    def __init__(self, kernel: RowKernel, columns: list[Expr], lanes: int) -> None:
        self.kernel, self.columns = kernel, columns
        s, frame = kernel.shape, kernel.frame
        self.levels = lanes.bit_length() - 1
        elements = s.chains * s.vector
        held = sum(frame.operands[i].kind.itemsize for i in range(frame.inputs) if kernel.varies(i))
        held += sum(n.kind.itemsize for n in columns)
        self.chain_pitch = 1 if OVERHEAD + elements * held // 4 <= REGISTERS // (2 * 256) else s.threads
        self.waiting_pitch = 1 if elements <= IN_REGISTERS else s.threads
        in_shared = (self.chain_pitch > 1) + (self.waiting_pitch > 1) * self.levels
        self.bytes = sum(n.kind.itemsize for n in columns) * in_shared * elements * s.threads

    def chain(self, c: int) -> str:
        """The chains of run k."""
        return f"column{c}[k * {self.chain_pitch}]"

    def _waiting(self, c: int, level: int) -> str:
        return f"waiting{c}[({level} * {self.kernel.shape.chains} + k) * {self.waiting_pitch}]"

    def _vector(self, n: Expr) -> str:
        return f"Vec<{COMPUTE_TYPE[n.kind]}, {self.kernel.shape.vector}>"

    def declare(self) -> list[str]:
        s, lines, used_bytes = self.kernel.shape, [], 0
        for c, n in enumerate(self.columns):
            for name, count, pitch in (("column", 1, self.chain_pitch), ("waiting", self.levels, self.waiting_pitch)):
                if pitch == 1:
                    lines.append(f"{self._vector(n)} {name}{c}[{max(count, 1) * s.chains}];")
                else:
                    start = f"({self._vector(n)}*)((char*)dynamic + {used_bytes}) + threadIdx.x"
                    lines.append(f"{self._vector(n)}* const {name}{c} = {start};")
                    used_bytes += count * s.chains * s.vector * s.threads * n.kind.itemsize
        return lines

    def _for_runs(self, statement: str) -> list[str]:
        return ["#pragma unroll", f"for (int k = 0; k < {self.kernel.shape.chains}; ++k) {{ {statement} }}"]

    def reset(self) -> list[str]:
        """Before a chain."""
        lines = []
        for c, n in enumerate(self.columns):
            each = f"for (int v = 0; v < {self.kernel.shape.vector}; ++v)"
            fill = f"{each} x.v[v] = {identity(n)};"
            lines += self._for_runs(f"{self._vector(n)} x; {fill} {self.chain(c)} = x;")
        return lines

    def push(self) -> list[str]:
        """After chain j: combine it with as many waiting results as j ends in ones, and let the result wait."""
        lines: list[str] = []
        each = f"for (int v = 0; v < {self.kernel.shape.vector}; ++v)"
        for level in range(self.levels):
            merge, wait = [], []
            for c, n in enumerate(self.columns):
                of = f"{each} b.v[v] = {OPERATION[n.attr[0]]}::of(a.v[v], b.v[v]);"
                pair = f"const {self._vector(n)} a = {self._waiting(c, level)}; {self._vector(n)} b = {self.chain(c)};"
                merge += self._for_runs(f"{pair} {of} {self.chain(c)} = b;")
                wait += self._for_runs(f"{self._waiting(c, level)} = {self.chain(c)};")
            lines += [f"if (j & {1 << level}) {{", *merge, "} else {", *wait, "continue;", "}"]
        return lines


def _combine(frame: Frame, units: int, starts: list[int]) -> Launch:
    """The tree over the partial results of each column, and the column outputs. Team y of 32 takes partial results
    y*per_team ... of a column; the teams' results meet in shared memory."""
    nest, words, phases = frame.nest, frame.words, Phases(frame.nest.graph)
    per_team = 8
    while per_team * 32 < units:
        per_team *= 2
    length, n_units, team = words.signed(nest.row_length), words.signed(units), words.signed(per_team)
    body = [
        *frame.pointers(),
        "const int x = threadIdx.x % 32, y = threadIdx.x / 32;",
        "const i64 e = (i64)blockIdx.x * 32 + x;",
        f"const bool live = e < {length};",
    ]
    names: dict[Expr, str] = {}
    for c, n in enumerate(phases.columns):
        kind, operation = COMPUTE_TYPE[n.kind], OPERATION[n.attr[0]]
        body += [
            f"__shared__ {kind} team{c}[32][33];",
            f"{kind} result{c} = {identity(n)};",
            f"const {kind}* const partial{c} = (const {kind}*){frame.workspace(starts[c])} + e;",
            f"if (live) result{c} = column_tree<{operation}>(partial{c}, {length}, y * {team}, {team}, {n_units}, result{c});",
            f"team{c}[x][y] = result{c};",
            "__syncthreads();",
            f"result{c} = across<{operation}, 32>(team{c}[y][x]);",  # here warp y holds column y
            f"if (x == 0) team{c}[y][32] = result{c};",
            "__syncthreads();",
            f"result{c} = team{c}[x][32];",
        ]
        names[n] = f"result{c}"
    axis = len(nest.outer)

    def at(i: int) -> str:
        return f"p{i}[e * {words.signed(nest.operands[i].strides[axis] if nest.inner else 0)}]"

    def leaf(n: Expr) -> str | None:
        if n.op == "param":
            return words.param(n)
        if n.op == "input":
            return f"widen({at(frame.input_index[n.attr[0]])})"
        return f"({COMPUTE_TYPE[n.kind]})e" if n.op in ("coord", "position") else None

    emitter = Emitter(leaf)
    emitter.names.update(names)
    for k, _, expr in phases.column_outputs:
        i = frame.inputs + k
        value = emitter.value(expr)
        emitter.lines.append(f"{at(i)} = Narrow<{frame.storage(i)}, {COMPUTE_TYPE[expr.kind]}>::to({value});")
    body += ["if (y == 0 && live) {", *emitter.lines, "}"]
    source = frame.kernel(body, 1024, table_definitions(emitter.tables))
    return Launch(KernelSource(source), (-(-nest.row_length // 32), 1, 1), 1024)
