"""Rows in order on the CPU, one after another on each thread: radix, least significant digit first, in its own memory.

The digits of all passes are counted while a row is read. A digit that all elements have in common takes no pass.
"""

from __future__ import annotations

from baracuda.codegen.llvm.ir import Value, i64
from baracuda.core.layout import round_up
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.lowering.sort.cpu.code import Integers, StepBuilder
from baracuda.lowering.sort.cpu.keys import KeyCode
from baracuda.lowering.sort.problem import INDICES, RANKS, VALUES, Sort, X
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

#: Bits of a digit at most, of rows that have fewer elements than _LONG and of others.
_FEW_BITS, _MANY_BITS, _LONG = 8, 11, 4096
#: Memory that all threads have together, at least and at most so many.
_MEMORY, _LEAST_SLOTS, _MOST_SLOTS = 1 << 26, 4, 64


class Rows:
    """The step that orders rows. Each of `slots` units of work takes its share of them, in scratch memory of its own: elements
    twice, and twice where in the row each is."""

    def __init__(self, sort: Sort, integers: Integers, target: CpuTarget) -> None:
        self.sort, self.integers, self.target = sort, integers, target
        wide = sort.length >= _LONG and sort.key_bits * sort.keys <= 64
        self.digits = sort.digits(_MANY_BITS if wide else _FEW_BITS)
        n, size = sort.length, sort.kind.itemsize
        self.elements, self.numbers = round_up(n * size, 64), round_up(4 * n, 64) if sort.indexed else 0
        self.each = 2 * (self.elements + self.numbers)
        self.slots = min(sort.rows, max(_LEAST_SLOTS, min(_MOST_SLOTS, _MEMORY // max(self.each, 1))))
        self.nbytes = self.slots * self.each

    def step(self) -> Launch:
        code = StepBuilder(self.integers, self.target)
        b, sort, keys = code.b, self.sort, KeyCode(code.b, self.sort)
        n, rows, slots = code.integer(sort.length), code.integer(sort.rows), code.integer(self.slots)
        iterator, along = row_iterator(code, sort)
        radix = 1 << self.digits[0][2]
        counts = b.array("i32", radix * len(self.digits))
        scratch, each = code.scratch(0), code.integer(self.each)
        second, numbers = code.integer(self.elements), code.integer(2 * self.elements)
        between = code.integer(self.numbers)
        with b.loop(code.begin, code.end) as slot:
            base = b.at(scratch, b.mul(slot, each))
            first, last = (b.div(b.mul(s, rows), slots) for s in (slot, b.add(slot, i64(1))))
            iterator.start(first)
            with b.loop(first, last):
                pointers = iterator.pointers()
                clear(code, counts, radix * len(self.digits))
                source, target = b.variable(base), b.variable(b.at(base, second))
                places = b.at(base, numbers)
                from_, to = b.variable(places), b.variable(b.at(places, between))
                with b.loop(0, n) as i:
                    words = keys.load(b.at(pointers[X], b.mul(i, along[X])))
                    keys.store(words, b.at(base, b.mul(i, sort.kind.itemsize)))
                    if sort.indexed:
                        code.set_u32(places, i, i)
                    of = keys.keys(words)
                    for number, digit in enumerate(self.digits):
                        at = b.add(keys.digit(of, *digit), i64(number * radix))
                        code.set_u32(counts, at, b.add(code.u32(counts, at), i64(1)))
                for number, digit in enumerate(self.digits):
                    places_of = b.at(counts, 4 * number * radix)
                    with b.if_(self._starts(code, places_of, 1 << digit[2], n)):
                        with b.loop(0, n) as i:
                            words = keys.load(b.at(source.get(), b.mul(i, sort.kind.itemsize)))
                            at = keys.digit(keys.keys(words), *digit)
                            place = code.u32(places_of, at)
                            code.set_u32(places_of, at, b.add(place, i64(1)))
                            keys.store(words, b.at(target.get(), b.mul(place, sort.kind.itemsize)))
                            if sort.indexed:
                                code.set_u32(to.get(), place, code.u32(from_.get(), i))
                        for one, other in ((source, target), (from_, to)):
                            a, c = one.get(), other.get()
                            one.set(c)
                            other.set(a)
                write_row(code, keys, sort, pointers, along, source.get(), from_.get())
                iterator.advance()
        per_element = 2.0 + 2.0 * len(self.digits)
        return code.step("rows", self.slots, sort.rows / max(self.slots, 1) * sort.length * per_element)

    def _starts(self, code: StepBuilder, counts: Value, radix: int, n: Value) -> Value:
        """Makes of counts where each digit begins; whether there are two digits or more."""
        b = code.b
        total, same = b.variable(i64(0)), b.variable(i64(0))
        with b.loop(0, radix) as digit:
            count = code.u32(counts, digit)
            code.set_u32(counts, digit, total.get())
            total.set(b.add(total.get(), count))
            same.set(b.or_(same.get(), b.convert("zext", b.equal(count, n), "i64")))
        return b.equal(same.get(), 0)


def row_iterator(code: StepBuilder, sort: Sort) -> tuple[StridedIterator, dict[int, Value]]:
    """What goes from row to row, and the strides in bytes along a row, by the number of the tensor."""
    strides = {i: code.numbers([s * t.kind.itemsize for s in t.outer]) for i, t in sort.tensors.items()}
    along = {i: code.integer(t.along * t.kind.itemsize) for i, t in sort.tensors.items()}
    extents = code.numbers(sort.outer)
    return StridedIterator(code.b, extents, strides, {i: code.operand(i) for i in strides}), along


def clear(code: StepBuilder, counts: Value, count: int) -> None:
    """Zeros in an array of 32-bit numbers."""
    b = code.b
    step = min(count, 16)
    zeros = Value(f"<{step} x i32>", "zeroinitializer") if step > 1 else Value("i32", "0")
    with b.loop(0, count, step) as i:
        b.store(zeros, b.at(counts, b.mul(i, 4)), 4 * step if step == 16 else 4)


def write_row(
    code: StepBuilder,
    keys: KeyCode,
    sort: Sort,
    pointers: dict[int, Value],
    along: dict[int, Value],
    elements: Value,
    places: Value,
) -> None:
    """The wanted places of an ordered row, and the place of each element."""
    b = code.b
    first, count = code.integer(sort.first), code.integer(sort.count)
    if sort.values is not None or sort.indices is not None:
        with b.loop(0, count) as i:
            place = b.add(first, i)
            if sort.values is not None:
                words = keys.load(b.at(elements, b.mul(place, sort.kind.itemsize)))
                keys.store(words, b.at(pointers[VALUES], b.mul(i, along[VALUES])))
            if sort.indices is not None:
                at = b.at(pointers[INDICES], b.mul(i, along[INDICES]))
                b.store(b.convert("trunc", code.u32(places, place), f"i{sort.indices.kind.bits}"), at, 4)
    if sort.ranks is not None:
        kind = f"i{sort.ranks.kind.bits}"
        with b.loop(0, code.integer(sort.length)) as i:
            at = b.at(pointers[RANKS], b.mul(code.u32(places, i), along[RANKS]))
            b.store(b.convert("trunc", i, kind), at, 4)
