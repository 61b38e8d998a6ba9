"""The score formula of attention over a block of queries and a tile of keys, vectors along the queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from baracuda.codegen.llvm.evaluate import Evaluator, Group
from baracuda.codegen.llvm.ir import Value, i64, vector
from baracuda.codegen.llvm.memory import load
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr
from baracuda.lowering.attention.cpu.tiles import Matrix
from baracuda.lowering.attention.cpu.work import AttentionKernel
from baracuda.lowering.attention.problem import KEYS, QUERIES
from baracuda.lowering.matmul.cpu.read import Reader, pack

#: Keys whose scores are computed side by side.
TOGETHER = 4
_MOST = (1 << 31) - 1


@dataclass(frozen=True)
class Tile:
    """Where the work is: batch element, query head, first query and first key, how many of each there are in the block and in
    the tile, and the lengths; i64 all."""

    batch: Value
    head: Value
    first_query: Value
    first_key: Value
    queries: Value
    keys: Value
    query_length: Value
    key_length: Value


class Scores:
    """Evaluates the score's formulas, and says which pairs are considered."""

    def __init__(self, work: AttentionKernel) -> None:
        self.work = work
        nest = work.kernel.nest
        self.kinds = {p.name: p.kind for p in nest.graph.inputs if p.name in work.index}
        #: Tensors that vary along the queries, or may, are packed with their queries side by side.
        self.areas: dict[str, Matrix] = {}
        for name, kind in self.kinds.items():
            if work.operand(name).steps(2) != 0:
                size = self._packed(kind).compute.itemsize
                offset = work.scratch.take(KEYS * QUERIES * size)
                self.areas[name] = Matrix(Value("i64", str(offset)), QUERIES * size, size)

    @staticmethod
    def _packed(kind: ElementKind) -> ElementKind:
        """What a packed tensor is read as: a bool is a byte."""
        return ElementKind.U8 if kind is ElementKind.BOOL else kind

    def pack(self, tile: Tile) -> None:
        """Put the tensors of a tile into scratch memory."""
        work, b = self.work, self.work.b
        for name, area in self.areas.items():
            to = work.in_scratch(area)
            operand = replace(work.operand(name), kind=self._packed(self.kinds[name]))
            reader = Reader.of(b, operand, (2, 3), (work.strides[name][2], work.strides[name][3]))
            pointer = work.at(name, tile.batch, tile.head, tile.first_query, tile.first_key)
            with b.loop(0, tile.queries, work.lanes) as query:
                remaining = b.sub(tile.queries, query)
                pack(reader, reader.at(pointer, query, 0), work.lanes, remaining, tile.keys, to.at(b, 0, query), to.row)

    def whole(self, tile: Tile) -> Value:
        """Whether every pair of the tile is considered; queries that do not exist do not count where there are no lengths."""
        work, b = self.work, self.work.b
        is_whole = b.equal(tile.keys, KEYS)
        at = b.add(tile.first_query, work.offset)
        if work.after is not None:
            is_whole = b.op("and", is_whole, b.compare("icmp sle", b.add(tile.first_key, KEYS - 1), b.add(at, work.after)))
        if work.before is not None:
            first = b.sub(b.add(at, QUERIES - 1), work.before)
            is_whole = b.op("and", is_whole, b.compare("icmp sge", tile.first_key, first))
        if "query_lengths" in work.index:
            is_whole = b.op("and", is_whole, b.equal(tile.queries, QUERIES))
        return is_whole

    def considered(self, tile: Tile, query: Value, key: Value) -> Group:
        """For `TOGETHER` keys of the tile from `key` on, which of the vector of queries from `query` on may see them."""
        b, work = self.work.b, self.work
        i = self._queries(tile, query)
        conditions = []
        for g in range(TOGETHER):
            at = b.add(b.add(tile.first_key, key), g)
            diagonal = b.sub(at, work.offset)
            low = i64(0) if work.after is None else b.sub(diagonal, work.after)
            low = b.select(b.less(at, tile.key_length), low, i64(_MOST))
            high = b.sub(tile.query_length, 1)
            if work.before is not None:
                high = b.min(b.add(diagonal, work.before), high)
            conditions.append(b.op("and", self._compare("icmp sge", i, low), self._compare("icmp sle", i, high)))
        return conditions

    def _compare(self, predicate: str, i: Value, bound: Value) -> Value:
        b = self.work.b
        return b.compare(predicate, i, b.splat(b.convert("trunc", bound, "i32"), i.lanes))

    def _queries(self, tile: Tile, query: Value) -> Value:
        """The numbers of a vector of queries, as s32."""
        b, lanes = self.work.b, self.work.lanes
        first = b.convert("trunc", b.add(tile.first_query, query), "i32")
        return b.add(b.splat(first, lanes), b.iota(lanes))

    def evaluator(self, tile: Tile, query: Value, key: Value, leaves: Mapping[str, Group]) -> Evaluator:
        """Evaluates formulas for a vector of queries and `TOGETHER` keys; given: the values of what is no tensor."""
        work, b, lanes = self.work, self.work.b, self.work.lanes

        def leaf(n: Expr) -> Group:
            if n.op == "param":
                return [b.splat(work.kernel.param(n), lanes)] * TOGETHER
            if n.op == "coord":
                return self._coordinate(n.attr, tile, query, key)
            name = n.attr[0]
            return list(leaves[name]) if name in leaves else self._read(name, tile, query, key)

        return Evaluator(b, lanes, TOGETHER, leaf)

    def _coordinate(self, axis: int, tile: Tile, query: Value, key: Value) -> Group:
        b, lanes = self.work.b, self.work.lanes
        if axis == 2:
            return [self._queries(tile, query)] * TOGETHER
        if axis == 3:
            at = b.add(tile.first_key, key)
            return [b.splat(b.convert("trunc", b.add(at, g), "i32"), lanes) for g in range(TOGETHER)]
        index = tile.head if axis == 1 else tile.batch
        return [b.splat(b.convert("trunc", index, "i32"), lanes)] * TOGETHER

    def _read(self, name: str, tile: Tile, query: Value, key: Value) -> Group:
        work, b, lanes = self.work, self.work.b, self.work.lanes
        kind = self.kinds[name]
        if name not in self.areas:
            row = work.at(name, tile.batch, tile.head, i64(0), tile.first_key)
            if work.operand(name).steps(3) == 0:
                return [b.splat(load(b, kind, row, 1), lanes)] * TOGETHER
            last = b.sub(tile.keys, 1)
            places = [b.mul(b.min(b.add(key, g), last), work.strides[name][3]) for g in range(TOGETHER)]
            return [b.splat(load(b, kind, b.at(row, p), 1), lanes) for p in places]
        area = work.in_scratch(self.areas[name])
        stored = self._packed(kind)
        type_, size = vector(compute_type(stored.compute), lanes), lanes * stored.compute.itemsize
        values = [b.load(type_, area.at(b, b.add(key, g), query), min(64, size & -size)) for g in range(TOGETHER)]
        if kind is not ElementKind.BOOL:
            return values
        return [b.compare("icmp ne", x, Value(type_, "zeroinitializer")) for x in values]
