"""Integer products of few rows, whose wide factor lies along k: it is read once, where it lies, and never kept as integers.

A block of a column becomes integers in registers, with a constant added that makes them positive: the sum is what is rounded.
Each is multiplied at once by the rows' integers, lane by lane, and the constant's share is taken off the lane's sum, which is
exact. As many columns as a vector has lanes of 64 bits are added up side by side, and rounded together.

Vector operations for 16 elements of bf16, AVX-512: 6 and 2 for each row, of the latter with f64 as with integers of 52 bits; f64
takes 2 more of the former. A tile of digits takes about 30.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Builder, Value, constant, i64, intrinsic, vector
from baracuda.codegen.llvm.lanes import first_lanes
from baracuda.codegen.llvm.memory import load, stored_type, widen
from baracuda.core.elements import ElementKind
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.matmul.cpu.integers.blocks import larger, magnitude, scales
from baracuda.lowering.matmul.cpu.integers.tile import add_scaled
from baracuda.lowering.matmul.cpu.read import Reader

#: Bits of an f32 whose unit in the last place is 1.
_WHOLE = 0x4B000000


class Products(ABC):
    """How exact products of 64 bits are taken and added."""

    name: str

    def __init__(self, vector_bits: int) -> None:
        self.lanes, self.narrow = vector_bits // 64, vector_bits // 32

    @property
    @abstractmethod
    def type(self) -> str:
        """Of a vector of them."""

    @abstractmethod
    def left(self, b: Builder, q: Value) -> list[Value]:
        """Two vectors of a vector of integers, as f32, of a row."""

    @abstractmethod
    def right(self, b: Builder, q: Value) -> list[Value]:
        """The same of a column's, which are positive."""

    @abstractmethod
    def add(self, b: Builder, total: Value, left: Value, right: Value) -> Value:
        """The sum, with a product more."""

    @abstractmethod
    def whole(self, b: Builder, total: Value) -> Value:
        """A sum of at most 2 * BLOCK / narrow products, as f64."""


class DoubleProducts(Products):
    """Chains of FMA in f64: for every instruction set."""

    name = "f64"

    @property
    def type(self) -> str:
        return vector("double", self.lanes)

    def left(self, b: Builder, q: Value) -> list[Value]:
        halves = (range(self.lanes), range(self.lanes, self.narrow))
        return [b.convert("fpext", b.shuffle(q, None, half), self.type) for half in halves]

    right = left

    def add(self, b: Builder, total: Value, left: Value, right: Value) -> Value:
        return b.call(self.type, intrinsic("fma", self.type), left, right, total)

    def whole(self, b: Builder, total: Value) -> Value:
        return total


class IntegerProducts(Products):
    """The low 52 bits of products of integers of 52 bits (AVX-512 IFMA): a sum is known modulo 2**52, and its magnitude is less
    than half of that."""

    name = "52-bit integers"

    @property
    def type(self) -> str:
        return vector("i64", self.lanes)

    def _numbers(self, b: Builder, q: Value) -> Value:
        narrow = vector("i32", self.narrow)
        return b.convert("bitcast", b.call(narrow, intrinsic("lrint", narrow, q.type), q), self.type)

    def left(self, b: Builder, q: Value) -> list[Value]:
        numbers, half = self._numbers(b, q), constant("i64", 32, self.lanes)
        return [b.op("ashr", b.shl(numbers, half), half), b.op("ashr", numbers, half)]

    def right(self, b: Builder, q: Value) -> list[Value]:
        numbers = self._numbers(b, q)
        return [b.and_(numbers, constant("i64", 0xFFFFFFFF, self.lanes)), b.shr(numbers, constant("i64", 32, self.lanes))]

    def add(self, b: Builder, total: Value, left: Value, right: Value) -> Value:
        return b.call(self.type, f"llvm.x86.avx512.vpmadd52l.uq.{64 * self.lanes}", total, left, right)

    def whole(self, b: Builder, total: Value) -> Value:
        rest = constant("i64", 12, self.lanes)
        return b.convert("sitofp", b.op("ashr", b.shl(total, rest), rest), vector("double", self.lanes))


@dataclass(frozen=True)
class FewRows:
    """The steps of a product of at most `rows` rows.

    A row's record of a block has the vectors of its integers in the order in which a column's are read, then what the constant's
    share of each lane is, and the scale.
    """

    products: Products
    kind: ElementKind
    bits: int
    rows: int

    @property
    def record_bytes(self) -> int:
        return BLOCK * 8 + self.products.lanes * 8 + 64

    @property
    def _scale_at(self) -> int:
        return BLOCK * 8 + self.products.lanes * 8

    @property
    def _positive(self) -> int:
        """The bits of the f32 that makes a column's integers positive. Where that many bits are rounded, none of a 16-bit float's
        is lost that is not below 1: those above 2**12 are whole."""
        if self.bits == 15:
            return _WHOLE | 1 << 22
        return _WHOLE if self.kind is ElementKind.F32 else _WHOLE | 1 << 12

    @property
    def _pairs(self) -> bool:
        """Whether a vector's neighbours are taken apart: even ones, odd ones."""
        return self.kind is ElementKind.BF16

    # --- rows ---------------------------------------------------------------------------------------------------------

    def write_row(self, b: Builder, reader: Reader, source: Value, count: Value, record: Value) -> None:
        """The record of a row's block, of which `count` steps exist. The reader's lanes run along k."""
        n = self.products.narrow
        zero = Value(vector("float", n), "zeroinitializer")
        found = []
        for start in range(0, BLOCK, n):
            left = b.sub(count, start)
            exists = b.compare("icmp sgt", left, 0)
            x = reader.one(reader.at(source, b.select(exists, i64(start), i64(0)), 0), n, b.select(exists, left, count))
            mask = first_lanes(b, n, left)
            found.append(b.select(mask, x, zero))
        if self._pairs:
            even, odd = range(0, 2 * n, 2), range(1, 2 * n, 2)
            found = [b.shuffle(found[i], found[i + 1], half) for i in range(0, len(found), 2) for half in (even, odd)]
        most = magnitude(b, found[0])
        for x in found[1:]:
            most = larger(b, most, magnitude(b, x))
        largest = b.splat(b.call("i32", intrinsic("vector.reduce.umax", most.type), most), n)
        made = scales(b, largest, self.bits)
        wide = vector("double", self.products.lanes)
        share, at = Value(wide, "zeroinitializer"), 0
        for x in found:
            scaled = b.op("fmul", b.op("fmul", x, made.factors[0]), made.factors[1])
            q = b.call(x.type, intrinsic("roundeven", x.type), scaled)
            for part in self.products.left(b, q):
                b.store(part, b.at(record, at), 8 * self.products.lanes)
                number = part if part.element == "double" else b.convert("sitofp", part, wide)
                share, at = b.op("fadd", share, number), at + 8 * self.products.lanes
        constant_ = b.convert("fpext", constant("float", self._positive, self.products.lanes), wide)
        b.store(b.op("fmul", share, constant_), b.at(record, at), 8 * self.products.lanes)
        b.store(b.extract(made.scale, 0), b.at(record, self._scale_at), 4)

    # --- columns ------------------------------------------------------------------------------------------------------

    def columns(self, b: Builder, reader: Reader, places: list[Value], records: Value, sums: list[Value]) -> None:
        """A block more for the sums of `lanes` columns, whose elements are at `places`: a whole block of each. `records` are
        those of the rows, one behind the other, and `sums` where each row's are."""
        lanes = self.products.lanes
        largest, first = b.array("i32", lanes), b.array("float", lanes)
        for i, at in enumerate(places):
            b.store(self._largest(b, reader, at), b.at(largest, 4 * i), 4)
        made = scales(b, b.load(vector("i32", lanes), largest, 4 * lanes), self.bits)
        b.store(made.factors[0], first, 4 * lanes)
        second = made.factors[1]
        usual = b.compare("fcmp oeq", second, constant("float", 0x3F800000, lanes))
        tiny = b.emit("i1", f"xor i1 {b.call('i1', f'llvm.vector.reduce.and.v{lanes}i1', usual).name}, true")
        totals = b.array("double", self.rows * lanes * lanes)
        with b.if_(tiny, seldom=True):
            more = b.array("float", lanes)
            b.store(second, more, 4 * lanes)
            self._all(b, reader, places, first, more, records, totals)
        with b.else_(tiny):
            self._all(b, reader, places, first, None, records, totals)
        wide = vector("double", lanes)
        for r in range(self.rows):
            held = [b.load(wide, b.at(totals, 8 * lanes * (r * lanes + i)), 8 * lanes) for i in range(lanes)]
            rounded = b.convert("fptrunc", side_by_side(b, held), vector("float", lanes))
            of_row = b.load("float", b.at(records, r * self.record_bytes + self._scale_at), 4)
            add_scaled(b, rounded, b.splat(of_row, lanes), made.scale, sums[r])

    def _all(
        self, b: Builder, reader: Reader, places: list[Value], first: Value, second: Value | None, records: Value, totals: Value
    ) -> None:
        for i, at in enumerate(places):
            self._column(b, reader, at, first, second, i, records, totals)

    def _column(
        self, b: Builder, reader: Reader, at: Value, first: Value, second: Value | None, i: int, records: Value, totals: Value
    ) -> None:
        """The sums of one column with all rows, lane by lane."""
        p = self.products
        up = b.splat(b.load("float", b.at(first, 4 * i), 4), p.narrow)
        more = None if second is None else b.splat(b.load("float", b.at(second, 4 * i), 4), p.narrow)
        held = [[Value(p.type, "zeroinitializer")] * 2 for _ in range(self.rows)]
        place = 0
        for x in self._elements(b, reader, at):
            for part, q in enumerate(p.right(b, self._integers(b, x, up, more))):
                for r in range(self.rows):
                    of_row = b.load(p.type, b.at(records, r * self.record_bytes + place), 8 * p.lanes)
                    held[r][part] = p.add(b, held[r][part], of_row, q)
                place += 8 * p.lanes
        wide = vector("double", p.lanes)
        for r, parts in enumerate(held):
            total = b.op("fadd", *(p.whole(b, part) for part in parts))
            share = b.load(wide, b.at(records, r * self.record_bytes + BLOCK * 8), 8 * p.lanes)
            b.store(b.op("fsub", total, share), b.at(totals, 8 * p.lanes * (r * p.lanes + i)), 8 * p.lanes)

    def _integers(self, b: Builder, x: Value, up: Value, more: Value | None) -> Value:
        """A vector's integers, positive, as f32."""
        type_ = x.type
        x = x if more is None else b.op("fmul", x, more)
        positive = constant("float", self._positive, x.lanes)
        if self.bits == 23 and self.kind is ElementKind.F32:
            return b.op("fadd", b.call(type_, intrinsic("roundeven", type_), b.op("fmul", x, up)), positive)
        return b.call(type_, intrinsic("fma", type_), x, up, positive)

    def _elements(self, b: Builder, reader: Reader, at: Value) -> list[Value]:
        """The vectors of a block of a column, in f32."""
        n = self.products.narrow
        if not self._pairs:
            size = n * self.kind.itemsize
            return [reader.value(load(b, reader.stored, b.at(at, i * size), n)) for i in range(BLOCK // n)]
        found = []
        for i in range(0, BLOCK // n, 2):
            words = b.load(vector("i32", n), b.at(at, 2 * i * n), 2)
            for bits in (b.shl(words, constant("i32", 16, n)), b.and_(words, constant("i32", 0xFFFF0000, n))):
                found.append(b.convert("bitcast", bits, vector("float", n)))
        return found

    def _largest(self, b: Builder, reader: Reader, at: Value) -> Value:
        """The largest magnitude of a block of a column, as the bits of an f32: those of elements are ordered as they are."""
        bits = self.kind.bits
        lanes = 32 * self.products.narrow // bits
        type_, kept = vector(f"i{bits}", lanes), constant(f"i{bits}", (1 << (bits - 1)) - 1, lanes)
        size = lanes * bits // 8
        pieces = [b.and_(b.load(type_, b.at(at, i * size), bits // 8), kept) for i in range(BLOCK // lanes)]
        most = pieces[0]
        for piece in pieces[1:]:
            most = b.call(type_, intrinsic("umax", type_), most, piece)
        one = b.call(f"i{bits}", intrinsic("vector.reduce.umax", type_), most)
        if bits == 32:
            return one
        return b.convert("bitcast", reader.value(widen(b, reader.stored, one)), "i32")

    def copy_column(self, b: Builder, reader: Reader, at: Value, count: Value, to: Value) -> None:
        """A block of a column of which only `count` steps exist, with zeros behind them."""
        n = self.products.narrow
        type_, size = vector(stored_type(reader.stored), n), reader.stored.itemsize
        nothing = Value(type_, "zeroinitializer")
        for start in range(0, BLOCK, n):
            mask = first_lanes(b, n, b.sub(count, start))
            align = Value("i32", str(size))
            x = b.call(type_, intrinsic("masked.load", type_, "ptr"), b.at(at, start * size), align, mask, nothing)
            b.store(x, b.at(to, start * size), size)


def side_by_side(b: Builder, vectors: list[Value]) -> Value:
    """The sums of the lanes of as many vectors as they have lanes, a lane each."""
    lanes, together = vectors[0].lanes, 1
    while together < lanes:
        places = range(lanes)
        low = [(i - i % (2 * together)) + i % together + (lanes if i // together % 2 else 0) for i in places]
        high = [i + together for i in low]
        vectors = [
            b.op("fadd", b.shuffle(x, y, low), b.shuffle(x, y, high)) for x, y in zip(vectors[::2], vectors[1::2], strict=True)
        ]
        together *= 2
    return vectors[0]
