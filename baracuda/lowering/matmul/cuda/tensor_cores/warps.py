"""Products of 8-bit integers by the tensor-core instructions of a warp, which every GPU from sm_80 on has: a block of threads
takes a tile of sums. All its threads bring lines of both factors to shared memory, some blocks of 128 steps of k ahead, and
multiply.

Bytes: each line of the factors once for every column (row) of tiles that it meets, most of that from L2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.integers.prelude import LOAD_MATRICES, SHARED_ADDRESS
from baracuda.lowering.matmul.cuda.kernel import place_of_block
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tensor_cores.lines import lines_factors, lines_launches
from baracuda.lowering.matmul.cuda.tensor_cores.prelude import LINE_PRODUCTS, LINES, letters, warp_products
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Steps of k that a block has in shared memory at a time.
BLOCK = 128
#: Bytes that a block leaves to the system.
_RESERVED = 1024


@dataclass(frozen=True)
class WarpTile:
    """What a block and a warp take: rows, columns, those of a warp, and stages in shared memory; `resident` blocks to a
    multiprocessor."""

    bm: int
    bn: int
    wm: int
    wn: int
    stages: int
    resident: int = 1
    group: int = 8

    #: Steps of k that a block has in shared memory at a time.
    bk = BLOCK

    @property
    def threads(self) -> int:
        return 32 * (self.bm // self.wm) * (self.bn // self.wn)

    @property
    def stage(self) -> int:
        return (self.bm + self.bn) * BLOCK

    def __str__(self) -> str:
        return f"warps {self.bm}x{self.bn} stages{self.stages}"


#: Rows and columns of a block and of a warp, with the share of the largest one's speed that each has.
_SHAPES = ((128, 128, 64, 32, 1.0), (128, 64, 32, 32, 0.8), (64, 64, 32, 16, 0.6), (64, 32, 16, 16, 0.4))


def warp_tiles(c: MatmulProblem, target: Target) -> list[WarpTile]:
    """The tiles that a product may take, the most promising first."""

    def cost(shape: tuple[int, int, int, int, float]) -> float:
        bm, bn, _, _, speed = shape
        tiles = prod(c.batch) * -(-c.m // bm) * -(-c.n // bn)
        return -(-tiles // target.multiprocessors) * bm * bn / speed

    found = []
    for bm, bn, wm, wn, _ in sorted(_SHAPES, key=cost):
        blocks = prod(c.batch) * -(-c.m // bm) * -(-c.n // bn)
        stage = (bm + bn) * BLOCK
        resident = 1 if blocks <= target.multiprocessors else 2
        stages = min(6, (target.shared_bytes // resident - _RESERVED) // stage)
        if stages < 3:
            resident, stages = 1, min(6, (target.shared_bytes - _RESERVED) // stage)
        found.append(WarpTile(bm, bn, wm, wn, stages, resident))
    return found


def lower_warps(c: MatmulProblem, tile: WarpTile, *, exchanged: bool) -> Lowered | None:
    """The lines of the factors that do not have them, then their product; None where a factor can have none. `exchanged` says
    that the factors have changed places."""
    words, t = Words(len(c.tensors), c.epilogue.params), tile
    factors = lines_factors(c, exchanged=exchanged)
    if factors is None:
        return None
    a, b = factors
    before = lines_launches((a, b), words)
    frame, pitch, across = epilogue_frame(c, words), sums_pitch(c, t), t.bn // t.wn
    finish, definitions = epilogue(c, frame, t)
    place = place_of_block(c, t, words)
    (a_first, a_stride), (b_first, b_stride) = a.first(words, "m0"), b.first(words, "n0")
    body = [
        "extern __shared__ __align__(128) unsigned char shared[];",
        *place,
        f"Lines<{t.bm}, {t.threads}> a({a_first}, {a_stride}, rows, threadIdx.x);",
        f"Lines<{t.bn}, {t.threads}> b({b_first}, {b_stride}, columns, threadIdx.x);",
        "const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;",
        f"const int row = warp / {across} * {t.wm}, column = warp % {across} * {t.wn};",
        f"int sums[{t.wm // 16}][{t.wn // 8}][4];",
        "#pragma unroll",
        f"for (int i = 0; i < {t.wm // 16}; ++i)",
        "#pragma unroll",
        f"for (int j = 0; j < {t.wn // 8}; ++j) sums[i][j][0] = sums[i][j][1] = sums[i][j][2] = sums[i][j][3] = 0;",
        f"const int k = {words.word(c.k)};",
        f"int coming = k, read = 0, write = {t.stages - 1};",
        "const auto fetch = [&](int stage) {",
        f"unsigned char* const to = shared + stage * {t.stage};",
        f"if (coming > 0) {{ a.fetch(to, coming); b.fetch(to + {t.bm * BLOCK}, coming); }}",
        "commit_copies();",
        f"coming -= {BLOCK};",
        "};",
        "#pragma unroll",
        f"for (int stage = 0; stage < {t.stages - 1}; ++stage) fetch(stage);",
        "#pragma unroll 1",
        f"for (int left = k; left > 0; left -= {BLOCK}) {{",
        f"wait_copies<{t.stages - 2}>();",
        "__syncthreads();",
        "fetch(write);",
        f"const unsigned from = shared_address(shared) + read * {t.stage};",
        f"line_products(sums, from + row * {BLOCK}, from + ({t.bm} + column) * {BLOCK}, lane);",
        f"read = read + 1 == {t.stages} ? 0 : read + 1;",
        f"write = write + 1 == {t.stages} ? 0 : write + 1;",
        "}",
        "wait_copies<0>();",
        "__syncthreads();",
        "int* const sums0 = (int*)shared;",
        "#pragma unroll",
        f"for (int i = 0; i < {t.wm // 16}; ++i)",
        "#pragma unroll",
        f"for (int j = 0; j < {t.wn // 8}; ++j)",
        "#pragma unroll",
        "for (int h = 0; h < 2; ++h)",
        f"*(int2*)(sums0 + (row + i * 16 + h * 8 + lane / 4) * {pitch} + column + j * 8 + lane % 4 * 2)"
        " = make_int2(sums[i][j][2 * h], sums[i][j][2 * h + 1]);",
        "__syncthreads();",
        *finish,
    ]
    tables = PRODUCTS + SHARED_ADDRESS + LOAD_MATRICES + LINES + warp_products(c) + LINE_PRODUCTS + definitions
    source = frame.kernel(body, t.threads, tables, blocks=t.resident)
    grid = prod(c.batch) * -(-c.m // t.bm) * -(-c.n // t.bn)
    launch = Launch(KernelSource(source), (grid, 1, 1), t.threads, max(t.stages * t.stage, sums_bytes(c, t)))
    return Lowered((*before, launch), tuple(words.values), max(a.end, b.end), f"{'.'.join(letters(c))} {t}")
