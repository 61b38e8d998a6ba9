"""The factors of a convolution as integers with a scale for each block, on a CUDA device."""

from __future__ import annotations

from baracuda.codegen.cuda.prelude import STORAGE_TYPE
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.convolution.quantized import Quantized
from baracuda.lowering.nest.cuda.kernel import Words, offset, translation_unit, unravel
from baracuda.runtime.program import KernelSource, Launch

_THREADS = 128

QUANTIZE = r"""
__device__ __forceinline__ double power(int e) { return __longlong_as_double((i64)(e + 1023) << 52); }
// The exponent E of a block whose largest magnitude is that of these bits of an f32.
__device__ __forceinline__ int exponent_of(unsigned magnitude, int bits) {
  const u64 wide = (u64)__double_as_longlong((double)__uint_as_float(magnitude));
  const int e = (int)(wide >> 52) - 1022 + ((wide & 0xfffffffffffffull) > (63ull << 46));
  return e < bits - 149 ? bits - 149 : e;
}
__device__ __forceinline__ unsigned finite_magnitude(float x) {
  const unsigned m = __float_as_uint(x) & 0x7fffffffu;
  return m < 0x7f800000u ? m : 0u;
}
__device__ __forceinline__ float integer_of(float x, double factor) {
  const bool finite = (__float_as_uint(x) & 0x7fffffffu) < 0x7f800000u;
  return finite ? __double2float_rn(rint(__dmul_rn((double)x, factor))) : __uint_as_float(0x7fc00000u);
}
"""


def quantize(f: Quantized, p: ConvolutionProblem, words: Words) -> Launch:
    """One launch: a warp for each row and block where channels lie side by side, else a thread."""
    blocks, storage = p.blocks, STORAGE_TYPE[f.source.kind]
    warps = f.source_channel == 1 and not f.source.general
    together = 32 if warps else 1
    each = _THREADS // together
    count, scratch = f.count * blocks, f"W.w[{words.operands}]"
    rows = [words.signed(s) if s else None for s in f.source_rows]
    integers, scales = ([words.signed(s) for s in strides] for strides in (f.integer_rows, f.scale_rows))
    lines = [
        f"const u64 number = (u64)blockIdx.x * {each} + threadIdx.x / {together};",
        f"const int lane = threadIdx.x % {together};",
        f"if (number >= (u64){words.signed(count)}) return;",
        *unravel("number", (*f.rows, blocks), words, "c", wide=True),
        f"const int first = (int)c{len(f.rows)} * {BLOCK}, left = (int){words.signed(p.channels)} - first;",
        f"const int n = left < {BLOCK} ? left : {BLOCK};",
        f"const i64 step = {words.signed(f.source_channel)}, put = {words.signed(f.integer_channel)};",
        f"const {storage}* const from = (const {storage}*)W.w[{f.operand}] + ({offset(rows, 'c')} + first * step);",
        f"float* const to = (float*)({scratch} + {words.signed(f.integers)}) + ({offset(integers, 'c')} + first * put);",
        "unsigned largest = 0;",
        f"for (int c = lane; c < n; c += {together}) largest = max(largest, finite_magnitude(widen(from[c * step])));",
        *(["for (int w = 16; w; w /= 2) largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, w));"] if warps else ()),
        f"const int e = exponent_of(largest, {p.bits});",
        f"const double factor = power({p.bits} - e);",
        "if (lane == 0)",
        f"  ((float*)({scratch} + {words.signed(f.scales)}))"
        f"[{offset(scales, 'c')} + c{len(f.rows)} * {words.signed(f.scale_block)}] = __double2float_rn(power(e - {p.bits}));",
        f"for (int c = lane; c < n; c += {together}) to[c * put] = integer_of(widen(from[c * step]), factor);",
        *(
            [f"for (int c = n + lane; c < {BLOCK} && first + c < {words.signed(f.filled)}; c += {together}) to[c * put] = 0;"]
            if f.filled
            else ()
        ),
    ]
    source = translation_unit(words, lines, _THREADS, QUANTIZE)
    return Launch(KernelSource(source), (max(1, -(-count // each)), 1, 1), _THREADS)
