"""Integer products on instructions that add two products of 16-bit integers to each s32 (VNNI)."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.codegen.llvm.ir import Builder, Value, constant, vector
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.matmul.cpu.integers.blocks import Integers
from baracuda.lowering.matmul.cpu.integers.tile import IntegerTile, add_scaled, horner

#: Bits of the lower half of an integer of 23 bits, and of one of 15, which is cut on the right only: whole, it has 16 bits.
_HALF, _QUARTER = 12, 8


class HalfTile(IntegerTile):
    """Halves of 16 bits, whose products are added in s32, wrapping.

    23 bits, q = q1 * 2**12 + q0: three sums, of the products of q1, of q0, and of q1 + q0, which is the sum in the middle and
    both others; it wraps, what is in the middle does not. 15 bits: two sums, of the products of q with r1 and with r0, where
    r = r1 * 2**8 + r0. A block's sums stay below 2**31 in each case.
    """

    name, step = "16-bit halves", 2

    def __init__(self, bits: int, rows: int, vectors: int, vector_bits: int) -> None:
        super().__init__(bits)
        self.rows, self.vectors, self._lanes = rows, vectors, vector_bits // 32
        self.columns = vectors * self._lanes
        self.sums = 3 if bits == 23 else 2
        self.step_ns = 0.09 * self.sums / self._lanes

    def lanes(self, right: bool) -> int:
        return self._lanes if right else self.rows

    def planes(self, right: bool) -> int:
        """What is kept of an integer."""
        return 3 if self.bits == 23 else 2 if right else 1

    def _plane_bytes(self, right: bool) -> int:
        return BLOCK // 2 * self.width(right) * 4

    def data_bytes(self, right: bool) -> int:
        return self.planes(right) * self._plane_bytes(right)

    def write(self, b: Builder, integers: Integers, right: bool, group: int, until: Value, block: Value) -> None:
        lanes, pitch = integers.lanes, 4 * self.width(right)
        start = b.at(block, 4 * group * lanes)
        low, sixteen = constant("i32", 0xFFFF, lanes), constant("i32", 16, lanes)
        with b.loop(0, until, 2) as k:
            first, second = (self.halves(b, integers.whole(b.add(k, i)), right) for i in range(2))
            at = b.at(start, b.mul(b.div(k, 2), pitch))
            for plane, (x, y) in enumerate(zip(first, second, strict=True)):
                b.store(b.or_(b.and_(x, low), b.shl(y, sixteen)), b.at(at, plane * self._plane_bytes(right)), 4)

    def halves(self, b: Builder, q: Value, right: bool) -> list[Value]:
        if self.bits == 15 and not right:
            return [q]
        bits = _HALF if self.bits == 23 else _QUARTER
        shift, half = constant("i32", bits, q.lanes), constant("i32", 1 << (bits - 1), q.lanes)
        high = b.op("ashr", b.add(q, half), shift)
        low = b.sub(q, b.shl(high, shift))
        return [high, low, b.add(high, low)] if self.bits == 23 else [high, low]

    def multiply(self, b: Builder, left: Value, right: Value, until: Value, sums: Value, ahead: Sequence[Value]) -> None:
        lanes, type_ = self._lanes, vector("i32", self._lanes)
        places = [(r, v) for r in range(self.rows) for v in range(self.vectors)]
        waiting = b.array("i32", self.sums * self.rows * self.columns)
        for number in range(self.sums):
            at_left = b.variable(b.at(left, number % self.planes(False) * self._plane_bytes(False)))
            at_right = b.variable(b.at(right, number * self._plane_bytes(True)))
            held = {place: b.variable(Value(type_, "zeroinitializer")) for place in places}
            with b.loop(0, until, 2):
                x, y = at_left.get(), at_right.get()
                ys = [b.load(type_, b.at(y, 4 * v * lanes), 4 * lanes) for v in range(self.vectors)]
                for r in range(self.rows):
                    pair = b.splat(b.load("i32", b.at(x, 4 * r), 4), lanes)
                    for v in range(self.vectors):
                        held[r, v].set(add_products(b, held[r, v].get(), pair, ys[v]))
                at_left.set(b.at(x, 4 * self.rows))
                at_right.set(b.at(y, 4 * self.columns))
            for (r, v), variable in held.items():
                b.store(variable.get(), b.at(waiting, 4 * ((number * self.rows + r) * self.columns + v * lanes)), 4 * lanes)
        narrow, at = vector("float", lanes), b.at(right, self.data_bytes(True))
        of_columns = [b.load(narrow, b.at(at, 4 * v * lanes), 4) for v in range(self.vectors)]
        with b.loop(0, self.rows) as row:
            of_row = b.splat(b.load("float", b.at(b.at(left, b.mul(row, 4)), self.data_bytes(False)), 4), lanes)
            start = b.mul(row, 4 * self.columns)
            for v in range(self.vectors):
                to = b.add(start, 4 * v * lanes)
                offsets = [number * self.rows * self.columns * 4 for number in range(self.sums)]
                pieces = [b.load(type_, b.at(b.at(waiting, to), offset), 4 * lanes) for offset in offsets]
                add_scaled(b, self.nearest(b, pieces), of_row, of_columns[v], b.at(sums, to))

    def nearest(self, b: Builder, sums: Sequence[Value]) -> Value:
        if self.bits == 15:
            return horner(b, sums, _QUARTER)
        high, low, both = sums
        return horner(b, [high, b.sub(b.sub(both, high), low), low], _HALF)

    def finish(self, b: Builder) -> None:
        """They are."""


def add_products(b: Builder, sums: Value, x: Value, y: Value) -> Value:
    """The s32 of `sums`, with the products of both halves of those of x and y."""
    # LLVM 22 has operands of i16, and reads this form of older versions too.
    return b.call(sums.type, f"llvm.x86.avx512.vpdpwssd.{32 * sums.lanes}", sums, x, y)
