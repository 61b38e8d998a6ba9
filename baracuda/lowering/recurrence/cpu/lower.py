"""Recurrences on the CPU: a batch element is a unit of work, and vectors run over its lanes.

The state is held twice in the workspace, before and after a step, with room for what lies beyond the lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from baracuda.codegen.llvm.evaluate import Evaluator
from baracuda.codegen.llvm.ir import Value, constant, i64, vector
from baracuda.codegen.llvm.lanes import store_lanes
from baracuda.codegen.llvm.memory import narrow
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.core.layout import round_up
from baracuda.formula.expr import const
from baracuda.lowering.nest.costs import vector_cost
from baracuda.lowering.recurrence.cpu.code import RecurrenceOperands
from baracuda.lowering.recurrence.problem import (
    BATCH,
    LANE,
    STEP,
    ArrayLayout,
    Chains,
    Recurrence,
    RecurrenceProblem,
    Trace,
    Varies,
)
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.program import Lowered


def ways(problem: RecurrenceProblem, target: CpuTarget) -> Iterator[Lowered]:
    """The program of a problem."""
    yield lower(problem.stage, problem.arrays, target)


def lower(problem: Recurrence | Chains, arrays: Mapping[str, ArrayLayout], target: CpuTarget | None = None) -> Lowered:
    """The program of a problem in primitives."""
    code = RecurrenceOperands(problem, arrays, target or host())
    return _chains(code, problem) if isinstance(problem, Chains) else _Recurrence(code, problem).lowered()


def _nanoseconds(code: RecurrenceOperands, problem: Recurrence | Chains) -> float:
    """About how long one lane of one step takes."""
    return max(0.3, 0.03 * sum(map(vector_cost, code.facts.nodes)) * 16 / code.lanes)


class _Recurrence:
    """Writes the kernel of a recurrence."""

    def __init__(self, code: RecurrenceOperands, problem: Recurrence) -> None:
        self.code, self.b, self.problem = code, code.b, problem
        self.below, self.above = problem.reach
        room = round_up(problem.lanes, code.lanes) + code.lanes + self.below + self.above
        self.sizes = [round_up(room * c.kind.itemsize, 64) for c in problem.state]
        self.set_bytes = sum(self.sizes)

    def lowered(self) -> Lowered:
        code, problem, b = self.code, self.problem, self.b
        set_bytes = code.integer(self.set_bytes)
        with b.loop(code.begin, code.end) as unit:
            first = b.at(code.workspace, b.mul(b.mul(unit, set_bytes), 2))
            self.before, self.after = b.variable(first), b.variable(b.at(first, set_bytes))
            batch = code.evaluator({BATCH: unit})
            code.prepare(batch, problem.roots, Varies.STEP | Varies.LANE | Varies.STATE)
            self.steps = code.count(batch, problem.active_steps, problem.steps)
            self.lanes = code.count(batch, problem.active_lanes, problem.lanes)
            self.unit = unit
            self._begin(batch)
            with b.loop(0, self.steps) as step:
                evaluator = code.evaluator({BATCH: unit, STEP: step}, batch)
                self._step(evaluator)
            self._fill_rest(batch)
            self._finish(batch)
        cost = max(1, problem.steps) * problem.lanes * _nanoseconds(code, problem)
        launch = code.launch(problem.batch, cost)
        return Lowered((launch,), tuple(code.integers), problem.batch * 2 * self.set_bytes, f"recurrence v{code.lanes}")

    # --- the state ----------------------------------------------------------------------------------------------------

    def _component_base(self, which: Value, component: int) -> Value:
        """The address of a component at lane 0."""
        at = which
        for size in self.sizes[:component]:
            at = self.b.at(at, self.code.integer(size))
        return self.b.at(at, self.below * self.problem.state[component].kind.itemsize)

    def _over(self, first: Value | int, last: Value, body: Callable[[Value, Value | None], None]) -> None:
        """Vectors of lanes from `first` to before `last`; `body` is called with the first lane and how many are left."""
        b, width = self.b, self.code.lanes
        count = b.sub(last, first)
        whole = b.add(b.sub(count, b.rem(count, width)), i64(first))
        with b.loop(first, whole, width) as lane:
            body(lane, None)
        remaining = b.sub(last, whole)
        with b.if_(b.less(0, remaining)):
            body(whole, remaining)

    def _begin(self, batch: Evaluator) -> None:
        """The initial state, and what lies beyond the lanes, before and after the first step alike."""
        b, code, problem = self.b, self.code, self.problem
        every = code.integer(problem.lanes)
        roots = [c.initial for c in problem.state]
        step = code.evaluator({BATCH: self.unit, STEP: i64(0)}, batch)
        bases = [[self._component_base(w.get(), c) for w in (self.before, self.after)] for c in range(len(problem.state))]

        def body(lane: Value, remaining: Value | None) -> None:
            values = code.values(code.lane_evaluator(lane, remaining, step), roots, lane)
            for c, (component, value) in enumerate(zip(problem.state, values, strict=True)):
                for base in bases[c]:
                    at = b.at(base, b.mul(lane, component.kind.itemsize))
                    store_lanes(b, component.kind, value, at, None, remaining)

        if problem.state:
            self._over(0, every, body)
        for c, component in enumerate(problem.state):
            size = component.kind.itemsize
            value = constant(compute_type(component.kind), const(component.edge, component.kind).attr)
            for base in bases[c]:
                for lane in range(-self.below, 0):
                    b.store(value, b.at(base, lane * size), size)
                with b.loop(every, b.add(every, code.lanes + self.above)) as lane_above:
                    b.store(value, b.at(base, b.mul(lane_above, size)), size)

    def _states(self, evaluator: Evaluator, which: Value, lane: Value) -> None:
        """Let an evaluator of lanes know the state."""
        b = self.b
        for n in self.code.facts.nodes:
            if n.op == "state" and not n.args:
                component, distance = n.attr
                size = n.kind.itemsize
                at = b.at(self._component_base(which, component), b.mul(b.add(lane, i64(distance)), size))
                evaluator.memo[n] = [b.load(vector(compute_type(n.kind), self.code.lanes), at, size)]

    # --- steps --------------------------------------------------------------------------------------------------------

    def _step(self, evaluator: Evaluator) -> None:
        b, code, problem = self.b, self.code, self.problem
        roots = [*(c.next for c in problem.state), *(t.value for t in problem.traces)]
        code.prepare(evaluator, [*roots, *(t.row for t in problem.traces)], Varies.LANE | Varies.STATE)
        before, after = self.before.get(), self.after.get()
        rows = [self._row(evaluator, t) for t in problem.traces]

        def body(lane: Value, remaining: Value | None) -> None:
            lanes = code.lane_evaluator(lane, remaining, evaluator)
            self._states(lanes, before, lane)
            values = code.values(lanes, roots, lane)
            for c, component in enumerate(problem.state):
                at = b.at(self._component_base(after, c), b.mul(lane, component.kind.itemsize))
                store_lanes(b, component.kind, values[c], at, None, remaining)
            for t, row, value in zip(problem.traces, rows, values[len(problem.state) :], strict=True):
                self._store(t.tensor, 2, row, value, lane, remaining)

        self._over(0, self.lanes, body)
        for t, row in zip(problem.traces, rows, strict=True):
            self._fill(t, row, self.lanes)
        self.before.set(after)
        self.after.set(before)

    def _row(self, evaluator: Evaluator, trace: Trace) -> Value:
        """The address of the row that a step writes."""
        code, b = self.code, self.b
        row = code.clamped(code.values(evaluator, [trace.row])[0], trace.row, self.problem.steps)
        base = b.at(code.operand(trace.tensor), b.mul(self.unit, code.byte_stride(trace.tensor, 0)))
        return b.at(base, b.mul(row, code.byte_stride(trace.tensor, 1)))

    def _store(self, tensor: str, axis: int, row: Value, value: Value, lane: Value, remaining: Value | None) -> None:
        """Lanes of a row of a tensor, which lie along an axis."""
        b, array = self.b, self.code.arrays[tensor]
        stride = None if array.is_unit(axis) else self.code.byte_stride(tensor, axis)
        step = i64(array.kind.itemsize) if stride is None else stride
        store_lanes(b, array.kind, value, b.at(row, b.mul(lane, step)), stride, remaining)

    def _fill(self, trace: Trace, row: Value, first: Value | int) -> None:
        """The lanes of a row that do not count."""
        kind = trace.value.kind
        filler = constant(compute_type(kind), const(trace.fill, kind).attr, self.code.lanes)
        every = self.code.integer(self.problem.lanes)
        self._over(first, every, lambda lane, remaining: self._store(trace.tensor, 2, row, filler, lane, remaining))

    def _fill_rest(self, batch: Evaluator) -> None:
        """The rows of steps that do not count."""
        code, problem = self.code, self.problem
        if problem.traces:
            with self.b.loop(self.steps, code.integer(problem.steps)) as step:
                evaluator = code.evaluator({BATCH: self.unit, STEP: step}, batch)
                for t in problem.traces:
                    self._fill(t, self._row(evaluator, t), 0)

    def _finish(self, batch: Evaluator) -> None:
        b, code, problem = self.b, self.code, self.problem
        last = self.before.get()
        if problem.lasts:
            bases = [b.at(code.operand(s.tensor), b.mul(self.unit, code.byte_stride(s.tensor, 0))) for s in problem.lasts]

            def body(lane: Value, remaining: Value | None) -> None:
                lanes = code.lane_evaluator(lane, remaining, batch)
                self._states(lanes, last, lane)
                values = code.values(lanes, [s.value for s in problem.lasts], lane)
                for s, base, value in zip(problem.lasts, bases, values, strict=True):
                    self._store(s.tensor, 1, base, value, lane, remaining)

            self._over(0, code.integer(problem.lanes), body)
        roots = [s.value for s in problem.results]
        for n in code.facts.nodes:
            if n.op == "state" and n.args:
                lane = code.clamped(code.values(batch, n.args)[0], n.args[0], problem.lanes)
                at = b.at(self._component_base(last, n.attr[0]), b.mul(lane, n.kind.itemsize))
                batch.memo[n] = [b.load(compute_type(n.kind), at, n.kind.itemsize)]
        for s, value in zip(problem.results, code.values(batch, roots), strict=True):
            kind = code.arrays[s.tensor].kind
            at = b.at(code.operand(s.tensor), b.mul(self.unit, code.byte_stride(s.tensor, 0)))
            b.store(narrow(b, kind, value), at, kind.itemsize)


def _chains(code: RecurrenceOperands, problem: Chains) -> Lowered:
    """The kernel of sums along chains: a step of a batch element is a unit of work."""
    b = code.b
    kind = problem.value.kind
    every = code.integer(problem.steps)
    with b.loop(code.begin, code.end) as unit:
        number, step = b.div(unit, every), b.rem(unit, every)
        batch = code.evaluator({BATCH: number})
        code.prepare(batch, problem.roots, Varies.STEP | Varies.LANE)
        with b.if_(b.less(step, code.count(batch, problem.active_steps, problem.steps))):
            outer = code.evaluator({BATCH: number, STEP: step}, batch)
            code.prepare(outer, problem.roots, Varies.LANE)
            lanes = code.count(batch, problem.active_lanes, problem.lanes)
            with b.loop(0, lanes) as lane:
                first = code.evaluator({LANE: lane}, outer)
                with b.if_(code.values(first, [problem.head])[0]):
                    value, link = code.values(first, [problem.value, problem.link])
                    total, cursor = b.variable(value), b.variable(b.convert("sext", link, "i64"))
                    with b.while_(lambda: b.compare("icmp ult", cursor.get(), lanes)):
                        other = code.evaluator({LANE: cursor.get()}, outer)
                        value, link = code.values(other, [problem.value, problem.link])
                        total.set(b.op("fadd" if kind.is_float else "add", total.get(), value))
                        cursor.set(b.convert("sext", link, "i64"))
                    for n in code.facts.nodes:
                        if n.op == "state":
                            first.memo[n] = [total.get()]
                    _write(code, problem, first)
    units = problem.batch * problem.steps
    launch = code.launch(units, 3.0 * problem.lanes)
    return Lowered((launch,), tuple(code.integers), 0, "chains")


def _write(code: RecurrenceOperands, problem: Chains, evaluator: Evaluator) -> None:
    """The result at its index, where that is in range."""
    b, array = code.b, code.arrays[problem.tensor]
    indices = [b.convert("sext", i, "i64") for i in code.values(evaluator, problem.index)]
    inside = Value("i1", "true")
    pointer = code.operand(problem.tensor)
    for axis, index in enumerate(indices):
        inside = b.op("and", inside, b.compare("icmp ult", index, code.integer(array.shape[axis])))
        pointer = b.at(pointer, b.mul(index, code.byte_stride(problem.tensor, axis)))
    with b.if_(inside):
        (value,) = code.values(evaluator, [problem.result])
        b.store(narrow(b, array.kind, value), pointer, array.kind.itemsize)
