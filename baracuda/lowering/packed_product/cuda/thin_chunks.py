"""What blocks of threads bring of a chunk of k, for products of few rows of x with packed weights."""

from __future__ import annotations

from baracuda.lowering.matmul.cuda.factors import STORAGE
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.lowering.packed_product.cuda.digits import x_piece
from baracuda.lowering.packed_product.cuda.thin_tile import COLUMNS, SPAN, ThinTile, byte_steps, has_halves, is_whole
from baracuda.lowering.packed_product.problem import LONGEST, PackedProduct


def fetching(p: PackedProduct, t: ThinTile, words: Words) -> list[str]:
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
    # where bytes come one by one they wait in registers
    gathered = [
        f"unsigned held_codes[2][{t.bits}];",
        "const auto gather = [&](int span) {",
        "#pragma unroll",
        "for (int r = 0; r < 2; ++r)",
        f"gather_codes<{t.bits}, {str(has_halves(p)).lower()}>(held_codes[r], codes[r], byte_step,"
        f" span * {16 * t.bits} + quarter * {4 * t.bits}, row_bytes);",
        "};",
    ]
    return [
        # rows that do not exist are the last one again
        "const unsigned char* codes[2];",
        "#pragma unroll",
        "for (int r = 0; r < 2; ++r)",
        "codes[r] = (const unsigned char*)W.w[1] + (n0 + min(first_line + lane / 4 + r * 8, columns - 1))"
        f" * {words.signed(weight.strides[0])};",
        f"const Steps byte_step = {byte_steps(p, words)};",
        f"const int row_bytes = (int){words.signed(p.coding.row_bytes(p.product.k))};",
        f"unsigned char* const ring = shared + warp * {t.stages * t.code_bytes};",
        f"int fetched = way * {16 * t.bits} + quarter * {4 * t.bits};",
        "const auto fetch = [&](int stage) {",
        *(codes if is_whole(p) else ()),
        "};",
        *([] if is_whole(p) else gathered),
    ]


def chunks(p: PackedProduct, t: ThinTile, words: Words, *, fused: bool) -> list[str]:
    """Declares `load_chunk`, which loads what a block of threads needs of the chunk from a span on, beside codes, and
    `store_chunk`, which puts it into shared memory. `fused`: digits are made on the way."""
    scale, *zero = p.product.b[1:]
    own = -(-t.factors // (32 * t.ways))
    declared, loaded, stored = (_made_digits if fused else _read_digits)(p, t, words)

    def pointer(name: str, type_: str, i: int) -> list[str]:
        o = p.product.b[i - 1]
        return [
            f"const {type_}* const {name} = (const {type_}*)W.w[{i}] + (n0 + min(first_line + (int)threadIdx.x % {COLUMNS},"
            f" columns - 1)) * {words.signed(o.strides[0])};",
            f"const i64 {name}_step = {words.signed(o.strides[1])};",
        ]

    of_group = _each(32 * t.ways, t.factors, "way * 32 + lane")
    return [
        f"float* const exchange = (float*)(shared + {t.exchange_at}) + group * {t.exchange_words};",
        *pointer("scale", STORAGE[scale.kind], 2),
        *(pointer("zero", STORAGE[zero[0].kind], 3) if zero else ()),
        f"const unsigned group_blocks = {words.unsigned(min(p.blocks_per_group, 1 << 30))};",
        f"float held_scales[{own}];",
        *([f"int held_zeros[{own}];"] if zero else ()),
        *declared,
        "const auto load_chunk = [&](int span) {",
        *of_group,
        f"const unsigned block = span * {t.per_span} + i / {COLUMNS};",
        "if (block < blocks) {",
        "const unsigned of = block / group_blocks;",
        "held_scales[o] = scale_of(scale[of * scale_step]);",
        *(["held_zeros[o] = (int)zero[of * zero_step] + OFFSET;"] if zero else ()),
        "}}}",
        *loaded,
        "};",
        "const auto store_chunk = [&](int parity, int third) {",
        *of_group,
        f"exchange[{2 * t.products} + third * {t.factors} + i] = held_scales[o];",
        *([f"((int*)exchange)[{2 * t.products + 3 * t.factors} + parity * {t.factors} + i] = held_zeros[o];"] if zero else ()),
        "}}",
        *stored,
        "};",
    ]


def _each(step: int, total: int, number: str) -> list[str]:
    """A loop over what is the thread's (or the warp's) own, o, of so many, each with its number i."""
    guard = [f"if (i < {total})"] if total % step else []
    return [
        "#pragma unroll",
        f"for (int o = 0; o < {-(-total // step)}; ++o) {{",
        f"const int i = {number} + o * {step};",
        *guard,
        "{",
    ]


# In shared memory the 16-byte pieces of the lower digit change places, so that neighbouring columns lie in different banks.


def _read_digits(p: PackedProduct, t: ThinTile, words: Words) -> tuple[list[str], list[str], list[str]]:
    """What declares, loads from a span on, and stores the digits of x, S and sums of a chunk, from where they were written."""
    pieces, per_row = t.bm * t.spans * SPAN // 16, t.spans * SPAN // 16
    of_pieces = _each(t.threads, pieces, "(int)threadIdx.x")
    of_blocks = _each(t.threads, t.bm * t.blocks, "(int)threadIdx.x")
    declared = [
        f"uint4 held_x[{-(-pieces // t.threads)}];",
        f"float held_s[{-(-t.bm * t.blocks // t.threads)}];",
        *([f"int held_totals[{-(-t.bm * t.blocks // t.threads)}];"] if p.shifts else ()),
    ]
    loaded = [
        *of_pieces,
        f"const int row = i / {per_row}, piece = i % {per_row};",
        f"if (span + piece / {SPAN // 16} < spans)",
        f"held_x[o] = ((const uint4*)(digits + ((m0 + min(row, rows - 1)) * spans + span) * {SPAN}))[piece];",
        "}}",
        *of_blocks,
        f"const int row = i / {t.blocks}, at = i % {t.blocks};",
        f"if (span + at / {t.per_span} < spans) {{",
        f"const i64 block = ((m0 + min(row, rows - 1)) * spans + span) * {t.per_span} + at;",
        "held_s[o] = scales[block];",
        *(["held_totals[o] = totals[block];"] if p.shifts else ()),
        "}}}",
    ]
    stored = [
        *of_pieces,
        f"((uint4*)(shared + {t.ring_bytes} + parity * {t.x_bytes}))[i ^ i / 8 % 2] = held_x[o];",
        "}}",
        *of_blocks,
        f"float* const to = (float*)(shared + {t.s_at} + parity * {t.s_bytes}) + i * 2;",
        "to[0] = held_s[o];",
        *(["((int*)to)[1] = held_totals[o];"] if p.shifts else ()),
        "}}",
    ]
    return declared, loaded, stored


def _made_digits(p: PackedProduct, t: ThinTile, words: Words) -> tuple[list[str], list[str], list[str]]:
    """The same of digits that are made from x, a span of a row by a warp."""
    (x,) = p.product.a
    total, warps = t.bm * t.spans, t.groups * t.ways
    of_spans = _each(warps, total, "warp")
    declared = [
        f"float held_x[{-(-total // warps)}][4];",
        f"const {STORAGE[x.kind]}* const from_x = (const {STORAGE[x.kind]}*)W.w[0] + m0 * {words.signed(x.strides[0])};",
        f"const i64 x_row = {words.signed(x.strides[0])}, x_step = {'1' if x.steps(1) == 1 else words.signed(x.strides[1])};",
        f"const i64 k = {words.signed(p.product.k)};",
    ]
    loaded = [
        *of_spans,
        f"const int row = i / {t.spans};",
        f"const i64 k0 = (i64)(span + i % {t.spans}) * {LONGEST};",
        f"const int steps = k - k0 < {LONGEST} ? (int)(k - k0) : {LONGEST};",
        f"load_elements<{x_piece(p)}>(held_x[o], from_x + min(row, rows - 1) * x_row + k0 * x_step, x_step, steps, lane);",
        "}}",
    ]
    stored = [
        *of_spans,
        f"float* const s = (float*)(shared + {t.s_at} + parity * {t.s_bytes}) + i * {2 * t.per_span};",
        f"write_digits<{p.block}, true>(held_x[o], shared + {t.ring_bytes} + parity * {t.x_bytes} + i * {SPAN}, s, (int*)s + 1,"
        " 2, lane);",
        "}}",
    ]
    return declared, loaded, stored
