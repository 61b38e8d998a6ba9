"""Passes over a row: reductions in the canonical order, then the outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from baracuda.codegen.llvm.evaluate import Evaluator, Group
from baracuda.codegen.llvm.ir import Value, i64, vector
from baracuda.codegen.llvm.lanes import load_at
from baracuda.codegen.llvm.memory import load, store, store_all
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.codegen.llvm.tree import Accumulator, VectorStack, identity, order_free
from baracuda.formula.expr import READS, Expr, topological
from baracuda.formula.order import LANES
from baracuda.lowering.nest.blocks import shared_by_blocks
from baracuda.lowering.nest.costs import vector_cost
from baracuda.lowering.nest.cpu.analysis import RowAnalysis
from baracuda.lowering.nest.cpu.kernel import Kernel
from baracuda.lowering.nest.cpu.segments import Segments
from baracuda.lowering.nest.cpu.streaming import Streaming

#: Bytes of a thread's stack that a kernel keeps intermediate values of a row in.
SCRATCH_BYTES = 128 << 10
#: Instructions a block of 128 lanes may unroll to; longer bodies are looped over.
_UNROLLED = 500


#: Neighbours that share values at most.
_MOST_SHARED = 4
#: Called with the evaluator of a group of vectors, its offset in the segment and its mask.
Extra = Callable[[Evaluator, Value, Value | None], None]


def scratch_fits(analysis: RowAnalysis) -> bool:
    """Whether the kept values of a whole row have room on the stack."""
    each = sum(n.kind.itemsize for nodes in analysis.carried for n in nodes)
    return each * (analysis.nest.row_length + LANES) <= SCRATCH_BYTES


class RowPasses:
    """Emits the passes of one row into a kernel.

    Between passes the results of reductions are scalars of `row`, the evaluator of what is the same for a whole row.
    """

    def __init__(self, kernel: Kernel, analysis: RowAnalysis, *, keep: bool) -> None:
        self.kernel = kernel
        self.b = kernel.b
        self.analysis = analysis
        self.lanes = kernel.lanes
        self.streaming = Streaming(kernel, analysis, [i for i, _ in analysis.element_outputs])
        self.length = kernel.integer(analysis.nest.row_length)
        self.segments = Segments(kernel, analysis)
        self.scratch: dict[Expr, Value] = {}
        if keep:
            each = sum(n.kind.itemsize for nodes in analysis.carried for n in nodes)
            for n in (n for nodes in analysis.carried for n in nodes):
                self.scratch[n] = self.b.array(compute_type(n.kind), SCRATCH_BYTES // each)
        self.at_hand: set[Expr] = set()
        self.row = self._of_row()

    # --- what is the same for a row ---------------------------------------------------------------------------------

    def begin(self, pointers: Mapping[int, Value], indices: list[Value]) -> None:
        """A new row: the addresses of its first element and its outer indices."""
        self.pointers = dict(pointers)
        self.segments.row = self.pointers
        self.indices = indices
        self.row = self._of_row()
        self.at_hand = set()
        for n, i in self.analysis.followed.items():
            (offset,) = self.row.value(n.args[0])
            size = self.kernel.nest.operands[i].kind.itemsize
            self.pointers[i] = self.b.at(self.pointers[i], self.b.mul(offset, size))

    def _of_row(self) -> Evaluator:
        return Evaluator(self.b, 1, 1, self._row_leaf, gather=self._gathered)

    def _gathered(self, n: Expr, offsets: Group) -> Group:
        """An indexed read with an address for each element."""
        pointer = self.pointers[self.kernel.input_index[n.attr.name]]
        return [load_at(self.b, n.attr.storage, pointer, offset) for offset in offsets]

    def _row_leaf(self, n: Expr) -> Group | None:
        if n.op == "gather" and n not in self.analysis.followed:
            return None
        if n.op == "param":
            return [self.kernel.param(n)]
        if n.op == "coord":
            return [self.b.convert("trunc", self.indices[n.attr], "i32")]
        assert n.op in READS, f"{n} is used before the pass that computes it"
        return [load(self.b, n.attr[1], self.pointers[self.kernel.input_index[n.attr[0]]], 1)]

    def set_result(self, n: Expr, value: Group) -> None:
        """The finished value of a reduction over this row."""
        self.row.memo[n] = value

    def _prepare(self, roots: list[Expr]) -> None:
        for n in self.analysis.uniform(roots, self.at_hand):
            self.row.value(n)

    # --- vectors of a row -------------------------------------------------------------------------------------------

    def _evaluator(self, count: int, offset: Value, mask: Value | None) -> Evaluator:
        """Nodes at `count` vectors that begin `offset` elements into the current segment."""
        b, lanes = self.b, self.lanes

        def leaf(n: Expr) -> Group | None:
            if n.op == "gather" and n not in self.analysis.followed:
                return None
            vectors = []
            for i in range(count):
                position = b.add(offset, i * lanes)
                if n.op == "coord":
                    vectors.append(self.segments.coordinate(n.attr, position, lanes))
                elif n.op == "position":
                    vectors.append(self.segments.number(n.kind, position, lanes))
                else:
                    kind = n.attr[1]
                    pointer = self.segments.pointers[self.kernel.input_index[n.attr[0]]]
                    vectors.append(load(b, kind, b.at(pointer, b.mul(position, kind.itemsize)), lanes, mask))
            return vectors

        evaluator = Evaluator(b, lanes, count, leaf, self.row, None if mask is None else [mask] * count, self._gathered)
        for n in self.scratch:  # in its order: that of a set would show in the kernel's text
            if n in self.at_hand:
                type_ = vector(compute_type(n.kind), lanes)
                evaluator.memo[n] = [b.load(type_, self._scratch_at(n, offset, i), n.kind.itemsize) for i in range(count)]
        return evaluator

    def _scratch_at(self, n: Expr, offset: Value, i: int) -> Value:
        position = self.b.add(self.b.add(self.segments.first, offset), i * self.lanes)
        return self.b.at(self.scratch[n], self.b.mul(position, n.kind.itemsize))

    def _store_carried(self, p: int, evaluator: Evaluator, offset: Value) -> None:
        for n in self.analysis.carried[p]:
            if n in self.scratch:
                for i, v in enumerate(evaluator.value(n)):
                    self.b.store(v, self._scratch_at(n, offset, i), n.kind.itemsize)

    def mask(self, remaining: Value) -> Value:
        """The first `left` lanes."""
        b = self.b
        return b.compare("icmp slt", b.iota(self.lanes), b.splat(b.convert("trunc", remaining, "i32"), self.lanes))

    def cost(self, roots: list[Expr]) -> int:
        return sum(map(vector_cost, self.analysis.cone(roots, self.at_hand))) + len(roots)

    def group(self, cost: int, most: int) -> int:
        """How many vectors to work on side by side."""
        count = 4 if cost < 40 else 2
        return min(count if cost >= 8 else 8, most)

    # --- reductions ---------------------------------------------------------------------------------------------------

    def reduce(self, p: int, first: Value, last: Value) -> dict[Expr, Group]:
        """Pass p over the segments from `first` to before `last` (at least one): the results of its reductions."""
        b, lanes = self.b, self.lanes
        reductions, roots = self.analysis.reductions[p], self.analysis.roots(p)
        self._prepare(roots)
        cost = self.cost(roots)
        in_runs = self.segments.in_runs(roots)
        registers = cost * LANES // lanes <= _UNROLLED and not in_runs
        count = self.group(cost, LANES // lanes)
        sums = {n: Accumulator(b, n, lanes, registers=registers) for n in reductions}
        stacks = {n: VectorStack(b, n, 1, 1) for n in reductions if not order_free(n)}
        for accumulator in sums.values():
            accumulator.reset()

        def block(start: Value, positions: range, mask: Value | None = None) -> None:
            evaluator = self._evaluator(len(positions), start, mask)
            for n in reductions:
                for i, v in zip(positions, evaluator.value(n.args[0]), strict=True):
                    if mask is not None:
                        sums[n].add_at(b.and_(start, LANES - 1), b.select(mask, v, identity(n, lanes)))
                    elif registers:
                        sums[n].add(i, v)
                    else:
                        sums[n].add_at(b.and_(b.add(start, i * lanes), LANES - 1), v)
            self._store_carried(p, evaluator, start)

        def contiguous(m: Value) -> None:
            whole = b.and_(m, -LANES)
            if registers:
                with b.loop(0, whole, LANES) as start:
                    for g in range(0, LANES // lanes, count):
                        block(b.add(start, g * lanes), range(g, g + count))
            else:
                with b.loop(0, whole, count * lanes) as start:
                    block(start, range(count))
            with b.if_(b.less(whole, m)):
                for accumulator in sums.values():
                    accumulator.spill()
                with b.loop(whole, m, lanes) as start:
                    block(start, range(1), self.mask(b.sub(m, start)))
                for accumulator in sums.values():
                    accumulator.reload()

        with self.segments.each(first, last, roots=roots, copied=not in_runs) as m:
            for n in stacks:
                sums[n].reset()
            if in_runs:
                with self.segments.pieces(roots, m) as (begin, end):
                    grouped = b.add(begin, b.and_(b.sub(end, begin), -count * lanes))
                    with b.loop(begin, grouped, count * lanes) as start:
                        block(start, range(count))
                    with b.loop(grouped, end, lanes) as start:
                        block(start, range(1))
            else:
                contiguous(m)
            for n, stack in stacks.items():
                stack.push([sums[n].result()])
        self.at_hand |= {n for n in self.analysis.carried[p] if n in self.scratch}
        return {n: stacks[n].result(1) if n in stacks else [sums[n].result()] for n in reductions}

    # --- outputs ------------------------------------------------------------------------------------------------------

    def write_elements(self, first: Value, last: Value, extra: Extra | None = None) -> None:
        """The last pass over the segments from `first` to before `last`: outputs that vary along the row.

        extra is called for each group of vectors.
        """
        b, lanes = self.b, self.lanes
        outputs = self.analysis.element_outputs
        roots = self.analysis.roots(self.analysis.passes)
        self._prepare(roots)
        loops = any(n.op == "loop" for n in topological(roots))  # whose code stands once for each vector
        neighbours, shared = (0, []) if loops else self._shared()
        count = 1 if loops else neighbours if shared else self.group(self.cost(roots), 8)

        def block(start: Value, mask: Value | None, *, streaming: bool = False) -> None:
            evaluator = self._evaluator(count if mask is None else 1, start, mask)
            if shared and mask is None:
                evaluator.memo |= self._repeated(shared, neighbours, start)
            groups = [evaluator.value(e) for _, e in outputs]
            for (index, _), group in zip(outputs, groups, strict=True):
                kind = self.kernel.nest.operands[index].kind
                pointer = b.at(self.segments.pointers[index], b.mul(start, kind.itemsize))
                if mask is None:
                    store_all(b, kind, group, pointer, streaming=streaming)
                else:
                    store(b, kind, group[0], pointer, mask)
            if extra is not None:
                extra(evaluator, start, mask)

        with self.segments.each(first, last, roots=roots, outputs=[i for i, _ in outputs]) as m:
            head = i64(0)
            if self.streaming.possible:
                go, head = self.streaming.start(self.segments.pointers, m)
                with b.loop(0, head, lanes) as start:
                    block(start, self.mask(b.sub(head, start)))
            whole = b.add(head, b.and_(b.sub(m, head), -count * lanes))
            if shared:  # by blocks that begin with a vector; else all elements are a rest
                whole = b.select(b.equal(b.and_(b.add(self._number(), head), neighbours - 1), 0), whole, head)
            if self.streaming.possible:
                with b.if_(go), b.loop(head, whole, count * lanes) as start:
                    block(start, None, streaming=True)
                ordinary = b.select(go, whole, head)
            else:
                ordinary = head
            with b.loop(ordinary, whole, count * lanes) as start:
                block(start, None)
            with b.loop(whole, m, lanes) as start:
                block(start, self.mask(b.sub(m, start)))

    def _shared(self) -> tuple[int, list[Expr]]:
        """How many neighbours along the row share what, where their number is a coordinate."""
        graph, axes = self.analysis.nest.graph, self.segments.axes
        if len(axes) != 1 or self.analysis.passes or self.lanes % _MOST_SHARED:
            return 0, []
        return shared_by_blocks(graph, axes[0], _MOST_SHARED, lambda n: self.analysis.varying[n])

    def _number(self) -> Value:
        """The coordinate of the current segment's first element."""
        return self.b.add(self.segments.origin, self.segments.first)

    def _repeated(self, shared: list[Expr], neighbours: int, start: Value) -> dict[Expr, Group]:
        """What blocks of neighbours share, a vector of blocks at a time, for as many vectors of elements as a block has."""
        b, lanes = self.b, self.lanes
        first = b.splat(b.convert("trunc", b.add(self._number(), start), "i32"), lanes)
        blocks = ", ".join(f"i32 {i * neighbours}" for i in range(lanes))
        numbers = [b.op("add", first, Value(first.type, f"<{blocks}>"))]
        evaluator = Evaluator(b, lanes, 1, lambda n: numbers if n.op == "coord" else None, self.row)
        places = [[(j * lanes + i) // neighbours for i in range(lanes)] for j in range(neighbours)]
        return {n: [b.shuffle(evaluator.value(n)[0], None, at) for at in places] for n in shared}

    def write_row(self) -> None:
        """The outputs with one element a row."""
        for index, expr in self.analysis.row_outputs:
            store(self.b, self.kernel.nest.operands[index].kind, self.row.value(expr)[0], self.pointers[index])
