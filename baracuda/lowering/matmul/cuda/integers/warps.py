"""Integer products by the tensor-core instructions of a warp, which every GPU from sm_80 on has: a block of threads takes a tile
of 64 by 64 sums.

One warp brings records of digits to shared memory, as many blocks of k ahead as it has stages; eight warps of 16 by 32 sums
multiply. Two of them share a scheduler, and one multiplies while the other puts the sums of a block together (`COMBINE` in
prelude.py).

Operations: nine s8 products (four at 15 bits) for each of the product's, eight of them to a load of fragments from shared memory.
Registers: 96 of sums, five for the powers of 256 and the total of each of 16 elements. Bytes: each record once for every tile of
the other factor, most of that from L2.
"""

from __future__ import annotations

from math import prod

from baracuda.formula.integer_products import digits
from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_pitch
from baracuda.lowering.matmul.cuda.factors import small_float_definitions
from baracuda.lowering.matmul.cuda.integers.digits import PLANE, ROWS, SCALES, digit_factors, digits_launch
from baracuda.lowering.matmul.cuda.integers.prelude import COMBINE, WARP_INSTRUCTIONS, WARP_RECORDS
from baracuda.lowering.matmul.cuda.integers.product import GROUP, SquareSums, records, sums_to_shared
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tile_place import tile_extents, tile_place
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Warps that multiply, and threads of a block: one warp more brings.
MULTIPLYING, THREADS = 8, 288
#: Stages at most: more than these hide nothing more.
_STAGES = 4


def lower_warps(c: MatmulProblem, target: Target, *, exchanged: bool) -> Lowered:
    """The digits of both factors, then their product. `exchanged` says that the factors have changed places."""
    words = Words(len(c.tensors), c.epilogue.params)
    a, b = digit_factors(c, exchanged=exchanged, left_tile=ROWS, right_tile=ROWS)
    first = digits_launch(c, (a, b), words)
    count = digits(c.bits)
    size = count * PLANE
    stage = 2 * (size + SCALES * 4)
    stages = min(_STAGES, target.shared_bytes // (stage + 16))
    barriers = stages * stage
    tiles_m, tiles_n = -(-c.m // ROWS), -(-c.n // ROWS)
    frame, tile = epilogue_frame(c, words), SquareSums(THREADS)
    finish, definitions = epilogue(c, frame, tile)
    body = [
        "extern __shared__ __align__(128) unsigned char shared[];",
        f"u64* const full = (u64*)(shared + {barriers}); u64* const empty = full + {stages};",
        "if (threadIdx.x == 0) {",
        f"for (int i = 0; i < {stages}; ++i) {{ start_barrier(full + i, 32); start_barrier(empty + i, {MULTIPLYING}); }}",
        "}",
        "__syncthreads();",
        f"const unsigned number = blockIdx.x, blocks = {words.unsigned(a.blocks)};",
        *tile_place(c, words, tiles_m, tiles_n, GROUP, "number"),
        f"const i64 m0 = (i64)tile_m * {ROWS}, n0 = (i64)tile_n * {ROWS};",
        *tile_extents(c, words, ROWS, ROWS),
        "const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;",
        "const int row = warp % 4 * 16 + lane / 4, column = warp / 4 * 32 + lane % 4 * 2;",
        "float sums[16];",
        "#pragma unroll",
        "for (int i = 0; i < 16; ++i) sums[i] = 0;",
        "unsigned at = 0, parity = 0;",
        "const auto advance = [&] { if (++at == " + str(stages) + ") { at = 0; parity ^= 1; } };",
        f"if (warp == {MULTIPLYING}) {{",
        f"const unsigned char* const workspace = (const unsigned char*)W.w[{words.operands}];",
        *records(a, words, "tile_m"),
        *records(b, words, "tile_n"),
        "for (unsigned block = 0; block < blocks; ++block) {",
        "await_phase(empty + at, parity ^ 1);",
        f"unsigned char* const to = shared + at * {stage};",
        *[
            line
            for i, f in enumerate("ab")
            for line in (
                f"const i64 record_{f} = {f}_record + block;",
                f"copy_pieces<{size}>(to + {i * size}, {f}_digits + record_{f} * {size}, lane);",
                f"copy_pieces<{SCALES * 4}>(to + {2 * size + i * SCALES * 4}, {f}_scales + record_{f} * {SCALES}, lane);",
            )
        ],
        "arrive_copied(full + at);",
        "advance();",
        "}",
        "} else {",
        "for (unsigned block = 0; block < blocks; ++block) {",
        "await_phase(full + at, parity);",
        f"const unsigned char* const from = shared + at * {stage};",
        f"int parts[{count}][16];",
        f"block_sums(parts, shared_address(from) + warp % 4 * 2048, shared_address(from) + {size} + warp / 4 * 4096, lane);",
        f"const float* const scales_a = (const float*)(from + {2 * size}); const float* const scales_b = scales_a + {SCALES};",
        "const float a0 = scales_a[row], a1 = scales_a[row + 8];",
        "if (plain(*(const float2*)(scales_a + 64), *(const float2*)(scales_b + 64)))",
        "add_blocks<true>(sums, parts, a0, a1, scales_b + column);",
        "else add_blocks<false>(sums, parts, a0, a1, scales_b + column);",
        "__syncwarp();",
        "if (lane == 0) arrive(empty + at);",
        "advance();",
        "}}",
        "__syncthreads();",
        "float* const sums0 = (float*)shared;",  # in the place of the stages, of which each is large enough
        f"if (warp < {MULTIPLYING}) {{",
        *sums_to_shared(c, a, b, words, sums_pitch(c, tile), 16),
        "}",
        "__syncthreads();",
        *finish,
    ]
    tables = PRODUCTS + COMBINE + WARP_INSTRUCTIONS + WARP_RECORDS + small_float_definitions(c) + definitions
    source = frame.kernel(body, THREADS, tables, blocks=1)
    launch = Launch(KernelSource(source), (prod(c.batch) * tiles_m * tiles_n, 1, 1), THREADS, barriers + stages * 16)
    return Lowered((first, launch), tuple(words.values), b.end, f"integers {c.bits} warps 64x64 stages{stages}")
