"""How packed codes become the operands of dot products on a CPU.

A strip is as many rows of weights as a vector has lanes of 32 bits. Words of 4 bytes of these rows, side by side in a vector,
hold the same steps of k of each; shifted and masked as halves of 16 bits they are, shift by shift, pairs of codes for an
instruction that multiplies halves and adds neighbours. The order of k in a block is free, as its sum is exact, and x is kept in
this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Builder, Value, constant, intrinsic, vector
from baracuda.lowering.packed_product.problem import NF4_INTEGERS, Coding, PackedProduct
from baracuda.runtime.jit import CpuTarget


@dataclass(frozen=True)
class Codes:
    """The codes of a problem on a target."""

    problem: PackedProduct
    target: CpuTarget

    @staticmethod
    def of(problem: PackedProduct, target: CpuTarget) -> Codes:
        return Codes(problem, target)

    @property
    def coding(self) -> Coding:
        return self.problem.coding

    @property
    def lanes(self) -> int:
        """Rows of a strip."""
        return self.target.vector_bits // 32

    @property
    def per_word(self) -> int:
        """Codes of four bytes."""
        return 32 // self.coding.bits

    @property
    def shifts(self) -> int:
        """Pairs of codes in a word."""
        return self.per_word // 2

    @property
    def step(self) -> int:
        """Steps of k that are taken at once: whole blocks, and whole vectors along a row."""
        return max(self.problem.block, self.lanes * self.per_word)

    @property
    def step_bytes(self) -> int:
        return self.step // self.coding.per_byte

    @property
    def words(self) -> int:
        """Words of a row in a step."""
        return self.step // self.per_word

    @property
    def steps(self) -> int:
        return -(-self.problem.product.k // self.step)

    @property
    def sums(self) -> int:
        """Sums that make up P: levels are multiplied by digits of x, so that neither sum leaves 32 bits."""
        return 2 if self.coding.levels else 1

    def offset(self, b: Builder, strides: tuple[Value, Value], byte: Value) -> Value:
        """Where a byte of a row of codes is, given the strides of chunks and of bytes."""
        apart, along = strides
        if not self.coding.chunk:
            return b.mul(byte, along)
        inside = b.mul(b.rem(byte, self.coding.chunk), along)
        return b.add(b.mul(b.div(byte, self.coding.chunk), apart), inside)

    def place(self, b: Builder, pair: Value) -> tuple[Value, Value]:
        """Where in a step the two codes of a pair are: pairs go shift by shift through a word, then word by word."""
        word, shift = b.div(pair, self.shifts), b.rem(pair, self.shifts)
        if self.coding is Coding.Q4_0:
            inside = b.add(b.mul(b.rem(word, 4), 4), b.add(b.mul(b.rem(shift, 2), 16), b.div(shift, 2)))
            first = b.add(b.mul(b.div(word, 4), 32), inside)
            return first, b.add(first, 2)
        if self.coding.levels:  # the first code of a byte is in its high bits
            shift = b.op("xor", shift, Value("i64", "1"))
        first = b.add(b.mul(word, self.per_word), shift)
        return first, b.add(first, self.shifts)

    def pairs(self, b: Builder, words: Value) -> Iterator[Value]:
        """The pairs of codes, as halves of 32 bits, in each of a vector of words, shift by shift."""
        n, bits = words.lanes, self.coding.bits
        halves = vector("i16", 2 * n)
        x = b.convert("bitcast", words, halves)
        if self.coding.flipped:
            mask = sum(self.coding.flipped << s for s in range(0, 16, bits))
            x = b.op("xor", x, constant("i16", mask, 2 * n))
        for shift in range(0, 16, bits):
            if bits == 8:  # with its sign
                moved = x if shift else b.shl(x, constant("i16", 8, 2 * n))
                found = b.op("ashr", moved, constant("i16", 8, 2 * n))
            else:
                found = b.shr(x, constant("i16", shift, 2 * n)) if shift else x
                if shift + bits < 16:
                    found = b.and_(found, constant("i16", (1 << bits) - 1, 2 * n))
            yield self._levels(b, found) if self.coding.levels else b.convert("bitcast", found, words.type)

    def _levels(self, b: Builder, numbers: Value) -> Value:
        """The levels of a vector of numbers, in pairs."""
        n = numbers.lanes // 2
        words = vector("i32", n)
        if self.target.vector_bits == 512:
            table = b.load(numbers.type, b.module.table("i16", [v & 0xFFFF for v in (*NF4_INTEGERS, *NF4_INTEGERS)]), 64)
            return b.convert("bitcast", b.call(numbers.type, "llvm.x86.avx512.permvar.hi.512", table, numbers), words)
        both = [low & 0xFFFF | (high & 0xFFFF) << 16 for high in NF4_INTEGERS for low in NF4_INTEGERS]
        table, pair = b.module.table("i32", both), b.convert("bitcast", numbers, words)
        high = b.shr(pair, constant("i32", 12, n))
        index = b.convert("zext", b.or_(b.and_(pair, constant("i32", 15, n)), high), vector("i64", n))
        at = b.emit(vector("ptr", n), f"getelementptr i32, ptr {table.name}, {index.type} {index.name}")
        every, nothing = Value(vector("i1", n), "splat (i1 true)"), Value(words, "zeroinitializer")
        return b.call(words, intrinsic("masked.gather", words, at.type), at, Value("i32", "4"), every, nothing)

    def add_products(self, b: Builder, sums: Value, x: Value, codes: Value) -> Value:
        """The s32 of `sums`, with the products of both halves of those of x and the codes."""
        features, n = self.target.features.split(","), sums.lanes
        if (n == 16 and "+avx512vnni" in features) or (n == 8 and "+avxvnni" in features):
            return b.call(sums.type, f"llvm.x86.avx512.vpdpwssd.{32 * n}", sums, x, codes)
        if n >= 8:
            halves = vector("i16", 2 * n)
            name = "llvm.x86.avx512.pmaddw.d.512" if n == 16 else "llvm.x86.avx2.pmadd.wd"
            left, right = (b.convert("bitcast", v, halves) for v in (x, codes))
            return b.add(sums, b.call(sums.type, name, left, right))
        sixteen = constant("i32", 16, n)
        for shifted in (False, True):
            left, right = (b.op("ashr", v if shifted else b.shl(v, sixteen), sixteen) for v in (x, codes))
            sums = b.add(sums, b.op("mul", left, right))
        return sums

    def one(self, b: Builder, row: Value, strides: tuple[Value, Value], k: Value) -> Value:
        """The integer of one code of a row, before anything is subtracted, as s32: slow."""
        coding = self.coding
        byte, inside = b.div(k, coding.per_byte), b.rem(k, coding.per_byte)
        if coding is Coding.Q4_0:
            byte, inside = b.add(b.mul(b.div(k, 32), 16), b.rem(k, 16)), b.rem(b.div(k, 16), 2)
        found = b.convert("zext", b.load("i8", b.at(row, self.offset(b, strides, byte)), 1), "i32")
        if coding.flipped == 0x80:
            found = b.op("xor", found, Value("i32", "128"))
        if coding.bits == 8:
            return b.convert("sext", b.convert("trunc", found, "i8"), "i32")
        if coding.levels:
            inside = b.op("xor", inside, Value("i64", "1"))
        shift = b.convert("trunc", b.mul(inside, coding.bits), "i32")
        found = b.and_(b.shr(found, shift), (1 << coding.bits) - 1)
        if coding.flipped:
            found = b.op("xor", found, Value("i32", str(coding.flipped)))
        if coding.levels:
            table = b.module.table("i32", [v & 0xFFFFFFFF for v in NF4_INTEGERS])
            found = b.load("i32", b.at(table, b.mul(b.convert("zext", found, "i64"), 4)), 4)
        return found
