"""The choice among row schedules, and three of them: resident, looped and split (see `baracuda.lowering.reduction.cuda.rows`)."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.formula.expr import Axes, Expr
from baracuda.formula.gathers import gathers
from baracuda.formula.order import LANES, SEGMENT, segments
from baracuda.lowering.nest.costs import usual_cost
from baracuda.lowering.nest.cuda.kernel import Frame, Target, Tuning, fitting_width, piece
from baracuda.lowering.nest.phases import Phases
from baracuda.lowering.nest.problem import Nest
from baracuda.lowering.reduction.cuda.row_clusters import lower_clustered_rows
from baracuda.lowering.reduction.cuda.rows import OPERATION, RowKernel, RowShape, group_shape, identity, row_shape
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Registers of a multiprocessor, and what a thread needs beside the row it holds.
REGISTERS, OVERHEAD = 65536, 40
#: Bytes of a short row that one thread takes where much is done with them, and how much that is, in additions.
_IN_THREAD, _MUCH = 64, 4
#: Additions to write out for the elements of one thread. The compiler takes seconds to minutes beyond it (entmax of bf16 rows
#: with 64 elements a thread: 650,000 additions, 25 s, 1.2 MB of machine code), and the code outgrows the instruction cache.
_WRITTEN_OUT = 40_000
#: Elements to a run of 16-bit operands: a cluster holds rows of them that are twice as long.
_NARROW = 8
#: Elements and registers of a row of 16-bit operands that a thread may hold before runs are half as long; threads to a row.
_MANY, _CROWDED, _MOST_THREADS = 32, 32, 1024


def vector_width(nest: Nest) -> int:
    """Elements to a run: 16 bytes of a 16-bit operand or of a 32-bit one; fewer where what is done with them is long."""
    ports, phases = (*nest.graph.inputs, *(p for p, _ in nest.graph.outputs)), Phases(nest.graph)
    sizes = [o.kind.itemsize for o, p in zip(nest.operands, ports, strict=True) if p.axes & Axes.INNER]
    widest = max(sizes, default=4)
    vector = fitting_width(8 if widest <= 2 else 4, nest.inner[-1], widest) if nest.inner else 4
    work = sum(usual_cost(n) for p in range(phases.last + 1) for n in phases.roots(p))
    while vector > 1 and work * vector * group_shape(nest.row_length, vector)[1] > _WRITTEN_OUT:
        vector //= 2
    return vector


def short_row_vector(nest: Nest) -> int:
    """Elements to a run of a row shorter than a segment's lanes, where a thread takes them all, or a good part of them: what a
    row has one of is then worked out by few threads, and nobody waits for a neighbour. 0 where loads side by side are better."""
    phases, varying = Phases(nest.graph), [i for i, p in enumerate(nest.graph.inputs) if p.axes & Axes.INNER]
    heavy = phases.last > 0 or sum(usual_cost(n) for n in phases.roots(0)) > _MUCH
    if nest.row_length > LANES or not heavy or len(nest.inner) != 1 or gathers(nest.graph):
        return 0
    if phases.full_outputs:
        return _written_row_vector(nest)
    if nest.row_length == LANES:
        return 0
    if len(varying) != 1 or nest.operands[varying[0]].steps(len(nest.outer)) != 1:
        return 0
    vector = _IN_THREAD // nest.operands[varying[0]].kind.itemsize
    while nest.row_length % vector:
        vector //= 2
    return vector


def _written_row_vector(nest: Nest) -> int:
    """Elements to a run of a short row that is written too: two pieces of 16 bytes where it is written in 16 bits or fewer, and
    all that lies along it is moved in whole pieces (H200, 2026-11-23, 2**26 elements of bf16 in rows of 32: MXFP8 52 us, with
    one piece 59, softmax 76 and 88; but to normalize f32 took 173 and 131)."""
    vector, axis, extents = 2 * vector_width(nest), len(nest.outer), (*nest.outer, *nest.inner)
    ports = (*nest.graph.inputs, *(p for p, _ in nest.graph.outputs))
    along = [o for o, p in zip(nest.operands, ports, strict=True) if p.axes & Axes.INNER]
    narrow = all(p.kind.itemsize <= 2 for p, _ in nest.graph.outputs if p.axes & Axes.INNER)
    whole = all(o.steps(axis) == 1 and piece(o, vector, axis, extents) * o.kind.itemsize >= min(8, vector) for o in along)
    return vector if narrow and whole and nest.row_length % vector == 0 else 0


def registers_held(nest: Nest, shape: RowShape) -> int:
    """Estimate of the registers a resident row takes in one thread."""
    elements, phases = shape.chains * shape.vector, Phases(nest.graph)
    inputs = sum(p.kind.itemsize for p in nest.graph.inputs if p.axes & Axes.INNER)
    carried = sum(n.kind.itemsize for n in phases.carried)
    return -(-elements * (inputs + carried) // 4)


def resident_shape(nest: Nest, tuning: Tuning) -> RowShape | None:
    """How a resident row is laid over threads; None if it does not fit."""
    vector = max(vector_width(nest), short_row_vector(nest))
    threads, short_row_threads = tuning.row_threads, tuning.short_row_threads
    shape = row_shape(nest, vector, threads, short_row_threads)
    many = vector == _NARROW and shape.chains * vector > _MANY
    if many and registers_held(nest, shape) > _CROWDED:  # half as many elements to a thread, of twice as many
        narrower = row_shape(nest, vector // 2, threads, short_row_threads)
        shape = narrower if narrower.group * narrower.groups <= _MOST_THREADS else shape
    if shape.group * shape.groups > _MOST_THREADS:
        return None
    limit = min(255, REGISTERS // max(shape.threads, 128))
    return shape if registers_held(nest, shape) + OVERHEAD <= limit else None


def lower_rows(frame: Frame, target: Target) -> Lowered:
    """Lower a nest whose rows lie along the unit stride and that reduces over nothing but them."""
    nest = frame.nest
    shape = resident_shape(nest, frame.tuning)
    few = nest.rows < 2 * target.multiprocessors and nest.row_length > 32 * SEGMENT * 2
    if shape is not None and not few:
        return _resident(frame, shape)
    vector, long = vector_width(nest), few or segments(nest.row_length) > 4096
    lowered = lower_clustered_rows(frame, target, vector)
    if lowered is not None:
        return lowered
    group, chains = group_shape(nest.row_length, vector)
    walking = RowShape(vector, group, chains, max(1, frame.tuning.walkers // group), 1)
    if long:
        return _split(frame, walking, target)
    return _looped(frame, walking)


def _named(kernel: RowKernel, phase: int) -> list[str]:
    return [f"red{phase}_{r}" for r in range(len(kernel.phases.reductions[phase]))]


def declare(reductions: Sequence[Expr], names: Sequence[str]) -> list[str]:
    return [f"{COMPUTE_TYPE[n.kind]} {name};" for n, name in zip(reductions, names, strict=True)]


def resident_phases(kernel: RowKernel, columns: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Shared declarations, and the phases over a row in registers; `parity` alternates from row to row. 16-bit inputs are held
    as they are, and widened in each phase."""
    frame, words = kernel.frame, kernel.shape.vector % 2 == 0
    forget = [i for i in range(frame.inputs) if words and kernel.varies(i) and frame.operands[i].kind.itemsize == 2]
    shared: list[str] = []
    lines = kernel.declare_carried()
    for phase in range(kernel.phases.last + 1):
        reductions = kernel.phases.reductions[phase] if phase < len(kernel.phases.reductions) else []
        names = _named(kernel, phase) if reductions else []
        lines += kernel.scalars(phase) + declare(reductions, names)
        if phase and forget:
            again = " ".join(f"forget(in{i}[k]);" for i in forget)
            lines += ["#pragma unroll", f"for (int k = 0; k < {kernel.shape.chains}; ++k) {{ {again} }}"]
        lines += ["{", *kernel.declare_accumulators(reductions), *kernel.phase_loop(phase, "group", columns=columns)]
        lines += kernel.leaf_values(reductions)
        lines += combine_groups(kernel, reductions, names, shared, phase)
        lines += ["}"]
        kernel.name_results(reductions, names)
    lines += kernel.store_row_outputs("live && lane == 0 && group == 0")
    return shared, lines


def combine_groups(
    kernel: RowKernel, reductions: Sequence[Expr], names: Sequence[str], shared: list[str], phase: int
) -> list[str]:
    """The tree over the groups of a row, through shared memory where a row has more than one warp's result."""
    s = kernel.shape
    leaves = s.groups * s.leaves
    if leaves == 1:
        return [f"{name} = leaf{r};" for r, name in enumerate(names)]
    lines = []
    for r, n in enumerate(reductions):
        shared.append(f"__shared__ {COMPUTE_TYPE[n.kind]} tree{phase}_{r}[2][{s.rows}][{leaves}];")
        at = f"tree{phase}_{r}[parity][slot]"
        lines.append(f"if (lane % 32 == 0) {at}[group * {s.leaves} + lane / 32] = leaf{r};")
    if reductions:
        lines.append("__syncthreads();")
    for r, (n, name) in enumerate(zip(reductions, names, strict=True)):
        operands = f"tree{phase}_{r}[parity][slot], {leaves}, {identity(n)}, threadIdx.x, {s.threads}"
        lines.append(f"{name} = tree<{OPERATION[n.attr[0]]}>({operands});")
    return lines


def _resident(frame: Frame, shape: RowShape) -> Lowered:
    nest = frame.nest
    kernel = RowKernel(frame, shape, resident=True)
    runs = [i for i in range(frame.inputs) if kernel.varies(i)]
    shared, phases = resident_phases(kernel)
    body = [
        *kernel.frame.pointers(),
        *kernel.place(),
        f"const i64 row = (i64)blockIdx.x * {shape.rows} + slot;",
        f"const bool live = row < {kernel.rows};",
        "const int parity = 0;",
        *kernel.enter_row(),
        *kernel.declare_runs(runs),
        *kernel.load_runs(runs, "group"),
        *phases,
    ]
    blocks = -(-nest.rows // shape.rows)
    source = kernel.frame.kernel([*shared, *body], shape.threads, kernel.definitions())
    launch = Launch(KernelSource(source), (blocks, 1, 1), shape.threads)
    return Lowered((launch,), tuple(frame.words.values), 0, f"rows resident v{shape.vector} t{shape.threads} r{shape.rows}")


def _segment_loop(kernel: RowKernel, phase: int, first: str, count: str) -> list[str]:
    """Groups walk over segments first ... first+count-1; each segment's leaves go to shared memory."""
    s = kernel.shape
    reductions = kernel.phases.reductions[phase] if phase < len(kernel.phases.reductions) else []
    reads = kernel.phases.inputs_read[phase]
    operands = [i for i in range(kernel.frame.inputs) if kernel.varies(i) and kernel.frame.ports[i].name in reads]
    lines = [
        f"for (int walked = 0; walked < {count}; walked += {s.groups}) {{",
        f"const int local = walked + group, segment = {first} + local;",
        f"const bool here = live && local < {count};",
        *kernel.declare_runs(operands),
        *kernel.load_runs(operands, "segment", "here"),
        *kernel.declare_accumulators(reductions),
        *kernel.phase_loop(phase, "segment", "here"),
        *kernel.leaf_values(reductions),
    ]
    for r in range(len(reductions)):
        lines.append(f"if (local < {count} && lane % 32 == 0) tree{phase}_{r}[local * {s.leaves} + lane / 32] = leaf{r};")
    return [*lines, "}"]


def _shared_trees(kernel: RowKernel, phase: int, leaves: str) -> list[str]:
    """Names the arrays of a phase's leaves in dynamic shared memory."""
    return [
        f"{COMPUTE_TYPE[n.kind]}* const tree{phase}_{r} = ({COMPUTE_TYPE[n.kind]}*)(dynamic + {r} * ({leaves}));"
        for r, n in enumerate(kernel.phases.reductions[phase] if phase < len(kernel.phases.reductions) else [])
    ]


def _finish(kernel: RowKernel, phase: int, leaves: str) -> list[str]:
    reductions = kernel.phases.reductions[phase]
    lines = ["__syncthreads();"]
    for r, (n, name) in enumerate(zip(reductions, _named(kernel, phase), strict=True)):
        operands = f"tree{phase}_{r}, {leaves}, {identity(n)}, threadIdx.x, {kernel.shape.threads}"
        lines.append(f"{name} = tree<{OPERATION[n.attr[0]]}>({operands});")
    return [*lines, "__syncthreads();"]


def _looped(frame: Frame, shape: RowShape) -> Lowered:
    nest = frame.nest
    kernel = RowKernel(frame, shape, resident=False)
    leaves = f"{kernel.segments} * {shape.leaves}"
    body = [
        "extern __shared__ double dynamic[];",
        *kernel.frame.pointers(),
        *kernel.place(),
        f"for (i64 row = blockIdx.x; row < {kernel.rows}; row += gridDim.x) {{",
        "const bool live = true;",
        *kernel.enter_row(),
    ]
    for phase in range(kernel.phases.last + 1):
        reductions = kernel.phases.reductions[phase] if phase < len(kernel.phases.reductions) else []
        body += kernel.scalars(phase)
        body += declare(reductions, _named(kernel, phase) if reductions else [])
        body += _shared_trees(kernel, phase, leaves) + _segment_loop(kernel, phase, "0", kernel.segments)
        if reductions:
            body += _finish(kernel, phase, leaves)
            kernel.name_results(reductions, _named(kernel, phase))
    body += [*kernel.store_row_outputs("threadIdx.x == 0"), "}"]
    most = max(len(r) for r in kernel.phases.reductions)
    source = kernel.frame.kernel(body, shape.threads, kernel.definitions())
    launch = Launch(KernelSource(source), (nest.rows, 1, 1), shape.threads, most * 8 * segments(nest.row_length) * shape.leaves)
    return Lowered((launch,), tuple(frame.words.values), 0, f"rows looped v{shape.vector} t{shape.threads}")


def _split(frame: Frame, shape: RowShape, target: Target) -> Lowered:
    """One launch a phase; block (row, chunk) takes `per_chunk` segments, a power of two, and leaves one partial result for
    each reduction in the workspace."""
    nest = frame.nest
    total = segments(nest.row_length)
    per_chunk = shape.groups
    while -(-total // (2 * per_chunk)) * nest.rows >= 4 * target.multiprocessors or -(-total // per_chunk) > 4096:
        per_chunk *= 2
    chunks = -(-total // per_chunk)
    phases = Phases(nest.graph)
    steps = max(phases.last + 1, len(phases.reductions) + (1 if phases.row_outputs else 0))
    launches = tuple(_split_phase(frame, shape, p, chunks, per_chunk, whole=p <= phases.last) for p in range(steps))
    workspace = sum(len(r) for r in phases.reductions) * nest.rows * chunks * 8
    return Lowered(launches, tuple(frame.words.values), workspace, f"rows split v{shape.vector} c{chunks}")


def _split_phase(frame: Frame, shape: RowShape, phase: int, chunks: int, per_chunk: int, *, whole: bool) -> Launch:
    nest = frame.nest
    kernel = RowKernel(frame, shape, resident=False)
    words = frame.words
    n_chunks, n_per_chunk = f"((int){words.word(chunks)})", f"((int){words.word(per_chunk)})"
    partials = f"((i64){words.word(nest.rows * chunks)})"
    blocks_in_row = n_chunks if whole else "1"
    body = [
        "extern __shared__ double dynamic[];",
        *kernel.frame.pointers(),
        *kernel.place(),
        f"const i64 row = blockIdx.x / {blocks_in_row};",
        f"const int chunk = blockIdx.x % {blocks_in_row};",
        "const bool live = true;",
        *kernel.enter_row(),
        f"const int left = {kernel.segments} - chunk * {n_per_chunk}, count = left < {n_per_chunk} ? left : {n_per_chunk};",
    ]
    number_of = {n: j for j, n in enumerate(n for group in kernel.phases.reductions for n in group)}
    for earlier in range(min(phase, len(kernel.phases.reductions))):
        reductions = kernel.phases.reductions[earlier]
        body += declare(reductions, _named(kernel, earlier)) + _shared_trees(kernel, earlier, n_chunks)
        body.append(f"for (int i = threadIdx.x; i < {n_chunks}; i += {shape.threads}) {{")
        for r, n in enumerate(reductions):
            at = _partial(kernel, number_of[n], partials, n_chunks, "i")
            body.append(f"tree{earlier}_{r}[i] = *({COMPUTE_TYPE[n.kind]}*)({at});")
        body += ["}", *_finish(kernel, earlier, n_chunks)]
        kernel.name_results(reductions, _named(kernel, earlier))
    if whole:
        reductions = kernel.phases.reductions[phase] if phase < len(kernel.phases.reductions) else []
        body += kernel.scalars(phase) + declare(reductions, _named(kernel, phase) if reductions else [])
        leaves = f"{n_per_chunk} * {shape.leaves}"
        body += _shared_trees(kernel, phase, leaves) + _segment_loop(kernel, phase, f"chunk * {n_per_chunk}", "count")
        if reductions:
            body += _finish(kernel, phase, f"count * {shape.leaves}")
            for n, name in zip(reductions, _named(kernel, phase), strict=True):
                at = _partial(kernel, number_of[n], partials, n_chunks, "chunk")
                body.append(f"if (threadIdx.x == 0) *({COMPUTE_TYPE[n.kind]}*)({at}) = {name};")
    if phase >= len(kernel.phases.reductions):
        body += kernel.store_row_outputs("threadIdx.x == 0 && chunk == 0")
    most = max(len(r) for r in kernel.phases.reductions)
    source = kernel.frame.kernel(body, shape.threads, kernel.definitions())
    blocks = nest.rows * (chunks if whole else 1)
    shared = most * 8 * max(per_chunk * shape.leaves, chunks)
    return Launch(KernelSource(source), (blocks, 1, 1), shape.threads, shared)


def _partial(kernel: RowKernel, number_in_order: int, partials: str, chunks: str, chunk: str) -> str:
    """The address of one partial result in the workspace; each takes 8 bytes."""
    return f"{kernel.frame.workspace()} + 8 * ({number_in_order} * {partials} + row * {chunks} + {chunk})"
