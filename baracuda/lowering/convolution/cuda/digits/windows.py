"""Digits of a convolution's factors, and the windows that meet them.

The digits of x are those of integer products (`lowering/matmul/cuda/integers/digits.py`), its positions for rows and channels for
k, so a position's digits are made once for all windows. The weights' digits have a batch for each tap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from baracuda.core.errors import UnsupportedError
from baracuda.formula.integer_products import digits
from baracuda.lowering.convolution.cuda.windows import Windows, check_windows, positions, rows_of, weights
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_pitch
from baracuda.lowering.matmul.cuda.factors import STORAGE, small_float_definitions
from baracuda.lowering.matmul.cuda.integers.digits import ROWS, DigitFactor
from baracuda.lowering.matmul.cuda.integers.product import GROUP, SquareSums
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tile_place import tile_extents, tile_place
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.runtime.program import KernelSource, Launch

#: Threads of a block that adds parts up.
JOINING = 256


@dataclass(frozen=True)
class DigitWindows(Windows):
    """A convolution in integers. x, w: the digits' places in the workspace."""

    x: DigitFactor
    w: DigitFactor

    @property
    def parts(self) -> int:
        """Parts that sums are taken in, each a tile's own."""
        return -(-self.taps // self.problem.segment) if self.problem.segment else 1

    @property
    def tiled(self) -> MatmulProblem:
        """The product whose tiles are taken: parts are its last batch."""
        return replace(self.product, batch=(*self.product.batch, self.parts)) if self.problem.segment else self.product

    @property
    def nbytes(self) -> int:
        """Of the workspace: digits and parts."""
        c = self.product
        return self.w.end + (self.parts * prod(c.batch) * c.m * c.n * 4 if self.problem.segment else 0)

    def taps_of_part(self, words: Words) -> list[str]:
        """Declares which taps a tile takes, and how many blocks they are."""
        if not self.problem.segment:
            return [f"const unsigned terms = {words.unsigned(self.taps)} * blocks;"]
        part, length = f"c{len(self.batches)}", words.unsigned(self.problem.segment)
        return [
            f"const unsigned first_tap = {part} * {length}, taps_left = {words.unsigned(self.taps)} - first_tap;",
            f"const unsigned last_tap = first_tap + (taps_left < {length} ? taps_left : {length});",
            "const unsigned terms = (last_tap - first_tap) * blocks;",
        ]

    def _part(self, words: Words, part: str) -> str:
        """The C++ address of a batch's sums of a part."""
        number = part
        for i, n in enumerate(self.product.batch):
            number = f"({number} * {words.unsigned(n)} + c{i})"
        each = f"(i64){number} * {words.signed(self.product.m)} * {words.signed(self.product.n)}"
        return f"(float*)(W.w[{words.operands}] + {words.word(self.w.end)}) + {each}"

    def store_part(self, words: Words, count: int) -> list[str]:
        """Stores the sums of a thread."""
        return [
            f"float* const to = {self._part(words, f'c{len(self.batches)}')};",
            "#pragma unroll",
            f"for (int i = 0; i < {count}; ++i) {{",
            "const int r = row + i / 2 % 2 * 8, s = column + i / 4 * 8 + i % 2;",
            f"if (r < rows && s < columns) to[(m0 + r) * {words.signed(self.product.n)} + n0 + s] = sums[i];",
            "}",
        ]

    def join(self, words: Words) -> Launch:
        """The launch that adds the parts up, in rising order, and does what follows."""
        c, tile = self.product, SquareSums(JOINING)
        tiles_m, tiles_n = -(-c.m // ROWS), -(-c.n // ROWS)
        frame, pitch = epilogue_frame(self.finished, words), sums_pitch(self.finished, tile)
        finish, definitions = epilogue(self.finished, frame, tile)
        coordinates = "".join(f", c{i}" for i in range(len(self.batches)))
        at = f"s * {pitch} + r" if self.turned else f"r * {pitch} + s"
        body = [
            f"__shared__ float sums0[{ROWS} * {pitch}];",
            "const unsigned number = blockIdx.x;",
            *tile_place(c, words, tiles_m, tiles_n, GROUP, "number"),
            f"const i64 m0 = (i64)tile_m * {ROWS}, n0 = (i64)tile_n * {ROWS};",
            *tile_extents(c, words, ROWS, ROWS),
            f"const float* const from = {self._part(words, '0u')};",
            f"const i64 next = {words.signed(prod(c.batch) * c.m * c.n)};",
            "#pragma unroll 1",
            f"for (int e = threadIdx.x; e < {ROWS * ROWS}; e += {JOINING}) {{",
            f"const int r = e / {ROWS}, s = e % {ROWS};",
            "float total = 0;",
            "if (r < rows && s < columns) {",
            f"const float* at = from + (m0 + r) * {words.signed(c.n)} + n0 + s;",
            f"for (unsigned part = 0; part < {words.unsigned(self.parts)}; ++part, at += next) total = __fadd_rn(total, *at);",
            f"if (total != total) total = sum_of_unusual(W, total, (unsigned)(m0 + r), n0 + s{coordinates});",
            "}",
            f"sums0[{at}] = total;",
            "}",
            "__syncthreads();",
            *self.epilogue(words, finish),
        ]
        tables = PRODUCTS + small_float_definitions(c) + self.unusual(words) + definitions
        source = frame.kernel(body, JOINING, tables)
        return Launch(KernelSource(source), (prod(c.batch) * tiles_m * tiles_n, 1, 1), JOINING)

    @property
    def blocks(self) -> int:
        """Blocks of the channels of a tap."""
        return self.x.blocks

    @property
    def steps(self) -> int:
        """Steps of 32 channels that a block has."""
        return {1: 1, 2: 2}.get(-(-self.problem.channels // 32), 4)

    def copies(self, chunks: int, warps: int, to: str, scales: str) -> list[str]:
        """Sends a block of a tap on its way, by so many warps."""
        each, count = -(-chunks // warps), digits(self.problem.bits)
        return [
            "#pragma unroll",
            f"for (int h = 0; h < {each}; ++h) {{",
            f"const int chunk = bringing + h * {warps};",
            f"if (chunk < {chunks}) {{",
            f"copy_scales({scales} + chunk * 32, a_scales, line[h], blocks, block, lane);",
            f"copy_lines<{count}, {2 * self.steps}>({to}, a_digits, line[h], blocks, block, chunk, lane);",
            "}}",
        ]

    def places(self, words: Words) -> list[str]:
        """Declares where digits and scales are, and how many blocks there are."""
        found = [
            f"const unsigned blocks = {words.unsigned(self.blocks)};",
            f"const unsigned char* const workspace = (const unsigned char*)W.w[{words.operands}];",
        ]
        for f in (self.x, self.w):
            found += [
                f"const unsigned char* const {f.name}_digits = workspace + {words.word(f.start)};",
                f"const float* const {f.name}_scales = (const float*)(workspace + {words.word(f.scales_start)});",
            ]
        return found

    def weight_record(self, words: Words) -> str:
        """The number of the weights' record of a block."""
        g = f"c{self.batches.index(1)}"
        tiles = words.signed(self.w.tiles)
        return f"(((i64){g} * {words.unsigned(self.taps)} + tap) * {tiles} + tile_n) * blocks + block"

    def unusual(self, words: Words) -> str:
        """A function that takes a sum anew which is NaN: that of the products with a factor that is not finite, if any."""
        p = self.problem
        split, names = self.coordinates(words, "m", "r")
        xs, ws = p.x_strides(), p.w_strides()
        kinds = [STORAGE[o.kind] for o in (p.x, p.w)]
        taps, x_at, w_at = list[str](), list[str](), list[str]()
        for a in p.spatial:
            taps += [
                f"for (i64 t{a} = 0; t{a} < {words.signed(p.taps[a])}; ++t{a}) {{",
                f"const i64 i{a} = {self._first(words, a, names)} + t{a} * {words.signed(p.dilation[a])};",
                f"if (i{a} < 0 || i{a} >= {words.signed(p.inputs[a])}) continue;",
            ]
            x_at.append(f"i{a} * {words.signed(xs[f'i{a}'])}")
            w_at.append(f"t{a} * {words.signed(ws[f't{a}'])}")
        lines = [
            *split,
            f"const {kinds[0]}* const x = (const {kinds[0]}*)W.w[0] + ((i64){names[0]} * {words.signed(xs['b'])} + "
            f"(i64){names[1]} * {words.signed(xs['g'])});",
            f"const {kinds[1]}* const w = (const {kinds[1]}*)W.w[1] + ((i64){names[1]} * {words.signed(ws['g'])} + "
            f"n * {words.signed(ws['n'])});",
            "float total = 0;",
            "bool found = false;",
            *taps,
            f"for (i64 k = 0; k < {words.signed(p.channels)}; ++k) {{",
            f"const float u = widen(x[{' + '.join(x_at)} + k * {words.signed(xs['c'])}]);",
            f"const float v = widen(w[{' + '.join(w_at)} + k * {words.signed(ws['c'])}]);",
            "if (fabsf(u) < __int_as_float(0x7f800000) && fabsf(v) < __int_as_float(0x7f800000)) continue;",
            "total += u * v;",
            "found = true;",
            "}",
            *["}"] * p.rank,
            "return found ? total : sum;",
        ]
        coordinates = "".join(f", unsigned c{i}" for i in range(len(self.batches)))
        head = f"__device__ __noinline__ float sum_of_unusual(const Words& W, float sum, unsigned m, i64 n{coordinates}) {{"
        return "\n".join([head, *("  " + line for line in lines), "}\n"])

    def sums_to_shared(self, pitch: int, count: int) -> list[str]:
        """Puts the sums of a thread into shared memory, as `sums_to_shared` of integer products does."""
        store = f"*(float2*)(sums0 + r * {pitch} + s0) = make_float2(sums[i], sums[i + 1]);"
        if self.turned:
            store = f"sums0[s0 * {pitch} + r] = sums[i]; sums0[(s0 + 1) * {pitch} + r] = sums[i + 1];"
        coordinates = "".join(f", c{i}" for i in range(len(self.batches)))
        return [
            "#pragma unroll",
            f"for (int i = 0; i < {count}; i += 2) {{",
            "const int r = row + i / 2 % 2 * 8, s0 = column + i / 4 * 8;",
            "#pragma unroll",
            "for (int e = 0; e < 2; ++e) {",
            "const int s = s0 + e;",
            "if (sums[i + e] != sums[i + e] && r < rows && s < columns)",
            f"sums[i + e] = sum_of_unusual(W, sums[i + e], (unsigned)(m0 + r), n0 + s{coordinates});",
            "}",
            store,
            "}",
        ]


def digit_windows(p: ConvolutionProblem) -> DigitWindows:
    """The windows of a convolution in integers. Raises `UnsupportedError` as `check_windows` does, and for one that is none."""
    if not p.bits:
        raise UnsupportedError(f"a convolution in {p.math}; expected integers")
    check_windows(p, parts=True)
    at = positions(p)
    tiles = -(-at.rows // ROWS)
    x = DigitFactor("a", 0, at.operand, at.batch, at.rows, p.channels, p.bits, tiles, 0)
    operand, taps = weights(p)
    w = DigitFactor("b", 1, operand, taps, p.columns, p.channels, p.bits, -(-p.columns // ROWS), x.end)
    return DigitWindows(**vars(rows_of(p)), problem=p, lines=at.lines(tiles * ROWS)[0], x=x, w=w)
