"""Attention on the CPU, backward: every pair of a block and a tile is met once, for all gradients.

Blocks of queries follow one another, and for each the tiles of keys: dq of a block is then summed in rising keys, while dk and dv
of a key head, which wait in scratch memory, are summed in rising queries, head after head.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from math import inf

from baracuda.codegen.llvm.evaluate import Group
from baracuda.codegen.llvm.ir import Value, i64, intrinsic
from baracuda.codegen.llvm.lanes import load_lanes, store_lanes
from baracuda.codegen.llvm.transpose import transposed
from baracuda.formula.elementary.softened import exp_of_nonpositive
from baracuda.formula.expr import cast, input_
from baracuda.lowering.attention.cpu.forward import primitive_of
from baracuda.lowering.attention.cpu.scores import TOGETHER, Scores, Tile
from baracuda.lowering.attention.cpu.tiles import Matrix
from baracuda.lowering.attention.cpu.work import AttentionKernel
from baracuda.lowering.attention.problem import DOT, GRADIENT, KEYS, QUERIES, Attention
from baracuda.lowering.nest.cpu.kernel import Words
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

#: Parts of the work for each thread: few, because each keeps the gradients of a key head in scratch memory.
_PARTS = 2


class Backward:
    """The step: a unit is a key head of a batch element."""

    def __init__(self, a: Attention, words: Words, target: CpuTarget) -> None:
        assert a.slope is not None
        self.a = a
        self.schedule = "tiles, all gradients at once"
        self.work = w = AttentionKernel(a, words, target, a.batch * a.key_heads, _PARTS)
        self.b = w.b
        self.exp = primitive_of(exp_of_nonpositive(input_("x", a.compute)))
        self.score = a.score.outputs[0][1]
        self.slopes = [cast(e, a.compute) for _, e in a.slope.outputs]
        self.scores = Scores(w)
        self._take_areas()
        self.s, self.ds = w.area(KEYS, QUERIES), w.area(KEYS, QUERIES)
        self.dbias = w.area(KEYS, QUERIES) if a.dbias is not None else None
        self.lse, self.delta = w.area(1, QUERIES), w.area(1, QUERIES)
        self.rows = -(-a.keys // KEYS) * KEYS
        self.dk, self.dv = (self._area_of_keys(columns) for columns in (w.depth, w.value_depth))

    def _take_areas(self) -> None:
        w = self.work
        self.q_across, self.dy_across = w.area(w.depth, QUERIES), w.area(w.value_depth, QUERIES)
        self.q, self.dy = w.area(QUERIES, w.depth), w.area(QUERIES, w.value_depth)
        self.k, self.v = w.area(KEYS, w.depth), w.area(KEYS, w.value_depth)
        self.dq = w.area(QUERIES, w.depth)

    def _area_of_keys(self, columns: int) -> Matrix:
        """An area of a row for each key, whose size the code does not depend on."""
        w = self.work
        pitch = columns * w.size
        return Matrix(w.kernel.integer(w.scratch.take(self.rows * pitch)), pitch, w.size)

    def steps(self) -> tuple[tuple[Launch, ...], int]:
        """The program's steps, and the bytes of workspace that they take."""
        return (self._step(),), self.work.workspace_bytes

    def _ready(self) -> AbstractContextManager[None]:
        """What is multiplied in is ready for it inside."""
        return nullcontext()

    def _step(self) -> Launch:
        w, b, a = self.work, self.b, self.a
        workspace, nbytes = w.workspace()
        key_heads, rows = w.kernel.integer(a.key_heads), w.kernel.integer(self.rows)
        with self._ready(), b.loop(w.kernel.begin, w.kernel.end) as part:
            w.begin_part(part, workspace, nbytes)
            start, stop = w.range_of_units(part)
            with b.loop(start, stop) as unit:
                self._key_head(b.div(unit, key_heads), b.rem(unit, key_heads), rows)
        pairs = a.batch * a.heads * a.queries * a.keys
        cost = pairs * ((3 * a.depth + 2 * a.value_depth) * 0.3 + 8) / w.lanes / w.parts + 4000
        return w.kernel.step(w.parts, cost)

    def _key_head(self, batch: Value, key_head: Value, rows: Value) -> None:
        w, b, a = self.work, self.b, self.a
        query_length, key_length = w.lengths(batch)
        gradients = (("dk", a.dk, self.dk, a.depth), ("dv", a.dv, self.dv, a.value_depth))
        for _, wanted, area, _ in gradients:
            if wanted is not None:
                w.clear(w.in_scratch(area).pointer, b.mul(rows, area.row))
        with b.loop(0, w.group) as number:
            head = b.add(b.mul(key_head, w.group), number)
            with b.loop(0, w.queries, QUERIES) as first:
                self._block(batch, head, key_head, first, query_length, key_length)
        for name, wanted, area, columns in gradients:
            if wanted is not None:
                to = w.at(name, batch, key_head)
                w.store_rows(name, to, w.keys, key_length, w.in_scratch(area), columns)

    def _block(self, batch: Value, head: Value, key_head: Value, first: Value, query_length: Value, key_length: Value) -> None:
        w, b, a = self.work, self.b, self.a
        queries = w.count(first, query_length, QUERIES)
        rows = w.count(first, w.queries, QUERIES)
        self._read_block({name: w.at(name, batch, head, first) for name in ("q", "y", "dy")}, (batch, head, first), queries)
        dq = w.in_scratch(self.dq)
        w.clear(dq.pointer, QUERIES * w.depth * w.size)
        if a.dbias is not None:
            self._clear_bias(batch, head, first, rows)
        start, stop = w.tiles(first, query_length, key_length)
        with b.loop(start, stop) as number:
            first_key = b.mul(number, KEYS)
            keys = w.count(first_key, key_length, KEYS)
            tile = Tile(batch, head, first, first_key, queries, keys, query_length, key_length)
            self._tile(tile, key_head)
        if a.dq is not None:
            w.store_rows("dq", w.at("dq", batch, head, first), rows, queries, self._rows_of_dq(), a.depth)

    def _statistics(self, where: tuple[Value, Value, Value], queries: Value, dy: Matrix, y: Matrix) -> None:
        """The log-sum-exp of the block's queries, +inf in place of -inf so that no key has a probability, and delta."""
        w, b, a = self.work, self.b, self.a
        batch, head, first = where
        assert a.lse is not None
        stride = None if a.lse.steps(2) == 1 else w.strides["lse"][2]
        with b.loop(0, queries, w.lanes) as query:
            pointer = w.at("lse", batch, head, b.add(first, query))
            lse = load_lanes(b, a.compute, pointer, w.lanes, stride, b.sub(queries, query))
            nothing = b.compare("fcmp oeq", lse, w.number(-inf))
            w.store(b.select(nothing, w.number(inf), lse), w.in_scratch(self.lse).at(b, 0, query))
            delta = b.variable(w.number(0.0))
            with b.loop(0, a.value_depth) as d:
                x, y_ = w.load(dy.at(b, d, query)), w.load(y.at(b, d, query))
                delta.set(b.call(w.type, intrinsic("fma", w.type), x, y_, delta.get()))
            w.store(delta.get(), w.in_scratch(self.delta).at(b, 0, query))

    def _tile(self, tile: Tile, key_head: Value) -> None:
        w, b = self.work, self.b
        s, ds = w.in_scratch(self.s), w.in_scratch(self.ds)
        self._read_tile(tile, key_head)
        self.scores.pack(tile)
        columns = w.whole_vectors(tile.queries)
        self._dot_products(s, ds, tile, columns)
        whole = self.scores.whole(tile)
        with b.loop(0, columns, w.lanes) as query:
            with b.if_(whole):
                self._slopes(tile, s, ds, query, masked=False)
            with b.else_(whole):
                self._slopes(tile, s, ds, query, masked=True)
        if self.dbias is not None:
            self._store_bias(tile, w.in_scratch(self.dbias))
        self._add_gradients(s, ds, tile)

    # --- products: here chains ----------------------------------------------------------------------------------------

    def _read_block(self, at: dict[str, Value], where: tuple[Value, Value, Value], queries: Value) -> None:
        w, a = self.work, self.a
        across, dy = (w.in_scratch(self.q_across), w.in_scratch(self.dy_across)), w.in_scratch(self.dy)
        w.pack_columns("q", at["q"], queries, across[0], a.depth)
        w.pack_columns("dy", at["dy"], queries, across[1], a.value_depth)
        y_across = Matrix(dy.pointer, QUERIES * w.size, w.size)  # in the place that dy is packed into afterwards
        w.pack_columns("y", at["y"], queries, y_across, a.value_depth)
        self._statistics(where, queries, across[1], y_across)
        w.pack_rows("q", at["q"], queries, w.in_scratch(self.q), a.depth)
        w.pack_rows("dy", at["dy"], queries, dy, a.value_depth)

    def _read_tile(self, tile: Tile, key_head: Value) -> None:
        w, a = self.work, self.a
        for name, area, columns in (("k", self.k, a.depth), ("v", self.v, a.value_depth)):
            w.pack_rows(name, w.at(name, tile.batch, key_head, tile.first_key), tile.keys, w.in_scratch(area), columns)

    def _dot_products(self, s: Matrix, ds: Matrix, tile: Tile, columns: Value) -> None:
        """Of keys with queries in s, of values with gradients of results in ds; vectors run along the queries."""
        w, a = self.work, self.a
        for to, left, right, depth in ((s, self.k, self.q_across, a.depth), (ds, self.v, self.dy_across, a.value_depth)):
            w.multiplier.add(to, w.in_scratch(left), w.in_scratch(right), (tile.keys, columns, i64(depth)), fresh=True)

    def _add_gradients(self, s: Matrix, ds: Matrix, tile: Tile) -> None:
        """Add a tile's part of dq, dk and dv; s has the probabilities, ds the gradients of the dot products."""
        w, a = self.work, self.a
        if a.dq is not None:
            turned, dq, k = Matrix(ds.pointer, ds.column, ds.row), w.in_scratch(self.dq), w.in_scratch(self.k)
            w.multiplier.add(dq, turned, k, (tile.queries, w.depth, tile.keys), last=w.last(tile.keys, KEYS))
        last = w.last(tile.queries, QUERIES)
        for wanted, area, left, right, width in (
            (a.dk, self.dk, ds, self.q, w.depth),
            (a.dv, self.dv, s, self.dy, w.value_depth),
        ):
            if wanted is not None:
                to = self._rows_of_tile(area, tile)
                w.multiplier.add(to, left, w.in_scratch(right), (tile.keys, width, tile.queries), last=last)

    def _rows_of_tile(self, area: Matrix, tile: Tile) -> Matrix:
        """A tile's rows of an area that has a row for each key."""
        to = self.work.in_scratch(area)
        return Matrix(to.at(self.b, tile.first_key, 0), to.row, to.column)

    def _rows_of_dq(self) -> Matrix:
        return self.work.in_scratch(self.dq)

    # --- scores -------------------------------------------------------------------------------------------------------

    def _slopes(self, tile: Tile, s: Matrix, ds: Matrix, query: Value, *, masked: bool) -> None:
        """From dot products of q and k and of dy and v to probabilities, in s, and gradients of the former, in ds."""
        w, b = self.work, self.b
        lse = w.load(w.in_scratch(self.lse).at(b, 0, query))
        delta = w.load(w.in_scratch(self.delta).at(b, 0, query))
        with b.loop(0, tile.keys, TOGETHER) as key:
            places = [b.add(key, g) for g in range(TOGETHER)]
            seen = self.scores.considered(tile, query, key) if masked else None

            def zero_outside(values: Group) -> Group:
                if seen is None:
                    return values
                return [b.select(c, x, w.number(0.0)) for c, x in zip(seen, values, strict=True)]

            leaves: dict[str, Group] = {DOT: [w.load(s.at(b, at, query)) for at in places]}
            evaluator = self.scores.evaluator(tile, query, key, leaves)
            scores = evaluator.value(self.score)
            p = zero_outside([w.evaluate(self.exp, {"x": b.op("fsub", x, lse)}) for x in scores])
            dp = [w.load(ds.at(b, at, query)) for at in places]
            leaves[GRADIENT] = [b.op("fmul", x, b.op("fsub", y, delta)) for x, y in zip(p, dp, strict=True)]
            slopes = [zero_outside(evaluator.value(root)) for root in self.slopes]
            areas = [ds, *([w.in_scratch(self.dbias)] if self.dbias is not None else [])]
            for values, area in zip((p, *slopes), (s, *areas), strict=True):
                for value, at in zip(values, places, strict=True):
                    w.store(value, area.at(b, at, query))

    # --- the gradient of a tensor of the score ------------------------------------------------------------------------

    def _bias_row(self, batch: Value, head: Value, query: Value, key: Value) -> Value:
        return self.work.at("dbias", batch, head, query, key)

    def _clear_bias(self, batch: Value, head: Value, first: Value, rows: Value) -> None:
        """Zeros for all keys of a block: what is skipped stays so."""
        w, b = self.work, self.b
        operand, stride = w.operand("dbias"), w.strides["dbias"][3]
        with b.loop(0, rows) as row:
            to = w.at("dbias", batch, head, b.add(first, row))
            with b.loop(0, w.keys, w.lanes) as key:
                step = None if operand.steps(3) == 1 else stride
                zeros = self._of_bias(w.number(0.0))
                store_lanes(b, operand.kind, zeros, b.at(to, b.mul(key, stride)), step, b.sub(w.keys, key))

    def _store_bias(self, tile: Tile, source: Matrix) -> None:
        """Write the gradients of a tile, whose vectors run along the queries."""
        w, b = self.work, self.b
        operand, stride = w.operand("dbias"), w.strides["dbias"][3]
        step = None if operand.steps(3) == 1 else stride
        with b.loop(0, tile.queries, w.lanes) as query, b.loop(0, tile.keys, w.lanes) as key:
            square = [w.load(source.at(b, b.add(key, lane), query)) for lane in range(w.lanes)]
            for lane, values in enumerate(transposed(b, square)):
                row = b.add(query, lane)
                with b.if_(b.less(row, tile.queries)):
                    to = w.at("dbias", tile.batch, tile.head, b.add(tile.first_query, row), b.add(tile.first_key, key))
                    store_lanes(b, operand.kind, self._of_bias(values), to, step, b.sub(tile.keys, key))

    def _of_bias(self, values: Value) -> Value:
        """Values of the compute kind in that of the gradient's."""
        primitive = cast(input_("x", self.a.compute), self.work.operand("dbias").kind.compute)
        return self.work.evaluate(primitive, {"x": values})
