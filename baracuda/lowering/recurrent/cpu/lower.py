"""Recurrent networks on the CPU: every thread has rows of the batch for all steps, so that no thread waits for another.

Weights are packed once: blocks of a vector of lanes, in each the rows of k. Of a step, a few blocks meet one tile of rows after
another while they are in the cache, with the running values of the tile in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from baracuda.codegen.llvm.evaluate import Evaluator
from baracuda.codegen.llvm.ir import Value, Variable, constant, i64, vector
from baracuda.codegen.llvm.lanes import store_lanes
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.formula.expr import Expr, topological
from baracuda.lowering.recurrence.cpu.code import RecurrenceOperands
from baracuda.lowering.recurrence.problem import BATCH, STEP, ArrayLayout, Varies
from baracuda.lowering.recurrent.cpu.integers import IntegerFolds
from baracuda.lowering.recurrent.cpu.packing import Packing, RecurrentOperands, WorkspacePlan
from baracuda.lowering.recurrent.problem import Phase, Recurrent, RecurrentProblem, Trace
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.pool import get_num_threads
from baracuda.runtime.program import Launch, Lowered

#: Rows of a tile, the largest that fits first: more than four, and LLVM moves running values from register to register.
_TILES = (4, 2, 1)
_CHAIN_NS = 0.012


def ways(problem: RecurrentProblem, target: CpuTarget) -> Iterator[Lowered]:
    """The program of a problem."""
    yield lower(problem.stage, problem.arrays, target)


def lower(problem: Recurrent, arrays: Mapping[str, ArrayLayout], target: CpuTarget | None = None) -> Lowered:
    """The program of a problem in primitives."""
    plan = WorkspacePlan(problem, RecurrenceOperands(problem, arrays, target or host()).lanes)
    integers: list[int] = []
    launches = [
        Packing(plan, number, arrays, target or host(), integers).launch() for number, p in enumerate(problem.phases) if p.weight
    ]
    launches.append(_Steps(plan, arrays, target or host(), integers).launch())
    return Lowered(tuple(launches), tuple(integers), plan.nbytes, f"recurrent v{plan.width}")


class _Steps:
    """Writes the kernel of the steps."""

    def __init__(self, plan: WorkspacePlan, arrays: Mapping[str, ArrayLayout], target: CpuTarget, integers: list[int]) -> None:
        self.plan, self.problem = plan, plan.problem
        self.code = RecurrentOperands(plan, arrays, target, integers)
        self.b = self.code.b
        self.math = compute_type(self.problem.math)

    def launch(self) -> Launch:
        code, b, problem = self.code, self.b, self.problem
        self.every_step = code.number("steps", problem.steps)
        with b.loop(code.begin, code.end) as row:
            self._begin(row)
        with b.loop(0, self.every_step) as step:
            for number, phase in enumerate(problem.phases):
                self._phase(number, phase, step)
        with b.loop(code.begin, code.end) as row:
            self._finish(row)
        sums = sum(p.lanes * p.products * p.depth * len(p.folds) for p in problem.phases)
        lanes = sum(p.lanes * len(p.roots) for p in problem.phases)
        cost = max(1, problem.steps) * (sums * _CHAIN_NS * (4 if problem.bits else 1) + lanes * 1.0)
        made = code.launch(problem.batch, cost)
        each = -(-problem.batch // max(1, get_num_threads()))  # a thread that has more rows reads the weights less often
        return replace(made, grain=max(made.grain, each))

    # --- places -------------------------------------------------------------------------------------------------------

    def _message(self, number: int, row: Value, parity: Value) -> Value:
        """Where the message of a row is."""
        code, b, plan = self.code, self.b, self.plan
        start = b.at(code.workspace, code.number(("messages", number), plan.messages[number]))
        at = b.add(b.mul(parity, code.number("batch", self.problem.batch)), row)
        return b.at(start, b.mul(at, code.number(("row", number), plan.row[number])))

    def _state(self, component: int, row: Value) -> Value:
        code, b, plan = self.code, self.b, self.plan
        start = b.at(code.workspace, code.number(("state", component), plan.states[component]))
        return b.at(start, b.mul(row, code.number(("state pitch", component), plan.state_pitch[component])))

    def _over(self, first: Value, last: Value, count: int, body: Callable[[Value, Value | None], None]) -> None:
        """Up to `count` vectors of lanes from `first` on; `body` is given the first lane and how many are left."""
        b, width = self.b, self.plan.width
        with b.loop(first, b.min(last, b.add(first, width * count)) if count else last, width) as lane:
            remaining = b.sub(last, lane)
            whole = b.less(width - 1, remaining)
            with b.if_(whole):
                body(lane, None)
            with b.else_(whole):
                body(lane, remaining)

    def _lanes(self, lane: Value, remaining: Value | None, outer: Evaluator, row: Value, roots: Sequence[Expr]) -> Evaluator:
        """An evaluator of lanes that knows what of the state some expressions read."""
        b, evaluator = self.b, self.code.lane_evaluator(lane, remaining, outer)
        for n in topological(roots):
            if n.op == "state" and isinstance(n.attr[0], int):
                size = n.kind.itemsize
                at = b.at(self._state(n.attr[0], row), b.mul(lane, size))
                evaluator.memo[n] = [b.load(vector(compute_type(n.kind), self.plan.width), at, size)]
        return evaluator

    # --- before and after ---------------------------------------------------------------------------------------------

    def _begin(self, row: Value) -> None:
        """The initial state, and the message before the first step."""
        code, problem = self.code, self.problem
        outer = code.evaluator({BATCH: row, STEP: i64(0)})
        code.prepare(outer, [*problem.first, *(c.initial for _, c in problem.components)], Varies.LANE | Varies.STATE)
        for number, phase in enumerate(problem.phases):
            code.among(phase.lanes)
            components = problem.components_at(number)
            roots = [c.initial for c in phase.state]
            sent = problem.first if number == len(problem.phases) - 1 else ()

            def body(
                lane: Value,
                remaining: Value | None,
                phase: Phase = phase,
                components: int = components,
                roots: Sequence[Expr] = roots,
                sent: Sequence[Expr] = sent,
                number: int = number,
            ) -> None:
                values = code.values(code.lane_evaluator(lane, remaining, outer), [*roots, *sent], lane)
                for c, value in enumerate(values[: len(roots)]):
                    self._put(value, phase.state[c].kind.itemsize, self._state(components + c, row), lane)
                for m, value in enumerate(values[len(roots) :]):
                    self._put(value, self.plan.size, self._part(number, self._message(number, row, i64(1)), m), lane)

            if roots or sent:
                self._over(i64(0), code.number(("lanes", number), phase.lanes), 0, body)

    def _put(self, value: Value, size: int, start: Value, lane: Value) -> None:
        self.b.store(value, self.b.at(start, self.b.mul(lane, size)), size)

    def _part(self, number: int, start: Value, component: int) -> Value:
        """Where a component of a message is."""
        b = self.b
        return b.at(start, b.mul(self.code.number(("pitch", number), self.plan.pitch[number]), component)) if component else start

    def _finish(self, row: Value) -> None:
        """Rows of steps that do not count, and the state after the last one."""
        code, b, problem = self.code, self.b, self.problem
        outer = code.evaluator({BATCH: row})
        steps = code.count(outer, problem.active_steps, problem.steps)
        last = code.evaluator({BATCH: row, STEP: i64(0)}, outer)
        code.prepare(last, [s.value for p in problem.phases for s in p.lasts], Varies.LANE | Varies.STATE)
        for number, phase in enumerate(problem.phases):
            code.among(phase.lanes)
            every = code.number(("lanes", number), phase.lanes)
            if phase.traces:
                with b.loop(steps, self.every_step) as step:
                    for t in phase.traces:
                        self._fill(t, self._trace(t, step, row), every)
            if phase.lasts:

                def body(lane: Value, remaining: Value | None, phase: Phase = phase) -> None:
                    roots = [s.value for s in phase.lasts]
                    lanes = self._lanes(lane, remaining, last, row, roots)
                    for s, value in zip(phase.lasts, code.values(lanes, roots, lane), strict=True):
                        start = b.at(code.operand(s.tensor), b.mul(row, code.byte_stride(s.tensor, 0)))
                        self._store(s.tensor, start, value, lane, remaining)

                self._over(i64(0), every, 0, body)

    # --- traces -------------------------------------------------------------------------------------------------------

    def _trace(self, t: Trace, at: Value, row: Value) -> Value:
        """The address of the row that a step writes."""
        code, b = self.code, self.b
        start = b.at(code.operand(t.tensor), b.mul(at, code.byte_stride(t.tensor, 0)))
        start = b.at(start, b.mul(row, code.byte_stride(t.tensor, 1)))
        return start if t.channel is None else b.at(start, b.mul(code.byte_stride(t.tensor, 2), t.channel))

    def _fill(self, t: Trace, start: Value, every: Value) -> None:
        """A row of a step that does not count."""
        filler = constant(compute_type(t.value.kind), t.filled.attr, self.plan.width)

        def body(lane: Value, remaining: Value | None) -> None:
            self._store(t.tensor, start, filler, lane, remaining)

        self._over(i64(0), every, 0, body)

    def _store(self, tensor: str, start: Value, value: Value, lane: Value, remaining: Value | None) -> None:
        """Lanes of a row of a tensor, which lie along its last axis."""
        b, array = self.b, self.code.arrays[tensor]
        axis = len(array.shape) - 1
        stride = None if array.is_unit(axis) else self.code.byte_stride(tensor, axis)
        step = i64(array.kind.itemsize) if stride is None else stride
        store_lanes(b, array.kind, value, b.at(start, b.mul(lane, step)), stride, remaining)

    # --- phases -------------------------------------------------------------------------------------------------------

    def _phase(self, number: int, phase: Phase, step: Value) -> None:
        code, b, plan = self.code, self.b, self.plan
        group = plan.group[number]
        every = code.number(("lanes", number), phase.lanes)
        code.among(phase.lanes)
        if not phase.weight:
            with b.loop(code.begin, code.end) as row:
                self._formulas(number, phase, step, row, i64(0), every, None)
            return
        kinds = [f.initial.kind for f in phase.folds]
        results = {
            (f, g): b.array(compute_type(kind), _TILES[0] * group * plan.width)
            for f, kind in enumerate(kinds)
            for g in range(phase.products)
        }
        integers = None
        if self.problem.bits:
            integers = IntegerFolds(plan, code, number)
            with b.loop(code.begin, code.end) as row:
                integers.prepare(row, self._sent(number, phase, step, row))
        with b.loop(0, every, plan.width * group) as first:
            at = b.variable(code.begin)
            with b.while_(partial(self._before_the_end, at)):
                tile = at.get()
                remaining = b.sub(code.end, tile)
                count = b.variable(i64(0))
                for rows in _TILES[integers is not None :]:
                    with b.if_(b.op("and", b.equal(count.get(), 0), b.less(rows - 1, remaining))):
                        if integers is None:
                            self._folds(number, phase, step, tile, first, rows, results)
                        else:
                            integers.sums(tile, rows, first, results)
                        count.set(i64(rows))
                with b.loop(0, count.get()) as r:
                    if integers is not None:
                        integers.settle(self._sent(number, phase, step, b.add(tile, r)), r, first, results)
                    self._formulas(number, phase, step, b.add(tile, r), first, every, (results, r))
                at.set(b.add(tile, count.get()))

    def _before_the_end(self, row: Variable) -> Value:
        return self.b.less(row.get(), self.code.end)

    def _sent(self, number: int, phase: Phase, step: Value, row: Value) -> list[Value]:
        """Where the components of the message that a phase reads of a row are."""
        b, source = self.b, self.problem.source(number)
        message = self._message(source, row, b.and_(b.add(step, i64(1)), 1) if number == 0 else b.and_(step, 1))
        return [self._part(source, message, part) for part in range(self.plan.parts(phase))]

    def _folds(
        self,
        number: int,
        phase: Phase,
        step: Value,
        tile: Value,
        first: Value,
        rows: int,
        results: Mapping[tuple[int, int], Value],
    ) -> None:
        """The folds of a tile of rows and a group of blocks, into `results`."""
        code, b, plan = self.code, self.b, self.plan
        width, size, group = plan.width, plan.size, plan.group[number]
        depth = code.number(("depth", number), phase.depth)
        start = b.at(code.workspace, code.number(("packed", number), plan.packed[number]))
        number_of_first = b.op("udiv", first, i64(width))
        blocks = [b.add(number_of_first, i64(j)) for j in range(group)]
        messages = [self._sent(number, phase, step, b.add(tile, i64(r))) for r in range(rows)]
        held: dict[tuple[int, int, int, int], Variable] = {}
        each = [[g] for g in range(phase.products)] if phase.paired else [list(range(phase.products))]
        for turn, together in product(range(phase.turns), each):
            places = list(product(range(rows), range(group), together))
            now = [f for f, x in enumerate(phase.folds) if x.turn == turn]
            for f in now:
                evaluator = Evaluator(b, width, 1, lambda n: None)
                for place in places:
                    held[(f, *place)] = b.variable(evaluator.value(phase.folds[f].initial)[0])
            sent = [parts[together[0] if phase.paired else 0] for parts in messages]
            at = [b.at(start, plan.lanes_at(b, number, j, together[0], depth)) for j in blocks]
            with b.loop(0, depth) as k:
                weights = {
                    (j, g): b.load(
                        vector(self.math, width), b.at(b.at(at[j], b.mul(k, plan.k_pitch(number))), i * width * size), size
                    )
                    for j in range(group)
                    for i, g in enumerate(together)
                }
                numbers = [b.splat(b.load(self.math, b.at(m, b.mul(k, size)), size), width) for m in sent]
                index = b.splat(b.convert("trunc", k, "i32"), width)
                for r, j, g in places:
                    own = {f: held[(f, r, j, g)] for f, x in enumerate(phase.folds) if x.turn <= turn}
                    values = self._advanced(phase, now, weights[j, g], numbers[r], index, own)
                    for f, value in zip(now, values, strict=True):
                        own[f].set(value)
        for (f, r, j, g), variable in held.items():
            value = variable.get()
            element = phase.folds[f].initial.kind.itemsize
            b.store(value, b.at(results[f, g], (r * group + j) * width * element), element)

    def _advanced(
        self, phase: Phase, now: Sequence[int], w: Value, m: Value, index: Value, held: Mapping[int, Variable]
    ) -> list[Value]:
        """The next running values of some folds."""
        evaluator = Evaluator(self.b, self.plan.width, 1, lambda n: None)
        leaves = {"k": index, "weight": w, "message": m}
        for n in topological([phase.folds[f].next for f in now]):
            if n.op == "state":
                evaluator.memo[n] = [leaves[n.attr[0]] if n.attr[0] in leaves else held[n.attr[1]].get()]
        return [evaluator.value(phase.folds[f].next)[0] for f in now]

    def _formulas(
        self,
        number: int,
        phase: Phase,
        step: Value,
        row: Value,
        first: Value,
        every: Value,
        results: tuple[Mapping[tuple[int, int], Value], Value] | None,
    ) -> None:
        """What follows the folds of a row, for the lanes of a group of blocks, or for all where there are no folds."""
        code, b, plan, problem = self.code, self.b, self.plan, self.problem
        group = plan.group[number] if results else 0
        outer = code.evaluator({BATCH: row})
        steps = code.count(outer, problem.active_steps, problem.steps)
        with b.if_(b.less(step, steps)):
            scalars = code.evaluator({BATCH: row, STEP: step}, outer)
            roots = phase.roots
            code.prepare(scalars, [*roots, *(t.row for t in phase.traces)], Varies.LANE | Varies.STATE)
            rows = [
                self._trace(t, code.clamped(code.values(scalars, [t.row])[0], t.row, problem.steps), row) for t in phase.traces
            ]
            sent = self._message(number, row, b.and_(step, 1))
            components = problem.components_at(number)

            def body(lane: Value, remaining: Value | None) -> None:
                lanes = self._lanes(lane, remaining, scalars, row, roots)
                if results is not None:
                    self._know(lanes, phase, results[0], results[1], b.sub(lane, first), group)
                values = code.values(lanes, roots, lane)
                for c, component in enumerate(phase.state):
                    self._put(values[c], component.kind.itemsize, self._state(components + c, row), lane)
                at = len(phase.state)
                for m in range(len(phase.message)):
                    self._put(values[at + m], plan.size, self._part(number, sent, m), lane)
                at += len(phase.message)
                for t, start, value in zip(phase.traces, rows, values[at:], strict=True):
                    self._store(t.tensor, start, value, lane, remaining)

            self._over(first, every, group, body)

    def _know(
        self, lanes: Evaluator, phase: Phase, results: Mapping[tuple[int, int], Value], r: Value, offset: Value, group: int
    ) -> None:
        """Let an evaluator of lanes know the results of folds."""
        b, width = self.b, self.plan.width
        for n in self.code.facts.nodes:
            if n.op == "state" and n.attr[0] == "fold" and (n.attr[1], n.attr[2]) in results:
                size = n.kind.itemsize
                at = b.mul(b.add(b.mul(r, group * width), offset), size)
                lanes.memo[n] = [b.load(vector(compute_type(n.kind), width), b.at(results[n.attr[1], n.attr[2]], at), size)]
