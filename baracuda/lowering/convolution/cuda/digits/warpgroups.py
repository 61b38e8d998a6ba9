"""Convolutions in integers by Hopper's warpgroup instructions: a block of threads takes tiles of 128 (15 bits: 192) windows by 64
columns, one after another.

As `lowering/matmul/cuda/integers/warpgroups.py`, but that four warps gather the lines of digits which the windows meet at a tap.
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
from baracuda.lowering.matmul.cuda.integers.prelude import COMBINE, WARPGROUPS
from baracuda.lowering.matmul.cuda.integers.product import GROUP, SquareSums
from baracuda.lowering.matmul.cuda.integers.warpgroups import WARPGROUP
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tile_place import tile_extents, tile_place
from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.runtime.program import KernelSource, Launch, Lowered


def lower_warpgroups(p: ConvolutionProblem, target: Target) -> Lowered:
    """The digits of both factors, then their product. Raises `UnsupportedError` as `digit_windows` does."""
    words = Words(len(p.tensors), p.epilogue.params)
    count = digits(p.bits)
    groups, given, taken = {3: (2, 56, 224), 2: (3, 56, 152)}[count]
    v = digit_windows(p)
    c = v.tiled
    threads, chunks = WARPGROUP * (groups + 1), groups * ROWS // 32
    first = digits_launch(c, (v.x, v.w), words)
    size, scales = count * PLANE, (groups * 64 + SCALES) * 4
    stage = (groups + 1) * size
    stages = min(3, (target.shared_bytes - 2048) // (stage + scales + 16))
    tiles_m, tiles_n = -(-c.m // (groups * ROWS)), v.w.tiles
    tiles = prod(c.batch) * tiles_m * tiles_n
    scales_start = stages * stage
    barriers = scales_start + stages * scales
    frame, tile = epilogue_frame(v.finished, words), SquareSums(WARPGROUP)
    pitch = min(sums_pitch(v.finished, tile), size // (4 * ROWS))
    finish, definitions = epilogue(v.finished, frame, tile, thread="thread", pitch=pitch)
    bring = [
        "#pragma unroll 1",
        "for (unsigned block = 0; block < blocks; ++block) {",
        "await_phase(empty + read, parity ^ 1);",
        f"unsigned char* const to = shared + read * {stage};",
        f"float* const scales = stage_scales + read * {scales // 4};",
        "if (threadIdx.x == 0) {",
        f"expect_bytes(full + read, {size + SCALES * 4});",
        f"const i64 record = {v.weight_record(words)};",
        f"copy_record(to + {groups * size}, b_digits + record * {size}, {size}, full + read);",
        f"copy_record(scales + {groups * 64}, b_scales + record * {SCALES}, {SCALES * 4}, full + read);",
        "}",
        *v.copies(chunks, 4, "to", "scales"),
        "arrive_copied(full + read);",
        "advance();",
        "}",
    ]
    end = [
        "warpgroup_barrier(group);",
        f"float* const sums0 = (float*)(shared + read * {stage} + group * {size});",
        *v.sums_to_shared(pitch, 32),
        "warpgroup_barrier(group);",
        *v.epilogue(words, finish),
        "order_copies();",
        "warpgroup_barrier(group);",
    ]
    release = ["if (thread % 32 == 0) arrive(empty + read);", "advance();"]
    if v.parts:
        in_loop, end = release, store_part(v, words, v.w.end, 32)
    else:  # sums pass through the last stage
        in_loop, end = ["if (block + 1 < terms) {", *release, "}"], [*end, *release]
    body = [
        "extern __shared__ unsigned char unaligned[];",
        "unsigned char* const shared = unaligned + (-shared_address(unaligned) & 1023);",
        f"float* const stage_scales = (float*)(shared + {scales_start});",
        f"u64* const full = (u64*)(shared + {barriers}); u64* const empty = full + {stages};",
        "if (threadIdx.x == 0) {",
        f"for (int i = 0; i < {stages}; ++i) {{",
        f"start_barrier(full + i, {WARPGROUP + 1}); start_barrier(empty + i, {4 * groups});",
        "}",
        "order_copies();",
        "}",
        "__syncthreads();",
        f"const unsigned tiles = {words.unsigned(tiles)};",
        *v.places(words),
        "unsigned read = 0, parity = 0;",
        "const auto advance = [&] { if (++read == " + str(stages) + ") { read = 0; parity ^= 1; } };",
        f"if (threadIdx.x < {WARPGROUP}) {{",
        f"give_registers<{given}>();",
        "const int bringing = threadIdx.x / 32, lane = threadIdx.x % 32;",
        "#pragma unroll 1",
        "for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {",
        *tile_place(c, words, tiles_m, tiles_n, GROUP, "number"),
        *(v.taps_of_tile(words) if v.parts else ()),
        *v.first_positions(words, chunks, 4),
        *v.each_tap(words, chunks, 4, bring),
        "}",
        "commit_copies();",
        "wait_copies<0>();",
        "} else {",
        f"take_registers<{taken}>();",
        f"const int group = threadIdx.x / {WARPGROUP} - 1, thread = threadIdx.x % {WARPGROUP};",
        f"if (group == {groups - 1}) give_turn<{groups}>(group);",
        "const int row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;",
        "for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {",
        *tile_place(c, words, tiles_m, tiles_n, GROUP, "number"),
        f"const i64 m0 = (i64)({groups} * tile_m + group) * {ROWS}, n0 = (i64)tile_n * {ROWS};",
        *tile_extents(c, words, ROWS, ROWS),
        *v.taps_of_tile(words),
        "const unsigned terms = (last_tap - first_tap) * blocks;",
        "float sums[32];",
        "#pragma unroll",
        "for (int i = 0; i < 32; ++i) sums[i] = 0;",
        "for (unsigned block = 0; block < terms; ++block) {",
        "await_phase(full + read, parity);",
        "order_copies();",
        f"const unsigned stage = shared_address(shared) + read * {stage};",
        f"const float* const stage_scale = stage_scales + read * {scales // 4};",
        f"const WindowScales<8> scales(stage_scale + group * 64, stage_scale + {groups * 64}, row, column);",
        f"int parts[{count}][32];",
        f"block_sums<{groups}>(parts, matrix(stage + group * {size}), matrix(stage + {groups * size}), group);",
        *in_loop,
        f"add_windows<{count}, 8>(sums, parts, scales);",
        "}",
        *end,
        "}}",
    ]
    steps = WARPGROUPS.replace("K < 3", f"K < {v.steps - 1}")
    tables = PRODUCTS + COMBINE + steps + WINDOWS + small_float_definitions(c) + v.unusual(words) + definitions
    source = frame.kernel(body, threads, tables, blocks=1)
    shared = barriers + stages * 16 + 1024
    launch = Launch(KernelSource(source), (min(tiles, target.multiprocessors), 1, 1), threads, shared)
    schedule = f"integers {p.bits} windows warpgroups {groups * ROWS}x{ROWS} stages{stages}"
    launches = [first, launch]
    if v.parts:
        launches.append(join_parts(v, words, v.w.end, v.unusual(words), v.anew("total")))
    return Lowered(tuple(launches), tuple(words.values), parts_end(v, v.w.end), schedule)
