"""Column schedules: reductions of rows that lie side by side, the unit stride along an outer axis (a softmax over axis 0, a
transposed operand).

A block takes neighbouring rows; a thread some of those, and some lanes of every segment. The canonical order is then the lanes'
chains and a tree over a thread's lanes in registers, a tree over the teams of a warp by shuffles, a tree over warps and up to
`BATCH` segments in shared memory, and the same tree over batches.

What several phases read stays with the thread that will read it again, so nobody waits for anybody: in registers where a row
is one segment and that is little, else in shared memory where it fits. What does not fit is read again. Where there are many rows
of a segment, or of so many that a cluster of blocks has one each, blocks take rows after others, and copy those to come to shared
memory while they work on those they have in registers.

Where the rows make too few blocks to fill the device, each is spread over blocks: one launch a phase, a block for some
segments (a power of two), partial results in the workspace.
"""

from __future__ import annotations

from functools import partial
from itertools import product

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.formula.expr import Axes, Expr
from baracuda.formula.order import segments
from baracuda.lowering.nest.cuda.clusters import PORTABLE, counter, has_clusters, most_blocks, next_ticket
from baracuda.lowering.nest.cuda.kernel import Frame, Target
from baracuda.lowering.nest.phases import Phases
from baracuda.lowering.nest.problem import Nest
from baracuda.lowering.reduction.cuda.column_kernel import ColumnKernel, ColumnShape, column_shape
from baracuda.lowering.reduction.cuda.column_phases import AHEAD_THREADS, REGISTERS, ColumnReduction, carried_values
from baracuda.lowering.reduction.cuda.rows import OPERATION, identity
from baracuda.runtime.program import Launch, Lowered

#: Elements that are worth a second launch.
_WORTH_SPLITTING = 1 << 19
#: Bytes along the unit stride below which a memory access is wasteful.
_NARROWEST = 64
#: Bytes of shared memory that a block may take: so many that two share a multiprocessor, so that one loads while one computes,
#: or else all there is.
_KEPT = (108 * 1024, 220 * 1024)
#: Bytes of shared memory that the system takes of a multiprocessor's, for two blocks.
_RESERVED = 2 * 1024


def lower_columns(frame: Frame, target: Target) -> Lowered:
    """Lower a row-wise nest whose last outer axis has the unit stride."""
    nest = frame.nest
    assert segments(nest.row_length) < 1 << 31
    shape = _shape(frame, target)
    blocks = -(-nest.rows // shape.rows)
    per_chunk = _segments_per_chunk(nest, blocks, target)
    ahead = _ahead(frame, target)
    if ahead:
        return _in_turn(ahead, target)
    columns = _keeping(frame, target)
    if per_chunk and (columns is None or _groups(columns) * columns.cluster < target.multiprocessors):
        return _split(frame, shape, blocks, per_chunk)
    return _whole(columns or ColumnReduction(frame, shape))


def _groups(columns: ColumnReduction) -> int:
    """How many times a block, or a cluster of them, takes rows."""
    return -(-columns.frame.nest.rows // columns.shape.rows)


def _width(frame: Frame, nbytes: int) -> int:
    """Rows whose widest elements take a number of bytes."""
    sizes = [o.kind.itemsize for o, p in zip(frame.operands, frame.ports, strict=True) if p.axes is Axes.FULL]
    return max(1, nbytes // max(sizes, default=4))


def _shape(frame: Frame, target: Target) -> ColumnShape:
    """The layout of a block: as wide as the tuning says, less where that makes too few blocks."""
    nbytes, threads = frame.tuning.column_bytes, frame.tuning.column_threads
    shape = column_shape(frame.nest, _width(frame, nbytes), threads)
    while nbytes > _NARROWEST and 4 * frame.nest.rows < 7 * target.multiprocessors * shape.rows:
        nbytes //= 2
        shape = column_shape(frame.nest, _width(frame, nbytes), threads)
    return shape


def _segments_per_chunk(nest: Nest, blocks: int, target: Target) -> int:
    """Segments of a row that one block takes, a power of two; 0 for all of them."""
    total = segments(nest.row_length)
    wanted = 4 * target.multiprocessors
    if blocks >= target.multiprocessors or total < 2 or nest.rows * nest.row_length < _WORTH_SPLITTING:
        return 0
    per_chunk = 1
    while -(-total // (2 * per_chunk)) * blocks >= wanted:
        per_chunk *= 2
    return per_chunk


def _keeping(frame: Frame, target: Target) -> ColumnReduction | None:
    """The layout in which what is needed again stays with the threads; None where it does not fit, or there is nothing."""
    tuning, total = frame.tuning, segments(frame.nest.row_length)
    most = PORTABLE if has_clusters(target) else 1
    widths = (tuning.column_bytes, max(_NARROWEST, tuning.column_bytes // 2))
    for limit, values, nbytes in product(_KEPT, (True, False), widths):
        shape = column_shape(frame.nest, _width(frame, nbytes), tuning.column_threads)
        keeps = carried_values(ColumnKernel(frame.trial(), shape), values=values)
        if not keeps.run_bytes:
            return None
        registers = shape.held * keeps.run_bytes // 4 <= REGISTERS
        groups = -(-frame.nest.rows // shape.rows)
        for most_segments in (4, 2, 1):  # to a block
            cluster = -(-total // most_segments)
            if cluster > most or (cluster > 1 and groups * cluster < target.multiprocessors):
                continue
            count = min(most_segments, total)
            make = partial(
                ColumnReduction,
                shape=shape,
                registers=registers,
                in_shared=count > registers,
                values=values,
                count=count,
                cluster=cluster,
            )
            if make(frame.trial()).shared <= min(limit, target.shared_bytes):
                return make(frame)
    return None


def _ahead(frame: Frame, target: Target) -> ColumnReduction | None:
    """The layout in which blocks copy ahead, one segment each; None where rows have more than a cluster has blocks, there are
    too few of them, or a thread has little of each. The wider a block, the better: what it reads of an element's rows should
    fill whole lines of memory."""
    cluster = segments(frame.nest.row_length)
    if cluster > 1 and not _worth_a_cluster(frame, cluster, target):
        return None
    for threads, values in product((AHEAD_THREADS // 2, AHEAD_THREADS), (True, False)):
        shape = column_shape(frame.nest, _width(frame, frame.tuning.column_bytes), threads)
        make = partial(ColumnReduction, shape=shape, registers=True, values=values, count=1, cluster=cluster, ahead=True)
        columns = make(frame.trial())
        inputs, registers = columns.carried.inputs, shape.held * columns.carried.run_bytes // 4
        if not inputs or not all(columns.kernel.copied(i) for i in inputs):
            return None
        blocks = AHEAD_THREADS // shape.threads
        fits = REGISTERS <= registers <= 2 * REGISTERS and blocks * columns.shared <= target.shared_bytes - _RESERVED
        if fits and _groups(columns) >= 2 * blocks * (target.multiprocessors // cluster):
            return make(frame)
    return None


def _worth_a_cluster(frame: Frame, cluster: int, target: Target) -> bool:
    """Whether a cluster whose blocks have a segment each should copy ahead: where rows come out as long as they went in. Narrow
    elements are sooner there than their segments' results have gone round (H200, 2026-11-22, 8192 x 8192 along the first axis,
    time against that of blocks with more segments: normalize of f32 0.72, of bf16 1.20; softmax 0.83 and 0.94; of f32 var 0.93,
    logsumexp 1.08)."""
    if not has_clusters(target) or cluster > most_blocks(target) or not Phases(frame.nest.graph).full_outputs:
        return False
    return all(o.kind.itemsize >= 4 for o, p in zip(frame.operands, frame.ports, strict=True) if p.axes is Axes.FULL)


def _in_turn(columns: ColumnReduction, target: Target) -> Lowered:
    """One launch, whose blocks take rows until there are none. Clusters are handed theirs by a counter in the workspace, which
    is set first: how many run at once is the device's affair."""
    frame, words, clustered = columns.frame, columns.frame.words, columns.cluster > 1
    most = target.multiprocessors * (AHEAD_THREADS // columns.shape.threads) // columns.cluster
    at_once, groups = min(_groups(columns), most), words.signed(_groups(columns))
    body = [
        "extern __shared__ __align__(128) unsigned char dynamic[];",
        *frame.pointers(),
        f"const int x = threadIdx.x % {columns.shape.across}, y = threadIdx.x / {columns.shape.across};",
    ]
    if columns.cluster_exchange:
        body += [
            *columns.part(),
            "const bool leader = rank == 0 && threadIdx.x == 0;",
            *columns.cluster_exchange.open(),
            "unsigned round = 0;",
            f"i64 group = blockIdx.x / {columns.cluster}, next = group + {words.signed(at_once)};",
            *columns.fetch("group"),
            f"for (; group < {groups}; ++round) {{",
            next_ticket(frame),
        ]
    else:
        body += [
            "i64 group = blockIdx.x, next = group + gridDim.x;",
            *columns.fetch("group"),
            f"for (; group < {groups}; group = next, next += gridDim.x) {{",
        ]
    body += [*columns.enter("group"), f"if (next < {groups}) {{", *columns.fetch("next"), "}"]
    body += columns.work()
    if not clustered:
        return Lowered((columns.launch([*body, "}"], at_once),), tuple(words.values), 0, _name(columns))
    body += ["group = next;", "next = after;", "}"]
    launches = (counter(frame, 2 * at_once), columns.launch(body, at_once * columns.cluster))
    return Lowered(launches, tuple(words.values), 8, _name(columns))


def _whole(columns: ColumnReduction) -> Lowered:
    """One launch, every row in one block or in one cluster."""
    body = columns.enter(f"blockIdx.x / {columns.cluster}" if columns.cluster > 1 else "blockIdx.x")
    launch = columns.launch([*body, *columns.work()], _groups(columns) * columns.cluster)
    return Lowered((launch,), tuple(columns.frame.words.values), 0, _name(columns))


def _name(columns: ColumnReduction) -> str:
    s = columns.shape
    placement = "".join(f" {where}" for where, is_ in (("registers", columns.registers), ("shared", columns.in_shared)) if is_)
    placement += " ahead" if columns.ahead else ""
    spread = f" over {columns.cluster}" if columns.cluster > 1 else ""
    return f"columns{' kept' if placement else ''}{placement}{spread} v{s.vector} x{s.rows} t{s.threads}"


def _split(frame: Frame, shape: ColumnShape, blocks: int, per_chunk: int) -> Lowered:
    """One launch a phase; a last one for the outputs of whole rows, where no phase can write them."""
    phases = Phases(frame.nest.graph)
    chunks = -(-segments(frame.nest.row_length) // per_chunk)
    steps = max(phases.last + 1, len(phases.reductions) + (1 if phases.row_outputs else 0))
    launches = tuple(_split_phase(frame, shape, p, blocks, chunks, per_chunk, whole=p <= phases.last) for p in range(steps))
    workspace = sum(len(r) for r in phases.reductions) * frame.nest.rows * chunks * 8
    name = f"columns split v{shape.vector} x{shape.rows} t{shape.threads} c{chunks}"
    return Lowered(launches, tuple(frame.words.values), workspace, name)


def _split_phase(
    frame: Frame, shape: ColumnShape, phase: int, blocks: int, chunks: int, per_chunk: int, *, whole: bool
) -> Launch:
    columns, words = ColumnReduction(frame, shape), frame.words
    kernel, rows = columns.kernel, words.signed(frame.nest.rows)
    n_chunks, n_per_chunk = f"((int){words.word(chunks)})", f"((int){words.word(per_chunk)})"
    partials = words.signed(frame.nest.rows * chunks)
    reductions = [n for group in kernel.phases.reductions for n in group]
    body = columns.enter(f"blockIdx.x / {n_chunks}" if whole else "blockIdx.x")
    body.append(f"const int chunk = {f'blockIdx.x % {n_chunks}' if whole else '0'};")

    def result(n: Expr, row: str) -> str:
        kind = COMPUTE_TYPE[n.kind]
        return f"(({kind}*)({frame.workspace()} + 8 * {reductions.index(n)} * {partials}) + {row})"

    # Threads take a row and a part of the chunks each; the parts meet in shared memory.
    splits, per_part = shape.threads // shape.rows, 8
    while per_part * splits < chunks:
        per_part *= 2
    each = words.signed(per_part)
    for earlier in range(min(phase, len(kernel.phases.reductions))):
        body += [*columns.trees(earlier), "{"]
        body.append(f"const i64 it = mine - x * {shape.vector} + threadIdx.x % {shape.rows};")
        body.append(f"const int part = threadIdx.x / {shape.rows};")
        for r, n in enumerate(kernel.reductions(earlier)):
            kind = COMPUTE_TYPE[n.kind]
            entries = f"{result(n, 'it')}, {rows}, part * {each}, {each}, {n_chunks}"
            tree = f"column_tree<{OPERATION[n.attr[0]]}, {kind}>({entries}, {identity(n)})"
            body.append(f"tree{earlier}_{r}[threadIdx.x] = it < {rows} ? {tree} : {identity(n)};")
        body += ["}", "__syncthreads();"]
        for r, (n, name) in enumerate(zip(kernel.reductions(earlier), columns.names(earlier), strict=True)):
            body.append(columns.tree(n, f"tree{earlier}_{r}", str(splits), name))
        kernel.name_results(kernel.reductions(earlier), columns.names(earlier))
    if whole:
        body += [
            f"const int begin = chunk * {n_per_chunk};",
            f"const int end = {kernel.segments} - begin < {n_per_chunk} ? {kernel.segments} : begin + {n_per_chunk};",
            *columns.phase(phase, "begin", "end"),
        ]
        for n, name in zip(kernel.reductions(phase), columns.names(phase), strict=True):
            stores = kernel.for_rows([f"{result(n, 'row')}[chunk * {rows} + v] = {name}[v];"])
            body += ["if (live && y == 0) {", *stores, "}"]
    if phase >= len(kernel.phases.reductions):
        body += kernel.store_row_outputs("live && y == 0 && chunk == 0")
    return columns.launch(body, blocks * chunks if whole else blocks)
