"""Rows and columns in one pass: a resident row schedule that also sums over the rows (a norm's weight gradient).

A slot of a block takes whole lanes of rows - rows l, l+128, ... of a 1024-row segment - for `lanes` neighbouring lanes, and
leaves one partial result a column in the workspace; a second launch combines those in canonical order. Chains, and results
that wait for their neighbour, are in shared memory: at the pace of device memory that costs a fifth of its bandwidth, and
the registers it saves keep two blocks on a multiprocessor.
"""

from __future__ import annotations

from baracuda.formula.expr import Axes, Expr, const, topological
from baracuda.formula.graph import Graph, substitute
from baracuda.formula.order import CHAIN, IDENTITY, LANES, SEGMENT, segments
from baracuda.lowering.cuda.emit import Emitter, number, table_definitions
from baracuda.lowering.cuda.kernel import Frame, Launch, Lowered, Target, piece
from baracuda.lowering.cuda.prelude import COMPUTE_TYPE
from baracuda.lowering.cuda.row_schedules import resident_phases
from baracuda.lowering.cuda.rows import OPERATION, RowKernel, RowShape, group_shape
from baracuda.lowering.phases import Phases
from baracuda.lowering.problem import Nest

#: Elements a thread, up to which its column terms stay in registers.
IN_REGISTERS = 16
#: Elements to a run: more cost registers for two rows a multiprocessor, fewer make more threads wait for each barrier
#: (2, 4 and 8 measured on an H200, 2026-11-21, bf16 and f32, rows of 64 to 8192).
VECTOR = 4
#: Threads a row may take, and bytes of shared memory a block may.
MOST_THREADS, MOST_SHARED = 512, 100 * 1024


def _shape(nest: Nest) -> RowShape | None:
    """The layout of a resident row whose column terms stay on the multiprocessor; None where that does not fit."""
    vector = VECTOR
    group, chains = group_shape(nest.row_length, vector)
    groups = segments(nest.row_length)
    per_row = group * groups
    if per_row > MOST_THREADS or len(nest.inner) > 1:
        return None
    return RowShape(vector, group, chains, groups, max(1, 128 // per_row))


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
    narrow = sum(p.kind.itemsize for p in nest.graph.inputs if p.axes is Axes.FULL)
    ahead = narrow * shape.chains * shape.vector * shape.threads
    ahead = ahead if 2 * size + ahead <= MOST_SHARED else 0  # room to copy rows ahead is worth more than fewer partial results
    # Long rows fill the device with two blocks a multiprocessor, and their partial results are dear; short ones want many.
    blocks = 2 if shape.threads // shape.rows >= 256 else max(2, 1536 // shape.threads)
    slots = target.multiprocessors * blocks * shape.rows
    while lanes > 1 and (segments(nest.rows) * LANES // lanes < slots - 8 or lanes.bit_length() * size + ahead > MOST_SHARED):
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
    pitch = 1 if shape.chains * shape.vector <= IN_REGISTERS else shape.threads
    shared, phases = resident_phases(kernel, [f"column{c}[k * {pitch}].v[v]" for c in range(len(columns))])
    n_units = words.signed(units)
    declared, reset, push, taken = _accumulators(kernel, columns, lanes, pitch)
    ahead = _Ahead(kernel, taken, n_units, lanes * CHAIN)
    visit = [*kernel.enter_row(load=not ahead.fits), *ahead.take("next"), *phases, "parity ^= 1;"]
    body = [
        *shared,
        "extern __shared__ double dynamic[];",
        *frame.pointers(),
        *kernel.place(),
        "int parity = 0;",
        f"const i64 unit = (i64)blockIdx.x * {shape.rows} + slot;",
        f"const i64 base = unit / {LANES // lanes} * {SEGMENT} + unit % {LANES // lanes} * {lanes};",
        *declared,
        *ahead.start(),
        f"for (int turn = 0; turn < {lanes * CHAIN}; ++turn) {{",
        f"const int j = turn / {CHAIN}, next = turn + 1;",
        *row_of_turn("turn", kernel, n_units),
        f"if (turn % {CHAIN} == 0) {{",
        *reset,
        "}",
        # One row a block: all its threads leave a missing row out together, barriers and all.
        *(["if (live) {", *visit, "} else {", *ahead.fetch("next"), "}"] if shape.rows == 1 else visit),
        f"if (turn % {CHAIN} == {CHAIN - 1}) {{",
        *push,
        "}}",
    ]
    starts = _partial_starts(columns, units * nest.row_length)
    for c, n in enumerate(columns):
        kind = COMPUTE_TYPE[n.kind]
        body += [
            f"if (unit < {n_units})",
            "#pragma unroll",
            f"for (int k = 0; k < {shape.chains}; ++k) {{",
            kernel.run_start("group"),
            f"{kind}* const to = ({kind}*){frame.workspace(starts[c])} + unit * {kernel.length};",
            "#pragma unroll",
            f"for (int v = 0; v < {shape.vector}; ++v) if (e + v < {kernel.length}) to[e + v] = column{c}[k * {pitch}].v[v];",
            "}",
        ]
    source = frame.kernel(body, shape.threads, kernel.definitions(), blocks=2)
    first = Launch(source, (-(-units // shape.rows), 1, 1), shape.threads, taken + ahead.bytes)
    second = _combine(frame, units, starts)
    schedule = f"rows+columns v{shape.vector} t{shape.threads} r{shape.rows} l{lanes}"
    return Lowered((first, second), tuple(words.values), starts[-1], schedule)


def row_of_turn(turn: str, kernel: RowKernel, units: str) -> list[str]:
    """The row that a slot visits in a turn: the chains of its lanes, one after another."""
    return [
        f"const i64 row = base + {turn} % {CHAIN} * {LANES} + {turn} / {CHAIN};",
        f"const bool live = unit < {units} && row < {kernel.rows};",
    ]


class _Ahead:
    """Copying the next row to shared memory while this one is computed.

    Every thread copies what it will read itself, so that it waits for its own copies and for no barrier. Done where two
    blocks still share a multiprocessor; then it hides the latency that a block would meet once a row.
    """

    def __init__(self, kernel: RowKernel, start: int, units: str, turns: int) -> None:
        self.kernel, self.start_at, self.units, self.turns = kernel, start, units, turns
        frame, shape = kernel.frame, kernel.shape
        inputs = range(frame.inputs)
        self.each = [i for i in inputs if frame.ports[i].axes == Axes.FULL]
        self.others = [i for i in inputs if frame.ports[i].axes == Axes.INNER]
        self.scalars = [i for i in inputs if not kernel.varies(i)]
        self.width = {i: shape.vector * frame.operands[i].kind.itemsize for i in self.each}
        self.bytes = sum(self.width.values()) * shape.chains * shape.threads
        extents = (*kernel.nest.outer, *kernel.nest.inner)
        whole = all(
            frame.operands[i].steps(kernel.inner_last) == 1
            and piece(frame.operands[i], shape.vector, kernel.inner_last, extents) == shape.vector
            for i in self.each
        )
        self.fits = whole and kernel.checks != "element" and start + self.bytes <= MOST_SHARED
        self.bytes = self.bytes if self.fits else 0

    def start(self) -> list[str]:
        """Before the first turn: names each operand's slots, and asks for the first row."""
        if not self.fits:
            return []
        lines, at, frame, shape = [], self.start_at, self.kernel.frame, self.kernel.shape
        for i in self.each:
            vector = f"Vec<{frame.storage(i)}, {shape.vector}>"
            lines.append(f"{vector}* const slots{i} = ({vector}*)((char*)dynamic + {at}) + threadIdx.x;")
            at += self.width[i] * shape.chains * shape.threads
        return [*lines, *[f"{frame.storage(i)} next{i} = {{}};" for i in self.scalars], *self.fetch("0")]

    def fetch(self, turn: str) -> list[str]:
        """Asks for the row of a turn."""
        if not self.fits:
            return []
        kernel, shape = self.kernel, self.kernel.shape
        lines = ["{", *row_of_turn(turn, kernel, self.units), f"if (live && {turn} < {self.turns}) {{", *kernel.enter_row()]
        lines += [f"next{i} = in{i};" for i in self.scalars]
        lines += kernel.first_run(self.each, "group")
        lines += ["#pragma unroll", f"for (int k = 0; k < {shape.chains}; ++k) {{", kernel.run_start("group")]
        for i in self.each:
            copy = f"copy_async<{self.width[i]}>(slots{i} + k * {shape.threads}, b{i} + k * {LANES});"
            lines.append(f"if ({kernel.valid()}) {copy}")
        return [*lines, "}}}"]

    def take(self, turn: str) -> list[str]:
        """This row out of its slots, and the row of `turn` on its way there; or simply this row, from memory."""
        kernel, frame, shape = self.kernel, self.kernel.frame, self.kernel.shape
        if not self.fits:
            runs = [*self.each, *self.others]
            return [*kernel.declare_runs(runs), *kernel.load_runs(runs, "group")]
        return [
            *kernel.declare_runs([*self.each, *self.others]),
            *kernel.load_runs(self.others, "group"),
            "arrived();",
            "#pragma unroll",
            f"for (int k = 0; k < {shape.chains}; ++k) {{",
            *[f"in{i}[k] = slots{i}[k * {shape.threads}];" for i in self.each],
            "}",
            *[f"const {frame.storage(i)} in{i} = next{i};" for i in self.scalars],
            *self.fetch(turn),
        ]


def _partial_starts(columns: list[Expr], count: int) -> list[int]:
    """The workspace byte where each column reduction's partial results start, and the end."""
    starts = [0]
    for n in columns:
        starts.append(starts[-1] + -(-count * n.kind.itemsize // 16) * 16)
    return starts


def _accumulators(
    kernel: RowKernel, columns: list[Expr], lanes: int, pitch: int
) -> tuple[list[str], list[str], list[str], int]:
    """Names each column's chain and waiting results, in registers (pitch 1) or in shared memory, where every thread has
    slots of its own; resets the chain; and, when it is complete, combines it with as many waiting results as its number
    ends in ones. Also the bytes of shared memory taken."""
    s = kernel.shape
    declared, reset, push, taken = [], [], [], 0
    runs = ["#pragma unroll", f"for (int k = 0; k < {s.chains}; ++k)"]
    elements = f"for (int v = 0; v < {s.vector}; ++v)"
    levels = lanes.bit_length() - 1
    size = s.chains * pitch
    for c, n in enumerate(columns):
        vector = f"Vec<{COMPUTE_TYPE[n.kind]}, {s.vector}>"
        if pitch == 1:
            declared.append(f"{vector} column{c}[{(levels + 1) * size}];")
        else:
            declared.append(f"{vector}* const column{c} = ({vector}*)((char*)dynamic + {taken}) + threadIdx.x;")
            taken += (levels + 1) * size * s.vector * n.kind.itemsize
        at = f"column{c}[k * {pitch}]"
        reset += [*runs, f"{{ {vector} x; {elements} x.v[v] = {number(IDENTITY[n.attr[0]], n.kind)}; {at} = x; }}"]
    for level in range(levels):
        merge, wait = [], []
        for c, n in enumerate(columns):
            vector = f"Vec<{COMPUTE_TYPE[n.kind]}, {s.vector}>"
            chain, waiting = f"column{c}[k * {pitch}]", f"column{c}[{(level + 1) * size} + k * {pitch}]"
            combined = f"{elements} b.v[v] = {OPERATION[n.attr[0]]}::of(a.v[v], b.v[v]);"
            merge += [*runs, f"{{ const {vector} a = {waiting}; {vector} b = {chain}; {combined} {chain} = b; }}"]
            wait += [*runs, f"{waiting} = {chain};"]
        push += [f"if (j & {1 << level}) {{", *merge, "} else {", *wait, "continue;", "}"]
    return declared, reset, push, taken


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
            f"{kind} result{c} = {number(IDENTITY[n.attr[0]], n.kind)};",
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
        return "(int)e" if n.op == "coord" else None

    emitter = Emitter(leaf)
    emitter.names.update(names)
    for k, _, expr in phases.column_outputs:
        i = frame.inputs + k
        value = emitter.value(expr)
        emitter.lines.append(f"{at(i)} = Narrow<{frame.storage(i)}, {COMPUTE_TYPE[expr.kind]}>::to({value});")
    body += ["if (y == 0 && live) {", *emitter.lines, "}"]
    source = frame.kernel(body, 1024, table_definitions(emitter.tables))
    return Launch(source, (-(-nest.row_length // 32), 1, 1), 1024)
