"""The C++ of thin integer products: the way of a wide factor's elements, as they are stored, to digits in tensor cores."""

from __future__ import annotations

THIN = r"""
// The greatest magnitude of a row's block, of which four threads have 32 elements each, as the bits of an f32.
template <class S> __device__ __forceinline__ unsigned greatest(const Vec<S, 8> (&x)[4]) {
  unsigned m = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int i = 0; i < 8; ++i) m = max(m, __float_as_uint(widen(x[j].v[i])) & 0x7fffffffu);
  m = max(m, __shfl_xor_sync(~0u, m, 1));
  return max(m, __shfl_xor_sync(~0u, m, 2));
}
// Halves of words at once; a NaN stays.
__device__ __forceinline__ unsigned greater_halves(unsigned a, unsigned b, BF16) {
  unsigned r; asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r;
}
__device__ __forceinline__ unsigned greater_halves(unsigned a, unsigned b, F16) {
  unsigned r; asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r;
}
__device__ __forceinline__ unsigned magnitudes(unsigned x, BF16) {
  unsigned r; asm("abs.bf16x2 %0, %1;" : "=r"(r) : "r"(x)); return r;
}
__device__ __forceinline__ unsigned magnitudes(unsigned x, F16) {
  unsigned r; asm("abs.f16x2 %0, %1;" : "=r"(r) : "r"(x)); return r;
}
template <class S> __device__ __forceinline__ unsigned greatest_half(const Vec<S, 8> (&x)[4]) {
  unsigned m = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    unsigned words[4];
    memcpy(words, &x[j], 16);
#pragma unroll
    for (int i = 0; i < 4; ++i) m = greater_halves(m, magnitudes(words[i], S{}), S{});
  }
  m = greater_halves(m, __shfl_xor_sync(~0u, m, 1), S{});
  m = greater_halves(m, __shfl_xor_sync(~0u, m, 2), S{});
  return __float_as_uint(widen(S{(unsigned short)max(m & 0xffffu, m >> 16)})) & 0x7fffffffu;
}
__device__ __forceinline__ unsigned greatest(const Vec<BF16, 8> (&x)[4]) { return greatest_half(x); }
__device__ __forceinline__ unsigned greatest(const Vec<F16, 8> (&x)[4]) { return greatest_half(x); }

// The integer of an element with 128 added to each digit, in the low COUNT bytes. Two digits are the low bits of a sum with a
// float that has no fraction. Three are not, but what such a sum of a 16-bit float rounds below 2**23 is whole anyway.
template <int COUNT, class S> __device__ __forceinline__ unsigned balanced(float x, float scale) {
  if constexpr (COUNT == 2) return __float_as_uint(__fmaf_rn(x, scale, 0x1.81010p+23f));
  else if constexpr (sizeof(S) < 4) return (unsigned)__float2int_rn(__fmaf_rn(x, scale, 0x1.01010p+23f));
  else return (unsigned)(__float2int_rn(__fmul_rn(x, scale)) + 0x808080);
}
// The digits of 4 elements, the most significant first.
template <int COUNT> __device__ __forceinline__ void digit_words(unsigned (&to)[COUNT], const unsigned (&u)[4]) {
  const unsigned low = __byte_perm(u[0], u[1], 0x5140), high = __byte_perm(u[2], u[3], 0x5140);
  to[COUNT - 1] = __byte_perm(low, high, 0x5410) ^ 0x80808080u;
  to[COUNT - 2] = __byte_perm(low, high, 0x7632) ^ 0x80808080u;
  if constexpr (COUNT == 3)
    to[0] = __byte_perm(__byte_perm(u[0], u[1], 0x0062), __byte_perm(u[2], u[3], 0x0062), 0x5410) ^ 0x80808080u;
}
// 8 elements, widened; a NaN's sign does not matter here.
template <class S> __device__ __forceinline__ void widen_some(float (&to)[8], const Vec<S, 8>& from) { widen_all(to, from); }
__device__ __forceinline__ float widen_number(F16 x) {
  float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x.bits)); return r;
}
__device__ __forceinline__ void widen_some(float (&to)[8], const Vec<F16, 8>& from) {
#pragma unroll
  for (int i = 0; i < 8; ++i) to[i] = widen_number(from.v[i]);
}
__device__ __forceinline__ uint2 load_pair(const void* from) {
  uint2 r; asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(r.x), "=r"(r.y) : "l"(from)); return r;
}
// The digits of a block of 16 rows, 0 and 8 of them a thread's own, as the instruction takes them for each 32 steps of k. A
// thread has 8 neighbours in those: the order of k inside a block is the same for both factors, and free otherwise. TINY: 2**up
// of a row is no f32.
template <bool TINY, int COUNT, class S>
__device__ __forceinline__ void make_digits(unsigned (&to)[4][COUNT][4], const Vec<S, 8> (&x)[2][4], const int (&up)[2]) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float scale = power_of_two(TINY ? up[r] - up[r] / 2 : up[r]);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float value[8];
      widen_some(value, x[r][j]);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        unsigned u[4], words[COUNT];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float x = value[h * 4 + i];
          u[i] = balanced<COUNT, S>(TINY ? __fmul_rn(x, power_of_two(up[r] / 2)) : x, scale);
        }
        digit_words(words, u);
#pragma unroll
        for (int d = 0; d < COUNT; ++d) to[j][d][r + 2 * h] = words[d];
      }
    }
  }
}
// What the elements of the thread's rows are multiplied by, as a power of 2, and the scales, by the greatest magnitudes.
template <int BITS> __device__ __forceinline__ void power_and_scale(int (&up)[2], float (&scales)[2], const unsigned (&most)[2]) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const bool usual = most[r] - 1 < 0x7f7fffffu;  // neither 0 nor infinite
    up[r] = usual ? BITS - max(exponent_above(most[r]), BITS - 149) : 0;
    scales[r] = usual || most[r] == 0 ? power_of_two(-up[r]) : __uint_as_float(0x7fc00000u);
  }
}
// The P of a block of 16 rows and 8 * TILES thin ones, whose digits are at `thin`, rounded, and the scales of the thread's rows.
// The thread has four of each tile's, which go to `products` 32 apart.
template <int COUNT, int TILES, class S>
__device__ __forceinline__ void block_product(float* products, float (&scales)[2], const Vec<S, 8> (&x)[2][4],
                                              const unsigned (&most)[2], const unsigned char* thin, int lane) {
  int up[2];
  power_and_scale<8 * COUNT - 1>(up, scales, most);
  unsigned left[4][COUNT][4];
  if (__any_sync(~0u, max(up[0], up[1]) > 127)) make_digits<true>(left, x, up);
  else make_digits<false>(left, x, up);
  const unsigned own = lane / 4 * 128 + ((lane / 2 % 2 ^ lane / 4) << 4) + lane % 2 * 8;
#pragma unroll 1
  for (int t = 0; t < TILES; ++t) {
    int places[2 * COUNT - 1][4], sums[COUNT][4];
#pragma unroll
    for (int p = 0; p < 2 * COUNT - 1; ++p)
#pragma unroll
      for (int i = 0; i < 4; ++i) places[p][i] = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < COUNT; ++e) {
        const uint2 right = load_pair(thin + e * 8192 + t * 1024 + (own ^ j * 32));
#pragma unroll
        for (int d = 0; d < COUNT; ++d) multiply_add(places[d + e], left[j][d], right.x, right.y);
      }
    combine_places(sums, places);
#pragma unroll
    for (int i = 0; i < 4; ++i) products[(t * 4 + i) * 32 + lane] = rounded(sums, i);
  }
}

// The integer of an element times 2**-896: the bits of an f32, moved to where an f64 has them. That of a 16-bit float, or of 15
// bits, has at most 15 significant bits, so that the low half is 0. A sum of a 16-bit float with the constant is rounded to be
// whole below 2**22; above, it is whole.
template <int BITS, class S> __device__ __forceinline__ double number(float x, float scale) {
  if constexpr (BITS == 15 || sizeof(S) < 4) {
    const int bits = __float_as_int(__fadd_rn(__fmaf_rn(x, scale, 0x1.8p23f), -0x1.8p23f));
    return __hiloint2double(bits >> 3 & 0x8fffffff, 0);
  } else {
    const float y = __fmul_rn(x, scale), whole = __int_as_float(__float_as_int(y) & 0x80000000 | 0x4b000000);
    const int bits = __float_as_int(__fadd_rn(__fadd_rn(y, whole), -whole));
    return __hiloint2double(bits >> 3 & 0x8fffffff, bits << 29);
  }
}
// c += the product of 16 rows by 16 steps of k and 8 columns by 16.
__device__ __forceinline__ void multiply_add(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
        "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
#pragma unroll
  for (int i = 0; i < 8; ++i)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[i % 2 * 2]), "+d"(c[i % 2 * 2 + 1]) : "d"(a[i]), "d"(b[i / 2]));
#endif
}
// A row by as many columns and steps of k as an instruction takes: multiplied by itself, without 7 more rows.
__device__ __forceinline__ void multiply_add(double (&c)[2], const double (&a)[8], const double (&b)[4]) {
#pragma unroll
  for (int i = 0; i < 8; ++i) c[i % 2] = __fma_rn(a[i], b[i / 2], c[i % 2]);
}
template <bool TINY, int BITS, int ROWS, int TILES, int N, class S>
__device__ __forceinline__ void sum_products(double (&sums)[TILES][N], const Vec<S, 8> (&x)[2][4], const int (&up)[2],
                                             const double* thin, int lane) {
  constexpr int HELD = ROWS < 8 ? ROWS : 8;
  const double2* const own = (const double2*)thin + lane % (4 * HELD);
  float scale[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) scale[r] = power_of_two(TINY ? up[r] - up[r] / 2 : up[r]);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    float value[2][8];
    widen_some(value[0], x[0][j]);
    widen_some(value[1], x[1][j]);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      double wide[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float x = value[i % 2][h * 4 + i / 2];
        wide[i] = number<BITS, S>(TINY ? __fmul_rn(x, power_of_two(up[i % 2] / 2)) : x, scale[i % 2]);
      }
#pragma unroll
      for (int t = 0; t < TILES; ++t) {
        const double2* const at = own + t * 512 + (j * 2 + h) * 8 * HELD;
        const double2 first = __ldg(at), second = __ldg(at + 4 * HELD);
        const double held[4] = {first.x, first.y, second.x, second.y};
        multiply_add(sums[t], wide, held);
      }
    }
  }
}
// The same as `block_product`, in f64: of a thin factor's ROWS rows, whose integers are at `thin`. ALONE: without tensor cores,
// for a single row, whose sums are added up by the four threads that have a column; those of other rows are not written.
template <int BITS, int TILES, int ROWS, bool ALONE, class S>
__device__ __forceinline__ void block_product_f64(float* products, float (&scales)[2], const Vec<S, 8> (&x)[2][4],
                                                  const unsigned (&most)[2], const double* thin, int lane) {
  constexpr int N = ALONE ? 2 : 4;
  int up[2];
  power_and_scale<BITS>(up, scales, most);
  double sums[TILES][N];
#pragma unroll
  for (int t = 0; t < TILES; ++t)
#pragma unroll
    for (int i = 0; i < N; ++i) sums[t][i] = 0;
  if (__any_sync(~0u, max(up[0], up[1]) > 127)) sum_products<true, BITS, ROWS>(sums, x, up, thin, lane);
  else sum_products<false, BITS, ROWS>(sums, x, up, thin, lane);
#pragma unroll
  for (int t = 0; t < TILES; ++t)
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if constexpr (ALONE) {
        sums[t][i] += __shfl_xor_sync(~0u, sums[t][i], 1);
        sums[t][i] += __shfl_xor_sync(~0u, sums[t][i], 2);
      }
      products[(t * 4 + i * 4 / N) * 32 + lane] = __double2float_rn(sums[t][i]);
    }
}

// How a warp brings blocks of a wide factor, one after the other: 16 rows by 128 steps of k, of which `rows` and `steps` exist.
// Along k, in pieces of at most 16 bytes: neighbours are brought by neighbours, and each thread reads what it multiplies: rows
// lane / 4 and 8 more, 8 elements of each 32 from lane % 4 * 8 on. Rows that are read at once have their pieces at other places.
template <class S> struct AlongK {
  static constexpr int PIECE = 8 * sizeof(S) < 16 ? 8 * sizeof(S) : 16, V = PIECE / sizeof(S), PIECES = 8 / V, LINE = 16 * PIECES;
  const S *base, *own;
  i64 row_stride;
  int rows, steps, lane;
  static __device__ __forceinline__ int turned(int row) { return PIECE == 8 ? row % 4 * 4 : PIECES == 1 ? row % 2 * 4 : row % 2; }
  static __device__ __forceinline__ int place(int row, int piece) { return (row * LINE + (piece ^ turned(row))) * PIECE; }
  __device__ __forceinline__ AlongK(const S* from, i64 row_stride, i64, int rows, int k, int first, int lane)
      : base(from), own(from + lane / LINE * row_stride + (lane % LINE * V + first)), row_stride(row_stride), rows(rows),
        steps(k - first), lane(lane) {}
  __device__ __forceinline__ void fetch(unsigned char* to) const {
    constexpr int STEP = 32 / LINE;  // rows that are brought at once
    if (rows >= 16 && steps >= 128) {
#pragma unroll
      for (int i = 0; i < 16; i += STEP)
        copy_async<PIECE>(to + place(lane / LINE + i, lane % LINE), own + i * row_stride, PIECE);
      return;
    }
#pragma unroll 1
    for (int i = 0; i < 16; i += STEP) {
      const int there = lane / LINE + i < rows ? held_to<V>(min(steps - lane % LINE * V, 128)) : 0;
      copy_async<PIECE>(to + place(lane / LINE + i, lane % LINE), there ? own + i * row_stride : base, there * (int)sizeof(S));
    }
  }
  __device__ __forceinline__ void advance(int by, i64) {
    own += by;
    steps -= by;
  }
  __device__ __forceinline__ void read(Vec<S, 8> (&x)[2][4], const unsigned char* from) const {
    const unsigned char* const line = from + lane / 4 * (LINE * PIECE);
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int c = 0; c < PIECES; ++c) {
        const unsigned char* const at = line + (((j * 4 + lane % 4) * PIECES + c) ^ turned(lane / 4)) * PIECE;
#pragma unroll
        for (int r = 0; r < 2; ++r)
          *reinterpret_cast<Vec<S, V>*>(x[r][j].v + c * V) = *reinterpret_cast<const Vec<S, V>*>(at + r * 8 * LINE * PIECE);
      }
  }
};
// Along the rows, of 16-bit elements: pieces of 8 rows of one k, which `ldmatrix` exchanges for the same elements as above.
// Of each 32 steps of k, those that it reads at once, 8 * a + 2 * i + b for one i, lie side by side.
template <class S> struct AlongRows {
  static_assert(sizeof(S) == 2, "ldmatrix exchanges elements of 16 bits");
  const S *base, *own;
  i64 k_stride;
  int rows, steps, lane, place;
  __device__ __forceinline__ AlongRows(const S* from, i64, i64 k_stride, int rows, int k, int first, int lane)
      : base(from), own(from + (lane / 2 + first) * k_stride + lane % 2 * 8), k_stride(k_stride), rows(rows), steps(k - first),
        lane(lane), place((lane % 2 * 32 + lane / 4 % 4 * 8 + lane / 16 * 2 + lane / 2 % 2) * 16) {}
  __device__ __forceinline__ void fetch(unsigned char* to) const {
    if (rows >= 16 && steps >= 128) {
#pragma unroll
      for (int n = 0; n < 8; ++n) copy_async<16>(to + n / 2 * 1024 + n % 2 * 64 + place, own + n * 16 * k_stride, 16);
      return;
    }
#pragma unroll 1
    for (int n = 0; n < 8; ++n) {
      const int there = n * 16 + lane / 2 < steps ? held_to<8>(min(rows - lane % 2 * 8, 8)) : 0;
      copy_async<16>(to + n / 2 * 1024 + n % 2 * 64 + place, there ? own + n * 16 * k_stride : base, there * 2);
    }
  }
  __device__ __forceinline__ void advance(int by, i64 stride) {
    own += stride;
    steps -= by;
  }
  __device__ __forceinline__ void read(Vec<S, 8> (&x)[2][4], const unsigned char* from) const {
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        unsigned words[4];
        load_transposed(words, shared_address(from) + (j * 2 + r) * 512 + lane * 16);
        memcpy(&x[r][j], words, 16);
      }
  }
};
__device__ __forceinline__ void group_barrier(int group, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(threads) : "memory");
}
"""
