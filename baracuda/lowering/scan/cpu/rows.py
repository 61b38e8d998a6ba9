"""Scans along rows whose elements are neighbours: block after block of 256, in vectors whose lanes are chunks.

Vectors of neighbouring elements are turned so that vector k holds element k of every chunk; seven combinations then scan all
chunks at once, the steps over their totals are shuffles, and the results are turned back. What is left of a row at its end
goes through buffers of one block: what lies beyond the last element comes after everything, and so reaches nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from baracuda.codegen.llvm.copying import copy_run
from baracuda.codegen.llvm.evaluate import Evaluator, Group
from baracuda.codegen.llvm.ir import Value, constant, i64, vector
from baracuda.codegen.llvm.memory import load, store_all, store_bytes, stored_type
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.formula.expr import Expr
from baracuda.formula.order import SCAN_BLOCK, SCAN_CHUNK, SEGMENT
from baracuda.lowering.nest.costs import vector_cost
from baracuda.lowering.nest.cpu.analysis import RowAnalysis
from baracuda.lowering.nest.cpu.kernel import Kernel
from baracuda.lowering.nest.cpu.segments import Segments
from baracuda.lowering.nest.cpu.streaming import Streaming
from baracuda.lowering.scan.cpu.state import BLOCKS, CHUNKS, BlockSteps, Carry, State, chosen, combined, lane_mask, unzip, zipped
from baracuda.lowering.scan.problem import ScanGroup

#: Bytes that a vector in a local array takes at most.
_SLOT = 64
#: Elements that are asked for together where memory is walked backwards.
_STRETCH = 16384


class Windows(Segments):
    """The segments of a row, numbered from its end where scans run backwards."""

    def __init__(self, kernel: Kernel, analysis: RowAnalysis, *, reverse: bool) -> None:
        super().__init__(kernel, analysis)
        self.reverse = reverse
        for axis in self.coords:  # the block at the beginning of a row may begin before it
            self.coords[axis] = self.b.at(self.b.array("i32", 2 * SCAN_BLOCK + SEGMENT), 4 * SCAN_BLOCK)

    def _window(self, segment: Value, following: Callable[[Value], Value]) -> tuple[Value, Value]:
        first, count = super()._window(segment, following)
        if not self.reverse:
            return first, count
        b = self.b
        return b.sub(b.sub(self.length, first), count), count


class _Scanned:
    """One scan in a kernel: its local arrays, its steps, its carry."""

    def __init__(self, kernel: Kernel, group: ScanGroup) -> None:
        b, lanes = kernel.b, kernel.lanes
        self.b, self.group, self.lanes = b, group, lanes
        self.steps = BlockSteps(b, group, lanes)
        self.carry = Carry(b, group, lanes, 1)
        slots = CHUNKS // lanes * (SCAN_CHUNK + 2)
        self.arrays = [b.array("i8", slots * _SLOT) for _ in group.kinds]
        with b.at_entry():
            for c in range(len(group.kinds)):  # groups of a last block that do not exist are read, and reach nothing
                for g in range(self.steps.count):
                    b.store(Value(self.type(c), "zeroinitializer"), b.at(self.arrays[c], self.total(g)), _SLOT)

    def type(self, c: int) -> str:
        return vector(compute_type(self.group.kinds[c]), self.lanes)

    def total(self, g: int) -> int:
        """Where the totals of the chunks of vector group g are, in bytes; behind them comes what is before each chunk."""
        return (self.steps.count * SCAN_CHUNK + g) * _SLOT

    def put(self, state: State, at: Value) -> None:
        for c, (value,) in enumerate(state):
            self.b.store(value, self.b.at(self.arrays[c], at), _SLOT)

    def get(self, at: Value) -> State:
        return [[self.b.load(self.type(c), self.b.at(a, at), _SLOT)] for c, a in enumerate(self.arrays)]

    def serial(self, operands: list[Group], g: Value) -> None:
        """Scan the chunks of group g, given in the order of memory, each from its first element."""
        turned = [unzip(self.b, values) for values in operands]
        order = range(SCAN_CHUNK - 1, -1, -1) if self.group.reverse else range(SCAN_CHUNK)
        state: State = []
        for i, k in enumerate(order):
            element = [[values[k]] for values in turned]
            state = combined(self.b, self.group.combine, state, element) if i else element
            self.put(state, self.b.mul(self.b.add(self.b.mul(g, SCAN_CHUNK), k), _SLOT))
        self.put(state, self.b.add(self.b.mul(g, _SLOT), self.total(0)))

    def block(self, number: Value) -> State:
        """What is before each chunk of block `number`; returns the block's total."""
        b, steps = self.b, self.steps
        count = steps.count
        groups = [self.get(i64(self.total(g))) for g in range(count)]
        totals = steps.run([[state[c][0] for state in groups] for c in range(len(self.arrays))])
        start, follows = self.carry.before(number)
        spread = [[value] * count for (value,) in start]
        before = [steps.moved(values, 1) for values in totals]
        before = chosen(b, follows, combined(b, self.group.combine, spread, before), before)
        for g, first in enumerate(steps.first(1)):
            prefix: State = [[values[g]] for values in before]
            if any(first):
                prefix = chosen(b, lane_mask(self.lanes, first), start, prefix)
            self.put(prefix, i64(self.total(count + g)))
        return steps.last(totals)

    def results(self, g: Value, number: Value) -> dict[Expr, Group]:
        """The values of the scan's nodes at the elements of group g, in the order of memory."""
        b, combine = self.b, self.group.combine
        before = self.get(b.add(b.mul(g, _SLOT), self.total(self.steps.count)))
        at = next(i for i, first in enumerate(self.steps.first(1)) if any(first))
        nothing = Value(vector("i1", self.lanes), "zeroinitializer")
        begins = b.op("and", b.compare("icmp eq", number, 0), b.compare("icmp eq", g, at))
        alone = b.select(begins, lane_mask(self.lanes, self.steps.first(1)[at]), nothing)
        order = range(SCAN_CHUNK - 1, -1, -1) if self.group.reverse else range(SCAN_CHUNK)
        inclusive: dict[int, State] = {}
        for k in order:
            within = self.get(b.mul(b.add(b.mul(g, SCAN_CHUNK), k), _SLOT))
            inclusive[k] = chosen(b, alone, within, combined(b, combine, before, within))
        results: dict[Expr, Group] = {}
        for n in self.group.nodes:
            c = n.attr.component
            values = [inclusive[k][c][0] for k in range(SCAN_CHUNK)]
            if n.attr.exclusive:
                identity = combine.identity[c]
                start = b.select(alone, constant(compute_type(identity.kind), identity.attr, self.lanes), before[c][0])
                values = [*values[1:], start] if self.group.reverse else [start, *values[:-1]]
            results[n] = zipped(b, values)
        return results


class RowScans:
    """Emits the scans of one row, or of whole tiles of it, into a kernel."""

    def __init__(self, kernel: Kernel, analysis: RowAnalysis, groups: list[ScanGroup], *, apply: bool = True) -> None:
        self.kernel, self.analysis, self.groups = kernel, analysis, groups
        self.b, self.lanes = kernel.b, kernel.lanes
        self.reverse = groups[0].reverse
        self.windows = Windows(kernel, analysis, reverse=self.reverse)
        self.scans = [_Scanned(kernel, g) for g in groups]
        self.outputs = analysis.element_outputs if apply else []
        self.streaming = Streaming(kernel, analysis, [i for i, _ in self.outputs])
        self.operands = list(dict.fromkeys(x for g in groups for x in g.operands))
        self.stop = {n for g in groups for n in g.nodes}
        self.buffers: dict[int, Value] = {}
        self.pointers: dict[int, Value] = {}
        self.position = i64(0)
        self.row = Evaluator(self.b, 1, 1, self._row_leaf)

    # --- elements -----------------------------------------------------------------------------------------------------

    def begin(self, pointers: Mapping[int, Value], indices: list[Value]) -> None:
        """A new row: the addresses of its first element and its outer indices."""
        self.row_pointers, self.indices = dict(pointers), indices
        self.windows.row = self.row_pointers
        self.row = Evaluator(self.b, 1, 1, self._row_leaf)
        for n in self.analysis.uniform([*self.operands, *(e for _, e in self.outputs)], set()):
            self.row.value(n)

    def _row_leaf(self, n: Expr) -> Group:
        if n.op == "param":
            return [self.kernel.param(n)]
        if n.op == "coord":
            return [self.b.convert("trunc", self.indices[n.attr], "i32")]
        return [load(self.b, n.attr[1], self.row_pointers[self.kernel.input_index[n.attr[0]]], 1)]

    def _evaluator(self, count: int, offset: Value) -> Evaluator:
        """Nodes at `count` vectors that begin `offset` elements into the block."""
        b, lanes = self.b, self.lanes

        def leaf(n: Expr) -> Group:
            vectors = []
            for i in range(count):
                at = b.add(offset, i * lanes)
                if n.op == "coord":
                    vectors.append(self.windows.coordinate(n.attr, b.add(self.position, at), lanes))
                elif n.op == "position":
                    vectors.append(self.windows.number(n.kind, b.add(self.position, at), lanes))
                else:
                    kind, index = n.attr[1], self.kernel.input_index[n.attr[0]]
                    vectors.append(load(b, kind, b.at(self.pointers[index], b.mul(at, kind.itemsize)), lanes))
            return vectors

        return Evaluator(b, lanes, count, leaf, self.row)

    def _together(self, roots: list[Expr], stop: set[Expr]) -> int:
        """How many vectors to work on side by side."""
        cost = sum(map(vector_cost, self.analysis.cone(roots, stop)))
        return 8 if cost < 12 else 4 if cost < 40 else 2

    # --- blocks -------------------------------------------------------------------------------------------------------

    def _block(self, number: Value, groups: tuple[Value, Value], streaming: Value | None) -> None:
        """The block at `pointers`, of whose vector groups those from the first to before the second exist."""
        b, each = self.b, SCAN_CHUNK * self.lanes
        count = self._together(self.operands, set())
        with b.loop(*groups) as g:
            if self.reverse:
                self._prefetch(b.mul(g, each))
            values: dict[Expr, Group] = {x: [] for x in self.operands}
            for first in range(0, SCAN_CHUNK, count):
                evaluator = self._evaluator(count, b.add(b.mul(g, each), first * self.lanes))
                for x in self.operands:
                    values[x] += evaluator.value(x)
            for s in self.scans:
                s.serial([values[x] for x in s.group.operands], g)
        totals = [s.block(number) for s in self.scans]
        if self.outputs:
            with b.loop(*groups) as g:
                self._write(g, number, streaming)
        for s, total in zip(self.scans, totals, strict=True):
            last = s.carry.add_block(number, total)
            if self.outputs:
                with b.if_(last):
                    s.carry.add_tile(b.shr(number, BLOCKS.bit_length() - 1))

    def _prefetch(self, offset: Value) -> None:
        """Ask for what is read and written in the stretch after this one. No hardware foresees memory that is walked
        backwards; a stretch asked for in rising order it does. Behind the beginning of a row comes the end of the next one,
        as rows mostly lie."""
        b = self.b
        stretch = b.div(self.position, _STRETCH)
        ahead = b.sub(b.mul(stretch, 2 * _STRETCH), b.add(self.position, SCAN_BLOCK))
        ahead = b.add(b.add(ahead, b.select(b.less(ahead, 0), b.mul(self.windows.length, 2), i64(0))), offset)
        for i, pointer in self.windows.pointers.items():
            if self.analysis.access[i] == "unit":
                size = self.kernel.nest.operands[i].kind.itemsize
                for line in range(0, SCAN_CHUNK * self.lanes * size, 64):
                    b.prefetch(b.at(b.at(pointer, b.mul(ahead, size)), line))

    def _write(self, g: Value, number: Value, streaming: Value | None) -> None:
        b, each = self.b, SCAN_CHUNK * self.lanes
        results: dict[Expr, Group] = {}
        for s in self.scans:
            results |= s.results(g, number)
        roots = [e for _, e in self.outputs]
        count = self._together(roots, self.stop)
        for first in range(0, SCAN_CHUNK, count):
            start = b.add(b.mul(g, each), first * self.lanes)
            evaluator = self._evaluator(count, start)
            evaluator.memo |= {n: values[first : first + count] for n, values in results.items()}
            for (index, _), group in zip(self.outputs, evaluator.values(roots), strict=True):
                kind = self.kernel.nest.operands[index].kind
                pointer = b.at(self.pointers[index], b.mul(start, kind.itemsize))
                if streaming is None:
                    store_all(b, kind, group, pointer)
                    continue
                with b.if_(streaming):
                    store_all(b, kind, group, pointer, streaming=True)
                with b.else_(streaming):
                    store_all(b, kind, group, pointer)

    def _streams(self, whole: Value) -> Value | None:
        """Whether the block at `pointers` may be stored past the cache."""
        if not self.streaming.possible or not self.outputs:
            return None
        b = self.b
        go = b.op("and", whole, b.compare("icmp ne", self.streaming.wanted, 0))
        for index, _ in self.outputs:
            low = store_bytes(self.kernel.nest.operands[index].kind, self.lanes, 8) - 1
            address = b.emit("i64", f"ptrtoint ptr {self.pointers[index].name} to i64")
            go = b.op("and", go, b.equal(b.and_(address, low), 0))
        return go

    def run(self, first: Value, last: Value, before: Callable[[Value], None] | None = None) -> None:
        """Segments `first` to before `last` of the row, in the order of the scan. `before` is called with the number of each
        block before it is worked on."""
        b = self.b
        outputs = [i for i, _ in self.outputs]
        roots = [*self.operands, *(e for _, e in self.outputs)]
        each = SCAN_CHUNK * self.lanes
        with self.windows.each(first, last, roots=roots, outputs=outputs) as m:
            start = self.windows.first
            if self.reverse:
                start = b.sub(b.sub(self.windows.length, start), m)
            with b.loop(0, m, SCAN_BLOCK) as offset:
                number = b.div(b.add(start, offset), SCAN_BLOCK)
                remaining = b.min(b.sub(m, offset), SCAN_BLOCK)
                whole = b.equal(remaining, SCAN_BLOCK)
                inside = b.sub(b.sub(m, offset), SCAN_BLOCK) if self.reverse else offset
                shift = b.sub(SCAN_BLOCK, remaining) if self.reverse else i64(0)
                self.position = inside
                self._enter_block(whole, inside, remaining, shift)
                existing = b.div(b.add(remaining, each - 1), each)
                count = SCAN_BLOCK // each
                if before is not None:
                    before(number)
                groups = (b.sub(count, existing), i64(count)) if self.reverse else (i64(0), existing)
                self._block(number, groups, self._streams(whole))
                self._leave_block(whole, inside, remaining, shift)

    def _moved(self, i: int) -> tuple[int, Value]:
        kind = self.kernel.nest.operands[i].kind
        if i not in self.buffers:
            self.buffers[i] = self.b.array(stored_type(kind), SCAN_BLOCK)
            with self.b.at_entry():
                zeros = Value(vector("i8", SCAN_BLOCK * kind.itemsize), "zeroinitializer")
                self.b.store(zeros, self.buffers[i], 64)
        return kind.itemsize, self.buffers[i]

    def _enter_block(self, whole: Value, inside: Value, remaining: Value, shift: Value) -> None:
        """Set `pointers` to the block: in memory where it is whole, else to buffers."""
        b = self.b
        self.pointers = {}
        varying = [i for i in self.windows.pointers if self.analysis.access[i] != "zero"]
        for i in varying:
            size, buffer = self._moved(i)
            pointer = b.at(self.windows.pointers[i], b.mul(inside, size))
            self.pointers[i] = b.select(whole, pointer, buffer)
        with b.else_(whole):
            for i in varying:
                if i < len(self.kernel.nest.graph.inputs):
                    self._copy(i, inside, remaining, shift, out=False)

    def _leave_block(self, whole: Value, inside: Value, remaining: Value, shift: Value) -> None:
        with self.b.else_(whole):
            for i, _ in self.outputs:
                self._copy(i, inside, remaining, shift, out=True)

    def _copy(self, i: int, inside: Value, remaining: Value, shift: Value, *, out: bool) -> None:
        b = self.b
        size, buffer = self._moved(i)
        memory = b.at(self.windows.pointers[i], b.mul(b.add(inside, shift), size))
        local = b.at(buffer, b.mul(shift, size))
        target, source = (memory, local) if out else (local, memory)
        copy_run(b, self.kernel.nest.operands[i].kind, self.lanes, remaining, target, None, source, None)
