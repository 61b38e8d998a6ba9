"""Long rows that are read once: a cluster of blocks holds a row, and loads the next one while it works on this one.

Each block takes an equal share of the row's segments. Their elements lie in shared memory, and a last round of them in
registers, always with the thread that works on them, so that nobody waits for a load but who made it. When the last phase has
taken a run from its place, the same run of the cluster's next row is on its way there: loads never stop. The results of a
phase's segments go from block to block through shared memory, and each block combines all of them.

Rows are handed out one by one by a counter in the workspace: how many clusters run at once is the device's affair.
"""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.codegen.cuda.cluster_exchange import ClusterExchange
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.core.layout import round_up
from baracuda.formula.expr import Expr
from baracuda.formula.gathers import gathers
from baracuda.formula.order import CHAIN, LANES, segments
from baracuda.lowering.nest.cuda.clusters import STREAMS, counter, has_clusters, most_blocks, next_ticket
from baracuda.lowering.nest.cuda.kernel import Frame, Target, offset, piece, unravel
from baracuda.lowering.nest.phases import Phases
from baracuda.lowering.nest.problem import Nest
from baracuda.lowering.reduction.cuda.carried_values import CarriedValues
from baracuda.lowering.reduction.cuda.rows import OPERATION, RowKernel, RowShape, identity
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Threads of a block, and registers of a thread that the last round may take.
_THREADS, _REGISTERS = 512, 64
#: Bytes of shared memory for what is not a row: what blocks exchange, and trees.
_RESERVED = 16 * 1024
#: Additions to an element of a phase, beyond which a device is busier with them than with memory, and one block a multiprocessor
#: is too few, unless it holds the row in two rounds (H200, 2026-11-22, f32, against a launch for each phase: 256 rows of
#: 1,000,000 normalize 1.21 times as fast, softmin 0.96; 4,096 of 50,000 softmin 0.98; 2,048 of 32,768 softmax 1.24).
_LIGHT = 12


def _dearest_phase(nest: Nest) -> int:
    """What one element of the dearest phase costs, in additions."""
    phases = Phases(nest.graph)
    return max(phases.cost(root, {}) for p in range(phases.last + 1) for root in phases.roots(p))


def lower_clustered_rows(frame: Frame, target: Target, vector: int) -> Lowered | None:
    """Lower a nest of long rows; None where there is nothing to keep, or it does not fit a cluster, or rows are too few."""
    nest = frame.nest
    if not has_clusters(target) or len(nest.inner) != 1 or nest.row_length % vector or gathers(nest.graph):
        return None
    light = _dearest_phase(nest) <= _LIGHT
    for values in (True, False):
        rows = _ClusteredRows(frame.trial(), vector, target, values=values)
        small_rows = rows.cluster == rows.rounds == 1 and all(size >= 4 * vector for size in rows.sizes.values())
        if rows.fits and (light or small_rows) and nest.rows * rows.cluster >= target.multiprocessors // 2:
            clusters = max(1, target.multiprocessors // rows.cluster)
            return _ClusteredRows(frame, vector, target, values=values).lower(clusters)
    return None


class _ClusteredRows:
    """One layout of rows over a cluster, and its kernel."""

    def __init__(self, frame: Frame, vector: int, target: Target, *, values: bool) -> None:
        self.frame, nest = frame, frame.nest
        group = LANES // vector  # threads of a warp, or fewer
        self.shape = RowShape(vector, group, CHAIN, _THREADS // group, 1)
        self.kernel = RowKernel(frame, self.shape, resident=False, keeps=values)
        kernel = self.kernel
        self.reductions = kernel.phases.reductions
        runs = {
            i: (f"Vec<{frame.storage(i)}, {vector}>", vector * frame.operands[i].kind.itemsize)
            for i in range(frame.inputs)
            if kernel.varies(i)
        }
        self.carried = CarriedValues(kernel.phases, frame, runs, vector, values=values)
        self.sizes = {i: runs[i][1] for i in self.carried.inputs}
        total, of_round = segments(nest.row_length), self.shape.groups
        #: Bytes of shared memory to a round of segments, and how many rounds it holds beside the one in registers.
        self.round_bytes = max(1, self.carried.run_bytes) * CHAIN * _THREADS
        most = 1 + (target.shared_bytes - _RESERVED) // self.round_bytes
        #: Blocks of a row, and segments to a block.
        self.cluster = -(-total // (most * of_round))
        self.count = -(-total // self.cluster)
        self.rounds = -(-self.count // of_round) - 1
        values_sent = [[(COMPUTE_TYPE[n.kind], n.kind.itemsize, total) for n in phase] for phase in self.reductions]
        self.cluster_exchange = ClusterExchange(self.cluster, 0, values_sent, tickets=True)
        self.carried_at = round_up(self.cluster_exchange.end, 128)
        self.shared = self.carried_at + self.rounds * self.round_bytes
        whole = all(
            piece(nest.operands[i], vector, kernel.inner_last, (*nest.outer, *nest.inner)) * nest.operands[i].kind.itemsize
            >= min(16, size)
            and nest.operands[i].steps(kernel.inner_last) == 1
            and size % 4 == 0
            for i, size in self.sizes.items()
        )
        self.fits = (
            bool(self.sizes)
            and whole
            and self.rounds > 0
            and self.cluster <= most_blocks(target)
            and self.carried.run_bytes * CHAIN // 4 <= _REGISTERS
            and self.shared <= target.shared_bytes
        )

    def lower(self, clusters: int) -> Lowered:
        """The kernel, over so many clusters at most, after one that sets the counter."""
        frame = self.frame
        clusters = min(clusters, frame.nest.rows)
        first = counter(frame, clusters)
        body = self._body()
        definitions = self.cluster_exchange.definitions + STREAMS + self.kernel.definitions()
        source = frame.kernel(body, _THREADS, definitions, blocks=1, cluster=self.cluster)
        launches = (
            first,
            Launch(KernelSource(source), (clusters * self.cluster, 1, 1), _THREADS, self.shared, self.cluster),
        )
        return Lowered(
            launches, tuple(frame.words.values), 8, f"rows kept over {self.cluster} v{self.shape.vector} c{self.count}"
        )

    def _body(self) -> list[str]:
        kernel, keeps, frame = self.kernel, self.carried, self.frame
        body = [
            "extern __shared__ __align__(128) unsigned char dynamic[];",
            *frame.pointers(),
            *kernel.place(),
            f"const int rank = blockIdx.x % {self.cluster}, begin = rank * {self.count};",
            f"const int count = {kernel.segments} - begin < {self.count} ? {kernel.segments} - begin : {self.count};",
            *self.cluster_exchange.open(),
            "const bool leader = rank == 0 && threadIdx.x == 0;",
        ]
        for name, start in keeps.starts.items():
            at = f"dynamic + {self.carried_at + start * self.rounds * CHAIN * _THREADS}"
            body.append(f"{keeps.types[name]}* const kept_{name} = ({keeps.types[name]}*)({at}) + threadIdx.x;")
        body += [f"{keeps.types[f'in{i}']} in{i}[{CHAIN}];" for i in keeps.inputs]
        body += [
            *kernel.declare_carried(),
            "unsigned round = 0;",
            f"i64 row = blockIdx.x / {self.cluster};",
            f"for (int r = 0; r < {self.rounds}; ++r) {{",
            *self._fetch("row"),
            "}",
            *self._load("row"),
            "for (;;) {",
            "const bool live = true;",
            *kernel.enter_row(),
            next_ticket(frame),
        ]
        for phase in range(kernel.phases.last + 1):
            body += self._phase(phase)
        body += [
            *kernel.store_row_outputs("leader"),
            f"if (next >= {kernel.rows}) break;",
            "row = next;",
            "++round;",
            "}",
        ]
        return body

    # --- loads --------------------------------------------------------------------------------------------------------

    def _place(self, round_: str, live: str) -> list[str]:
        """Which segment this thread's group has in a round."""
        return [
            f"const int local = {round_} * {self.shape.groups} + group, segment = begin + local;",
            f"const bool here = {live}local < count;",
        ]

    def _offsets(self, row: str) -> list[str]:
        """The offsets o0, o1, ... of a row that is yet to come, in a scope of its own."""
        nest, kernel = self.frame.nest, self.kernel
        wide = nest.rows >= 1 << 31
        lines = [f"const i64 to = {row};"]
        lines += unravel("to" if wide else "(unsigned)to", nest.outer, self.frame.words, "r", wide=wide) if kernel.rank else []
        return lines + [f"const i64 o{i} = {offset(kernel.outer_strides[i], 'r')};" for i in self.carried.inputs]

    def _fetch(self, row: str) -> list[str]:
        """Starts the copies of round r of a row."""
        kernel, inputs = self.kernel, self.carried.inputs
        lines = ["{", *self._offsets(row), *self._place("r", f"to < {kernel.rows} && "), *kernel.first_run(inputs, "segment")]
        lines += ["#pragma unroll", f"for (int k = 0; k < {CHAIN}; ++k) {{", kernel.run_start("segment")]
        lines.append(f"if ({kernel.valid('here')}) {{")
        for i in inputs:
            base = f"b{i} + k * {LANES}"
            lines.append(f"copy_async<{self.sizes[i]}>(kept_in{i} + (r * {CHAIN} + k) * {_THREADS}, {base});")
        return [*lines, "}", "}", "commit_copies();", "}"]

    def _load(self, row: str) -> list[str]:
        """Starts the loads of a row's last round, into registers."""
        live = f"to < {self.kernel.rows} && "
        loads = self.kernel.load_runs(self.carried.inputs, "segment", "here")
        return ["{", *self._offsets(row), *self._place(str(self.rounds), live), *loads, "}"]

    # --- phases -------------------------------------------------------------------------------------------------------

    def _reductions(self, phase: int) -> list[Expr]:
        return self.reductions[phase] if phase < len(self.reductions) else []

    def _phase(self, phase: int) -> list[str]:
        kernel, reductions = self.kernel, self._reductions(phase)
        names = [f"red{phase}_{r}" for r in range(len(reductions))]
        lines = kernel.scalars(phase)
        lines += [f"{COMPUTE_TYPE[n.kind]} {name};" for n, name in zip(reductions, names, strict=True)]
        last = phase == kernel.phases.last
        lines += ["#pragma unroll 1", f"for (int r = 0; r < {self.rounds}; ++r) {{", *self._place("r", "")]
        lines += [f"wait_copies<{self.rounds - 1}>();"] if phase == 0 else []
        lines += [*self._take(phase), *self._work(phase, "shared"), *self._store_carried(phase)]
        lines += self._fetch("next") if last else ["commit_copies();"] if phase == 0 else []
        lines += ["}", "{", *self._place(str(self.rounds), ""), *self._work(phase, "registers"), "}"]
        lines += self._load("next") if last else []
        return lines + (self._exchange(phase, reductions, names) if reductions else [])

    def _take(self, phase: int) -> list[str]:
        """Brings a round from shared memory into registers: the operands that a phase reads, and the values made before."""
        keeps, v, slot = self.carried, self.shape.vector, f"(r * {CHAIN} + k) * {_THREADS}"
        inputs = [i for i in keeps.inputs if i in keeps.reads[phase]]
        lines = [f"{keeps.types[f'in{i}']} in{i}[{CHAIN}];" for i in inputs]
        lines += self.kernel.declare_carried()
        moves = [f"in{i}[k] = kept_in{i}[{slot}];" for i in inputs]
        for j, n in enumerate(keeps.values):
            if keeps.made[n] < phase and n in self.kernel.phases.elements(phase):
                one = f"const {keeps.types[f'carried{j}']} from = kept_carried{j}[{slot}];"
                moves.append(f"{{ {one} for (int v = 0; v < {v}; ++v) carried{j}[k][v] = from.v[v]; }}")
        return [*lines, "#pragma unroll", f"for (int k = 0; k < {CHAIN}; ++k) {{", *moves, "}"]

    def _store_carried(self, phase: int) -> list[str]:
        """Puts the values that a phase has made into shared memory."""
        v, slot, lines = self.shape.vector, f"(r * {CHAIN} + k) * {_THREADS}", []
        for j, n in enumerate(self.carried.values):
            if self.carried.made[n] == phase:
                kind = self.carried.types[f"carried{j}"]
                one = f"{kind} to; for (int v = 0; v < {v}; ++v) to.v[v] = carried{j}[k][v]; kept_carried{j}[{slot}] = to;"
                lines += ["#pragma unroll", f"for (int k = 0; k < {CHAIN}; ++k) {{ {one} }}"]
        return lines

    def _work(self, phase: int, place: str) -> list[str]:
        """A phase over a round that is in registers; a segment's results go to all blocks."""
        kernel, reductions = self.kernel, self._reductions(phase)
        others = [i for i in self.carried.reads[phase] if i not in self.carried.inputs]
        lines = [
            *kernel.declare_runs(others),
            *kernel.load_runs(others, "segment", "here"),
            *kernel.declare_accumulators(reductions),
            *kernel.phase_loop(phase, "segment", "here", prefix=f"{place}{phase}"),
            *kernel.leaf_values(reductions),
        ]
        for r in range(len(reductions)):
            lines.append(
                f"if (here && lane < {self.cluster}) {self.cluster_exchange.send(phase, r, 'segment', f'leaf{r}', 'lane')}"
            )
        return lines

    def _exchange(self, phase: int, reductions: Sequence[Expr], names: Sequence[str]) -> list[str]:
        """The results of all segments of the row, from the blocks that have them, and of the row, in every thread."""
        kernel, lines = self.kernel, []
        lines += [f"if (leader) {self.cluster_exchange.send_ticket()}"] if phase == 0 else []
        lines += self.cluster_exchange.arrive(phase)
        lines += ["const i64 next = tickets[round & 1];"] if phase == 0 else []
        for r, (n, name) in enumerate(zip(reductions, names, strict=True)):
            operands = f"{self.cluster_exchange.values(phase, r)}, {kernel.segments}, {identity(n)}, threadIdx.x, {_THREADS}"
            lines.append(f"{name} = tree<{OPERATION[n.attr[0]]}>({operands});")
        kernel.name_results(reductions, names)
        return lines
