"""The forward kernel of attention by tensor cores: an online softmax over the tiles of keys, 64 queries at a time."""

from __future__ import annotations

from baracuda.formula import functions as f
from baracuda.formula.expr import input_
from baracuda.lowering.attention.cuda.score import function
from baracuda.lowering.attention.cuda.tensor_cores.kernel import TensorCoreKernel
from baracuda.lowering.attention.cuda.tensor_cores.rings import Ring, Room
from baracuda.lowering.attention.problem import KEYS, Attention
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.runtime.program import Launch

_INFINITY = "__int_as_float(0x7f800000)"


class Forward(TensorCoreKernel):
    """A block has queries, and a part of the values' depth. A thread keeps the statistics of its two rows: `origin`, which scores
    are less in exponentials, and `total`, its part of their sum."""

    def __init__(self, a: Attention, words: Words, room: Room) -> None:
        super().__init__(a, words, by_keys=False)
        self.keys, self.values = Ring("k", self.factor("k"), self.factor("q")), Ring("v", self.factor("v"))
        self.plan((self.keys, self.values), room, self.values.factor)
        self.pipelined = self.groups > 0 and self.keys.factor.chunks == 1

    def lower(self) -> Launch:
        functions = function("log_", self.a.compute, f.log(input_("x", self.a.compute)))
        begin = [
            *self.where(),
            *([*self.hold(self.keys), *self.release_rows()] if self.pipelined else []),
            f"float origin[2] = {{-{_INFINITY}, -{_INFINITY}}}, total[2] = {{}};",
            *self.sums("sum", self.values.factor),
            *self.score.of_tile(),
            *self.before_tiles(),
        ]
        tiles = self._pipelined() if self.pipelined else self._one_by_one()
        after = [*self.after_tiles(), *self.keep(), *([] if self.pipelined else self.release_rows())]
        return self.launch([*begin, *tiles, *after, *self._finish(), *self.finished()], functions)

    def _softmax(self) -> list[str]:
        """From dot products to exponentials."""
        score = self.score
        return [
            *score.each(score.element()),
            f"if (!({self.whole()})) {{",
            "#pragma unroll",
            "for (int n = 0; n < 8; ++n)",
            "#pragma unroll",
            "for (int i = 0; i < 4; ++i) {",
            f"const int at_row = row + i / 2 * 8, at_column = tile * {KEYS} + n * 8 + lane % 4 * 2 + i % 2;",
            f"if (!({self.is_seen()})) x[n][i] = -{_INFINITY};",
            "}}",
            "const float factor[2] = {exponentials<0>(x, origin[0], total[0]), exponentials<1>(x, origin[1], total[1])};",
        ]

    def _rescale(self) -> list[str]:
        """What there is so far, in proportion to the exponentials of the tile."""
        return [
            "if (__any_sync(~0u, factor[0] != 1 || factor[1] != 1)) {",
            "#pragma unroll",
            f"for (int n = 0; n < {self.sums_width(self.values.factor) // 8}; ++n)",
            "#pragma unroll",
            "for (int i = 0; i < 4; ++i) sum[n][i] *= factor[i / 2];",
            "}",
        ]

    def _one_by_one(self) -> list[str]:
        last = self.release(self.keys) if self.keys.factor.chunks == 1 else []
        return [
            "#pragma unroll 1",
            "for (int tile = start; tile < stop; ++tile) {",
            *self.dots(self.keys, "x"),
            *self.after_dots(self.keys, "x"),
            *last,
            *self._softmax(),
            *self._rescale(),
            "unsigned weights[4][4];",
            "to_factors(weights, x);",
            *self.acquire(self.values),
            self.add_lines(self.values, "weights", "sum"),
            *(["await_links<0>(sum);"] if self.groups else []),
            *self.release(self.values),
            "}",
        ]

    def _pipelined(self) -> list[str]:
        """The dot products of a tile and the sums of the one before are under way together, the softmax beside the sums."""
        return [
            "if (start < stop) {",
            "unsigned weights[4][4];",
            "{",
            "const int tile = start;",
            *self.dots(self.keys, "x"),
            *self.after_dots(self.keys, "x"),
            *self.release(self.keys),
            *self._softmax(),
            "to_factors(weights, x);",
            "}",
            "#pragma unroll 1",
            "for (int tile = start + 1; tile < stop; ++tile) {",
            *self.dots(self.keys, "x"),
            *self.acquire(self.values),
            self.add_lines(self.values, "weights", "sum"),
            *self.after_dots(self.keys, "x", 1),
            *self._softmax(),
            # The test is always true. It keeps the wait for the sums behind the exponentials: ptxas would move it up.
            *self.release(self.keys, " && !(total[0] + total[1] < 0)"),
            "await_links<0>(sum);",
            *self.release(self.values),
            *self._rescale(),
            "to_factors(weights, x);",
            "}",
            *self.acquire(self.values),
            self.add_lines(self.values, "weights", "sum"),
            "await_links<0>(sum);",
            *self.release(self.values),
            "}",
        ]

    def _finish(self) -> list[str]:
        """Writes y, and the log-sum-exp."""
        lines = [
            "float inverse[2];",
            "#pragma unroll",
            "for (int h = 0; h < 2; ++h) {",
            "total[h] = of_four<Sum>(total[h]);",
            f"inverse[h] = origin[h] == -{_INFINITY} ? 0 : 1 / total[h];",
            "}",
        ]
        if "lse" in self.operands:
            to = f"{self.operands.of_head('lse', 'c1', writable=True)}[(row + 8 * h) * {self.operands.stride('lse', 2)}]"
            extent = f"(int){self.words.word(self.a.queries)}"
            test = "lane % 4 == 0" + (" && part == 0" if self.parts > 1 else "")
            lines += [
                f"if ({test})",
                "#pragma unroll",
                f"for (int h = 0; h < 2; ++h) if (row + 8 * h < {extent}) {to} = origin[h] + log_(total[h]);",
            ]
        return [*lines, *self.write("y", self.values.factor, "c1", "sum[n][i] * inverse[h]")]
