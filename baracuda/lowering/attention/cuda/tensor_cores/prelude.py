"""The C++ of attention by tensor cores: tiles on their way to shared memory, links of 16, and an online softmax.

A tile has 64 lines, rows of an operand; pieces of 16 bytes are exchanged within eight lines. What a thread has of 16 rows by 64
columns is `float x[8][4]`: of each 8 columns, columns 2t and 2t + 1 of row g and of row g + 8, where g is its number in the warp
over 4 and t the rest.
"""

from __future__ import annotations

from math import e, log2

from baracuda.codegen.cuda.emit import number
from baracuda.core.elements import ElementKind

#: How far above the origin of a row's exponentials scores may be before it moves.
SLACK = 5.0

TENSOR_CORES = r"""
// Where piece `piece` of line `row` of a tile is: 64 lines of 128 bytes, then those of the next 64 elements.
__device__ __forceinline__ int tile_place(int row, int piece) {
  return piece / 8 * 8192 + row * 128 + ((piece ^ row) & 7) * 16;
}
// 64 lines of COLUMNS elements to shared memory, by THREADS threads; V neighbours travel together. Of the lines `rows` exist, of
// a line's elements `columns`: what does not becomes zero.
template <int V, int COLUMNS, int THREADS, class S>
__device__ __forceinline__ void copy_tile_of(unsigned char* to, const S* from, i64 row_stride, i64 column_stride, int rows,
                                             int columns, int thread) {
  constexpr int ACROSS = COLUMNS / V, STEP = THREADS / ACROSS;
  if constexpr (V == 8 && THREADS % ACROSS == 0 && STEP % 8 == 0) {
    if (rows >= 64 && columns >= COLUMNS) {
      const int row = thread / ACROSS, piece = thread % ACROSS;
      unsigned char* at = to + tile_place(row, piece);
      const S* source = from + (row * row_stride + piece * 8);
#pragma unroll
      for (int i = 0; i < 64 / STEP; ++i) copy_async<16>(at + i * STEP * 128, source + i * STEP * row_stride, 16);
      return;
    }
  }
#pragma unroll 1
  for (int i = thread; i < 64 * ACROSS; i += THREADS) {
    const int row = i / ACROSS, column = i % ACROSS * V, there = row < rows ? held_to<V>(columns - column) : 0;
    const S* const source = there > 0 ? from + (row * row_stride + column * column_stride) : from;
    unsigned char* const at = to + tile_place(row, column / 8) + column % 8 * 2;
    if constexpr (V > 1) copy_async<V * 2>(at, source, there * 2);
    else *reinterpret_cast<unsigned short*>(at) = there > 0 ? source->bits : (unsigned short)0;
  }
}
// A row's statistic of 4 bytes.
__device__ __forceinline__ void copy_statistic(unsigned char* to, const float* from, bool there) {
  copy_async<4>(to, from, there ? 4 : 0);
}

// Two values, rounded to the element; the first has the low half.
__device__ __forceinline__ unsigned both(float low, float high) {
  unsigned r; asm("cvt.rn.ELEMENTx2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low)); return r;
}
// What a thread has of 16 rows by 64 columns, as left factors of four links.
__device__ __forceinline__ void to_factors(unsigned (&to)[4][4], const float (&x)[8][4]) {
#pragma unroll
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (int i = 0; i < 4; ++i) to[k][i] = both(x[2 * k + i / 2][i % 2 * 2], x[2 * k + i / 2][i % 2 * 2 + 1]);
}

// 2**x, as the device approximates it.
__device__ __forceinline__ float power_of_2(float x) { float r; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
// From the scores of a row to exponentials, less `origin`, which moves where the tile has one far above. What has been summed so
// far is to be multiplied by the result.
template <int H> __device__ __forceinline__ float exponentials(float (&x)[8][4], float& origin, float& total) {
  const float most = largest_of_row<H>(x), infinity = __int_as_float(0x7f800000);
  const float now = most <= origin + SLACK ? origin : maximum(origin, most);
  const float shift = now == -infinity ? 0.0f : -(now * LOG2_E);
  const float factor = now == origin ? 1.0f : power_of_2(__fmaf_rn(origin, LOG2_E, shift));
  origin = now;
#pragma unroll
  for (int n = 0; n < 8; ++n)
#pragma unroll
    for (int e = 2 * H; e < 2 * H + 2; ++e) x[n][e] = power_of_2(__fmaf_rn(x[n][e], LOG2_E, shift));
  float sums[8];
#pragma unroll
  for (int n = 0; n < 8; ++n) sums[n] = x[n][2 * H] + x[n][2 * H + 1];
#pragma unroll
  for (int n = 4; n > 0; n /= 2)
#pragma unroll
    for (int i = 0; i < n; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
  total = __fmaf_rn(total, factor, sums[0]);
  return factor;
}
// The exponential of a score less its row's log-sum-exp.
__device__ __forceinline__ float probability(float score, float lse) {
  return power_of_2(__fmaf_rn(score, LOG2_E, -(lse * LOG2_E)));
}
""".replace("SLACK", number(SLACK, ElementKind.F32)).replace("LOG2_E", number(log2(e), ElementKind.F32))

WARP_LINKS = r"""
__device__ __forceinline__ void link(float (&s)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.ELEMENT.ELEMENT.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// x += the products of a warp's 16 rows with 64 columns, over STEPS times 16 of the depth.
template <int STEPS> __device__ __forceinline__ void add_dots_of(float (&x)[8][4], unsigned rows, unsigned columns) {
  const int lane = threadIdx.x % 32;
  const unsigned a = rows + tile_place(threadIdx.x / 32 % 4 * 16 + lane % 16, lane / 16);
  const unsigned b = columns + tile_place(lane / 16 * 8 + lane % 8, lane / 8 % 2);
#pragma unroll
  for (int k = 0; k < STEPS; ++k) {
    unsigned left[4];
    load_matrices(left, (a ^ k % 4 * 32) + k / 4 * 8192);
#pragma unroll
    for (int n = 0; n < 8; n += 2) {
      unsigned right[4];
      load_matrices(right, (b ^ k % 4 * 32) + (k / 4 * 8192 + n * 1024));
      link(x[n], left, right[0], right[1]);
      link(x[n + 1], left, right[2], right[3]);
    }
  }
}
// sums += weights of a warp's 16 rows and 64 columns times 64 lines.
template <int N> __device__ __forceinline__ void add_lines_of(float (&sums)[N][4], const unsigned (&w)[4][4], unsigned lines) {
  const int lane = threadIdx.x % 32;
  const unsigned at = lines + tile_place(lane % 16, lane / 16);
#pragma unroll
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (int n = 0; n < N; n += 2) {
      unsigned right[4];
      load_transposed(right, (at ^ n % 8 * 16) + (n / 8 * 8192 + k * 2048));
      link(sums[n], w[k], right[0], right[1]);
      link(sums[n + 1], w[k], right[2], right[3]);
    }
}
"""
