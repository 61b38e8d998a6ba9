"""Products of few rows of x with packed weights: the codes are read once, and go straight to tensor cores.

16 rows of weights are the rows of an instruction, and its 8 columns the digits of 4 rows of x (where blocks are shorter than a
span of 128 steps of k: of fewer rows, each block of a span in columns of its own, with zeros for the other threads' steps). The
warps of a group have the same rows of weights and take spans in turn. Each thread brings its own codes, and digits of x, to a
place of its own in shared memory, some spans ahead. After some turns the F * S of a group meet in shared memory, where each
thread adds those of some sums in rising order of blocks; the scales and zero points are brought there by all, some turns ahead.

Bytes: the codes once, in pieces of 16; the digits of x once for each block of threads, from L2.
"""

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
from baracuda.lowering.packed_product.problem import LONGEST, PackedProduct
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Rows of an instruction, which are rows of weights.
COLUMNS = 16
#: Rows of x of a tile at most.
MOST = 16
#: Bytes that a group may exchange at most, and of shared memory that it has in all: four groups are on a multiprocessor.
_EXCHANGED, _GROUP_BYTES = 32 << 10, 55 << 10
#: Turns between exchanges, and stages of codes on their way, at most.
_TURNS, _STAGES = 4, 8


@dataclass(frozen=True)
class ThinTile:
    """What a block of threads takes: `bm` rows of x, and 16 rows of weights for each of its `groups` of `ways` warps, which
    exchange what they have after `turns` spans each, and have `stages` spans in shared memory, in which there are `per_span`
    blocks."""

    bits: int
    per_span: int
    bm: int
    groups: int
    ways: int
    turns: int = _TURNS
    stages: int = 0

    @property
    def bn(self) -> int:
        return self.groups * COLUMNS

    @property
    def threads(self) -> int:
        return 32 * self.groups * self.ways

    @property
    def digit_columns(self) -> int:
        """Columns of instructions for the digits of all rows of x, and how many of these instructions there are."""
        return 2 * self.bm * self.per_span

    @property
    def column_tiles(self) -> int:
        return -(-self.digit_columns // 8)

    @property
    def code_bytes(self) -> int:
        """Of a stage: the codes of 16 rows, then the digits of x."""
        return COLUMNS * LONGEST * self.bits // 8

    @property
    def stage_bytes(self) -> int:
        return self.code_bytes + (LONGEST * self.digit_columns if self.carries else 0)

    @property
    def blocks(self) -> int:
        """Blocks of k between two exchanges."""
        return self.ways * self.turns * self.per_span

    @property
    def exchange_words(self) -> int:
        """What a group exchanges: products, twice, so that one is written while another is read; scales and zero points thrice,
        as they are written before those of the blocks ahead were read by all."""
        return 2 * self.products + 3 * self.factors

    @property
    def products(self) -> int:
        return self.blocks * COLUMNS * self.bm

    @property
    def factors(self) -> int:
        return 2 * self.blocks * COLUMNS

    @property
    def carries(self) -> bool:
        """Whether the digits of x travel with the codes, rather than be read where they are needed."""
        return self.column_tiles <= 4

    @property
    def ring_bytes(self) -> int:
        return self.groups * self.ways * self.stages * self.stage_bytes

    @property
    def shared(self) -> int:
        return self.ring_bytes + self.groups * self.exchange_words * 4

    def __str__(self) -> str:
        return f"thin {self.bm}x{self.bn} ways{self.ways} turns{self.turns} stages{self.stages}"


def thin_tile(p: PackedProduct, target: Target) -> ThinTile:
    """The tile of a product."""
    bm = min(MOST, 1 << (max(p.product.m, 1) - 1).bit_length())
    groups, ways = (1, 8) if bm <= 4 else (2, 4) if bm <= 8 else (4, 4)
    tile = ThinTile(p.coding.bits, LONGEST // p.block, bm, groups, ways)
    while tile.turns > 1 and tile.exchange_words * 4 > _EXCHANGED:
        tile = replace(tile, turns=tile.turns // 2)
    while tile.groups > 1 and replace(tile, stages=2).shared > target.shared_bytes:
        tile = replace(tile, groups=tile.groups // 2)
    room = min(_GROUP_BYTES * tile.groups, target.shared_bytes) - tile.shared
    return replace(tile, stages=max(2, min(_STAGES, room // (tile.groups * tile.ways * tile.stage_bytes))))


def is_whole(p: PackedProduct) -> bool:
    """Whether rows of codes are whole pieces, as threads copy them."""
    weight, piece = p.product.b[0], min(16, 4 * p.coding.bits)
    apart = weight.alignment, weight.strides[0], p.coding.row_bytes(p.product.k)
    return weight.steps(1) == 1 and not any(n % piece for n in apart)


def lower_thin(p: PackedProduct, target: Target) -> Lowered:
    """The digits of x, then the product."""
    c = p.product
    words, digits, t = Words(len(c.tensors), c.epilogue.params), Digits(p), thin_tile(p, target)
    first = digits_launch(digits, words)
    frame = epilogue_frame(c, words)
    finish, functions = epilogue(c, frame, t)
    own, across = -(-COLUMNS * t.bm // (32 * t.ways)), -(-c.n // t.bn)
    body = [
        "extern __shared__ __align__(128) unsigned char shared[];",
        f"const unsigned across = {words.unsigned(across)}, tile_m = divide(blockIdx.x, {words.divisor(across)});",
        f"const i64 m0 = (i64)tile_m * {t.bm}, n0 = (i64)(blockIdx.x - tile_m * across) * {t.bn};",
        *tile_extents(c, words, t.bm, t.bn),
        "const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, quarter = lane % 4;",
        f"const int group = warp / {t.ways}, way = warp % {t.ways}, first_line = group * {COLUMNS};",
        f"const int spans = (int){words.signed(digits.spans)}, blocks = (int){words.signed(p.blocks)};",
        *digits.pointers(words),
        *_fetch(p, t, words),
        *_groups(p, t, words),
        f"float sums[{own}];",
        "#pragma unroll",
        f"for (int o = 0; o < {own}; ++o) sums[o] = 0;",
        "#pragma unroll",
        f"for (int s = 0; s < {t.stages}; ++s) fetch(s);",
        "load_groups(0);",
        "store_groups(0);",
        f"group_barrier(group, {32 * t.ways});",
        "int parity = 0, third = 0, stage = 0;",
        "#pragma unroll 1",
        f"for (int from = 0; from < spans; from += {t.ways * t.turns}, parity ^= 1) {{",
        f"float* const products = exchange + parity * {t.products};",
        f"const float* const factors = exchange + ({2 * t.products} + third * {t.factors});",
        f"const int* const offsets = (const int*)factors + {t.factors // 2};",
        "third = third == 2 ? 0 : third + 1;",
        f"load_groups(from + {t.ways * t.turns});",
        "#pragma unroll 1",
        f"for (int turn = 0; turn < {t.turns}; ++turn) {{",
        f"const int span = from + turn * {t.ways} + way;",
        *_turn(p, t),
        "}",
        "store_groups(third);",
        f"group_barrier(group, {32 * t.ways});",
        f"const int there = min(blocks - from * {t.per_span}, {t.blocks});",
        "#pragma unroll",
        f"for (int o = 0; o < {own}; ++o) {{",
        *_place(t),
        "#pragma unroll 8",
        f"for (int b = 0; b < there; ++b)"
        f" sums[o] = __fmaf_rn(products[b * {t.bm * COLUMNS} + i], factors[b * {COLUMNS} + i % {COLUMNS}], sums[o]);",
        "}}",
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
    tables = SCALE + PRODUCTS + MULTIPLY_ADD + BARRIER + definitions(p.coding) + PRODUCT + ROUNDED + functions
    source = frame.kernel(body, t.threads, tables, blocks=max(1, 4 // t.groups))
    grid = across * -(-c.m // t.bm)
    launch = Launch(KernelSource(source), (grid, 1, 1), t.threads, max(t.shared, sums_bytes(c, t)))
    return Lowered((first, launch), tuple(words.values), digits.end, f"packed {p.coding.value} {t}")


BARRIER = r"""
// 16 bytes on their way through L1, where other warps of the block find them.
__device__ __forceinline__ void copy_cached(void* to, const void* from) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}
__device__ __forceinline__ void group_barrier(int group, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(threads) : "memory");
}
"""


def _fetch(p: PackedProduct, t: ThinTile, words: Words) -> list[str]:
    """Declares `fetch`, which starts the warp's next span on its way to a stage of its `ring`."""
    weight, whole = p.product.b[0], is_whole(p)
    codes = [
        "#pragma unroll",
        "for (int r = 0; r < 2; ++r)",
        f"fetch_codes<{t.bits}>(to + r * {t.code_bytes // 2} + lane * {min(16, 4 * t.bits)}, codes[r],"
        f" fetched * {16 * t.bits} + quarter * {4 * t.bits}, row_bytes);",
    ]
    carried = [
        "#pragma unroll",
        f"for (int tile = 0; tile < {t.column_tiles}; ++tile) {{",
        *_column(t, "fetched"),
        "if (mine) {",
        f"unsigned char* const own = to + {t.code_bytes} + (tile * 32 + lane) * 32;",
        "copy_cached(own, x_digits);",
        "copy_cached(own + 16, x_digits + 16);",
        "}}",
    ]
    return [
        # rows that do not exist are the last one again
        "const unsigned char* codes[2];",
        "#pragma unroll",
        "for (int r = 0; r < 2; ++r)",
        "codes[r] = (const unsigned char*)W.w[1] + (n0 + min(first_line + lane / 4 + r * 8, columns - 1))"
        f" * {words.signed(weight.strides[0])};",
        f"const i64 byte_step = {'1' if weight.steps(1) == 1 else words.signed(weight.strides[1])};",
        f"const int row_bytes = (int){words.signed(p.coding.row_bytes(p.product.k))};",
        f"unsigned char* const ring = shared + warp * {t.stages * t.stage_bytes};",
        "int fetched = way;",
        "const auto fetch = [&](int stage) {",
        "if (fetched < spans) {",
        f"unsigned char* const to = ring + stage * {t.stage_bytes};",
        *(codes if whole else ()),
        *(carried if t.carries else ()),
        "}",
        f"fetched += {t.ways};",
        "commit_copies();",
        "};",
    ]


def _groups(p: PackedProduct, t: ThinTile, words: Words) -> list[str]:
    """Declares `load_groups`, which loads scales and zero points of the blocks from a span on, and `store_groups`, which puts
    them where they are exchanged."""
    scale, *zero = p.product.b[1:]
    own = -(-t.blocks * COLUMNS // (32 * t.ways))
    kind, of_zero = STORAGE[scale.kind], STORAGE[zero[0].kind] if zero else "int"

    def pointer(name: str, type_: str, i: int) -> list[str]:
        o = p.product.b[i - 1]
        return [
            f"const {type_}* const {name} = (const {type_}*)W.w[{i}] + (n0 + min(first_line + (int)threadIdx.x % {COLUMNS},"
            f" columns - 1)) * {words.signed(o.strides[0])};",
            f"const i64 {name}_step = {words.signed(o.strides[1])};",
        ]

    return [
        f"float* const exchange = (float*)(shared + {t.ring_bytes}) + group * {t.exchange_words};",
        *pointer("scale", kind, 2),
        *(pointer("zero", of_zero, 3) if zero else ()),
        f"const unsigned group_blocks = {words.unsigned(min(p.blocks_per_group, 1 << 30))};",
        f"float held_scales[{own}];",
        *([f"int held_zeros[{own}];"] if zero else ()),
        "const auto load_groups = [&](int span) {",
        "#pragma unroll",
        f"for (int o = 0; o < {own}; ++o) {{",
        f"const unsigned i = (way * 32 + lane + o * {32 * t.ways}) / {COLUMNS}, block = span * {t.per_span} + i;",
        f"if (i < {t.blocks} && block < blocks) {{",
        "const unsigned of = block / group_blocks;",
        "held_scales[o] = scale_of(scale[of * scale_step]);",
        *(["held_zeros[o] = (int)zero[of * zero_step] + OFFSET;"] if zero else ()),
        "}}};",
        "const auto store_groups = [&](int third) {",
        f"float* const to = exchange + ({2 * t.products} + third * {t.factors});",
        "#pragma unroll",
        f"for (int o = 0; o < {own}; ++o) {{",
        f"const int i = way * 32 + lane + o * {32 * t.ways};",
        f"if (i < {t.blocks * COLUMNS}) {{",
        "to[i] = held_scales[o];",
        *([f"((int*)to)[{t.factors // 2} + i] = held_zeros[o];"] if zero else ()),
        "}}};",
    ]


def _column(t: ThinTile, span: str) -> list[str]:
    """Where the digits of x are for the thread's column of an instruction, lane / 4, which is a digit of a pair of row and block,
    and whether its steps of k are in that block."""
    return [
        f"const int pair = tile * 4 + lane / 8, row = pair / {t.per_span};",
        f"const bool mine = row < rows && pair % {t.per_span} == quarter * {t.per_span} / 4;",
        f"const unsigned char* const x_digits = digits + ((m0 + row) * spans + {span}) * {2 * LONGEST} + lane / 4 % 2 * {LONGEST}"
        " + quarter * 32;",
    ]


def _turn(p: PackedProduct, t: ThinTile) -> list[str]:
    """A span of the warp's."""
    count = 2 if p.coding.levels else 1
    held = (
        f"fetched_codes<{t.bits}>(words[r], from_ring + r * {t.code_bytes // 2} + lane * {min(16, 4 * t.bits)});"
        if is_whole(p)
        else f"gather_codes<{t.bits}>(words[r], codes[r], byte_step, span * {16 * t.bits} + quarter * {4 * t.bits}, row_bytes);"
    )
    # of the instruction's sums the thread has those of the pair lane % 4
    of_pair = [
        f"const int of = (tile * 4 + quarter) / {t.per_span};",
        f"const i64 block = ((m0 + min(of, rows - 1)) * spans + span) * {t.per_span} + quarter % {t.per_span};",
    ]
    ahead = [
        f"uint4 x[{t.column_tiles}][2] = {{}};",
        f"float s[{t.column_tiles}];",
        *([f"int total[{t.column_tiles}];"] if p.shifts else ()),
        "#pragma unroll",
        f"for (int tile = 0; tile < {t.column_tiles}; ++tile) {{",
        *of_pair,
        "s[tile] = scales[block];",
        *(["total[tile] = totals[block];"] if p.shifts else ()),
        *_column(t, "span"),
        "if (mine) {",
        f"const uint4* const own = (const uint4*)(from_ring + {t.code_bytes} + (tile * 32 + lane) * 32);",
        "x[tile][0] = own[0], x[tile][1] = own[1];",
        "}}",
    ]
    here = [
        *_column(t, "span"),
        "uint4 x[2] = {};",
        "if (mine) x[0] = ((const uint4*)x_digits)[0], x[1] = ((const uint4*)x_digits)[1];",
        *of_pair,
        "const float s = scales[block];",
        *(["const int total = totals[block];"] if p.shifts else ()),
    ]
    mine, tile = (of_pair[:1], "[tile]") if t.carries else (here, "")
    shift = "0"
    if p.shifts:
        offset = f"offsets[first * {COLUMNS} + lane / 4 + r * 8]" if p.has_zero_point else "OFFSET"
        shift = f"{offset} * total{tile}"
    return [
        f"wait_copies<{t.stages - 1}>();",
        "if (span < spans) {",
        f"const unsigned char* const from_ring = ring + stage * {t.stage_bytes};",
        f"const int first = (turn * {t.ways} + way) * {t.per_span} + quarter % {t.per_span};",
        *(ahead if t.carries else ()),
        f"unsigned words[2][{t.bits}];",
        "#pragma unroll",
        "for (int r = 0; r < 2; ++r)",
        held,
        "fetch(stage);",
        f"Weights<{count}> weights;",
        "weights.make(words);",
        "#pragma unroll" if t.carries else "#pragma unroll 2",
        f"for (int tile = 0; tile < {t.column_tiles}; ++tile) {{",
        *mine,
        f"int c[{count}][4];",
        f"weights.multiply(c, x{tile});",
        "if (of < rows) {",
        "#pragma unroll",
        "for (int r = 0; r < 2; ++r)",
        f"products[(first * {t.bm} + of) * {COLUMNS} + lane / 4 + r * 8] = __fmul_rn(rounded(c, r, {shift}), s{tile});",
        "}}",
        f"if (++stage == {t.stages}) stage = 0;",
        "}",
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
        f"(const unsigned char*)W.w[1] + (n0 + s) * {words.signed(weight.strides[0])}, {words.signed(weight.strides[1])}",
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
