"""The digits of the rows of q, k, v and dy, which a pass of its own writes into the workspace.

A record has `ROWS` rows of one head. By rows, for dot products:

    [batch][head][row tile][block of the depth][digit, the most significant first][ROWS rows][`line` bytes along the depth]

and turned, for sums over rows, in parts of the depth that one block of a kernel adds up:

    [batch][head][row tile][part of the depth][digit][`width` elements of the depth][ROWS bytes, one for each row]

with pieces of 16 bytes where `ldmatrix` reads them without bank conflicts (prelude.py has their places), and the scales,
[batch][head][row tile][ROWS scales, four f32 that are NaN where one of them is], f32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from baracuda.core.layout import round_up
from baracuda.formula.integer_products import BLOCK, digits
from baracuda.lowering.attention.cuda.integers.prelude import ROW_DIGITS
from baracuda.lowering.attention.cuda.operands import Operands
from baracuda.lowering.attention.cuda.place import Place
from baracuda.lowering.attention.cuda.prelude import ATTENTION
from baracuda.lowering.attention.problem import KEYS, Attention
from baracuda.lowering.matmul.cuda.integers.prelude import SCALE
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.nest.cuda.kernel import Words, piece, translation_unit
from baracuda.runtime.program import KernelSource, Launch

#: Rows of a record, and bytes of its scales.
ROWS, SCALES = KEYS, (KEYS + 4) * 4
#: Elements of the depth that a block adds up: 64 f32 a thread.
WIDEST = 128
#: Threads of a block that makes a record: four for each row.
_THREADS = 4 * ROWS


@dataclass(frozen=True)
class RowFactor:
    """An operand whose rows' digits lie in the workspace.

    Attributes
    ----------
    name
        The operand.
    records, tiles, heads
        How many records there are, to a head, and heads.
    depth
        Elements of a row.
    count
        Digits of an element.
    by_rows, turned
        Which forms there are.
    start
        Where the first begins in the workspace.
    chunk
        How many elements of the depth have their digits together where these are turned; 0: those of a part.
    """

    name: str
    records: int
    tiles: int
    heads: int
    depth: int
    count: int
    by_rows: bool
    turned: bool
    start: int
    chunk: int = 0

    @property
    def line(self) -> int:
        return 128 if self.depth > 64 else 64 if self.depth > 32 else 32

    @property
    def blocks(self) -> int:
        return max(1, -(-self.depth // BLOCK))

    @property
    def steps(self) -> int:
        """Of 32 elements in a block."""
        return 4 if self.blocks > 1 else max(1, -(-self.depth // 32))

    @property
    def parts(self) -> int:
        return parts(self.depth)

    @property
    def width(self) -> int:
        return max(16, round_up(-(-self.depth // self.parts), 16))

    @property
    def block_bytes(self) -> int:
        """Of a block of a record by rows."""
        return self.count * ROWS * self.line

    @property
    def part_bytes(self) -> int:
        """Of a part of a record that is turned."""
        return self.count * ROWS * self.width

    @property
    def statistics(self) -> bool:
        """Whether the log-sum-exp and delta of each row stand behind the scales, for kernels whose columns are queries."""
        return self.chunk > 0 and self.name == "dy"

    @property
    def side(self) -> int:
        """Bytes of what comes along with the digits."""
        return SCALES + 2 * ROWS * 4 * self.statistics

    @property
    def fits_warpgroups(self) -> bool:
        """Whether warpgroup instructions multiply its digits: of a depth of one block, or of 32 columns at a time."""
        return self.count == 2 and (not self.by_rows or self.blocks == 1) and (not self.turned or self.width % 32 == 0)

    @property
    def turned_start(self) -> int:
        return self.start + self.records * self.blocks * self.block_bytes * self.by_rows

    @property
    def scales_start(self) -> int:
        return self.turned_start + self.records * self.parts * self.part_bytes * self.turned

    @property
    def end(self) -> int:
        return round_up(self.scales_start + self.records * self.side, 128)

    def record(self, words: Words, head: str, tile: str) -> str:
        """The C++ expression of a record's number; c0 is the batch element."""
        return f"(((i64)c0 * {words.word(self.heads)} + ({head})) * {words.word(self.tiles)} + ({tile}))"

    def at(self, words: Words, start: int) -> str:
        """The C++ expression of an address in the workspace."""
        return f"((unsigned char*)(W.w[{words.operands}] + {words.word(start)}))"


def parts(depth: int) -> int:
    """Into how many parts a depth is cut for sums."""
    return max(1, -(-depth // WIDEST))


def row_factors(a: Attention, forms: dict[str, tuple[bool, bool]], start: int, chunk: int = 0) -> dict[str, RowFactor]:
    """The operands of some names, with the forms wanted of each, one behind the other in the workspace."""
    found = {}
    for name, (by_rows, turned) in forms.items():
        keys = name in ("k", "v")
        heads, rows = (a.key_heads, a.keys) if keys else (a.heads, a.queries)
        depth = a.value_depth if name in ("v", "dy") else a.depth
        tiles = -(-rows // ROWS)
        f = RowFactor(name, a.batch * heads * tiles, tiles, heads, depth, digits(a.bits), by_rows, turned, start, chunk)
        found[name], start = f, f.end
    return found


def _statistics(a: Attention, f: RowFactor, place: Place) -> list[str]:
    """Writes the statistics of the rows of a record."""
    to = f"(float*)({f.at(place.words, f.scales_start)} + (i64)record * {f.side} + {SCALES})"
    return [
        f"if (threadIdx.x < {ROWS}) {{",
        f"const int heads = (int){place.words.word(a.heads)}, query = first + (int)threadIdx.x;",
        "float lse, delta;",
        *place.statistics("query", "query < query_length", "lse", "delta"),
        f"float* const to = {to} + threadIdx.x;",
        f"to[0] = lse; to[{ROWS}] = delta;",
        "}",
    ]


def digits_launch(a: Attention, factors: Sequence[RowFactor], words: Words) -> Launch:
    """The kernel that writes the digits. Bytes: the operands once or twice, and those of the records."""
    operands, place = Operands(a, words), Place(a, words, by_keys=False)
    body = [
        f"__shared__ __align__(16) unsigned char shared[{max(f.count for f in factors) * ROWS * 64}];",
        "unsigned record = blockIdx.x;",
    ]
    for f in factors:
        operand, length = operands[f.name], "key" if f.name in ("k", "v") else "query"
        extents = (a.batch, f.heads, max(a.queries, a.keys), 1)
        widest = 16 // operand.kind.itemsize
        vector = piece(operand, widest, 3, extents) if operand.steps(3) == 1 else 1
        flags = ", ".join(str(x).lower() for x in (f.by_rows, f.turned))
        numbers = f"{vector}, {f.count}, {f.depth}, {f.line}, {f.chunk or f.width}, {flags}"
        row, column = operands.stride(f.name, 2), operands.stride(f.name, 3)
        body += [
            f"if (record < {words.unsigned(f.records)}) {{",
            f"const unsigned line = divide(record, {words.divisor(f.tiles)}), tile = record - line * {words.unsigned(f.tiles)};",
            f"const int c0 = (int)divide(line, {words.divisor(f.heads)}), c1 = (int)line - c0 * (int){words.word(f.heads)};",
            *place.length(length, a.keys if length == "key" else a.queries),
            f"const int first = (int)tile * {ROWS};",
            f"write_row_digits<{numbers}>({operands.of_head(f.name, 'c1')} + first * {row}, {row}, {column}, "
            f"{length}_length - first, {f.at(words, f.start)} + (i64)record * {f.blocks * f.block_bytes}, "
            f"{f.at(words, f.turned_start)} + (i64)record * {f.parts * f.part_bytes}, "
            f"(float*)({f.at(words, f.scales_start)} + (i64)record * {f.side}), shared);",
            *(_statistics(a, f, place) if f.statistics else []),
            "return;",
            "}",
            f"record -= {words.unsigned(f.records)};",
        ]
    source = translation_unit(words, body, _THREADS, PRODUCTS + ATTENTION + SCALE + ROW_DIGITS)
    return Launch(KernelSource(source), (sum(f.records for f in factors), 1, 1), _THREADS)
