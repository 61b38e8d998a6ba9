"""Products by Hopper's warpgroup instructions: a block of threads takes tiles of `64 * groups` by `columns` sums, one after
another.

One warpgroup brings lines of both factors to shared memory, some blocks of 128 bytes along k ahead, also those of the next tile
while the sums of this one go through the epilogue. The others multiply 64 rows each. A sum of floats is one chain of
instructions of 16 steps of k, the last of them the one in which k ends, as in `tensor_core_chain.py`.

Bytes: each line of the factors once for every column (row) of tiles that it meets, most of that from L2. H200, 2026-11-23, s8: at
8192 cubed tiles of 128x192 reach 1405 TOP/s, of 128x256 1320, of 128x128 1352, two blocks of 128x128 to a multiprocessor, so that
one multiplies while the other writes results, 1173: three stages each are too few. At 4096 cubed 1010, 1069, 1095 and 938.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.integers.prelude import SHARED_ADDRESS, WARPGROUP_BARRIER, WARPGROUP_INSTRUCTIONS
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tensor_cores.lines import lines_factors, lines_launches
from baracuda.lowering.matmul.cuda.tensor_cores.prelude import LINES, letters, warpgroup_products
from baracuda.lowering.matmul.cuda.tile_place import tile_extents, tile_place
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Threads of a warpgroup, its rows, and bytes along k of a block.
WARPGROUP, ROWS, BLOCK = 128, 64, 128
#: Bytes along k of an instruction.
_STEP = 32
#: Row tiles that run side by side before the next columns.
_GROUP = 8
#: Stages at most.
_STAGES = 12
#: Columns of the sums that a warpgroup takes through the epilogue at once.
_PART = 32


@dataclass(frozen=True)
class WarpgroupTile:
    """Warpgroups that multiply 64 rows each, and columns of the tile."""

    groups: int
    columns: int

    @property
    def rows(self) -> int:
        return self.groups * ROWS

    @property
    def stage(self) -> int:
        """Bytes of a block of k of both factors."""
        return (self.rows + self.columns) * BLOCK

    def tiles(self, c: MatmulProblem) -> int:
        return prod(c.batch) * -(-c.m // self.rows) * -(-c.n // self.columns)

    def cost(self, c: MatmulProblem, multiprocessors: int) -> float:
        """About how many cycles a product takes: for each block of k the longer of the tensor cores' time and that in which the
        lines come from L2, and for each round of tiles a start and the time of the results."""
        each = max(self.groups * max(self.columns * 2, 64), self.stage / 59)
        blocks = -(-c.k * c.a[0].kind.itemsize // BLOCK)
        return -(-self.tiles(c) // multiprocessors) * (each * blocks + 2000 + 0.8 * self.rows * self.columns)


TILES = (
    *(WarpgroupTile(2, columns) for columns in (256, 192, 128, 64)),
    *(WarpgroupTile(1, columns) for columns in (256, 128, 64, 32, 16, 8)),
)


@dataclass(frozen=True)
class _PartSums:
    """What the epilogue sees of a warpgroup's sums."""

    bn: int
    bm: int = ROWS
    threads: int = WARPGROUP


#: A product, whether its factors have changed places, and its tile.
Choice: TypeAlias = tuple[MatmulProblem, bool, WarpgroupTile]


def warpgroup_choices(c: MatmulProblem, flipped: MatmulProblem, target: Target) -> list[Choice]:
    """The tiles that a product may take, given also with its factors exchanged, the most promising first."""
    rank = len(c.batch)

    def cost(choice: Choice) -> float:
        way, _, tile = choice
        result = way.operands[-len(way.epilogue.outputs)]
        across = result.steps(rank) == 1 != result.steps(rank + 1)  # results are not written along their lines
        return tile.cost(way, target.multiprocessors) * (1.1 if across else 1)

    best = [min(((c, False, tile), (flipped, True, tile)), key=cost) for tile in TILES]
    return sorted(best, key=cost)


def lower_warpgroups(c: MatmulProblem, tile: WarpgroupTile, target: Target, *, exchanged: bool) -> Lowered | None:
    """The lines of the factors that do not have them, then their product; None where a factor can have none. `exchanged` says
    that the factors have changed places."""
    words, t = Words(len(c.tensors), c.epilogue.params), tile
    factors, kind = lines_factors(c, exchanged=exchanged), COMPUTE_TYPE[c.accumulator]
    if factors is None:
        return None
    a, b = factors
    before = lines_launches((a, b), words)
    part = _PartSums(min(_PART, t.columns))
    sums_start = t.groups * sums_bytes(c, part)
    stages = min(_STAGES, (target.shared_bytes - 1024 - sums_start) // (t.stage + 16))
    barriers = stages * t.stage + sums_start
    tiles_m, tiles_n = -(-c.m // t.rows), -(-c.n // t.columns)
    tiles = prod(c.batch) * tiles_m * tiles_n
    frame, pitch = epilogue_frame(c, words), sums_pitch(c, part)
    finish, definitions = epilogue(c, frame, part, thread="thread")
    exchange = t.groups * t.columns > 256
    a_first, a_stride = a.first(words, "m0")
    b_first, b_stride = b.first(words, "n0")
    stage = [
        "await_phase(full + read, parity);",
        "order_copies();",
        f"const unsigned stage = shared_address(shared) + read * {t.stage};",
        f"const unsigned own_a = matrix(stage + group * {ROWS * BLOCK}), own_b = matrix(stage + {t.rows * BLOCK});",
    ]
    body = [
        "extern __shared__ unsigned char unaligned[];",
        "unsigned char* const shared = unaligned + (-shared_address(unaligned) & 1023);",
        f"u64* const full = (u64*)(shared + {barriers}); u64* const empty = full + {stages};",
        "if (threadIdx.x == 0) {",
        f"for (int i = 0; i < {stages}; ++i) {{",
        f"start_barrier(full + i, {WARPGROUP}); start_barrier(empty + i, {4 * t.groups});",
        "}",
        "order_copies();",
        "}",
        "__syncthreads();",
        f"const unsigned tiles = {words.unsigned(tiles)};",
        f"const int k = {words.word(c.k * a.size)};",
        "unsigned read = 0, parity = 0;",
        "const auto advance = [&] { if (++read == " + str(stages) + ") { read = 0; parity ^= 1; } };",
        f"if (threadIdx.x < {WARPGROUP}) {{",
        *(["give_registers<40>();"] if exchange else ()),
        "for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {",
        *tile_place(c, words, tiles_m, tiles_n, _GROUP, "number"),
        f"const i64 m0 = (i64)tile_m * {t.rows}, n0 = (i64)tile_n * {t.columns};",
        *tile_extents(c, words, t.rows, t.columns),
        f"Lines<{t.rows}, {WARPGROUP}> a({a_first}, {a_stride}, rows, threadIdx.x);",
        f"Lines<{t.columns}, {WARPGROUP}> b({b_first}, {b_stride}, columns, threadIdx.x);",
        "#pragma unroll 1",
        f"for (int left = k; left > 0; left -= {BLOCK}) {{",
        "await_phase(empty + read, parity ^ 1);",
        f"unsigned char* const to = shared + read * {t.stage};",
        "a.fetch(to, left);",
        f"b.fetch(to + {t.rows * BLOCK}, left);",
        "arrive_copied(full + read);",
        "advance();",
        "}}",
        "} else {",
        *(["take_registers<232>();"] if exchange else ()),
        f"const int group = threadIdx.x / {WARPGROUP} - 1, thread = threadIdx.x % {WARPGROUP};",
        "const int row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;",
        f"{kind}* const sums0 = ({kind}*)(shared + {stages * t.stage}) + group * {ROWS * pitch};",
        "for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {",
        f"{kind} sums[{t.columns // 2}];",
        "#pragma unroll",
        f"for (int i = 0; i < {t.columns // 2}; ++i) sums[i] = 0;",
        "unsigned last = 0;",
        "int left = k;",
        "const auto release = [&] { if (left < k && thread % 32 == 0) arrive(empty + last); };",
        "#pragma unroll 1",
        f"for (; left >= {BLOCK}; left -= {BLOCK}) {{",
        *stage,
        "warpgroup_fence();",
        *[f"multiply_lines<{i}>(sums, own_a, own_b);" for i in range(BLOCK // _STEP)],
        "warpgroup_commit();",
        "warpgroup_wait<1>();",
        "release();",
        "last = read;",
        "advance();",
        "}",
        "if (left > 0) {",  # zeros behind the end of k are no links of a chain
        *stage,
        "#pragma unroll 1",
        f"for (int step = 0; step * {_STEP} < left; ++step) {{",
        "warpgroup_fence();",
        f"multiply_lines<0>(sums, own_a + step * {_STEP // 16}, own_b + step * {_STEP // 16});",
        "warpgroup_commit();",
        "warpgroup_wait<0>();",
        "}",
        "release();",
        "last = read;",
        "advance();",
        "}",
        "warpgroup_wait<0>();",
        "if (thread % 32 == 0) arrive(empty + last);",
        *tile_place(c, words, tiles_m, tiles_n, _GROUP, "number"),
        f"const i64 m0 = (i64)tile_m * {t.rows} + group * {ROWS};",
        "#pragma unroll 1",
        f"for (int part = 0; part < {t.columns // part.bn}; ++part) {{",
        f"const i64 n0 = (i64)tile_n * {t.columns} + part * {part.bn};",
        *tile_extents(c, words, ROWS, part.bn),
        "if (rows <= 0 || columns <= 0) break;",
        "warpgroup_barrier(group);",
        "#pragma unroll",
        f"for (int q = 0; q < {t.columns // part.bn}; ++q) if (q == part) {{",
        "#pragma unroll",
        f"for (int i = 0; i < {part.bn // 2}; i += 2)",
        f"*(Vec<{kind}, 2>*)(sums0 + (row + i / 2 % 2 * 8) * {pitch} + column + i / 4 * 8)"
        f" = Vec<{kind}, 2>{{{{sums[q * {part.bn // 2} + i], sums[q * {part.bn // 2} + i + 1]}}}};",
        "}",
        "warpgroup_barrier(group);",
        *finish,
        "}",
        "}}",
    ]
    instructions = SHARED_ADDRESS + WARPGROUP_INSTRUCTIONS + WARPGROUP_BARRIER + warpgroup_products(c, t.columns)
    threads = WARPGROUP * (t.groups + 1)
    source = frame.kernel(body, threads, PRODUCTS + instructions + LINES + definitions, blocks=1)
    launch = Launch(KernelSource(source), (min(tiles, target.multiprocessors), 1, 1), threads, barriers + stages * 16 + 1024)
    schedule = f"{'.'.join(letters(c))} warpgroups {t.rows}x{t.columns} stages{stages}"
    return Lowered((*before, launch), tuple(words.values), max(a.end, b.end), schedule)
