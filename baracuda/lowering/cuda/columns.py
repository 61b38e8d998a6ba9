"""Column schedule: reductions of rows that lie side by side, the unit stride along an outer axis (a softmax over axis 0, a
transposed operand).

A block takes X neighbouring rows, so that loads run along the unit stride. Its threads form Y teams: team y holds lanes
y*L ... y*L+L-1 of every segment. The canonical order is then the lanes' chains and a tree over L in each thread, a tree over
the teams and up to `BATCH` segments in shared memory, and the same tree over batches. Each phase reads the rows again,
from L2 where the blocks at work fit it.
"""

from __future__ import annotations

from baracuda.formula.order import IDENTITY, LANES, segments
from baracuda.lowering.cuda.emit import number
from baracuda.lowering.cuda.kernel import Frame, Launch, Lowered
from baracuda.lowering.cuda.prelude import COMPUTE_TYPE
from baracuda.lowering.cuda.rows import OPERATION, RowKernel, RowShape, group_shape

#: Segments whose results meet in shared memory at once.
BATCH = 8


def lower_columns(frame: Frame) -> Lowered:
    """Lower a row-wise nest whose last outer axis has the unit stride."""
    nest, rows = frame.nest, frame.tuning.column_rows
    lanes, chains = group_shape(nest.row_length, 1)
    lanes = min(lanes, LANES)
    teams = max(1, min(frame.tuning.column_threads // rows, lanes // 8))
    per_thread = lanes // teams
    threads = rows * teams
    kernel = RowKernel(frame, RowShape(1, LANES, chains, 1, rows), resident=False)
    most = max(len(r) for r in kernel.phases.reductions)
    size = BATCH * threads * 8
    body = [
        "extern __shared__ double dynamic[];",
        *frame.pointers(),
        f"const int x = threadIdx.x % {rows}, y = threadIdx.x / {rows};",
        f"const i64 row = (i64)blockIdx.x * {rows} + x;",
        f"const bool live = row < {kernel.rows};",
        *kernel.enter_row(),
    ]
    for phase in range(kernel.phases.last + 1):
        reductions = kernel.phases.reductions[phase] if phase < len(kernel.phases.reductions) else []
        names = [f"red{phase}_{r}" for r in range(len(reductions))]
        reads = kernel.phases.inputs_read[phase]
        operands = [i for i in range(frame.inputs) if kernel.varies(i) and frame.ports[i].name in reads]
        body += kernel.scalars(phase)
        finish = []
        for r, n in enumerate(reductions):
            kind, operation = COMPUTE_TYPE[n.kind], OPERATION[n.attr[0]]
            body += [
                f"{kind}* const tree{phase}_{r} = ({kind}*)((char*)dynamic + {r * size});",
                f"Counter<{operation}, {kind}> counter{phase}_{r};",
            ]
            identity = number(IDENTITY[n.attr[0]], n.kind)
            finish.append(
                f"counter{phase}_{r}.push(side_tree<{operation}, {rows}>"
                f"(tree{phase}_{r}, batch * {teams}, {identity}, x, y, {teams}), first / {BATCH});"
            )
        lines = [
            f"for (int first = 0; first < {kernel.segments}; first += {BATCH}) {{",
            f"const int left = {kernel.segments} - first, batch = left < {BATCH} ? left : {BATCH};",
            "for (int s = 0; s < batch; ++s) {",
            "const int segment = first + s;",
            *[f"{COMPUTE_TYPE[n.kind]} lanes{r}[{per_thread}];" for r, n in enumerate(reductions)],
            f"#pragma unroll {min(4, per_thread)}" if not reductions else "#pragma unroll",
            f"for (int l = 0; l < {per_thread}; ++l) {{",
            f"const int lane = y * {per_thread} + l;",
            *kernel.declare_runs(operands),
            *kernel.load_runs(operands, "segment"),
            *kernel.declare_accumulators(reductions),
            *kernel.phase_loop(phase, "segment"),
            *[f"lanes{r}[l] = acc{r}[0];" for r in range(len(reductions))],
            "}",
            *[
                f"tree{phase}_{r}[(s * {teams} + y) * {rows} + x] = pairs<{OPERATION[n.attr[0]]}, {per_thread}>(lanes{r});"
                for r, n in enumerate(reductions)
            ],
            "}",
            *(["__syncthreads();"] if reductions else []),
            *finish,
            "}",
        ]
        body += lines
        for r, (n, name) in enumerate(zip(reductions, names, strict=True)):
            total = f"({kernel.segments} + {BATCH - 1}) / {BATCH}"
            body.append(f"const {COMPUTE_TYPE[n.kind]} {name} = counter{phase}_{r}.total({total});")
        kernel.name_results(reductions, names)
    body += kernel.store_row_outputs("live && y == 0")
    source = frame.kernel(body, threads, kernel.definitions())
    launch = Launch(source, (-(-nest.rows // rows), 1, 1), threads, most * size)
    assert segments(nest.row_length) < 1 << 31
    return Lowered((launch,), tuple(frame.words.values), 0, f"columns x{rows} t{threads}")
