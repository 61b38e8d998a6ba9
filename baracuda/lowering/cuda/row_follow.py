"""Long rows that every phase reads, and memory gives up once: a phase of a row follows the one before while the row is in L2.

One launch of as many blocks as run at once. They take items in order from a counter: a chunk of a row, in one phase. Slot t has
the chunks of row t for phase 0, those of row t-d for phase 1, and so on; the distance d is so large that a phase's chunks are
mostly done when the next one needs their results, and so small that a row is still in the cache. An item leaves a partial result
for each of its phase's reductions, and one of the next phase waits until all of its row's have arrived, and combines them.

The loads of a block's next item run while it works on this one: each thread copies its own runs to shared memory, and takes
them to registers when their turn has come.
"""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.formula.expr import Axes, Expr
from baracuda.formula.gathers import gathers
from baracuda.formula.order import CHAIN, LANES, segments
from baracuda.lowering.cuda.clusters import STREAMS
from baracuda.lowering.cuda.handing import HANDING, clearing, left_bytes
from baracuda.lowering.cuda.kernel import INDEX_LIMIT, Frame, Launch, Lowered, Target, offset, piece, unravel
from baracuda.lowering.cuda.prelude import COMPUTE_TYPE
from baracuda.lowering.cuda.row_clusters import LIGHT, dearest
from baracuda.lowering.cuda.rows import OPERATION, RowKernel, RowShape, identity
from baracuda.lowering.phases import Phases
from baracuda.lowering.problem import Nest

#: Blocks of a multiprocessor, and what each has of shared memory beside its item.
_BLOCKS, _RESERVED = 4, 4096
#: Bytes of L2 that rows between their phases may take, and of a row's inputs at most.
_CACHED, _ROW = 24 << 20, 8 << 20
#: Rows at least: fewer leave no distance between phases.
_LEAST_ROWS = 4
#: Items between the phases of a row for each block that runs: one that it holds, and some for those that lag.
_BETWEEN = 1.25
#: Partial results that a thread combines at most, and items at most, so that 32 bits count them.
_MOST_PARTIALS, _MOST_ITEMS = 4, 1 << 30


def lower_following_rows(frame: Frame, target: Target, vector: int) -> Lowered | None:
    """Lower a nest of long rows; None where it has one phase, or rows do not fit, or loads could not run ahead, or it would
    not be faster: L2 gives no more than 1.3 times what memory does, and a multiprocessor is not full. Microseconds on an H200
    (2026-11-21, 256 rows of 1,000,000 f32), following, by clusters, and a launch for each phase: var 388, 457, 466; normalize
    705, 627, 759; logsumexp 502, 516, 464; softmin 980, 1,139, 991.
    """
    nest = frame.nest
    if len(nest.inner) != 1 or nest.row_length % vector or nest.rows < _LEAST_ROWS or gathers(nest.graph):
        return None
    if Phases(nest.graph).full_outputs or dearest(nest) > LIGHT:
        return None
    return _FollowingRows(frame, vector, target).lower() if _FollowingRows(frame.trial(), vector, target).fits else None


def _row_bytes(nest: Nest) -> int:
    """Bytes of the inputs that have each row's elements."""
    held = zip(nest.operands, nest.graph.inputs, strict=False)
    return nest.row_length * sum(o.kind.itemsize for o, p in held if p.axes == Axes.FULL)


class _FollowingRows:
    """One layout of items, and its kernel."""

    def __init__(self, frame: Frame, vector: int, target: Target) -> None:
        self.frame, nest = frame, frame.nest
        group, varying = LANES // vector, [i for i, p in enumerate(frame.ports[: frame.inputs]) if p.axes & Axes.INNER]
        self.sizes = {i: vector * frame.operands[i].kind.itemsize for i in varying}
        self.run_bytes = max(4, sum(-(-size // 16) * 16 for size in self.sizes.values()))
        threads = max(group, 64)
        while 2 * threads * self.run_bytes * CHAIN <= frame.tuning.item_bytes and threads < 512:
            threads *= 2
        self.shape = RowShape(vector, group, CHAIN, threads // group, 1)
        self.kernel = RowKernel(frame, self.shape, resident=False)
        self.reductions = self.kernel.phases.reductions
        #: The phases, which read the row, and all steps: what a row has one of takes one more, of one item.
        self.whole = len(self.reductions)
        self.steps = self.whole + 1
        self.chunks = -(-segments(nest.row_length) // self.shape.groups)
        self.shared = self.run_bytes * CHAIN * threads
        per_multiprocessor = min(_BLOCKS, target.shared_bytes // (self.shared + _RESERVED), 2048 // threads)
        self.per_multiprocessor = max(1, per_multiprocessor)
        blocks = target.multiprocessors * self.per_multiprocessor
        self.slot = self.whole * self.chunks + 1
        wanted = -(-int(_BETWEEN * blocks) // self.slot)
        cached = max(1, _CACHED // max(1, _row_bytes(nest)))
        self.distance = min(wanted, cached, nest.rows)
        self.items = (nest.rows + (self.steps - 1) * self.distance) * self.slot
        self.blocks = min(blocks, self.items)
        #: Where each reduction has its partial results, behind the counter; the last is the end.
        self.results_at = [8]
        for n in (n for group in self.reductions for n in group):
            self.results_at.append(self.results_at[-1] + left_bytes(n.kind) * nest.rows * self.chunks)
        #: Partial results that a thread combines, a power of two.
        self.partials = 1
        while self.partials * threads < self.chunks:
            self.partials *= 2
        axes = (*nest.outer, *nest.inner)
        ahead = all(
            piece(nest.operands[i], vector, self.kernel.inner_last, axes) * nest.operands[i].kind.itemsize >= min(16, size)
            and nest.operands[i].steps(self.kernel.inner_last) == 1
            and size % 4 == 0
            for i, size in self.sizes.items()
        )
        self.fits = (
            ahead
            and self.whole > 1
            and _row_bytes(nest) <= _ROW
            and self.partials <= _MOST_PARTIALS
            and self.items < _MOST_ITEMS
            and self.shared + _RESERVED <= target.shared_bytes
        )

    def lower(self) -> Lowered:
        frame, threads = self.frame, self.shape.threads
        first, body = clearing(frame, self.results_at[-1]), self._body()
        definitions = STREAMS + HANDING + self.kernel.definitions()
        source = frame.kernel(body, threads, definitions, blocks=self.per_multiprocessor)
        launches = (first, Launch(source, (self.blocks, 1, 1), threads, self.shared))
        name = f"rows following by {self.distance} v{self.shape.vector} t{threads} c{self.chunks}"
        return Lowered(launches, tuple(frame.words.values), self.results_at[-1], name)

    def _body(self) -> list[str]:
        kernel, frame, threads = self.kernel, self.frame, self.shape.threads
        items = frame.words.unsigned(self.items)
        body = [
            "extern __shared__ __align__(128) unsigned char dynamic[];",
            "__shared__ unsigned tickets[2];",
            *self._shared_arrays(),
            *frame.pointers(),
            *kernel.place(),
            *self._constants(),
            "if (threadIdx.x == 0) { tickets[0] = atomicAdd(counter, 1u); tickets[1] = atomicAdd(counter, 1u); }",
            "__syncthreads();",
            "unsigned item = tickets[0], next = tickets[1];",
            "__syncthreads();",
            *self._fetch("item"),
            f"for (int parity = 0; item < {items}; parity ^= 1) {{",
            *self._decode("item"),
            f"const bool live = row >= 0 && row < {kernel.rows};",
            *kernel.enter_row(),
            *kernel.declare_runs(list(self.sizes)),
            "wait_copies<0>();",
            "#pragma unroll",
            f"for (int k = 0; k < {CHAIN}; ++k) {{ {' '.join(f'in{i}[k] = ahead{i}[k * {threads}];' for i in self.sizes)} }}",
            *self._fetch("next"),
            "unsigned after = 0;",
            "if (threadIdx.x == 0) after = atomicAdd(counter, 1u);",
            f"const int segment = chunk * {self.shape.groups} + group;",
            f"const bool here = live && segment < {kernel.segments};",
        ]
        outer = kernel.emitter
        for step in range(self.steps):
            kernel.emitter = outer.child()
            body += [f"{'else ' if step else ''}if (live && phase == {step}) {{", *self._step(step), "}"]
        kernel.emitter = outer
        return [*body, "else {", *self._hand_over(), "}", "item = next;", "next = tickets[parity];", "}"]

    def _shared_arrays(self) -> list[str]:
        """Where the results of a chunk's groups meet, for items in turn; those of a row's chunks; and the runs loaded ahead."""
        s, lines, at = self.shape, [], 0
        for p, reductions in enumerate(self.reductions):
            for r, n in enumerate(reductions):
                kind = COMPUTE_TYPE[n.kind]
                lines.append(f"__shared__ {kind} leaves{p}_{r}[2][{s.groups * s.leaves}], parts{p}_{r}[{s.threads // 32}];")
        for i, size in self.sizes.items():
            run = f"Vec<{self.frame.storage(i)}, {s.vector}>"
            lines.append(f"{run}* const ahead{i} = ({run}*)(dynamic + {at}) + threadIdx.x;")
            at += -(-size // 16) * 16 * CHAIN * s.threads
        return lines

    def _constants(self) -> list[str]:
        """The counters, the results, and what an item's number is divided by."""
        words = self.frame.words
        return [
            f"unsigned* const counter = (unsigned*){self.frame.workspace()};",
            *(f"const u64 results{j} = {self.frame.workspace(at)};" for j, at in enumerate(self.results_at[:-1])),
            f"const unsigned chunks = {words.unsigned(self.chunks)}, slot_items = {words.unsigned(self.slot)};",
            f"const u64 by_chunks = {words.divisor(self.chunks)}, by_slot = {words.divisor(self.slot)};",
            f"const i64 distance = {words.signed(self.distance)};",
        ]

    def _decode(self, item: str) -> list[str]:
        """Which row, phase and chunk an item is."""
        return [
            f"const unsigned time = divide({item}, by_slot), place = {item} - time * slot_items;",
            "const unsigned phase = divide(place, by_chunks), chunk = place - phase * chunks;",
            "const i64 row = (i64)time - (i64)phase * distance;",
        ]

    def _fetch(self, item: str) -> list[str]:
        """Starts the copies of an item's runs, of the operands that its phase reads."""
        kernel, nest, threads = self.kernel, self.frame.nest, self.shape.threads
        lines = ["{", *self._decode(item)]
        wide = nest.rows >= INDEX_LIMIT
        lines += unravel("row" if wide else "(unsigned)row", nest.outer, self.frame.words, "r", wide=wide) if kernel.rank else []
        lines += [f"const i64 o{i} = {offset(kernel.outer_strides[i], 'r')};" for i in self.sizes]
        lines += [
            f"const int segment = chunk * {self.shape.groups} + group;",
            f"const bool here = phase < {self.whole} && row >= 0 && row < {kernel.rows} && segment < {kernel.segments};",
            *kernel.first_run(list(self.sizes), "segment"),
            "#pragma unroll",
            f"for (int k = 0; k < {CHAIN}; ++k) {{",
            kernel.run_start("segment"),
        ]
        for i, size in self.sizes.items():
            phases = [p for p, read in enumerate(kernel.phases.inputs_read) if self.frame.ports[i].name in read]
            read = "" if len(phases) == self.whole else f" && ({' || '.join(f'phase == {p}' for p in phases) or 'false'})"
            copy = f"copy_async<{size}>(ahead{i} + k * {threads}, b{i} + k * {LANES});"
            lines.append(f"if ({kernel.valid('here')}{read}) {copy}")
        return [*lines, "}", "commit_copies();", "}"]

    def _step(self, step: int) -> list[str]:
        """An item of a phase, or of what a row has one of."""
        kernel, s = self.kernel, self.shape
        lines = self._combine(step)
        if step == self.whole:
            return [*lines, *kernel.store_row_outputs("threadIdx.x == 0"), *self._hand_over()]
        reductions = self.reductions[step]
        lines += kernel.scalars(step) + kernel.declare_accumulators(reductions)
        lines += kernel.phase_loop(step, "segment", "here") + kernel.leaf_values(reductions)
        for r in range(len(reductions)):
            at = f"leaves{step}_{r}[parity][group * {s.leaves} + lane / 32]"
            lines.append(f"if (lane % 32 == 0) {at} = leaf{r};")
        return [*lines, *self._hand_over(), *self._leave(step, reductions)]

    def _hand_over(self) -> list[str]:
        """The end of an item for most threads: the item after the next is known to all, and all have left their results."""
        return ["if (threadIdx.x == 0) tickets[parity] = after;", "__syncthreads();"]

    def _result(self, phase: int, r: int, chunk: str) -> str:
        """The address of the partial result of a chunk."""
        number, size = sum(len(group) for group in self.reductions[:phase]) + r, left_bytes(self.reductions[phase][r].kind)
        return f"results{number} + {size} * (row * chunks + {chunk})"

    def _leave(self, phase: int, reductions: Sequence[Expr]) -> list[str]:
        """The partial results of this chunk, from its groups', for whoever waits for them."""
        count, lines = self.shape.groups * self.shape.leaves, ["if (threadIdx.x < 32) {"]
        for r, n in enumerate(reductions):
            own = f"threadIdx.x < {count} ? leaves{phase}_{r}[parity][threadIdx.x] : {identity(n)}"
            lines += [
                f"const {COMPUTE_TYPE[n.kind]} all{r} = across<{OPERATION[n.attr[0]]}, 32>({own});",
                f"if (threadIdx.x == 0) leave({self._result(phase, r, 'chunk')}, all{r});",
            ]
        return [*lines, "}"]

    def _combine(self, step: int) -> list[str]:
        """The results of all phases before a step, in every thread, once all chunks have left theirs."""
        if step == 0:
            return []
        found = [(p, r, n) for p in range(step) for r, n in enumerate(self.reductions[p])]
        each, own = self.partials, f"threadIdx.x * {self.partials} + i"
        lines, finds = [], []
        for p, r, n in found:
            lines += [
                f"{COMPUTE_TYPE[n.kind]} of{p}_{r}[{each}];",
                "#pragma unroll",
                f"for (int i = 0; i < {each}; ++i) of{p}_{r}[i] = {identity(n)};",
            ]
            finds.append(f"there &= find({self._result(p, r, f'({own})')}, of{p}_{r}[i]);")
        lines += [
            "for (;;) {",
            "bool there = true;",
            "#pragma unroll",
            f"for (int i = 0; i < {each}; ++i) if ({own} < chunks) {{ {' '.join(finds)} }}",
            "if (there) break;",
            "nap();",
            "}",
        ]
        for p, r, n in found:
            part = f"across<{OPERATION[n.attr[0]]}, 32>(pairs<{OPERATION[n.attr[0]]}, {each}>(of{p}_{r}))"
            lines.append(f"{{ const auto part = {part}; if (threadIdx.x % 32 == 0) parts{p}_{r}[threadIdx.x / 32] = part; }}")
        lines.append("__syncthreads();")
        warps = self.shape.threads // 32
        for p, r, n in found:
            part = f"threadIdx.x % 32 < {warps} ? parts{p}_{r}[threadIdx.x % 32] : {identity(n)}"
            lines.append(f"const {COMPUTE_TYPE[n.kind]} red{p}_{r} = across<{OPERATION[n.attr[0]]}, 32>({part});")
        for p in range(step):
            self.kernel.name_results(self.reductions[p], [f"red{p}_{r}" for r in range(len(self.reductions[p]))])
        return lines
