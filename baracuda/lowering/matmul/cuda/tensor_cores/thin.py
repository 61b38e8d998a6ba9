"""Products of 8-bit integers of few rows: what counts is how fast the wide factor arrives, so it goes straight to the registers
of tensor-core instructions.

16 columns of the wide factor are the rows of an instruction and 8 thin rows its columns. The order of k is free: a thread reads
16 bytes of two columns of each 64 steps, which are the registers of two instructions, and the same of its thin row, which comes
from L1. Where columns lie side by side it reads 8 of them at 16 steps, and turns the bytes of four steps into words along k: a
warp has 64 columns then. The `ways` warps of a group take steps in turn, and their sums meet in shared memory.

Bytes: the wide factor once; the thin one once for every 16 (64) columns, from L1 and L2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.tensor_cores.lines import LinesFactor, lines_factors, lines_launches
from baracuda.lowering.matmul.cuda.tensor_cores.prelude import THIN as CODE
from baracuda.lowering.matmul.cuda.tensor_cores.prelude import TURN, letters, warp_products
from baracuda.lowering.matmul.cuda.tile_place import tile_extents
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Target, Words, piece, unravel
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Rows of a thin product at most, and where columns lie side by side.
THIN, _THIN_ACROSS = 32, 16
#: Columns of a warp, by whether they lie side by side; thin rows of an instruction, and steps of k that a warp takes at once.
_COLUMNS, _ROWS, _STEPS = {False: 16, True: 64}, 8, 64
#: Columns of a thread that lie side by side.
_ACROSS = 8
#: Warps of a block, and as many as a multiprocessor should have.
_WARPS, _BUSY = 8, 24


@dataclass(frozen=True)
class ThinTile:
    """What a block takes: `tiles` times 8 rows, and 16 columns, or 64 `across`, for each of its `groups` of `ways` warps. A
    thread has `ahead` steps on their way at once."""

    tiles: int
    groups: int
    ways: int
    ahead: int
    across: bool

    @property
    def bm(self) -> int:
        return self.tiles * _ROWS

    @property
    def columns(self) -> int:
        return _COLUMNS[self.across]

    @property
    def bn(self) -> int:
        return self.groups * self.columns

    @property
    def threads(self) -> int:
        return 32 * self.groups * self.ways

    def __str__(self) -> str:
        return f"thin {self.bm}x{self.bn} ways{self.ways} {'across' if self.across else f'ahead{self.ahead}'}"


def thin_tile(c: MatmulProblem, target: Target, *, across: bool) -> ThinTile:
    """The tile of a thin product: enough warps to keep memory busy, as far as k has steps for them."""
    tiles = next(t for t in (1, 2, 4) if t * _ROWS >= c.m)
    ahead = 1 if across else 4 if tiles < 4 else 2
    groups, ways = prod(c.batch) * -(-c.n // _COLUMNS[across]), 1
    while ways < 2 * _WARPS and ways * groups < _BUSY * target.multiprocessors and ways * ahead * _STEPS < c.k:
        ways *= 2
    return ThinTile(tiles, max(1, _WARPS // ways), ways, ahead, across)


def _lies_across(f: LinesFactor) -> bool:
    """Whether a factor's rows, the columns of the product, lie side by side in whole pieces."""
    rank, o = len(f.batch), f.operand
    whole = f.rows % _ACROSS == 0 and o.steps(rank) == 1
    return whole and piece(o, _ACROSS, rank, (*f.batch, f.rows, f.k)) == _ACROSS


def lower_thin(c: MatmulProblem, target: Target, *, exchanged: bool) -> Lowered | None:
    """The kernel of a product of at most `THIN` rows, behind a pass for a thin factor that is not in lines; None where the wide
    one lies otherwise than along k or along the columns. `exchanged` says that the factors have changed places."""
    factors = lines_factors(c, exchanged=exchanged)
    if factors is None:
        return None
    a, b = factors
    across = b.start is not None
    if across and not (_lies_across(b) and c.m <= _THIN_ACROSS):
        return None
    words, t = Words(len(c.tensors), c.epilogue.params), thin_tile(c, target, across=across)
    before = lines_launches((a,), words)
    frame, pitch = epilogue_frame(c, words), sums_pitch(c, t)
    finish, definitions = epilogue(c, frame, t)
    a_lines = ", ".join((*a.first(words, "m0"), "rows"))
    b_first, b_stride = replace(b, start=None).first(words, "n0")
    each, at, sums = 4, "lane / 4 + i / 2 % 2 * 8", "sums[0]"
    product = f"thin_product<{t.tiles}, {t.ahead}, {t.ways}>(sums, {a_lines}, {b_first}, {b_stride}, columns, column, "
    if across:
        each, at, sums = 16, "lane / 4 * 8 + i / 2 % 8", "sums[0][0]"
        own = f"{b_first} + min(column + lane / 4 * {_ACROSS}, columns - {_ACROSS})"
        stride = words.signed(b.operand.strides[len(b.batch) + 1])
        product = f"thin_across<{t.tiles}, {t.ways}>(sums, {a_lines}, {own}, {stride}, "
    number = -(-c.n // t.bn)
    body = [
        "extern __shared__ __align__(16) unsigned char shared[];",
        f"const unsigned product = divide(blockIdx.x, {words.divisor(number)});",
        f"const i64 m0 = 0, n0 = (i64)(blockIdx.x - product * {words.unsigned(number)}) * {t.bn};",
        *(unravel("product", c.batch, words, "c", wide=False) if c.batch else ()),
        *tile_extents(c, words, t.bm, t.bn),
        "int* const sums0 = (int*)shared;",
        f"for (int i = threadIdx.x; i < {t.bm * pitch}; i += {t.threads}) sums0[i] = 0;",
        "__syncthreads();",
        "const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;",
        f"const int group = warp / {t.ways}, way = warp % {t.ways}, column = group * {t.columns};",
        f"int sums[{t.tiles}]{'[4]' if across else ''}[4] = {{}};",
        f"{product}{words.word(c.k)}, way, lane);",
        "#pragma unroll",
        f"for (int i = 0; i < {each * t.tiles}; ++i)",
        f"atomicAdd(sums0 + (i / {each} * {_ROWS} + lane % 4 * 2 + i % 2) * {pitch} + column + {at}, (&{sums}[0])[i]);",
        "__syncthreads();",
        *finish,
    ]
    tables = warp_products(c, flipped=True) + TURN + CODE + definitions
    source = frame.kernel(body, t.threads, tables)
    launch = Launch(KernelSource(source), (prod(c.batch) * number, 1, 1), t.threads, sums_bytes(c, t))
    return Lowered((*before, launch), tuple(words.values), a.end, f"{'.'.join(letters(c))} {t}")
