"""Attention on the CPU, forward: an online softmax over the tiles of keys, for one block of queries at a time."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from math import inf

from baracuda.codegen.llvm.ir import Value, i64, intrinsic
from baracuda.codegen.llvm.lanes import store_lanes
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.formula import functions as f
from baracuda.formula.elementary.softened import exp_of_nonpositive
from baracuda.formula.expand import expand
from baracuda.formula.expr import Expr, input_
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.attention.cpu.scores import TOGETHER, Scores, Tile
from baracuda.lowering.attention.cpu.tiles import Matrix, pairwise
from baracuda.lowering.attention.cpu.work import AttentionKernel
from baracuda.lowering.attention.problem import DOT, KEYS, QUERIES, Attention
from baracuda.lowering.nest.cpu.kernel import Words
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

#: Parts of the work for each thread: with a causal band some take longer than others.
_PARTS = 8


def primitive_of(x: Expr) -> Expr:
    """A formula of one value, `x`, in primitives."""
    return expand(Graph((Port("x", x.kind),), ((Port("y", x.kind), x),))).outputs[0][1]


class Forward:
    """The step: a unit is a block of queries of one head."""

    def __init__(self, a: Attention, words: Words, target: CpuTarget) -> None:
        self.a = a
        self.schedule = "tiles"
        self.blocks = -(-a.queries // QUERIES)
        self.work = w = AttentionKernel(a, words, target, a.batch * a.heads * self.blocks, _PARTS)
        self.b = w.b
        x = input_("x", a.compute)
        self.exp, self.log = primitive_of(exp_of_nonpositive(x)), primitive_of(f.log(x))
        self.largest = f.maximum(x, input_("y", a.compute))
        self.score = a.score.outputs[0][1]
        self.scores = Scores(w)
        self._take_areas()
        self.m, self.l, self.r = (w.area(1, QUERIES) for _ in range(3))

    def _take_areas(self) -> None:
        w = self.work
        self.q = w.area(w.depth, QUERIES)
        self.k = w.area(KEYS, w.depth)
        self.v = w.area(KEYS, w.value_depth)
        self.s = w.area(KEYS, QUERIES)
        self.sums = w.area(QUERIES, w.value_depth)

    def steps(self) -> tuple[tuple[Launch, ...], int]:
        """The program's steps, and the bytes of workspace that they take."""
        return (self._step(),), self.work.workspace_bytes

    def _ready(self) -> AbstractContextManager[None]:
        """What is multiplied in is ready for it inside."""
        return nullcontext()

    def _step(self) -> Launch:
        w, b, a = self.work, self.b, self.a
        workspace, nbytes = w.workspace()
        blocks = w.kernel.integer(self.blocks)
        with self._ready(), b.loop(w.kernel.begin, w.kernel.end) as part:
            w.begin_part(part, workspace, nbytes)
            start, stop = w.range_of_units(part)
            with b.loop(start, stop) as unit:
                rest = b.div(unit, blocks)
                self._block(b.div(rest, w.heads), b.rem(rest, w.heads), b.mul(b.rem(unit, blocks), QUERIES))
        pairs = a.batch * a.heads * a.queries * a.keys
        cost = pairs * ((a.depth + a.value_depth) * 0.3 + 4) / w.lanes / w.parts + 2000
        return w.kernel.step(w.parts, cost)

    def _block(self, batch: Value, head: Value, first: Value) -> None:
        w, b = self.work, self.b
        query_length, key_length = w.lengths(batch)
        queries = w.count(first, query_length, QUERIES)
        key_head = b.div(head, w.group)
        s = w.in_scratch(self.s)
        self._read_queries(w.at("q", batch, head, first), queries)
        with b.loop(0, QUERIES, w.lanes) as query:
            w.store(w.number(-inf), w.in_scratch(self.m).at(b, 0, query))
            w.store(w.number(0.0), w.in_scratch(self.l).at(b, 0, query))
        w.clear(w.in_scratch(self.sums).pointer, QUERIES * w.value_depth * w.size)
        start, stop = w.tiles(first, query_length, key_length)
        with b.loop(start, stop) as number:
            first_key = b.mul(number, KEYS)
            keys = w.count(first_key, key_length, KEYS)
            tile = Tile(batch, head, first, first_key, queries, keys, query_length, key_length)
            self._read_tile(tile, key_head)
            self.scores.pack(tile)
            columns = w.whole_vectors(queries)
            self._dot_products(s, tile, columns)
            whole = self.scores.whole(tile)
            with b.loop(0, columns, w.lanes) as query:
                self._softmax(tile, s, query, whole)
            self._add_values(s, tile, columns)
        self._finish(batch, head, first, self._rows_of_sums())

    # --- products: here chains ----------------------------------------------------------------------------------------

    def _read_queries(self, at: Value, queries: Value) -> None:
        w = self.work
        w.pack_columns("q", at, queries, w.in_scratch(self.q), self.a.depth)

    def _read_tile(self, tile: Tile, key_head: Value) -> None:
        w = self.work
        for name, area, columns in (("k", self.k, self.a.depth), ("v", self.v, self.a.value_depth)):
            w.pack_rows(name, w.at(name, tile.batch, key_head, tile.first_key), tile.keys, w.in_scratch(area), columns)

    def _dot_products(self, s: Matrix, tile: Tile, columns: Value) -> None:
        """The dot products of a tile of keys with a block of queries, whose vectors run along the queries."""
        w = self.work
        k, q = w.in_scratch(self.k), w.in_scratch(self.q)
        w.multiplier.add(s, k, q, (tile.keys, columns, i64(self.a.depth)), fresh=True)

    def _add_values(self, s: Matrix, tile: Tile, columns: Value) -> None:
        """Add the values of a tile, weighted by probabilities, to the sums, which are multiplied by their factors first."""
        w = self.work
        across, factors, last = Matrix(s.pointer, s.column, s.row), w.in_scratch(self.r).pointer, w.last(tile.keys, KEYS)
        sums, v = w.in_scratch(self.sums), w.in_scratch(self.v)
        w.multiplier.add(sums, across, v, (tile.queries, w.value_depth, tile.keys), factors=factors, last=last)

    def _rows_of_sums(self) -> Matrix:
        """The sums, a row for each query."""
        return self.work.in_scratch(self.sums)

    # --- softmax ------------------------------------------------------------------------------------------------------

    def _softmax(self, tile: Tile, s: Matrix, query: Value, whole: Value) -> None:
        """From dot products to probabilities, for a vector of queries and a tile of keys."""
        w, b = self.work, self.b
        m = b.variable(w.number(-inf))

        def scores(masked: bool) -> None:
            with b.loop(0, tile.keys, TOGETHER) as key:
                places = [s.at(b, b.add(key, g), query) for g in range(TOGETHER)]
                values = self.scores.evaluator(tile, query, key, {DOT: [w.load(p) for p in places]}).value(self.score)
                if masked:
                    seen = self.scores.considered(tile, query, key)
                    values = [b.select(c, x, w.number(-inf)) for c, x in zip(seen, values, strict=True)]
                for x, place in zip(values, places, strict=True):
                    w.store(x, place)
                while len(values) > 1:
                    values = [self._larger(x, y) for x, y in zip(values[::2], values[1::2], strict=True)]
                m.set(self._larger(m.get(), values[0]))

        with b.if_(whole):
            scores(masked=False)
        with b.else_(whole):
            scores(masked=True)
        at_m, at_l, at_r = (w.in_scratch(area).at(b, 0, query) for area in (self.m, self.l, self.r))
        before = w.load(at_m)
        now = self._larger(before, m.get())
        nothing = b.compare("fcmp oeq", now, w.number(-inf))
        origin = b.select(nothing, w.number(0.0), now)  # -inf less 0 is -inf still, whose exponential is +0
        factor = b.select(nothing, w.number(1.0), w.evaluate(self.exp, {"x": b.op("fsub", before, origin)}))
        w.store(now, at_m)
        w.store(factor, at_r)
        groups = b.array("i8", KEYS // TOGETHER * w.multiplier.nbytes)
        w.clear(groups, KEYS // TOGETHER * w.multiplier.nbytes)
        with b.loop(0, tile.keys, TOGETHER) as key:
            exponentials = []
            for g in range(TOGETHER):
                place = s.at(b, b.add(key, g), query)
                exponentials.append(w.evaluate(self.exp, {"x": b.op("fsub", w.load(place), origin)}))
                w.store(exponentials[-1], place)
            w.store(pairwise(b, exponentials), b.at(groups, b.mul(key, w.multiplier.nbytes // TOGETHER)))
        total = pairwise(b, [w.load(b.at(groups, i * w.multiplier.nbytes)) for i in range(KEYS // TOGETHER)])
        w.store(b.call(w.type, intrinsic("fma", w.type), w.load(at_l), factor, total), at_l)

    def _larger(self, x: Value, y: Value) -> Value:
        return self.work.evaluate(self.largest, {"x": x, "y": y})

    def _finish(self, batch: Value, head: Value, first: Value, sums: Matrix) -> None:
        """Write the block's rows of y, and of the log-sum-exp."""
        w, b, a = self.work, self.b, self.a
        m, sum_ = w.in_scratch(self.m), w.in_scratch(self.l)
        rows = w.count(first, w.queries, QUERIES)
        scalar = compute_type(a.compute)
        with b.loop(0, rows) as row:
            largest = b.load(scalar, m.at(b, 0, row), w.size)
            nothing = b.splat(b.compare("fcmp oeq", largest, w.scalar(-inf)), w.lanes)
            divisor = b.splat(b.load(scalar, sum_.at(b, 0, row), w.size), w.lanes)
            to = w.at("y", batch, head, b.add(first, row))
            for column, remaining in w.columns(a.value_depth):
                value = b.op("fdiv", w.load(sums.at(b, row, column)), divisor)
                w.store_columns("y", b.select(nothing, w.number(0.0), value), to, column, remaining)
        if a.lse is None:
            return
        with b.loop(0, rows, w.lanes) as row:
            logarithm = w.evaluate(self.log, {"x": w.load(sum_.at(b, 0, row))})
            value = b.op("fadd", w.load(m.at(b, 0, row)), logarithm)
            place = w.at("lse", batch, head, b.add(first, row))
            stride = None if w.operand("lse").steps(2) == 1 else w.strides["lse"][2]
            store_lanes(b, a.compute, value, place, stride, b.sub(rows, row))
