"""Quicksort of unsigned words in vectors of 512 bits: partitions are compressed stores, and a network puts in order what fits the
registers."""

from __future__ import annotations

from collections.abc import Callable

from baracuda.codegen.llvm.ir import Builder, Value, constant, i64, intrinsic, vector
from baracuda.lowering.sort.cpu.networks import network
from baracuda.lowering.sort.cpu.words import WordType, number_of

#: Vectors that a network orders at most.
_VECTORS = 16
#: Parts that wait to be ordered at most, and how many times a part is cut at a sample's median before it is cut in the middle of
#: its values, which ends after as many cuts as a word has bits.
_WAITING, _CUTS = 192, 60


class Quicksort:
    """Words in order, from one array and by way of another; of a row of which only some places are wanted, the parts that have
    some."""

    def __init__(self, b: Builder, word: WordType, words: Value, other: Value, wanted: tuple[Value, Value] | None = None) -> None:
        self.b, self.words, self.other, self.wanted = b, words, other, wanted
        self.type, self.size, self.lanes = word.type, word.size, word.lanes
        self.whole, self.mask = vector(word.type, word.lanes), vector("i1", word.lanes)
        self.leaf = _VECTORS * word.lanes

    def run(self, n: Value) -> None:
        b = self.b
        with b.if_(b.less(n, self.leaf + 1)):
            self.leaf_in_order(self.words, i64(0), n)
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
                self.leaf_in_order(source, low, high)
            with b.else_(small):
                pivot = self._pivot(source, low, high, b.shr(state, 1))
                between = self.cut(source, target, low, high, pivot, "ult")
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

    def cut(self, source: Value, target: Value, low: Value, high: Value, pivot: Value, predicate: str) -> Value:
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
                number = number_of(b, mask)
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
        between = self.cut(source, target, low, high, pivot, "ule")
        with b.loop(low, between) as i:
            b.store(pivot, self._address(self.words, i), self.size)
        with b.if_(b.less(between, high)):
            push(between)

    def leaf_in_order(self, source: Value, low: Value, high: Value) -> None:
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
