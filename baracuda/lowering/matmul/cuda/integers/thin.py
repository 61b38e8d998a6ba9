"""Thin integer products, of at most `THIN` rows: what counts is how fast the wide factor arrives, so it is read once, as stored.

A small launch writes the digits of the thin factor (digits.py), or its integers as f64 (thin_doubles.py) where there are few
rows and the GPU is fast at f64: digits of a wide element take longer to make. In the product, 16 columns of the wide factor are
the rows of a tensor-core instruction and 8 thin rows its columns; a single row may do without. A warp brings blocks of 16
columns by 128 steps of k, some ahead, to its own part of shared memory; each thread then has 64 of a block's elements, of which
it makes the very registers that the instruction reads: the order of k inside a block is free, as its P is exact. The warps of a
`group` have the same columns and take blocks in turn; their P meet in shared memory, where each thread adds those of some sums
in rising order.

Operations of a lane for an element of 16 bits, at 23 bits and up to 8 rows, counted for sm_90: as digits 12, of them 5 to make
them (fma, conversion to an integer, bytes sorted); as f64 11, of them 5 (widened, fma, sum, shift, mask); 1 for the largest
magnitude, the rest what a block has once. Bytes: the wide factor once; the thin one's digits or f64 once for each block of
threads, from L2. On an H200 a row by 8192x8192 in bf16 takes 57 us, of which bringing the wide factor takes 42, and waiting for
thin integers 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from baracuda.formula.integer_products import BLOCK, digits
from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.factors import STORAGE, small_float_definitions
from baracuda.lowering.matmul.cuda.integers.digits import PLANE, ROWS, SCALES, DigitFactor, digit_factors, digits_launch
from baracuda.lowering.matmul.cuda.integers.prelude import COMBINE, SCALE, WARP_INSTRUCTIONS
from baracuda.lowering.matmul.cuda.integers.product import records, sum_taken_anew
from baracuda.lowering.matmul.cuda.integers.thin_doubles import DoubleFactor, doubles_launch
from baracuda.lowering.matmul.cuda.integers.thin_prelude import THIN as CODE
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tile_place import tile_extents
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Target, Words, offset, piece, unravel
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Rows of a thin product at most: those of a record.
THIN = ROWS
#: Columns and thin rows of a tensor-core instruction.
_COLUMNS, _ROWS = 16, 8
#: Blocks that a warp has on their way at most.
_STAGES = 4


@dataclass(frozen=True)
class ThinTile:
    """What a block of threads takes: `tiles` times 8 rows, and 16 columns for each of its `groups` of `ways` warps, which have
    `stages` blocks of k in shared memory, of `stage_bytes` each."""

    tiles: int
    groups: int
    ways: int
    stages: int
    stage_bytes: int

    @property
    def bm(self) -> int:
        return self.tiles * _ROWS

    @property
    def bn(self) -> int:
        return self.groups * _COLUMNS

    @property
    def threads(self) -> int:
        return 32 * self.groups * self.ways

    @property
    def ring_bytes(self) -> int:
        """Shared memory for the wide factor's blocks."""
        return self.groups * self.ways * self.stages * self.stage_bytes

    @property
    def turn_floats(self) -> int:
        """What a group exchanges of a turn: the P of all its warps, and the scales."""
        return self.ways * (self.tiles * 4 * 32 + _COLUMNS + self.tiles * _ROWS)

    @property
    def shared(self) -> int:
        return self.ring_bytes + self.groups * 2 * self.turn_floats * 4

    def __str__(self) -> str:
        return f"thin {self.bm}x{self.bn} ways{self.ways} stages{self.stages}"


def thin_tile(c: MatmulProblem, target: Target) -> ThinTile | None:
    """The tile of a thin product; None where there is no room. Three quarters of the shared memory that a block may have are
    enough: the rest holds thin digits, as cache."""
    tiles = next(t for t in (1, 2, 4, 8) if t * _ROWS >= c.m)
    stage = _COLUMNS * BLOCK * c.b[0].kind.itemsize
    for warps in (16, 8, 4) if tiles <= 2 else (8, 4):
        groups = 4
        while groups > 1 and prod(c.batch) * -(-c.n // (groups * _COLUMNS)) < target.multiprocessors * 3 // 4:
            groups //= 2
        tile = ThinTile(tiles, groups, warps // groups, 0, stage)
        stages = min(_STAGES, (target.shared_bytes * 3 // 4 - tile.shared) // (warps * stage))
        if stages >= 2:
            return ThinTile(tiles, groups, warps // groups, stages, stage)
    return None


def _way(f: DigitFactor) -> str | None:
    """The C++ type by which a wide factor's blocks travel; None where its elements are no whole pieces."""
    rank, size = len(f.batch), f.operand.kind.itemsize
    extents = (*f.batch, f.rows, f.k)
    for name, axis, width in (("AlongK", rank + 1, min(8, 16 // size)), ("AlongRows", rank, 8)):
        if f.operand.steps(axis) == 1 and piece(f.operand, width, axis, extents) == width and (name == "AlongK" or size == 2):
            return f"{name}<{STORAGE[f.operand.kind]}>"
    return None


def lower_thin_integers(c: MatmulProblem, target: Target, *, exchanged: bool, doubles: bool = False) -> Lowered | None:
    """The digits of the thin factor, or its integers as f64, then the product; None where the wide factor's elements are no whole
    pieces, or do not fit. `exchanged` says that the factors have changed places."""
    words = Words(len(c.tensors), c.epilogue.params)
    a, b = digit_factors(c, exchanged=exchanged, left_tile=ROWS, right_tile=ROWS)
    way, tile = _way(b), thin_tile(c, target)
    if way is None or tile is None:
        return None
    count, t = digits(c.bits), tile
    if doubles:
        a = numbers = DoubleFactor.of(a)
        first, pitch, held = doubles_launch(c, numbers, words), numbers.record_rows, numbers.record_rows
        # H200, 8192x8192 along the rows in bf16: 73 us on tensor cores, 82 without; along k in f32: 93 and 81.
        alone = str(held == 1 and way.startswith("AlongK")).lower()
        product = f"block_product_f64<{c.bits}, {t.tiles}, {held}, {alone}>"
        thin = f"(const double*)(a_digits + record * {a.record_bytes})"
    else:
        first, pitch, held = digits_launch(c, (a,), words), SCALES, t.bm
        product, thin = f"block_product<{count}, {t.tiles}>", f"a_digits + record * {count * PLANE}"
    own = -(-4 * t.tiles // t.ways)
    frame = epilogue_frame(c, words)
    finish, definitions = epilogue(c, frame, tile)
    body = [
        "extern __shared__ __align__(128) unsigned char shared[];",
        *_where(c, tile, words),
        f"const unsigned blocks = {words.unsigned(a.blocks)}, turns = (blocks + {t.ways - 1}) / {t.ways};",
        f"const unsigned char* const workspace = (const unsigned char*)W.w[{words.operands}];",
        *records(a, words, "0"),
        *_fetch(c, b, tile, words, way),
        f"float* const exchange = (float*)(shared + {t.ring_bytes}) + group * {2 * t.turn_floats};",
        f"float sums[{own}];",
        "#pragma unroll",
        f"for (int o = 0; o < {own}; ++o) sums[o] = 0;",
        "#pragma unroll",
        f"for (int s = 0; s < {t.stages}; ++s) fetch(s);",
        "unsigned stage = 0;",
        "#pragma unroll 1",
        "for (unsigned turn = 0; turn < turns; ++turn) {",
        f"const unsigned block = turn * {t.ways} + way;",
        f"float* const products = exchange + turn % 2 * {t.turn_floats};",
        f"float* const wide_scales = products + {t.ways * t.tiles * 128};",
        f"float* const thin_scales = wide_scales + {t.ways * _COLUMNS};",
        f"wait_copies<{t.stages - 1}>();",
        "__syncwarp();",
        "if (block < blocks) {",
        "const i64 record = a_record + block;",
        # Loaded now, for their way is long, and needed after the product.
        *[f"const float thin_scale{i} = a_scales[record * {pitch} + (lane + {i}) % {held}];" for i in range(0, t.bm, 32)],
        f"Vec<{STORAGE[b.operand.kind]}, 8> x[2][4];",
        f"wide_factor.read(x, ring + stage * {t.stage_bytes});",
        "const unsigned most[2] = {greatest(x[0]), greatest(x[1])};",
        "__syncwarp();",
        "fetch(stage);",
        "float scales[2];",
        f"{product}(products + way * {t.tiles * 128}, scales, x, most, {thin}, lane);",
        *[f"if (lane + {i} < {t.bm}) thin_scales[way * {t.bm} + lane + {i}] = thin_scale{i};" for i in range(0, t.bm, 32)],
        "#pragma unroll",
        f"for (int r = 0; r < 2; ++r) if (lane % 4 == 0) wide_scales[way * {_COLUMNS} + lane / 4 + r * 8] = scales[r];",
        "}",
        f"if (++stage == {t.stages}) stage = 0;",
        f"group_barrier(group, {32 * t.ways});",
        "#pragma unroll",
        f"for (int w = 0; w < {t.ways}; ++w)",
        f"if (turn * {t.ways} + w < blocks) {{",
        "#pragma unroll",
        f"for (int o = 0; o < {own}; ++o) {{",
        *_place(tile),
        f"if (i < {4 * t.tiles})",
        f"sums[o] = add_block<false>(products[(w * {4 * t.tiles} + i) * 32 + lane], wide_scales[w * {_COLUMNS} + wide],"
        f" thin_scales[w * {t.bm} + r], sums[o]);",
        "}}}",
        "wait_copies<0>();",
        "__syncthreads();",
        "float* const sums0 = (float*)shared;",
        "#pragma unroll",
        f"for (int o = 0; o < {own}; ++o) {{",
        *_place(tile),
        f"if (i < {4 * t.tiles}) {{",
        f"const int s = group * {_COLUMNS} + wide;",
        *sum_taken_anew(c, a, b, words, "sums[o]"),
        f"sums0[r * {sums_pitch(c, tile)} + s] = sums[o];",
        "}}",
        "__syncthreads();",
        *finish,
    ]
    tables = PRODUCTS + COMBINE + WARP_INSTRUCTIONS + SCALE + CODE + small_float_definitions(c) + definitions
    source = frame.kernel(body, tile.threads, tables, blocks=1)
    grid = prod(c.batch) * -(-c.n // tile.bn)
    launch = Launch(KernelSource(source), (grid, 1, 1), tile.threads, max(tile.shared, sums_bytes(c, tile)))
    return Lowered((first, launch), tuple(words.values), a.end, f"integers {c.bits} {'f64 ' if doubles else ''}{tile}")


def _where(c: MatmulProblem, tile: ThinTile, words: Words) -> list[str]:
    """The block's place in the result, and the thread's in the block."""
    across = -(-c.n // tile.bn)
    return [
        f"const unsigned product = divide(blockIdx.x, {words.divisor(across)});",
        f"const i64 m0 = 0, n0 = (i64)(blockIdx.x - product * {words.unsigned(across)}) * {tile.bn};",
        *(unravel("product", c.batch, words, "c", wide=False) if c.batch else ()),
        *tile_extents(c, words, tile.bm, tile.bn),
        "const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;",
        f"const int group = warp / {tile.ways}, way = warp % {tile.ways};",
    ]


def _fetch(c: MatmulProblem, b: DigitFactor, tile: ThinTile, words: Words, way: str) -> list[str]:
    """Declares `fetch`, which starts a block of the wide factor on its way to a stage of the warp's `ring`."""
    o, rank = b.operand, len(c.batch)
    strides = [None if o.steps(i) == 0 else words.signed(o.strides[i]) for i in range(rank)]
    row_stride, k_stride = ("(i64)1" if o.steps(rank + i) == 1 else words.signed(o.strides[rank + i]) for i in (0, 1))
    kind = STORAGE[o.kind]
    # Columns that do not exist are copies of no bytes, from some that do.
    first = f"n0 + (group * {_COLUMNS} < columns ? group * {_COLUMNS} : 0)"
    return [
        f"unsigned char* const ring = shared + warp * {tile.stages * tile.stage_bytes};",
        f"const {kind}* const from = (const {kind}*)W.w[{b.number}] + ({offset(strides, 'c')} + ({first}) * {row_stride});",
        f"const i64 k_stride = {k_stride};",
        f"{way} wide_factor(from, {row_stride}, k_stride, columns - group * {_COLUMNS}, (int){words.signed(c.k)}, "
        f"way * {BLOCK}, lane);",
        "const auto fetch = [&](unsigned stage) {",
        f"if (wide_factor.steps > 0) wide_factor.fetch(ring + stage * {tile.stage_bytes});",
        f"wide_factor.advance({tile.ways * BLOCK}, {tile.ways * BLOCK} * k_stride);",
        "commit_copies();",
        "};",
    ]


def _place(tile: ThinTile) -> list[str]:
    """The number i of a thread's sum o among the group's, its row r, and its column in the group."""
    return [
        f"const int i = way + o * {tile.ways};",
        f"const int r = i / 4 * {_ROWS} + lane % 4 * 2 + i % 2, wide = lane / 4 + i / 2 % 2 * 8;",
    ]
