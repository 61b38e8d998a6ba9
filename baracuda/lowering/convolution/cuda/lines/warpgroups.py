"""Convolutions by Hopper's warpgroup instructions: a block of threads takes tiles of `64 * groups` windows by `columns` sums, one
after another.

As `lowering/matmul/cuda/tensor_cores/warpgroups.py`, but that the warpgroup which brings lines gathers those of x which the
windows meet at a tap. A sum of floats is one chain of instructions of 16 channels, tap after tap; where a window lies outside,
the channels are zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.lowering.convolution.cuda.lines.prelude import WINDOW_LINES
from baracuda.lowering.convolution.cuda.lines.windows import channel_launches, line_windows
from baracuda.lowering.convolution.cuda.parts import join_parts, parts_end, store_part
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.integers.prelude import SHARED_ADDRESS, WARPGROUP_BARRIER, WARPGROUP_INSTRUCTIONS
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tensor_cores.prelude import LINES, letters, warpgroup_products
from baracuda.lowering.matmul.cuda.tensor_cores.warpgroups import BLOCK, ROWS, WARPGROUP, WarpgroupTile
from baracuda.lowering.matmul.cuda.tile_place import tile_extents, tile_place
from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Row tiles that run side by side before the next columns, stages at most, and columns that go through the epilogue at once.
_GROUP, _STAGES, _PART = 8, 8, 32
#: Bytes along k of an instruction.
_STEP = 32


@dataclass(frozen=True)
class _PartSums:
    """What the epilogue sees of a warpgroup's sums."""

    bm: int
    bn: int
    threads: int = WARPGROUP


def lower_warpgroups(p: ConvolutionProblem, t: WarpgroupTile, target: Target) -> Lowered:
    """The lines of factors that are not read in place, then the product. Raises `UnsupportedError` as `line_windows` does."""
    words, kind = Words(len(p.tensors), p.epilogue.params), COMPUTE_TYPE[p.accumulator]
    v = line_windows(p)
    c, chunks, end = v.tiled, t.rows // 32, max(v.x.end, v.w.end)
    before = channel_launches((v.x, v.w), words)
    across = min(_PART, t.columns)
    part = _PartSums(across, ROWS) if v.turned else _PartSums(ROWS, across)
    sums_start = t.groups * sums_bytes(v.finished, part)
    stages = min(_STAGES, (target.shared_bytes - 1024 - sums_start) // (t.stage + 16))
    barriers = stages * t.stage + sums_start
    tiles_m, tiles_n = -(-c.m // t.rows), -(-c.n // t.columns)
    tiles = prod(c.batch) * tiles_m * tiles_n
    frame, pitch = epilogue_frame(v.finished, words), sums_pitch(v.finished, part)
    finish, definitions = epilogue(v.finished, frame, part, thread="thread")
    exchange, tail = t.groups * t.columns > 256, -(-(v.bytes % BLOCK) // _STEP)
    own = [words.signed(s) for s in v.w.strides]
    of_tap = " + ".join(f"(i64)t{a} * {own[1 + a]}" for a in p.spatial)
    weights = f"w_lines + ((i64)c{v.batches.index(1)} * {own[0]} + {of_tap} + n0 * {own[-1]})"
    each = -(-chunks // 4)
    bring = [
        f"Lines<{t.columns}, {WARPGROUP}> b({weights}, {own[-1]}, columns, threadIdx.x);",
        "#pragma unroll 1",
        f"for (int left = bytes; left > 0; left -= {BLOCK}) {{",
        "await_phase(empty + read, parity ^ 1);",
        f"unsigned char* const to = shared + read * {t.stage};",
        "#pragma unroll",
        f"for (int h = 0; h < {each}; ++h) {{",
        "const int chunk = bringing + h * 4;",
        f"if (chunk < {chunks}) copy_window_lines(to + chunk * 4096, x_lines, line[h], bytes - left, left, lane);",
        "}",
        f"b.fetch(to + {t.rows * BLOCK}, left);",
        "arrive_copied(full + read);",
        "advance();",
        "}",
    ]

    def block(steps: int) -> list[str]:
        return [
            "await_phase(full + read, parity);",
            "order_copies();",
            f"const unsigned stage = shared_address(shared) + read * {t.stage};",
            f"const unsigned own_a = matrix(stage + group * {ROWS * BLOCK}), own_b = matrix(stage + {t.rows * BLOCK});",
            "warpgroup_fence();",
            *[f"multiply_lines<{i}>(sums, own_a, own_b);" for i in range(steps)],
            "warpgroup_commit();",
            "warpgroup_wait<1>();",
            "if (begun && thread % 32 == 0) arrive(empty + last);",
            "begun = true;",
            "last = read;",
            "advance();",
        ]

    pair = f"sums[q * {across // 2} + i], sums[q * {across // 2} + i + 1]"
    store = [f"*(Vec<{kind}, 2>*)(sums0 + r * {pitch} + s) = Vec<{kind}, 2>{{{{{pair}}}}};"]
    if v.turned:
        first, second = pair.split(", ")
        store = [f"sums0[s * {pitch} + r] = {first};", f"sums0[(s + 1) * {pitch} + r] = {second};"]
    results = [
        "#pragma unroll 1",
        f"for (int part = 0; part < {t.columns // across}; ++part) {{",
        f"const i64 n0 = (i64)tile_n * {t.columns} + part * {across};",
        *tile_extents(c, words, ROWS, across),
        "if (rows <= 0 || columns <= 0) break;",
        "warpgroup_barrier(group);",
        "#pragma unroll",
        f"for (int q = 0; q < {t.columns // across}; ++q) if (q == part) {{",
        "#pragma unroll",
        f"for (int i = 0; i < {across // 2}; i += 2) {{",
        "const int r = row + i / 2 % 2 * 8, s = column + i / 4 * 8;",
        *store,
        "}}",
        "warpgroup_barrier(group);",
        *v.epilogue(words, finish),
        "}",
    ]
    if v.parts:
        results = [
            f"const i64 n0 = (i64)tile_n * {t.columns};",
            *tile_extents(c, words, ROWS, t.columns),
            *store_part(v, words, end, t.columns // 2),
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
        f"const int bytes = {words.word(v.bytes)};",
        "unsigned read = 0, parity = 0;",
        "const auto advance = [&] { if (++read == " + str(stages) + ") { read = 0; parity ^= 1; } };",
        f"if (threadIdx.x < {WARPGROUP}) {{",
        *(["give_registers<56>();"] if exchange else ()),
        "const int bringing = threadIdx.x / 32, lane = threadIdx.x % 32;",
        f"const unsigned char* const x_lines = {v.x.address(words)};",
        f"const unsigned char* const w_lines = {v.w.address(words)};",
        "#pragma unroll 1",
        "for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {",
        *tile_place(c, words, tiles_m, tiles_n, _GROUP, "number"),
        f"const i64 n0 = (i64)tile_n * {t.columns}, columns_left = {words.signed(c.n)} - n0;",
        f"const int columns = columns_left < {t.columns} ? (int)columns_left : {t.columns};",
        *(v.taps_of_tile(words) if v.parts else ()),
        *v.first_positions(words, chunks, 4),
        *v.each_tap(words, chunks, 4, bring),
        "}",
        "commit_copies();",
        "wait_copies<0>();",
        "} else {",
        *(["take_registers<224>();"] if exchange else ()),
        f"const int group = threadIdx.x / {WARPGROUP} - 1, thread = threadIdx.x % {WARPGROUP};",
        "const int row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;",
        f"{kind}* const sums0 = ({kind}*)(shared + {stages * t.stage}) + group * {part.bm * pitch};",
        "#pragma unroll 1",
        "for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {",
        *tile_place(c, words, tiles_m, tiles_n, _GROUP, "number"),
        *v.taps_of_tile(words),
        f"{kind} sums[{t.columns // 2}];",
        "#pragma unroll",
        f"for (int i = 0; i < {t.columns // 2}; ++i) sums[i] = 0;",
        "unsigned last = 0;",
        "bool begun = false;",
        "#pragma unroll 1",
        "for (unsigned tap = first_tap; tap < last_tap; ++tap) {",
        "#pragma unroll 1",
        f"for (int left = bytes; left >= {BLOCK}; left -= {BLOCK}) {{",
        *block(BLOCK // _STEP),
        "}",
        *(["{", *block(tail), "}"] if tail else ()),  # zeros behind the end of a tap's channels are no links of a chain
        "}",
        "warpgroup_wait<0>();",
        "if (thread % 32 == 0) arrive(empty + last);",
        f"const i64 m0 = (i64)tile_m * {t.rows} + group * {ROWS};",
        *results,
        "}}",
    ]
    instructions = SHARED_ADDRESS + WARPGROUP_INSTRUCTIONS + WARPGROUP_BARRIER + warpgroup_products(c, t.columns)
    threads = WARPGROUP * (t.groups + 1)
    source = frame.kernel(body, threads, PRODUCTS + instructions + LINES + WINDOW_LINES + definitions, blocks=1)
    launch = Launch(KernelSource(source), (min(tiles, target.multiprocessors), 1, 1), threads, barriers + stages * 16 + 1024)
    schedule = f"{'.'.join(letters(c))} windows warpgroups {t.rows}x{t.columns} stages{stages}"
    after = (join_parts(v, words, end),) if v.parts else ()
    return Lowered((*before, launch, *after), tuple(words.values), parts_end(v, end), schedule)
