"""Elements and their keys on the CPU: an element is one or two integers, its bits."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.codegen.llvm.ir import Builder, Value, constant
from baracuda.core.elements import Category, ElementKind
from baracuda.lowering.sort.problem import Sort

Words = Sequence[Value]


class KeyCode:
    """Loads, stores and keys of the elements of a problem."""

    def __init__(self, b: Builder, sort: Sort) -> None:
        self.b, self.sort = b, sort
        self.type, self.bits = f"i{sort.part_bits}", sort.part_bits
        self.size = sort.part_bits // 8

    def load(self, pointer: Value) -> Words:
        """The element at an address."""
        return [self.b.load(self.type, self.b.at(pointer, i * self.size), self.size) for i in range(self.sort.keys)]

    def store(self, words: Words, pointer: Value) -> None:
        for i, word in enumerate(words):
            self.b.store(word, self.b.at(pointer, i * self.size), self.size)

    def keys(self, words: Words) -> Words:
        """The keys of an element, or of each lane of several, the one that counts most last."""
        if not self.sort.complex:
            return [self._key(words[0])]
        re, _ = words
        sort, b = self.sort, self.b
        keys, nans = [self._number(w) for w in words], [self.is_nan(w) for w in words]
        ends = [self._const(i if sort.nan_first else (1 << self.bits) - 1 - i, re.lanes) for i in range(3)]
        both, only_re, only_im = ends
        high = b.select(nans[0], b.select(nans[1], both, only_re), b.select(nans[1], only_im, keys[0]))
        low = b.select(nans[0], b.select(nans[1], both, keys[1]), b.select(nans[1], keys[0], keys[1]))
        return [low, high]

    def _const(self, value: int, lanes: int) -> Value:
        return constant(self.type, value, lanes)

    def _key(self, word: Value) -> Value:
        kind = self.sort.kind
        if kind.is_float:
            end = self._const(0 if self.sort.nan_first else (1 << self.bits) - 1, word.lanes)
            return self.b.select(self.is_nan(word), end, self._number(word))
        sign = self._const(1 << (self.bits - 1), word.lanes)
        if kind is ElementKind.BOOL:
            word = self.b.convert("zext", self.b.compare("icmp ne", word, self._const(0, word.lanes)), word.type)
        elif kind.category is Category.SIGNED:
            word = self._xor(word, sign)
        if not self.sort.descending:
            return word
        return self._xor(word, self._const((1 << self.sort.key_bits) - 1, word.lanes))

    def _xor(self, a: Value, b: Value) -> Value:
        return self.b.op("xor", a, b)

    def is_nan(self, word: Value) -> Value:
        largest = self.sort.infinity
        assert largest is not None
        magnitude = self.b.and_(word, self._const((1 << (self.bits - 1)) - 1, word.lanes))
        return self.b.compare("icmp ugt", magnitude, self._const(largest, word.lanes))

    def _number(self, word: Value) -> Value:
        """The key of a float that is a number: all bits turned of a negative one, else the sign."""
        b, lanes = self.b, word.lanes
        sign = self._const(1 << (self.bits - 1), lanes)
        word = b.select(b.compare("icmp eq", word, sign), self._const(0, lanes), word)
        negative = b.op("ashr", word, self._const(self.bits - 1, lanes))
        turned = self._xor(word, b.or_(negative, sign))
        if self.sort.descending:
            turned = self._xor(turned, self._const((1 << self.bits) - 1, lanes))
        return turned

    def digit(self, keys: Words, key: int, shift: int, bits: int) -> Value:
        """A digit of an element's keys, in 64 bits."""
        b = self.b
        value = keys[key]
        if shift:
            value = b.shr(value, self._const(shift, 1))
        if shift + bits < self.bits:
            value = b.and_(value, self._const((1 << bits) - 1, 1))
        return b.convert("zext", value, "i64")
