"""Rows in order on a CPU with vectors of 512 bits: quicksort whose partitions are compressed stores, and sorting networks for
what fits the registers.

It orders unsigned words. A word of 64 bits is a key of up to 32 above the place in the row, so that no two are equal and the
order is stable; where only values are wanted, a word is a key alone. Then equal elements of different bits, zeros and NaN, are
written again at the end, as they follow one another in the row.
"""

from __future__ import annotations

from collections.abc import Callable

from baracuda.codegen.llvm.ir import Builder, Value, constant, i64, intrinsic, vector
from baracuda.core.elements import Category
from baracuda.core.layout import round_up
from baracuda.lowering.sort.cpu.code import Integers, StepBuilder
from baracuda.lowering.sort.cpu.keys import KeyCode
from baracuda.lowering.sort.cpu.networks import network
from baracuda.lowering.sort.cpu.rows import row_iterator
from baracuda.lowering.sort.problem import INDICES, RANKS, VALUES, Sort, X
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

#: Vectors that a network orders at most.
_VECTORS = 16
#: Parts that wait to be ordered at most, and how many times a part is cut at a sample's median before it is cut in the middle of
#: its values, which ends after as many cuts as a word has bits.
_WAITING, _CUTS = 192, 60
_MEMORY, _LEAST_SLOTS, _MOST_SLOTS = 1 << 26, 4, 64


def suits(sort: Sort, target: CpuTarget) -> bool:
    """Whether a problem's elements are words here."""
    return target.vector_bits == 512 and not sort.complex and (sort.key_bits <= 32 or not sort.indexed)


class VectorRows:
    """The step that orders rows. Each of `slots` units of work takes its share of them, in two arrays of words of its own."""

    def __init__(self, sort: Sort, integers: Integers, target: CpuTarget) -> None:
        self.sort, self.integers, self.target = sort, integers, target
        self.bits = 64 if sort.indexed or sort.key_bits > 32 else 32
        self.type, self.size, self.lanes = f"i{self.bits}", self.bits // 8, 512 // self.bits
        self.array = round_up(sort.length * self.size, 64)
        self.slots = min(sort.rows, max(_LEAST_SLOTS, min(_MOST_SLOTS, _MEMORY // max(2 * self.array, 1))))
        self.nbytes = self.slots * 2 * self.array

    def step(self) -> Launch:
        code = StepBuilder(self.integers, self.target)
        b, sort = code.b, self.sort
        n, rows, slots = code.integer(sort.length), code.integer(sort.rows), code.integer(self.slots)
        iterator, along = row_iterator(code, sort)
        scratch, size = code.scratch(0), code.integer(self.array)
        # only parts with a place that is wanted are put in order
        wanted = None if sort.ranks is not None else (code.integer(sort.first), code.integer(sort.first + sort.count))
        row = _Row(code, self, KeyCode(b, sort), along, n)
        with b.loop(code.begin, code.end) as slot:
            words = b.at(scratch, b.mul(slot, b.mul(size, 2)))
            first, last = (b.div(b.mul(s, rows), slots) for s in (slot, b.add(slot, i64(1))))
            iterator.start(first)
            with b.loop(first, last):
                pointers = iterator.pointers()
                row.read(pointers[X], words)
                _Quicksort(code, self, words, b.at(words, size), wanted).run(n)
                row.write(pointers, words)
                iterator.advance()
        per_row = sort.length * (2.0 + 0.3 * max(sort.length, 2).bit_length())
        return code.step("vectors", self.slots, sort.rows / max(self.slots, 1) * per_row)


class _Row:
    """A row's elements as words, and words as its results."""

    def __init__(self, code: StepBuilder, rows: VectorRows, keys: KeyCode, along: dict[int, Value], n: Value) -> None:
        self.code, self.b, self.rows, self.keys, self.along, self.n = code, code.b, rows, keys, along, n
        self.sort = rows.sort
        self.nans, self.negative = code.b.variable(i64(0)), code.b.variable(i64(0))

    def _over(self, count: Value, unit: bool, body: Callable[[Value, int], None]) -> None:
        """A body over 0 ... count - 1: with the first of some lanes and their number, or one by one."""
        b, lanes = self.b, self.rows.lanes
        whole = b.sub(count, b.rem(count, lanes)) if unit else i64(0)
        if unit:
            with b.loop(0, whole, lanes) as i:
                body(i, lanes)
        with b.loop(whole, count) as i:
            body(i, 1)

    def _is_unit(self, *tensors: int) -> bool:
        """Whether neighbours in rows of these tensors are neighbours in memory."""
        return not self.sort.general and all(self.sort.tensors[t].along == 1 for t in tensors if t in self.sort.tensors)

    def read(self, x: Value, words: Value) -> None:
        b, sort, rows, keys = self.b, self.sort, self.rows, self.keys
        self.nans.set(i64(0))
        self.negative.set(i64(0))

        def body(i: Value, lanes: int) -> None:
            bits = b.load(vector(keys.type, lanes), b.at(x, b.mul(i, self.along[X])), keys.size)
            (key,) = keys.keys([bits])
            word = b.convert("zext", key, vector(rows.type, lanes))
            if sort.indexed:
                numbers = i if lanes == 1 else b.add(b.splat(i, lanes), b.iota(lanes, "i64"))
                word = b.or_(b.shl(word, constant("i64", 32, lanes)), numbers)
            elif sort.kind.is_float:
                zero = b.compare("icmp eq", bits, constant(keys.type, 1 << (keys.bits - 1), lanes))
                self.nans.set(b.add(self.nans.get(), _number(b, keys.is_nan(bits))))
                self.negative.set(b.add(self.negative.get(), _number(b, zero)))
            b.store(word, b.at(words, b.mul(i, rows.size)), rows.size)

        self._over(self.n, self._is_unit(X), body)

    def write(self, pointers: dict[int, Value], words: Value) -> None:
        b, sort, rows, code = self.b, self.sort, self.rows, self.code
        first, count = code.integer(sort.first), code.integer(sort.count)

        def word(i: Value, lanes: int) -> Value:
            return b.load(vector(rows.type, lanes), b.at(words, b.mul(b.add(first, i), rows.size)), rows.size)

        def place(i: Value, lanes: int) -> Value:
            return b.and_(word(i, lanes), constant("i64", 0xFFFFFFFF, lanes))

        def index(i: Value, lanes: int) -> None:
            assert sort.indices is not None
            at = b.at(pointers[INDICES], b.mul(i, self.along[INDICES]))
            b.store(b.convert("trunc", place(i, lanes), vector(f"i{sort.indices.kind.bits}", lanes)), at, 4)

        def moved(i: Value, lanes: int) -> None:
            bits = self.keys.load(b.at(pointers[X], b.mul(place(i, lanes), self.along[X])))
            self.keys.store(bits, b.at(pointers[VALUES], b.mul(i, self.along[VALUES])))

        def value(i: Value, lanes: int) -> None:
            self.keys.store([self._bits(word(i, lanes))], b.at(pointers[VALUES], b.mul(i, self.along[VALUES])))

        if sort.indices is not None:
            self._over(count, self._is_unit(INDICES), index)
        if sort.values is not None:
            self._over(count, not sort.indexed and self._is_unit(VALUES), moved if sort.indexed else value)
        if sort.ranks is not None:
            with b.loop(0, self.n) as i:
                at = b.and_(b.load("i64", b.at(words, b.mul(i, 8)), 8), 0xFFFFFFFF)
                to = b.at(pointers[RANKS], b.mul(at, self.along[RANKS]))
                b.store(b.convert("trunc", i, f"i{sort.ranks.kind.bits}"), to, 4)
        if not sort.indexed and sort.kind.is_float:
            self._again(pointers, first, count)

    def _bits(self, word: Value) -> Value:
        """The elements that keys alone stand for."""
        b, keys, sort, lanes = self.b, self.keys, self.sort, word.lanes
        every = constant(keys.type, (1 << keys.bits) - 1, lanes)
        key = b.convert("trunc", word, vector(keys.type, lanes))
        if sort.descending:
            key = b.op("xor", key, constant(keys.type, (1 << sort.key_bits) - 1, lanes))
        sign = constant(keys.type, 1 << (keys.bits - 1), lanes)
        if sort.kind.is_float:  # all bits turned of what has no sign there
            turned = b.op("ashr", key, constant(keys.type, keys.bits - 1, lanes))
            return b.op("xor", key, b.or_(b.op("xor", turned, every), sign))
        return b.op("xor", key, sign) if sort.kind.category is Category.SIGNED else key

    def _again(self, pointers: dict[int, Value], first: Value, count: Value) -> None:
        """NaN, and zeros where a negative one is among them, in the order of the row."""
        b, sort, keys = self.b, self.sort, self.keys
        (zero,) = keys.keys([constant(keys.type, 0)])

        def each(start: Value, chosen: Callable[[Value], Value]) -> None:
            place = b.variable(b.sub(start, first))
            with b.loop(0, self.n) as i:
                (bits,) = keys.load(b.at(pointers[X], b.mul(i, self.along[X])))
                with b.if_(chosen(bits)):
                    inside = b.and_(b.less(-1, place.get()), b.less(place.get(), count))
                    with b.if_(inside):
                        keys.store([bits], b.at(pointers[VALUES], b.mul(place.get(), self.along[VALUES])))
                    place.set(b.add(place.get(), i64(1)))

        with b.if_(b.less(0, self.nans.get()), seldom=True):
            start = i64(0) if sort.nan_first else b.sub(self.n, self.nans.get())
            each(start, keys.is_nan)
        with b.if_(b.less(0, self.negative.get()), seldom=True):
            below = b.variable(i64(0))
            with b.loop(0, self.n) as i:
                (key,) = keys.keys(keys.load(b.at(pointers[X], b.mul(i, self.along[X]))))
                below.set(b.add(below.get(), b.convert("zext", b.compare("icmp ult", key, zero), "i64")))
            magnitude = constant(keys.type, (1 << (keys.bits - 1)) - 1)
            each(below.get(), lambda bits: b.compare("icmp eq", b.and_(bits, magnitude), 0))


def _number(b: Builder, mask: Value) -> Value:
    """How many bits of a mask are set, in 64 bits."""
    bits = f"i{mask.lanes}"
    if mask.lanes == 1:
        return b.convert("zext", mask, "i64")
    return b.convert("zext", b.call(bits, f"llvm.ctpop.{bits}", b.convert("bitcast", mask, bits)), "i64")


class _Quicksort:
    """Words in order, from one array and by way of another."""

    def __init__(
        self, code: StepBuilder, rows: VectorRows, words: Value, other: Value, wanted: tuple[Value, Value] | None
    ) -> None:
        self.code, self.b, self.words, self.other, self.wanted = code, code.b, words, other, wanted
        self.type, self.size, self.lanes = rows.type, rows.size, rows.lanes
        self.whole, self.mask = vector(rows.type, rows.lanes), vector("i1", rows.lanes)
        self.leaf = _VECTORS * rows.lanes

    def run(self, n: Value) -> None:
        b = self.b
        with b.if_(b.less(n, self.leaf + 1)):
            self._ordered(self.words, i64(0), n)
        with b.if_(b.less(self.leaf, n)):
            self._parts(n)

    def _parts(self, n: Value) -> None:
        b = self.b
        waiting = b.array("i64", 3 * _WAITING)
        top = b.variable(i64(0))

        def push(low: Value, high: Value, state: Value) -> None:
            if self.wanted is None:
                wait(low, high, state)
                return
            first, last = self.wanted
            with b.if_(b.and_(b.less(low, last), b.less(first, high))):
                wait(low, high, state)

        def wait(low: Value, high: Value, state: Value) -> None:
            for k, value in enumerate((low, high, state)):
                b.store(value, b.at(waiting, b.mul(b.add(b.mul(top.get(), 3), i64(k)), 8)), 8)
            top.set(b.add(top.get(), i64(1)))

        push(i64(0), n, i64(0))  # the state has in bit 0 which array a part is in, above it how often it was cut
        with b.while_(lambda: b.less(0, top.get())):
            top.set(b.sub(top.get(), i64(1)))
            low, high, state = (b.load("i64", b.at(waiting, b.mul(b.add(b.mul(top.get(), 3), i64(k)), 8)), 8) for k in range(3))
            second = b.equal(b.and_(state, 1), 1)
            source, target = b.select(second, self.other, self.words), b.select(second, self.words, self.other)
            small = b.less(b.sub(high, low), self.leaf + 1)
            with b.if_(small):
                self._ordered(source, low, high)
            with b.else_(small):
                pivot = self._pivot(source, low, high, b.shr(state, 1))
                between = self._cut(source, target, low, high, pivot, "ult")
                turned = b.op("xor", b.add(state, i64(2)), i64(1))
                nothing = b.equal(between, low)
                with b.if_(nothing):  # the pivot is the smallest: what equals it is in order
                    self._equal(source, target, low, high, pivot, lambda start: push(start, high, turned))
                with b.else_(nothing):
                    # the larger part waits longer, so that few do
                    left_is_small = b.less(b.sub(between, low), b.sub(high, between))
                    push(b.select(left_is_small, between, low), b.select(left_is_small, high, between), turned)
                    push(b.select(left_is_small, low, between), b.select(left_is_small, between, high), turned)

    def _address(self, array: Value, i: Value) -> Value:
        return self.b.at(array, self.b.mul(i, self.size))

    def _word(self, array: Value, i: Value) -> Value:
        return self.b.load(self.type, self._address(array, i), self.size)

    def _pivot(self, source: Value, low: Value, high: Value, cuts: Value) -> Value:
        """The median of a sample; after many cuts the middle of the values."""
        b = self.b
        step = b.div(b.sub(high, low), self.lanes)
        sample = Value(self.whole, "poison")
        for lane in range(self.lanes):
            word = self._word(source, b.add(low, b.add(b.mul(step, lane), b.shr(step, 1))))
            text = f"insertelement {self.whole} {sample.name}, {self.type} {word.name}, i64 {lane}"
            sample = b.emit(self.whole, text)
        (ordered,) = network(b, [sample])
        pivot = b.variable(b.extract(ordered, self.lanes // 2))
        with b.if_(b.less(_CUTS, cuts), seldom=True):
            least, most = b.variable(constant(self.type, (1 << 8 * self.size) - 1)), b.variable(constant(self.type, 0))
            with b.loop(low, high) as i:
                word = self._word(source, i)
                for extreme, predicate in ((least, "icmp ult"), (most, "icmp ugt")):
                    now = extreme.get()
                    extreme.set(b.select(b.compare(predicate, word, now), word, now))
            width = b.sub(most.get(), least.get())
            half = b.add(b.op("lshr", width, constant(self.type, 1)), b.and_(width, constant(self.type, 1)))
            pivot.set(b.add(least.get(), half))
        return pivot.get()

    def _cut(self, source: Value, target: Value, low: Value, high: Value, pivot: Value, predicate: str) -> Value:
        """Words before the pivot from the low end on, others from the high end down; returns where they meet."""
        b, lanes = self.b, self.lanes
        left, right = b.variable(low), b.variable(high)
        pivots = b.splat(pivot, lanes)

        def move(words: Value, exist: Value | None) -> None:
            before = b.compare(f"icmp {predicate}", words, pivots)
            after = b.op("xor", before, constant("i1", 1, lanes))
            if exist is not None:
                before, after = b.and_(before, exist), b.and_(after, exist)
            for mask, from_left in ((before, True), (after, False)):
                number = _number(b, mask)
                if not from_left:
                    right.set(b.sub(right.get(), number))
                pointer = self._address(target, (left if from_left else right).get())
                b.call("void", intrinsic("masked.compressstore", self.whole), words, pointer, mask)
                if from_left:
                    left.set(b.add(left.get(), number))

        full = b.sub(high, b.rem(b.sub(high, low), lanes))
        with b.loop(low, full, lanes) as i:
            move(b.load(self.whole, self._address(source, i), self.size), None)
        with b.if_(b.less(full, high)):
            exist = self._exist(b.sub(high, full))
            move(self._masked(self._address(source, full), exist), exist)
        return left.get()

    def _exist(self, count: Value) -> Value:
        b = self.b
        return b.compare("icmp slt", b.iota(self.lanes, "i64"), b.splat(count, self.lanes))

    def _masked(self, pointer: Value, exist: Value) -> Value:
        """Words that exist, and the largest in place of others."""
        rest = constant(self.type, (1 << 8 * self.size) - 1, self.lanes)
        name = f"{intrinsic('masked.load', self.whole)}.p0"
        return self.b.call(self.whole, name, pointer, Value("i32", str(self.size)), exist, rest)

    def _equal(self, source: Value, target: Value, low: Value, high: Value, pivot: Value, push: Callable[[Value], None]) -> None:
        b = self.b
        between = self._cut(source, target, low, high, pivot, "ule")
        with b.loop(low, between) as i:
            b.store(pivot, self._address(self.words, i), self.size)
        with b.if_(b.less(between, high)):
            push(between)

    def _ordered(self, source: Value, low: Value, high: Value) -> None:
        """A part that fits the registers, into the first array."""
        b, lanes = self.b, self.lanes
        count = b.sub(high, low)
        least, most = 0, 1
        while most <= _VECTORS:
            fits = b.and_(b.less(least * lanes, count), b.less(count, most * lanes + 1))
            with b.if_(fits):
                masks = [self._exist(b.sub(count, i64(v * lanes))) for v in range(most)]
                places = [b.at(self._address(source, low), v * lanes * self.size) for v in range(most)]
                vectors = network(b, [self._masked(p, m) for p, m in zip(places, masks, strict=True)])
                for v, (words, mask) in enumerate(zip(vectors, masks, strict=True)):
                    to = b.at(self._address(self.words, low), v * lanes * self.size)
                    name = f"{intrinsic('masked.store', self.whole)}.p0"
                    b.call("void", name, words, to, Value("i32", str(self.size)), mask)
            least, most = most, most * 2
