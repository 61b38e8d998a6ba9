"""The C++ of products with packed weights: the digits of x, and the way of codes to tensor cores."""

from __future__ import annotations

from baracuda.lowering.packed_product.problem import NF4_INTEGERS, Coding


def _bytes(digits: list[int]) -> str:
    """Sixteen bytes as four words."""
    words = [sum((d & 0xFF) << 8 * i for i, d in enumerate(digits[w : w + 4])) for w in range(0, 16, 4)]
    return ", ".join(f"0x{w:08x}u" for w in words)


_HIGH = [(v + 128) >> 8 for v in NF4_INTEGERS]
_LOW = [v - 256 * h for v, h in zip(NF4_INTEGERS, _HIGH, strict=True)]

#: What is the same for all codings. A *span* is 128 steps of k, of which each of the four threads that share a row of an
#: instruction has 32 neighbours; the order of k in these is free. A place is where among the 32 bytes that a thread has of a
#: digit of x, and of the codes once they are bytes, a step of k is.
_COMMON = r"""
// Where byte i of a thread's share of a span is: where it has 32, in two pieces of 16 if blocks are as long as a span, so that
// four threads read neighbouring ones.
template <int N, int BLOCK> __device__ __forceinline__ int share(int quarter, int i) {
  return N == 8 && BLOCK == 128 ? quarter * 16 + i / 16 * 64 + i % 16 : quarter * 4 * N + i;
}
// Bytes of a row of codes that hold a thread's share of a span, as words; those that do not exist are 0. HALVES: two at once.
template <int N, int BLOCK, bool HALVES>
__device__ __forceinline__ void gather_codes(unsigned (&to)[N], const unsigned char* row, Steps steps, int span, int quarter,
                                             int bytes) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    to[i] = 0;
#pragma unroll
    for (int b = 0; b < 4; b += HALVES ? 2 : 1) {
      const int at = span * 16 * N + share<N, BLOCK>(quarter, 4 * i + b);
      if (at >= bytes) continue;
      const unsigned char* const from = byte_at(row, at, steps);
      to[i] |= (HALVES ? *(const unsigned short*)from : (unsigned)*from) << 8 * b;
    }
  }
}
// The same on their way to a place of the thread's own in shared memory, where all bytes of a piece exist or none.
template <int N, int BLOCK>
__device__ __forceinline__ void fetch_codes(unsigned char* to, const unsigned char* row, int span, int quarter, int bytes) {
  constexpr int PIECE = N == 2 ? 8 : 16;
#pragma unroll
  for (int i = 0; i < 4 * N; i += PIECE) {
    const int at = span * 16 * N + share<N, BLOCK>(quarter, i);
    copy_async<PIECE>(to + i * 32, row + (at < bytes ? at : 0), at < bytes ? PIECE : 0);
  }
}
template <int N> __device__ __forceinline__ void fetched_codes(unsigned (&to)[N], const unsigned char* from) {
  if constexpr (N == 2) {
    const uint2 got = *reinterpret_cast<const uint2*>(from);
    to[0] = got.x, to[1] = got.y;
  } else {
#pragma unroll
    for (int i = 0; i < N; i += 4) {
      const uint4 got = *reinterpret_cast<const uint4*>(from + i * 128);
      to[i] = got.x, to[i + 1] = got.y, to[i + 2] = got.z, to[i + 3] = got.w;
    }
  }
}
// Four neighbours of a row of x, of a span of which so many steps exist; a warp has a span. PIECE: how many are loaded at once.
template <int PIECE, class X> __device__ __forceinline__ void load_elements(float (&to)[4], const X* from, i64 step, int steps,
                                                                            int lane) {
  if (PIECE > 1 && steps >= 128) {
    Vec<X, 4> got;
    load<PIECE>(got, from + lane * 4);
#pragma unroll
    for (int e = 0; e < 4; ++e) to[e] = widen(got.v[e]);
  } else {
#pragma unroll
    for (int e = 0; e < 4; ++e) to[e] = lane * 4 + e < steps ? widen(from[(lane * 4 + e) * step]) : 0.0f;
  }
}
// The digits of a span of x, in the order of the codes; S of each block, and the sum of its integers, both `apart` words from one
// to the next. TURNED: neighbouring pieces of 16 bytes of the lower digit change places.
template <int BLOCK, bool TURNED>
__device__ __forceinline__ void write_digits(const float (&x)[4], unsigned char* to, float* scales, int* totals, int apart,
                                             int lane) {
  unsigned m = 0;
#pragma unroll
  for (int e = 0; e < 4; ++e) m = max(m, __float_as_uint(x[e]) & 0x7fffffffu);
#pragma unroll
  for (int d = 1; d < BLOCK / 4; d *= 2) m = max(m, __shfl_xor_sync(~0u, m, d));
  const bool finite = m < 0x7f800000u;
  const int up = finite ? 15 - max(exponent_above(m), 15 - 149) : 0;
  const float once = power_of_two(up / 2), twice = power_of_two(up - up / 2);
  int total = 0;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int q = finite ? __float2int_rn(x[e] * once * twice) : 0;
    total += q;
    const unsigned u = ((unsigned)q + 0x8080u) ^ 0x8080u;
    const int at = place<BLOCK>(lane * 4 + e);
    to[at] = (unsigned char)(u >> 8);
    to[128 + (TURNED ? at ^ 16 : at)] = (unsigned char)u;
  }
#pragma unroll
  for (int d = 1; d < BLOCK / 4; d *= 2) total += __shfl_xor_sync(~0u, total, d);
  if (lane % (BLOCK / 4) == 0) {
    scales[lane / (BLOCK / 4) * apart] = finite ? power_of_two(-up) : __uint_as_float(0x7fc00000u);
    totals[lane / (BLOCK / 4) * apart] = total;
  }
}
// What becomes of a sum that is NaN: where x has elements that are not finite, the sum of their products.
template <class X, class S, class Z>
__device__ __noinline__ float not_finite(float sum, const X* x, i64 x_step, const unsigned char* row, Steps steps, const S* scale,
                                         i64 scale_step, const Z* zero, i64 zero_step, i64 group, i64 k) {
  float total = 0;
  bool found = false;
  for (i64 i = 0; i < k; ++i) {
    const float value = widen(x[i * x_step]);
    if (fabsf(value) < __int_as_float(0x7f800000)) continue;
    const int z = zero ? (int)zero[i / group * zero_step] : 0;
    const int code = one_code(row, steps, i) - (z + OFFSET);
    const float w = __fmul_rn((float)code, scale_of(scale[i / group * scale_step]));
    total = __fadd_rn(total, __fmul_rn(value, w));
    found = true;
  }
  return found ? total : sum;
}
"""

_BYTES = r"""
// Steps from byte to byte of a row of codes, and from chunk to chunk where they lie in such.
struct Steps { i64 along, apart; };
__device__ __forceinline__ const unsigned char* byte_at(const unsigned char* row, i64 i, Steps steps) {
  if constexpr (CHUNK == 0) return row + i * steps.along;
  else return row + (i / CHUNK * steps.apart + i % CHUNK * steps.along);
}"""
_ONE = {
    2: "*byte_at(row, k / 4, steps) >> (int)(k % 4) * 2 & 3",
    4: "*byte_at(row, k / 2, steps) >> (int)(k % 2) * 4 & 15",
    8: "(signed char)*byte_at(row, k, steps)",
}
_PLACE = {
    2: "k - kk + kk / 16 * 16 + kk % 4 * 4 + kk % 16 / 4",
    4: "k - kk + kk / 8 * 8 + kk % 2 * 4 + kk % 8 / 2",
    8: "BLOCK < 128 ? k : k % 64 / 16 * 32 + k / 64 * 16 + k % 16",
}
#: Four codes as bytes, `i` of the eight that a thread has of a span.
_EXPAND = {
    2: "words[i / 4] >> i % 4 * 2 & 0x03030303u",
    4: "words[i / 2] >> i % 2 * 4 & 0x0f0f0f0fu",
    8: "words[i]",
}


def _nf4() -> str:
    table = ", ".join(str(v) for v in NF4_INTEGERS)
    return rf"""
__constant__ int LEVELS[16] = {{{table}}};
template <int BLOCK> __device__ __forceinline__ int place(int k) {{ return k ^ 1; }}
__device__ __forceinline__ int one_code(const unsigned char* row, Steps steps, i64 k) {{
  return LEVELS[*byte_at(row, k / 2, steps) >> (int)(1 - k % 2) * 4 & 15];
}}
__device__ __forceinline__ unsigned levels(unsigned numbers, unsigned t0, unsigned t1, unsigned t2, unsigned t3) {{
  const unsigned low = __byte_perm(t0, t1, numbers & 0x7777u), high = __byte_perm(t2, t3, numbers & 0x7777u);
  const unsigned upper = __byte_perm(0u, ~0u, (numbers & 0x8888u) >> 1);
  return (low & ~upper) | (high & upper);
}}
// Four levels, `i` of the eight that a thread has of a span: the digits of one weight, the most significant first.
__device__ __forceinline__ void expand(unsigned (&to)[2], const unsigned (&words)[4], int i) {{
  const unsigned numbers = i % 2 ? words[i / 2] >> 16 : words[i / 2];
  to[0] = levels(numbers, {_bytes(_HIGH)});
  to[1] = levels(numbers, {_bytes(_LOW)});
}}
template <class S> __device__ __forceinline__ float scale_of(S s) {{ return __fmul_rn(widen(s), 0x1p-14f); }}
"""


#: The same of Q4_0, whose halves of bytes are codes 16 steps apart.
_Q4_0 = (
    "*byte_at(row, k / 32 * 16 + k % 16, steps) >> (int)(k % 32 / 16) * 4 & 15",
    "k - kk + kk % 16 / 4 * 8 + kk / 16 * 4 + kk % 4",
)


def definitions(coding: Coding) -> str:
    """The C++ for a coding."""
    if coding.levels:
        own = _nf4()
    else:
        one, place = _Q4_0 if coding is Coding.Q4_0 else (_ONE[coding.bits], _PLACE[coding.bits])
        one = f"({one})"
        if coding.flipped:
            one = f"(signed char)({one} ^ 0x{coding.flipped:x})" if coding.bits == 8 else f"({one} ^ 0x{coding.flipped:x})"
        expand = _EXPAND[coding.bits]
        # the bits of all codes are turned over after they are taken apart: those that are not needed are masked before
        turned_mask = 0x01010101 * coding.flipped
        turned = f" ^ 0x{turned_mask:08x}u" if coding.flipped else ""
        own = rf"""
template <int BLOCK> __device__ __forceinline__ int place(int k) {{
  const int kk = k % 32;
  return {place};
}}
__device__ __forceinline__ int one_code(const unsigned char* row, Steps steps, i64 k) {{ return {one}; }}
__device__ __forceinline__ void expand(unsigned (&to)[1], const unsigned (&words)[{coding.bits}], int i) {{
  to[0] = ({expand}){turned};
}}
template <class S> __device__ __forceinline__ float scale_of(S s) {{ return widen(s); }}
"""
    return f"static constexpr int OFFSET = {coding.offset}, CHUNK = {coding.chunk};" + _BYTES + own + _COMMON


#: P of the two rows and the pair of columns that a thread has of an instruction's sums, rounded. The columns of a pair are the
#: digits of one row of x, the most significant first. `shift` is what is subtracted from every code, times the sum of x's
#: integers.
ROUNDED = r"""
__device__ __forceinline__ float rounded(const int (&c)[1][4], int r, int shift) {
  return (float)(int)((unsigned)c[0][2 * r] * 256u + (unsigned)c[0][2 * r + 1] - (unsigned)shift);
}
__device__ __forceinline__ float rounded(const int (&c)[2][4], int r, int) {
  const int middle = c[0][2 * r + 1] + c[1][2 * r];
  return __ll2float_rn((i64)c[0][2 * r] * 65536 + (i64)middle * 256 + c[1][2 * r + 1]);
}
"""

#: The product of the codes that a thread has of a span with the digits of some rows of x.
PRODUCT = r"""
template <int DIGITS> struct Weights {
  unsigned a[DIGITS][4][4];
  template <int N> __device__ __forceinline__ void make(const unsigned (&words)[2][N]) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          unsigned to[DIGITS];
          expand(to, words[r], 2 * j + h);
#pragma unroll
          for (int d = 0; d < DIGITS; ++d) a[d][j][r + 2 * h] = to[d];
        }
  }
};
// The sums of rows of weights, H times 16, with N times eight columns of x, of which the thread has 32 bytes each. Instructions
// of one sum wait for one another: those of the others come between.
template <int H, int N, int DIGITS>
__device__ __forceinline__ void multiply(int (&c)[H][N][DIGITS][4], const Weights<DIGITS> (&weights)[H], const uint4 (&x)[N][2]) {
  constexpr int PARTS = H * N * DIGITS == 1 ? 2 : 1;
  int parts[PARTS][H][N][DIGITS][4] = {};
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int h = 0; h < H; ++h)
#pragma unroll
      for (int n = 0; n < N; ++n)
#pragma unroll
        for (int d = 0; d < DIGITS; ++d) {
          const uint4 b = x[n][j / 2];
          multiply_add(parts[j % PARTS][h][n][d], weights[h].a[d][j], j % 2 ? b.z : b.x, j % 2 ? b.w : b.y);
        }
#pragma unroll
  for (int h = 0; h < H; ++h)
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
      for (int d = 0; d < DIGITS; ++d)
#pragma unroll
        for (int i = 0; i < 4; ++i) c[h][n][d][i] = parts[0][h][n][d][i] + (PARTS > 1 ? parts[PARTS - 1][h][n][d][i] : 0);
}
"""
