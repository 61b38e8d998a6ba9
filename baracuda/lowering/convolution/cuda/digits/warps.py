"""Convolutions in integers by the tensor-core instructions of a warp, which every GPU from sm_80 on has: a block of threads takes
a tile of 64 windows by 64 columns.

As `lowering/matmul/cuda/integers/warps.py`, but that the warp which brings tiles gathers the lines of x's digits.
"""

from __future__ import annotations

from math import prod

from baracuda.formula.integer_products import digits
from baracuda.lowering.convolution.cuda.digits.prelude import WINDOWS
from baracuda.lowering.convolution.cuda.digits.windows import digit_windows
from baracuda.lowering.convolution.cuda.parts import join_parts, parts_end, store_part
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_pitch
from baracuda.lowering.matmul.cuda.factors import small_float_definitions
from baracuda.lowering.matmul.cuda.integers.digits import PLANE, ROWS, SCALES, digits_launch
from baracuda.lowering.matmul.cuda.integers.prelude import COMBINE, WARP_INSTRUCTIONS, WARP_RECORDS
from baracuda.lowering.matmul.cuda.integers.product import GROUP, SquareSums
from baracuda.lowering.matmul.cuda.integers.warps import MULTIPLYING, THREADS
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tile_place import tile_extents, tile_place
from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Stages at most: more than these hide nothing more.
_STAGES = 4


def lower_warps(p: ConvolutionProblem, target: Target) -> Lowered:
    """The digits of both factors, then their product. Raises `UnsupportedError` as `digit_windows` does."""
    words = Words(len(p.tensors), p.epilogue.params)
    count = digits(p.bits)
    v = digit_windows(p)
    c = v.tiled
    first = digits_launch(c, (v.x, v.w), words)
    size, scales = count * PLANE, (64 + SCALES) * 4
    stage = 2 * size + scales
    stages = min(_STAGES, target.shared_bytes // (stage + 16))
    barriers = stages * stage
    tiles_m, tiles_n = -(-c.m // ROWS), v.w.tiles
    frame, tile = epilogue_frame(v.finished, words), SquareSums(THREADS)
    finish, definitions = epilogue(v.finished, frame, tile)
    bring = [
        "#pragma unroll 1",
        "for (unsigned block = 0; block < blocks; ++block) {",
        "await_phase(empty + at, parity ^ 1);",
        f"unsigned char* const to = shared + at * {stage};",
        f"float* const scales = (float*)(to + {2 * size});",
        f"const i64 record = {v.weight_record(words)};",
        f"copy_pieces<{size}>(to + {size}, b_digits + record * {size}, lane);",
        f"copy_pieces<{SCALES * 4}>(scales + 64, b_scales + record * {SCALES}, lane);",
        *v.copies(2, 1, "to", "scales"),
        "arrive_copied(full + at);",
        "advance();",
        "}",
    ]
    end = [
        "__syncthreads();",
        "float* const sums0 = (float*)shared;",  # in the place of the stages, of which each is large enough
        f"if (warp < {MULTIPLYING}) {{",
        *v.sums_to_shared(sums_pitch(v.finished, tile), 16),
        "}",
        "__syncthreads();",
        *v.epilogue(words, finish),
    ]
    if v.parts:
        end = [f"if (warp < {MULTIPLYING}) {{", *store_part(v, words, v.w.end, 16), "}"]
    body = [
        "extern __shared__ __align__(128) unsigned char shared[];",
        f"u64* const full = (u64*)(shared + {barriers}); u64* const empty = full + {stages};",
        "if (threadIdx.x == 0) {",
        f"for (int i = 0; i < {stages}; ++i) {{ start_barrier(full + i, 32); start_barrier(empty + i, {MULTIPLYING}); }}",
        "}",
        "__syncthreads();",
        "const unsigned number = blockIdx.x;",
        *v.places(words),
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
        "constexpr int bringing = 0;",
        *(v.taps_of_tile(words) if v.parts else ()),
        *v.first_positions(words, 2, 1),
        *v.each_tap(words, 2, 1, bring),
        "} else {",
        *v.taps_of_tile(words),
        "const unsigned terms = (last_tap - first_tap) * blocks;",
        "for (unsigned block = 0; block < terms; ++block) {",
        "await_phase(full + at, parity);",
        f"const unsigned char* const from = shared + at * {stage};",
        f"const float* const row_scales = (const float*)(from + {2 * size});",
        "const WindowScales<4> scales(row_scales, row_scales + 64, row, column);",
        f"int parts[{count}][16];",
        f"block_sums(parts, shared_address(from) + warp % 4 * 2048, shared_address(from) + {size} + warp / 4 * 4096, lane);",
        f"add_windows<{count}, 4>(sums, parts, scales);",
        "__syncwarp();",
        "if (lane == 0) arrive(empty + at);",
        "advance();",
        "}}",
        *end,
    ]
    steps = WARP_RECORDS.replace("k < 4", f"k < {v.steps}")
    tables = (
        PRODUCTS + COMBINE + WARP_INSTRUCTIONS + steps + WINDOWS + small_float_definitions(c) + v.unusual(words) + definitions
    )
    source = frame.kernel(body, THREADS, tables, blocks=1)
    launch = Launch(KernelSource(source), (prod(c.batch) * tiles_m * tiles_n, 1, 1), THREADS, barriers + stages * 16)
    launches = [first, launch]
    if v.parts:
        launches.append(join_parts(v, words, v.w.end, v.unusual(words), v.anew("total")))
    return Lowered(
        tuple(launches), tuple(words.values), parts_end(v, v.w.end), f"integers {p.bits} windows warps 64x64 stages{stages}"
    )
