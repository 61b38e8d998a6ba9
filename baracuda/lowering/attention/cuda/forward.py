"""The forward kernel of attention: an online softmax over the tiles of keys, for a block of queries.

Warps side by side have tiles side by side. Each makes the scores of its own; then the largest of the rows pass through shared
memory, so that every warp knows how far the softmax was before its tile; and once the exponentials lie in shared memory, each
warp adds up its own columns of the result over the whole round.
"""

from __future__ import annotations

from math import inf

from baracuda.codegen.cuda.emit import number
from baracuda.formula import functions as f
from baracuda.formula.elementary.softened import exp_of_nonpositive
from baracuda.formula.expr import input_
from baracuda.lowering.attention.cuda.kernel import AttentionKernel
from baracuda.lowering.attention.cuda.score import function
from baracuda.lowering.attention.cuda.tiles import COLUMNS, DOWN, Tile
from baracuda.lowering.attention.problem import KEYS, Attention
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.runtime.program import Launch


class Forward(AttentionKernel):
    """A block has queries. The thread whose number along the columns is m keeps the statistics of row m of its own: `largest`
    so far, and `total`, the sum of exponentials."""

    def __init__(self, a: Attention, words: Words, tile: Tile) -> None:
        super().__init__(a, words, tile, by_keys=False)
        for name in ("tile_largest", "tile_total", "factors", "origins"):
            self.area(name, tile.across * tile.block_rows)
        self.products_of_keys = self.dots("q", "k", a.depth)
        self.sums_of_values = self.sums("v", a.value_depth)
        self.plan([self.products_of_keys, self.sums_of_values])
        self.rows = tile.block_rows
        self.infinity = number(inf, a.compute)
        self.barrier = "__syncthreads();" if tile.across > 1 else "__syncwarp();"

    def lower(self, limit: int) -> Launch:
        """The kernel, on a multiprocessor with so much shared memory."""
        t, a = self.tile, self.a
        x = input_("x", a.compute)
        functions = function("exp_", a.compute, exp_of_nonpositive(x)) + function("log_", a.compute, f.log(x))
        body = [
            *self.where(),
            *self.streams.define(),
            f"const bool owns_row = along < {t.rows};",
            f"const int own_row = row + along * {DOWN};",
            f"{self.type} largest = -{self.infinity}, total = 0;",
            f"{self.type} x[{t.rows}][{COLUMNS}];",
            *self.array("sum", self.sums_of_values.width.count),
            "#pragma unroll 1",
            f"for (int unit = start; unit < stop; unit += {t.across}) {{",
            *self.round_of(),
            *self.products(self.products_of_keys),
            *self._scores(),
            self.barrier,
            *self._statistics(),
            "__syncwarp();",
            *self._exponentials(),
            self.present(),
            *self.add_up(self.sums_of_values, "sum", before=self._rescale()),
            "}",
            *self._finish(),
        ]
        return self.launch(body, functions, limit)

    def _scores(self) -> list[str]:
        """From dot products to scores, -inf where a pair is not seen, and the largest of each row."""
        score, heavy = self.score, self.score.heavy
        inner = [
            *self.each_row(looped=heavy),
            *([f"{self.type} line[8]; get8(line, {self.own_weights()});"] if heavy else [f"{self.type} (&line)[8] = x[m];"]),
            *score.of_row(),
            *score.scores("line"),
            "if (!whole) {",
            *self.seen(),
            "#pragma unroll",
            f"for (int v = 0; v < {COLUMNS}; ++v) if (v < from || v > upto) line[v] = -{self.infinity};",
            "}",
            f"const {self.type} most_ = of_row<Max>(line);",
            f"if (along == m) tile_largest[wn * {self.rows} + row + m * {DOWN}] = most_;",
            *([f"put8({self.own_weights()}, line);"] if heavy else []),
            "}",
        ]
        lines = ["if (works) {", f"const bool whole = {self.whole()};", *score.of_tile()]
        every = ["#pragma unroll", f"for (int m = 0; m < {self.tile.rows}; ++m)"]
        if heavy:
            lines += [*every, f"put8({self.own_weights()}, x[m]);"]
        lines += inner
        if heavy:
            lines += [*every, f"get8(x[m], {self.own_weights()});"]
        return [*lines, "}"]

    def _statistics(self) -> list[str]:
        """How far the softmax is before and after the warp's tile, and with the whole round."""
        across = self.tile.across
        return [
            "if (owns_row) {",
            f"{self.type} before = largest, now = largest;",
            "#pragma unroll",
            f"for (int w = 0; w < {across}; ++w) {{",
            "if (unit + w >= stop) break;",
            "if (w == wn) before = largest;",
            f"largest = maximum(largest, tile_largest[w * {self.rows} + own_row]);",
            "if (w == wn) now = largest;",
            "}",
            f"const bool nothing = now == -{self.infinity};",
            f"const {self.type} origin = nothing ? 0 : now;",  # -inf less 0 is -inf still, whose exponential is +0
            "if (works) {",
            f"origins[wn * {self.rows} + own_row] = origin;",
            f"factors[wn * {self.rows} + own_row] = nothing ? 1 : exp_(before - origin);",
            "}}",
        ]

    def _exponentials(self) -> list[str]:
        """From scores to exponentials, in shared memory, and their sum in each row."""
        return [
            "if (works) {",
            *self.each_row(),
            f"const {self.type} origin = origins[wn * {self.rows} + row + m * {DOWN}];",
            "#pragma unroll",
            f"for (int v = 0; v < {COLUMNS}; ++v) x[m][v] = exp_(x[m][v] - origin);",
            f"put8({self.own_weights()}, x[m]);",
            f"const {self.type} all = of_row<Sum>(x[m]);",
            f"if (along == m) tile_total[wn * {self.rows} + row + m * {DOWN}] = all;",
            "}}",
        ]

    def _rescale(self) -> list[str]:
        """What there is so far, in proportion to the exponentials of the next tile."""
        at = f"j / {KEYS} * {self.rows}"
        return [
            f"if (wn == 0 && owns_row) total = chain(total, factors[{at} + own_row], tile_total[{at} + own_row]);",
            "#pragma unroll",
            f"for (int m = 0; m < {self.tile.rows}; ++m) {{",
            f"const {self.type} factor = factors[{at} + row + m * {DOWN}];",
            "#pragma unroll",
            f"for (int n = 0; n < {self.sums_of_values.width.count}; ++n) sum[m][n] = sum[m][n] * factor;",
            "}",
        ]

    def _finish(self) -> list[str]:
        """Writes y, and the log-sum-exp."""
        lines = ["if (wn == 0 && owns_row) {", "tile_largest[own_row] = largest;", "origins[own_row] = total;"]
        if "lse" in self.operands:
            to = f"{self.operands.of_head('lse', 'c1', writable=True)}[(first_row + own_row) * {self.operands.stride('lse', 2)}]"
            extent = self.words.word(self.a.queries)
            lines.append(f"if (first_row + own_row < (int){extent}) {to} = largest + log_(total);")
        lines += ["}", self.barrier]
        before = [
            f"const bool nothing = tile_largest[row + m * {DOWN}] == -{self.infinity};",
            f"const {self.type} divisor = origins[row + m * {DOWN}];",
        ]
        return [*lines, *self.write("y", self.sums_of_values, "c1", "nothing ? 0 : sum[m][n] / divisor", before)]
