"""Fourier transforms on the CPU: a step a pass. A unit of work is as many neighbouring rows as a vector has lanes, which are
transformed in place in a thread's own memory, each number a vector for its real parts and one for its imaginary ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import log2, prod

from baracuda.codegen.llvm.ir import Value, i64
from baracuda.core.elements import ElementKind
from baracuda.core.layout import round_up
from baracuda.formula.butterflies import butterfly, product, radices
from baracuda.lowering.fft.access import Access, Number
from baracuda.lowering.fft.cpu.machine import CpuMachine, Memory, Place, Tables
from baracuda.lowering.fft.cpu.runs import Runs, read_runs, write_runs
from baracuda.lowering.fft.passes import Form, Pass, passes
from baracuda.lowering.fft.problem import OPERANDS, Fourier, Rows
from baracuda.lowering.fft.tables import stage_offsets
from baracuda.lowering.sort.cpu.code import Integers, StepBuilder
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.program import Launch, Lowered

#: Nanoseconds that one thread takes for a lane's number and a doubling of the length.
_NS = 0.12
#: Lanes from which on rows are turned in registers.
_LANES = 4


def ways(problem: Fourier, target: CpuTarget) -> Iterator[Lowered]:
    """The steps of a normalised problem."""
    yield lower(problem, target)


def lower(problem: Fourier, target: CpuTarget | None = None) -> Lowered:
    """The steps of a normalised problem."""
    target = target or host()
    integers, tables = Integers(OPERANDS, 0), Tables()
    made, sizes = passes(problem)
    size = 2 * problem.kind.itemsize
    starts = [0, round_up(problem.count * sizes[0] * size, 64)]
    steps, lanes = [], []
    for p in made:
        step = _Step(problem, p, integers, tables, starts, target)
        steps.append(step.launch())
        lanes.append(step.lanes)
    names = " ".join(f"{p.name} by {n}" for p, n in zip(made, lanes, strict=True))
    workspace = starts[1] + problem.count * sizes[1] * size
    return Lowered(tuple(steps), tuple(integers.values), workspace, f"fft {names}", tables.all(integers.first))


class _Step:
    def __init__(
        self, problem: Fourier, pass_: Pass, integers: Integers, tables: Tables, starts: Sequence[int], target: CpuTarget
    ) -> None:
        self.problem, self.pass_, self.starts = problem, pass_, starts
        self.code = StepBuilder(integers, target)
        self.extents = (*problem.outer, *(a.extent for a in pass_.axes))
        most = target.vector_bits // problem.kind.bits
        self.axis = self._lane_axis(most)
        self.last = self.extents[self.axis]
        self.lanes = 1
        wanted = self.last if pass_.length else problem.length + 1
        while self.lanes < min(most, wanted):
            self.lanes *= 2
        if not pass_.length and self.lanes > wanted:
            self.lanes //= 2
        self.m = CpuMachine(problem, pass_, self.code, tables, self.lanes)
        self.access = Access(problem, pass_, self.m)

    def _lane_axis(self, most: int) -> int:
        """The axis of rows whose neighbours are transformed together."""
        axes, outer = range(len(self.extents)), len(self.problem.outer)
        if self.pass_.axes:
            return len(self.extents) - 1
        p = self.problem

        def rank(a: int) -> tuple[bool, bool, int]:
            unit = a < outer and not p.general and (abs(p.x.outer[a]) == 1 or abs(p.y.outer[a]) == 1)
            return self.extents[a] >= most // 2, unit, self.extents[a]

        return max(axes, key=rank)

    def launch(self) -> Launch:
        p, n = self.problem, self.pass_.length
        others = prod(e for a, e in enumerate(self.extents) if a != self.axis)
        if not n:
            return self._unpack()
        code, b = self.code, self.code.b
        blocks = -(-self.last // self.lanes)
        if p.count == 0:
            others = 0
        with b.loop(code.begin, code.end) as unit:
            self._rows(unit, blocks, n)
        work = n * max(log2(n), 1) * _NS * max(self.lanes / 4, 1)
        return code.step("fft", others * blocks, work)

    # --- where rows are -----------------------------------------------------------------------------------------------

    def _memory(self, rows: Rows, base: Value, lane_stride: int | None) -> Memory:
        """How a tensor is walked from a row; `lane_stride` is that of the lanes' axis, None where they are one row's."""
        code, size, general = self.code, rows.kind.itemsize, self.problem.general
        along = size if rows.along == 1 and not general else code.integer(rows.along * size)
        if lane_stride is None:
            lane: Value | int = 0
        else:
            lane = size if lane_stride == 1 and not general else code.integer(lane_stride * size)
        return Memory(rows.kind, base, along, lane)

    def _rows(self, unit: Value, blocks: int, n: int) -> None:
        code, b, m, p, q = self.code, self.code.b, self.m, self.problem, self.pass_
        outer = len(p.outer)
        count = code.integer(blocks)
        block, rest = b.rem(unit, count), b.div(unit, count)
        start = b.mul(block, self.lanes)
        where: dict[int, Value] = {self.axis: start}
        for a in range(len(self.extents) - 1, -1, -1):
            if a != self.axis:
                extent = code.integer(self.extents[a])
                where[a], rest = b.rem(rest, extent), b.div(rest, extent)
        last = code.integer(self.last)
        if self.last % self.lanes:
            m.remaining = b.min(b.sub(last, start), self.lanes)
            if self.lanes > 1:
                highest = b.splat(b.sub(m.remaining, 1), self.lanes)
                own = b.iota(self.lanes, "i64")
                m.lane_numbers = b.select(b.compare("icmp slt", own, highest), own, highest)
        x, y = code.operand(0), code.operand(1)
        batch = i64(0)
        for a in range(outer):
            x = b.at(x, b.mul(where[a], code.integer(p.x.outer[a] * p.x.kind.itemsize)))
            y = b.at(y, b.mul(where[a], code.integer(p.y.outer[a] * p.y.kind.itemsize)))
            batch = b.add(b.mul(batch, code.integer(p.outer[a])), where[a])
        inner = self.axis >= outer
        self.from_, self.to = i64(0), i64(0)
        for i, axis in enumerate(q.axes):
            self.from_ = b.add(b.mul(where[outer + i], axis.source), self.from_)
            self.to = b.add(b.mul(where[outer + i], axis.target), self.to)
        lane_in, lane_out = (q.axes[-1].source, q.axes[-1].target) if inner else (0, 0)
        self.steps = lane_in, lane_out
        m.x = self._memory(p.x, x, None if inner else p.x.outer[self.axis])
        m.y = self._memory(p.y, y, None if inner else p.y.outer[self.axis])
        kind, size = (ElementKind.C128, 16) if p.kind is ElementKind.F64 else (ElementKind.C64, 8)
        pitch = prod(p.outer[self.axis + 1 :]) if not inner else 0

        def buffer(number: int, length: int, lane: int) -> Memory:
            base = b.at(code.scratch(self.starts[number]), b.mul(batch, length * size))
            return Memory(kind, base, size, code.integer(lane * size) if lane else 0)

        if q.source.form is Form.BUFFER:
            m.buffer_in = buffer(q.source.buffer, q.source.length, 0 if inner else q.source.length * pitch)
        if q.target.form is Form.BUFFER:
            m.buffer_out = buffer(q.target.buffer, q.target.length, 0 if inner else q.target.length * pitch)
        if q.roots:
            m.column, m.code_columns = start, code.integer(q.axes[-1].extent)
        self._stages(n)

    # --- transforms ---------------------------------------------------------------------------------------------------

    def _source_place(self, i: Value) -> Place:
        b = self.code.b
        return Place(b.add(self.from_, b.mul(i, self.pass_.step)), self.steps[0])

    def _finish(self, k: Value, z: Number) -> None:
        b, m, q = self.code.b, self.m, self.pass_
        if q.roots:
            z = product(m, z, m.turn(q, k))
        self.access.write(Place(b.add(self.to, b.mul(k, q.to_step)), self.steps[1]), z)

    def _held(self, own: Value, place: Value) -> Number:
        b, m = self.code.b, self.m
        at, width = b.at(own, b.mul(place, 2 * m.size * self.lanes)), m.size * self.lanes
        return b.load(m.type, at, min(width, 64)), b.load(m.type, b.at(at, width), min(width, 64))

    def _hold(self, own: Value, place: Value, z: Number) -> None:
        b, m = self.code.b, self.m
        at, width = b.at(own, b.mul(place, 2 * m.size * self.lanes)), m.size * self.lanes
        b.store(z[0], at, min(width, 64))
        b.store(z[1], b.at(at, width), min(width, 64))

    def _stages(self, n: int) -> None:
        b, m = self.code.b, self.m
        factors, offsets = radices(n) or (1,), stage_offsets(n) or [0]
        unpacked = self.pass_.target.unpacked
        own = b.array(m.element, 2 * n * self.lanes) if len(factors) > 1 or unpacked else i64(0)
        runs_in, runs_out = (self._runs(n, reading=True), self._runs(n, reading=False)) if len(factors) > 1 else (None, None)
        if runs_in is not None:
            read_runs(self.code, m, own, runs_in, n, self.pass_.source.swap, lambda j: self.access.read(self._source_place(j)))
        held_out = unpacked or runs_out is not None
        before = 1
        for number, r in enumerate(factors):
            is_first, is_last = number == 0, number == len(factors) - 1
            rest = n // before
            step = rest // r

            def one(
                place: Value,
                p: Value,
                done: Value,
                sure: tuple[bool, bool],
                r: int = r,
                step: int = step,
                at: int = offsets[number],
                before: int = before,
            ) -> None:
                is_first, is_last = sure
                x = []
                for i in range(r):
                    x.append(
                        self.access.read(self._source_place(b.add(p, i * step)))
                        if is_first and runs_in is None
                        else self._held(own, b.add(place, i * step))
                    )
                for k, z in enumerate(butterfly(m, x)):
                    if k and not is_last:
                        z = product(m, z, m.table(("stages", n), Place(b.add(p, at + (k - 1) * step))))
                    if is_last and not held_out:
                        self._finish(b.add(done, k * before), z)
                    else:
                        self._hold(own, b.add(place, k * step), z)

            sure = is_first, is_last
            if is_last:
                then = partial(one, p=i64(0), sure=sure)
                self._digits(factors[:number], n, i64(0), i64(0), 1, lambda place, done, then=then: then(place, done=done))
            else:
                with b.loop(0, before) as block:
                    start = b.mul(block, rest)
                    with b.loop(0, step) as p:
                        one(b.add(start, p), p, i64(0), sure)
            before *= r
        if held_out:
            self._from_places(own, n, runs_out)

    def _digits(self, factors: Sequence[int], rest: int, place: Value, done: Value, weight: int, then: object) -> None:
        """Every block of the last radix: where it begins, and the result that its first number is."""
        b = self.code.b
        if not factors:
            then(place, done)  # type: ignore[operator]
            return
        r, *more = factors
        with b.loop(0, r) as digit:
            at = b.add(place, b.mul(digit, rest // r))
            self._digits(more, rest // r, at, b.add(done, b.mul(digit, weight)), weight * r, then)

    def _runs(self, n: int, *, reading: bool) -> Runs | None:
        """Where the rows are, if the numbers of each lie side by side and those of neighbouring rows do not."""
        b, m, p, q = self.code.b, self.m, self.problem, self.pass_
        form, step = (q.source.form, q.step) if reading else (q.target.form, q.to_step)
        chirp = q.source.chirp if reading else q.target.chirp
        place, by = (self.from_, self.steps[0]) if reading else (self.to, self.steps[1])
        if chirp or step != 1 or self.lanes < _LANES or n < 2 * self.lanes:
            return None
        rows = p.x if reading else p.y
        if form is Form.BUFFER:
            memory = m.buffer_in if reading else m.buffer_out
        elif form is Form.PAIRS:
            if not rows.pairs(general=p.general) or (reading and rows.extent < p.n):
                return None
            memory = m.paired(m.x if reading else m.y)
        else:
            memory = m.x if reading else m.y
            whole = rows.extent >= p.length if reading else form is Form.COMPLEX or q.target.unpacked
            if not rows.complex or rows.kind.itemsize != 2 * m.size or not whole or (reading and form is Form.HALF):
                return None
        if not isinstance(memory.along, int) or (not by and isinstance(memory.lane, int)):
            return None
        lane = i64(by * memory.along) if by else memory.lane
        assert isinstance(lane, Value)
        return Runs(b.at(memory.base, b.mul(place, memory.along)), lane)

    def _from_places(self, own: Value, n: int, runs: Runs | None) -> None:
        """Results from where transforms in place left them."""
        b, m, unpacked = self.code.b, self.m, self.pass_.target.unpacked
        places = m.pointer("places", n)

        def held(k: Value) -> Number:
            return self._held(own, b.load("i64", b.at(places, b.mul(k, 8)), 8))

        def finish(k: Value) -> None:
            if unpacked:
                self.access.unpack(Place(k, 0), held(k), held(b.sub(n, k)))
            else:
                self._finish(k, held(k))

        total, whole = n + unpacked, 0
        if runs is not None:
            whole = total - total % self.lanes
            write_runs(self.code, m, runs, whole, finish)
        with b.loop(whole, total) as k:
            finish(k)

    def _unpack(self) -> Launch:
        """Results of real rows from transforms in a buffer: lanes are neighbours in a row."""
        code, b, m, p, q = self.code, self.code.b, self.m, self.problem, self.pass_
        half, lanes = p.length, self.lanes
        blocks = -(-(half + 1) // lanes)
        kind, size = (ElementKind.C128, 16) if p.kind is ElementKind.F64 else (ElementKind.C64, 8)
        with b.loop(code.begin, code.end) as unit:
            count = code.integer(blocks)
            row, block = b.div(unit, count), b.rem(unit, count)
            start = b.min(b.mul(block, lanes), code.integer(half + 1 - lanes))
            rest, y = row, code.operand(1)
            for a in range(len(p.outer) - 1, -1, -1):
                extent = code.integer(p.outer[a])
                y = b.at(y, b.mul(b.rem(rest, extent), code.integer(p.y.outer[a] * p.y.kind.itemsize)))
                rest = b.div(rest, extent)
            m.y = self._memory(p.y, y, None)
            base = b.at(code.scratch(self.starts[q.source.buffer]), b.mul(row, q.source.length * size))
            m.buffer_in = Memory(kind, base, size, 0)
            k = Place(start, 1)
            first, last = m.equal(k, 0), m.equal(k, half)
            zero = Place(i64(0), 0)
            a_ = m.load_buffer(q.source, m.pick(last, zero, k))
            other = m.load_buffer(q.source, m.pick(first, zero, m.from_(half, k)))
            self.access.unpack(k, a_, other)
        return code.step("unpack", (p.count if p.count else 0) * blocks, lanes * 1.5)
