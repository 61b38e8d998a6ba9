"""Products of many rows of x with packed weights: tiles of the result, whose warps share the digits of x.

A block of threads has `bm` rows of x and 16 rows of weights for each of a warp's `heights` and each of its `WARPS`. All bring the
digits of a span of k to shared memory, some spans ahead; codes travel as in thin.py, each to a place of the thread's own. A
thread keeps the sums that tensor cores leave it, and takes block after block: nothing is exchanged, but between the threads that
have different blocks of a span, where blocks are short."""

from __future__ import annotations

from dataclasses import dataclass, replace

from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.factors import STORAGE
from baracuda.lowering.matmul.cuda.integers.prelude import MULTIPLY_ADD, SCALE
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tile_place import tile_extents
from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.lowering.packed_product.cuda.digits import Digits, digits_launch
from baracuda.lowering.packed_product.cuda.prelude import PRODUCT, ROUNDED, definitions
from baracuda.lowering.packed_product.cuda.thin import taken_anew
from baracuda.lowering.packed_product.cuda.thin_tile import COLUMNS, byte_steps, has_halves, is_whole
from baracuda.lowering.packed_product.problem import LONGEST, PackedProduct
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Warps of a block of threads, and instructions' columns, by eight, whose sums they take side by side.
WARPS, TOGETHER = 8, 2


@dataclass(frozen=True)
class Tile:
    """What a block of threads takes, with `stages` spans of k in shared memory, in each of which there are `per_span` blocks."""

    bits: int
    per_span: int
    bm: int
    heights: int
    stages: int = 2

    @property
    def bn(self) -> int:
        return WARPS * self.heights * COLUMNS

    @property
    def threads(self) -> int:
        return 32 * WARPS

    @property
    def column_tiles(self) -> int:
        """Instructions for the digits of all rows of x."""
        return self.bm * self.per_span // 4

    @property
    def warp_bytes(self) -> int:
        """Codes of a warp's rows in a span."""
        return self.heights * COLUMNS * LONGEST * self.bits // 8

    @property
    def x_bytes(self) -> int:
        """Digits, scales and totals of x in a span."""
        return self.bm * (2 * LONGEST + 8 * self.per_span)

    @property
    def stage_bytes(self) -> int:
        return WARPS * self.warp_bytes + self.x_bytes

    @property
    def shared(self) -> int:
        return self.stages * self.stage_bytes

    def __str__(self) -> str:
        return f"tiles {self.bm}x{self.bn} stages{self.stages}"


def tile_of(p: PackedProduct, target: Target) -> Tile:
    """The tile of a product."""
    per_span = LONGEST // p.block
    bm = 32 if per_span == 1 else 16
    tile = Tile(p.coding.bits, per_span, bm, 2)
    if -(-p.product.n // tile.bn) * -(-p.product.m // bm) < target.multiprocessors:
        tile = replace(tile, heights=1)
    half = min(target.shared_bytes, 110 << 10)
    return replace(tile, stages=max(2, min(4, half // tile.stage_bytes)))


def lower_tiles(p: PackedProduct, target: Target) -> Lowered:
    """The digits of x, then the product."""
    c = p.product
    words, digits, t = Words(len(c.tensors), c.epilogue.params), Digits(p), tile_of(p, target)
    first = digits_launch(digits, words)
    frame = epilogue_frame(c, words)
    finish, functions = epilogue(c, frame, t)
    down = -(-c.m // t.bm)
    body = [
        "extern __shared__ __align__(128) unsigned char shared[];",
        f"const unsigned down = {words.unsigned(down)}, tile_n = divide(blockIdx.x, {words.divisor(down)});",
        f"const i64 m0 = (i64)(blockIdx.x - tile_n * down) * {t.bm}, n0 = (i64)tile_n * {t.bn};",
        *tile_extents(c, words, t.bm, t.bn),
        "const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, quarter = lane % 4;",
        f"const int first_line = warp * {t.heights * COLUMNS} + lane / 4;",
        f"const int spans = (int){words.signed(digits.spans)}, blocks = (int){words.signed(p.blocks)};",
        *digits.pointers(words),
        *_fetch(p, t, words),
        *_groups(p, t, words),
        f"float sums[{t.heights}][{t.column_tiles}][2];",
        "#pragma unroll",
        f"for (int i = 0; i < {t.heights * t.column_tiles * 2}; ++i) (&sums[0][0][0])[i] = 0;",
        "#pragma unroll",
        f"for (int s = 0; s < {t.stages - 1}; ++s) fetch(s, s);",
        "load_groups(0);",
        "int stage = 0;",
        "#pragma unroll 1",
        "for (int span = 0; span < spans; ++span) {",
        f"wait_copies<{t.stages - 2}>();",
        "__syncthreads();",
        f"fetch(stage == 0 ? {t.stages - 1} : stage - 1, span + {t.stages - 1});",
        *_span(p, t),
        f"if (++stage == {t.stages}) stage = 0;",
        "}",
        "wait_copies<0>();",
        "__syncthreads();",
        "float* const sums0 = (float*)shared;",
        "#pragma unroll",
        f"for (int h = 0; h < {t.heights}; ++h)",
        "#pragma unroll",
        f"for (int tile = 0; tile < {t.column_tiles}; ++tile)",
        "#pragma unroll",
        "for (int i = 0; i < 2; ++i) {",
        f"const int r = (tile * 4 + quarter) / {t.per_span}, s = first_line + h * {COLUMNS} + i * 8;",
        *taken_anew(p, words, "sums[h][tile][i]"),
        f"sums0[r * {sums_pitch(c, t)} + s] = sums[h][tile][i];",
        "}",
        "__syncthreads();",
        *finish,
    ]
    tables = SCALE + PRODUCTS + MULTIPLY_ADD + definitions(p.coding) + PRODUCT + ROUNDED + functions
    source = frame.kernel(body, t.threads, tables)
    grid = -(-c.n // t.bn) * down
    launch = Launch(KernelSource(source), (grid, 1, 1), t.threads, max(t.shared, sums_bytes(c, t)))
    return Lowered((first, launch), tuple(words.values), digits.end, f"packed {p.coding.value} {t}")


def _fetch(p: PackedProduct, t: Tile, words: Words) -> list[str]:
    """Declares `fetch`, which starts a span on its way to a stage: the thread's codes, and its share of the digits of x."""
    weight = p.product.b[0]
    piece = min(16, 4 * t.bits)
    codes = [
        "#pragma unroll",
        f"for (int r = 0; r < {2 * t.heights}; ++r)",
        f"fetch_codes<{t.bits}, {p.block}>(ring + stage * {t.stage_bytes} + r * {t.warp_bytes // t.heights // 2}"
        f" + lane * {piece}, codes[r], span, quarter, row_bytes);",
    ]
    pieces = t.bm * 2 * LONGEST // 16
    return [
        # rows that do not exist are the last one again
        f"const unsigned char* codes[{2 * t.heights}];",
        "#pragma unroll",
        f"for (int r = 0; r < {2 * t.heights}; ++r)",
        "codes[r] = (const unsigned char*)W.w[1] + (n0 + min(first_line + r * 8, columns - 1))"
        f" * {words.signed(weight.strides[0])};",
        f"const Steps byte_step = {byte_steps(p, words)};",
        f"const int row_bytes = (int){words.signed(p.coding.row_bytes(p.product.k))};",
        f"unsigned char* const ring = shared + {t.x_bytes} + warp * {t.warp_bytes};",
        "const auto fetch = [&](int stage, int span) {",
        "if (span < spans) {",
        *(codes if is_whole(p) else ()),
        f"unsigned char* const to = shared + stage * {t.stage_bytes};",
        # the 16-byte pieces of the lower digit change places, so that neighbouring columns lie in different banks
        "#pragma unroll",
        f"for (int i = threadIdx.x; i < {pieces}; i += {t.threads}) {{",
        "const int row = i / 16, digit = i / 8 % 2, piece = i % 8;",
        f"copy_async<16>(to + row * {2 * LONGEST} + digit * {LONGEST} + (piece ^ digit) * 16,"
        f" digits + ((m0 + min(row, rows - 1)) * spans + span) * {2 * LONGEST} + i % 16 * 16, 16);",
        "}",
        f"if (threadIdx.x < {t.bm * t.per_span}) {{",
        f"const int row = threadIdx.x / {t.per_span};",
        f"const i64 block = ((m0 + min(row, rows - 1)) * spans + span) * {t.per_span} + threadIdx.x % {t.per_span};",
        f"unsigned char* const own = to + {t.bm * 2 * LONGEST} + threadIdx.x * 8;",
        "copy_async<4>(own, scales + block, 4);",
        "copy_async<4>(own + 4, totals + block, 4);",
        "}}",
        "commit_copies();",
        "};",
    ]


def _groups(p: PackedProduct, t: Tile, words: Words) -> list[str]:
    """Declares `load_groups`, which loads the scales of a span's blocks for the thread's rows, and the zero points of its own."""
    scale, *zero = p.product.b[1:]
    kind, of_zero, rows = STORAGE[scale.kind], STORAGE[zero[0].kind] if zero else "int", 2 * t.heights

    def pointers(name: str, type_: str, i: int) -> list[str]:
        o = p.product.b[i - 1]
        return [
            f"const {type_}* {name}[{rows}];",
            "#pragma unroll",
            f"for (int r = 0; r < {rows}; ++r)",
            f"{name}[r] = (const {type_}*)W.w[{i}] + (n0 + min(first_line + r * 8, columns - 1)) * {words.signed(o.strides[0])};",
            f"const i64 {name}_step = {words.signed(o.strides[1])};",
        ]

    return [
        *pointers("scale", kind, 2),
        *(pointers("zero", of_zero, 3) if zero else ()),
        f"const unsigned group_blocks = {words.unsigned(min(p.blocks_per_group, 1 << 30))};",
        f"float factors[{rows}][{t.per_span}];",
        *([f"int offsets[{rows}];"] if zero else ()),
        "const auto load_groups = [&](int span) {",
        "#pragma unroll",
        f"for (int b = 0; b < {t.per_span}; ++b) {{",
        f"const unsigned block = span * {t.per_span} + b;",
        "if (block < blocks) {",
        "const unsigned of = block / group_blocks;",
        "#pragma unroll",
        f"for (int r = 0; r < {rows}; ++r) {{",
        "factors[r][b] = scale_of(scale[r][of * scale_step]);",
        *([f"if (b == quarter % {t.per_span}) offsets[r] = (int)zero[r][of * zero_step] + OFFSET;"] if zero else ()),
        "}}}};",
    ]


def _span(p: PackedProduct, t: Tile) -> list[str]:
    """A span of k for all sums of the thread."""
    count, rows, per_span = 2 if p.coding.levels else 1, 2 * t.heights, t.per_span
    held = (
        f"fetched_codes<{t.bits}>(words[r], ring + stage * {t.stage_bytes} + (2 * h + r) * {t.warp_bytes // t.heights // 2}"
        f" + lane * {min(16, 4 * t.bits)});"
        if is_whole(p)
        else f"gather_codes<{t.bits}, {p.block}, {str(has_halves(p)).lower()}>(words[r], codes[2 * h + r], byte_step, span,"
        " quarter, row_bytes);"
    )
    shift = "0"
    if p.shifts:
        shift = f"{'of_rows[2 * h + i]' if p.has_zero_point else 'OFFSET'} * total"
    if per_span == 1:
        add = ["sums[h][tile][i] = __fmaf_rn(value, of_groups[2 * h + i][0], sums[h][tile][i]);"]
    else:  # threads that have neighbouring blocks of one row take each other's
        add = [
            "#pragma unroll",
            f"for (int b = 0; b < {per_span}; ++b)",
            f"if (span * {per_span} + b < blocks)",
            f"sums[h][tile][i] = __fmaf_rn(__shfl_sync(~0u, value, b, {per_span}), of_groups[2 * h + i][b], sums[h][tile][i]);",
        ]
    return [
        f"const unsigned char* const from = shared + stage * {t.stage_bytes};",
        f"Weights<{count}> weights[{t.heights}];",
        "#pragma unroll",
        f"for (int h = 0; h < {t.heights}; ++h) {{",
        f"unsigned words[2][{t.bits}];",
        "#pragma unroll",
        "for (int r = 0; r < 2; ++r)",
        held,
        "weights[h].make(words);",
        "}",
        f"float of_groups[{rows}][{per_span}];",
        *([f"int of_rows[{rows}];"] if p.has_zero_point else ()),
        "#pragma unroll",
        f"for (int r = 0; r < {rows}; ++r) {{",
        "#pragma unroll",
        f"for (int b = 0; b < {per_span}; ++b) of_groups[r][b] = factors[r][b];",
        *(["of_rows[r] = offsets[r];"] if p.has_zero_point else ()),
        "}",
        "load_groups(span + 1);",
        "#pragma unroll",
        f"for (int tiles = 0; tiles < {t.column_tiles}; tiles += {TOGETHER}) {{",
        f"uint4 x[{TOGETHER}][2] = {{}};",
        "#pragma unroll",
        f"for (int n = 0; n < {TOGETHER}; ++n) {{",
        f"const int pair = (tiles + n) * 4 + lane / 8, row = pair / {per_span}, digit = lane / 4 % 2;",
        f"const uint4* const line = (const uint4*)(from + row * {2 * LONGEST} + digit * {LONGEST});",
        f"if (pair % {per_span} == quarter * {per_span} / 4)"
        " x[n][0] = line[(quarter * 2) ^ digit], x[n][1] = line[(quarter * 2 + 1) ^ digit];",
        "}",
        f"int c[{t.heights}][{TOGETHER}][{count}][4];",
        "multiply(c, weights, x);",
        "#pragma unroll",
        f"for (int n = 0; n < {TOGETHER}; ++n) {{",
        "const int tile = tiles + n;",
        f"const int2 own = *(const int2*)(from + {t.bm * 2 * LONGEST} + (tile * 4 + quarter) * 8);",
        "const float s = __int_as_float(own.x);",
        *(["const int total = own.y;"] if p.shifts else ()),
        "#pragma unroll",
        f"for (int h = 0; h < {t.heights}; ++h) {{",
        "#pragma unroll",
        "for (int i = 0; i < 2; ++i) {",
        f"const float value = __fmul_rn(rounded(c[h][n], i, {shift}), s);",
        *add,
        "}}}}",
    ]
