"""Compactions on the CPU: blocks of elements shared by threads; between the halves one thread adds the counts up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from baracuda.codegen.llvm.ir import Value, Variable, i64, intrinsic, vector
from baracuda.lowering.compaction.problem import (
    BASE,
    BITS,
    BLOCK,
    MARKED,
    MARKS_BITS,
    MARKS_OFFSETS,
    MARKS_OPERANDS,
    OFFSETS,
    OPERANDS,
    WORD,
    Compaction,
    Marks,
    Mode,
    X,
    Y,
    blocks_of,
)
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.lowering.sort.cpu.code import Integers, StepBuilder
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.program import Launch, Lowered


def ways(problem: Compaction | Marks, target: CpuTarget) -> Iterator[Lowered]:
    """The program of a normalised problem."""
    yield lower_marks(problem, target) if isinstance(problem, Marks) else lower(problem, target)


# --- marks ------------------------------------------------------------------------------------------------------------


def lower_marks(problem: Marks, target: CpuTarget | None = None) -> Lowered:
    """Words and counts of the blocks; then the counts before each."""
    integers = Integers(MARKS_OPERANDS, 0)
    steps = (_words(problem, integers, target or host()), _added(problem, integers, target or host()))
    return Lowered(steps, tuple(integers.values), 0, "marks")


def _words(problem: Marks, integers: Integers, target: CpuTarget) -> Launch:
    code = StepBuilder(integers, target)
    b, size = code.b, problem.kind.itemsize
    n, x, bits, offsets = code.integer(problem.count), code.operand(MARKED), code.operand(MARKS_BITS), code.operand(MARKS_OFFSETS)
    lanes = 64 // size if problem.stride is None else 1
    stride = i64(size) if problem.stride is None else code.integer(problem.stride * size)
    type_ = f"i{8 * size}"

    def marked(at: Value, count: int) -> Value:
        value = b.load(vector(type_, count), b.at(x, b.mul(at, stride)), size)
        if problem.significant != (1 << 8 * size) - 1:
            mask = Value(type_, str(problem.significant))
            value = b.op("and", value, b.splat(mask, count))
        zero = "zeroinitializer" if count > 1 else "0"
        return b.compare("icmp ne", value, Value(value.type, zero))

    with b.loop(code.begin, code.end) as block:
        first = b.mul(block, BLOCK)
        last = b.min(b.add(first, BLOCK), n)
        total = b.variable(i64(0))

        def put(word_at: Value, word: Value, total: Variable = total) -> None:
            b.store(word, b.at(bits, b.mul(b.shr(word_at, 6), 8)), 8)
            total.set(b.add(total.get(), b.call("i64", intrinsic("ctpop", "i64"), word)))

        whole = b.and_(last, -WORD)
        if lanes == 1:
            whole = first
        with b.loop(first, whole, WORD) as i:
            word: Value | None = None
            for k in range(0, WORD, lanes):
                found = marked(b.add(i, k), lanes)
                part = b.emit(f"i{lanes}", f"bitcast {found.type} {found.name} to i{lanes}")
                part = b.convert("zext", part, "i64")
                part = b.shl(part, k) if k else part
                word = part if word is None else b.or_(word, part)
            assert word is not None
            put(i, word)
        rest = b.variable(i64(0))
        with b.loop(whole, last, WORD) as begin:  # what is no whole word, or lies apart
            rest.set(i64(0))
            with b.loop(begin, b.min(b.add(begin, WORD), last)) as i:
                one = b.convert("zext", marked(i, 1), "i64")
                rest.set(b.or_(rest.get(), b.shl(one, b.sub(i, begin))))
            put(begin, rest.get())
        b.store(total.get(), b.at(offsets, b.mul(b.add(block, i64(1)), 8)), 8)
    return code.step("marks", blocks_of(problem.count), BLOCK * size * 0.06)


def _added(problem: Marks, integers: Integers, target: CpuTarget) -> Launch:
    code = StepBuilder(integers, target)
    b = code.b
    offsets, blocks = code.operand(MARKS_OFFSETS), code.integer(blocks_of(problem.count))
    total = b.variable(i64(0))
    b.store(i64(0), offsets, 8)
    with b.loop(1, b.add(blocks, i64(1))) as i:
        at = b.at(offsets, b.mul(i, 8))
        total.set(b.add(total.get(), b.load("i64", at, 8)))
        b.store(total.get(), at, 8)
    return code.step("running sum", 1, 1.0)


# --- compactions ------------------------------------------------------------------------------------------------------


def lower(problem: Compaction, target: CpuTarget | None = None) -> Lowered:
    """One step over the blocks."""
    code = _Code(problem, Integers(OPERANDS, 0), target or host())
    step = code.spread() if problem.mode is Mode.SPREAD else code.listed()
    return Lowered((step,), tuple(code.code.integers.values), 0, problem.mode.value)


class _Code:
    def __init__(self, problem: Compaction, integers: Integers, target: CpuTarget) -> None:
        self.problem, self.code = problem, StepBuilder(integers, target)
        self.b = self.code.b
        self.size = problem.kind.itemsize
        self.type = f"i{8 * self.size}"
        self.bits, self.offsets, self.y = map(self.code.operand, (BITS, OFFSETS, Y))
        self.n, self.ranks = self.code.integer(problem.count), self.code.integer(problem.size)

    def _word(self, at: Value) -> Value:
        """The word of bits whose first element has this number."""
        b = self.b
        return b.load("i64", b.at(self.bits, b.mul(b.shr(at, 6), 8)), 8)

    def _offset(self, block: Value) -> Value:
        return self.b.load("i64", self.b.at(self.offsets, self.b.mul(block, 8)), 8)

    def _moved(self, source: Value, target: Value) -> None:
        self.b.store(self.b.load(self.type, source, self.size), target, self.size)

    def listed(self) -> Launch:
        """Coordinates, or elements packed. Those of one row, along the last axis, have the rest of the coordinates in common."""
        code, b, problem = self.code, self.b, self.problem
        extents = code.numbers(problem.shape)
        steps = code.numbers([s * self.size for s in problem.y])
        row = _Rows(code, extents)
        x = code.operand(X) if problem.mode is Mode.PACKED else None
        strides = code.numbers([s * self.size for s in problem.x or ()])
        one_row = len(extents) == 1
        if x is not None and not one_row:
            row.offsets(strides)
        with b.loop(code.begin, code.end) as block:
            first = b.mul(block, BLOCK)
            last = b.min(b.add(first, BLOCK), self.n)
            rank, end = b.variable(self._offset(block)), b.min(self._offset(b.add(block, i64(1))), self.ranks)
            row.reset()
            with b.if_(b.less(rank.get(), end)), b.loop(first, last, WORD) as at:
                word = b.variable(self._word(at))
                with b.while_(lambda: b.and_(b.compare("icmp ne", word.get(), 0), b.less(rank.get(), end))):
                    lowest = b.call("i64", intrinsic("cttz", "i64"), word.get(), Value("i1", "true"))
                    place = b.add(at, lowest)
                    target = b.at(self.y, b.mul(rank.get(), steps[0]))
                    if not one_row:
                        row.enter(place)
                    along = place if one_row else b.sub(place, row.start.get())
                    if x is not None:
                        source = b.at(x, b.mul(along, strides[-1]))
                        self._moved(source if one_row else b.at(source, row.offset.get()), target)
                    else:
                        coordinates = [*(c.get() for c in row.coordinates), along]
                        for axis, coordinate in enumerate(coordinates):
                            b.store(coordinate, b.at(target, b.mul(steps[1], axis)), 8)
                    rank.set(b.add(rank.get(), i64(1)))
                    word.set(b.and_(word.get(), b.sub(word.get(), i64(1))))
        return code.step(problem.mode.value, blocks_of(problem.count), BLOCK * 1.0)

    def spread(self) -> Launch:
        """Elements from where they are packed back to where they are set."""
        code, b, problem = self.code, self.b, self.problem
        x = code.operand(X)
        assert problem.x is not None
        step = code.integer(problem.x[0] * self.size)
        extents = code.numbers(problem.shape)
        bases, strides = {Y: self.y}, {Y: code.numbers([s * self.size for s in problem.y])}
        if problem.base is not None:
            bases[BASE], strides[BASE] = code.operand(BASE), code.numbers([s * self.size for s in problem.base])
        walk = StridedIterator(b, extents, strides, bases)
        highest = code.integer(problem.size - 1)
        with b.loop(code.begin, code.end) as block:
            first = b.mul(block, BLOCK)
            last = b.min(b.add(first, BLOCK), self.n)
            before = self._offset(block)
            rank = b.variable(b.rem(before, self.ranks) if problem.cyclic else before)
            walk.start(first)
            with b.loop(first, last, WORD) as at:
                word = b.variable(self._word(at))
                with b.loop(at, b.min(b.add(at, WORD), last)):
                    here = walk.pointers()
                    bit = b.and_(word.get(), 1)
                    is_set = b.equal(bit, 1)
                    held = rank.get() if problem.cyclic else b.min(rank.get(), highest)
                    source = b.at(x, b.mul(held, step))
                    if BASE in here:
                        value = b.load(self.type, b.select(is_set, source, here[BASE]), self.size)
                    else:
                        value = b.select(is_set, b.load(self.type, source, self.size), Value(self.type, "0"))
                    b.store(value, here[Y], self.size)
                    next_ = b.add(rank.get(), bit)
                    rank.set(b.select(b.less(highest, next_), i64(0), next_) if problem.cyclic else next_)
                    word.set(b.shr(word.get(), 1))
                    walk.advance()
        return code.step(problem.mode.value, blocks_of(problem.count), BLOCK * 1.5)


class _Rows:
    """The row that an element is in: where it begins and ends, and the coordinates of its axes."""

    def __init__(self, code: StepBuilder, extents: Sequence[Value]) -> None:
        self.b, self.extents = code.b, extents
        make = partial(self.b.variable, i64(0))
        self.start, self.end = make(), make()
        self.coordinates = [make() for _ in extents[:-1]]
        self.offset = make()
        self.strides: Sequence[Value] | None = None

    def offsets(self, strides: Sequence[Value]) -> None:
        """Have `offset` be that of the row's first element."""
        self.strides = strides

    def reset(self) -> None:
        self.start.set(0)
        self.end.set(0)

    def enter(self, place: Value) -> None:
        """Find the row of an element, unless it is the present one."""
        b, last = self.b, self.extents[-1]
        with b.else_(b.less(place, self.end.get())):
            number = b.div(place, last)
            self.start.set(b.mul(number, last))
            self.end.set(b.add(self.start.get(), last))
            rest = number
            for axis in range(len(self.extents) - 2, -1, -1):
                self.coordinates[axis].set(b.rem(rest, self.extents[axis]) if axis else rest)
                rest = b.div(rest, self.extents[axis]) if axis else rest
            if self.strides is not None:
                total = i64(0)
                for coordinate, stride in zip(self.coordinates, self.strides[:-1], strict=True):
                    total = b.add(total, b.mul(coordinate.get(), stride))
                self.offset.set(total)
