"""Phases over rows that lie side by side, with what stays with the threads from phase to phase."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.codegen.cuda.cluster_exchange import ClusterExchange
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.core.layout import round_up
from baracuda.formula.expr import Expr
from baracuda.formula.order import segments
from baracuda.lowering.nest.costs import usual_cost
from baracuda.lowering.nest.cuda.clusters import STREAMS
from baracuda.lowering.nest.cuda.kernel import Frame
from baracuda.lowering.reduction.cuda.carried_values import CarriedValues
from baracuda.lowering.reduction.cuda.column_kernel import ColumnKernel, ColumnShape
from baracuda.lowering.reduction.cuda.rows import OPERATION, identity
from baracuda.runtime.program import KernelSource, Launch

#: The most segments whose results meet in shared memory at once.
BATCH = 8
#: Registers of a thread that kept operands may take, or loads in flight; twice as many where little is done with a load, which
#: is so much in additions.
REGISTERS, _LIGHT = 32, 4
#: Threads that a multiprocessor should hold, and those where they copy ahead and have twice the registers.
_THREADS, AHEAD_THREADS = 1024, 512


def carried_values(kernel: ColumnKernel, *, values: bool) -> CarriedValues:
    """What the threads of a column kernel may keep."""
    runs = {i: (kernel.run_type(i), kernel.run_bytes(i)) for i in range(kernel.frame.inputs) if kernel.varies(i)}
    return CarriedValues(kernel.phases, kernel.frame, runs, kernel.shape.vector, values=values)


class ColumnReduction:
    """A column kernel: phases over some segments, with what is kept between them.

    A block has at most `count` segments of each of its rows (all of them by default); `cluster` blocks have a row together.
    What is kept is kept in `registers` for the first segment, and in shared memory (`in_shared`) for the others. With `ahead`,
    a block takes rows of one segment after others, and while it has them in registers those after are copied to shared memory,
    each run to a place of the thread that will take it.
    """

    def __init__(
        self,
        frame: Frame,
        shape: ColumnShape,
        *,
        registers: bool = False,
        in_shared: bool = False,
        values: bool = False,
        count: int = 0,
        cluster: int = 1,
        ahead: bool = False,
    ) -> None:
        self.frame, self.shape, self.cluster, self.ahead = frame, shape, cluster, ahead
        self.registers, self.in_shared = registers, in_shared
        self.kernel = ColumnKernel(frame, shape)
        self.carried = carried_values(self.kernel, values=values and (registers or in_shared))
        total = segments(frame.nest.row_length)
        self.count = count = count or total
        #: Segments whose results meet in shared memory at once, a power of two.
        self.batch = min(BATCH, 1 << (count - 1).bit_length())
        self.one_batch = count <= self.batch
        self.single = total == 1
        self.several = count > registers
        assert self.one_batch or not (registers or in_shared), "what is kept is combined at once"
        entries = max(self.batch * shape.leaves, shape.threads // shape.rows) * shape.rows
        reductions = self.kernel.phases.reductions
        #: Where each reduction of a phase has its tree in shared memory, and where the trees end.
        self.trees_at = [_starts([entries * n.kind.itemsize for n in r]) for r in reductions]
        self.carried_at = max((starts[-1] for starts in self.trees_at), default=0)
        self.slots = (count - registers) * shape.held * shape.threads if in_shared else 0
        self.exchange_at = self.carried_at + self.slots * self.carried.run_bytes
        values_sent = [[(COMPUTE_TYPE[n.kind], n.kind.itemsize, shape.rows * cluster) for n in r] for r in reductions]
        self.cluster_exchange = (
            ClusterExchange(cluster, round_up(self.exchange_at, 16), values_sent, tickets=ahead) if cluster > 1 else None
        )
        #: Where the runs of each operand are that are copied ahead.
        self.ahead_at, end = {}, round_up(self.cluster_exchange.end if self.cluster_exchange else self.exchange_at, 128)
        for i in self.carried.inputs if ahead else ():
            self.ahead_at[i] = end
            end += shape.held * shape.threads * self.kernel.run_bytes(i)
        self.shared = end

    def names(self, phase: int) -> list[str]:
        return [f"red{phase}_{r}" for r in range(len(self.kernel.reductions(phase)))]

    def enter(self, block: str) -> list[str]:
        """Declares what the threads of a block work on, and what they keep."""
        lines, shape, keeps = self.kernel.enter(block), self.shape, self.carried
        if self.cluster_exchange and not self.ahead:
            lines += [*self.part(), "const unsigned round = 0;", *self.cluster_exchange.open()]
        if self.registers:
            lines += [f"{kind} {name}[{shape.held}];" for name, kind in keeps.types.items()]
        if self.ahead:
            lines += ["wait_copies<0>();", "#pragma unroll", f"for (int j = 0; j < {shape.held}; ++j) {{"]
            lines += [f"in{i}[j] = {self._slots(i)}[j * {shape.threads}];" for i in keeps.inputs] + ["}"]
        elif self.registers:
            lines += self._for_lanes(self.kernel.load_runs(keeps.inputs, self.part_of_row[0], f"l * {shape.chains}"), unroll=True)
        if self.in_shared:
            for name, start in keeps.starts.items():
                at = f"(char*)dynamic + {self.carried_at + start * self.slots}"
                lines.append(f"{keeps.types[name]}* const kept_{name} = ({keeps.types[name]}*)({at}) + threadIdx.x;")
        return lines

    @property
    def part_of_row(self) -> tuple[str, str]:
        """The first of a block's segments, and the one behind its last."""
        return ("begin", "end") if self.cluster > 1 else ("0", self.kernel.segments)

    def work(self) -> list[str]:
        """All phases over a block's segments, and the outputs of whole rows."""
        lines = [line for p in range(self.kernel.phases.last + 1) for line in self.phase(p, *self.part_of_row)]
        return lines + self.kernel.store_row_outputs("live && y == 0" + (" && rank == 0" if self.cluster > 1 else ""))

    def part(self) -> list[str]:
        """Declares which segments a block of a cluster has."""
        count = self.frame.words.word(self.count)
        return [
            f"const int rank = blockIdx.x % {self.cluster}, begin = rank * (int){count};",
            f"const int end = {self.kernel.segments} - begin < {count} ? {self.kernel.segments} : begin + (int){count};",
        ]

    def _slots(self, i: int) -> str:
        """Where the runs of an operand that are copied ahead begin for a thread."""
        return f"(({self.kernel.run_type(i)}*)(dynamic + {self.ahead_at[i]}) + threadIdx.x)"

    def fetch(self, block: str) -> list[str]:
        """Begins to copy what another block keeps."""
        names = [f"auto* const ahead{i} = {self._slots(i)};" for i in self.carried.inputs]
        runs = self.kernel.load_runs(self.carried.inputs, self.part_of_row[0], f"l * {self.shape.chains}", "ahead{}")
        copies = [*self.kernel.elsewhere(block, self.carried.inputs), *names, *self._for_lanes(runs, unroll=True)]
        return ["{", *copies, "}", "commit_copies();"]

    def _loads_first(self, phase: int) -> bool:
        """Whether a phase loads all of a thread's lanes before it does anything with them."""
        phases, sizes = self.kernel.phases, [self.kernel.run_bytes(i) for i in self.carried.reads[phase]]
        registers = self.shape.held * sum(sizes) // 4
        light = phase < len(phases.reductions) and sum(usual_cost(n) for n in phases.roots(phase)) <= _LIGHT
        return registers <= (2 * REGISTERS if light and not self.registers else REGISTERS)

    def _for_lanes(self, body: Sequence[str], *, unroll: bool) -> list[str]:
        """A loop over the lanes of this thread's team."""
        lanes = self.shape.lanes
        head = ["#pragma unroll" if unroll else "#pragma unroll 1", f"for (int l = 0; l < {lanes}; ++l) {{"]
        return [*head, f"const int lane = y * {lanes} + l;", *body, "}"]

    def trees(self, phase: int) -> list[str]:
        """Names the arrays in shared memory, and declares the results."""
        lines = []
        for r, (n, name) in enumerate(zip(self.kernel.reductions(phase), self.names(phase), strict=True)):
            kind = COMPUTE_TYPE[n.kind]
            lines.append(f"{kind}* const tree{phase}_{r} = ({kind}*)((char*)dynamic + {self.trees_at[phase][r]});")
            lines.append(f"{kind} {name}[{self.shape.vector}];")
        return lines

    def phase(self, phase: int, begin: str, end: str) -> list[str]:
        """A phase over the segments from `begin` to before `end`; its results get their names, in every thread."""
        kernel, shape, reductions = self.kernel, self.shape, self.kernel.reductions(phase)
        lines = kernel.scalars(phase) + self.trees(phase) + self._opaque_registers(phase)
        held = self._segment(phase, begin, "registers") if self.registers else []
        others = self._segment(phase, begin, "shared" if self.in_shared else "") if self.several else []
        if self.single:
            lines += ["{", "const int segment = 0, s = 0, batch = 1;", *held, *others]
        elif self.registers or self.in_shared:
            lines += ["{", f"const int batch = {end} - {begin};"]
            lines += ["{", f"const int s = 0, segment = {begin};", *held, "}"] if held else []
            if others:
                start = f"for (int s = {int(self.registers)}; s < batch; ++s) {{"
                lines += [start, f"const int segment = {begin} + s;", *others, "}"]
        else:
            if not self.one_batch:
                for r, n in enumerate(reductions):
                    kind = f"Counter<{OPERATION[n.attr[0]]}, {COMPUTE_TYPE[n.kind]}>"
                    lines.append(f"{kind} counter{phase}_{r}[{shape.vector}];")
            lines += [
                f"for (int first = {begin}; first < {end}; first += {self.batch}) {{",
                f"const int left = {end} - first, batch = left < {self.batch} ? left : {self.batch};",
                "for (int s = 0; s < batch; ++s) {",
                "const int segment = first + s;",
                *others,
                "}",
            ]
        lines += ["__syncthreads();"] if reductions else []
        for r, (n, name) in enumerate(zip(reductions, self.names(phase), strict=True)):
            lines.append(self.tree(n, f"tree{phase}_{r}", f"batch * {shape.leaves}", name))
            if not self.one_batch:
                push = f"counter{phase}_{r}[v].push({name}[v], (first - {begin}) / {self.batch});"
                lines += kernel.for_rows([push])
        lines.append("}")
        if not self.one_batch:
            total = f"({end} - {begin} + {self.batch - 1}) / {self.batch}"
            for r, name in enumerate(self.names(phase)):
                lines += kernel.for_rows([f"{name}[v] = counter{phase}_{r}[v].total({total});"])
        lines += self._exchange(phase) if self.cluster > 1 and reductions else []
        kernel.name_results(reductions, self.names(phase))
        return lines

    def _exchange(self, phase: int) -> list[str]:
        """Makes the results of a block's segments those of whole rows, over the blocks of a cluster."""
        assert self.cluster_exchange
        shape, reductions, lines = self.shape, self.kernel.reductions(phase), []
        if self.ahead and not phase:
            lines.append(f"if (leader) {self.cluster_exchange.send_ticket()}")
        sends = []
        for r, name in enumerate(self.names(phase)):
            at = f"rank * {shape.rows} + x * {shape.vector} + v"
            sends += self.kernel.for_rows([self.cluster_exchange.send(phase, r, at, f"{name}[v]", "to")])
        lines += [
            f"for (int to = y; to < {self.cluster}; to += {shape.teams}) {{",
            *sends,
            "}",
            *self.cluster_exchange.arrive(phase),
        ]
        lines += ["const i64 after = tickets[round & 1];"] if self.ahead and not phase else []
        for r, (n, name) in enumerate(zip(reductions, self.names(phase), strict=True)):
            lines.append(self.tree(n, self.cluster_exchange.values(phase, r), str(self.cluster), name))
        return lines

    def _opaque_registers(self, phase: int) -> list[str]:
        """Keeps the compiler from holding what it has made of kept registers, which would take more of them."""
        if not phase or not self.registers:
            return []
        again = [f"forget(in{i}[j]);" for i in self.carried.inputs if self.kernel.run_bytes(i) % 4 == 0]
        return ["#pragma unroll", f"for (int j = 0; j < {self.shape.held}; ++j) {{", *again, "}"]

    def tree(self, n: Expr, tree: str, entries: str, to: str) -> str:
        """The statement that combines entries for each row, in shared memory, into this thread's results."""
        s = self.shape
        kind = f"{OPERATION[n.attr[0]]}, {s.rows}, {s.threads}"
        return f"side_tree<{kind}>({tree}, {entries}, {identity(n)}, x * {s.vector}, {to});"

    def _segment(self, phase: int, begin: str, place: str) -> list[str]:
        """A phase over one segment, of which `place` is what keeps ("registers", "shared" or nothing); its results go to shared
        memory."""
        kernel, shape, keeps, reductions = self.kernel, self.shape, self.carried, self.kernel.reductions(phase)
        reads = keeps.reads[phase]
        carried = keeps.inputs if place else []
        known = [i for i in carried if place == "registers" or any(i in phase_reads for phase_reads in keeps.reads[:phase])]
        unrolled = place == "registers" or self._loads_first(phase)
        first = f"l * {shape.chains}" if unrolled else "0"
        slot = f"(((s - {int(self.registers)}) * {shape.lanes} + l) * {shape.chains} + k) * {shape.threads}"
        declared = [i for i in reads if place != "registers" or i not in carried]
        declare = [f"{kernel.run_type(i)} in{i}[{shape.held if unrolled else shape.chains}];" for i in declared]
        load = kernel.load_runs([i for i in reads if i not in known], "segment", first)
        if place == "shared":
            for i in (i for i in reads if i in carried):
                held, at = f"in{i}[{first} + k]", f"kept_in{i}[{slot}]"
                one = f"{held} = {at};" if i in known else f"{at} = {held};"
                load += ["#pragma unroll", f"for (int k = 0; k < {shape.chains}; ++k) {one}"]
        lanes = [f"{COMPUTE_TYPE[n.kind]} total{r}[{shape.vector}];" for r, n in enumerate(reductions)]
        levels = shape.lanes.bit_length() - 1
        if levels:
            lanes += [f"{COMPUTE_TYPE[n.kind]} hold{r}[{levels}][{shape.vector}];" for r, n in enumerate(reductions)]
        work = [*kernel.declare_accumulators(phase), *self._lane(phase, place, first, slot), *self._push(reductions, levels)]
        if unrolled:
            lanes += [*declare, *(self._for_lanes(load, unroll=True) if load else []), *self._for_lanes(work, unroll=True)]
        else:
            lanes += self._for_lanes([*declare, *load, *work], unroll=False)
        return [*lanes, *self._reduce_teams(phase)]

    def _lane(self, phase: int, place: str, first: str, slot: str) -> list[str]:
        """One lane, with kept values taken from where they are or put there."""
        kernel, keeps = self.kernel, self.carried
        if place != "shared":
            places = {n: f"carried{j}[{first} + k].v[v]" for j, n in enumerate(keeps.values)}
            return kernel.lane_loop(phase, first, places, f"p{phase}", [], [])
        used = set(kernel.phases.elements(phase))
        before, after = [], []
        for j, n in enumerate(keeps.values):
            if keeps.made[n] < phase and n in used:
                before.append(f"const {keeps.types[f'carried{j}']} carried{j} = kept_carried{j}[{slot}];")
            elif keeps.made[n] == phase:
                before.append(f"{keeps.types[f'carried{j}']} carried{j};")
                after.append(f"kept_carried{j}[{slot}] = carried{j};")
        places = {n: f"carried{j}.v[v]" for j, n in enumerate(keeps.values)}
        return kernel.lane_loop(phase, first, places, f"shared{phase}", before, after)

    def _push(self, reductions: Sequence[Expr], levels: int) -> list[str]:
        """After lane l: combine its results with as many waiting ones as l ends in ones, and let them wait."""
        lines = []
        for level in range(levels):
            merge, wait = [], []
            for r, n in enumerate(reductions):
                merge.append(f"acc{r}[v] = {OPERATION[n.attr[0]]}::of(hold{r}[{level}][v], acc{r}[v]);")
                wait.append(f"hold{r}[{level}][v] = acc{r}[v];")
            if reductions:
                lines += [f"if (l & {1 << level}) {{", *self.kernel.for_rows(merge), "} else {", *self.kernel.for_rows(wait)]
                lines += ["continue;", "}"]
        return [*lines, *self.kernel.for_rows([f"total{r}[v] = acc{r}[v];" for r in range(len(reductions))])]

    def _reduce_teams(self, phase: int) -> list[str]:
        """The results of a segment: over the teams of a warp by shuffles, then to shared memory."""
        s, lines = self.shape, []
        for r, n in enumerate(self.kernel.reductions(phase)):
            first, leaf = (f"threadIdx.x % 32 < {s.across}", "threadIdx.x / 32") if s.across < 32 else ("true", "y")
            at = f"tree{phase}_{r}[(s * {s.leaves} + {leaf}) * {s.rows} + x * {s.vector} + v]"
            if s.across < 32:
                lines += self.kernel.for_rows([f"total{r}[v] = across<{OPERATION[n.attr[0]]}, 32, {s.across}>(total{r}[v]);"])
            lines += [f"if ({first}) {{", *self.kernel.for_rows([f"{at} = total{r}[v];"]), "}"]
        return lines

    def launch(self, body: Sequence[str], blocks: int) -> Launch:
        threads, definitions = self.shape.threads, self.kernel.definitions()
        if self.cluster_exchange:
            definitions = self.cluster_exchange.definitions + definitions
        if self.ahead:
            definitions = STREAMS + definitions
        held = (AHEAD_THREADS if self.ahead else _THREADS) // threads
        source = self.frame.kernel(body, threads, definitions, blocks=max(1, min(2, held)), cluster=self.cluster)
        return Launch(KernelSource(source), (blocks, 1, 1), threads, self.shared, self.cluster)


def _starts(sizes: Sequence[int]) -> list[int]:
    """Where blocks of some sizes begin, one after another, and the end; on bounds of 32 bytes."""
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + round_up(size, 32))
    return starts
