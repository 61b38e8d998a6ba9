"""Scans of rows that lie side by side: vectors run across rows, and each lane scans its own row.

Short rows whose elements are neighbours are turned around in a buffer first, so that they lie side by side as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from baracuda.codegen.llvm.evaluate import Group
from baracuda.codegen.llvm.ir import Value, constant, i64, vector
from baracuda.codegen.llvm.memory import stored_type
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.codegen.llvm.transpose import transpose_tile
from baracuda.formula.expr import Expr
from baracuda.formula.order import SCAN_BLOCK, SCAN_CHUNK
from baracuda.lowering.nest.cpu.analysis import RowAnalysis
from baracuda.lowering.nest.cpu.kernel import Kernel
from baracuda.lowering.reduction.cpu.columns import ColumnPasses
from baracuda.lowering.scan.cpu.state import BLOCKS, CHUNKS, Carry, State, chosen, combined, get_all, set_all, state_variables
from baracuda.lowering.scan.problem import ScanGroup, scan_groups

#: Bytes that a vector in a local array takes at most.
_SLOT = 64
#: Rows of at most so many neighbouring elements are turned around.
TURNED = 96


class _Scanned:
    """One scan in a kernel: what each element's chunk gives it, the chunks' totals, and the carry."""

    def __init__(self, kernel: Kernel, group: ScanGroup, count: int) -> None:
        b = kernel.b
        self.b, self.group, self.lanes, self.count = b, group, kernel.lanes, count
        self.carry = Carry(b, group, kernel.lanes, count)
        self.elements = [b.array("i8", SCAN_BLOCK * count * _SLOT) for _ in group.kinds]
        self.totals = [b.array("i8", CHUNKS * count * _SLOT) for _ in group.kinds]
        self.running = state_variables(b, group, kernel.lanes, count)

    def _slot(self, array: Value, index: Value, v: int) -> Value:
        return self.b.at(array, self.b.mul(self.b.add(self.b.mul(index, self.count), v), _SLOT))

    def put(self, arrays: list[Value], index: Value, state: State) -> None:
        for array, values in zip(arrays, state, strict=True):
            for v, value in enumerate(values):
                self.b.store(value, self._slot(array, index, v), _SLOT)

    def get(self, arrays: list[Value], index: Value) -> State:
        types = [vector(compute_type(kind), self.lanes) for kind in self.group.kinds]
        return [
            [self.b.load(type_, self._slot(array, index, v), _SLOT) for v in range(self.count)]
            for type_, array in zip(types, arrays, strict=True)
        ]

    def steps(self, chunks: Value) -> None:
        """Each chunk's total becomes that of the block up to and including it; from the last one down, in place."""
        b = self.b
        distance = b.variable(i64(1))
        with b.while_(lambda: b.less(distance.get(), chunks)):
            d = distance.get()
            with b.loop(d, chunks) as i:
                j = b.sub(b.add(d, b.sub(chunks, 1)), i)
                earlier, own = self.get(self.totals, b.sub(j, d)), self.get(self.totals, j)
                self.put(self.totals, j, combined(b, self.group.combine, earlier, own))
            distance.set(b.mul(d, 2))

    def before(self, chunk: Value, carried: State, follows: Value) -> tuple[State, Value]:
        """All before a chunk of the block, and whether that is anything."""
        b = self.b
        later = b.compare("icmp sgt", chunk, 0)
        within = self.get(self.totals, b.select(later, b.sub(chunk, 1), i64(0)))
        both = combined(b, self.group.combine, carried, within)
        return chosen(b, later, chosen(b, follows, both, within), carried), b.op("or", later, follows)


class ColumnScans(ColumnPasses):
    """Emits the scans of `count` vectors of rows into a kernel; the rows follow one another along the last outer axis."""

    def __init__(self, kernel: Kernel, analysis: RowAnalysis, count: int) -> None:
        super().__init__(kernel, analysis, count)
        groups = scan_groups(kernel.nest.graph)
        self.reverse = groups[0].reverse
        self.scans = [_Scanned(kernel, g, count) for g in groups]
        self.operands = list(dict.fromkeys(x for g in groups for x in g.operands))
        self.turned: dict[int, Value] = {}
        self.pitch: dict[int, Value] = {}

    # --- short rows ---------------------------------------------------------------------------------------------------

    def transpose(self) -> None:
        """Take operands whose elements are neighbours along the row through buffers."""
        nest = self.kernel.nest
        for i, o in enumerate(nest.operands):
            if self.analysis.access[i] == "unit" and self.step[i] != 1:
                self.turned[i] = self.b.array(stored_type(o.kind), TURNED * self.count * self.lanes)
                self.pitch[i] = self.across[i]
                self.step[i] = 1
                self.strides[i] = [i64(self.count * self.lanes * o.kind.itemsize)]
                zeros = Value(vector("i8", 64), "zeroinitializer")
                with self.b.loop(0, TURNED * self.count * self.lanes * o.kind.itemsize, 64) as at:
                    self.b.store(zeros, self.b.at(self.turned[i], at), 64)

    def begin(self, pointers: Mapping[int, Value], indices: list[Value], remaining: Value | None = None) -> None:
        super().begin(pointers, indices, remaining)
        self.memory = {i: self.pointers[i] for i in self.turned}
        self.pointers |= self.turned
        for i in self.turned:
            if i < len(self.kernel.nest.graph.inputs):
                self._transpose(i, back=False)

    def finish(self) -> None:
        """Bring turned outputs to where they belong."""
        for i in self.turned:
            if i >= len(self.kernel.nest.graph.inputs):
                self._transpose(i, back=True)

    def _transpose(self, i: int, *, back: bool) -> None:
        kind = self.kernel.nest.operands[i].kind
        rows = i64(self.count * self.lanes) if self.left is None else self.left
        memory, local = (self.memory[i], self.pitch[i]), (self.turned[i], self.strides[i][0])
        source, target = (local, memory) if back else (memory, local)
        extents = (self.length, rows) if back else (rows, self.length)
        transpose_tile(self.b, kind, self.kernel.target.vector_bits, extents, *source, *target)

    def _prefetch(self, roots: list[Expr], position: Value) -> None:
        if not self.turned:
            super()._prefetch(roots, position)

    # --- scans --------------------------------------------------------------------------------------------------------

    def _position(self, number: Value) -> Value:
        """Where in memory the element of this number in the scan is."""
        return self.b.sub(self.b.sub(self.length, 1), number) if self.reverse else number

    def run(self, first: Value, last: Value, before: Callable[[Value], None] | None = None, *, apply: bool = True) -> None:
        """Elements `first` (the first of a block) to before `last`, in the order of the scan. `before` is called with the
        number of each block before it is worked on."""
        b = self.b
        outputs = self.analysis.element_outputs if apply else []
        self._prepare([*self.operands, *(e for _, e in outputs)])
        with b.loop(first, last, SCAN_BLOCK) as start:
            number, m = b.div(start, SCAN_BLOCK), b.min(b.sub(last, start), SCAN_BLOCK)
            if before is not None:
                before(number)
            with b.loop(0, m, SCAN_CHUNK) as chunk:
                self._serial(start, chunk, m)
            chunks = b.div(b.add(m, SCAN_CHUNK - 1), SCAN_CHUNK)
            for s in self.scans:
                s.steps(chunks)
            if apply:
                with b.loop(0, m, SCAN_CHUNK) as chunk:
                    self._write(start, chunk, m, number)
            for s in self.scans:
                full = s.carry.add_block(number, s.get(s.totals, b.sub(chunks, 1)))
                if apply:
                    with b.if_(full):
                        s.carry.add_tile(b.shr(number, BLOCKS.bit_length() - 1))

    def _states(self, position: Value) -> list[State]:
        evaluator = self._evaluator(position)
        values = {x: evaluator.value(x) for x in self.operands}
        return [[values[x] for x in s.group.operands] for s in self.scans]

    def _serial(self, start: Value, chunk: Value, m: Value) -> None:
        """Scan a chunk from its first element."""
        b = self.b
        for s, state in zip(self.scans, self._states(self._position(b.add(start, chunk))), strict=True):
            set_all(s.running, state)
            s.put(s.elements, chunk, state)
        with b.loop(b.add(chunk, 1), b.min(b.add(chunk, SCAN_CHUNK), m)) as i:
            position = self._position(b.add(start, i))
            if not self.reverse:
                self._prefetch(self.operands, position)
            for s, state in zip(self.scans, self._states(position), strict=True):
                state = combined(b, s.group.combine, get_all(s.running), state)
                set_all(s.running, state)
                s.put(s.elements, i, state)
        for s in self.scans:
            s.put(s.totals, b.div(chunk, SCAN_CHUNK), get_all(s.running))

    def _write(self, start: Value, chunk: Value, m: Value, number: Value) -> None:
        """The outputs at the elements of a chunk."""
        b, lanes = self.b, self.lanes
        outputs = self.analysis.element_outputs
        begins: list[tuple[State, Value]] = []
        for s in self.scans:
            carried, follows = s.carry.before(number)
            before, anything = s.before(b.div(chunk, SCAN_CHUNK), carried, follows)
            begins.append((before, anything))
            bits = [constant(compute_type(i.kind), i.attr, lanes) for i in s.group.combine.identity]
            set_all(s.running, chosen(b, anything, before, [[i] * self.count for i in bits]))
        with b.loop(chunk, b.min(b.add(chunk, SCAN_CHUNK), m)) as i:
            position = self._position(b.add(start, i))
            evaluator = self._evaluator(position)
            for s, (before, anything) in zip(self.scans, begins, strict=True):
                within = s.get(s.elements, i)
                inclusive = chosen(b, anything, combined(b, s.group.combine, before, within), within)
                exclusive = get_all(s.running)
                for n in s.group.nodes:
                    evaluator.memo[n] = (exclusive if n.attr.exclusive else inclusive)[n.attr.component]
                set_all(s.running, inclusive)
            groups: list[Group] = [evaluator.value(e) for _, e in outputs]
            pointers, _ = self._at(position, [index for index, _ in outputs])
            for (index, _), group in zip(outputs, groups, strict=True):
                self._store(index, group, pointers[index])
