"""Products of few rows of x with packed weights: the codes are read once, and go straight to tensor cores.

16 rows of weights are the rows of an instruction, and its 8 columns the digits of 4 rows of x (where blocks are shorter than a
span of 128 steps of k: of fewer rows, each block of a span in columns of its own, with zeros for the other threads' steps). The
warps of a group have the same rows of weights and take spans in turn. Each thread brings its own codes to a place of its own in
shared memory, some spans ahead. k is walked in chunks, of which a warp takes some spans: what all of a block need of a chunk, the
digits of x, scales and zero points, they load into registers while they work on the chunk before, and put into shared memory at
its end. There the F * S of a group meet as well, and each thread adds those of some sums in rising order of blocks.

Where there is room, all of k is one chunk. A single row's digits are made by every block of threads.

Bytes: the codes once, in pieces of 16; the digits of x once for each block of threads, from L2. Operations of a lane for a span
of 16 rows by 4 rows of x, with codes of 4 bits: about 100, of them 24 to make bytes of codes. H200, 8192x8192, codes of 4 bits:
15 us for a row of x, where reading as many bytes takes 9; what takes the rest are instructions, not the order of the loads.
"""

from __future__ import annotations

from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.factors import STORAGE
from baracuda.lowering.matmul.cuda.integers.prelude import MULTIPLY_ADD, SCALE
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tile_place import tile_extents
from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.lowering.packed_product.cuda.digits import Digits, digits_launch
from baracuda.lowering.packed_product.cuda.prelude import PRODUCT, ROUNDED, definitions
from baracuda.lowering.packed_product.cuda.thin_chunks import chunks, fetching
from baracuda.lowering.packed_product.cuda.thin_tile import (
    COLUMNS,
    PITCH,
    SPAN,
    ThinTile,
    byte_steps,
    is_whole,
    thin_tile,
)
from baracuda.lowering.packed_product.problem import LONGEST, PackedProduct
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Rows of x of which every block of threads makes the digits itself: that takes less than a launch.
_OWN_DIGITS = 1


def lower_thin(p: PackedProduct, target: Target) -> Lowered:
    """The digits of x, then the product."""
    c = p.product
    words, digits, t = Words(len(c.tensors), c.epilogue.params), Digits(p), thin_tile(p, target)
    fused = t.bm <= _OWN_DIGITS
    first = () if fused else (digits_launch(digits, words),)
    frame = epilogue_frame(c, words)
    finish, functions = epilogue(c, frame, t)
    own, across = -(-COLUMNS * t.bm // (32 * t.ways)), -(-c.n // t.bn)
    body = [
        "extern __shared__ __align__(128) unsigned char shared[];",
        f"const unsigned across = {words.unsigned(across)}, tile_m = divide(blockIdx.x, {words.divisor(across)});",
        f"const i64 m0 = (i64)tile_m * {t.bm}, n0 = (i64)(blockIdx.x - tile_m * across) * {t.bn};",
        *tile_extents(c, words, t.bm, t.bn),
        "const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, quarter = lane % 4;",
        f"const int group = warp % {t.groups}, way = warp / {t.groups}, first_line = group * {COLUMNS};",
        f"const int spans = (int){words.signed(digits.spans)}, blocks = (int){words.signed(p.blocks)};",
        *(() if fused else digits.pointers(words)),
        *fetching(p, t, words),
        "#pragma unroll",
        f"for (int s = 0; s < {t.stages}; ++s) fetch(s);",
        *chunks(p, t, words, fused=fused),
        f"float sums[{own}];",
        "#pragma unroll",
        f"for (int o = 0; o < {own}; ++o) sums[o] = 0;",
        *([] if is_whole(p) else ["gather(way);"]),
        "load_chunk(0);",
        "store_chunk(0, 0);",
        "__syncthreads();",
        "int parity = 0, third = 0, stage = 0;",
        "#pragma unroll 1",
        f"for (int from = 0; from < spans; from += {t.spans}, parity ^= 1) {{",
        f"float* const products = exchange + parity * {t.products};",
        f"const float* const factors = exchange + ({t.factors_at} + third * {t.factors});",
        "third = third == 2 ? 0 : third + 1;",
        *([] if t.single else [f"load_chunk(from + {t.spans});"]),
        f"#pragma unroll {min(t.turns, max(t.stages, 4))}",
        f"for (int turn = 0; turn < {t.turns}; ++turn) {{",
        f"const int span = from + turn * {t.ways} + way;",
        *_turn(p, t),
        "}",
        *([f"if ((stage += {t.turns}) == {t.stages}) stage = 0;"] if t.stages > t.turns else ()),
        *([] if t.single else ["store_chunk(parity ^ 1, third);"]),
        "__syncthreads();",
        f"const int there = min(blocks - from * {t.per_span}, {t.blocks});",
        "#pragma unroll",
        f"for (int o = 0; o < {own}; ++o) {{",
        *_place(t),
        f"const float* const column = factors + i % {COLUMNS};",
        f"if (there == {t.blocks}) {{",
        "#pragma unroll 16",
        f"for (int b = 0; b < {t.blocks}; ++b)"
        f" sums[o] = __fmaf_rn(products[b * {t.bm * COLUMNS} + i], column[b * {PITCH}], sums[o]);",
        "} else {",
        "#pragma unroll 1",
        f"for (int b = 0; b < there; ++b) sums[o] = __fmaf_rn(products[b * {t.bm * COLUMNS} + i], column[b * {PITCH}], sums[o]);",
        "}}}",
        "wait_copies<0>();",
        "__syncthreads();",
        "float* const sums0 = (float*)shared;",
        "#pragma unroll",
        f"for (int o = 0; o < {own}; ++o) {{",
        *_place(t),
        f"const int r = i / {COLUMNS}, s = first_line + i % {COLUMNS};",
        *taken_anew(p, words, "sums[o]"),
        f"sums0[r * {sums_pitch(c, t)} + s] = sums[o];",
        "}",
        "__syncthreads();",
        *finish,
    ]
    tables = SCALE + PRODUCTS + MULTIPLY_ADD + definitions(p.coding) + PRODUCT + ROUNDED + functions
    source = frame.kernel(body, t.threads, tables)
    grid = across * -(-c.m // t.bm)
    launch = Launch(KernelSource(source), (grid, 1, 1), t.threads, max(t.shared, sums_bytes(c, t)))
    return Lowered((*first, launch), tuple(words.values), 0 if fused else digits.end, f"packed {p.coding.value} {t}")


def _turn(p: PackedProduct, t: ThinTile) -> list[str]:
    """A span of the warp's."""
    count, per_span = 2 if p.coding.levels else 1, t.per_span
    piece, stage = min(16, 4 * t.bits), "(stage + turn)" if t.stages > t.turns else f"turn % {max(t.stages, 1)}"
    fetched = [
        f"wait_copies<{t.stages - 1}>();",
        "#pragma unroll",
        "for (int r = 0; r < 2; ++r)",
        f"fetched_codes<{t.bits}>(words[r], ring + {stage} * {t.code_bytes} + r * {t.code_bytes // 2} + lane * {piece});",
        f"fetch({stage});",
    ]
    gathered = [
        "memcpy(words, held_codes, sizeof(words));",
        f"gather(span + {t.spans});",
    ]
    together = min(4, t.column_tiles)
    # of an instruction's columns lane / 4 is the thread's: a digit of a pair of row and block; of its sums the pair lane % 4
    mine = [f"pair % {per_span} == quarter * {per_span} / 4"] * (per_span > 1)
    mine += [f"pair < {t.bm * per_span}"] * (t.bm * per_span < 4)
    there = [f"if (quarter < {t.bm * per_span})"] * (t.bm * per_span < 4)
    shift = "0"
    if p.shifts:
        shift = f"{'offsets[r]' if p.has_zero_point else 'OFFSET'} * __float_as_int(s.y)"
    return [
        "if (span < spans) {",
        f"unsigned words[2][{t.bits}];",
        *(fetched if is_whole(p) else gathered),
        f"Weights<{count}> weights[1];",
        "weights[0].make(words);",
        f"const int place = turn * {t.ways} + way, first = place * {per_span} + quarter % {per_span};",
        *(
            [
                f"const int* const line = (const int*)exchange + ({t.zeros_at} + parity * {t.factors})"
                f" + first * {PITCH} + lane / 4;",
                "const int offsets[2] = {line[0], line[8]};",
            ]
            if p.has_zero_point
            else ()
        ),
        "#pragma unroll",
        f"for (int tiles = 0; tiles < {t.column_tiles}; tiles += {together}) {{",
        f"uint4 x[{together}][2] = {{}};",
        "#pragma unroll",
        f"for (int n = 0; n < {together}; ++n) {{",
        f"const int pair = (tiles + n) * 4 + lane / 8, row = pair / {per_span}, digit = lane / 4 % 2;",
        f"const uint4* const from_x = (const uint4*)(shared + {t.ring_bytes} + parity * {t.x_bytes}"
        f" + (row * {t.spans} + place) * {SPAN} + digit * {LONGEST});",
        *([f"if ({' && '.join(mine)})"] if mine else ()),
        "x[n][0] = from_x[quarter * 2 ^ digit], x[n][1] = from_x[quarter * 2 + 1 ^ digit];",
        "}",
        f"int c[1][{together}][{count}][4];",
        "multiply(c, weights, x);",
        "#pragma unroll",
        f"for (int n = 0; n < {together}; ++n)",
        *there,
        "{",
        f"const int of = ((tiles + n) * 4 + quarter) / {per_span};",
        f"const float2 s = ((const float2*)(shared + {t.s_at} + parity * {t.s_bytes}))[of * {t.blocks} + first];",
        "#pragma unroll",
        "for (int r = 0; r < 2; ++r)",
        f"products[(first * {t.bm} + of) * {COLUMNS} + lane / 4 + r * 8] = __fmul_rn(rounded(c[0][n], r, {shift}), s.x);",
        "}}}",
    ]


def _place(t: ThinTile) -> list[str]:
    """The number i of a thread's sum o among the group's, where there is one."""
    return [
        f"const int i = way * 32 + lane + o * {32 * t.ways};",
        *([f"if (i >= {COLUMNS * t.bm}) break;"] if COLUMNS * t.bm % (32 * t.ways) else []),
    ]


def taken_anew(p: PackedProduct, words: Words, name: str) -> list[str]:
    """The statements that take the sum of row r and column s anew where it is NaN."""
    c = p.product
    (x,), (weight, scale, *zero) = c.a, c.b
    arguments = [
        f"(const {STORAGE[x.kind]}*)W.w[0] + (m0 + r) * {words.signed(x.strides[0])}, {words.signed(x.strides[1])}",
        f"(const unsigned char*)W.w[1] + (n0 + s) * {words.signed(weight.strides[0])}, {byte_steps(p, words)}",
        f"(const {STORAGE[scale.kind]}*)W.w[2] + (n0 + s) * {words.signed(scale.strides[0])}, {words.signed(scale.strides[1])}",
    ]
    if zero:
        of = f"(const {STORAGE[zero[0].kind]}*)W.w[3] + (n0 + s) * {words.signed(zero[0].strides[0])}"
        arguments.append(f"{of}, {words.signed(zero[0].strides[1])}")
    else:
        arguments.append("(const int*)0, (i64)0")
    return [
        f"if ({name} != {name} && r < rows && s < columns)",
        f"{name} = not_finite({name}, {', '.join(arguments)}, {words.signed(max(p.group, 1))}, {words.signed(c.k)});",
    ]
