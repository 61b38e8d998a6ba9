"""What the kernels of attention in integers share: the rows of a warp, what of a tile is seen, and how results are written.

A block has 64 rows (queries, or keys), a warp 16 of them. Tiles of 64 columns follow one another, and in each some phases: digits
by rows for dot products, a block of the depth at a time, and turned ones for sums. They come to shared memory as they lie in the
workspace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baracuda.lowering.attention.cuda.integers.digits import ROWS, RowFactor
from baracuda.lowering.attention.cuda.integers.groups import GroupTiles
from baracuda.lowering.attention.cuda.integers.phases import THREADS, Phase, Phases, Room
from baracuda.lowering.attention.cuda.integers.prelude import FRAGMENTS
from baracuda.lowering.attention.cuda.integers.score import TURN, FragmentScore
from baracuda.lowering.attention.cuda.integers.warps import WarpTiles
from baracuda.lowering.attention.cuda.place import Place
from baracuda.lowering.attention.cuda.prelude import ATTENTION
from baracuda.lowering.attention.problem import KEYS, Attention
from baracuda.lowering.matmul.cuda.integers.prelude import COMBINE, SCALE, WARP_INSTRUCTIONS
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.nest.cuda.kernel import Words, piece, translation_unit
from baracuda.runtime.program import KernelSource, Launch


class IntegerKernel(Place):
    """Writes one kernel, whose rows are keys (`by_keys`) or queries.

    Names in the generated code, beside those of `Place`: first and row the warp's and the thread's first row; tile the number of
    a tile; part the part of the result's depth that the block adds up.
    """

    def __init__(self, a: Attention, words: Words, factors: Mapping[str, RowFactor], *, by_keys: bool) -> None:
        super().__init__(a, words, by_keys=by_keys)
        self.factors = factors
        self.blocks = -(-self.row_extent // ROWS)
        self.score = FragmentScore(a, words, self.operands, by_keys=by_keys)

    def plan(self, phases: Phases, room: Room) -> None:
        """Settles how the tiles of the block are multiplied."""
        self.parts = phases.into.right.parts if phases.into else 1
        kind = GroupTiles if room.warpgroups else WarpTiles
        self.phases, self.tiles = phases, kind(self, phases, room)

    def __str__(self) -> str:
        return str(self.tiles)

    def where(self) -> list[str]:
        """The block's place in the problem, and the warp's and the thread's."""
        number = "blockIdx.x" if self.parts == 1 else "number"
        return [
            f"extern __shared__ __align__({self.tiles.alignment}) unsigned char shared[];",
            *([f"const unsigned number = blockIdx.x / {self.parts}u;"] if self.parts > 1 else []),
            *([f"const int part = (int)(blockIdx.x - number * {self.parts}u);"] if self.parts > 1 else []),
            *self.of_block(number, self.blocks, ROWS),
            "const int lane = threadIdx.x % 32, first = first_row + threadIdx.x / 32 * 16, row = first + lane / 4;",
        ]

    def sums(self, name: str, p: Phase) -> list[str]:
        """Declares the sums of a phase."""
        return [f"float {name}[{p.right.width // 8}][4] = {{}};"]

    def whole(self) -> str:
        """Whether the warp's tile has only pairs that may be seen."""
        tests = ["first + 15 < rows", f"tile * {KEYS} + {KEYS - 1} < columns"]
        if self.low is not None:
            tests.append(f"tile * {KEYS} >= first + 15 + low")
        if self.high is not None:
            tests.append(f"tile * {KEYS} + {KEYS - 1} <= first + high")
        return " && ".join(tests)

    def hide(self, x: str, value: str) -> list[str]:
        """Sets elements that may not be seen to a value."""
        return [
            f"if (!({self.whole()})) {{",
            "#pragma unroll",
            "for (int n = 0; n < 8; ++n)",
            "#pragma unroll",
            "for (int i = 0; i < 4; ++i) {",
            f"const int at_row = row + i / 2 * 8, at_column = tile * {KEYS} + n * 8 + lane % 4 * 2 + i % 2;",
            f"if (!({self.is_seen()})) {x}[n][i] = {value};",
            "}}",
        ]

    # --- results ------------------------------------------------------------------------------------------------------

    def write(self, name: str, p: Phase, head: str, value: str) -> list[str]:
        """Writes the thread's part of a result; `value` is that of element i = 2 * h + e of its columns n."""
        operands, w = self.operands, p.right.width
        operand, storage = operands[name], operands.storage(name)
        unit = operand.steps(3) == 1
        step = "" if unit else f" * {operands.stride(name, 3)}"
        extents = (self.a.batch, self.a.heads, max(self.a.queries, self.a.keys), 1)
        start = f"part * {w} + " if p.right.parts > 1 else ""
        lines = [
            "#pragma unroll",
            "for (int h = 0; h < 2; ++h) {",
            "const int at_row = row + h * 8;",
            f"if (at_row < (int){self.words.word(self.row_extent)}) {{",
            f"{storage}* const to = {operands.of_head(name, head, writable=True)} + at_row * {operands.stride(name, 2)};",
            "#pragma unroll",
            f"for (int n = 0; n < {w // 8}; ++n) {{",
            f"const int c = {start}n * 8 + lane % 4 * 2;",
            f"Vec<{storage}, 2> out;",
            "#pragma unroll",
            f"for (int e = 0; e < 2; ++e) {{ const int i = 2 * h + e; out.v[e] = Narrow<{storage}, float>::to({value}); }}",
        ]
        if unit and piece(operand, 2, 3, extents) == 2:
            lines.append(f"if (c + 2 <= {p.right.depth}) store<2>(to + c, out); else")
        single = f"for (int e = 0; e < 2; ++e) if (c + e < {p.right.depth}) to[(c + e){step}] = out.v[e];"
        return [*lines, "#pragma unroll", single, "}}}"]

    def launch(self, body: Sequence[str], functions: str) -> Launch:
        common = PRODUCTS + ATTENTION + COMBINE + SCALE + WARP_INSTRUCTIONS
        tables = common + functions + FRAGMENTS + self.tiles.tables + TURN + self.score.definitions()
        source = translation_unit(self.words, body, THREADS, tables, blocks=self.tiles.resident)
        blocks = self.a.batch * self.heads * self.blocks * self.parts
        return Launch(KernelSource(source), (blocks, 1, 1), THREADS, self.tiles.shared)
