"""Integer products of few rows, whose wide factor lies along k: it is read once, where it lies, and never kept as integers.

A block of a column becomes integers in registers, with a constant added that makes them positive: the sum is what is rounded.
Each is multiplied at once by the rows' integers, lane by lane, and the constant's share is taken off the lane's sum, which is
exact. As many columns as a vector has lanes of 64 bits are added up side by side, and rounded together.

Vector operations for 16 elements of bf16, AVX-512: 8 and 2 for each row; making digits takes about 30. Products of integers of 52
bits (IFMA) are no faster than f64: the operations that they save wait for the same port.
"""

from __future__ import annotations

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


@dataclass(frozen=True)
class FewRows:
    """The steps of a product of at most `rows` rows.

    A row's record of a block has the vectors of its integers in the order in which a column's are read, then what the constant's
    share of each lane is, and the scale.
    """

    vector_bits: int
    kind: ElementKind
    bits: int
    rows: int

    @property
    def lanes(self) -> int:
        """Those of a vector of f64; twice as many are a vector of f32."""
        return self.vector_bits // 64

    @property
    def narrow(self) -> int:
        return self.vector_bits // 32

    @property
    def wide(self) -> str:
        return vector("double", self.lanes)

    @property
    def record_bytes(self) -> int:
        return self._scale_at + 64

    @property
    def _shares(self) -> int:
        """How many shares of the constant a record has."""
        return self.lanes

    @property
    def _scale_at(self) -> int:
        return BLOCK * 8 + self._shares * 8

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

    def halves(self, b: Builder, x: Value) -> list[Value]:
        """Two vectors of f64."""
        parts = (range(self.lanes), range(self.lanes, self.narrow))
        return [b.convert("fpext", b.shuffle(x, None, part), self.wide) for part in parts]

    # --- rows ---------------------------------------------------------------------------------------------------------

    def write_row(self, b: Builder, reader: Reader, source: Value, count: Value, record: Value) -> None:
        """The record of a row's block, of which `count` steps exist. The reader's lanes run along k."""
        n = self.narrow
        zero = Value(vector("float", n), "zeroinitializer")
        found = []
        for start in range(0, BLOCK, n):
            left = b.sub(count, start)
            exists = b.compare("icmp sgt", left, 0)
            x = reader.one(reader.at(source, b.select(exists, i64(start), i64(0)), 0), n, b.select(exists, left, count))
            mask = first_lanes(b, n, left)
            found.append(b.select(mask, x, zero))
        found = self.in_order(b, found)
        most = magnitude(b, found[0])
        for x in found[1:]:
            most = larger(b, most, magnitude(b, x))
        largest = b.splat(b.call("i32", intrinsic("vector.reduce.umax", most.type), most), n)
        made = scales(b, largest, self.bits)
        shares, at = [], 0
        for x in found:
            scaled = b.op("fmul", b.op("fmul", x, made.factors[0]), made.factors[1])
            q = b.call(x.type, intrinsic("roundeven", x.type), scaled)
            for part in self.halves(b, q):
                b.store(part, b.at(record, at), 8 * self.lanes)
                shares.append(b.op("fmul", part, b.convert("fpext", constant("float", self._positive, self.lanes), self.wide)))
                at += 8 * self.lanes
        self.write_shares(b, shares, b.at(record, at))
        b.store(b.extract(made.scale, 0), b.at(record, self._scale_at), 4)

    def in_order(self, b: Builder, found: list[Value]) -> list[Value]:
        """The vectors of a row's block in the order in which a column's are read."""
        if not self._pairs:
            return found
        n = self.narrow
        even, odd = range(0, 2 * n, 2), range(1, 2 * n, 2)
        return [b.shuffle(found[i], found[i + 1], half) for i in range(0, len(found), 2) for half in (even, odd)]

    def write_shares(self, b: Builder, shares: list[Value], at: Value) -> None:
        """What the constant's share of the products of each vector's lanes is: here the sum of all, lane by lane."""
        total = shares[0]
        for share in shares[1:]:
            total = b.op("fadd", total, share)
        b.store(total, at, 8 * total.lanes)

    # --- columns ------------------------------------------------------------------------------------------------------

    def columns(self, b: Builder, reader: Reader, starts: Value, offset: Value, records: Value, sums: list[Value]) -> None:
        """A block more for the sums of `lanes` columns, which begin at the addresses in `starts`: a whole block of each, some
        bytes on. `records` are those of the rows, one behind the other, and `sums` where each row's are."""
        lanes = self.lanes
        largest, first = b.array("i32", lanes), b.array("float", lanes)
        with b.loop(0, lanes) as i:
            at = b.at(b.load("ptr", b.at(starts, b.mul(i, 8)), 8), offset)
            b.store(self._largest(b, reader, at), b.at(largest, b.mul(i, 4)), 4)
        made = scales(b, b.load(vector("i32", lanes), largest, 4 * lanes), self.bits)
        b.store(made.factors[0], first, 4 * lanes)
        second = made.factors[1]
        alone = b.compare("fcmp oeq", second, constant("float", 0x3F800000, lanes))
        tiny = b.emit("i1", f"xor i1 {b.call('i1', f'llvm.vector.reduce.and.v{lanes}i1', alone).name}, true")
        totals = b.array("double", self.rows * lanes * lanes)
        more = b.array("float", lanes)
        b.store(second, more, 4 * lanes)
        usual = b.emit("i1", f"xor i1 {tiny.name}, true")
        for condition, ups in ((tiny, [first, more]), (usual, [first])):
            with b.if_(condition, seldom=len(ups) == 2), b.loop(0, lanes, 2) as i:
                ats = [b.at(b.load("ptr", b.at(starts, b.mul(b.add(i, c), 8)), 8), offset) for c in range(2)]
                self._pair(b, reader, ats, i, ups, records, totals)
        for r in range(self.rows):
            held = [b.load(self.wide, b.at(totals, 8 * lanes * (r * lanes + i)), 8 * lanes) for i in range(lanes)]
            rounded = b.convert("fptrunc", side_by_side(b, held), vector("float", lanes))
            of_row = b.load("float", b.at(records, r * self.record_bytes + self._scale_at), 4)
            add_scaled(b, rounded, b.splat(of_row, lanes), made.scale, sums[r])

    def _pair(
        self, b: Builder, reader: Reader, ats: list[Value], i: Value, ups: list[Value], records: Value, totals: Value
    ) -> None:
        """The sums of columns i and i + 1 with all rows, lane by lane."""
        lanes, size, fma = self.lanes, 8 * self.lanes, intrinsic("fma", self.wide)
        both = range(2)
        up = [[b.splat(b.load("float", b.at(at, b.mul(b.add(i, c), 4)), 4), self.narrow) for at in ups] for c in both]
        held = [[[Value(self.wide, "zeroinitializer")] * 2 for _ in range(self.rows)] for _ in both]
        place = 0
        for found in zip(*(self._elements(b, reader, at) for at in ats), strict=True):
            halves = [self.halves(b, self._integers(b, x, *up[c])) for c, x in enumerate(found)]
            for part in range(2):
                for r in range(self.rows):
                    of_row = b.load(self.wide, b.at(records, r * self.record_bytes + place), size)
                    for c in both:
                        held[c][r][part] = b.call(self.wide, fma, of_row, halves[c][part], held[c][r][part])
                place += size
        for c in both:
            for r, parts in enumerate(held[c]):
                share = b.load(self.wide, b.at(records, r * self.record_bytes + BLOCK * 8), size)
                total = b.op("fsub", b.op("fadd", *parts), share)
                b.store(total, b.at(totals, b.mul(b.add(i, r * lanes + c), size)), size)

    def _integers(self, b: Builder, x: Value, up: Value, more: Value | None = None) -> Value:
        """A vector's integers, positive, as f32."""
        type_ = x.type
        x = x if more is None else b.op("fmul", x, more)
        positive = constant("float", self._positive, x.lanes)
        if self.bits == 23 and self.kind is ElementKind.F32:
            return b.op("fadd", b.call(type_, intrinsic("roundeven", type_), b.op("fmul", x, up)), positive)
        return b.call(type_, intrinsic("fma", type_), x, up, positive)

    def _elements(self, b: Builder, reader: Reader, at: Value, count: int = BLOCK) -> list[Value]:
        """The vectors of so many neighbours, in f32."""
        n = self.narrow
        if not self._pairs:
            size = n * self.kind.itemsize
            return [reader.value(load(b, reader.stored, b.at(at, i * size), n)) for i in range(count // n)]
        found = []
        for i in range(0, count // n, 2):
            words = b.load(vector("i32", n), b.at(at, 2 * i * n), 2)
            for bits in (b.shl(words, constant("i32", 16, n)), b.and_(words, constant("i32", 0xFFFF0000, n))):
                found.append(b.convert("bitcast", bits, vector("float", n)))
        return found

    def _largest(self, b: Builder, reader: Reader, at: Value) -> Value:
        """The largest magnitude of a block of a column, as the bits of an f32: those of elements are ordered as they are."""
        bits = self.kind.bits
        lanes = 32 * self.narrow // bits
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
        n = self.narrow
        type_, size = vector(stored_type(reader.stored), n), reader.stored.itemsize
        nothing = Value(type_, "zeroinitializer")
        for start in range(0, BLOCK, n):
            mask = first_lanes(b, n, b.sub(count, start))
            align = Value("i32", str(size))
            x = b.call(type_, intrinsic("masked.load", type_, "ptr"), b.at(at, start * size), align, mask, nothing)
            b.store(x, b.at(to, start * size), size)


def interleaved(b: Builder, even: Value, odd: Value) -> Value:
    """One vector of the lanes of two, in turn."""
    return b.shuffle(even, odd, [i // 2 + i % 2 * even.lanes for i in range(2 * even.lanes)])


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
