"""What a kernel has whose warps have 16 rows and meet 64 columns at a time: which pairs they see, and how they write results.

Names in the generated code: first and row the warp's and the thread's first row; tile the number of a tile; at_row and at_column
where an element is.
"""

from __future__ import annotations

from baracuda.lowering.attention.cuda.place import Place
from baracuda.lowering.attention.problem import KEYS
from baracuda.lowering.nest.cuda.kernel import piece


class FragmentPlace(Place):
    """The place of a block of such warps."""

    def whole(self) -> str:
        """Whether the warp's tile has only pairs that may be seen."""
        tests = ["first + 15 < rows", f"tile * {KEYS} + {KEYS - 1} < columns"]
        if self.low is not None:
            tests.append(f"tile * {KEYS} >= first + 15 + low")
        if self.high is not None:
            tests.append(f"tile * {KEYS} + {KEYS - 1} <= first + high")
        return " && ".join(tests)

    def write_rows(self, name: str, depth: int, width: int, start: str, head: str, value: str) -> list[str]:
        """Writes the thread's part of a result, `width` columns of `depth` from `start` on; `value` is that of element
        i = 2 * h + e of its columns n."""
        operands = self.operands
        operand, storage = operands[name], operands.storage(name)
        unit = operand.steps(3) == 1
        step = "" if unit else f" * {operands.stride(name, 3)}"
        extents = (self.a.batch, self.a.heads, max(self.a.queries, self.a.keys), 1)
        lines = [
            "#pragma unroll",
            "for (int h = 0; h < 2; ++h) {",
            "const int at_row = row + h * 8;",
            f"if (at_row < (int){self.words.word(self.row_extent)}) {{",
            f"{storage}* const to = {operands.of_head(name, head, writable=True)} + at_row * {operands.stride(name, 2)};",
            "#pragma unroll",
            f"for (int n = 0; n < {width // 8}; ++n) {{",
            f"const int c = {start}n * 8 + lane % 4 * 2;",
            f"Vec<{storage}, 2> out;",
            "#pragma unroll",
            f"for (int e = 0; e < 2; ++e) {{ const int i = 2 * h + e; out.v[e] = Narrow<{storage}, float>::to({value}); }}",
        ]
        if unit and piece(operand, 2, 3, extents) == 2:
            lines.append(f"if (c + 2 <= {depth}) store<2>(to + c, out); else")
        single = f"for (int e = 0; e < 2; ++e) if (c + e < {depth}) to[(c + e){step}] = out.v[e];"
        return [*lines, "#pragma unroll", single, "}}}"]
