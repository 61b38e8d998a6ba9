"""The backward kernels of attention: the queries' gradient, and the keys' and values', each in blocks of its own rows.

Both make the dot products, the probabilities and their gradients of every pair again, so that no sum is shared among blocks:
there are no atomics, and every chain has its order. A block's rows are on the left and the columns that it meets on the right:
queries and keys, or keys and queries.
"""

from __future__ import annotations

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.formula.elementary.softened import exp_of_nonpositive
from baracuda.formula.expr import input_
from baracuda.lowering.attention.cuda.kernel import AttentionKernel
from baracuda.lowering.attention.cuda.score import function
from baracuda.lowering.attention.cuda.tiles import COLUMNS, Tile
from baracuda.lowering.attention.problem import Attention
from baracuda.lowering.nest.cuda.kernel import Words, piece
from baracuda.runtime.program import Launch


class Backward(AttentionKernel):
    """What both kernels share: the pairs of a tile."""

    def __init__(self, a: Attention, words: Words, tile: Tile, *, by_keys: bool) -> None:
        super().__init__(a, words, tile, by_keys=by_keys)
        if self.score.heavy:
            self.area("others", tile.block_rows * self.pitch)

    def functions(self) -> str:
        return function("exp_", self.a.compute, exp_of_nonpositive(input_("x", self.a.compute)))

    def stash(self, name: str = "weights") -> list[str]:
        """Puts x where the thread finds it again."""
        lines = ["#pragma unroll", f"for (int m = 0; m < {self.tile.rows}; ++m) put8({self.own_weights(matrix=name)}, x[m]);"]
        return ["if (works) {", *lines, "}"]

    def pairs(self, finish: list[str], after: list[str]) -> list[str]:
        """From dot products, in `weights`, and gradients of the probabilities, in x, to p and dt of each pair. `finish` says what
        becomes of an element, `after` of the 8 of a row: `line` is written to `weights`, and `slope` to x's place."""
        score, heavy, type_ = self.score, self.score.heavy, self.type
        other = self.own_weights(matrix="others")
        lines = ["if (works) {", f"const int heads = (int){self.words.word(self.a.heads)};", *score.of_tile()]
        if self.by_keys:
            lines += [f"{type_} lses[8], deltas[8];", "#pragma unroll", f"for (int v = 0; v < {COLUMNS}; ++v) {{"]
            lines += [*self.statistics("at_column + v", "at_column + v < columns", "lses[v]", "deltas[v]"), "}"]
            statistics = [f"const {type_} lse = lses[v], delta = deltas[v];"]
            of_row: list[str] = []
        else:
            statistics = []
            of_row = [f"{type_} lse, delta;", *self.statistics("at_row", "at_row < rows", "lse", "delta")]
        if heavy:
            lines += ["#pragma unroll", f"for (int m = 0; m < {self.tile.rows}; ++m) put8({other}, x[m]);"]
        elements = score.slopes("line[v]", "slope[v]", finish)
        return [
            *lines,
            *self.each_row(looped=heavy),
            f"{type_} line[8]; get8(line, {self.own_weights()});",
            *([f"{type_} slope[8]; get8(slope, {other});"] if heavy else [f"{type_} (&slope)[8] = x[m];"]),
            *of_row,
            *score.of_row(),
            *self.seen(),
            *self.before_elements(),
            "#pragma unroll",
            f"for (int v = 0; v < {COLUMNS}; ++v) {{",
            *statistics,
            "const bool seen = v >= from && v <= upto;",
            *elements,
            "}",
            f"put8({self.own_weights()}, line);",
            *([f"put8({other}, slope);"] if heavy else []),
            *after,
            "}}",
        ]

    def before_elements(self) -> list[str]:
        """What stands before the loop over a row's elements."""
        return []


class QueryGradient(Backward):
    """dq, and the gradient of a tensor of the score for each pair."""

    def __init__(self, a: Attention, words: Words, tile: Tile) -> None:
        super().__init__(a, words, tile, by_keys=False)
        self.scores, self.slopes = self.dots("q", "k", a.depth), self.dots("dy", "v", a.value_depth)
        self.into = self.sums("k", a.depth) if a.dq is not None else None
        self.plan([p for p in (self.scores, self.slopes, self.into) if p is not None])

    def lower(self, limit: int) -> Launch:
        """The kernel, on a multiprocessor with so much shared memory."""
        bias = self.a.dbias is not None
        body = [
            *self.where(),
            *(self.clear_bias(self.tile.block_rows, self.tile.threads) if bias else []),
            *self.streams.define(),
            f"{self.type} x[{self.tile.rows}][{COLUMNS}];",
            *(self.array("sum", self.into.width.count) if self.into else []),
            "#pragma unroll 1",
            f"for (int unit = start; unit < stop; unit += {self.tile.across}) {{",
            *self.round_of(),
            *self.products(self.scores),
            *self.stash(),
            *self.products(self.slopes),
            *self.pairs(["line[v] = dt;", *self._keep_bias()], self._store_bias() if bias else []),
            *([self.present(), *self.add_up(self.into, "sum")] if self.into else []),
            "}",
            *(self.write("dq", self.into, "c1", "at_row < rows ? sum[m][n] : 0") if self.into else []),
        ]
        return self.launch(body, self.functions(), limit)

    def _keep_bias(self) -> list[str]:
        if self.a.dbias is None or self.a.slope is None:
            return []
        kind = self.a.slope.outputs[1][1].kind
        return [f"bias.v[v] = Narrow<{self.operands.storage('dbias')}, {COMPUTE_TYPE[kind]}>::to(dbias);"]

    def before_elements(self) -> list[str]:
        return [f"Vec<{self.operands.storage('dbias')}, 8> bias;"] if self.a.dbias is not None else []

    def _store_bias(self) -> list[str]:
        operand = self.operands["dbias"]
        unit = operand.steps(3) == 1
        lines = [f"if (at_row < (int){self.words.word(self.a.queries)}) {{", *self.bias_row()]
        if unit:
            wide = piece(operand, COLUMNS, 3, (self.a.batch, self.a.heads, self.a.queries, self.a.keys))
            lines.append(f"if (at_column + {COLUMNS} <= keys) store<{wide}>(to + at_column, bias); else")
        step = "" if unit else f" * {self.operands.stride('dbias', 3)}"
        single = f"for (int v = 0; v < {COLUMNS}; ++v) if (at_column + v < keys) to[(at_column + v){step}] = bias.v[v];"
        return [*lines, "#pragma unroll", single, "}"]


class KeyGradient(Backward):
    """dk and dv: the query heads that share a key head come one after another."""

    def __init__(self, a: Attention, words: Words, tile: Tile) -> None:
        super().__init__(a, words, tile, by_keys=True)
        self.scores = self.dots("k", "q", a.depth)
        self.slopes = self.dots("v", "dy", a.value_depth) if a.dk is not None else None
        self.into_v = self.sums("dy", a.value_depth) if a.dv is not None else None
        self.into_k = self.sums("q", a.depth) if a.dk is not None else None
        self.plan([p for p in (self.scores, self.slopes, self.into_v, self.into_k) if p is not None])

    def lower(self, limit: int) -> Launch:
        """The kernel, on a multiprocessor with so much shared memory."""
        heavy, both = self.score.heavy, self.into_v is not None and self.into_k is not None
        finish = ["line[v] = p;" if self.into_v else "line[v] = dt;", *(["slope[v] = dt;"] if both else [])]
        lines = [*self.products(self.scores), *self.stash()]
        lines += self.products(self.slopes) if self.slopes else self.cleared("x", COLUMNS)
        lines += [*self.pairs(finish, []), self.present()]
        if self.into_v:
            lines += self.add_up(self.into_v, "sum_v")
        if both and not heavy:
            lines += ["__syncthreads();", *self.stash()]
        if self.into_k:
            lines += self.add_up(self.into_k, "sum_k", "others" if both and heavy else "weights")
        body = [
            *self.where(),
            *self.streams.define(),
            f"{self.type} x[{self.tile.rows}][{COLUMNS}];",
            *(self.array("sum_v", self.into_v.width.count) if self.into_v else []),
            *(self.array("sum_k", self.into_k.width.count) if self.into_k else []),
            "#pragma unroll 1",
            "for (int c1 = first_head; rounds > 0 && c1 < first_head + group; ++c1)",
            "#pragma unroll 1",
            f"for (int unit = start; unit < stop; unit += {self.tile.across}) {{",
            *self.round_of(),
            *lines,
            "}",
            *(self.write("dv", self.into_v, "g", "at_row < rows ? sum_v[m][n] : 0") if self.into_v else []),
            *(self.write("dk", self.into_k, "g", "at_row < rows ? sum_k[m][n] : 0") if self.into_k else []),
        ]
        return self.launch(body, self.functions(), limit)
