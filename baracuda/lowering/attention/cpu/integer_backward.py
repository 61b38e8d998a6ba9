"""Attention in integers on the CPU, backward: the steps of chains with other products."""

from __future__ import annotations

from baracuda.codegen.llvm.ir import Value
from baracuda.lowering.attention.cpu.backward import Backward
from baracuda.lowering.attention.cpu.exact_products import ExactMultiplier
from baracuda.lowering.attention.cpu.integers import Quantizer
from baracuda.lowering.attention.cpu.scores import Tile
from baracuda.lowering.attention.cpu.tiles import Matrix
from baracuda.lowering.attention.problem import KEYS, QUERIES, Attention
from baracuda.lowering.nest.cpu.kernel import Words
from baracuda.runtime.jit import CpuTarget


class IntegerBackward(Backward):
    """The step. A probability or a gradient is made an integer for each sum that it takes part in."""

    def __init__(self, a: Attention, words: Words, target: CpuTarget) -> None:
        super().__init__(a, words, target)
        self.schedule = f"tiles, all gradients at once, exact sums of {a.bits}-bit integers in f64"
        self.exact = ExactMultiplier.of(self.b, target)

    def _take_areas(self) -> None:
        w = self.work
        self.integers = Quantizer(w, self.a.bits)
        self.packed, self.packed_y = (w.area(max(w.depth, w.value_depth), QUERIES) for _ in range(2))
        self.q_across, self.dy_across = w.area(w.depth, QUERIES, wide=True), w.area(w.value_depth, QUERIES, wide=True)
        self.q, self.dy = w.area(QUERIES, w.depth, wide=True), w.area(QUERIES, w.value_depth, wide=True)
        self.k, self.v = w.area(KEYS, w.depth, wide=True), w.area(KEYS, w.value_depth, wide=True)
        self.weights = w.area(KEYS, QUERIES, wide=True)
        self.of_q, self.of_k, self.of_v, self.of_dy, self.of_weights = (w.area(1, QUERIES) for _ in range(5))
        self.dq = w.area(w.depth, QUERIES)

    def _packed_rows(self, columns: int) -> Matrix:
        """Where rows are packed before they are made integers."""
        return Matrix(self.work.in_scratch(self.packed).pointer, self.work.padded(columns) * self.work.size, self.work.size)

    def _read_block(self, at: dict[str, Value], where: tuple[Value, Value, Value], queries: Value) -> None:
        w, a = self.work, self.a
        packed, y = w.in_scratch(self.packed), w.in_scratch(self.packed_y)
        for name, depth, across, rows, scales in (
            ("q", a.depth, self.q_across, self.q, self.of_q),
            ("dy", a.value_depth, self.dy_across, self.dy, self.of_dy),
        ):
            to_scales = w.in_scratch(scales)
            self.integers.operand_across(name, at[name], queries, depth, packed, w.in_scratch(across), to_scales)
            if name == "dy":
                w.pack_columns("y", at["y"], queries, y, a.value_depth)
                self._statistics(where, queries, packed, y)
            self.integers.operand(name, at[name], queries, depth, self._packed_rows(depth), w.in_scratch(rows), to_scales)

    def _read_tile(self, tile: Tile, key_head: Value) -> None:
        w, a = self.work, self.a
        for name, depth, to, scales in (("k", a.depth, self.k, self.of_k), ("v", a.value_depth, self.v, self.of_v)):
            at = w.at(name, tile.batch, key_head, tile.first_key)
            areas = self._packed_rows(depth), w.in_scratch(to), w.in_scratch(scales)
            self.integers.operand(name, at, tile.keys, depth, *areas)

    def _dot_products(self, s: Matrix, ds: Matrix, tile: Tile, columns: Value) -> None:
        w, a = self.work, self.a
        for to, depth, *areas in (
            (s, a.depth, self.k, self.q_across, self.of_k, self.of_q),
            (ds, a.value_depth, self.v, self.dy_across, self.of_v, self.of_dy),
        ):
            left, right, of_rows, of_columns = (w.in_scratch(area) for area in areas)
            self.exact.dot_products(to, left, right, (tile.keys, columns, depth), of_rows, of_columns)

    def _add_gradients(self, s: Matrix, ds: Matrix, tile: Tile) -> None:
        w, a = self.work, self.a
        weights, of_weights = w.in_scratch(self.weights), w.in_scratch(self.of_weights)
        if a.dq is not None:
            columns = w.whole_vectors(tile.queries)
            self.integers.weights_of_columns(ds, w.in_scratch(self.of_k), tile.keys, columns, weights, of_weights)
            k = w.in_scratch(self.k)
            across = Matrix(k.pointer, k.column, k.row)
            self.exact.add(w.in_scratch(self.dq), across, weights, (w.depth, columns, tile.keys), of_columns=of_weights)
        for wanted, to, x, rows, scales, width in (
            (a.dk, self.dk, ds, self.q, self.of_q, w.depth),
            (a.dv, self.dv, s, self.dy, self.of_dy, w.value_depth),
        ):
            if wanted is not None:
                self.integers.weights_of_rows(x, w.in_scratch(scales), tile.keys, tile.queries, weights, of_weights)
                extents = tile.keys, width, tile.queries
                self.exact.add(self._rows_of_tile(to, tile), weights, w.in_scratch(rows), extents, of_rows=of_weights)

    def _rows_of_dq(self) -> Matrix:
        w = self.work
        rows = self._packed_rows(self.a.depth)
        w.transpose(w.in_scratch(self.dq), rows, w.depth, QUERIES)
        return rows
