"""What blocks of threads bring of a chunk of k, for products of few rows of x with packed weights."""

from __future__ import annotations

from baracuda.lowering.matmul.cuda.factors import STORAGE
from baracuda.lowering.nest.cuda.kernel import Words, piece
from baracuda.lowering.packed_product.cuda.digits import x_piece
from baracuda.lowering.packed_product.cuda.thin_tile import COLUMNS, PITCH, SPAN, ThinTile, byte_steps, has_halves, is_whole
from baracuda.lowering.packed_product.problem import LONGEST, PackedProduct

#: Scales that are loaded at once at most.
_WIDE = 4


def fetching(p: PackedProduct, t: ThinTile, words: Words) -> list[str]:
    """Declares `fetch`, which starts the warp's next span of codes on its way to a stage of its `ring`."""
    weight, piece = p.product.b[0], min(16, 4 * t.bits)
    codes = [
        "#pragma unroll",
        "for (int r = 0; r < 2; ++r)",
        f"fetch_codes<{t.bits}, {p.block}>(ring + stage * {t.code_bytes} + r * {t.code_bytes // 2} + lane * {piece}, codes[r],"
        " fetched, quarter, row_bytes);",
        f"fetched += {t.ways};",
        "commit_copies();",
    ]
    # where bytes come one by one they wait in registers
    gathered = [
        f"unsigned held_codes[2][{t.bits}];",
        "const auto gather = [&](int span) {",
        "#pragma unroll",
        "for (int r = 0; r < 2; ++r)",
        f"gather_codes<{t.bits}, {p.block}, {str(has_halves(p)).lower()}>(held_codes[r], codes[r], byte_step, span, quarter,"
        " row_bytes);",
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
        "int fetched = way;",
        "const auto fetch = [&](int stage) {",
        *(codes if is_whole(p) else ()),
        "};",
        *([] if is_whole(p) else gathered),
    ]


def chunks(p: PackedProduct, t: ThinTile, words: Words, *, fused: bool) -> list[str]:
    """Declares `load_chunk`, which loads what a block of threads needs of the chunk from a span on, beside codes, and
    `store_chunk`, which puts it into shared memory. `fused`: digits are made on the way."""
    zero = p.has_zero_point
    declared, loaded, stored = (_made_digits if fused else _read_digits)(p, t, words)
    wide = _side_by_side(p, t)
    own = -(-t.blocks * COLUMNS // wide // (32 * t.ways))
    of_group = [
        *_each(32 * t.ways, t.blocks * COLUMNS // wide, "way * 32 + lane"),
        # neighbouring threads have neighbouring blocks of a row, or neighbouring rows
        f"const int line = i / {t.blocks // wide}, first = i % {t.blocks // wide} * {wide};"
        if wide > 1
        else f"const int line = i % {COLUMNS}, first = i / {COLUMNS};",
    ]
    named = [("scale", "float", "scale_of({})"), *([("zero", "int", "(int){} + OFFSET")] if zero else ())]
    load: list[str] = []
    for number, (name, _, value) in enumerate(named, 1):
        o = p.product.b[number]
        kind, step = STORAGE[o.kind], words.signed(o.strides[1])
        at = f"(const {kind}*)W.w[{number + 1}] + (n0 + min(first_line + line, columns - 1)) * {words.signed(o.strides[0])}"
        load.append(f"const {kind}* const {name} = {at};")
        if wide > 1:
            load += [
                f"if (block + {wide} <= blocks) {{",
                f"Vec<{kind}, {wide}> got;",
                f"load<{wide}>(got, {name} + block);",
                "#pragma unroll",
                f"for (int e = 0; e < {wide}; ++e) held_{name}[o][e] = {value.format('got.v[e]')};",
                "} else",
            ]
        of = f"divide(block + e, {words.divisor(min(p.blocks_per_group, 1 << 30))})"
        load += [
            "#pragma unroll",
            f"for (int e = 0; e < {wide}; ++e)",
            f"if (block + e < blocks) held_{name}[o][e] = {value.format(f'{name}[{of} * {step}]')};",
        ]
    return [
        f"float* const exchange = (float*)(shared + {t.exchange_at}) + group * {t.exchange_words};",
        *[f"{type_} held_{name}[{own}][{wide}];" for name, type_, _ in named],
        *declared,
        "const auto load_chunk = [&](int span) {",
        *of_group,
        f"const unsigned block = span * {t.per_span} + first;",
        *load,
        "}}",
        *loaded,
        "};",
        "const auto store_chunk = [&](int parity, int third) {",
        *of_group,
        "#pragma unroll",
        f"for (int e = 0; e < {wide}; ++e) {{",
        f"const int at = (first + e) * {PITCH} + line;",
        f"exchange[{t.factors_at} + third * {t.factors} + at] = held_scale[o][e];",
        *([f"((int*)exchange)[{t.zeros_at} + parity * {t.factors} + at] = held_zero[o][e];"] if zero else ()),
        "}}}",
        *stored,
        "};",
    ]


def _side_by_side(p: PackedProduct, t: ThinTile) -> int:
    """How many scales, and zero points, of neighbouring blocks are loaded at once."""
    if p.blocks_per_group > 1 or t.blocks % _WIDE:
        return 1
    extents = p.product.n, p.blocks
    whole = all(o.steps(1) == 1 and piece(o, _WIDE, 1, extents) == _WIDE for o in p.product.b[1:])
    return _WIDE if whole else 1


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
