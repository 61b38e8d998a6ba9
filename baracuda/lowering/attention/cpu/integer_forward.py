"""Attention in integers on the CPU, forward: the steps of chains with other products."""

from __future__ import annotations

from baracuda.codegen.llvm.ir import Value
from baracuda.lowering.attention.cpu.exact_products import ExactMultiplier
from baracuda.lowering.attention.cpu.forward import Forward
from baracuda.lowering.attention.cpu.integers import Quantizer
from baracuda.lowering.attention.cpu.scores import Tile
from baracuda.lowering.attention.cpu.tiles import Matrix
from baracuda.lowering.attention.problem import KEYS, QUERIES, Attention
from baracuda.lowering.nest.cpu.kernel import Words
from baracuda.runtime.jit import CpuTarget


class IntegerForward(Forward):
    """The step. All vectors run along the queries, those of sums and of probabilities too."""

    def __init__(self, a: Attention, words: Words, target: CpuTarget) -> None:
        super().__init__(a, words, target)
        self.schedule = f"tiles, exact sums of {a.bits}-bit integers in f64"
        self.exact = ExactMultiplier.of(self.b, target)

    def _take_areas(self) -> None:
        w = self.work
        self.integers = Quantizer(w, self.a.bits)
        depth = max(w.depth, w.value_depth)
        self.packed = w.area(depth, QUERIES)
        self.s = w.area(KEYS, QUERIES)
        self.sums = w.area(w.value_depth, QUERIES)
        self.q = w.area(w.depth, QUERIES, wide=True)
        self.k, self.v = w.area(KEYS, w.depth, wide=True), w.area(KEYS, w.value_depth, wide=True)
        self.p = w.area(KEYS, QUERIES, wide=True)
        self.of_q, self.of_k, self.of_v, self.of_p = (w.area(1, QUERIES) for _ in range(4))

    def _read_queries(self, at: Value, queries: Value) -> None:
        q = (self.work.in_scratch(area) for area in (self.packed, self.q, self.of_q))
        self.integers.operand_across("q", at, queries, self.a.depth, *q)

    def _packed_rows(self, columns: int) -> Matrix:
        """Where rows are packed before they are made integers."""
        return Matrix(self.work.in_scratch(self.packed).pointer, self.work.padded(columns) * self.work.size, self.work.size)

    def _read_tile(self, tile: Tile, key_head: Value) -> None:
        w, a = self.work, self.a
        for name, depth, to, scales in (("k", a.depth, self.k, self.of_k), ("v", a.value_depth, self.v, self.of_v)):
            at = w.at(name, tile.batch, key_head, tile.first_key)
            areas = self._packed_rows(depth), w.in_scratch(to), w.in_scratch(scales)
            self.integers.operand(name, at, tile.keys, depth, *areas)

    def _dot_products(self, s: Matrix, tile: Tile, columns: Value) -> None:
        w = self.work
        k, q, of_k, of_q = (w.in_scratch(area) for area in (self.k, self.q, self.of_k, self.of_q))
        self.exact.dot_products(s, k, q, (tile.keys, columns, self.a.depth), of_k, of_q)

    def _add_values(self, s: Matrix, tile: Tile, columns: Value) -> None:
        w = self.work
        p, v, of_p, of_v, factors, sums = (
            w.in_scratch(area) for area in (self.p, self.v, self.of_p, self.of_v, self.r, self.sums)
        )
        self.integers.weights_of_columns(s, of_v, tile.keys, columns, p, of_p)
        across = Matrix(v.pointer, v.column, v.row)
        self.exact.add(sums, across, p, (w.value_depth, columns, tile.keys), of_columns=of_p, factors=factors)

    def _rows_of_sums(self) -> Matrix:
        w = self.work
        rows = self._packed_rows(self.a.value_depth)
        w.transpose(w.in_scratch(self.sums), rows, w.value_depth, QUERIES)
        return rows
