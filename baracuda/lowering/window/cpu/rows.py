"""The kernel of folds over windows: a unit of work is a part of a row of outputs along one axis.

Along that axis the outputs are taken in vectors. Where all taps of a vector are there, its code asks nothing; at the ends of a
row, a mask says of each tap which lanes have it. Where the input is dilated (the gradient of strided windows), the outputs that
have the same taps are taken together, and written so many apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baracuda.codegen.llvm.evaluate import Evaluator, Group
from baracuda.codegen.llvm.ir import Builder, Value, Variable, constant, i64, vector
from baracuda.codegen.llvm.lanes import load_at, load_lanes, store_lanes
from baracuda.codegen.llvm.memory import load, stored_type, widen
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.formula.expr import Axes, Expr, topological
from baracuda.lowering.nest.costs import vector_cost
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.lowering.sort.cpu.code import Integers, StepBuilder
from baracuda.lowering.window.cpu.outputs import Lanes
from baracuda.lowering.window.cpu.pairs import PAIRED, Pairs
from baracuda.lowering.window.cpu.rules import CLASSES, ClassTable, StridedRule, Taps, class_taps, placed_taps, shared_taps
from baracuda.lowering.window.problem import Placed, Shared, Strided, Window
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

#: Outputs of a row to a unit of work at most, and vectors side by side, but of formulas that take longer than this.
_CHUNK, _COUNT, _LONG = 4096, 4, 60


class WindowRows:
    def __init__(self, problem: Window, integers: Integers, target: CpuTarget, axis: int | None) -> None:
        self.problem, self.axis, self.target = problem, axis, target
        self.code = StepBuilder(integers, target)
        self.b: Builder = self.code.b
        self.rank, self.inputs = len(problem.axes), len(problem.graph.inputs)
        self.ports = (*problem.graph.inputs, *(p for p, _ in problem.graph.outputs))
        self.number = {p.name: i for i, p in enumerate(problem.graph.inputs)}
        self.folds = problem.folds
        kinds = [n.kind for fold in self.folds for n in (*topological(fold.args), *fold.combine.nodes)]
        kinds += [] if self.folds else [e.kind for _, e in problem.graph.outputs]
        self.lanes = 1 if axis is None else target.vector_bits // max([32, *(k.bits for k in kinds)])
        nodes = {n for fold in self.folds for n in (*topological(fold.args), *fold.combine.nodes)} | set(problem.graph.nodes)
        self.count = _COUNT if sum(map(vector_cost, nodes)) <= _LONG else 1
        self.outer = [a for a in problem.walk if a != axis]
        code = self.code
        self.extents = {a: code.integer(of.extent) for a, of in enumerate(problem.axes)}
        self.sources = {a: code.integer(of.source) for a, of in enumerate(problem.axes)}
        self.strides = {i: code.numbers([s * o.kind.itemsize for s in o.strides]) for i, o in enumerate(problem.operands)}
        self.rules = {a: StridedRule(code, problem.axes[a]) for a in problem.windowed if self._strided(a)}
        self._params: dict[Expr, Value] = {}
        #: Where the two classes of a row lie until it is written.
        self.pairs: Pairs | None = None
        #: The taps of each class, where there are not many.
        self.table: ClassTable | None = None

    def _strided(self, axis: int) -> bool:
        return isinstance(self.problem.axes[axis].rule, Strided)

    # --- the whole ------------------------------------------------------------------------------------------------------

    def step(self) -> Launch:
        b, code, problem = self.b, self.code, self.problem
        along = 1 if self.axis is None else problem.axes[self.axis].extent
        rule = None if self.axis is None else problem.axes[self.axis].rule
        classes = rule.classes if isinstance(rule, Strided) else 1
        length: int = -(-along // classes)
        chunk = min(_CHUNK, max(64, round(16384 / problem.tap_count)))
        written = range(self.inputs, len(problem.operands))
        if self.axis is not None and classes == 2 and all(problem.operands[i].steps(self.axis) == 1 for i in written):
            chunk = min(chunk, PAIRED)
            self.pairs = Pairs(b, {i: problem.operands[i].kind for i in written}, self.lanes)
        chunks = -(-length // chunk)
        outer: list[int] = [*(problem.axes[a].extent for a in self.outer), chunks]
        points = problem.points
        strides: dict[int, Sequence[Value]] = {i: [*(self.strides[i][a] for a in self.outer), i64(0)] for i in points}
        for i in problem.taps:
            strides[i] = [*(self._outer_stride(i, a) for a in self.outer), i64(0)]
        iterator = StridedIterator(b, code.numbers(outer), strides, {i: code.operand(i) for i in strides})
        iterator.start(code.begin)
        size = code.integer(chunk)
        if isinstance(rule, Strided) and classes <= CLASSES:
            assert self.axis is not None
            beyond = 1 if self._pairs(self.axis) else 0
            self.table = ClassTable(self.rules[self.axis], code.integer(classes), self.extents[self.axis], beyond, classes)
        with b.loop(code.begin, code.end):
            indices, pointers = iterator.indices(), iterator.pointers()
            coordinates = dict(zip(self.outer, indices, strict=False))
            taps = {a: self._taps(a, coordinates[a], pointers) for a in problem.windowed if a != self.axis}
            row = _Row(self, coordinates, pointers, taps)
            if self.axis is None:
                row.write(Lanes(1, 1, i64(0), None, None, None))
            else:
                begin = b.mul(indices[-1], size)
                self._row(row, begin, b.add(begin, size), code.integer(classes), self.axis)
            iterator.advance()
        units = chunks
        for a in self.outer:
            units *= problem.axes[a].extent
        return code.step("window", units, self._element_ns() * min(chunk * classes, along) + 10)

    def _outer_stride(self, i: int, axis: int) -> Value:
        return self.strides[i][axis] if self.problem.axes[axis].rule is None else i64(0)

    def _element_ns(self) -> float:
        """About how long one thread works on an output."""
        problem = self.problem
        per_tap: float = sum(vector_cost(n) for fold in self.folds for n in (*topological(fold.args), *fold.combine.nodes))
        per_tap += sum(problem.operands[i].kind.itemsize for i in problem.taps) * 0.7
        finish = sum(vector_cost(n) for n in problem.graph.nodes) + 3.0
        scalar = 8.0 if self.lanes == 1 else 1.0
        return (per_tap * problem.tap_count + finish) * 0.03 * scalar

    def _taps(self, axis: int, o: Value, pointers: Mapping[int, Value]) -> Taps:
        rule = self.problem.axes[axis].rule
        if isinstance(rule, Strided):
            return self.rules[axis].taps(o)
        if isinstance(rule, Shared):
            return shared_taps(self.b, o, self.extents[axis], self.sources[axis])
        assert isinstance(rule, Placed)
        i = self.number[rule.starts]
        kind, b = self.ports[i].kind, self.b
        start = b.convert("sext", widen(b, kind, b.load(stored_type(kind), pointers[i], kind.itemsize)), "i64")
        return placed_taps(b, start, self.code.integer(rule.size), self.sources[axis])

    # --- a row ----------------------------------------------------------------------------------------------------------

    def _row(self, row: _Row, begin: Value, end: Value, classes: Value, axis: int) -> None:
        """Outputs begin ... end - 1 of each class along the vectors' axis."""
        b = self.b
        if self.problem.axes[axis].rule is None:
            end = b.min(end, self.extents[axis])
            self._plain(row, begin, end)
            return
        rule = self.rules[axis]
        if not rule.has_base:
            self._class(row, begin, end, i64(0), None, axis)
            return
        with b.loop(0, classes) as r:
            self._class(row, begin, end, r, classes, axis)
        if self.pairs is not None:
            self.pairs.write({i: row.pointers[i] for i in self.pairs.buffers}, begin, end, self.extents[axis])

    def _plain(self, row: _Row, begin: Value, end: Value) -> None:
        b, wide = self.b, self.lanes * self.count
        done = b.add(begin, b.and_(b.sub(end, begin), -wide))
        with b.loop(begin, done, wide) as o:
            row.write(Lanes(self.lanes, self.count, o, None, None, None))
        with b.loop(done, end, self.lanes) as o:
            row.write(Lanes(self.lanes, 1, o, None, None, None, remaining=b.sub(end, o)))

    def _class(self, row: _Row, begin: Value, end: Value, r: Value, classes: Value | None, axis: int) -> None:
        b, rule, lanes = self.b, self.rules[axis], self.lanes
        if self.table is not None:
            found = self.table.of(r)
        else:
            found = class_taps(rule, r, classes or i64(1), self.extents[axis], 1 if self._pairs(axis) else 0)
        end = b.min(end, found.length)
        q = b.variable(begin)

        def some(count: int, *, masked: bool) -> None:
            at = q.get()
            start = b.add(found.start, b.mul(at, rule.advance))
            first = at if classes is None else b.add(r, b.mul(at, classes))
            taps = Taps(start, found.number, rule.step)
            remaining = b.sub(end, at) if masked else None
            places = None if self.pairs is None else self.pairs.places(r, b.sub(at, begin))
            row.write(Lanes(lanes, count, first, classes, taps, rule.advance, masked, remaining, places))
            q.set(b.add(at, lanes * count))

        last = b.min(found.high, end)
        room, least = b.sub(last, lanes * self.count), b.sub(last, lanes)
        with b.while_(lambda: b.less(q.get(), end)):
            behind = b.compare("icmp sge", q.get(), found.low)
            if self.count > 1:
                with b.if_(behind), b.while_(lambda: b.compare("icmp sle", q.get(), room)):
                    some(self.count, masked=False)
            with b.if_(behind), b.while_(lambda: b.compare("icmp sle", q.get(), least)):
                some(1, masked=False)
            with b.if_(b.less(q.get(), end)):
                some(1, masked=True)

    def _pairs(self, axis: int) -> bool:
        """Whether vectors of every other element are read as pairs."""
        rule = self.problem.axes[axis].rule
        return isinstance(rule, Strided) and rule.advance == 2

    def param(self, n: Expr) -> Value:
        if n not in self._params:
            index = len(self.problem.operands) + 1 + self.problem.graph.params.index(n)
            self._params[n] = self.code.word(compute_type(n.kind), index)
        return self._params[n]


class _Row:
    """A row of outputs: the coordinates along the other axes, the first element of each operand, and the taps along the axes that
    have windows."""

    def __init__(
        self, rows: WindowRows, coordinates: Mapping[int, Value], pointers: Mapping[int, Value], taps: Mapping[int, Taps]
    ) -> None:
        self.rows, self.coordinates, self.pointers, self.taps = rows, coordinates, pointers, taps
        self.b = rows.b

    def write(self, at: Lanes) -> None:
        """Compute some outputs."""
        rows, b, axis = self.rows, self.b, self.rows.axis
        problem = rows.problem
        pointers = dict(self.pointers)
        if axis is not None:
            for i in problem.points:
                pointers[i] = b.at(pointers[i], b.mul(at.first, rows.strides[i][axis]))
            if problem.axes[axis].rule is None:
                for i in problem.taps:
                    pointers[i] = b.at(pointers[i], b.mul(at.first, rows.strides[i][axis]))
        states: list[list[list[Variable]]] = []
        for fold in rows.folds:
            neutral = [constant(compute_type(i.kind), i.attr, at.lanes) for i in fold.combine.identity]
            states.append([[b.variable(v) for _ in range(at.count)] for v in neutral])
        ranges = {**self.taps, **({axis: at.taps} if axis is not None and at.taps is not None else {})}

        def nested(level: int, pointers: Mapping[int, Value], tap: dict[int, Value]) -> None:
            if level == len(problem.windowed):
                self._combine(at, states, pointers, tap)
                return
            a = problem.windowed[level]
            start, count, step = ranges[a]
            with b.loop(0, count) as j:
                i = b.add(start, b.mul(j, step))
                moved = {k: b.at(pointers[k], b.mul(i, rows.strides[k][a])) for k in problem.taps}
                nested(level + 1, {**pointers, **moved}, {**tap, a: i})

        if rows.folds:
            nested(0, pointers, {})
        evaluator = Evaluator(b, at.lanes, at.count, lambda n: self._leaf(n, at, pointers, {}, None))
        for fold, variables in zip(rows.folds, states, strict=True):
            for component, n in fold.nodes.items():
                evaluator.memo[n] = [v.get() for v in variables[component]]
        for k, (_, expr) in enumerate(problem.graph.outputs):
            self._store(rows.inputs + k, evaluator.value(expr), at, pointers)

    def _combine(
        self, at: Lanes, states: list[list[list[Variable]]], pointers: Mapping[int, Value], tap: Mapping[int, Value]
    ) -> None:
        b, rows, axis = self.b, self.rows, self.rows.axis
        present: Group | None = None
        if at.masked:
            assert axis is not None
            present = [b.compare("icmp ult", self._lane_indices(at, tap[axis]), b.splat(rows.sources[axis], at.lanes))]
        evaluator = Evaluator(b, at.lanes, at.count, lambda n: self._leaf(n, at, pointers, tap, present))
        for fold, variables in zip(rows.folds, states, strict=True):
            values = evaluator.values(fold.args)
            before = [[v.get() for v in component] for component in variables]
            combined = Evaluator(b, at.lanes, at.count, lambda n: None)
            for i, (left, right) in enumerate(zip(fold.combine.left, fold.combine.right, strict=True)):
                combined.memo[left], combined.memo[right] = before[i], values[i]
            for component, old, result in zip(variables, before, combined.values(fold.combine.results), strict=True):
                for v, o, new in zip(component, old, result, strict=True):
                    v.set(new if present is None else b.select(present[0], new, o))

    def _lane_indices(self, at: Lanes, i: Value) -> Value:
        """The element along the vectors' axis that each lane reads, in 64 bits."""
        b = self.b
        assert at.advance is not None
        return b.add(b.splat(i, at.lanes), b.mul(b.splat(at.advance, at.lanes), b.iota(at.lanes, "i64")))

    # --- leaves ---------------------------------------------------------------------------------------------------------

    def _leaf(
        self, n: Expr, at: Lanes, pointers: Mapping[int, Value], tap: Mapping[int, Value], present: Group | None
    ) -> Group | None:
        rows, b = self.rows, self.b
        if n.op == "param":
            return [b.splat(rows.param(n), at.lanes)] * at.count
        if n.op == "coord":
            return self._coordinate(n.attr, at, tap)
        assert n.op == "input", n
        i = rows.number[n.attr[0]]
        if n.attr[2] is Axes.FULL:
            assert tap or not rows.problem.windowed, f"{n.attr[0]} is read where there is no tap"
            return self._read_tap(i, at, pointers[i], tap, present)
        return self._read_point(i, at, pointers[i])

    def _coordinate(self, attr: int, at: Lanes, tap: Mapping[int, Value]) -> Group:
        rows, b = self.rows, self.b
        which, a = divmod(attr, rows.rank)
        if which and rows.problem.axes[a].rule is not None:
            first, apart = tap[a], at.advance
        elif a == rows.axis:
            first, apart = at.first, at.apart or i64(1)
        else:
            first, apart = self.coordinates[a], None
        narrow = b.convert("trunc", first, "i32")
        if a != rows.axis:
            return [b.splat(narrow, at.lanes)] * at.count
        assert apart is not None
        step = b.convert("trunc", apart, "i32")
        group = []
        for g in range(at.count):
            begin = b.add(narrow, b.mul(step, g * at.lanes)) if g else narrow
            if at.lanes == 1:
                group.append(begin)
            else:
                group.append(b.add(b.splat(begin, at.lanes), b.mul(b.splat(step, at.lanes), b.iota(at.lanes))))
        return group

    def _read_tap(self, i: int, at: Lanes, pointer: Value, tap: Mapping[int, Value], present: Group | None) -> Group:
        rows, b, axis = self.rows, self.b, self.rows.axis
        operand = rows.problem.operands[i]
        kind, size = operand.kind, operand.kind.itemsize
        if axis is None or operand.steps(axis) == 0:
            return [b.splat(v, at.lanes) for v in [load(b, kind, pointer, 1)]] * at.count
        rule, stride = rows.problem.axes[axis].rule, rows.strides[i][axis]
        unit = operand.steps(axis) == 1
        if rule is None:
            return self._neighbours(i, at, pointer, None if unit else stride)
        assert isinstance(rule, Strided)
        assert at.advance is not None
        if present is not None:
            if unit and rule.advance == 1:
                return [load(b, kind, pointer, at.lanes, present[0])]
            own = self._lane_indices(at, tap[axis])
            last = b.splat(b.sub(rows.sources[axis], 1), at.lanes)
            low = b.call(own.type, f"llvm.smax.v{at.lanes}i64", own, Value(own.type, "zeroinitializer"))
            bounded = b.call(own.type, f"llvm.smin.v{at.lanes}i64", low, last)
            offset = b.sub(bounded, b.splat(tap[axis], at.lanes))
            in_elements = b.splat(b.op("sdiv", stride, i64(size)), at.lanes)
            return [load_at(b, kind, pointer, b.mul(offset, in_elements))]
        if unit and rule.advance == 1:
            return [load(b, kind, b.at(pointer, g * at.lanes * size), at.lanes) for g in range(at.count)]
        if unit and rule.advance == 2:
            return [self._every_other(i, at, b.at(pointer, 2 * g * at.lanes * size)) for g in range(at.count)]
        apart = b.mul(stride, at.advance)
        vectors = [b.at(pointer, b.mul(apart, g * at.lanes)) if g else pointer for g in range(at.count)]
        return [load_lanes(b, kind, p, at.lanes, apart, None) for p in vectors]

    def _every_other(self, i: int, at: Lanes, pointer: Value) -> Value:
        b, kind = self.b, self.rows.problem.operands[i].kind
        type_ = vector(stored_type(kind), at.lanes)
        first, second = (b.load(type_, b.at(pointer, g * at.lanes * kind.itemsize), kind.itemsize) for g in range(2))
        return widen(b, kind, b.shuffle(first, second, range(0, 2 * at.lanes, 2)))

    def _neighbours(self, i: int, at: Lanes, pointer: Value, stride: Value | None) -> Group:
        """A tensor's elements for lanes that are so many bytes apart; None: neighbours."""
        b, kind = self.b, self.rows.problem.operands[i].kind
        group = []
        for g in range(at.count):
            offset = g * at.lanes * kind.itemsize if stride is None else b.mul(stride, g * at.lanes) if g else 0
            group.append(load_lanes(b, kind, b.at(pointer, offset), at.lanes, stride, at.remaining))
        return group

    def _point_stride(self, i: int, at: Lanes) -> Value | None:
        """Bytes from one lane's element to the next; None: neighbours."""
        rows, axis = self.rows, self.rows.axis
        assert axis is not None
        if rows.problem.operands[i].steps(axis) == 1 and at.apart is None:
            return None
        stride = rows.strides[i][axis]
        return stride if at.apart is None else self.b.mul(stride, at.apart)

    def _read_point(self, i: int, at: Lanes, pointer: Value) -> Group:
        rows, b = self.rows, self.b
        operand = rows.problem.operands[i]
        if rows.axis is None or operand.steps(rows.axis) == 0:
            return [b.splat(load(b, operand.kind, pointer, 1), at.lanes)] * at.count
        return self._neighbours(i, at, pointer, self._point_stride(i, at))

    def _store(self, i: int, values: Group, at: Lanes, pointers: Mapping[int, Value]) -> None:
        rows, b = self.rows, self.b
        operand, pointer = rows.problem.operands[i], pointers[i]
        if rows.axis is None:
            store_lanes(b, operand.kind, values[0], pointer, None, None)
            return
        stride = None if at.places is not None else self._point_stride(i, at)
        pointer = pointer if at.places is None else at.places[i]
        for g, value in enumerate(values):
            offset = g * at.lanes * operand.kind.itemsize if stride is None else b.mul(stride, g * at.lanes) if g else 0
            store_lanes(b, operand.kind, value, b.at(pointer, offset), stride, at.remaining)
