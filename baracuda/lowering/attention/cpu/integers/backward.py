"""Attention in integers on the CPU, backward: the steps of chains with other products."""

from __future__ import annotations

from contextlib import AbstractContextManager

from baracuda.codegen.llvm.ir import Value
from baracuda.lowering.attention.cpu.backward import Backward
from baracuda.lowering.attention.cpu.integers.operands import Form, Kept, Operands
from baracuda.lowering.attention.cpu.integers.quantizer import Quantizer
from baracuda.lowering.attention.cpu.integers.tiles import KeyTiles, packed_area
from baracuda.lowering.attention.cpu.integers.ways import products_of
from baracuda.lowering.attention.cpu.scores import Tile
from baracuda.lowering.attention.cpu.tiles import Matrix
from baracuda.lowering.attention.problem import KEYS, QUERIES, Attention
from baracuda.lowering.nest.cpu.kernel import Words
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

_K, _K_ACROSS, _V = Form("k", False, False), Form("k", False, True), Form("v", False, False)
_Q_ACROSS, _DY_ACROSS, _Q, _DY = (Form(name, True, across) for across in (True, False) for name in ("q", "dy"))


class IntegerBackward(Backward):
    """The steps. A probability or a gradient is made an integer for each sum that it takes part in.

    `block` and `kept` have the integers of the block and the tile at hand.
    """

    block: Kept
    kept: Kept

    def __init__(self, a: Attention, words: Words, target: CpuTarget) -> None:
        self.words, self.target = words, target
        super().__init__(a, words, target)
        self.schedule = f"tiles, all gradients at once, {a.bits}-bit integers as {self.products.name}"

    def _take_areas(self) -> None:
        w, a = self.work, self.a
        self.products = products_of(w, self.target, a.bits)
        self.quantizer = Quantizer(w, a.bits)
        self.packed, self.packed_y = packed_area(w), packed_area(w)
        of_q = (_Q_ACROSS, *((_Q,) if a.dk is not None else ()))
        of_dy = (_DY_ACROSS, *((_DY,) if a.dv is not None else ()))
        self.queries = Operands(w, self.products, self.quantizer, self.packed, *of_q, *of_dy)
        self.queries_place = w.scratch.take(self.queries.nbytes)
        of_k = (_K, *((_K_ACROSS,) if a.dq is not None else ()))
        self.tiles = KeyTiles(w, self.products, self.quantizer, self.packed, (*of_k, _V))
        self.weights_place = w.scratch.take(self.products.nbytes(QUERIES, KEYS))
        self.of_weights = w.area(1, QUERIES)
        self.dq = w.area(w.depth, QUERIES)

    def steps(self) -> tuple[tuple[Launch, ...], int]:
        return self.tiles.before(super().steps(), self.words, self.target)

    def _ready(self) -> AbstractContextManager[None]:
        return self.products.ready()

    def _read_block(self, at: dict[str, Value], where: tuple[Value, Value, Value], queries: Value) -> None:
        w = self.work
        self.block = self.queries.at(w.b.at(w.base, self.queries_place))
        for form in self.queries.forms:
            packed = self.queries.make(form, at[form.name], queries, self.block)
            if form is _DY_ACROSS:
                y = w.in_scratch(self.packed_y)
                y = Matrix(y.pointer, packed.row, packed.column)
                w.pack_columns("y", at["y"], queries, y, self.a.value_depth)
                self._statistics(where, queries, packed, y)

    def _read_tile(self, tile: Tile, key_head: Value) -> None:
        self.kept = self.tiles.at(tile.batch, key_head, tile.first_key, tile.keys)

    def _dot_products(self, s: Matrix, ds: Matrix, tile: Tile, columns: Value) -> None:
        kept, block = self.kept, self.block
        for to, left, right, depth in ((s, _K, _Q_ACROSS, self.a.depth), (ds, _V, _DY_ACROSS, self.a.value_depth)):
            scales = kept.scales(left.name), block.scales(right.name)
            self.products.dot_products(to, kept.matrix(left), block.matrix(right), (tile.keys, columns, depth), *scales)

    def _add_gradients(self, s: Matrix, ds: Matrix, tile: Tile) -> None:
        w, a = self.work, self.a
        weights, of_weights = w.b.at(w.base, self.weights_place), w.in_scratch(self.of_weights)
        for wanted, area, x, form, width in ((a.dk, self.dk, ds, _Q, w.depth), (a.dv, self.dv, s, _DY, w.value_depth)):
            if wanted is not None:
                scales = self.block.scales(form.name)
                found = self.quantizer.weights_of_keys(x, scales, tile.keys, tile.queries, of_weights)
                self.products.keep_left(found, tile.keys, QUERIES, weights)
                right, there = self.block.matrix(form), (QUERIES, tile.queries)
                to = self._rows_of_tile(area, tile)
                self.products.add(to, weights, right, (tile.keys, width, there), of_rows=of_weights)
        if a.dq is not None:
            columns = w.whole_vectors(tile.queries)
            found = self.quantizer.weights_of_queries(ds, self.kept.scales("k"), tile.keys, columns, of_weights)
            self.products.keep_right(found, KEYS, columns, weights, tile.keys)
            dq, extents = w.in_scratch(self.dq), (w.depth, columns, (KEYS, tile.keys))
            self.products.add(dq, self.kept.matrix(_K_ACROSS), weights, extents, of_columns=of_weights)

    def _rows_of_dq(self) -> Matrix:
        w = self.work
        rows = Matrix(w.in_scratch(self.packed).pointer, w.depth * w.size, w.size)
        w.transpose(w.in_scratch(self.dq), rows, w.depth, QUERIES)
        return rows
