"""The forward kernel of attention in integers: an online softmax over the tiles of keys, for 64 queries of one head."""

from __future__ import annotations

from collections.abc import Mapping

from baracuda.formula import functions as f
from baracuda.formula.elementary.softened import exp_of_nonpositive
from baracuda.formula.expr import input_
from baracuda.lowering.attention.cuda.integers.digits import RowFactor
from baracuda.lowering.attention.cuda.integers.kernel import IntegerKernel
from baracuda.lowering.attention.cuda.integers.phases import Phase, Phases, Room, Work
from baracuda.lowering.attention.cuda.score import function
from baracuda.lowering.attention.problem import Attention
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.runtime.program import Launch

_INFINITY = "__int_as_float(0x7f800000)"


class Forward(IntegerKernel):
    """A block has queries, and a part of the values' depth. A thread keeps the statistics of its two rows: `largest` so far, and
    `total`, the sum of exponentials."""

    def __init__(self, a: Attention, words: Words, factors: Mapping[str, RowFactor], room: Room) -> None:
        super().__init__(a, words, factors, by_keys=False)
        self.values = Phase(factors["v"])
        self.plan(Phases(Phase(factors["k"], factors["q"]), into=self.values), room)

    def lower(self) -> Launch:
        x = input_("x", self.a.compute)
        functions = function("exp_", self.a.compute, exp_of_nonpositive(x)) + function("log_", self.a.compute, f.log(x))
        body = [
            *self.where(),
            *self.tiles.define(),
            f"float largest[2] = {{-{_INFINITY}, -{_INFINITY}}}, total[2] = {{}};",
            *self.sums("sum", self.values),
            *self.tiles.loop(self._work()),
            *self._finish(),
        ]
        return self.launch(body, functions)

    def _work(self) -> Work:
        """The softmax of a tile."""
        head, hidden = self.score.of_tile(), self.hide("x", f"-{_INFINITY}")
        scores = [*self.score.each(self.score.element()), *hidden, "float factor[2];"]
        return Work(head, [*scores, *self._statistics(0), *self._statistics(1)], between=self._rescale())

    def _statistics(self, h: int) -> list[str]:
        """From the scores of a row to exponentials, and their sum."""
        return [
            "{",
            f"const float now = maximum(largest[{h}], largest_of_row<{h}>(x));",
            f"const bool nothing = now == -{_INFINITY};",
            "const float origin = nothing ? 0 : now;",  # -inf less 0 is -inf still, whose exponential is +0
            f"factor[{h}] = exp_(nothing ? 0 : largest[{h}] - origin);",
            f"largest[{h}] = now;",
            "#pragma unroll",
            "for (int n = 0; n < 8; ++n)",
            "#pragma unroll",
            f"for (int i = {2 * h}; i < {2 * h + 2}; ++i) x[n][i] = exp_(x[n][i] - origin);",
            f"total[{h}] = chain(total[{h}], factor[{h}], sum_of_row<{h}>(x));",
            "}",
        ]

    def _rescale(self) -> list[str]:
        """What there is so far, in proportion to the exponentials of the tile."""
        return [
            "if (__any_sync(~0u, factor[0] != 1 || factor[1] != 1)) {",
            "#pragma unroll",
            f"for (int n = 0; n < {self.values.right.width // 8}; ++n)",
            "#pragma unroll",
            "for (int i = 0; i < 4; ++i) sum[n][i] *= factor[i / 2];",
            "}",
        ]

    def _finish(self) -> list[str]:
        """Writes y, and the log-sum-exp."""
        lines = []
        if "lse" in self.operands:
            to = f"{self.operands.of_head('lse', 'c1', writable=True)}[(row + 8 * h) * {self.operands.stride('lse', 2)}]"
            extent = f"(int){self.words.word(self.a.queries)}"
            test = "lane % 4 == 0" + (" && part == 0" if self.parts > 1 else "")
            lines = [
                f"if ({test})",
                "#pragma unroll",
                f"for (int h = 0; h < 2; ++h) if (row + 8 * h < {extent}) {to} = largest[h] + log_(total[h]);",
            ]
        return [*lines, *self.write("y", self.values, "c1", f"largest[h] == -{_INFINITY} ? 0 : sum[n][i] / total[h]")]
