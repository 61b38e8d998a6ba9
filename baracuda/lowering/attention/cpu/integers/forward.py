"""Attention in integers on the CPU, forward: the steps of chains with other products."""

from __future__ import annotations

from contextlib import AbstractContextManager

from baracuda.codegen.llvm.ir import Value
from baracuda.lowering.attention.cpu.forward import Forward
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

_Q, _K, _V = Form("q", True, True), Form("k", False, False), Form("v", False, True)


class IntegerForward(Forward):
    """The steps. All vectors run along the queries, those of sums and of probabilities too.

    `block` and `kept` have the integers of the block and the tile at hand.
    """

    block: Kept
    kept: Kept

    def __init__(self, a: Attention, words: Words, target: CpuTarget) -> None:
        self.words, self.target = words, target
        super().__init__(a, words, target)
        self.schedule = f"tiles, {a.bits}-bit integers as {self.products.name}"

    def _take_areas(self) -> None:
        w = self.work
        self.products = products_of(w, self.target, self.a.bits)
        self.quantizer = Quantizer(w, self.a.bits)
        self.packed = packed_area(w)
        self.s, self.sums = w.area(KEYS, QUERIES), w.area(w.value_depth, QUERIES)
        self.queries = Operands(w, self.products, self.quantizer, self.packed, _Q)
        self.queries_place = w.scratch.take(self.queries.nbytes)
        self.tiles = KeyTiles(w, self.products, self.quantizer, self.packed, (_K, _V))
        self.p_place = w.scratch.take(self.products.nbytes(QUERIES, KEYS))
        self.of_p = w.area(1, QUERIES)

    def steps(self) -> tuple[tuple[Launch, ...], int]:
        return self.tiles.before(super().steps(), self.words, self.target)

    def _ready(self) -> AbstractContextManager[None]:
        return self.products.ready()

    def _read_queries(self, at: Value, queries: Value) -> None:
        w = self.work
        self.block = self.queries.at(w.b.at(w.base, self.queries_place))
        self.queries.make(_Q, at, queries, self.block)

    def _read_tile(self, tile: Tile, key_head: Value) -> None:
        self.kept = self.tiles.at(tile.batch, key_head, tile.first_key, tile.keys)

    def _dot_products(self, s: Matrix, tile: Tile, columns: Value) -> None:
        left, right = self.kept.matrix(_K), self.block.matrix(_Q)
        extents = tile.keys, columns, self.a.depth
        self.products.dot_products(s, left, right, extents, self.kept.scales("k"), self.block.scales("q"))

    def _add_values(self, s: Matrix, tile: Tile, columns: Value) -> None:
        w = self.work
        p, of_p = w.b.at(w.base, self.p_place), w.in_scratch(self.of_p)
        weights = self.quantizer.weights_of_queries(s, self.kept.scales("v"), tile.keys, columns, of_p)
        self.products.keep_right(weights, KEYS, columns, p, tile.keys)
        sums, extents = w.in_scratch(self.sums), (w.value_depth, columns, (KEYS, tile.keys))
        self.products.add(sums, self.kept.matrix(_V), p, extents, of_columns=of_p, factors=w.in_scratch(self.r))

    def _rows_of_sums(self) -> Matrix:
        w = self.work
        rows = Matrix(w.in_scratch(self.packed).pointer, w.value_depth * w.size, w.size)
        w.transpose(w.in_scratch(self.sums), rows, w.value_depth, QUERIES)
        return rows
