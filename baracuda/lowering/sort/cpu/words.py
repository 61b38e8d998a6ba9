"""Elements of rows as unsigned words for vectors of 512 bits, and words as results.

A word of 64 bits is a key of up to 32 above the place in the row, so that no two are equal and the order is stable; where only
values are wanted, a word is a key alone. Then equal elements of different bits, zeros and NaN, are written again at the end, as
they follow one another in the row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Builder, Value, constant, i64, vector
from baracuda.core.elements import Category
from baracuda.lowering.sort.cpu.code import StepBuilder
from baracuda.lowering.sort.cpu.keys import KeyCode
from baracuda.lowering.sort.problem import INDICES, RANKS, VALUES, Sort, X
from baracuda.runtime.jit import CpuTarget


def suits(sort: Sort, target: CpuTarget) -> bool:
    """Whether a problem's elements are words here."""
    return target.vector_bits == 512 and not sort.complex and (sort.key_bits <= 32 or not sort.indexed)


@dataclass(frozen=True)
class WordType:
    """How wide words are."""

    bits: int

    @classmethod
    def of(cls, sort: Sort) -> WordType:
        return cls(64 if sort.indexed or sort.key_bits > 32 else 32)

    @property
    def type(self) -> str:
        return f"i{self.bits}"

    @property
    def size(self) -> int:
        return self.bits // 8

    @property
    def lanes(self) -> int:
        return 512 // self.bits


class RowWords:
    """A row's elements as words, and words as its results."""

    def __init__(self, code: StepBuilder, sort: Sort, along: dict[int, Value]) -> None:
        self.code, self.b, self.sort, self.along = code, code.b, sort, along
        self.word, self.keys = WordType.of(sort), KeyCode(code.b, sort)
        self.n, self.first, self.last = (code.integer(v) for v in (sort.length, sort.first, sort.first + sort.count))
        #: NaN and negative zeros that were read.
        self.nans, self.negative = code.b.variable(i64(0)), code.b.variable(i64(0))

    @property
    def has_twins(self) -> bool:
        """Whether equal words may stand for different bits."""
        return not self.sort.indexed and self.sort.kind.is_float

    def _over(self, low: Value, high: Value, unit: bool, body: Callable[[Value, int], None]) -> None:
        """A body over low ... high - 1: with the first of some lanes and their number, or one by one."""
        b, lanes = self.b, self.word.lanes
        whole = low
        if unit:
            none = b.less(high, low)
            whole = b.select(none, low, b.sub(high, b.rem(b.sub(high, low), lanes)))
            with b.loop(low, whole, lanes) as i:
                body(i, lanes)
        with b.loop(whole, high) as i:
            body(i, 1)

    def _is_unit(self, *tensors: int) -> bool:
        """Whether neighbours in rows of these tensors are neighbours in memory."""
        return not self.sort.general and all(self.sort.tensors[t].along == 1 for t in tensors if t in self.sort.tensors)

    def read(self, x: Value, words: Value, low: Value, high: Value) -> None:
        """The words of some elements of the row x, at their places in `words`."""
        b, sort, word, keys = self.b, self.sort, self.word, self.keys
        self.nans.set(i64(0))
        self.negative.set(i64(0))

        def body(i: Value, lanes: int) -> None:
            bits = b.load(vector(keys.type, lanes), b.at(x, b.mul(i, self.along[X])), keys.size)
            (key,) = keys.keys([bits])
            value = b.convert("zext", key, vector(word.type, lanes))
            if sort.indexed:
                numbers = i if lanes == 1 else b.add(b.splat(i, lanes), b.iota(lanes, "i64"))
                value = b.or_(b.shl(value, constant("i64", 32, lanes)), numbers)
            elif sort.kind.is_float:
                zero = b.compare("icmp eq", bits, constant(keys.type, 1 << (keys.bits - 1), lanes))
                self.nans.set(b.add(self.nans.get(), number_of(b, keys.is_nan(bits))))
                self.negative.set(b.add(self.negative.get(), number_of(b, zero)))
            b.store(value, b.at(words, b.mul(i, word.size)), word.size)

        self._over(low, high, self._is_unit(X), body)

    def write(self, pointers: dict[int, Value], words: Value, low: Value, high: Value) -> None:
        """What is wanted of the words that lie in order at the places from low to before high."""
        b, sort, code = self.b, self.sort, self.code
        from_, to = code.maximum(low, self.first), b.min(high, self.last)

        def word(i: Value, lanes: int) -> Value:
            return b.load(vector(self.word.type, lanes), b.at(words, b.mul(i, self.word.size)), self.word.size)

        def place(i: Value, lanes: int) -> Value:
            return b.and_(word(i, lanes), constant("i64", 0xFFFFFFFF, lanes))

        def result(number: int, i: Value) -> Value:
            return b.at(pointers[number], b.mul(b.sub(i, self.first), self.along[number]))

        def index(i: Value, lanes: int) -> None:
            assert sort.indices is not None
            number = b.convert("trunc", place(i, lanes), vector(f"i{sort.indices.kind.bits}", lanes))
            b.store(number, result(INDICES, i), 4)

        def moved(i: Value, lanes: int) -> None:
            bits = self.keys.load(b.at(pointers[X], b.mul(place(i, lanes), self.along[X])))
            self.keys.store(bits, result(VALUES, i))

        def value(i: Value, lanes: int) -> None:
            self.keys.store([self._bits(word(i, lanes))], result(VALUES, i))

        if sort.indices is not None:
            self._over(from_, to, self._is_unit(INDICES), index)
        if sort.values is not None:
            self._over(from_, to, not sort.indexed and self._is_unit(VALUES), moved if sort.indexed else value)
        if sort.ranks is not None:
            with b.loop(low, high) as i:
                at = b.mul(b.and_(b.load("i64", b.at(words, b.mul(i, 8)), 8), 0xFFFFFFFF), self.along[RANKS])
                b.store(b.convert("trunc", i, f"i{sort.ranks.kind.bits}"), b.at(pointers[RANKS], at), 4)

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

    def again(self, pointers: dict[int, Value], nans: Value, negative: Value) -> None:
        """NaN, and zeros where a negative one is among them, in the order of the row, given how many there are."""
        b, sort, keys = self.b, self.sort, self.keys
        count = b.sub(self.last, self.first)
        (zero,) = keys.keys([constant(keys.type, 0)])

        def each(start: Value, chosen: Callable[[Value], Value]) -> None:
            place = b.variable(b.sub(start, self.first))
            with b.loop(0, self.n) as i:
                (bits,) = keys.load(b.at(pointers[X], b.mul(i, self.along[X])))
                with b.if_(chosen(bits)):
                    inside = b.and_(b.less(-1, place.get()), b.less(place.get(), count))
                    with b.if_(inside):
                        keys.store([bits], b.at(pointers[VALUES], b.mul(place.get(), self.along[VALUES])))
                    place.set(b.add(place.get(), i64(1)))

        with b.if_(b.less(0, nans), seldom=True):
            each(i64(0) if sort.nan_first else b.sub(self.n, nans), keys.is_nan)
        with b.if_(b.less(0, negative), seldom=True):
            below = b.variable(i64(0))
            with b.loop(0, self.n) as i:
                (key,) = keys.keys(keys.load(b.at(pointers[X], b.mul(i, self.along[X]))))
                below.set(b.add(below.get(), b.convert("zext", b.compare("icmp ult", key, zero), "i64")))
            magnitude = constant(keys.type, (1 << (keys.bits - 1)) - 1)
            each(below.get(), lambda bits: b.compare("icmp eq", b.and_(bits, magnitude), 0))


def number_of(b: Builder, mask: Value) -> Value:
    """How many bits of a mask are set, in 64 bits."""
    bits = f"i{mask.lanes}"
    if mask.lanes == 1:
        return b.convert("zext", mask, "i64")
    return b.convert("zext", b.call(bits, f"llvm.ctpop.{bits}", b.convert("bitcast", mask, bits)), "i64")
