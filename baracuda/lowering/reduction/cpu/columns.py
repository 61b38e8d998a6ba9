"""Passes over rows that lie side by side: vectors run across rows, each lane a row with its own canonical order."""

from __future__ import annotations

from collections.abc import Mapping

from baracuda.codegen.llvm.evaluate import Evaluator, Group
from baracuda.codegen.llvm.ir import Value, i64
from baracuda.codegen.llvm.lanes import load_at, load_lanes, store_lanes
from baracuda.codegen.llvm.memory import load
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.codegen.llvm.tree import VectorStack, identity, join, order_free
from baracuda.formula.expr import Expr
from baracuda.formula.order import CHAIN, LANES, SEGMENT
from baracuda.lowering.nest.cpu.analysis import RowAnalysis
from baracuda.lowering.nest.cpu.kernel import Kernel
from baracuda.lowering.nest.cpu.streaming import leaves_cache
from baracuda.lowering.nest.indexed_reads import moving_axes

#: Elements along a row by which reading is ahead of computing.
_AHEAD = 2
#: Bytes by which it is ahead along what is read at an index, and those of a stretch, read between those of others, from which
#: on the hardware does that better (a bag of 8 rows of 1024 elements, time against PyTorch's: bf16 0.74 without and 1.05 with
#: it, f32 1.34 without and 0.99 with it).
_FURTHER, _FORESEEN = 384, 256


class ColumnPasses:
    """Emits the passes of `count` vectors of rows into a kernel; the rows follow one another along the last outer axis.

    `left` is how many rows there are where that may be fewer than the lanes of the one vector, else None.
    """

    def __init__(self, kernel: Kernel, analysis: RowAnalysis, count: int) -> None:
        self.kernel = kernel
        self.b = kernel.b
        self.analysis = analysis
        self.count = count
        self.lanes = kernel.lanes
        nest = kernel.nest
        self.length = kernel.integer(nest.row_length)
        self.axis = len(nest.outer) - 1
        self.inner = range(len(nest.outer), len(nest.outer) + len(nest.inner))
        self.extents = kernel.integers(nest.inner)
        self.strides = {i: kernel.byte_strides(i, self.inner) for i in range(len(nest.operands))}
        self.across = {i: kernel.byte_strides(i, [self.axis])[0] for i in range(len(nest.operands))}
        self.step = {i: o.steps(self.axis) for i, o in enumerate(nest.operands)}
        sizes = {i: nest.operands[i].kind.itemsize for i, _ in analysis.element_outputs}
        self.streamable = bool(sizes) and all(self.step[i] == 1 and self.lanes * s >= 16 for i, s in sizes.items())
        self.wanted = kernel.integer(int(leaves_cache(nest)))
        self.left: Value | None = None
        moving = moving_axes(nest)
        #: The indexed reads whose offset is the same for all rows side by side.
        self.together = {n for n in nest.graph.nodes if n.op == "gather" and self.axis not in moving[n.args[0]]}
        self.rows = self._of_rows()

    def _of_rows(self) -> Evaluator:
        """Of what is the same for a whole row, a lane for each row."""
        return Evaluator(self.b, self.lanes, self.count, self._row_leaf, gather=lambda n, o: self._gathered(n, o, self.pointers))

    def begin(self, pointers: Mapping[int, Value], indices: list[Value], remaining: Value | None = None) -> None:
        """New rows: the addresses of the first one's first element, its outer indices, and how many rows, if not all."""
        self.pointers = dict(pointers)
        self.indices = indices
        self.left = remaining
        self.rows = self._of_rows()

    def set_result(self, n: Expr, value: Group) -> None:
        """The finished values of a reduction over these rows."""
        self.rows.memo[n] = value

    # --- leaves -------------------------------------------------------------------------------------------------------

    def _vectors(self, index: int, pointer: Value) -> Group:
        """An operand at one element of all rows."""
        b, lanes = self.b, self.lanes
        kind = self.kernel.nest.operands[index].kind
        if self.step[index] == 0:
            return [b.splat(load(b, kind, pointer, 1), lanes)] * self.count
        stride = None if self.step[index] == 1 else self.across[index]
        vectors = []
        for i in range(self.count):
            at = b.at(pointer, i * lanes * kind.itemsize if stride is None else b.mul(stride, i * lanes))
            vectors.append(load_lanes(b, kind, at, lanes, stride, self.left))
        return vectors

    def _gathered(self, n: Expr, offsets: Group, pointers: Mapping[int, Value]) -> Group:
        """An indexed read at one element of all rows, whose operands are at these addresses."""
        b, index, kind = self.b, self.kernel.input_index[n.attr.name], n.attr.storage
        if n in self.together:
            pointer = b.at(pointers[index], b.mul(b.extract(offsets[0], 0), kind.itemsize))
            if self.step[index] == 1 and self._contiguous_bytes(index) < _FORESEEN:
                self._prefetch_element(index, b.at(pointer, _FURTHER))
            return self._vectors(index, pointer)
        return [load_at(b, kind, pointers[index], o) for o in offsets]

    def _row_leaf(self, n: Expr) -> Group | None:
        b, lanes = self.b, self.lanes
        if n.op == "param":
            return [b.splat(self.kernel.param(n), lanes)] * self.count
        if n.op == "coord":
            start = b.splat(b.convert("trunc", self.indices[n.attr], "i32"), lanes)
            if n.attr != self.axis:
                return [start] * self.count
            first = b.op("add", start, b.iota(lanes))
            step = Value(first.type, f"splat (i32 {lanes})")
            indices = [first]
            for _ in range(self.count - 1):
                indices.append(b.op("add", indices[-1], step))
            return indices
        if n.op == "gather":
            return None
        assert n.op == "input", f"{n} is used before the pass that computes it"
        index = self.kernel.input_index[n.attr[0]]
        return self._vectors(index, self.pointers[index])

    def _at(self, position: Value, operands: list[int]) -> tuple[dict[int, Value], list[Value]]:
        """The addresses, and the inner indices, of one element of the first row."""
        b = self.b
        indices: list[Value] = []
        rest = position
        for axis in range(len(self.extents) - 1, -1, -1):
            indices.insert(0, b.rem(rest, self.extents[axis]) if axis else rest)
            if axis:
                rest = b.div(rest, self.extents[axis])
        pointers = {}
        for i in operands:
            pointer = self.pointers[i]
            for index, stride in zip(indices, self.strides[i], strict=True):
                pointer = b.at(pointer, b.mul(index, stride))
            pointers[i] = pointer
        return pointers, indices

    def _evaluator(self, position: Value) -> Evaluator:
        b, inputs = self.b, len(self.kernel.nest.graph.inputs)
        pointers, indices = self._at(position, list(range(inputs)))

        def leaf(n: Expr) -> Group | None:
            if n.op == "gather":
                return None
            if n.op == "position":
                return [b.splat(b.convert("trunc", position, compute_type(n.kind)), self.lanes)] * self.count
            if n.op == "coord":
                index = indices[n.attr - self.inner[0]]
                return [b.splat(b.convert("trunc", index, "i32"), self.lanes)] * self.count
            index = self.kernel.input_index[n.attr[0]]
            return self._vectors(index, pointers[index])

        active = None
        if self.left is not None:
            valid = b.splat(b.convert("trunc", self.left, "i32"), self.lanes)
            active = [b.compare("icmp slt", b.iota(self.lanes), valid)] * self.count
        return Evaluator(b, self.lanes, self.count, leaf, self.rows, active, lambda n, o: self._gathered(n, o, pointers))

    def _prepare(self, roots: list[Expr]) -> None:
        for n in self.analysis.uniform(roots, set()):
            self.rows.value(n)

    def _contiguous_bytes(self, index: int) -> int:
        """Bytes of an operand that lie side by side at one element of all rows."""
        return self.count * self.lanes * self.kernel.nest.operands[index].kind.itemsize

    def _prefetch_element(self, index: int, pointer: Value) -> None:
        """Begin to fetch an operand at one element of all rows."""
        for line in range(0, self._contiguous_bytes(index), 64):
            self.b.prefetch(self.b.at(pointer, line))

    def _prefetch(self, roots: list[Expr], position: Value) -> None:
        """Ask for what the pass reads a few elements further on: rows apart, no hardware foresees it."""
        b = self.b
        cone = self.analysis.cone(roots, set())
        used = [self.kernel.input_index[n.attr[0]] for n in cone if n.op == "input"]
        chosen = [i for i in used if self.step[i] == 1]
        ahead = b.min(b.add(position, i64(_AHEAD)), b.sub(self.length, 1))
        pointers, _ = self._at(ahead, chosen)
        for i in chosen:
            self._prefetch_element(i, pointers[i])

    def prepare(self, p: int) -> None:
        """Compute what pass p needs of whole rows."""
        self._prepare(self.analysis.roots(p))

    def element(self, p: int, position: Value) -> list[Group]:
        """What the reductions of pass p take of one element of all rows."""
        return self._evaluator(position).values(n.args[0] for n in self.analysis.reductions[p])

    # --- passes -------------------------------------------------------------------------------------------------------

    def reduce(self, p: int, first: Value, last: Value) -> dict[Expr, Group]:
        """Pass p over the segments from `first` to before `last` (at least one): the results of its reductions."""
        b, lanes, count = self.b, self.lanes, self.count
        reductions, roots = self.analysis.reductions[p], self.analysis.roots(p)
        self._prepare(roots)
        begin, end = b.mul(first, SEGMENT), b.min(b.mul(last, SEGMENT), self.length)
        totals = {n: [b.variable(identity(n, lanes)) for _ in range(count)] for n in reductions}
        ordered = [n for n in reductions if not order_free(n)]

        def element(position: Value) -> None:
            evaluator = self._evaluator(position)
            for n in reductions:
                for total, v in zip(totals[n], evaluator.value(n.args[0]), strict=True):
                    total.set(join(b, n, total.get(), v))

        if not ordered:
            with b.loop(begin, end) as position:
                self._prefetch(roots, position)
                element(position)
            return {n: [t.get() for t in totals[n]] for n in reductions}
        stacks = {n: VectorStack(b, n, lanes, count) for n in ordered}
        with b.loop(begin, end, SEGMENT) as start, b.loop(start, b.min(b.add(start, i64(LANES)), end)) as lane:
            for n in ordered:
                for total in totals[n]:
                    total.set(identity(n, lanes))
            with b.loop(lane, b.min(b.add(start, i64(CHAIN * LANES)), end), LANES) as position:
                self._prefetch(roots, position)
                element(position)
            for n in ordered:
                stacks[n].push([t.get() for t in totals[n]])
        return {n: stacks[n].result(count) if n in stacks else [t.get() for t in totals[n]] for n in reductions}

    def write_elements(self, first: Value, last: Value) -> None:
        """The outputs that vary along the rows, over the segments from `first` to before `last`."""
        b = self.b
        outputs = self.analysis.element_outputs
        roots = self.analysis.roots(self.analysis.passes)
        self._prepare(roots)
        begin, end = b.mul(first, SEGMENT), b.min(b.mul(last, SEGMENT), self.length)

        def element(position: Value, *, streaming: bool) -> None:
            self._prefetch(roots, position)
            evaluator = self._evaluator(position)
            groups = [evaluator.value(e) for _, e in outputs]
            pointers, _ = self._at(position, [i for i, _ in outputs])
            for (index, _), group in zip(outputs, groups, strict=True):
                self._store(index, group, pointers[index], streaming=streaming)

        if self.streamable and self.left is None:
            go = b.compare("icmp ne", self.wanted, 0)
            for index, _ in outputs:
                address = b.emit("i64", f"ptrtoint ptr {self.pointers[index].name} to i64")
                for stride in self.strides[index]:
                    address = b.or_(address, stride)
                low = self.lanes * self.kernel.nest.operands[index].kind.itemsize - 1
                go = b.op("and", go, b.equal(b.and_(address, low), 0))
            with b.if_(go):
                with b.loop(begin, end) as position:
                    element(position, streaming=True)
                b.line("fence seq_cst")
            begin = b.select(go, end, begin)
        with b.loop(begin, end) as position:
            element(position, streaming=False)

    def write_row(self) -> None:
        """The outputs with one element a row."""
        for index, expr in self.analysis.row_outputs:
            self._store(index, self.rows.value(expr), self.pointers[index])

    def _store(self, index: int, group: Group, pointer: Value, *, streaming: bool = False) -> None:
        b, lanes = self.b, self.lanes
        kind = self.kernel.nest.operands[index].kind
        stride = None if self.step[index] == 1 else self.across[index]
        for i, v in enumerate(group):
            at = b.at(pointer, i * lanes * kind.itemsize if stride is None else b.mul(stride, i * lanes))
            store_lanes(b, kind, v, at, stride, self.left, streaming=streaming)
