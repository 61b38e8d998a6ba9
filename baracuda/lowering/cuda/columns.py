"""Column schedules: reductions of rows that lie side by side, the unit stride along an outer axis (a softmax over axis 0, a
transposed operand).

A block takes X neighbouring rows, so that loads run along the unit stride. Its threads form Y teams: team y holds lanes
y*L ... y*L+L-1 of every segment. The canonical order is then the lanes' chains and a tree over L in each thread, a tree over
the teams and up to `BATCH` segments in shared memory, and the same tree over batches. Each phase reads the rows again,
from L2 where the blocks at work fit it.

An operand that several phases read is kept in shared memory where it fits: each thread keeps the elements that it will read
again, so nobody waits for anybody.

Where the rows make too few blocks to fill the device, each is spread over blocks: one launch a phase, a block for some
segments (a power of two), partial results in the workspace.
"""

from __future__ import annotations

from baracuda.formula.expr import Expr
from baracuda.formula.order import LANES, segments
from baracuda.lowering.cuda.kernel import Frame, Launch, Lowered, Target
from baracuda.lowering.cuda.prelude import COMPUTE_TYPE
from baracuda.lowering.cuda.rows import OPERATION, RowKernel, RowShape, group_shape, identity
from baracuda.lowering.phases import Phases
from baracuda.lowering.problem import Nest

#: The most segments whose results meet in shared memory at once.
BATCH = 8
#: Elements that are worth a second launch.
_WORTH_SPLITTING = 1 << 19
#: Bytes of a memory access that is not wasted.
_SECTOR = 32
#: Bytes of shared memory that kept operands may take: two blocks a multiprocessor, so that one loads while one computes.
_KEPT = 96 * 1024


def lower_columns(frame: Frame, target: Target) -> Lowered:
    """Lower a row-wise nest whose last outer axis has the unit stride."""
    assert segments(frame.nest.row_length) < 1 << 31
    blocks = -(-frame.nest.rows // _width(frame))
    per_chunk = _segments_per_chunk(frame.nest, blocks, target)
    return _split(frame, blocks, per_chunk) if per_chunk else _whole(frame)


def _width(frame: Frame) -> int:
    """Rows that a block takes: no more than there are, in powers of two."""
    width = frame.tuning.column_rows
    while width > 1 and width // 2 >= frame.nest.rows:
        width //= 2
    return width


def _segments_per_chunk(nest: Nest, blocks: int, target: Target) -> int:
    """Segments of a row that one block takes, a power of two; 0 for all of them."""
    phases, total = Phases(nest.graph), segments(nest.row_length)
    # Rows that are read again are best read by the same block, as long as there is one for every other multiprocessor.
    wanted = 4 * target.multiprocessors if phases.last == 0 and not phases.full_outputs else target.multiprocessors
    if blocks >= wanted // 2 or total < 2 or nest.rows * nest.row_length < _WORTH_SPLITTING:
        return 0
    per_chunk = 1
    while -(-total // (2 * per_chunk)) * blocks >= wanted:
        per_chunk *= 2
    return per_chunk


class _Columns:
    """The parts of a column kernel. Names in the generated code: `x` the row in the block, `y` the team."""

    def __init__(self, frame: Frame, rows: int, *, keep: bool = False) -> None:
        nest, self.frame, self.rows = frame.nest, frame, rows
        lanes, chains = group_shape(nest.row_length, 1)
        lanes = min(lanes, LANES)
        self.teams = max(1, min(frame.tuning.column_threads // self.rows, lanes // 4))
        self.per_thread = lanes // self.teams
        self.threads = self.rows * self.teams
        self.kernel = RowKernel(frame, RowShape(1, LANES, chains, 1, self.rows), resident=False)
        #: Segments whose results meet in shared memory at once, a power of two.
        self.batch = min(BATCH, 1 << (segments(nest.row_length) - 1).bit_length())
        self.size = self.batch * self.threads * 8
        self.shared = max(len(r) for r in self.kernel.phases.reductions) * self.size
        #: For each operand that is kept, where its elements begin in shared memory.
        self.kept: dict[int, int] = {}
        if keep:
            for i in self.read_again():
                self.kept[i] = self.shared
                self.shared += self.kept_bytes(i)

    def read_again(self) -> list[int]:
        """The operands that several phases read."""
        reads, ports = self.kernel.phases.inputs_read, self.frame.ports
        varying = (i for i in range(self.frame.inputs) if self.kernel.varies(i))
        return [i for i in varying if sum(ports[i].name in names for names in reads) > 1]

    def kept_bytes(self, i: int) -> int:
        """Shared memory for an operand's elements."""
        covered = segments(self.frame.nest.row_length) * self.kernel.shape.chains * self.teams * self.per_thread
        return covered * self.rows * self.frame.operands[i].kind.itemsize

    def reductions(self, phase: int) -> list[Expr]:
        found = self.kernel.phases.reductions
        return found[phase] if phase < len(found) else []

    def names(self, phase: int) -> list[str]:
        return [f"red{phase}_{r}" for r in range(len(self.reductions(phase)))]

    def enter(self, block: str) -> list[str]:
        """Declares what the threads of a block work on."""
        return [
            "extern __shared__ double dynamic[];",
            *self.frame.pointers(),
            f"const int x = threadIdx.x % {self.rows}, y = threadIdx.x / {self.rows};",
            f"const i64 row = (i64)({block}) * {self.rows} + x;",
            f"const bool live = row < {self.kernel.rows};",
            *self.kernel.enter_row(),
        ]

    def trees(self, phase: int) -> list[str]:
        """Names the arrays in shared memory."""
        return [
            f"{COMPUTE_TYPE[n.kind]}* const tree{phase}_{r} = ({COMPUTE_TYPE[n.kind]}*)((char*)dynamic + {r * self.size});"
            for r, n in enumerate(self.reductions(phase))
        ]

    def phase(self, phase: int, begin: str, end: str) -> list[str]:
        """A phase over the segments from `begin` to before `end`; its results get their names, in every thread."""
        kernel, reductions = self.kernel, self.reductions(phase)
        reads = kernel.phases.inputs_read[phase]
        operands = [i for i in range(self.frame.inputs) if kernel.varies(i) and self.frame.ports[i].name in reads]
        known = {i for i in self.kept if any(self.frame.ports[i].name in names for names in kernel.phases.inputs_read[:phase])}
        finish = []
        lines = kernel.scalars(phase) + self.trees(phase)
        for r, n in enumerate(reductions):
            operation = OPERATION[n.attr[0]]
            lines.append(f"Counter<{operation}, {COMPUTE_TYPE[n.kind]}> counter{phase}_{r};")
            finish.append(
                f"counter{phase}_{r}.push(side_tree<{operation}, {self.rows}>"
                f"(tree{phase}_{r}, batch * {self.teams}, {identity(n)}, x, y, {self.teams}), (first - {begin}) / {self.batch});"
            )
        lines += [
            f"for (int first = {begin}; first < {end}; first += {self.batch}) {{",
            f"const int left = {end} - first, batch = left < {self.batch} ? left : {self.batch};",
            "for (int s = 0; s < batch; ++s) {",
            "const int segment = first + s;",
            *[f"{COMPUTE_TYPE[n.kind]} lanes{r}[{self.per_thread}];" for r, n in enumerate(reductions)],
            f"#pragma unroll {min(4, self.per_thread)}" if not reductions else "#pragma unroll",
            f"for (int l = 0; l < {self.per_thread}; ++l) {{",
            f"const int lane = y * {self.per_thread} + l;",
            *kernel.declare_runs(operands),
            *kernel.load_runs([i for i in operands if i not in known], "segment"),
            *[line for i in operands if i in self.kept for line in self.keep(i, restore=i in known)],
            *kernel.declare_accumulators(reductions),
            *kernel.phase_loop(phase, "segment"),
            *[f"lanes{r}[l] = acc{r}[0];" for r in range(len(reductions))],
            "}",
        ]
        for r, n in enumerate(reductions):
            at = f"tree{phase}_{r}[(s * {self.teams} + y) * {self.rows} + x]"
            lines.append(f"{at} = pairs<{OPERATION[n.attr[0]]}, {self.per_thread}>(lanes{r});")
        lines += ["}", *(["__syncthreads();"] if reductions else []), *finish, "}"]
        for r, (n, name) in enumerate(zip(reductions, self.names(phase), strict=True)):
            total = f"({end} - {begin} + {self.batch - 1}) / {self.batch}"
            lines.append(f"const {COMPUTE_TYPE[n.kind]} {name} = counter{phase}_{r}.total({total});")
        kernel.name_results(reductions, self.names(phase))
        return lines

    def keep(self, i: int, *, restore: bool) -> list[str]:
        """Puts this thread's elements of a lane into shared memory, or takes them from there."""
        storage, chains = self.frame.storage(i), self.kernel.shape.chains
        at = f"kept[(segment * {chains} + k) * {self.teams * self.per_thread * self.rows}]"
        moved = f"in{i}[k].v[0] = {at};" if restore else f"{at} = in{i}[k].v[0];"
        start = f"({storage}*)((char*)dynamic + {self.kept[i]}) + lane * {self.rows} + x"
        return ["{", f"{storage}* const kept = {start};", "#pragma unroll", f"for (int k = 0; k < {chains}; ++k) {moved}", "}"]

    def launch(self, body: list[str], blocks: int) -> Launch:
        source = self.frame.kernel(body, self.threads, self.kernel.definitions())
        return Launch(source, (blocks, 1, 1), self.threads, self.shared)


def _keeping(frame: Frame) -> _Columns | None:
    """The layout in which operands that are read again stay in shared memory; None where they do not fit, or there are none."""
    rows = _width(frame)
    while rows * min(o.kind.itemsize for o in frame.operands) >= _SECTOR:
        columns = _Columns(frame, rows, keep=True)
        if not columns.kept:
            return None
        if columns.shared <= _KEPT:
            return columns
        rows //= 2
    return None


def _whole(frame: Frame) -> Lowered:
    """One launch, every row in one block."""
    columns = _keeping(frame) or _Columns(frame, _width(frame))
    blocks = -(-frame.nest.rows // columns.rows)
    body = columns.enter("blockIdx.x")
    for phase in range(columns.kernel.phases.last + 1):
        body += columns.phase(phase, "0", columns.kernel.segments)
    body += columns.kernel.store_row_outputs("live && y == 0")
    launch = columns.launch(body, blocks)
    return Lowered((launch,), tuple(frame.words.values), 0, _name(columns))


def _name(columns: _Columns) -> str:
    return f"columns{' kept' if columns.kept else ''} x{columns.rows} t{columns.threads}"


def _split(frame: Frame, blocks: int, per_chunk: int) -> Lowered:
    """One launch a phase; a last one for the outputs of whole rows, where no phase can write them."""
    phases, rows = Phases(frame.nest.graph), _width(frame)
    chunks = -(-segments(frame.nest.row_length) // per_chunk)
    steps = max(phases.last + 1, len(phases.reductions) + (1 if phases.row_outputs else 0))
    launches = tuple(_split_phase(frame, p, blocks, chunks, per_chunk, whole=p <= phases.last) for p in range(steps))
    workspace = sum(len(r) for r in phases.reductions) * frame.nest.rows * chunks * 8
    return Lowered(launches, tuple(frame.words.values), workspace, f"columns split x{rows} c{chunks}")


def _split_phase(frame: Frame, phase: int, blocks: int, chunks: int, per_chunk: int, *, whole: bool) -> Launch:
    columns, words = _Columns(frame, _width(frame)), frame.words
    kernel, rows = columns.kernel, words.signed(frame.nest.rows)
    n_chunks, n_per_chunk = f"((int){words.word(chunks)})", f"((int){words.word(per_chunk)})"
    partials = words.signed(frame.nest.rows * chunks)
    team = 8
    while team * columns.teams < chunks:
        team *= 2
    per_team = words.signed(team)
    reductions = [n for group in kernel.phases.reductions for n in group]
    body = columns.enter(f"blockIdx.x / {n_chunks}" if whole else "blockIdx.x")
    body.append(f"const int chunk = {f'blockIdx.x % {n_chunks}' if whole else '0'};")

    def partial(n: Expr) -> str:
        kind = COMPUTE_TYPE[n.kind]
        return f"(({kind}*)({frame.workspace()} + 8 * {reductions.index(n)} * {partials}) + row)"

    for earlier in range(min(phase, len(kernel.phases.reductions))):
        body += columns.trees(earlier)
        for r, (n, name) in enumerate(zip(columns.reductions(earlier), columns.names(earlier), strict=True)):
            kind, operation = COMPUTE_TYPE[n.kind], OPERATION[n.attr[0]]
            entries = f"{partial(n)}, {rows}, y * {per_team}, {per_team}, {n_chunks}"
            tree = f"column_tree<{operation}, {kind}>({entries}, {identity(n)})"
            body += [
                f"tree{earlier}_{r}[y * {columns.rows} + x] = live ? {tree} : {identity(n)};",
                "__syncthreads();",
                f"const {kind} {name} = side_tree<{operation}, {columns.rows}>"
                f"(tree{earlier}_{r}, {columns.teams}, {identity(n)}, x, y, {columns.teams});",
            ]
        kernel.name_results(columns.reductions(earlier), columns.names(earlier))
    if whole:
        body += [
            f"const int begin = chunk * {n_per_chunk};",
            f"const int end = {kernel.segments} - begin < {n_per_chunk} ? {kernel.segments} : begin + {n_per_chunk};",
            *columns.phase(phase, "begin", "end"),
        ]
        for n, name in zip(columns.reductions(phase), columns.names(phase), strict=True):
            body.append(f"if (live && y == 0) {partial(n)}[chunk * {rows}] = {name};")
    if phase >= len(kernel.phases.reductions):
        body += kernel.store_row_outputs("live && y == 0 && chunk == 0")
    return columns.launch(body, blocks * chunks if whole else blocks)
