"""The C++ of attention in integers: digits of rows, products of them on tensor cores, and weights that become digits again.

A warp has 16 rows and meets 64 columns at a time. Of a matrix of 16 by 8 a thread has, in this order, columns 2t and 2t + 1 of
row g and of row g + 8, where g is its number over 4 and t the rest: `float x[8][4]` is its part of a tile.
"""

from __future__ import annotations

ROW_DIGITS = r"""
// The digits of 64 rows of DEPTH elements, of which `rows` exist, and their scales, then whether one is NaN. Neighbours along the
// depth are read V at a time. Four threads have a row.
// by_rows: [block of LINE bytes along the depth][digit][row][LINE bytes]
// turned:  [part of WIDTH lines along the depth][digit][line][64 bytes, one for each row]
template <int V, int COUNT, int DEPTH, int LINE, int WIDTH, bool BY_ROWS, bool TURNED, class S>
__device__ __forceinline__ void write_row_digits(const S* from, i64 row_stride, i64 column_stride, int rows,
                                                 unsigned char* by_rows, unsigned char* turned, float* scales,
                                                 unsigned char* shared) {
  constexpr int BITS = 8 * COUNT - 1, PIECES = LINE / 16;
  constexpr int LENGTH = BY_ROWS ? (DEPTH + LINE - 1) / LINE * LINE : 0, LINES = TURNED ? (DEPTH + WIDTH - 1) / WIDTH * WIDTH : 0;
  const int row = threadIdx.x / 4, own = threadIdx.x % 4 * 16;
  const bool there = row < rows;
  from += row * row_stride;
  const auto get = [&](float (&x)[16], int column) {
    if (there && column + 16 <= DEPTH) {
      Vec<S, 16> got;
      if constexpr (V > 1) load<V>(got, from + column);
      else
#pragma unroll
        for (int i = 0; i < 16; ++i) got.v[i] = from[(column + i) * column_stride];
#pragma unroll
      for (int i = 0; i < 16; ++i) x[i] = widen(got.v[i]);
    } else {
#pragma unroll
      for (int i = 0; i < 16; ++i) x[i] = there && column + i < DEPTH ? widen(from[(column + i) * column_stride]) : 0.0f;
    }
  };
  unsigned m = 0;
#pragma unroll 1
  for (int column = own; column < DEPTH; column += 64) {
    float x[16];
    get(x, column);
#pragma unroll
    for (int i = 0; i < 16; ++i) m = max(m, __float_as_uint(x[i]) & 0x7fffffffu);
  }
  m = max(m, __shfl_xor_sync(~0u, m, 1));
  m = max(m, __shfl_xor_sync(~0u, m, 2));
  const bool finite = m < 0x7f800000u;
  const int exponent = max(exponent_above(m), BITS - 149), up = BITS - exponent;
  const float once = finite ? power_of_two(up / 2) : 0.0f, twice = finite ? power_of_two(up - up / 2) : 0.0f;
  if (own == 0) scales[row] = !there ? 1.0f : finite ? power_of_two(-up) : __uint_as_float(0x7fc00000u);
  const int odd = __syncthreads_or(!finite);
  if (threadIdx.x < 4) scales[64 + threadIdx.x] = odd ? __uint_as_float(0x7fc00000u) : 0.0f;
#pragma unroll 1
  for (int first = 0; first < LENGTH || first < LINES; first += 64) {
    const int column = first + own;
    float x[16];
    get(x, column);
    unsigned words[COUNT][4];
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      constexpr unsigned BALANCE = COUNT == 3 ? 0x808080u : 0x8080u;
      unsigned u[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) u[e] = ((unsigned)__float2int_rn(x[4 * w + e] * once * twice) + BALANCE) ^ BALANCE;
#pragma unroll
      for (int d = 0; d < COUNT; ++d) {
        const unsigned select = (COUNT - 1 - d) | (4 + COUNT - 1 - d) << 4;
        words[d][w] = __byte_perm(__byte_perm(u[0], u[1], select), __byte_perm(u[2], u[3], select), 0x5410);
      }
    }
    if (BY_ROWS && column < LENGTH) {
      const int block = column / LINE, piece = column % LINE / 16 ^ row * PIECES / 8 % PIECES;
#pragma unroll
      for (int d = 0; d < COUNT; ++d)
        *reinterpret_cast<uint4*>(by_rows + ((block * COUNT + d) * 64 + row) * LINE + piece * 16) =
            make_uint4(words[d][0], words[d][1], words[d][2], words[d][3]);
    }
    if (TURNED && first < LINES) {
      // Within 16 rows, byte 4t + e is that of row 8 * (e / 2) + 2t + e % 2: the order in which a thread has weights.
      const int place = row % 8 / 2 * 4 + row % 16 / 8 * 2 + row % 2;
      __syncthreads();
#pragma unroll
      for (int i = 0; i < 16; ++i)
#pragma unroll
        for (int d = 0; d < COUNT; ++d)
          shared[(d * 64 + own + i) * 64 + ((row / 16 ^ i / 2 % 4) * 16) + place] = (unsigned char)(words[d][i / 4] >> i % 4 * 8);
      __syncthreads();
      for (int i = threadIdx.x; i < COUNT * 256; i += 256) {
        const int d = i / 256, line = first + i / 4 % 64;
        if (line < LINES)
          *reinterpret_cast<uint4*>(turned + ((line / WIDTH * COUNT + d) * WIDTH + line % WIDTH) * 64 + i % 4 * 16) =
              reinterpret_cast<const uint4*>(shared)[i];
      }
    }
  }
}
"""

FRAGMENTS = r"""
// The sums of products of digits by the power of 256 that they belong to, the highest first, of 16 rows by 8 columns. Those of
// two digits are below 2**22: two of them begin with the bits of 1.5 * 2**23, so that they are the bits of floats as they are.
template <int COUNT> struct DigitSums {
  int s[2 * COUNT - 1][4];

  __device__ __forceinline__ DigitSums() {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int p = 0; p < 2 * COUNT - 1; ++p) s[p][i] = COUNT == 2 && p != 1 ? 0x4b400000 : 0;
  }
  template <class A> __device__ __forceinline__ void add(const A& a, int digit, unsigned b0, unsigned b1) {
#pragma unroll
    for (int d = 0; d < COUNT; ++d) multiply_add(s[d + digit], a[d], b0, b1);
  }
  // P, rounded to f32.
  __device__ __forceinline__ float rounded(int i) const {
    if constexpr (COUNT == 2) {
      int low;  // (written so that it takes two instructions)
      asm("{ .reg .b32 x; and.b32 x, %1, 255; mad.lo.s32 %0, x, 256, %2; }" : "=r"(low) : "r"(s[1][i]), "r"(s[2][i]));
      // 192 * 65536 is the 1.5 * 2**23 that is left in the low part.
      return __fmaf_rn(__int_as_float((s[1][i] >> 8) + s[0][i]) - (12582912.0f + 192.0f), 65536.0f, __int_as_float(low));
    } else {
      const int sums[3][1] = {{(s[0][i] << 8) + s[1][i]}, {s[2][i]}, {(s[3][i] << 8) + s[4][i]}};
      return ::rounded(sums, 0);
    }
  }
};

// The place of line `row` and byte `column` in digits by rows.
template <int LINE> __device__ __forceinline__ int row_place(int row, int column) {
  constexpr int PIECES = LINE / 16;
  return row * LINE + ((column / 16 ^ row * PIECES / 8 % PIECES) * 16) + column % 16;
}
// The digits of a warp's 16 rows, from `first` on, for a step of 32 along the depth: held in registers, or read when they are
// needed, from shared or from global memory, where they lie as digits by rows.
template <int COUNT, int LINE> struct ReadRows {
  const unsigned char* from;
  unsigned x[COUNT][4];

  __device__ __forceinline__ ReadRows(const unsigned char* from, int first)
      : from(from + row_place<LINE>(first + threadIdx.x % 32 / 4, threadIdx.x % 4 * 4)) {}
  __device__ __forceinline__ void step(int k, int block) {
    const int lane = threadIdx.x % 32, odd = lane / 4 * (LINE / 16) / 8 % (LINE / 16);
#pragma unroll
    for (int d = 0; d < COUNT; ++d)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        x[d][i] = __ldg(reinterpret_cast<const unsigned*>(from + (block * COUNT + d) * 64 * LINE + i % 2 * 8 * LINE +
                                                          ((k * 2 + i / 2 ^ odd) - odd) * 16));
  }
};
template <int COUNT, int LINE> struct SharedRows {
  unsigned from;
  unsigned x[COUNT][4];

  __device__ __forceinline__ SharedRows(const unsigned char* digits, int first) {
    const int lane = threadIdx.x % 32;
    from = shared_address(digits) + row_place<LINE>(first + lane % 16, lane / 16 * 16);
  }
  __device__ __forceinline__ void step(int k, int block) {
#pragma unroll
    for (int d = 0; d < COUNT; ++d) load_matrices(x[d], (from ^ k * 32) + (block * COUNT + d) * 64 * LINE);
  }
};
template <int COUNT, int STEPS, int LINE> struct HeldRows {
  unsigned all[STEPS][COUNT][4], x[COUNT][4];

  __device__ __forceinline__ HeldRows(const unsigned char* from, int first) {
    ReadRows<COUNT, LINE> rows(from, first);
#pragma unroll
    for (int k = 0; k < STEPS; ++k) {
      rows.step(k, 0);
      copy(all[k], rows.x);
    }
  }
  __device__ __forceinline__ void step(int k, int) { copy(x, all[k]); }
  static __device__ __forceinline__ void copy(unsigned (&to)[COUNT][4], const unsigned (&from)[COUNT][4]) {
#pragma unroll
    for (int d = 0; d < COUNT; ++d)
#pragma unroll
      for (int i = 0; i < 4; ++i) to[d][i] = from[d][i];
  }
};

// One block of the depth more for the dot products t of a warp's rows, whose scales are `a`, with 8 * N lines of digits in
// shared memory, whose scales are `b`. LARGE: a scale in `a` is so large that P times it may overflow where the product does not.
template <int COUNT, int STEPS, int LINE, bool LARGE, class Rows, int N>
__device__ __forceinline__ void add_dots(float (&t)[N][4], Rows& rows, int block, unsigned digits, const float* b,
                                         const float (&a)[2]) {
  const int lane = threadIdx.x % 32;
  const unsigned at = digits + row_place<LINE>(lane / 16 * 8 + lane % 8, lane / 8 % 2 * 16);
#pragma unroll
  for (int n = 0; n < N; n += 2) {
    DigitSums<COUNT> sums[2];
#pragma unroll
    for (int k = 0; k < STEPS; ++k) {
      rows.step(k, block);
#pragma unroll
      for (int d = 0; d < COUNT; ++d) {
        unsigned r[4];
        load_matrices(r, (at ^ k * 32) + (d * 64 + n * 8) * LINE);
#pragma unroll
        for (int i = 0; i < 2; ++i) sums[i].add(rows.x, d, r[2 * i], r[2 * i + 1]);
      }
    }
    float2 of_columns[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) of_columns[i] = *reinterpret_cast<const float2*>(b + (n + i) * 8 + lane % 4 * 2);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float p = sums[i / 4].rounded(i % 4), r = a[i / 2 % 2], c = i % 2 ? of_columns[i / 4].y : of_columns[i / 4].x;
      float& sum = t[n + i / 4][i % 4];
      sum = LARGE ? __fmaf_rn(__fmul_rn(p, minimum(r, c)), maximum(r, c), sum) : __fmaf_rn(__fmul_rn(p, r), c, sum);
    }
  }
}

// Of the values that the four threads of a row have.
template <class Op> __device__ __forceinline__ float of_four(float x) {
  x = Op::of(x, __shfl_xor_sync(~0u, x, 1));
  return Op::of(x, __shfl_xor_sync(~0u, x, 2));
}
template <int H> __device__ __forceinline__ float largest_of_row(const float (&x)[8][4]) {
  float m = maximum(x[0][2 * H], x[0][2 * H + 1]);
#pragma unroll
  for (int n = 1; n < 8; ++n) m = maximum(m, maximum(x[n][2 * H], x[n][2 * H + 1]));
  return of_four<Max>(m);
}
// In adjacent pairs: a thread's own neighbours, then the four threads of each 8, then the eights.
template <int H> __device__ __forceinline__ float sum_of_row(const float (&x)[8][4]) {
  const int t = threadIdx.x % 4;
  float four[4], two[2];
#pragma unroll
  for (int n = 0; n < 4; ++n) {  // each thread goes on with half of the eights: bits 1 and 2 of their numbers are those of t
    const int m = n / 2 * 4 + n % 2;
    const float a = x[m][2 * H] + x[m][2 * H + 1], b = x[m + 2][2 * H] + x[m + 2][2 * H + 1];
    four[n] = (t & 1 ? b : a) + __shfl_xor_sync(~0u, t & 1 ? a : b, 1);
  }
#pragma unroll
  for (int n = 0; n < 2; ++n) two[n] = (t & 2 ? four[n + 2] : four[n]) + __shfl_xor_sync(~0u, t & 2 ? four[n] : four[n + 2], 2);
  return of_four<Sum>(two[0] + two[1]);
}

// Weights times the scales of their columns; one that is 0 stays so, whatever its scale.
__device__ __forceinline__ void scale_columns(float (&w)[8][4], const float* scales) {
  if (scales[64] != scales[64]) {
#pragma unroll
    for (int n = 0; n < 8; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) w[n][i] = w[n][i] == 0 ? 0 : w[n][i] * scales[n * 8 + threadIdx.x % 4 * 2 + i % 2];
  } else {
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      const float2 s = *reinterpret_cast<const float2*>(scales + n * 8 + threadIdx.x % 4 * 2);
#pragma unroll
      for (int i = 0; i < 4; ++i) w[n][i] *= i % 2 ? s.y : s.x;
    }
  }
}

// Weights on their way to the next product: integers by one exponent a row, as digits. `scale` becomes that of each row.
template <int COUNT> struct Weights {
  unsigned x[2][COUNT][4];

  __device__ __forceinline__ void set(float (&w)[8][4], float (&scale)[2]) {
    constexpr int BITS = 8 * COUNT - 1;
    float up[2], lift[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float most = 0;
#pragma unroll
      for (int n = 0; n < 8; ++n)
#pragma unroll
        for (int e = 0; e < 2; ++e) most = maximum(most, fabsf(w[n][2 * h + e]));
      const unsigned m = __float_as_uint(of_four<Max>(most));
      const int places = BITS - max(exponent_above(m), BITS - 149);
      up[h] = power_of_two(min(places, 127));
      lift[h] = power_of_two(max(places - 127, 0));
      scale[h] = m < 0x7f800000u ? power_of_two(-places) : __uint_as_float(0x7fc00000u);
      if (m >= 0x7f800000u) up[h] = 0;
    }
    if (__any_sync(~0u, lift[0] > 1 || lift[1] > 1)) {
#pragma unroll
      for (int n = 0; n < 8; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) w[n][i] *= lift[i / 2];
    }
#pragma unroll
    for (int k = 0; k < 2; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        unsigned u[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float v = w[4 * k + i / 2 * 2 + e / 2][i % 2 * 2 + e % 2];
          // 1.5 * 2**23 puts an integer into the low bits; balanced digits are those of u + 0x80.. with their high bits turned.
          if constexpr (COUNT == 2) u[e] = __float_as_uint(__fmaf_rn(v, up[i % 2], 12582912.0f + 128.0f));
          else u[e] = (unsigned)__float2int_rn(v * up[i % 2]) + 0x8080u;
        }
        const unsigned low0 = __byte_perm(u[0], u[1], 0x5140), low1 = __byte_perm(u[2], u[3], 0x5140);
        x[k][COUNT - 1][i] = __byte_perm(low0, low1, 0x5410) ^ 0x80808080u;
        x[k][COUNT - 2][i] = __byte_perm(low0, low1, 0x7632) ^ (COUNT == 3 ? 0x80808080u : 0u);
        if constexpr (COUNT == 3)
          x[k][0][i] = __byte_perm(__byte_perm(u[0], u[1], 0x0062), __byte_perm(u[2], u[3], 0x0062), 0x5410);
      }
  }
  // sums += the weights times WIDTH columns of 64 rows, whose digits lie turned in shared memory.
  template <int N> __device__ __forceinline__ void add_rows(float (&sums)[N][4], unsigned digits, const float (&scale)[2]) const {
    const int lane = threadIdx.x % 32;
    const unsigned at = digits + lane % 8 * 64 + ((lane / 8 ^ lane % 8 / 2) * 16);
#pragma unroll
    for (int n = 0; n < N; ++n) {
      DigitSums<COUNT> parts;
#pragma unroll
      for (int d = 0; d < COUNT; ++d) {
        unsigned r[4];
        load_matrices(r, at + (d * N + n) * 512);
#pragma unroll
        for (int k = 0; k < 2; ++k) parts.add(x[k], d, r[2 * k], r[2 * k + 1]);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[n][i] = __fmaf_rn(parts.rounded(i), scale[i / 2], sums[n][i]);
    }
  }
};

// Bytes that lie one behind the other, to shared memory. (The offsets are written out: an addition each stands there otherwise.)
template <int BYTES, int THREADS, int FIRST = 0>
__device__ __forceinline__ void copy_pieces_from(unsigned to, const unsigned char* from) {
  if (FIRST + THREADS * 16 <= BYTES || threadIdx.x * 16 < BYTES - FIRST)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0 + %2], [%1 + %2], 16;" ::"r"(to), "l"(from), "n"(FIRST) : "memory");
  if constexpr (FIRST + THREADS * 16 < BYTES) copy_pieces_from<BYTES, THREADS, FIRST + THREADS * 16>(to, from);
}
template <int BYTES, int THREADS> __device__ __forceinline__ void copy_bytes(unsigned char* to, const unsigned char* from) {
  copy_pieces_from<BYTES, THREADS>(shared_address(to) + threadIdx.x * 16, from + threadIdx.x * 16);
}
"""
