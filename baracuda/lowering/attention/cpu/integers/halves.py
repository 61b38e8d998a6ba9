"""Exact sums on instructions that add two products of 16-bit integers to each s32 (VNNI)."""

from __future__ import annotations

from baracuda.codegen.llvm.ir import Int, Value, constant, i64, vector
from baracuda.lowering.attention.cpu.integers.products import IntegerProducts, Use
from baracuda.lowering.attention.cpu.integers.quantizer import Reading
from baracuda.lowering.attention.cpu.work import AttentionKernel
from baracuda.lowering.matmul.cpu.integers.blocks import rounded
from baracuda.lowering.matmul.cpu.integers.halves import HalfTile, add_products


class HalfProducts(IntegerProducts):
    """Halves of 16 bits, as a product of matrices has them: a word has those of two steps of k that are a vector apart.

    A left matrix is kept row by row, a right one in panels of a vector of columns; in each the planes follow one another.
    """

    name = "16-bit halves"

    def __init__(self, work: AttentionKernel, bits: int, tile: HalfTile) -> None:
        super().__init__(work, bits)
        self.lanes, self.tile = work.lanes, tile

    def _words(self, depth: int) -> int:
        """How many words a depth is."""
        return -(-depth // (2 * self.lanes)) * self.lanes

    def _pitch(self, right: bool, depth: int) -> int:
        """The size of a row, or of a column."""
        return 4 * self.tile.planes(right) * self._words(depth)

    def nbytes(self, rows: int, depth: int) -> int:
        return self.work.padded(rows) * max(self._pitch(right, depth) for right in (False, True))

    def keep_left(self, read: Reading, rows: Int, depth: int, to: Value) -> None:
        b, pair, width = self.b, 2 * self.lanes, 4 * self._words(depth)
        with b.loop(0, rows) as row:
            start = b.at(to, b.mul(row, self._pitch(False, depth)))
            for first in range(0, depth, pair):
                steps = [self.existing(read(row, k), depth - k) for k in range(first, min(first + pair, depth), self.lanes)]
                self._keep(steps, False, b.at(start, 2 * first), width)

    def keep_right(self, read: Reading, depth: int, columns: Int, to: Value, there: Value | None = None) -> None:
        b, lanes, width = self.b, self.lanes, 4 * self._words(depth) * self.lanes
        with b.loop(0, columns, lanes) as column, b.loop(0, lanes) as word:
            start = b.at(to, b.add(b.mul(column, self._pitch(True, depth)), b.mul(word, 4 * lanes)))
            for first in range(0, depth, 2 * lanes):
                steps = [read(b.add(word, k), column) for k in range(first, min(first + 2 * lanes, depth), lanes)]
                self._keep(steps, True, b.at(start, 2 * first * lanes), width)

    def _keep(self, steps: list[Value], right: bool, at: Value, width: int) -> None:
        """Words of one or two vectors of steps, a plane `width` behind the one before."""
        b, lanes = self.b, self.lanes
        low, sixteen = constant("i32", 0xFFFF, lanes), constant("i32", 16, lanes)
        first, *second = (self.tile.halves(b, rounded(b, x), right) for x in steps)
        for plane, x in enumerate(first):
            word = b.and_(x, low)
            if second:
                word = b.or_(word, b.shl(second[0][plane], sixteen))
            b.store(word, b.at(at, plane * width), 4 * lanes)

    def sums(self, left: Value, right: Value, depth: int, block: tuple[Int, Int], extents: tuple[Int, Int], use: Use) -> None:
        b, lanes, (first, count), (rows, columns) = self.b, self.lanes, block, extents
        left, right = b.at(left, b.mul(i64(first), 2)), b.at(right, b.mul(i64(first), 2 * lanes))
        words = b.mul(b.div(b.add(i64(count), 2 * lanes - 1), 2 * lanes), lanes)
        with b.loop(0, columns, lanes) as column, b.loop(0, rows, lanes) as row:
            at_left = b.at(left, b.mul(row, self._pitch(False, depth)))
            at_right = b.at(right, b.mul(column, self._pitch(True, depth)))
            for r, nearest in enumerate(self._tile(at_left, at_right, depth, words)):
                use(b.add(row, r), column, nearest)

    def _tile(self, left: Value, right: Value, depth: int, words: Value) -> list[Value]:
        """The sums of as many rows as a vector has lanes."""
        b, lanes, type_, tile = self.b, self.lanes, vector("i32", self.lanes), self.tile
        waiting = b.array("i32", tile.sums * lanes * lanes)
        for number in range(tile.sums):
            plane = 4 * number * self._words(depth)
            at_left = b.variable(b.at(left, plane if tile.planes(False) > 1 else 0))
            at_right = b.variable(b.at(right, plane * lanes))
            held = [b.variable(Value(type_, "zeroinitializer")) for _ in range(lanes)]
            with b.loop(0, words):
                x, y = at_left.get(), b.load(type_, at_right.get(), 4 * lanes)
                for r, variable in enumerate(held):
                    pair = b.splat(b.load("i32", b.at(x, r * self._pitch(False, depth)), 4), lanes)
                    variable.set(add_products(b, variable.get(), pair, y))
                at_left.set(b.at(x, 4))
                at_right.set(b.at(at_right.get(), 4 * lanes))
            for r, variable in enumerate(held):
                b.store(variable.get(), b.at(waiting, 4 * lanes * (number * lanes + r)), 4 * lanes)
        found = []
        for r in range(lanes):
            places = [b.at(waiting, 4 * lanes * (number * lanes + r)) for number in range(tile.sums)]
            found.append(tile.nearest(b, [b.load(type_, at, 4 * lanes) for at in places]))
        return found
