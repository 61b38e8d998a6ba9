"""Rows and columns of scratch memory on their way to integers: the scale that the elements of each one share."""

from __future__ import annotations

from collections.abc import Callable

from baracuda.codegen.llvm.ir import Int, Value, intrinsic, vector
from baracuda.codegen.llvm.lanes import first_lanes
from baracuda.lowering.attention.cpu.tiles import Matrix
from baracuda.lowering.attention.cpu.work import AttentionKernel
from baracuda.lowering.attention.problem import KEYS, QUERIES
from baracuda.lowering.matmul.cpu.integers.blocks import larger, magnitude, scaled, scales

#: The vector of elements of a row from a column on.
Reading = Callable[[Int, Int], Value]


class Quantizer:
    """Finds the scales of up to `QUERIES` rows or columns of f32; what it gives reads elements that only want rounding.

    Elements of a row or column whose scale is NaN may be read as anything.
    """

    def __init__(self, work: AttentionKernel, bits: int) -> None:
        self.work, self.bits = work, bits
        self._largest = work.area(1, QUERIES)
        self._factors = work.area(1, QUERIES), work.area(1, QUERIES)

    def of_rows(self, read: Reading, count: Int, columns: Int, to: Matrix) -> Reading:
        """With a scale for each of `count` rows over `columns`, which are whole vectors."""
        w, b = self.work, self.work.b
        at_largest = w.in_scratch(self._largest)
        with b.loop(0, count) as row:
            largest = b.variable(Value(self._bits, "zeroinitializer"))
            with b.loop(0, columns, w.lanes) as column:
                largest.set(larger(b, largest.get(), magnitude(b, read(row, column))))
            most = b.call("i32", intrinsic("vector.reduce.umax", self._bits), largest.get())
            b.store(most, at_largest.at(b, 0, row), 4)
        with b.loop(0, count, w.lanes) as row:
            self._store(b.load(self._bits, at_largest.at(b, 0, row), 4 * w.lanes), row, to)

        def one(area: Matrix, row: Int) -> Value:
            return b.splat(b.load("float", area.at(b, 0, row), 4), w.lanes)

        return self._reading(read, lambda area, row, column: one(area, row))

    def of_columns(self, read: Reading, count: Int, columns: Int, to: Matrix, again: Reading | None = None) -> Reading:
        """With a scale for each of `columns`, which are whole vectors, over `count` rows; `again` reads them from then on."""
        w, b = self.work, self.work.b
        with b.loop(0, columns, w.lanes) as column:
            largest = b.variable(Value(self._bits, "zeroinitializer"))
            with b.loop(0, count) as row:
                largest.set(larger(b, largest.get(), magnitude(b, read(row, column))))
            self._store(largest.get(), column, to)
        return self._reading(again or read, lambda area, row, column: w.load(area.at(b, 0, column)))

    @property
    def _bits(self) -> str:
        return vector("i32", self.work.lanes)

    def _store(self, largest: Value, at: Value, to: Matrix) -> None:
        w, b = self.work, self.work.b
        found = scales(b, largest, self.bits)
        w.store(found.scale, to.at(b, 0, at))
        for factor, area in zip(found.factors, self._factors, strict=True):
            w.store(factor, w.in_scratch(area).at(b, 0, at))

    def _reading(self, read: Reading, values: Callable[[Matrix, Int, Int], Value]) -> Reading:
        w, b = self.work, self.work.b
        first, second = (w.in_scratch(area) for area in self._factors)

        def reading(row: Int, column: Int) -> Value:
            return scaled(b, read(row, column), (values(first, row, column), values(second, row, column)))

        return reading

    # --- weights ------------------------------------------------------------------------------------------------------

    def weights_of_queries(self, x: Matrix, of_keys: Matrix, keys: Value, columns: Value, to: Matrix) -> Reading:
        """Weights of some keys for each query, times the scales of the rows that they weigh: a scale for each query.

        They take the place of x, where keys that do not exist have +0.
        """
        w, b = self.work, self.work.b

        def read(key: Int, query: Int) -> Value:
            return w.load(x.at(b, key, query))

        def weigh(key: Int, query: Int) -> Value:
            weight = self._weight(read(key, query), b.splat(b.load("float", of_keys.at(b, 0, key), 4), w.lanes))
            w.store(weight, x.at(b, key, query))
            return weight

        with b.loop(keys, KEYS) as key, b.loop(0, columns, w.lanes) as query:
            w.store(w.number(0.0), x.at(b, key, query))
        return self.of_columns(weigh, keys, columns, to, read)

    def weights_of_keys(self, x: Matrix, of_queries: Matrix, keys: Value, queries: Value, to: Matrix) -> Reading:
        """Weights of some queries for each key, +0 for those that do not exist: a scale for each key."""
        w, b = self.work, self.work.b

        def read(key: Int, query: Int) -> Value:
            weight = self._weight(w.load(x.at(b, key, query)), w.load(of_queries.at(b, 0, query)))
            return b.select(first_lanes(b, w.lanes, b.sub(queries, query)), weight, w.number(0.0))

        return self.of_rows(read, keys, w.whole_vectors(queries), to)

    def _weight(self, x: Value, scale: Value) -> Value:
        """A weight, +0 where x is 0 whatever the scale."""
        b, zero = self.work.b, self.work.number(0.0)
        return b.select(b.compare("fcmp oeq", x, zero), zero, b.op("fmul", x, scale))
