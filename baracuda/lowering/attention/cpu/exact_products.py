"""Products of small matrices of integers in scratch memory, for attention: their exact sums, as chains of FMA in f64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Builder, Int, Value, i64, intrinsic, vector
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.attention.cpu.tiles import Matrix
from baracuda.lowering.matmul.cpu.integers.tile import add_scaled
from baracuda.runtime.jit import CpuTarget

#: What is done with the exact sums of a row and some columns, rounded to f32: given the row, the column and the sums.
Use = Callable[[Value, Value, Value], None]
_UNROLLED = 4


@dataclass(frozen=True)
class ExactMultiplier:
    """Makes products of matrices of integers, kept as f64. A register tile has `rows` by `vectors` of `lanes`."""

    b: Builder
    rows: int
    vectors: int
    lanes: int

    @staticmethod
    def of(b: Builder, target: CpuTarget) -> ExactMultiplier:
        many = target.vector_bits == 512 or target.triple.startswith(("aarch64", "arm64"))
        return ExactMultiplier(b, 8 if many else 4, 2, target.vector_bits // 64)

    def dot_products(
        self, to: Matrix, left: Matrix, right: Matrix, extents: tuple[Int, Int, int], of_rows: Matrix, of_columns: Matrix
    ) -> None:
        """to = left @ right over (rows, columns, k), block by block of k; with the scales of rows and of columns."""
        b, (rows, columns, depth) = self.b, extents

        def block(first: Int, count: Int) -> None:
            def use(row: Value, column: Value, rounded: Value) -> None:
                at = to.at(b, row, column)
                if isinstance(first, int):
                    self._store(Value(rounded.type, "zeroinitializer"), at)
                add_scaled(b, rounded, self._one(of_rows.at(b, 0, row)), self._several(of_columns.at(b, 0, column)), at)

            parts = Matrix(left.at(b, 0, first), left.row, left.column), Matrix(right.at(b, first, 0), right.row, right.column)
            self._sums(*parts, (rows, columns, count), use)

        block(0, min(BLOCK, depth))
        if depth > BLOCK:
            with b.loop(BLOCK, depth, BLOCK) as first:
                block(first, b.min(b.sub(depth, first), BLOCK))

    def add(
        self,
        to: Matrix,
        left: Matrix,
        right: Matrix,
        extents: tuple[Int, Int, Int],
        *,
        of_rows: Matrix | None = None,
        of_columns: Matrix | None = None,
        factors: Matrix | None = None,
    ) -> None:
        """to += left @ right over (rows, columns, k), with the scales of rows or of columns; first each column of `to` is
        multiplied by its factor."""
        b = self.b

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

        self._sums(left, right, extents, use)

    def _sums(self, left: Matrix, right: Matrix, extents: tuple[Int, Int, Int], use: Use) -> None:
        """The exact sums of whole tiles of rows and columns."""
        b, (rows, columns, count) = self.b, extents
        with b.loop(0, columns, self.vectors * self.lanes) as column, b.loop(0, rows, self.rows) as row:
            from_left = Matrix(left.at(b, row, 0), left.row, left.column)
            from_right = Matrix(right.at(b, 0, column), right.row, right.column)
            for (r, v), value in self._tile(from_left, from_right, count).items():
                narrow = b.convert("fptrunc", value, vector("float", self.lanes))
                use(b.add(row, r), b.add(column, v * self.lanes), narrow)

    def _tile(self, left: Matrix, right: Matrix, count: Int) -> dict[tuple[int, int], Value]:
        b, type_ = self.b, vector("double", self.lanes)
        places = [(r, v) for r in range(self.rows) for v in range(self.vectors)]
        held = {place: b.variable(Value(type_, "zeroinitializer")) for place in places}
        at_left, at_right = b.variable(left.pointer), b.variable(right.pointer)

        def steps(n: int) -> None:
            x, y = at_left.get(), at_right.get()
            for i in range(n):
                ys = [b.load(type_, b.at(y, i * right.row + 8 * v * self.lanes), 8 * self.lanes) for v in range(self.vectors)]
                for r in range(self.rows):
                    q = b.splat(b.load("double", b.at(x, r * left.row + i * left.column), 8), self.lanes)
                    for v in range(self.vectors):
                        held[r, v].set(b.call(type_, intrinsic("fma", type_), q, ys[v], held[r, v].get()))
            at_left.set(b.at(x, n * left.column))
            at_right.set(b.at(y, n * right.row))

        whole = b.and_(i64(count), -_UNROLLED)
        with b.loop(0, whole, _UNROLLED):
            steps(_UNROLLED)
        with b.loop(whole, count):
            steps(1)
        return {place: variable.get() for place, variable in held.items()}

    def _one(self, at: Value) -> Value:
        return self.b.splat(self.b.load("float", at, 4), self.lanes)

    def _several(self, at: Value) -> Value:
        return self.b.load(vector("float", self.lanes), at, 4 * self.lanes)

    def _store(self, value: Value, at: Value) -> None:
        self.b.store(value, at, 4 * self.lanes)
