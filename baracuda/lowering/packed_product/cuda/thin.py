"""Products of few rows of x with packed weights: the codes are read once, and go straight to tensor cores.

16 rows of weights are the rows of an instruction, and its 8 columns the digits of 4 rows of x (where blocks are shorter than a
span of 128 steps of k: of fewer rows, each block of a span in columns of its own, with zeros for the other threads' steps). The
warps of a group have the same rows of weights and take spans in turn. Each thread brings its own codes to a place of its own in
shared memory, some spans ahead. k is walked in chunks, of which a warp takes some spans: what all of a block need of a chunk, the
digits of x, scales and zero points, they load into registers while they work on the chunk before, and put into shared memory at
its end. There the F * S of a group meet as well, and each thread adds those of some sums in rising order of blocks.

Bytes: the codes once, in pieces of 16; the digits of x once for each block of threads, from L2. Operations of a lane for a span
of 16 rows by 4 rows of x, with codes of 4 bits: about 70, of them 24 to make bytes of codes.
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
#: Rows of x of a tile at most, warps of a block of threads, and spans of codes that each has on their way at most.
MOST, WARPS, _STAGES = 16, 16, 8
#: Bytes of a span of a row of x: two digits.
_SPAN = 2 * LONGEST


@dataclass(frozen=True)
class ThinTile:
    """What a block of threads takes: `bm` rows of x, and 16 rows of weights for each of its `groups` of `ways` warps. Each of
    these takes `turns` spans of a chunk, and has `stages` spans of codes in shared memory; a span has `per_span` blocks."""

    bits: int
    per_span: int
    bm: int
    groups: int
    ways: int
    turns: int
    stages: int = 2
    shifts: bool = False

    @property
    def bn(self) -> int:
        return self.groups * COLUMNS

    @property
    def threads(self) -> int:
        return 32 * self.groups * self.ways

    @property
    def column_tiles(self) -> int:
        """Instructions for the digits of all rows of x."""
        return -(-self.bm * self.per_span // 4)

    @property
    def code_bytes(self) -> int:
        """The codes of 16 rows in a span."""
        return COLUMNS * LONGEST * self.bits // 8

    @property
    def spans(self) -> int:
        """Spans of a chunk."""
        return self.ways * self.turns

    @property
    def blocks(self) -> int:
        """Blocks of a chunk."""
        return self.spans * self.per_span

    @property
    def ring_bytes(self) -> int:
        return self.groups * self.ways * self.stages * self.code_bytes

    # What is shared of a chunk, and where: x's digits, S and sums twice, so that one is written while another is read; scales
    # thrice, as they are written before those of the chunk before were read by all.

    @property
    def x_bytes(self) -> int:
        return self.bm * self.spans * _SPAN

    @property
    def s_at(self) -> int:
        return self.ring_bytes + 2 * self.x_bytes

    @property
    def s_bytes(self) -> int:
        """Of S and the sums of integers."""
        return 8 * self.bm * self.blocks

    @property
    def exchange_at(self) -> int:
        return self.s_at + 2 * self.s_bytes

    @property
    def products(self) -> int:
        """F * S of a group."""
        return self.blocks * COLUMNS * self.bm

    @property
    def factors(self) -> int:
        """Scales of a group."""
        return self.blocks * COLUMNS

    @property
    def exchange_words(self) -> int:
        """Of a group: products, scales, zero points."""
        return 2 * self.products + 3 * self.factors + (2 * self.factors if self.shifts else 0)

    @property
    def shared(self) -> int:
        return self.exchange_at + self.groups * self.exchange_words * 4

    def __str__(self) -> str:
        return f"thin {self.bm}x{self.bn} ways{self.ways} turns{self.turns} stages{self.stages}"


def thin_tile(p: PackedProduct, target: Target) -> ThinTile:
    """The tile of a product."""
    bm = min(MOST, 1 << (max(p.product.m, 1) - 1).bit_length())
    groups = 4
    while groups > 1 and -(-p.product.n // (groups * COLUMNS)) * -(-p.product.m // bm) < target.multiprocessors * 3 // 4:
        groups //= 2
    turns = {1: 4, 2: 4, 4: 4, 8: 2, 16: 1}[bm] if is_whole(p) else 1
    tile = ThinTile(p.coding.bits, LONGEST // p.block, bm, groups, WARPS // groups, turns, shifts=p.has_zero_point)
    room = target.shared_bytes * 15 // 16
    while tile.turns > 1 and replace(tile, stages=4).shared > room:
        tile = replace(tile, turns=tile.turns // 2)
    while tile.ways > 1 and replace(tile, stages=2).shared > room:
        tile = replace(tile, ways=tile.ways // 2)
    multiple = tile.turns
    stages = min(_STAGES, (room - replace(tile, stages=0).shared) // (tile.groups * tile.ways * tile.code_bytes))
    return replace(tile, stages=max(multiple, stages // multiple * multiple))


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
        "#pragma unroll",
        f"for (int s = 0; s < {t.stages}; ++s) fetch(s);",
        *_chunk(p, t, words),
        f"float sums[{own}];",
        "#pragma unroll",
        f"for (int o = 0; o < {own}; ++o) sums[o] = 0;",
        "load_chunk(0);",
        "store_chunk(0, 0);",
        "__syncthreads();",
        "int parity = 0, third = 0, stage = 0;",
        "#pragma unroll 1",
        f"for (int from = 0; from < spans; from += {t.spans}, parity ^= 1) {{",
        f"float* const products = exchange + parity * {t.products};",
        f"const float* const factors = exchange + ({2 * t.products} + third * {t.factors});",
        "third = third == 2 ? 0 : third + 1;",
        f"load_chunk(from + {t.spans});",
        "#pragma unroll",
        f"for (int turn = 0; turn < {t.turns}; ++turn) {{",
        f"const int span = from + turn * {t.ways} + way;",
        *_turn(p, t),
        "}",
        *([f"if ((stage += {t.turns}) == {t.stages}) stage = 0;"] if t.stages > t.turns else ()),
        "store_chunk(parity ^ 1, third);",
        "__syncthreads();",
        f"const int there = min(blocks - from * {t.per_span}, {t.blocks});",
        "#pragma unroll",
        f"for (int o = 0; o < {own}; ++o) {{",
        *_place(t),
        f"const float* const column = factors + i % {COLUMNS};",
        f"if (there == {t.blocks}) {{",
        "#pragma unroll 16",
        f"for (int b = 0; b < {t.blocks}; ++b)"
        f" sums[o] = __fmaf_rn(products[b * {t.bm * COLUMNS} + i], column[b * {COLUMNS}], sums[o]);",
        "} else {",
        "#pragma unroll 1",
        f"for (int b = 0; b < there; ++b)"
        f" sums[o] = __fmaf_rn(products[b * {t.bm * COLUMNS} + i], column[b * {COLUMNS}], sums[o]);",
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
    return Lowered((first, launch), tuple(words.values), digits.end, f"packed {p.coding.value} {t}")


def _fetch(p: PackedProduct, t: ThinTile, words: Words) -> list[str]:
    """Declares `fetch`, which starts the warp's next span of codes on its way to a stage of its `ring`."""
    weight, piece = p.product.b[0], min(16, 4 * t.bits)
    codes = [
        "#pragma unroll",
        "for (int r = 0; r < 2; ++r)",
        f"fetch_codes<{t.bits}>(ring + stage * {t.code_bytes} + r * {t.code_bytes // 2} + lane * {piece}, codes[r], fetched,"
        " row_bytes);",
        f"fetched += {16 * t.bits * t.ways};",
        "commit_copies();",
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
        f"unsigned char* const ring = shared + warp * {t.stages * t.code_bytes};",
        f"int fetched = way * {16 * t.bits} + quarter * {4 * t.bits};",
        "const auto fetch = [&](int stage) {",
        *(codes if is_whole(p) else ()),
        "};",
    ]


def _chunk(p: PackedProduct, t: ThinTile, words: Words) -> list[str]:
    """Declares `load_chunk`, which loads what a block of threads needs of the chunk from a span on, beside codes, and
    `store_chunk`, which puts it into shared memory."""
    scale, *zero = p.product.b[1:]
    own = -(-t.factors // (32 * t.ways))
    pieces, per_row = t.bm * t.spans * _SPAN // 16, t.spans * _SPAN // 16
    own_pieces, own_blocks = -(-pieces // t.threads), -(-t.bm * t.blocks // t.threads)

    def pointer(name: str, type_: str, i: int) -> list[str]:
        o = p.product.b[i - 1]
        return [
            f"const {type_}* const {name} = (const {type_}*)W.w[{i}] + (n0 + min(first_line + (int)threadIdx.x % {COLUMNS},"
            f" columns - 1)) * {words.signed(o.strides[0])};",
            f"const i64 {name}_step = {words.signed(o.strides[1])};",
        ]

    def each(count: int, step: int, total: int, number: str) -> list[str]:
        """A loop over what is the thread's own, o, each with its number i."""
        guard = [f"if (i < {total})"] if total % step else []
        return ["#pragma unroll", f"for (int o = 0; o < {count}; ++o) {{", f"const int i = {number} + o * {step};", *guard, "{"]

    of_group = each(own, 32 * t.ways, t.factors, "way * 32 + lane")
    of_pieces = each(own_pieces, t.threads, pieces, "(int)threadIdx.x")
    of_blocks = each(own_blocks, t.threads, t.bm * t.blocks, "(int)threadIdx.x")
    return [
        f"float* const exchange = (float*)(shared + {t.exchange_at}) + group * {t.exchange_words};",
        *pointer("scale", STORAGE[scale.kind], 2),
        *(pointer("zero", STORAGE[zero[0].kind], 3) if zero else ()),
        f"const unsigned group_blocks = {words.unsigned(min(p.blocks_per_group, 1 << 30))};",
        f"float held_scales[{own}];",
        *([f"int held_zeros[{own}];"] if zero else ()),
        f"uint4 held_x[{own_pieces}];",
        f"float held_s[{own_blocks}];",
        *([f"int held_totals[{own_blocks}];"] if p.shifts else ()),
        "const auto load_chunk = [&](int span) {",
        *of_group,
        f"const unsigned block = span * {t.per_span} + i / {COLUMNS};",
        "if (block < blocks) {",
        "const unsigned of = block / group_blocks;",
        "held_scales[o] = scale_of(scale[of * scale_step]);",
        *(["held_zeros[o] = (int)zero[of * zero_step] + OFFSET;"] if zero else ()),
        "}}}",
        *of_pieces,
        f"const int row = i / {per_row}, piece = i % {per_row};",
        f"if (span + piece / {_SPAN // 16} < spans)",
        f"held_x[o] = ((const uint4*)(digits + ((m0 + min(row, rows - 1)) * spans + span) * {_SPAN}))[piece];",
        "}}",
        *of_blocks,
        f"const int row = i / {t.blocks}, at = i % {t.blocks};",
        f"if (span + at / {t.per_span} < spans) {{",
        f"const i64 block = ((m0 + min(row, rows - 1)) * spans + span) * {t.per_span} + at;",
        "held_s[o] = scales[block];",
        *(["held_totals[o] = totals[block];"] if p.shifts else ()),
        "}}}",
        "};",
        "const auto store_chunk = [&](int parity, int third) {",
        *of_group,
        f"exchange[{2 * t.products} + third * {t.factors} + i] = held_scales[o];",
        *([f"((int*)exchange)[{2 * t.products + 3 * t.factors} + parity * {t.factors} + i] = held_zeros[o];"] if zero else ()),
        "}}",
        # the pieces of the lower digit change places, so that neighbouring columns lie in different banks
        *of_pieces,
        f"((uint4*)(shared + {t.ring_bytes} + parity * {t.x_bytes}))[i ^ i / 8 % 2] = held_x[o];",
        "}}",
        *of_blocks,
        f"float* const to = (float*)(shared + {t.s_at} + parity * {t.s_bytes}) + i * 2;",
        "to[0] = held_s[o];",
        *(["((int*)to)[1] = held_totals[o];"] if p.shifts else ()),
        "}}",
        "};",
    ]


def _turn(p: PackedProduct, t: ThinTile) -> list[str]:
    """A span of the warp's."""
    count, per_span = 2 if p.coding.levels else 1, t.per_span
    piece, stage = min(16, 4 * t.bits), "(stage + turn)" if t.stages > t.turns else "turn"
    fetched = [
        f"wait_copies<{t.stages - 1}>();",
        "#pragma unroll",
        "for (int r = 0; r < 2; ++r)",
        f"fetched_codes<{t.bits}>(words[r], ring + {stage} * {t.code_bytes} + r * {t.code_bytes // 2} + lane * {piece});",
        f"fetch({stage});",
    ]
    gathered = [
        "#pragma unroll",
        "for (int r = 0; r < 2; ++r)",
        f"gather_codes<{t.bits}>(words[r], codes[r], byte_step, span * {16 * t.bits} + quarter * {4 * t.bits}, row_bytes);",
    ]
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
        f"Weights<{count}> weights;",
        "weights.make(words);",
        f"const int place = turn * {t.ways} + way, first = place * {per_span} + quarter % {per_span};",
        *(
            [
                f"const int* const line = (const int*)exchange + ({2 * t.products + 3 * t.factors} + parity * {t.factors})"
                f" + first * {COLUMNS} + lane / 4;",
                "const int offsets[2] = {line[0], line[8]};",
            ]
            if p.has_zero_point
            else ()
        ),
        "#pragma unroll",
        f"for (int tile = 0; tile < {t.column_tiles}; ++tile) {{",
        f"const int pair = tile * 4 + lane / 8, row = pair / {per_span}, digit = lane / 4 % 2;",
        f"const uint4* const from_x = (const uint4*)(shared + {t.ring_bytes} + parity * {t.x_bytes}"
        f" + (row * {t.spans} + place) * {_SPAN} + digit * {LONGEST});",
        "uint4 x[2] = {};",
        *([f"if ({' && '.join(mine)})"] if mine else ()),
        "x[0] = from_x[quarter * 2 ^ digit], x[1] = from_x[quarter * 2 + 1 ^ digit];",
        f"int c[{count}][4];",
        "weights.multiply(c, x);",
        *there,
        "{",
        f"const int of = (tile * 4 + quarter) / {per_span};",
        f"const float2 s = ((const float2*)(shared + {t.s_at} + parity * {t.s_bytes}))[of * {t.blocks} + first];",
        "#pragma unroll",
        "for (int r = 0; r < 2; ++r)",
        f"products[(first * {t.bm} + of) * {COLUMNS} + lane / 4 + r * 8] = __fmul_rn(rounded(c, r, {shift}), s.x);",
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
