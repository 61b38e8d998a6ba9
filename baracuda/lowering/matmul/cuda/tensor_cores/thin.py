"""Products of 8-bit integers of few rows: what counts is how fast the wide factor arrives, so it goes straight to the registers
of tensor-core instructions.

16 columns of the wide factor are the rows of an instruction and 8 thin rows its columns. The order of k is free: a thread reads
16 bytes of two columns of each 64 steps, which are the registers of two instructions, and the same of its thin row, which comes
from L1. The `ways` warps of a group take steps in turn, and their sums meet in shared memory.

Bytes: the wide factor once; the thin one once for every 16 columns, from L1 and L2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.tensor_cores.lines import lines_factors, lines_launches
from baracuda.lowering.matmul.cuda.tensor_cores.prelude import THIN as CODE
from baracuda.lowering.matmul.cuda.tensor_cores.prelude import letters, warp_products
from baracuda.lowering.matmul.cuda.tile_place import tile_extents
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Target, Words, unravel
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Rows of a thin product at most.
THIN = 32
#: Columns and thin rows of an instruction, and steps of k of a thread's two.
_COLUMNS, _ROWS, _STEPS = 16, 8, 64
#: Warps of a block, and as many as a multiprocessor should have.
_WARPS, _BUSY = 8, 24


@dataclass(frozen=True)
class ThinTile:
    """What a block takes: `tiles` times 8 rows, and 16 columns for each of its `groups` of `ways` warps. A thread has `ahead`
    steps on their way at once."""

    tiles: int
    groups: int
    ways: int
    ahead: int

    @property
    def bm(self) -> int:
        return self.tiles * _ROWS

    @property
    def bn(self) -> int:
        return self.groups * _COLUMNS

    @property
    def threads(self) -> int:
        return 32 * self.groups * self.ways

    def __str__(self) -> str:
        return f"thin {self.bm}x{self.bn} ways{self.ways} ahead{self.ahead}"


def thin_tile(c: MatmulProblem, target: Target) -> ThinTile:
    """The tile of a thin product: enough warps to keep memory busy, as far as k has steps for them."""
    tiles = next(t for t in (1, 2, 4) if t * _ROWS >= c.m)
    ahead = 4 if tiles < 4 else 2
    groups, ways = prod(c.batch) * -(-c.n // _COLUMNS), 1
    while ways < 2 * _WARPS and ways * groups < _BUSY * target.multiprocessors and ways * ahead * _STEPS < c.k:
        ways *= 2
    return ThinTile(tiles, max(1, _WARPS // ways), ways, ahead)


def lower_thin(c: MatmulProblem, target: Target, *, exchanged: bool) -> Lowered | None:
    """The kernel of a product of at most `THIN` rows, behind a pass for a thin factor that is not in lines; None where the wide
    one is not. `exchanged` says that the factors have changed places."""
    words, t = Words(len(c.tensors), c.epilogue.params), thin_tile(c, target)
    factors = lines_factors(c, exchanged=exchanged)
    if factors is None or factors[1].start is not None:
        return None
    a, b = factors
    before = lines_launches((a,), words)
    frame, pitch = epilogue_frame(c, words), sums_pitch(c, t)
    finish, definitions = epilogue(c, frame, t)
    across = -(-c.n // t.bn)
    at = f"(i / 4 * {_ROWS} + lane % 4 * 2 + i % 2) * {pitch} + column + lane / 4 + i / 2 % 2 * 8"
    a_lines, b_lines = ", ".join((*a.first(words, "m0"), "rows")), ", ".join((*b.first(words, "n0"), "columns"))
    body = [
        "extern __shared__ __align__(16) unsigned char shared[];",
        f"const unsigned product = divide(blockIdx.x, {words.divisor(across)});",
        f"const i64 m0 = 0, n0 = (i64)(blockIdx.x - product * {words.unsigned(across)}) * {t.bn};",
        *(unravel("product", c.batch, words, "c", wide=False) if c.batch else ()),
        *tile_extents(c, words, t.bm, t.bn),
        "int* const sums0 = (int*)shared;",
        f"for (int i = threadIdx.x; i < {t.bm * pitch}; i += {t.threads}) sums0[i] = 0;",
        "__syncthreads();",
        "const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;",
        f"const int group = warp / {t.ways}, way = warp % {t.ways}, column = group * {_COLUMNS};",
        f"int sums[{t.tiles}][4];",
        "#pragma unroll",
        f"for (int i = 0; i < {t.tiles}; ++i) sums[i][0] = sums[i][1] = sums[i][2] = sums[i][3] = 0;",
        f"thin_product<{t.tiles}, {t.ahead}, {t.ways}>(sums, {a_lines}, {b_lines}, column, {words.signed(c.k)}, way, lane);",
        "#pragma unroll",
        f"for (int i = 0; i < {4 * t.tiles}; ++i) atomicAdd(sums0 + {at}, sums[i / 4][i % 4]);",
        "__syncthreads();",
        *finish,
    ]
    source = frame.kernel(body, t.threads, warp_products(c, flipped=True) + CODE + definitions)
    launch = Launch(KernelSource(source), (prod(c.batch) * across, 1, 1), t.threads, sums_bytes(c, t))
    return Lowered((*before, launch), tuple(words.values), a.end, f"{'.'.join(letters(c))} {t}")
