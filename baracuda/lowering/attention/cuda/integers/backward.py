"""The backward kernels of attention in integers: the gradients of queries, keys and values, each in blocks of its own rows.

Every one makes the dot products of its pairs again, so that a thread adds up no more than registers hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baracuda.formula.elementary.softened import WITHIN, exp_of_nonpositive, exp_within
from baracuda.formula.expr import input_
from baracuda.lowering.attention.cuda.integers.digits import RowFactor
from baracuda.lowering.attention.cuda.integers.groups import GroupTiles
from baracuda.lowering.attention.cuda.integers.kernel import IntegerKernel
from baracuda.lowering.attention.cuda.integers.phases import THREADS, Phase, Phases, Room, Work
from baracuda.lowering.attention.cuda.score import function
from baracuda.lowering.attention.problem import DOT, QUERIES, Attention
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.runtime.program import Launch


class Backward(IntegerKernel):
    """What the kernels share: the pairs of a tile."""

    def exponentials(self) -> str:
        x, kind = input_("x", self.a.compute), self.a.compute
        value, place = exp_within(x)
        functions = {"exp_": exp_of_nonpositive(x), "exp_within_": value, "exp_place_": place}
        wanted = list(functions)[: 3 if isinstance(self.tiles, GroupTiles) else 1]
        return "".join(function(name, kind, functions[name]) for name in wanted)

    def number_of_heads(self) -> str:
        return f"const int heads = (int){self.words.word(self.a.heads)};"

    def pairs(self, finish: Sequence[str]) -> Work:
        """From dot products, in x, and gradients of the probabilities, in dp, if there are any, to what `finish` makes of p and
        dt. The statistics of queries along the rows are in lses and deltas."""
        assert self.a.slope is not None
        head, before = self.score.of_tile(), list[str]()
        groups = isinstance(self.tiles, GroupTiles)
        if groups and self.by_keys:
            at = f"({GroupTiles.STATISTICS} + m * 8 + lane % 4 * 2)"
            before = [f"const float lses[2] = {{{at}[0], {at}[1]}}, deltas[2] = {{{at}[{QUERIES}], {at}[{QUERIES + 1}]}};"]
        elif self.by_keys:
            query = f"tile * {QUERIES} + m * 8 + lane % 4 * 2 + e"
            loop = ["float lses[2], deltas[2];", "#pragma unroll", "for (int e = 0; e < 2; ++e) {"]
            before = [*loop, *self.statistics(query, f"{query} < columns", "lses[e]", "deltas[e]"), "}"]
        own = "i % 2" if self.by_keys else "i / 2"
        others = ["dp"] if self.phases.slopes else []
        slope = "dp[CURRENT_][i]" if others else "0.0f"
        if groups and not self.score.heavy and not any(n.op == "input" and n.attr[0] == DOT for n in self.a.slope.nodes):
            return self._in_two(head, finish, before, own, slope if others else "")
        body = [
            f"const float lse = lses[{own}], delta = deltas[{own}];",
            f"const bool seen = {self.is_seen()};",
            *self.score.slopes("x[CURRENT_][i]", slope, finish),
        ]
        return Work(head, late=self.score.each(body, others, before))

    def _in_two(self, head: Sequence[str], finish: Sequence[str], before: Sequence[str], own: str, slope: str) -> Work:
        """The same, with probabilities in x before dp is there; where they all are in its range, by the shorter exponential."""
        place = f"beyond |= __float_as_uint(exp_place_(x[CURRENT_][i])) ^ {WITHIN:#x}u;"
        difference = [f"const float lse = lses[{own}];", *self.score.element("x[CURRENT_][i] -= lse;", place)]
        each = ["#pragma unroll", "for (int n = 0; n < 8; ++n)", "#pragma unroll", "for (int i = 0; i < 4; ++i) "]
        early = [
            "unsigned beyond = 0;",
            *self.score.each(difference, before=before),
            "if (__all_sync(~0u, beyond < 128)) {",
            *each,
            "x[n][i] = exp_within_(x[n][i]);",
            "} else {",
            *each,
            "x[n][i] = exp_(x[n][i]);",
            "}",
            *self.hide("x", "0"),
        ]
        if not slope:
            return Work(head, early)
        seen = f"const bool seen = {self.is_seen()};"
        body = [f"const float delta = deltas[{own}];", *self.score.slopes_of("x[CURRENT_][i]", slope, finish, seen)]
        return Work(head, early, [*self.score.each(body, ["dp"], before), *self.hide("x", "0")])


class QueryGradient(Backward):
    """dq, and the gradient of a tensor of the score for each pair."""

    def __init__(self, a: Attention, words: Words, factors: Mapping[str, RowFactor], room: Room) -> None:
        super().__init__(a, words, factors, by_keys=False)
        self.into = Phase(factors["k"]) if a.dq is not None else None
        self.plan(Phases(Phase(factors["k"], factors["q"]), Phase(factors["v"], factors["dy"]), self.into), room)

    def lower(self) -> Launch:
        bias = self.a.dbias is not None
        body = [
            *self.where(),
            *(self.clear_bias(QUERIES, THREADS) if bias else []),
            *self.tiles.define(),
            self.number_of_heads(),
            "float lses[2], deltas[2];",
            "#pragma unroll",
            "for (int h = 0; h < 2; ++h) {",
            *self.statistics("row + 8 * h", "row + 8 * h < rows", "lses[h]", "deltas[h]"),
            "}",
            *(self.sums("sum", self.into) if self.into else []),
            *self.tiles.loop(self.pairs(["x[CURRENT_][i] = dt;", *(self.store_bias() if bias else [])])),
            *(self.write("dq", self.into, "c1", "sum[n][i]") if self.into else []),
        ]
        return self.launch(body, self.exponentials())


class KeyGradient(Backward):
    """dk or dv: the query heads that share a key head come one after another."""

    def __init__(self, a: Attention, words: Words, factors: Mapping[str, RowFactor], room: Room, *, values: bool) -> None:
        super().__init__(a, words, factors, by_keys=True)
        self.result, self.weight = ("dv", "p") if values else ("dk", "dt")
        self.into = Phase(factors["dy" if values else "q"])
        slopes = None if values else Phase(factors["dy"], factors["v"])
        self.plan(Phases(Phase(factors["q"], factors["k"]), slopes, self.into), room)

    def lower(self) -> Launch:
        body = [
            *self.where(),
            *self.tiles.define(),
            self.number_of_heads(),
            *self.sums("sum", self.into),
            *self.tiles.loop(self.pairs([f"x[CURRENT_][i] = {self.weight};"])),
            *self.write(self.result, self.into, "g", "sum[n][i]"),
        ]
        return self.launch(body, self.exponentials())
