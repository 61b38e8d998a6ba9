"""The C++ of attention in integers for few queries: digits made in shared memory, by a block of 128 threads."""

from __future__ import annotations

FEW = r"""
// How the elements of a row, whose largest magnitude has the bits m, become integers: x * once * twice. Its scale is NaN where
// one of them is not finite.
template <int BITS> struct RowScale {
  float once, twice, scale;

  __device__ __forceinline__ explicit RowScale(unsigned m) {
    const bool finite = m < 0x7f800000u;
    const int up = finite ? BITS - max(exponent_above(m), BITS - 149) : 0;
    once = finite ? power_of_two(up / 2) : 0.0f;
    twice = finite ? power_of_two(up - up / 2) : 0.0f;
    scale = finite ? power_of_two(-up) : __uint_as_float(0x7fc00000u);
  }
  __device__ __forceinline__ unsigned balanced(float x) const {
    constexpr unsigned BALANCE = BITS > 16 ? 0x808080u : 0x8080u;
    return ((unsigned)__float2int_rn(x * once * twice) + BALANCE) ^ BALANCE;
  }
};
// Digit d, the most significant first, of four integers.
template <int COUNT> __device__ __forceinline__ unsigned digit_of_four(const unsigned (&u)[4], int d) {
  const unsigned select = (COUNT - 1 - d) | (4 + COUNT - 1 - d) << 4;
  return __byte_perm(__byte_perm(u[0], u[1], select), __byte_perm(u[2], u[3], select), 0x5410);
}
// N neighbours of a row from a column on, V at a time; what is not there is 0.
template <int N, int V, int DEPTH, class S>
__device__ __forceinline__ Vec<S, N> part_of_row(const S* from, i64 step, int column) {
  Vec<S, N> got = {};
  if (from == nullptr) return got;
  if (V > 1 && column + N <= DEPTH) {
    load<(V < N ? V : N)>(got, from + column);
    return got;
  }
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (column + i < DEPTH) got.v[i] = from[(column + i) * step];
  return got;
}
// The digits of ROWS rows by rows, in the places of `row_place` of records of 64 rows, and their scales. Row r begins at at(r),
// which is null where there is no such row. Four threads have a row.
template <int V, int COUNT, int DEPTH, int LINE, int ROWS, class S, class At>
__device__ __forceinline__ void digits_by_rows(const At& at, i64 step, unsigned char* to, float* scales) {
  constexpr int LENGTH = (DEPTH + LINE - 1) / LINE * LINE, CHUNKS = (LENGTH + 63) / 64, HELD = CHUNKS < 3 ? CHUNKS : 1;
  const int own = threadIdx.x % 4 * 16;
#pragma unroll 1
  for (int row = threadIdx.x / 4; row < ROWS; row += 32) {
    const S* const from = at(row);
    Vec<S, 16> held[HELD];
    unsigned m = 0;
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
      held[c % HELD] = part_of_row<16, V, DEPTH>(from, step, own + 64 * c);
#pragma unroll
      for (int i = 0; i < 16; ++i) m = max(m, __float_as_uint(widen(held[c % HELD].v[i])) & 0x7fffffffu);
    }
    m = max(m, __shfl_xor_sync(__activemask(), m, 1));
    m = max(m, __shfl_xor_sync(__activemask(), m, 2));
    const RowScale<8 * COUNT - 1> row_scale(m);
    if (own == 0) scales[row] = from == nullptr ? 1.0f : row_scale.scale;
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
      const int column = own + 64 * c;
      if (CHUNKS > HELD) held[0] = part_of_row<16, V, DEPTH>(from, step, column);
      if (column < LENGTH) {
        unsigned words[COUNT][4];
#pragma unroll
        for (int w = 0; w < 4; ++w) {
          unsigned u[4];
#pragma unroll
          for (int e = 0; e < 4; ++e) u[e] = row_scale.balanced(widen(held[c % HELD].v[4 * w + e]));
#pragma unroll
          for (int d = 0; d < COUNT; ++d) words[d][w] = digit_of_four<COUNT>(u, d);
        }
#pragma unroll
        for (int d = 0; d < COUNT; ++d)
          *reinterpret_cast<uint4*>(to + (column / LINE * COUNT + d) * 64 * LINE + row_place<LINE>(row, column % LINE)) =
              make_uint4(words[d][0], words[d][1], words[d][2], words[d][3]);
      }
    }
  }
}
// The digits of 64 rows turned, [digit][element of LINES][64 bytes], and their scales, then whether one is NaN. Eight threads
// have four rows, those of the four bytes that lie side by side.
template <int V, int COUNT, int DEPTH, int LINES, class S>
__device__ __forceinline__ void turned_digits(const S* from, i64 row_stride, i64 step, int rows, unsigned char* to,
                                              float* scales) {
  constexpr int CHUNKS = LINES / 16, HELD = CHUNKS <= 8 ? CHUNKS : 1;
  const int own = threadIdx.x % 8 * 2, group = threadIdx.x / 8, first = group / 4 * 16 + group % 4 * 2;
  const S* of[4];
  unsigned m[4] = {};
  Vec<S, 2> held[HELD][4];
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int row = first + e % 2 + e / 2 * 8;
    of[e] = row < rows ? from + row * row_stride : nullptr;
  }
#pragma unroll
  for (int c = 0; c < CHUNKS; ++c)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      held[c % HELD][e] = part_of_row<2, V, DEPTH>(of[e], step, own + 16 * c);
#pragma unroll
      for (int i = 0; i < 2; ++i) m[e] = max(m[e], __float_as_uint(widen(held[c % HELD][e].v[i])) & 0x7fffffffu);
    }
  using Scale = RowScale<8 * COUNT - 1>;
  bool odd = false;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
#pragma unroll
    for (int lanes = 1; lanes < 8; lanes *= 2) m[e] = max(m[e], __shfl_xor_sync(~0u, m[e], lanes));
    odd |= m[e] >= 0x7f800000u;
    if (own == 0) scales[first + e % 2 + e / 2 * 8] = of[e] == nullptr ? 1.0f : Scale(m[e]).scale;
  }
  odd = __syncthreads_or(odd);
  if (threadIdx.x < 4) scales[64 + threadIdx.x] = odd ? __uint_as_float(0x7fc00000u) : 0.0f;
  const Scale by_row[4] = {Scale(m[0]), Scale(m[1]), Scale(m[2]), Scale(m[3])};
#pragma unroll
  for (int c = 0; c < CHUNKS; ++c) {
    if (CHUNKS > HELD)
#pragma unroll
      for (int e = 0; e < 4; ++e) held[0][e] = part_of_row<2, V, DEPTH>(of[e], step, own + 16 * c);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int line = own + 16 * c + i;
      unsigned u[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) u[e] = by_row[e].balanced(widen(held[c % HELD][e].v[i]));
#pragma unroll
      for (int d = 0; d < COUNT; ++d)
        *reinterpret_cast<unsigned*>(to + (d * LINES + line) * 64 + (group / 4 ^ line / 2 % 4) * 16 + group % 4 * 4) =
            digit_of_four<COUNT>(u, d);
    }
  }
}
// F of a warp's 16 rows and 8 of the LINES columns whose digits lie turned in shared memory.
template <int COUNT, int LINES>
__device__ __forceinline__ DigitSums<COUNT> sums_of_eight(const Weights<COUNT>& weights, unsigned digits, int n) {
  const int lane = threadIdx.x % 32;
  const unsigned at = digits + n * 512 + lane % 8 * 64 + ((lane / 8 ^ lane % 8 / 2) * 16);
  DigitSums<COUNT> parts;
#pragma unroll
  for (int d = 0; d < COUNT; ++d) {
    unsigned r[4];
    load_matrices(r, at + d * LINES * 64);
#pragma unroll
    for (int k = 0; k < 2; ++k) parts.add(weights.x[k], d, r[2 * k], r[2 * k + 1]);
  }
  return parts;
}
"""
