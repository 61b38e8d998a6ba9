"""Digits of a convolution's factors, and the windows that meet them.

The digits of x are those of integer products (`lowering/matmul/cuda/integers/digits.py`), its positions for rows and channels for
k, so a position's digits are made once for all windows. The weights' digits have a batch for each tap.
"""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.core.errors import UnsupportedError
from baracuda.formula.integer_products import digits
from baracuda.lowering.convolution.cuda.windows import Windows, check_windows, positions, rows_of, weights
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.matmul.cuda.factors import STORAGE
from baracuda.lowering.matmul.cuda.integers.digits import ROWS, DigitFactor
from baracuda.lowering.nest.cuda.kernel import Words

#: Bytes of digits at most: a position takes those of whole blocks of channels, however few it has.
MOST_BYTES = 8 << 30


@dataclass(frozen=True)
class DigitWindows(Windows):
    """A convolution in integers. x, w: the digits' places in the workspace."""

    x: DigitFactor
    w: DigitFactor

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

    def anew(self, sum_: str) -> str:
        """The statement that takes a sum of row m0 + r and column n0 + s anew where it is NaN."""
        coordinates = "".join(f", c{i}" for i in range(len(self.batches)))
        return f"if ({sum_} != {sum_}) {sum_} = sum_of_unusual(W, {sum_}, (unsigned)(m0 + r), n0 + s{coordinates});"

    def anew_in_registers(self, count: int) -> list[str]:
        """Takes the sums of a thread anew that are NaN."""
        return [
            "#pragma unroll",
            f"for (int i = 0; i < {count}; ++i) {{",
            "const int r = row + i / 2 % 2 * 8, s = column + i / 4 * 8 + i % 2;",
            "if (r < rows && s < columns)",
            self.anew("sums[i]"),
            "}",
        ]

    def sums_to_shared(self, pitch: int, count: int) -> list[str]:
        """Puts the sums of a thread into shared memory, as `sums_to_shared` of integer products does."""
        store = f"*(float2*)(sums0 + r * {pitch} + s0) = make_float2(sums[i], sums[i + 1]);"
        if self.turned:
            store = f"sums0[s0 * {pitch} + r] = sums[i]; sums0[(s0 + 1) * {pitch} + r] = sums[i + 1];"
        return [
            *self.anew_in_registers(count),
            "#pragma unroll",
            f"for (int i = 0; i < {count}; i += 2) {{",
            "const int r = row + i / 2 % 2 * 8, s0 = column + i / 4 * 8;",
            store,
            "}",
        ]


def digit_windows(p: ConvolutionProblem) -> DigitWindows:
    """The windows of a convolution in integers. Raises `UnsupportedError` as `check_windows` does, and for one that is none."""
    if not p.bits:
        raise UnsupportedError(f"a convolution in {p.math}; expected integers")
    check_windows(p)
    at = positions(p)
    tiles = -(-at.rows // ROWS)
    x = DigitFactor("a", 0, at.operand, at.batch, at.rows, p.channels, p.bits, tiles, 0)
    operand, taps = weights(p)
    w = DigitFactor("b", 1, operand, taps, p.columns, p.channels, p.bits, -(-p.columns // ROWS), x.end)
    if w.end > MOST_BYTES:
        raise UnsupportedError(f"digits of {w.end} bytes; expected at most {MOST_BYTES}")
    return DigitWindows(**vars(rows_of(p)), problem=p, lines=at.lines(tiles * ROWS)[0], x=x, w=w)
