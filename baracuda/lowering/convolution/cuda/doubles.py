"""Convolutions of integers of 23 or 15 bits on a CUDA device as implicit products in f64, whose sums of a block are exact.

The integers of x and of the weights are made first (`quantized.py`), the weights' with channels filled up to whole tiles of k, so
that no tile has terms of two taps. At the end of a block of channels its sums are scaled and added to those of f32. A sum that
came out as a NaN has a factor that is not finite, or a weight that met nothing, and is taken again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from baracuda.core.elements import ElementKind
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.convolution.cuda.code import coordinates
from baracuda.lowering.convolution.cuda.direct import FINITE, added, finish, partial_bytes
from baracuda.lowering.convolution.cuda.gather import GATHER
from baracuda.lowering.convolution.cuda.integers import quantize
from baracuda.lowering.convolution.cuda.prepare import Prepared, place_terms, table_bytes
from baracuda.lowering.convolution.cuda.product import ImplicitProduct, frame_of, in_segments, pixels_are_rows
from baracuda.lowering.convolution.problem import ConvolutionProblem, Matrix, matrix, product_of
from baracuda.lowering.convolution.quantized import FILLED, Quantized, integer_strides, quantized
from baracuda.lowering.matmul.cuda.epilogue import epilogue, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.factors import Factor, StagingPath, factor_of, staging_path_of
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tiles import Tile
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.lowering.nest.problem import Operand
from baracuda.runtime.program import KernelSource, Launch, Lowered

F32, F64 = ElementKind.F32, ElementKind.F64
#: Tiles, the larger first; k is taken in steps of which channels are whole multiples.
TILES = (Tile(128, 64, FILLED, 8, 4, 3), Tile(64, 64, FILLED, 8, 4, 3, resident=2), Tile(32, 32, FILLED, 4, 4, 3, resident=4))
_REACH = 1 << 28


def integer_products(p: ConvolutionProblem, target: Target) -> Iterator[Lowered]:
    """The programs, the most promising first; none where the problem is not one for them."""
    reach = [
        abs(low) + o * abs(s) + t * abs(d) + i
        for low, o, s, t, d, i in zip(p.low, p.outputs, p.stride, p.taps, p.dilation, p.inputs, strict=True)
    ]
    if not p.bits or not p.is_plain or not p.rank or p.terms < FILLED or p.columns < 8 or max(reach) >= _REACH:
        return
    x, w, start = quantized(p)
    filled = -(-p.channels // FILLED) * FILLED
    if prod(p.taps) * filled >= _REACH:
        return
    names = ["b", "g", *(f"i{a}" for a in p.spatial)]
    strides, *_ = integer_strides(p)
    rank = p.rank
    whole = replace(
        p,
        channels=filled,
        x=Operand(F32, (*(strides[name] for name in names), *(0,) * rank, 1)),
        w=Operand(F32, p.w.strides),
    )
    m = matrix(whole, groups=False)
    c = replace(product_of(whole, m), accumulator=F64)
    zeros = (0,) * len(m.batch)
    by_group = tuple(whole.terms * p.columns if name == "g" else 0 for name in m.batch)
    gathered = Operand(F32, (*zeros, whole.terms, 1))
    if pixels_are_rows(m):
        c = replace(c, a=(gathered,), b=(Operand(F32, (*by_group, p.columns, 1)),))
    else:
        c = replace(c, a=(Operand(F32, (*by_group, 1, p.columns)),), b=(Operand(F32, (*zeros, 1, whole.terms)),))
    if p.segments > 1:
        c = replace(in_segments(whole, replace(c, accumulator=F32), packed_left=not pixels_are_rows(m)), accumulator=F64)
        m = replace(m, batch=("segment", *m.batch))
    blocks = [prod(c.batch) * -(-c.m // t.bm) * -(-c.n // t.bn) for t in TILES]
    first = next((i for i, n in enumerate(blocks) if n >= target.multiprocessors), len(TILES) - 1)
    for tile in (TILES[first], *(t for i, t in enumerate(TILES) if i != first)):
        lowered = _lower(p, whole, m, c, tile, start, (x, w), target)
        if lowered is not None:
            yield lowered


class _Kernel(ImplicitProduct):
    """Writes the kernel. `whole` is the problem of the integers, `p` that of the elements."""

    def __init__(
        self, p: ConvolutionProblem, whole: ConvolutionProblem, m: Matrix, c: MatmulProblem, a: Factor, b: Factor, tile: Tile,
        words: Words, at: Prepared, source: int,
    ) -> None:  # fmt: skip
        super().__init__(whole, m, c, a, b, tile, words, at)
        self.elements = p
        self.source = f"(W.w[{words.operands}] + {words.signed(source)})"
        rows = tile.bm if self.left else tile.bn
        self.bases = -(-self.shared // 16) * 16
        self.shared = max(self.bases + 8 * rows, sums_bytes(replace(c, accumulator=F32), tile))

    def rows(self) -> list[str]:
        """The places, and the number of the first pixel of each row's picture."""
        p, m, words = self.p, self.m, self.words
        run, first, extent, count = (
            (m.rows, "m0", "rows", self.tile.bm) if self.left else (m.columns, "n0", "columns", self.tile.bn)
        )
        lines, at = coordinates(p, run, f"{first} + r", words, "base")
        at |= {name: f"c{i}" for i, name in enumerate(m.batch)}
        pixels = words.signed(prod(p.inputs))
        number = f"((i64)({at.get('b', '0')}) * {words.signed(p.groups)} + {at.get('g', '0')}) * {pixels}"
        return [
            f"i64* const bases = (i64*)(shared + {self.bases});",
            f"for (int r = threadIdx.x; r < {count}; r += {self.tile.threads}) {{",
            "i64 base = 0;",
            f"if (r < {extent}) {{",
            *lines,
            f"base = {number};",
            "}",
            "bases[r] = base;",
            "}",
            *super().rows(),
        ]

    def main(self) -> list[str]:
        t = self.tile
        p, words = self.elements, self.words
        lines = super().main()
        per_tap = self.p.channels // FILLED
        begin = "0" if p.segments == 1 else f"(int)(c0 * {words.signed(p.segment)})"
        ahead = [
            f"float result[{t.tm}][{t.tn}];",
            "#pragma unroll",
            f"for (int i = 0; i < {t.tm}; ++i)",
            "#pragma unroll",
            f"for (int j = 0; j < {t.tn}; ++j) result[i][j] = 0;",
            f"int tap = {begin}, walked = 0;",
            f"const int per_tap = (int){words.signed(per_tap)};",
            f"const i64 blocks = {words.signed(p.blocks)};",
            *self._scales(),
        ]
        end = lines.index("}}")
        lines[end : end + 1] = ["}", *self._fold(), "}"]
        return [*ahead, *lines]

    @property
    def places_of_sums(self) -> tuple[str, str]:
        """The row and the column of sum [i][j]: `place` has those of the first of some neighbours."""
        row, column = self.place
        return row, f"{column} + j % {self.chunk_b}"

    def _scales(self) -> list[str]:
        """Where the scales are."""
        p, words = self.elements, self.words
        x, w, _ = quantized(p)
        scratch = f"W.w[{words.operands}]"
        group = next((f"c{i}" for i, name in enumerate(self.m.batch) if name == "g"), "0")
        taps, columns = words.signed(prod(p.taps)), words.signed(p.columns)
        lines = [
            f"const float* const x_scales = (const float*)({scratch} + {words.signed(x.scales)});",
            f"const float* const w_scales = (const float*)({scratch} + {words.signed(w.scales)})"
            f" + (i64){group} * {taps} * blocks * {columns};",
            f"const i64 all_columns = {columns};",
            f"const Place<{p.rank}>* const table = (const Place<{p.rank}>*)({scratch} + {words.signed(self.at.table)});",
        ]
        pitch = 1
        for a in reversed(p.spatial):
            lines.append(f"const i64 apart{a} = {words.signed(pitch)}; const int size{a} = (int){words.signed(p.inputs[a])};")
            pitch *= p.inputs[a]
        return lines

    def _fold(self) -> list[str]:
        """Adds a block's sums to those of f32."""
        t, p = self.tile, self.elements
        row, column = self.places_of_sums
        pixel, other = (row, column) if self.left else (column, row)
        mine, theirs = (("i", t.tm), ("j", t.tn)) if self.left else (("j", t.tn), ("i", t.tm))
        extent, first = ("columns", "n0") if self.left else ("rows", "m0")
        there = " && ".join(f"(unsigned)(out.at[{a}] + step.at[{a}]) < (unsigned)size{a}" for a in p.spatial)
        number = " + ".join(f"(out.at[{a}] + step.at[{a}]) * apart{a}" for a in p.spatial)
        each = BLOCK // FILLED
        return [
            "++walked;",
            f"if (walked % {each} == 0 || walked == per_tap) {{",
            f"const int block = (walked - 1) / {each};",
            f"const Place<{p.rank}> step = table[(i64)tap * per_tap * {FILLED}];",
            f"float x_scale[{mine[1]}], w_scale[{theirs[1]}];",
            "#pragma unroll",
            f"for (int {mine[0]} = 0; {mine[0]} < {mine[1]}; ++{mine[0]}) {{",
            f"const int r = {pixel};",
            f"const Place<{p.rank}> out = outs[r];",
            f"x_scale[{mine[0]}] = {there} ? x_scales[(bases[r] + {number}) * blocks + block] : 1.0f;",
            "}",
            "#pragma unroll",
            f"for (int {theirs[0]} = 0; {theirs[0]} < {theirs[1]}; ++{theirs[0]}) {{",
            f"const int q = {other};",
            f"w_scale[{theirs[0]}] = q < {extent} ? w_scales[((i64)tap * blocks + block) * all_columns + {first} + q] : 1.0f;",
            "}",
            "#pragma unroll",
            f"for (int i = 0; i < {t.tm}; ++i)",
            "#pragma unroll",
            f"for (int j = 0; j < {t.tn}; ++j) {{",
            f"const float u = x_scale[{mine[0]}], v = w_scale[{theirs[0]}], low = u < v ? u : v, high = u < v ? v : u;",
            "result[i][j] = __fmaf_rn(__fmul_rn(__double2float_rn(sum0[i][j]), low), high, result[i][j]);",
            "sum0[i][j] = 0;",
            "}",
            "if (walked == per_tap) { walked = 0; ++tap; }",
            "}",
        ]

    def sums_to_shared(self) -> list[str]:
        t, pitch = self.tile, sums_pitch(replace(self.c, accumulator=F32), self.tile)
        row, column = self.places_of_sums
        return [
            "wait_copies<0>();",
            "__syncthreads();",
            "float* const sums0 = (float*)shared;",
            "#pragma unroll",
            f"for (int i = 0; i < {t.tm}; ++i)",
            "#pragma unroll",
            f"for (int j = 0; j < {t.tn}; ++j) sums0[({row}) * {pitch} + {column}] = result[i][j];",
            "__syncthreads();",
        ]

    def again(self) -> list[str]:
        return [] if self.p.segments > 1 else self.anew(self.elements, sums_pitch(replace(self.c, accumulator=F32), self.tile))


def _lower(
    p: ConvolutionProblem,
    whole: ConvolutionProblem,
    m: Matrix,
    c: MatmulProblem,
    tile: Tile,
    start: int,
    factors: tuple[Quantized, Quantized],
    target: Target,
) -> Lowered | None:  # fmt: skip
    x, w = factors
    at = Prepared(w.integers, start, start + table_bytes(whole))
    left = pixels_are_rows(m)
    ways = []
    for number, o in enumerate((*c.a, *c.b)):
        rows = tile.bm if number == 0 else tile.bn
        if (number == 0) is left:
            ways.append(StagingPath(F32, F64, rows, tile.bk, 1, False, True, True, True))
        else:
            way = staging_path_of(o, c, tile, left=number == 0)
            ways.append(replace(way, raw=True, asynchronous=True))
    a, b = (factor_of(c, number, way, exchanged=False) for number, way in enumerate(ways))
    words = Words(len(p.tensors), p.epilogue.params)
    launches = [quantize(x, p, words), quantize(w, p, words), place_terms(whole, at, words, p.channels)]
    kernel = _Kernel(p, whole, m, c, a, b, tile, words, at, x.integers)
    if kernel.shared > target.shared_bytes:
        return None
    stored = replace(c, accumulator=F32)
    frame = frame_of(whole, stored, words, at)
    rest, definitions = epilogue(stored, frame, tile)
    body = [
        "extern __shared__ __align__(16) unsigned char shared[];",
        *kernel.where(),
        *kernel.rows(),
        *kernel.main(),
        *kernel.sums_to_shared(),
        *kernel.again(),
        *rest,
    ]
    source = frame.kernel(body, tile.threads, PRODUCTS + GATHER + FINITE + definitions, blocks=tile.resident)
    blocks = prod(c.batch) * -(-c.m // tile.bm) * -(-c.n // tile.bn)
    launches.append(Launch(KernelSource(source), (blocks, 1, 1), tile.threads, kernel.shared))
    name = f"integers of {p.bits} bits in doubles, {tile}"
    if p.segments == 1:
        return Lowered(tuple(launches), tuple(words.values), at.nbytes, name)
    plain = replace(m, batch=m.batch[1:])
    launches.append(finish(p, plain, words, added(p, plain, words, at.nbytes, again=True)))
    return Lowered(tuple(launches), tuple(words.values), at.nbytes + partial_bytes(p), f"{name}, in segments")
