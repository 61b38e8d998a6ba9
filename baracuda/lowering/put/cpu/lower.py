"""Puts on the CPU.

Each thread goes through all positions in order and writes those whose destinations are its own, so that the last one stays; the
destinations are dealt out in groups of neighbours. Positions that have a destination each are dealt out themselves. What is read
where the last position of a destination was put takes zeros, maxima of numbers, and the reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext

from baracuda.codegen.llvm.ir import Value, i64, vector
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.lowering.put.problem import INDEX, OPERANDS, Put, X, Y
from baracuda.lowering.scatter.problem import unit_inner
from baracuda.lowering.sort.cpu.code import BLOCK, Integers, KeyReader, StepBuilder
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.pool import get_num_threads
from baracuda.runtime.program import Launch, Lowered


def ways(problem: Put, target: CpuTarget) -> Iterator[Lowered]:
    """The program of a normalised problem."""
    yield lower(problem, target)


def lower(problem: Put, target: CpuTarget | None = None) -> Lowered:
    """The program of a normalised problem."""
    code = _Code(problem, Integers(OPERANDS, 0), target or host())
    if problem.once or not problem.reading:
        steps, schedule, nbytes = [code.moves() if problem.once else code.writes()], "put", 0
    else:
        steps, schedule, nbytes = [code.zeros(), code.maxima(), code.moves()], "maxima, read", problem.workspace_bytes
    return Lowered(tuple(steps), tuple(code.integers.values), nbytes, schedule)


#: Threads that destinations are dealt out to at most, nanoseconds of writing that a thread should have at least, and how many
#: neighbours make a group: 2 to this.
_SHARES, _FEWEST_NS, _GROUP_BITS = 8, 1 << 15, 2
#: Bytes of a row below which one thread is faster than several that pass over what is not theirs.
_SMALL_ROW = 64


class _Code:
    def __init__(self, problem: Put, integers: Integers, target: CpuTarget) -> None:
        self.problem, self.integers, self.target = problem, integers, target
        walk = problem.walk
        size = walk.y.kind.itemsize
        most = target.vector_bits // (8 * size)
        self.lanes = min(most, 1 << (walk.inner[-1].bit_length() - 1)) if unit_inner(walk) else 1
        #: About what one position takes on one thread, in nanoseconds.
        self.position_ns = 2.0 + walk.columns * size * (0.1 if self.lanes > 1 else 0.5)

    def zeros(self) -> Launch:
        keys, code = self.problem.keys, StepBuilder(self.integers, self.target)
        b = code.b
        numbers, zero = code.scratch(0), Value("i32", "0")
        if keys.count <= keys.positions:
            n = code.integer(keys.count)
            with b.loop(b.mul(code.begin, BLOCK), b.min(b.mul(code.end, BLOCK), n)) as d:
                b.store(zero, b.at(numbers, b.mul(d, 4)), 4)
            return code.step("zeros", -(-keys.count // BLOCK), BLOCK * 0.2)
        reader, count = KeyReader(code, keys, INDEX), code.integer(keys.count)
        first, last = self._range(code)
        reader.start(first)
        with b.loop(first, last):
            d = reader.get()
            with b.if_(b.less(d, count)):
                # threads may meet here: each writes the same
                b.line(f"store atomic i32 0, ptr {b.at(numbers, b.mul(d, 4)).name} monotonic, align 4")
            reader.advance()
        return code.step("zeros", -(-keys.positions // BLOCK), BLOCK * 1.5)

    def maxima(self) -> Launch:
        keys, code = self.problem.keys, StepBuilder(self.integers, self.target)
        b = code.b
        numbers, reader, count = code.scratch(0), KeyReader(code, keys, INDEX), code.integer(keys.count)
        first, last = self._range(code)
        reader.start(first)
        with b.loop(first, last) as p:
            d = reader.get()
            with b.if_(b.less(d, count)):
                number = b.convert("trunc", b.add(p, i64(1)), "i32")
                b.emit("i32", f"atomicrmw umax ptr {b.at(numbers, b.mul(d, 4)).name}, i32 {number.name} monotonic, align 4")
            reader.advance()
        return code.step("maxima", -(-keys.positions // BLOCK), BLOCK * 6.0)

    def _range(self, code: StepBuilder) -> tuple[Value, Value]:
        b = code.b
        return b.mul(code.begin, BLOCK), b.min(b.mul(code.end, BLOCK), code.integer(self.problem.keys.positions))

    @property
    def _block(self) -> int:
        """Positions to a unit of the writes."""
        return max(1, BLOCK // (1 + int(self.position_ns / 20)))

    def writes(self) -> Launch:
        """A unit for each share of the destinations."""
        problem, walk = self.problem, self.problem.walk
        keys, code = walk.keys, StepBuilder(self.integers, self.target)
        b, size = code.b, walk.y.kind.itemsize
        shares, most = 1, get_num_threads() if walk.columns * size >= _SMALL_ROW else 1
        while shares < min(_SHARES, most) and keys.positions * self.position_ns > 2 * shares * _FEWEST_NS:
            shares *= 2
        reader, count, last = KeyReader(code, keys, INDEX), code.integer(keys.count), code.integer(shares - 1)
        strides = {X: code.numbers([s * size for s in problem.x.outer])}
        x = StridedIterator(b, code.numbers(keys.shape), strides, {X: code.operand(X)})
        destinations, pitches = code.numbers(walk.destinations), code.numbers([s * size for s in walk.y.outer])
        y, n = code.operand(Y), code.integer(keys.positions)
        rows = _Rows(code, problem, self.lanes)
        with b.loop(code.begin, code.end) as share:
            reader.start(i64(0))
            x.start(i64(0))
            with b.loop(0, n):
                d = reader.get()
                mine = b.equal(b.and_(b.shr(d, _GROUP_BITS), last), share) if shares > 1 else None
                if keys.skip is not None:
                    there = b.less(d, count)
                    mine = there if mine is None else b.and_(mine, there)
                with nullcontext() if mine is None else b.if_(mine):
                    rows.copy(x.pointers()[X], _row(code, y, d, destinations, pitches), None)
                reader.advance()
                x.advance()
        return code.step("put", shares, keys.positions * (1.0 + self.position_ns / shares))

    def moves(self) -> Launch:
        """A unit for some positions."""
        problem, walk = self.problem, self.problem.walk
        keys, code = walk.keys, StepBuilder(self.integers, self.target)
        b, size = code.b, walk.y.kind.itemsize
        reader, count = KeyReader(code, keys, INDEX), code.integer(keys.count)
        numbers = None if problem.once else code.scratch(0)
        extents = code.numbers(keys.shape)
        x = StridedIterator(b, extents, {X: code.numbers([s * size for s in problem.x.outer])}, {X: code.operand(X)})
        destinations, pitches = code.numbers(walk.destinations), code.numbers([s * size for s in walk.y.outer])
        y = code.operand(Y)
        rows = _Rows(code, problem, self.lanes)
        block = self._block
        first = b.mul(code.begin, block)
        last = b.min(b.mul(code.end, block), code.integer(keys.positions))
        reader.start(first)
        x.start(first)
        with b.loop(first, last) as p:
            d = reader.get()
            known = b.less(d, count) if keys.skip is not None else None
            at = d if known is None else b.select(known, d, i64(0))
            chosen = known
            if numbers is not None:
                mine = b.equal(code.u32(numbers, at), b.add(p, i64(1)))
                chosen = mine if known is None else b.and_(known, mine)
            target, source = _row(code, y, at, destinations, pitches), x.pointers()[X]
            if problem.reading:
                rows.copy(target, source, chosen)
            elif chosen is None:
                rows.copy(source, target, None)
            else:
                with b.if_(chosen):
                    rows.copy(source, target, None)
            reader.advance()
            x.advance()
        return code.step("put", -(-keys.positions // block), block * self.position_ns)


def _row(code: StepBuilder, base: Value, number: Value, extents: Sequence[Value], pitches: Sequence[Value]) -> Value:
    """The address of a destination."""
    b, rest, pointer = code.b, number, base
    for axis in range(len(extents) - 1, -1, -1):
        coordinate = rest if axis == 0 else b.rem(rest, extents[axis])
        pointer = b.at(pointer, b.mul(coordinate, pitches[axis]))
        rest = b.div(rest, extents[axis]) if axis else rest
    return pointer


class _Rows:
    """The columns of one position or destination."""

    def __init__(self, code: StepBuilder, problem: Put, lanes: int) -> None:
        self.code, self.problem, self.lanes = code, problem, lanes
        walk = problem.walk
        self.size = walk.y.kind.itemsize
        self.type = f"i{8 * self.size}"
        self.outer = code.numbers(walk.inner[:-1])
        self.outer_count = code.integer(walk.columns // walk.inner[-1])
        self.last = code.integer(walk.inner[-1])
        from_, to = (walk.y, problem.x) if problem.reading else (problem.x, walk.y)
        self.from_strides = code.numbers([s * self.size for s in from_.inner])
        self.to_strides = code.numbers([s * self.size for s in to.inner])

    def copy(self, source: Value, target: Value, chosen: Value | None) -> None:
        """The columns, or zeros where they are not chosen."""
        b = self.code.b
        if len(self.outer) == 0:
            self._line(source, target, chosen)
            return
        walk = StridedIterator(b, self.outer, {0: self.from_strides[:-1], 1: self.to_strides[:-1]}, {0: source, 1: target})
        walk.start(i64(0))
        with b.loop(0, self.outer_count):
            pointers = walk.pointers()
            self._line(pointers[0], pointers[1], chosen)
            walk.advance()

    def _line(self, source: Value, target: Value, chosen: Value | None) -> None:
        b = self.code.b
        done: Value = i64(0)
        if self.problem.walk.columns == 1:
            self._element(source, target, 1, chosen)
            return
        if self.lanes > 1:
            done = b.and_(self.last, -self.lanes)
            with b.loop(0, done, self.lanes) as j:
                at = b.mul(j, self.size)
                self._element(b.at(source, at), b.at(target, at), self.lanes, chosen)
        with b.loop(done, self.last) as j:
            self._element(b.at(source, b.mul(j, self.from_strides[-1])), b.at(target, b.mul(j, self.to_strides[-1])), 1, chosen)

    def _element(self, source: Value, target: Value, lanes: int, chosen: Value | None) -> None:
        b, type_ = self.code.b, vector(self.type, lanes)
        value = b.load(type_, source, self.size)
        if chosen is not None:
            value = b.select(chosen, value, Value(type_, "zeroinitializer" if lanes > 1 else "0"))
        b.store(value, target, self.size)
