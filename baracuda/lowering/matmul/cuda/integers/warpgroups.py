"""Integer products by Hopper's warpgroup instructions: a block of threads takes tiles of 128 by 64 sums, one after another.

One warp brings records of digits to shared memory, `STAGES` blocks of k ahead; two warpgroups of 64 rows each multiply, and one
does so while the other puts the sums of a block together (`COMBINE` in prelude.py).

Operations: nine s8 products (four at 15 bits) for each of the product's. An H200 does 1,713 TOP/s of these tiles without what
follows a block (2026-11-22), and 135 TFLOP/s of 23-bit products of 4096 cubed with it. Tiles of 128 x 128 spill registers (75),
of 128 x 96 did 118.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from baracuda.formula.integer_products import digits
from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.factors import small_float_definitions
from baracuda.lowering.matmul.cuda.integers.digits import PLANE, ROWS, SCALES, digit_factors, digits_launch
from baracuda.lowering.matmul.cuda.integers.prelude import COMBINE, WARPGROUPS
from baracuda.lowering.matmul.cuda.integers.product import records, sums_to_shared, tile_extents, tile_place
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Threads of a warpgroup, and of a block: one warpgroup brings, two multiply.
WARPGROUP, THREADS = 128, 384


@dataclass(frozen=True)
class WarpgroupSums:
    """What the epilogue sees: the sums of one warpgroup."""

    bm: int = ROWS
    bn: int = ROWS
    threads: int = WARPGROUP


def _stages(count: int, target: Target) -> int:
    """Stages that fit: two records of a, one of b, their scales, and two barriers each."""
    return (target.shared_bytes - 2048) // (3 * (count * PLANE + SCALES * 4) + 16)


def lower_warpgroups(c: MatmulProblem, target: Target, *, exchanged: bool) -> Lowered:
    """The digits of both factors, then their product. `exchanged` says that the factors have changed places."""
    words = Words(len(c.tensors), c.epilogue.params)
    a, b = digit_factors(c, exchanged=exchanged, left_tile=2 * ROWS, right_tile=ROWS)
    first = digits_launch(c, (a, b), words)
    count = digits(c.bits)
    stages = min(3, _stages(count, target))
    tiles_m, tiles_n = -(-c.m // (2 * ROWS)), -(-c.n // ROWS)
    tiles = prod(c.batch) * tiles_m * tiles_n
    frame, tile = epilogue_frame(c, words), WarpgroupSums()
    finish, definitions = epilogue(c, frame, tile, thread="thread")
    size = count * PLANE
    stage = 3 * size
    scales_start = stages * stage
    barriers = scales_start + stages * 3 * SCALES * 4
    # Where a warpgroup's finished sums wait for the epilogue: in the digits that it alone reads of the last stage, if they fit.
    needed = sums_bytes(c, tile)
    sums_start = f"read * {stage} + group * {size}" if needed <= size else f"{barriers + stages * 16} + group * {needed}"
    shared = barriers + stages * 16 + 1024 + (0 if needed <= size else 2 * needed)
    body = [
        "extern __shared__ unsigned char unaligned[];",
        "unsigned char* const shared = unaligned + (-shared_address(unaligned) & 1023);",
        f"float* const stage_scales = (float*)(shared + {scales_start});",
        f"u64* const full = (u64*)(shared + {barriers}); u64* const empty = full + {stages};",
        "if (threadIdx.x == 0) {",
        f"for (int i = 0; i < {stages}; ++i) {{ start_barrier(full + i, 1); start_barrier(empty + i, 2); }}",
        "order_copies();",
        "}",
        "__syncthreads();",
        f"const unsigned tiles = {words.unsigned(tiles)}, blocks = {words.unsigned(a.blocks)};",
        f"const unsigned char* const workspace = (const unsigned char*)W.w[{words.operands}];",
        "unsigned read = 0, parity = 0;",
        "const auto advance = [&] { if (++read == " + str(stages) + ") { read = 0; parity ^= 1; } };",
        f"if (threadIdx.x < {WARPGROUP}) {{",
        "give_registers<40>();",
        "if (threadIdx.x == 0) {",
        "for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {",
        *tile_place(c, words, tiles_m, tiles_n),
        *records(a, words, "2 * tile_m"),
        *records(b, words, "tile_n"),
        "for (unsigned block = 0; block < blocks; ++block) {",
        "await_phase(empty + read, parity ^ 1);",
        f"unsigned char* const to = shared + read * {stage};",
        f"float* const scales = stage_scales + read * {3 * SCALES};",
        f"expect_bytes(full + read, {stage + 3 * SCALES * 4});",
        *[
            line
            for i, (f, record) in enumerate((("a", "a_record"), ("a", "a_record + blocks"), ("b", "b_record")))
            for line in (
                f"const i64 record{i} = {record} + block;",
                f"copy_record(to + {i * size}, {f}_digits + record{i} * {size}, {size}, full + read);",
                f"copy_record(scales + {i * SCALES}, {f}_scales + record{i} * {SCALES}, {SCALES * 4}, full + read);",
            )
        ],
        "advance();",
        "}}}",
        "} else {",
        "take_registers<232>();",
        f"const int group = threadIdx.x / {WARPGROUP} - 1, thread = threadIdx.x % {WARPGROUP};",
        "if (group == 1) give_turn(1);",
        "const int row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;",
        "for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {",
        *tile_place(c, words, tiles_m, tiles_n),
        f"const i64 m0 = (i64)(2 * tile_m + group) * {ROWS}, n0 = (i64)tile_n * {ROWS};",
        *tile_extents(c, words, ROWS, ROWS),
        "float sums[32];",
        "#pragma unroll",
        "for (int i = 0; i < 32; ++i) sums[i] = 0;",
        "for (unsigned block = 0; block < blocks; ++block) {",
        "await_phase(full + read, parity);",
        f"const unsigned stage = shared_address(shared) + read * {stage};",
        f"int parts[{count}][32];",
        f"block_sums(parts, matrix(stage + group * {count * PLANE}), matrix(stage + {2 * count * PLANE}), group);",
        f"const float* const scales_a = stage_scales + (read * 3 + group) * {SCALES};",
        f"const float* const scales_b = stage_scales + (read * 3 + 2) * {SCALES};",
        "const float a0 = scales_a[row], a1 = scales_a[row + 8];",
        "if (plain(*(const float2*)(scales_a + 64), *(const float2*)(scales_b + 64)))",
        "add_blocks<true>(sums, parts, a0, a1, scales_b + column);",
        "else add_blocks<false>(sums, parts, a0, a1, scales_b + column);",
        "if (block + 1 < blocks) {",
        "if (thread == 0) arrive(empty + read);",
        "advance();",
        "}}",
        "warpgroup_barrier(group);",
        f"float* const sums0 = (float*)(shared + {sums_start});",
        *sums_to_shared(c, a, b, words, sums_pitch(c, tile), 32),
        "warpgroup_barrier(group);",
        *finish,
        "order_copies();",
        "warpgroup_barrier(group);",
        "if (blocks) {",
        "if (thread == 0) arrive(empty + read);",
        "advance();",
        "}",
        "}}",
    ]
    tables = PRODUCTS + COMBINE + WARPGROUPS + small_float_definitions(c) + definitions
    source = frame.kernel(body, THREADS, tables, blocks=1)
    launch = Launch(KernelSource(source), (min(tiles, target.multiprocessors), 1, 1), THREADS, shared)
    return Lowered((first, launch), tuple(words.values), b.end, f"integers {c.bits} warpgroups 128x64 stages{stages}")
