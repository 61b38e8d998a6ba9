"""Rows made integers, for attention: what scale they share, and where they are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Int, Value, intrinsic, vector
from baracuda.codegen.llvm.lanes import first_lanes
from baracuda.lowering.attention.cpu.tiles import Matrix
from baracuda.lowering.attention.cpu.work import AttentionKernel
from baracuda.lowering.matmul.cpu.integers.blocks import larger, magnitude, scaled, scales

#: The vector of elements of a row from a column on.
Reading = Callable[[Value, Value], Value]


@dataclass(frozen=True)
class Quantizer:
    """Makes integers of so many bits, which are kept as f64 in scratch memory."""

    work: AttentionKernel
    bits: int

    def operand(self, name: str, at: Value, count: Value, columns: int, packed: Matrix, to: Matrix, to_scales: Matrix) -> None:
        """The integers of `count` rows of an operand, by way of `packed`."""
        w = self.work
        w.pack_rows(name, at, count, packed, columns)
        self.rows(count, w.padded(columns), lambda row, column: w.load(packed.at(w.b, row, column)), to, to_scales)

    def operand_across(
        self, name: str, at: Value, count: Value, columns: int, packed: Matrix, to: Matrix, to_scales: Matrix
    ) -> None:
        """The same as columns, whole vectors of them."""
        w = self.work
        w.pack_columns(name, at, count, packed, columns)
        read: Reading = lambda row, column: w.load(packed.at(w.b, row, column))  # noqa: E731
        self.columns(columns, w.whole_vectors(count), read, to, to_scales)

    def rows(self, count: Int, columns: Int, read: Reading, to: Matrix, to_scales: Matrix) -> None:
        """The integers of `count` rows over `columns` (whole vectors), and the scale of each row."""
        w, b = self.work, self.work.b
        with b.loop(0, count) as row:
            largest = b.variable(Value(self._bits, "zeroinitializer"))
            with b.loop(0, columns, w.lanes) as column:
                largest.set(larger(b, largest.get(), magnitude(b, read(row, column))))
            most = b.call("i32", f"llvm.vector.reduce.umax.v{w.lanes}i32", largest.get())
            integer, scale = self._integer(b.splat(most, w.lanes))
            b.store(b.extract(scale, 0), to_scales.at(b, 0, row), 4)
            with b.loop(0, columns, w.lanes) as column:
                self._keep(integer(read(row, column)), to.at(b, row, column))

    def columns(self, count: Int, columns: Int, read: Reading, to: Matrix, to_scales: Matrix) -> None:
        """The integers of `columns` (whole vectors) over `count` rows, and the scale of each column."""
        w, b = self.work, self.work.b
        with b.loop(0, columns, w.lanes) as column:
            largest = b.variable(Value(self._bits, "zeroinitializer"))
            with b.loop(0, count) as row:
                largest.set(larger(b, largest.get(), magnitude(b, read(row, column))))
            integer, scale = self._integer(largest.get())
            w.store(scale, to_scales.at(b, 0, column))
            with b.loop(0, count) as row:
                self._keep(integer(read(row, column)), to.at(b, row, column))

    def weights_of_columns(self, x: Matrix, of_rows: Matrix, keys: Value, columns: Value, to: Matrix, to_scales: Matrix) -> None:
        """The weights x of some keys for each query, times the scales of the rows that they weigh, made integers."""
        w, b = self.work, self.work.b

        def read(key: Value, query: Value) -> Value:
            scale = b.splat(b.load("float", of_rows.at(b, 0, key), 4), w.lanes)
            return self._weight(w.load(x.at(b, key, query)), scale)

        self.columns(keys, columns, read, to, to_scales)

    def weights_of_rows(self, x: Matrix, of_columns: Matrix, keys: Value, queries: Value, to: Matrix, to_scales: Matrix) -> None:
        """The weights x of some queries for each key; columns beyond them may hold anything."""
        w, b = self.work, self.work.b

        def read(key: Value, query: Value) -> Value:
            weight = self._weight(w.load(x.at(b, key, query)), w.load(of_columns.at(b, 0, query)))
            return b.select(first_lanes(b, w.lanes, b.sub(queries, query)), weight, w.number(0.0))

        self.rows(keys, w.whole_vectors(queries), read, to, to_scales)

    def _weight(self, x: Value, scale: Value) -> Value:
        """A weight, +0 where x is 0 whatever the scale."""
        w, b = self.work, self.work.b
        return b.select(b.compare("fcmp oeq", x, w.number(0.0)), w.number(0.0), b.op("fmul", x, scale))

    @property
    def _bits(self) -> str:
        return vector("i32", self.work.lanes)

    def _integer(self, largest: Value) -> tuple[Callable[[Value], Value], Value]:
        """What makes integers (as f32) by the largest magnitudes, and the scales; they are 0 where a scale is NaN."""
        w, b = self.work, self.work.b
        found = scales(b, largest, self.bits)
        unusual = b.compare("fcmp uno", found.scale, found.scale)

        def integer(x: Value) -> Value:
            x = b.select(unusual, w.number(0.0), scaled(b, x, found.factors))
            return b.call(w.type, intrinsic("roundeven", w.type), x)

        return integer, found.scale

    def _keep(self, integer: Value, at: Value) -> None:
        b = self.work.b
        wide = b.convert("fpext", integer, vector("double", integer.lanes))
        b.store(wide, at, min(64, 8 * integer.lanes))
