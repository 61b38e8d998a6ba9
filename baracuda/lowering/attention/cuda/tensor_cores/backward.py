"""The backward kernels of attention by tensor cores: the gradients of queries, keys and values, each in blocks of its own rows.

Each makes the dot products of its pairs again. dk and dv are made together where a thread has registers for the sums of both.
"""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.lowering.attention.cuda.tensor_cores.kernel import TensorCoreKernel
from baracuda.lowering.attention.cuda.tensor_cores.rings import GROUP, WIDEST, Ring, Room
from baracuda.lowering.attention.problem import QUERIES, Attention
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.runtime.program import Launch


class Backward(TensorCoreKernel):
    """What the kernels share: the pairs of a tile."""

    scores: Ring
    slopes: Ring | None

    def number_of_heads(self) -> str:
        return f"const int heads = (int){self.words.word(self.a.heads)};"

    def pairs(self, finish: Sequence[str]) -> list[str]:
        """From dot products to what `finish` makes of p and dt."""
        before: list[str] = []
        if self.by_keys and not self.scores.statistics:
            query = f"tile * {QUERIES} + m * 8 + lane % 4 * 2 + e"
            loop = ["float lses[2], deltas[2];", "#pragma unroll", "for (int e = 0; e < 2; ++e) {"]
            before = [*loop, *self.statistics(query, f"{query} < columns", "lses[e]", "deltas[e]"), "}"]
            own = ["const float lse = lses[i % 2], delta = deltas[i % 2];"]
        elif self.by_keys:
            statistics = f"(const float*)(slot_{self.scores.name} + {self.scores.statistics_start}) + m * 8 + lane % 4 * 2"
            before = [
                f"const float* const of_columns = {statistics};",
                "const float2 lses = *(const float2*)of_columns, deltas = *(const float2*)(of_columns + 64);",
            ]
            infinity = "__int_as_float(0x7f800000)"
            own = [
                "const float given = i % 2 ? lses.y : lses.x, delta = i % 2 ? deltas.y : deltas.x;",
                f"const float lse = given == -{infinity} ? {infinity} : given;",
            ]
        else:
            own = ["const float lse = lses[i / 2], delta = deltas[i / 2];"]
        slope = "dp[CURRENT_][i]" if self.slopes else "0.0f"
        value = self.score.slopes("x[CURRENT_][i]", slope, finish)
        others = ["dp"] if self.slopes else []

        def text(seen: str) -> list[str]:
            return self.score.each([*own, f"const bool seen = {seen};", *value], others, before)

        if self.score.heavy:
            return text(self.is_seen())
        return [f"if ({self.whole()}) {{", *text("true"), "} else {", *text(self.is_seen()), "}"]

    def tile(self, finish: Sequence[str]) -> list[str]:
        """The dot products of a tile, then its pairs."""
        lines = self.dots(self.scores, "x")
        if self.slopes:
            lines += self.dots(self.slopes, "dp")
        lines += self.after_dots(self.scores, "x", 1 if self.slopes and self.slopes.factor.chunks == 1 else 0)
        if self.slopes:
            lines += self.after_dots(self.slopes, "dp")
        return [*lines, *self.pairs(finish)]

    def done(self, rings: Sequence[Ring]) -> list[str]:
        """Gives back the slots that a tile held to its end."""
        return [line for r in dict.fromkeys(r.name for r in rings) for q in self.rings if q.name == r for line in self.release(q)]


class QueryGradient(Backward):
    """dq, and the gradient of a tensor of the score for each pair."""

    def __init__(self, a: Attention, words: Words, room: Room) -> None:
        super().__init__(a, words, by_keys=False)
        k = self.factor("k")
        self.scores, self.slopes = Ring("k", k, self.factor("q")), Ring("v", self.factor("v"), self.factor("dy"))
        self.into = None if a.dq is None else self.scores if k.chunks == 1 else Ring("lines", k)
        rings = [self.scores, self.slopes] + ([self.into] if self.into not in (None, self.scores) else [])
        self.plan([r for r in rings if r is not None], room, k if self.into else None)

    def lower(self) -> Launch:
        bias, into = self.a.dbias is not None, self.into
        body = [
            self.number_of_heads(),
            *self.where(),
            *(self._clear_bias() if bias else []),
            "float lses[2], deltas[2];",
            "#pragma unroll",
            "for (int h = 0; h < 2; ++h) {",
            *self.statistics("row + 8 * h", "row + 8 * h < rows", "lses[h]", "deltas[h]"),
            "}",
            *(self.sums("sum", into.factor) if into else []),
            *(line for r in self._held() for line in self.hold(r)),
            *(self.release_rows() if self._held() else []),
            *self.score.of_tile(),
            *self.before_tiles(),
            "#pragma unroll 1",
            "for (int tile = start; tile < stop; ++tile) {",
            *self.tile(["x[CURRENT_][i] = dt;", *(self.store_bias() if bias else [])]),
            *(self._add(into) if into else []),
            *self.done([r for r in self.rings if r.items == 1]),
            "}",
            *self.after_tiles(),
            *self.keep(),
            *([] if self._held() else self.release_rows()),
            *(self.write("dq", into.factor, "c1", "sum[n][i]") if into else []),
            *self.finished(),
        ]
        return self.launch(body, "")

    def _held(self) -> list[Ring]:
        """Rings whose rows are kept in registers: warpgroup instructions take them from there at less cost than from memory."""
        rings = [r for r in (self.scores, self.slopes) if r is not None and self.groups and r.factor.chunks == 1]
        return rings if len(rings) == 2 else []

    def _add(self, into: Ring) -> list[str]:
        return [
            "unsigned weights[4][4];",
            "to_factors(weights, x);",
            *(self.acquire(into) if into is not self.scores else []),
            self.add_lines(into, "weights", "sum"),
            *(["await_links<0>(sum);"] if self.groups else []),
        ]

    def _clear_bias(self) -> list[str]:
        lines = self.clear_bias(QUERIES, GROUP)
        return [line.replace("threadIdx.x", f"(int)threadIdx.x % {GROUP}") for line in lines] if self.groups else lines


class KeyGradient(Backward):
    """dk and dv, or one of them: the query heads that share a key head come one after another."""

    def __init__(self, a: Attention, words: Words, room: Room, results: Sequence[str]) -> None:
        super().__init__(a, words, by_keys=True)
        self.results = list(results)
        q, dy = self.factor("q"), self.factor("dy")
        self.scores = Ring("q", q, self.factor("k"), statistics=q.chunks == 1)
        self.slopes = Ring("dy", dy, self.factor("v")) if "dk" in results else None
        rings, self.into = [r for r in (self.scores, self.slopes) if r is not None], dict[str, Ring]()
        for name, factor in (("dk", q), ("dv", dy)):
            if name in results:
                shared = next((r for r in rings if r.factor == factor and factor.chunks == 1), None)
                self.into[name] = shared or Ring(f"lines_{name}", factor)
                rings += [self.into[name]] if shared is None else []
        self.plan(rings, room, next(iter(self.into.values())).factor)

    @staticmethod
    def fit_together(a: Attention) -> bool:
        """Whether both results can be made at once."""
        return max(a.depth, a.value_depth) <= WIDEST

    def lower(self) -> Launch:
        finish = [f"{x}[CURRENT_][i] = {weight};" for x, weight in self._weights().values()]
        body = [
            self.number_of_heads(),
            *self.where(),
            *(line for n, r in self.into.items() for line in self.sums(f"sum_{n}", r.factor)),
            "#pragma unroll 1",
            "for (int c1 = first_head; end > begin && c1 < first_head + group; ++c1) {",
            *self.score.of_tile(),
            *self.before_tiles(),
            "#pragma unroll 1",
            "for (int tile = start; tile < stop; ++tile) {",
            *self.tile(finish),
            *self._add(),
            *self.done([r for r in self.rings if r.items == 1]),
            "}",
            *self.after_tiles(),
            "}",
            *self.release_rows(),
            *(line for n, r in self.into.items() for line in self.write(n, r.factor, "g", f"sum_{n}[n][i]")),
            *self.finished(),
        ]
        return self.launch(body, "")

    def _weights(self) -> dict[str, tuple[str, str]]:
        """Of each result, the array that its weights take the place of, and what they are."""
        if self.slopes is None:
            return {"dv": ("x", "p")}
        return {n: ("x", "dt") if n == "dk" else ("dp", "p") for n in self.results}

    def _add(self) -> list[str]:
        lines = []
        for name, (array, _) in self._weights().items():
            r = self.into[name]
            lines += [
                f"unsigned weights_{name}[4][4];",
                f"to_factors(weights_{name}, {array});",
                *(self.acquire(r) if r not in (self.scores, self.slopes) else []),
                self.add_lines(r, f"weights_{name}", f"sum_{name}"),
            ]
        if self.groups:
            names = list(self.into)
            lines += [f"await_links<{len(names) - 1 - i}>(sum_{n});" for i, n in enumerate(names)]
        return lines
