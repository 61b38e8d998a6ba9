"""Integer products by Hopper's warpgroup instructions: a block of threads takes tiles of 128 (15 bits: 192) by 64 sums, one after
another.

One thread brings records of digits to shared memory, blocks of k ahead. Warpgroups of 64 rows each multiply in turn: while one
does, the others put the sums of their block together (`COMBINE` in prelude.py).

Operations: nine s8 products (four at 15 bits) for each of the product's. H200, 2026-11-22, TFLOP/s of bf16 products, digits made
already: 23 bits 164 at 4096 cubed and 173 at 8192, 15 bits 284 and 307. What that took, at 23 bits and 8192: two warpgroups
that multiply at once and wait for each group of digits 138; in turn 132; with P >> 32 by 32-bit instructions in place of an s64
multiplication 153; with the scales in registers before, and the stage handed back after the products, 173. Without anything
behind the products the tensor cores do 190. Tiles of 128 x 128 spill registers.
"""

from __future__ import annotations

from math import prod

from baracuda.formula.integer_products import digits
from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_pitch
from baracuda.lowering.matmul.cuda.factors import small_float_definitions
from baracuda.lowering.matmul.cuda.integers.digits import PLANE, ROWS, SCALES, digit_factors, digits_launch
from baracuda.lowering.matmul.cuda.integers.prelude import COMBINE, WARPGROUPS
from baracuda.lowering.matmul.cuda.integers.product import GROUP, SquareSums, sums_to_shared
from baracuda.lowering.matmul.cuda.integers.product import records as records_of
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tile_place import tile_extents, tile_place
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Threads of a warpgroup.
WARPGROUP = 128


def _stages(count: int, records: int, target: Target) -> int:
    """Stages that fit: records, their scales, and two barriers each."""
    return (target.shared_bytes - 2048) // (records * (count * PLANE + SCALES * 4) + 16)


def lower_warpgroups(c: MatmulProblem, target: Target, *, exchanged: bool) -> Lowered:
    """The digits of both factors, then their product. `exchanged` says that the factors have changed places."""
    words = Words(len(c.tensors), c.epilogue.params)
    count = digits(c.bits)
    # The sums of two digits take fewer registers, and more warpgroups leave each more time to put them together.
    groups, given, taken = {3: (2, 40, 232), 2: (3, 24, 160)}[count]
    threads = WARPGROUP * (groups + 1)
    a, b = digit_factors(c, exchanged=exchanged, left_tile=groups * ROWS, right_tile=ROWS)
    first = digits_launch(c, (a, b), words)
    stages = min(3, _stages(count, groups + 1, target))
    tiles_m, tiles_n = -(-c.m // (groups * ROWS)), -(-c.n // ROWS)
    tiles = prod(c.batch) * tiles_m * tiles_n
    frame, tile = epilogue_frame(c, words), SquareSums(WARPGROUP)
    size = count * PLANE
    records = groups + 1
    stage = records * size
    scales_start = stages * stage
    barriers = scales_start + stages * records * SCALES * 4
    # A warpgroup's finished sums wait for the epilogue in the digits that it alone reads of the last stage.
    pitch = min(sums_pitch(c, tile), size // (4 * ROWS))
    finish, definitions = epilogue(c, frame, tile, thread="thread", pitch=pitch)
    shared = barriers + stages * 16 + 1024
    body = [
        "extern __shared__ unsigned char unaligned[];",
        "unsigned char* const shared = unaligned + (-shared_address(unaligned) & 1023);",
        f"float* const stage_scales = (float*)(shared + {scales_start});",
        f"u64* const full = (u64*)(shared + {barriers}); u64* const empty = full + {stages};",
        "if (threadIdx.x == 0) {",
        f"for (int i = 0; i < {stages}; ++i) {{ start_barrier(full + i, 1); start_barrier(empty + i, {4 * groups}); }}",
        "order_copies();",
        "}",
        "__syncthreads();",
        f"const unsigned tiles = {words.unsigned(tiles)}, blocks = {words.unsigned(a.blocks)};",
        f"const unsigned char* const workspace = (const unsigned char*)W.w[{words.operands}];",
        "unsigned read = 0, parity = 0;",
        "const auto advance = [&] { if (++read == " + str(stages) + ") { read = 0; parity ^= 1; } };",
        f"if (threadIdx.x < {WARPGROUP}) {{",
        f"give_registers<{given}>();",
        "if (threadIdx.x == 0) {",
        "for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {",
        *tile_place(c, words, tiles_m, tiles_n, GROUP, "number"),
        *records_of(a, words, f"{groups} * tile_m"),
        *records_of(b, words, "tile_n"),
        "for (unsigned block = 0; block < blocks; ++block) {",
        "await_phase(empty + read, parity ^ 1);",
        f"unsigned char* const to = shared + read * {stage};",
        f"float* const scales = stage_scales + read * {records * SCALES};",
        f"expect_bytes(full + read, {stage + records * SCALES * 4});",
        *[
            line
            for i, (f, record) in enumerate([*(("a", f"a_record + {g} * blocks") for g in range(groups)), ("b", "b_record")])
            for line in (
                f"const i64 record{i} = {record} + block;",
                f"copy_record(to + {i * size}, {f}_digits + record{i} * {size}, {size}, full + read);",
                f"copy_record(scales + {i * SCALES}, {f}_scales + record{i} * {SCALES}, {SCALES * 4}, full + read);",
            )
        ],
        "advance();",
        "}}}",
        "} else {",
        f"take_registers<{taken}>();",
        f"const int group = threadIdx.x / {WARPGROUP} - 1, thread = threadIdx.x % {WARPGROUP};",
        f"if (group == {groups - 1}) give_turn<{groups}>(group);",
        "const int row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;",
        "for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {",
        *tile_place(c, words, tiles_m, tiles_n, GROUP, "number"),
        f"const i64 m0 = (i64)({groups} * tile_m + group) * {ROWS}, n0 = (i64)tile_n * {ROWS};",
        *tile_extents(c, words, ROWS, ROWS),
        "float sums[32];",
        "#pragma unroll",
        "for (int i = 0; i < 32; ++i) sums[i] = 0;",
        "for (unsigned block = 0; block < blocks; ++block) {",
        "await_phase(full + read, parity);",
        f"const unsigned stage = shared_address(shared) + read * {stage};",
        f"const float* const stage_scale = stage_scales + read * {records * SCALES};",
        f"const Scales scales(stage_scale + group * {SCALES}, stage_scale + {groups * SCALES}, row, column);",
        f"int parts[{count}][32];",
        f"block_sums<{groups}>(parts, matrix(stage + group * {size}), matrix(stage + {groups * size}), group);",
        "if (block + 1 < blocks) {",
        "if (thread % 32 == 0) arrive(empty + read);",
        "advance();",
        "}",
        "if (scales.ordinary) add_blocks<true>(sums, parts, scales);",
        "else add_blocks<false>(sums, parts, scales);",
        "}",
        "warpgroup_barrier(group);",
        f"float* const sums0 = (float*)(shared + read * {stage} + group * {size});",
        *sums_to_shared(c, a, b, words, pitch, 32),
        "warpgroup_barrier(group);",
        *finish,
        "order_copies();",
        "warpgroup_barrier(group);",
        "if (thread % 32 == 0) arrive(empty + read);",
        "advance();",
        "}}",
    ]
    tables = PRODUCTS + COMBINE + WARPGROUPS + ADD_BLOCKS + small_float_definitions(c) + definitions
    source = frame.kernel(body, threads, tables, blocks=1)
    launch = Launch(KernelSource(source), (min(tiles, target.multiprocessors), 1, 1), threads, shared)
    return Lowered(
        (first, launch), tuple(words.values), b.end, f"integers {c.bits} warpgroups {groups * ROWS}x{ROWS} stages{stages}"
    )


ADD_BLOCKS = r"""
// The scales of a thread's rows and columns, in registers before the digits are multiplied.
struct Scales {
  float a[2];
  float2 b[8];
  bool ordinary;
  __device__ __forceinline__ Scales(const float* rows, const float* columns, int row, int column) {
    a[0] = rows[row];
    a[1] = rows[row + 8];
#pragma unroll
    for (int i = 0; i < 8; ++i) b[i] = *(const float2*)(columns + column + i * 8);
    ordinary = plain(*(const float2*)(rows + 64), *(const float2*)(columns + 64));
  }
};
// A block more for the 32 sums of a thread: rows 0 and 8 from its first one, columns 0 and 1 from each eighth.
template <bool PLAIN, int COUNT>
__device__ __forceinline__ void add_blocks(float (&sums)[32], const int (&parts)[COUNT][32], const Scales& scales) {
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const float2 b = scales.b[i / 4];
    sums[i] = add_block<PLAIN>(rounded(parts, i), scales.a[i / 2 % 2], i % 2 ? b.y : b.x, sums[i]);
  }
}
"""
