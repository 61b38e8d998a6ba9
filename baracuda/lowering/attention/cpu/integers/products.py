"""Exact sums of products of integers, for attention: what each way of taking them has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from baracuda.codegen.llvm.ir import Int, Value, i64, intrinsic, vector
from baracuda.codegen.llvm.lanes import first_lanes
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.attention.cpu.integers.quantizer import Reading
from baracuda.lowering.attention.cpu.tiles import Matrix
from baracuda.lowering.attention.cpu.work import AttentionKernel
from baracuda.lowering.matmul.cpu.integers.tile import add_scaled

#: What is done with the exact sums of a row and some columns, rounded to f32: given the row, the column and the sums.
Use = Callable[[Value, Value, Value], None]


class IntegerProducts(ABC):
    """Products left @ right of small matrices of integers, each kept as its side is multiplied best.

    A left matrix is made of vectors along k, a right one of vectors along its columns. Steps of k that do not exist must be 0 in
    one of the two, or not be counted.

    Attributes
    ----------
    name
        What people call it.
    lanes
        How many sums are a vector.
    """

    name: str
    lanes: int

    def __init__(self, work: AttentionKernel, bits: int) -> None:
        self.work, self.b, self.bits = work, work.b, bits

    @contextmanager
    def ready(self) -> Iterator[None]:
        """What is multiplied in is ready for it inside."""
        yield

    @abstractmethod
    def nbytes(self, rows: int, depth: int) -> int:
        """The size of a left matrix of `rows`, or of a right one of so many columns, over a depth."""

    @abstractmethod
    def keep_left(self, read: Reading, rows: Int, depth: int, to: Value) -> None:
        """Keep a left matrix, whose elements `read` gives; what it gives behind the depth, up to a whole vector, is not taken."""

    @abstractmethod
    def keep_right(self, read: Reading, depth: int, columns: Int, to: Value, there: Value | None = None) -> None:
        """Keep a right matrix over `columns`, whole vectors of them; rows from `there` on are read as 0."""

    @abstractmethod
    def sums(self, left: Value, right: Value, depth: int, block: tuple[Int, Int], extents: tuple[Int, Int], use: Use) -> None:
        """The exact sums over (rows, columns) and a block of a depth, of which the first step and the number are given."""

    def dot_products(
        self, to: Matrix, left: Value, right: Value, extents: tuple[Int, Int, int], of_rows: Matrix, of_columns: Matrix
    ) -> None:
        """to = left @ right over (rows, columns, k), block by block of k; with the scales of rows and of columns."""
        b, (rows, columns, depth) = self.b, extents

        def block(first: Int, count: Int) -> None:
            def use(row: Value, column: Value, rounded: Value) -> None:
                at = to.at(b, row, column)
                if isinstance(first, int):
                    self._store(Value(rounded.type, "zeroinitializer"), at)
                add_scaled(b, rounded, self._one(of_rows.at(b, 0, row)), self._several(of_columns.at(b, 0, column)), at)

            self.sums(left, right, depth, (first, count), (rows, columns), use)

        block(0, min(BLOCK, depth))
        if depth > BLOCK:
            with b.loop(BLOCK, depth, BLOCK) as first:
                block(first, b.min(b.sub(depth, first), BLOCK))

    def add(
        self,
        to: Matrix,
        left: Value,
        right: Value,
        extents: tuple[Int, Int, tuple[int, Value]],
        *,
        of_rows: Matrix | None = None,
        of_columns: Matrix | None = None,
        factors: Matrix | None = None,
    ) -> None:
        """to += left @ right over (rows, columns, k), with the scales of rows or of columns; first each column of `to` is
        multiplied by its factor. Of k, the depth and how much of it there is."""
        b, (rows, columns, (depth, count)) = self.b, extents

        def use(row: Value, column: Value, rounded: Value) -> None:
            at = to.at(b, row, column)
            total = self._several(at)
            if factors is not None:
                total = b.op("fmul", total, self._several(factors.at(b, 0, column)))
            if of_rows is not None:
                scale = self._one(of_rows.at(b, 0, row))
            else:
                assert of_columns is not None
                scale = self._several(of_columns.at(b, 0, column))
            self._store(b.call(total.type, intrinsic("fma", total.type), rounded, scale, total), at)

        self.sums(left, right, depth, (0, count), (rows, columns), use)

    def existing(self, x: Value, count: int) -> Value:
        """A vector with 0 behind its first elements."""
        lanes = self.work.lanes
        if count >= lanes:
            return x
        return self.b.select(first_lanes(self.b, lanes, i64(count)), x, self.work.number(0.0))

    def _one(self, at: Value) -> Value:
        return self.b.splat(self.b.load("float", at, 4), self.lanes)

    def _several(self, at: Value) -> Value:
        return self.b.load(vector("float", self.lanes), at, 4 * self.lanes)

    def _store(self, value: Value, at: Value) -> None:
        self.b.store(value, at, 4 * self.lanes)
