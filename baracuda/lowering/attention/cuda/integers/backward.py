"""The backward kernels of attention in integers: the gradients of queries, keys and values, each in blocks of its own rows.

Every one makes the dot products of its pairs again, so that a thread adds up no more than registers hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baracuda.formula.elementary.softened import exp_of_nonpositive
from baracuda.formula.expr import input_
from baracuda.lowering.attention.cuda.integers.digits import RowFactor
from baracuda.lowering.attention.cuda.integers.kernel import THREADS, IntegerKernel, Phase, Room
from baracuda.lowering.attention.cuda.score import function
from baracuda.lowering.attention.problem import QUERIES, Attention
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.runtime.program import Launch


class Backward(IntegerKernel):
    """What the kernels share: the pairs of a tile."""

    def functions(self) -> str:
        return function("exp_", self.a.compute, exp_of_nonpositive(input_("x", self.a.compute)))

    def number_of_heads(self) -> str:
        return f"const int heads = (int){self.words.word(self.a.heads)};"

    def pairs(self, slopes: Phase | None, finish: Sequence[str]) -> list[str]:
        """From dot products, in x, and gradients of the probabilities, if there are any, to what `finish` makes of p and dt. The
        statistics of queries along the rows are in lses and deltas."""
        before: list[str] = []
        if self.by_keys:
            query = f"tile * {QUERIES} + m * 8 + lane % 4 * 2 + e"
            loop = ["float lses[2], deltas[2];", "#pragma unroll", "for (int e = 0; e < 2; ++e) {"]
            before = [*loop, *self.statistics(query, f"{query} < columns", "lses[e]", "deltas[e]"), "}"]
        own = "i % 2" if self.by_keys else "i / 2"
        body = [
            f"const float lse = lses[{own}], delta = deltas[{own}];",
            f"const bool seen = {self.is_seen()};",
            *self.score.slopes("x[CURRENT_][i]", "dp[CURRENT_][i]" if slopes else "0.0f", finish),
        ]
        return [*(self.dots(slopes, "dp") if slopes else []), *self.score.each(body, ["dp"] if slopes else [], before)]


class QueryGradient(Backward):
    """dq, and the gradient of a tensor of the score for each pair."""

    def __init__(self, a: Attention, words: Words, factors: Mapping[str, RowFactor], room: Room) -> None:
        super().__init__(a, words, factors, by_keys=False)
        self.scores, self.slopes = Phase(factors["k"], factors["q"]), Phase(factors["v"], factors["dy"])
        self.into = Phase(factors["k"]) if a.dq is not None else None
        self.plan([p for p in (self.scores, self.slopes, self.into) if p is not None], room)

    def lower(self) -> Launch:
        bias = self.a.dbias is not None
        body = [
            *self.where(),
            *(self.clear_bias(QUERIES, THREADS) if bias else []),
            *self.define(),
            self.number_of_heads(),
            "float lses[2], deltas[2];",
            "#pragma unroll",
            "for (int h = 0; h < 2; ++h) {",
            *self.statistics("row + 8 * h", "row + 8 * h < rows", "lses[h]", "deltas[h]"),
            "}",
            *(self.sums("sum", self.into) if self.into else []),
            *self.score.of_tile(),
            "#pragma unroll 1",
            "for (int tile = start; tile < stop; ++tile) {",
            *self.dots(self.scores, "x"),
            *self.pairs(self.slopes, ["x[CURRENT_][i] = dt;", *(self.store_bias() if bias else [])]),
            *(self.add_rows(self.into, "x", "sum") if self.into else []),
            "}",
            *(self.write("dq", self.into, "c1", "sum[n][i]") if self.into else []),
        ]
        return self.launch(body, self.functions())


class KeyGradient(Backward):
    """dk or dv: the query heads that share a key head come one after another."""

    def __init__(self, a: Attention, words: Words, factors: Mapping[str, RowFactor], room: Room, *, values: bool) -> None:
        super().__init__(a, words, factors, by_keys=True)
        self.result, self.weight = ("dv", "p") if values else ("dk", "dt")
        self.scores = Phase(factors["q"], factors["k"])
        self.slopes = None if values else Phase(factors["dy"], factors["v"])
        self.into = Phase(factors["dy" if values else "q"])
        self.plan([p for p in (self.scores, self.slopes, self.into) if p is not None], room)

    def lower(self) -> Launch:
        body = [
            *self.where(),
            *self.define(),
            self.number_of_heads(),
            *self.sums("sum", self.into),
            "#pragma unroll 1",
            "for (int c1 = first_head; stop > start && c1 < first_head + group; ++c1) {",
            *self.score.of_tile(),
            "#pragma unroll 1",
            "for (int tile = start; tile < stop; ++tile) {",
            *self.dots(self.scores, "x"),
            *self.pairs(self.slopes, [f"x[CURRENT_][i] = {self.weight};"]),
            *self.add_rows(self.into, "x", "sum"),
            "}}",
            *self.write(self.result, self.into, "g", "sum[n][i]"),
        ]
        return self.launch(body, self.functions())
