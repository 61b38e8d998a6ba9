"""What the kernels of attention in integers share: the rows of a warp, what of a tile is seen, and how results are written.

A block has 64 rows (queries, or keys), a warp 16 of them. Tiles of 64 columns follow one another, and in each some phases: digits
by rows for dot products, a block of the depth at a time, and turned ones for sums. They come to shared memory as they lie in the
workspace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baracuda.lowering.attention.cuda.fragments import FragmentPlace
from baracuda.lowering.attention.cuda.integers.digits import ROWS, RowFactor
from baracuda.lowering.attention.cuda.integers.groups import GroupTiles
from baracuda.lowering.attention.cuda.integers.phases import THREADS, Phase, Phases, Room
from baracuda.lowering.attention.cuda.integers.prelude import FRAGMENTS
from baracuda.lowering.attention.cuda.integers.score import TURN, FragmentScore
from baracuda.lowering.attention.cuda.integers.warps import WarpTiles
from baracuda.lowering.attention.cuda.prelude import ATTENTION
from baracuda.lowering.attention.problem import KEYS, Attention
from baracuda.lowering.matmul.cuda.integers.prelude import COMBINE, SCALE, WARP_INSTRUCTIONS
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.nest.cuda.kernel import Words, translation_unit
from baracuda.runtime.program import KernelSource, Launch


class IntegerKernel(FragmentPlace):
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
        w = p.right.width
        return self.write_rows(name, p.right.depth, w, f"part * {w} + " if p.right.parts > 1 else "", head, value)

    def launch(self, body: Sequence[str], functions: str) -> Launch:
        common = PRODUCTS + ATTENTION + COMBINE + SCALE + WARP_INSTRUCTIONS
        tables = common + functions + FRAGMENTS + self.tiles.tables + TURN + self.score.definitions()
        source = translation_unit(self.words, body, THREADS, tables, blocks=self.tiles.resident)
        blocks = self.a.batch * self.heads * self.blocks * self.parts
        return Launch(KernelSource(source), (blocks, 1, 1), THREADS, self.tiles.shared)
