"""What the kernels of attention share: where a block is, which pairs it may see, and how its results are written.

A block has rows (queries, or keys) and meets tiles of 64 columns (keys, or queries), `across` of them in a round, one for each
warp that lies along the columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.lowering.attention.cuda.place import Place
from baracuda.lowering.attention.cuda.prelude import ATTENTION
from baracuda.lowering.attention.cuda.score import Score
from baracuda.lowering.attention.cuda.streams import Dots, Phase, Streams, Sums, sums
from baracuda.lowering.attention.cuda.tiles import COLUMNS, DOWN, PIECE, Depth, Tile, odd_pitch
from baracuda.lowering.attention.problem import KEYS, Attention
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.nest.cuda.kernel import Words, piece, translation_unit
from baracuda.lowering.nest.problem import Operand
from baracuda.runtime.program import KernelSource, Launch

#: Registers of a multiprocessor, and those that a thread has beside its parts of matrices.
_REGISTERS, _OTHER_REGISTERS = 1 << 16, 70


class AttentionKernel(Place):
    """Writes one kernel, whose rows are keys (`by_keys`) or queries.

    Names in the generated code, beside those of `Place`: row, along and column the thread's first row in the block, its number
    along the columns and its first column in a tile; wn the warp's number along the columns; start and stop the tiles that the
    block meets, in `rounds` rounds; unit a round's first tile, own the warp's, `works` whether that is there; weights the matrix
    in shared memory that holds the warps' tiles side by side.
    """

    def __init__(self, a: Attention, words: Words, tile: Tile, *, by_keys: bool) -> None:
        super().__init__(a, words, by_keys=by_keys)
        self.tile = tile
        self.type, self.size = COMPUTE_TYPE[a.compute], a.compute.itemsize
        self.score = Score(a, words, self.operands, by_keys=by_keys)
        self.pitch = odd_pitch(tile.columns, self.size)
        self.blocks = -(-self.row_extent // tile.block_rows)
        self.shared = 0
        self.areas: list[str] = []
        self.area("weights", tile.block_rows * self.pitch)

    # --- shared memory and phases -------------------------------------------------------------------------------------

    def area(self, name: str, elements: int) -> None:
        """A new area of shared memory, of the compute kind."""
        self.areas.append(f"{self.type}* const {name} = ({self.type}*)(shared + {self.shared});")
        self.shared += -(-elements * self.size // PIECE) * PIECE

    def dots(self, left: str, right: str, extent: int) -> Dots:
        return Dots(left, right, Depth.of(extent, self.tile.step // self.size))

    def sums(self, right: str, extent: int) -> Sums:
        return sums(right, extent, self.tile, self.size)

    def plan(self, phases: Sequence[Phase]) -> None:
        """Settle what a round does, and the memory that it takes."""
        self.streams = Streams(self.a, self.operands, self.tile, phases, self.shared, by_keys=self.by_keys)
        self.shared += self.streams.nbytes

    # --- where --------------------------------------------------------------------------------------------------------

    def where(self) -> list[str]:
        """The block's place in the problem and the thread's place in the block."""
        t = self.tile
        few, many = "(lane >> 1 & 1 | lane >> 3 & 2)", "(lane & 1 | lane >> 1 & 6)"  # as in products: few bank conflicts
        return [
            "extern __shared__ __align__(16) unsigned char shared[];",
            *self.areas,
            *self.of_block("blockIdx.x", self.blocks, t.block_rows),
            f"const int rounds = stop > start ? (stop - start + {t.across - 1}) / {t.across} : 0;",
            f"const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wn = warp % {t.across};",
            f"const int row = warp / {t.across} * {DOWN * t.rows} + {few}, along = {many}, column = along * {COLUMNS};",
        ]

    # --- rows ---------------------------------------------------------------------------------------------------------

    def each_row(self, *, looped: bool = False) -> list[str]:
        """Begins a loop over the thread's rows."""
        return [
            f"#pragma unroll{' 1' if looped else ''}",
            f"for (int m = 0; m < {self.tile.rows}; ++m) {{",
            f"const int at_row = first_row + row + m * {DOWN};",
        ]

    def seen(self) -> list[str]:
        """Declares which of the thread's 8 elements of a row may be seen: those from `from` to `upto`."""
        low = "at_row + low - at_column" if self.low is not None else "0"
        high = "least(columns - 1, at_row + high)" if self.high is not None else "columns - 1"
        return [f"const int from = {low}, upto = at_row < rows ? {high} - at_column : -1;"]

    def whole(self) -> str:
        """Whether the warp's tile has only pairs that may be seen."""
        first = f"first_row + (row & ~{DOWN - 1})"
        last = f"{first} + {DOWN * self.tile.rows - 1}"
        tests = [f"{last} < rows", f"own * {KEYS} + {KEYS - 1} < columns"]
        if self.low is not None:
            tests.append(f"own * {KEYS} >= {last} + low")
        if self.high is not None:
            tests.append(f"own * {KEYS} + {KEYS - 1} <= {first} + high")
        return " && ".join(tests)

    def own_weights(self, m: str = "m", matrix: str = "weights") -> str:
        """The place of the thread's 8 elements of row m in a matrix of a round."""
        return f"{matrix} + (row + {m} * {DOWN}) * {self.pitch} + wn * {KEYS} + column"

    # --- products -----------------------------------------------------------------------------------------------------

    def round_of(self) -> list[str]:
        """Begins a round: what follows is that of the warp's own tile."""
        return [f"const int own = unit + wn, at_column = own * {KEYS} + column;", "const bool works = own < stop;"]

    def products(self, p: Dots) -> list[str]:
        """x becomes the products of a phase."""
        rows, pitch = self.tile.rows, self.streams.pitch(p)
        left = f"slot + row * {pitch}"
        right = f"slot + {self.streams.right(p)} + (wn * {KEYS} + along) * {pitch}"
        lines, more = self.cleared("x", COLUMNS), p.depth.chunks - p.depth.whole
        if p.depth.whole:
            lines += ["#pragma unroll 1", f"for (int chunk = 0; chunk < {p.depth.whole}; ++chunk) {{"]
            lines += self.streams.step(p, (more, p.depth.chunks - 1))
            lines += [f"if (works) dots<{p.depth.step}, {pitch}, {rows}>(x, {left}, {right});", "}"]
        if more:
            last = [f"if (works) dots<{p.depth.rest}, {pitch}, {rows}>(x, {left}, {right});"] if p.depth.rest else []
            lines += ["{", *self.streams.step(p, (0, 0)), *last, "}"]
        return lines

    def add_up(self, p: Sums, into: str, matrix: str = "weights", before: Sequence[str] = ()) -> list[str]:
        """`into` goes on with the sums of a phase; `before` stands where a tile of the round begins."""
        w, pitch = p.width, self.streams.pitch(p)
        place = f"slot + wn * {w.of_warp} + along * {w.run}"
        lines = ["#pragma unroll 1", f"for (int j = 0; j < present; j += {p.lines}) {{"]
        lines += self.streams.step(p)
        if before:
            lines += [f"if (j % {KEYS} == 0) {{", *before, "}"]
        source = f"{matrix} + row * {self.pitch} + j"
        return [*lines, f"sums<{p.lines}, {w.run}, {self.pitch}, {pitch}>({into}, {source}, {place});", "}"]

    def present(self) -> str:
        """Declares how many columns a round has."""
        return f"const int present = least({self.tile.across}, stop - unit) * {KEYS};"

    def array(self, name: str, count: int) -> list[str]:
        """Declares the thread's sums."""
        return [f"{self.type} {name}[{self.tile.rows}][{count}];", *self.cleared(name, count)]

    def cleared(self, name: str, count: int) -> list[str]:
        """Sets the thread's sums to +0."""
        each = f"for (int n = 0; n < {count}; ++n) {name}[m][n] = 0;"
        return ["#pragma unroll", f"for (int m = 0; m < {self.tile.rows}; ++m)", "#pragma unroll", each]

    # --- results ------------------------------------------------------------------------------------------------------

    def write(self, name: str, p: Sums, head: str, value: str, before: Sequence[str] = ()) -> list[str]:
        """Writes the thread's part of a result; `value` is that of row m and column n, after the statements of `before`."""
        operands, w = self.operands, p.width
        operand, storage = operands[name], operands.storage(name)
        unit = operand.steps(3) == 1
        step = "" if unit else f" * {operands.stride(name, 3)}"
        single = f"for (int v = 0; v < {w.run}; ++v) if (c + v < {w.extent}) to[(c + v){step}] = out.v[v];"
        lines = [
            *self.each_row(),
            f"if (at_row < (int){self.words.word(self.row_extent)}) {{",
            *before,
            f"{storage}* const to = {operands.of_head(name, head, writable=True)} + at_row * {operands.stride(name, 2)};",
            "#pragma unroll",
            f"for (int r = 0; r < {w.count // w.run}; ++r) {{",
            f"const int c = wn * {w.of_warp} + (r * 8 + along) * {w.run};",
            f"Vec<{storage}, {w.run}> out;",
            "#pragma unroll",
            f"for (int v = 0; v < {w.run}; ++v) {{",
            f"const int n = r * {w.run} + v;",
            f"out.v[v] = Narrow<{storage}, {self.type}>::to({value});",
            "}",
        ]
        if unit:
            wide = piece(operand, w.run, 3, _extents(self.a, operand))
            lines.append(f"if (c + {w.run} <= {w.extent}) store<{wide}>(to + c, out); else")
        return [*lines, "#pragma unroll", single, "}}}"]

    def resident(self, limit: int) -> int:
        """Blocks that a multiprocessor should hold: bounds the registers of a thread."""
        sums = sum(p.width.count for p in self.streams.phases if isinstance(p, Sums))
        words = self.tile.rows * self.size // 4
        registers = min(255, _OTHER_REGISTERS + words * (COLUMNS + sums + PIECE // self.size))
        warps = _REGISTERS // 32 // (4 * registers) * 4  # each quarter of a multiprocessor has registers of its own
        return max(1, min(limit // (self.shared + 1024), 32 * warps // self.tile.threads))

    def launch(self, body: Sequence[str], functions: str, limit: int) -> Launch:
        """The kernel, on a multiprocessor with so much shared memory."""
        tables = PRODUCTS + ATTENTION + functions + self.score.definitions()
        source = translation_unit(self.words, body, self.tile.threads, tables, blocks=self.resident(limit))
        return Launch(KernelSource(source), (self.a.batch * self.heads * self.blocks, 1, 1), self.tile.threads, self.shared)


def _extents(a: Attention, operand: Operand) -> tuple[int, ...]:
    """Extents that tell which strides of an operand of vectors count."""
    return (a.batch, a.heads, max(a.queries, a.keys), 1)
