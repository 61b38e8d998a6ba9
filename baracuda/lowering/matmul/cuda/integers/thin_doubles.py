"""The integers of a thin factor as f64, as the tensor cores of a GPU with fast f64 take them in (thin.py).

A pass of its own writes them into the workspace, a warp each row of a block of k, in records of one block of k:

    doubles  [batch][block of k][8 rows][j][h][p][row][q][e], f64, of step k = 32 * j + 8 * q + 4 * h + 2 * p + e
    scales   [batch][block of k][row], f32

so that what a warp reads at once lies together. They are 2**896 times the integers: those of the wide factor are 2**-896 times.
"""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.core.layout import round_up
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.matmul.cuda.factors import STORAGE, small_float_definitions
from baracuda.lowering.matmul.cuda.integers.digits import DigitFactor
from baracuda.lowering.matmul.cuda.integers.prelude import SCALE
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Words, offset, translation_unit, unravel
from baracuda.runtime.program import KernelSource, Launch

#: Warps of a block of threads.
_WARPS = 4


@dataclass(frozen=True)
class DoubleFactor(DigitFactor):
    """A thin factor whose integers lie in the workspace as f64, `record_rows` (a power of 2) of them."""

    record_rows: int = 1

    @staticmethod
    def of(f: DigitFactor) -> DoubleFactor:
        return DoubleFactor(**{**vars(f), "tiles": 1}, record_rows=1 << (f.rows - 1).bit_length())

    @property
    def record_bytes(self) -> int:
        return self.record_rows * BLOCK * 8

    @property
    def end(self) -> int:
        return round_up(self.scales_start + self.records * self.record_rows * 4, 1024)


def doubles_launch(c: MatmulProblem, f: DoubleFactor, words: Words) -> Launch:
    """The kernel that writes the integers of a thin factor."""
    rank, rows = len(f.batch), f.record_rows
    strides = [None if f.operand.steps(a) == 0 else words.signed(f.operand.strides[a]) for a in range(rank)]
    kind = STORAGE[f.operand.kind]
    body = [
        f"const unsigned unit = blockIdx.x * {_WARPS} + threadIdx.x / 32, record = unit / {rows}, row = unit % {rows};",
        f"if (record >= {words.unsigned(f.records)}) return;",
        f"const unsigned matrix = divide(record, {words.divisor(f.blocks)});",
        f"const unsigned block = record - matrix * {words.unsigned(f.blocks)};",
        *(unravel("matrix", f.batch, words, "c", wide=False) if rank else ()),
        f"const i64 k = (i64)block * {BLOCK}, row_stride = {words.signed(f.operand.strides[rank])};",
        f"const {kind}* const from = (const {kind}*)W.w[{f.number}]"
        f" + ({offset(strides, 'c')} + row * row_stride + k * {words.signed(f.operand.strides[rank + 1])});",
        f"double* const to = (double*)(W.w[{words.operands}] + {words.word(f.start)}) + (i64)record * {rows * BLOCK};",
        f"float* const scales = (float*)(W.w[{words.operands}] + {words.word(f.scales_start)}) + (i64)record * {rows};",
        f"write_doubles<{f.bits}, {rows}>(from, {words.signed(f.operand.strides[rank + 1])}, row, row < {words.signed(f.rows)} ? "
        f"{words.signed(f.k)} - k : (i64)0, to, scales, threadIdx.x % 32);",
    ]
    source = translation_unit(words, body, 32 * _WARPS, small_float_definitions(c) + SCALE + _DOUBLES)
    return Launch(KernelSource(source), (-(-f.records * rows // _WARPS), 1, 1), 32 * _WARPS, 0)


_DOUBLES = r"""
// A row of a block of k, of which `steps` exist, by a warp: its integers of BITS bits times 2**896, and its scale.
template <int BITS, int ROWS, class S>
__device__ __forceinline__ void write_doubles(const S* from, i64 k_stride, int row, i64 steps, double* to, float* scales,
                                              int lane) {
  constexpr int HELD = ROWS < 8 ? ROWS : 8;
  float x[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) x[i] = lane * 4 + i < steps ? widen(from[(lane * 4 + i) * k_stride]) : 0.0f;
  unsigned m = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) m = max(m, __float_as_uint(x[i]) & 0x7fffffffu);
  m = __reduce_max_sync(~0u, m);
  const bool usual = m - 1 < 0x7f7fffffu;  // neither 0 nor infinite
  const int up = usual ? BITS - max(exponent_above(m), BITS - 149) : 0;
  const float once = power_of_two(up / 2), twice = power_of_two(up - up / 2);
  double* const own = to + row / 8 * 1024 + (lane / 8 * 2 + lane % 2) * 16 * HELD + row % 8 * 8 + lane / 2 % 4 * 2;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    own[i / 2 * 8 * HELD + i % 2] = usual ? (double)rintf(x[i] * once * twice) * 0x1p896 : 0.0;
  }
  if (lane == 0) scales[row] = usual || m == 0 ? power_of_two(-up) : __uint_as_float(0x7fc00000u);
}
"""
