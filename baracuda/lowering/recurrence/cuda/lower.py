"""Recurrences on a GPU: a batch element is a thread block, and its lanes are threads.

The state is held twice, before and after a step, in shared memory or, where it is too long for that, in the workspace; one
barrier separates a step from the next. What a step reads does not depend on the state, so where each thread has few lanes, the
loads of the next steps are under way in registers while a step is computed: the latency of memory is several steps long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from baracuda.codegen.cuda.emit import literal
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE, STORAGE_TYPE
from baracuda.core.layout import round_up
from baracuda.formula.expr import Expr, const
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.recurrence.cuda.code import BLOCK_LIMIT, RecurrenceOperands, source
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
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Bytes of shared memory that every device of compute capability 8.0 or newer can give to a block.
_SHARED = 96 * 1024
_CHAIN_THREADS = 128
#: Threads of a block: few sizes, so that few kernels serve all numbers of lanes.
_BLOCKS = (32, 64, 96, 128, 192, 256, 384, 512, 768, BLOCK_LIMIT)


@dataclass(frozen=True)
class Tuning:
    """What may be chosen without changing a bit.

    Attributes
    ----------
    lanes : int
        Lanes that a thread has at most, while a block has enough threads.
    ahead : int
        Steps whose loads are under way, divided by the lanes of a thread.
    """

    lanes: int = 1
    ahead: int = 4


#: What may be tried, the default first.
TUNINGS = (Tuning(), Tuning(1, 8), Tuning(1, 2), Tuning(2, 8), Tuning(4, 8))


def ways(problem: RecurrenceProblem, target: Target) -> Iterator[Lowered]:
    """The launch of a problem under each tuning, the default one first."""
    for tuning in TUNINGS:
        yield lower(problem.stage, problem.arrays, tuning)


def lower(problem: Recurrence | Chains, arrays: Mapping[str, ArrayLayout], tuning: Tuning | None = None) -> Lowered:
    """The launch of a problem in primitives."""
    code = RecurrenceOperands(problem, arrays)
    if isinstance(problem, Chains):
        return _chains(code, problem)
    return _Recurrence(code, problem, tuning or Tuning()).lowered()


def _braced(head: str, lines: Sequence[str]) -> list[str]:
    return [f"{head} {{", *(f"  {line}" for line in lines), "}"]


class _Recurrence:
    """Writes the kernel of a recurrence. Names in the generated code: b, step and lane the numbers; steps and lanes how many
    count; every_lane how many there are; s0, s1, ... the components of the state; now and then where in each the state
    before and after the step begins; h0, h1, ... what a lane keeps for all steps; f0, f1, ... what was read ahead."""

    def __init__(self, code: RecurrenceOperands, problem: Recurrence, tuning: Tuning) -> None:
        self.code, self.problem = code, problem
        self.below, self.above = problem.reach
        self.per_thread = tuning.lanes
        while problem.lanes > self.per_thread * BLOCK_LIMIT and self.per_thread < 4:
            self.per_thread *= 2
        wanted = -(-problem.lanes // self.per_thread)
        self.threads = next((n for n in _BLOCKS if n >= wanted), BLOCK_LIMIT)
        self.held = problem.lanes <= self.threads * self.per_thread
        self.ahead = max(1, tuning.ahead // self.per_thread)
        self.pitch = problem.lanes + self.below + self.above
        self.sizes = [round_up(2 * self.pitch * c.kind.itemsize, 16) for c in problem.state]
        self.shared = sum(self.sizes) <= _SHARED
        self.outer = code.scope({BATCH: "b"})
        self.hoisted: dict[Expr, str] = {}
        self.fetched: dict[Expr, str] = {}

    @property
    def roots(self) -> list[Expr]:
        """What a lane computes at every step."""
        return [*(c.next for c in self.problem.state), *(t.value for t in self.problem.traces)]

    def lowered(self) -> Lowered:
        code, problem, words = self.code, self.problem, self.code.words
        body = [*code.pointers(), "const int thread = threadIdx.x, b = blockIdx.x;"]
        steps = code.count(self.outer, problem.active_steps, problem.steps)
        lanes = code.count(self.outer, problem.active_lanes, problem.lanes)
        code.prepare(self.outer, problem.roots, Varies.STEP | Varies.LANE | Varies.STATE)
        body += [
            *self.outer.lines,
            f"const int steps = {steps}, lanes = {lanes}, every_lane = {words.signed(problem.lanes)};",
            *self._storage(),
            *self._begin(),
            *self._hoist(),
            self._barrier(),
            *self._loop(),
            *self._fill_rest(),
        ]
        if not any((self.below, self.above)) and (problem.lasts or problem.results):
            body.append(self._barrier())
        body += self._finish()
        bytes_ = sum(self.sizes)
        launch = Launch(
            KernelSource(source(code, body, self.threads, shared=self.shared and bytes_ > 0)),
            (problem.batch, 1, 1),
            self.threads,
            bytes_ if self.shared else 0,
        )
        workspace = 0 if self.shared else problem.batch * bytes_
        name = f"recurrence {self.threads}x{self.per_thread if self.held else 'n'}{'' if self.shared else ' in memory'}"
        return Lowered((launch,), tuple(words.values), workspace, name)

    def _barrier(self) -> str:
        return "__syncthreads();" if self.threads > 32 else "__syncwarp();"

    # --- the state ----------------------------------------------------------------------------------------------------

    def _storage(self) -> list[str]:
        """Declares the components and where the state before and after a step begins in each."""
        words = self.code.words
        lines = [f"int now = {self.below}, then = now + {words.signed(self.pitch)};"]
        if self.shared:
            base = "shared_state"
        else:
            base = "state"
            lines.append(
                f"unsigned char* const state = (unsigned char*)W.w[{words.operands}] + (i64)b * {words.signed(sum(self.sizes))};"
            )
        at = 0
        for c, component in enumerate(self.problem.state):
            type_ = COMPUTE_TYPE[component.kind]
            lines.append(f"{type_}* const s{c} = ({type_}*)({base} + {words.signed(at)});")
            at += self.sizes[c]
        return lines

    def _begin(self) -> list[str]:
        """The initial state, and what lies beyond the lanes, before and after the first step alike."""
        scope = self.code.scope({LANE: "lane", STEP: "0"}, self.outer)
        values = [scope.value(c.initial) for c in self.problem.state]
        lines = [*scope.lines]
        lines += [f"s{c}[now + lane] = s{c}[then + lane] = {value};" for c, value in enumerate(values)]
        if not self.problem.state:
            return []
        lines_out = _braced(f"for (int lane = thread; lane < every_lane; lane += {self.threads})", lines)
        edges = [f"s{c}[now + i] = s{c}[then + i] = {_number(k.edge, k.initial)};" for c, k in enumerate(self.problem.state)]
        for count, head in ((self.below, "int i = -1 - thread"), (self.above, "int i = every_lane + thread")):
            if count:
                lines_out += _braced(f"if (thread < {count})", [f"const {head};", *edges])
        return lines_out

    def _state(self, n: Expr) -> str:
        component, distance = n.attr
        return f"s{component}[now + lane + ({distance})]"

    # --- steps --------------------------------------------------------------------------------------------------------

    def _lane(self, *, real: bool = False) -> str:
        """Declares the lane that a thread has in turn k; `real`: or the last lane there is, where it has none."""
        lane = f"thread + k * {self.threads}"
        return f"const int lane = {f'min({lane}, every_lane - 1)' if real else lane};"

    def _lane_loop(self, body: Sequence[str]) -> list[str]:
        """The loop over the lanes of a thread."""
        return ["#pragma unroll", *_braced(f"for (int k = 0; k < {self.per_thread}; ++k)", body)]

    def _hoist(self) -> list[str]:
        """What is the same for every step of a lane, in registers."""
        if not self.held:
            return []
        facts = self.code.facts
        fixed = [n for n in facts.fixed(self.roots, Varies.STEP | Varies.STATE) if facts.varies[n] and n is not LANE]
        scope = self.code.scope({LANE: "lane"}, self.outer)
        values = [scope.value(n) for n in fixed]
        self.hoisted = {n: f"h{j}[k]" for j, n in enumerate(fixed)}
        lines = [*scope.lines, *(f"{self.hoisted[n]} = {value};" for n, value in zip(fixed, values, strict=True))]
        declared = [f"{COMPUTE_TYPE[n.kind]} h{j}[{self.per_thread}];" for j, n in enumerate(fixed)]
        if not fixed:
            return []
        return [
            *declared,
            "#pragma unroll",
            *_braced(f"for (int k = 0; k < {self.per_thread}; ++k)", [self._lane(real=True), *lines]),
        ]

    def _fetch(self, step: str) -> list[str]:
        """Loads what a step reads into the registers of turn p."""
        scope = self.code.scope({LANE: "lane", STEP: "at"}, self.outer, self.hoisted)
        lines = [f"f{j}[p][k] = {scope.element(n)};" for j, n in enumerate(self.fetched)]
        body = [self._lane(real=True), *scope.lines, *lines]
        return [f"const int at = {step};", *_braced("if (at < steps)", self._lane_loop(body))]

    def _loop(self) -> list[str]:
        code, facts = self.code, self.code.facts
        if not self.problem.steps or not self.roots:
            return []
        swap = "const int t = now; now = then; then = t;"
        if not self.held:
            lane = [f"for (int lane = thread; lane < every_lane; lane += {self.threads})"]
            step = [
                *self._rows(),
                *_braced(lane[0], self._lane_body()),
                "const int t = now; now = then; then = t;",
                self._barrier(),
            ]
            return _braced("for (int step = 0; step < steps; ++step)", step)
        reads = [n for n in facts.reads(self.roots) if facts.varies[n] & Varies.STEP]
        self.fetched = {n: f"widen(f{j}[p][k])" for j, n in enumerate(reads)}
        declared = [f"{code.storage(n)} f{j}[{self.ahead}][{self.per_thread}];" for j, n in enumerate(reads)]
        turn = ["#pragma unroll", f"for (int p = 0; p < {self.ahead}; ++p)"]
        lanes = self._lane_loop([self._lane(), *self._lane_body()])
        ahead = self._fetch(f"step + {self.ahead}") if reads else []
        sync = [self._barrier()] if self.below or self.above else []
        step = ["const int step = base + p;", *_braced("if (step < steps)", [*self._rows(), *lanes, *ahead, swap, *sync])]
        loop = _braced(f"for (int base = 0; base < steps; base += {self.ahead})", [turn[0], *_braced(turn[1], step)])
        first = [turn[0], *_braced(turn[1], self._fetch("p"))] if reads else []
        return [*declared, *first, *loop]

    def _rows(self) -> list[str]:
        """Where the traces of a step go."""
        scope = self.code.scope({STEP: "step"}, self.outer)
        lines = []
        for j, t in enumerate(self.problem.traces):
            row = self.code.bounded(scope.value(t.row), t.row, self.problem.steps)
            lines.append(self._row(j, t, row))
        return [*scope.lines, *lines]

    def _row(self, j: int, t: Trace, row: str) -> str:
        code = self.code
        type_, p = STORAGE_TYPE[code.arrays[t.tensor].kind], code.pointer(t.tensor)
        return f"{type_}* const r{j} = {p} + (i64)b * {code.stride(t.tensor, 0)} + {row} * {code.stride(t.tensor, 1)};"

    def _lane_body(self) -> list[str]:
        """One step of one lane."""
        problem = self.problem
        scope = self.code.scope({LANE: "lane", STEP: "step"}, self.outer, {**self.hoisted, **self.fetched}, self._state)
        values = [scope.value(e) for e in self.roots]
        count = len(problem.state)
        lines = [*scope.lines, *(f"s{c}[then + lane] = {value};" for c, value in enumerate(values[:count]))]
        lines += [self._trace(j, t, value) for j, (t, value) in enumerate(zip(problem.traces, values[count:], strict=True))]
        if not problem.traces:
            return _braced("if (lane < lanes)", lines)
        return [*_braced("if (lane < lanes)", lines), *_braced("else if (lane < every_lane)", self._fill())]

    def _trace(self, j: int, t: Trace, value: str) -> str:
        code = self.code
        return f"r{j}[(i64)lane * {code.stride(t.tensor, 2)}] = {code.narrow(t.tensor, t.value, value)};"

    def _fill(self) -> list[str]:
        return [self._trace(j, t, _number(t.fill, t.value)) for j, t in enumerate(self.problem.traces)]

    def _fill_rest(self) -> list[str]:
        """The rows of steps that do not count."""
        if not self.problem.traces:
            return []
        lanes = _braced(f"for (int lane = thread; lane < every_lane; lane += {self.threads})", self._fill())
        every = self.code.words.signed(self.problem.steps)
        return _braced(f"for (int step = steps; step < {every}; ++step)", [*self._rows(), *lanes])

    def _finish(self) -> list[str]:
        code, lines = self.code, []
        if self.problem.lasts:
            scope = code.scope({LANE: "lane"}, self.outer, {}, self._state)
            stores = []
            for s in self.problem.lasts:
                value = code.narrow(s.tensor, s.value, scope.value(s.value))
                offset = f"(i64)b * {code.stride(s.tensor, 0)} + (i64)lane * {code.stride(s.tensor, 1)}"
                stores.append(f"{code.pointer(s.tensor)}[{offset}] = {value};")
            head = f"for (int lane = thread; lane < every_lane; lane += {self.threads})"
            lines += _braced(head, [*scope.lines, *stores])
        if self.problem.results:

            def last(n: Expr) -> str:
                return f"s{n.attr[0]}[now + (int){code.bounded(scope.value(n.args[0]), n.args[0], self.problem.lanes)}]"

            scope = code.scope({}, self.outer, {}, last)
            stores = []
            for s in self.problem.results:
                value = code.narrow(s.tensor, s.value, scope.value(s.value))
                stores.append(f"{code.pointer(s.tensor)}[(i64)b * {code.stride(s.tensor, 0)}] = {value};")
            lines += _braced("if (thread == 0)", [*scope.lines, *stores])
        return lines


def _number(value: float, like: Expr) -> str:
    return literal(const(value, like.kind).attr, like.kind)


def _chains(code: RecurrenceOperands, problem: Chains) -> Lowered:
    """The kernel of sums along chains: a thread for each lane of each step."""
    words = code.words
    count = problem.batch * problem.steps * problem.lanes
    number = code.scope({BATCH: "b"})
    steps = code.count(number, problem.active_steps, problem.steps)
    lanes = code.count(number, problem.active_lanes, problem.lanes)
    coordinates = {BATCH: "b", STEP: "step"}
    first = code.scope({**coordinates, LANE: "lane"}, number)
    head = first.value(problem.head)
    begin = [*first.lines]
    first.lines.clear()
    value, link = first.value(problem.value), first.value(problem.link)
    start = [*first.lines, f"{COMPUTE_TYPE[problem.value.kind]} sum = {value};", f"unsigned cursor = (unsigned){link};"]
    other = code.scope({**coordinates, LANE: "at"}, number)
    value, link = other.value(problem.value), other.value(problem.link)
    chain_step = ["const int at = (int)cursor;", *other.lines, f"sum = Sum::of(sum, {value});", f"cursor = (unsigned){link};"]
    end = code.scope({**coordinates, LANE: "lane"}, number, {}, lambda n: "sum")
    indices = [end.value(i) for i in problem.index]
    array = code.arrays[problem.tensor]
    offset = " + ".join(f"(i64){i} * {code.stride(problem.tensor, a)}" for a, i in enumerate(indices))
    inside = " && ".join(f"(u64)(i64){i} < (u64){words.signed(n)}" for i, n in zip(indices, array.shape, strict=True))
    tail = [*end.lines]
    end.lines.clear()
    result = code.narrow(problem.tensor, problem.result, end.value(problem.result))
    stored = [*end.lines, f"{code.pointer(problem.tensor)}[{offset}] = {result};"]
    body = [
        *code.pointers(),
        f"const i64 i = (i64)blockIdx.x * {_CHAIN_THREADS} + threadIdx.x, every_lane = {words.signed(problem.lanes)};",
        f"if (i >= {words.signed(count)}) return;",
        "const int lane = (int)(i % every_lane);",
        f"const i64 rest = i / every_lane, every_step = {words.signed(problem.steps)};",
        "const int step = (int)(rest % every_step), b = (int)(rest / every_step);",
        *number.lines,
        f"if (step >= {steps} || lane >= {lanes}) return;",
        *begin,
        f"if (!{head}) return;",
        *start,
        *_braced(f"while (cursor < (unsigned){lanes})", chain_step),
        *tail,
        *_braced(f"if ({inside})", stored),
    ]
    launch = Launch(KernelSource(source(code, body, _CHAIN_THREADS)), (-(-count // _CHAIN_THREADS), 1, 1), _CHAIN_THREADS)
    return Lowered((launch,), tuple(words.values), 0, "chains")
