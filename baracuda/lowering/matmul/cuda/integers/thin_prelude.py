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
template <class S> __device__ __forceinline__ unsigned greatest_half(const Vec<S, 8> (&x)[4]) {
  unsigned m = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    unsigned words[4];
    memcpy(words, &x[j], 16);
#pragma unroll
    for (int i = 0; i < 4; ++i) m = greater_halves(m, words[i] & 0x7fff7fffu, S{});
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
// The P of a block of 16 rows and 8 * TILES thin ones, whose digits are at `thin`, rounded, and the scales of the thread's rows.
// The thread has four of each tile's, which go to `products` 32 apart.
template <int COUNT, int TILES, class S>
__device__ __forceinline__ void block_product(float* products, float (&scales)[2], const Vec<S, 8> (&x)[2][4],
                                              const unsigned (&most)[2], const unsigned char* thin, int lane) {
  constexpr int BITS = 8 * COUNT - 1;
  int up[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const bool usual = most[r] - 1 < 0x7f7fffffu;  // neither 0 nor infinite
    up[r] = usual ? BITS - max(exponent_above(most[r]), BITS - 149) : 0;
    scales[r] = usual || most[r] == 0 ? power_of_two(-up[r]) : __uint_as_float(0x7fc00000u);
  }
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

// A warp's block of a wide factor on its way: 16 rows by 128 steps of k, of which `rows` and `steps` exist.
// Along k, each thread brings and reads what it multiplies: rows lane / 4 and 8 more, 8 elements of each 32 from lane % 4 * 8 on,
// in pieces of at most 16 bytes.
template <class S> struct AlongK {
  static constexpr int PIECE = 8 * sizeof(S) < 16 ? 8 * sizeof(S) : 16, V = PIECE / sizeof(S), PIECES = 8 / V;
  static __device__ __forceinline__ void fetch(unsigned char* to, const S* from, i64 row_stride, i64, i64 rows, i64 steps,
                                               int lane) {
    const int row = lane / 4, k = lane % 4 * 8;
    const S* const own = from + row * row_stride + k;
    if (rows >= 16 && steps >= 128) {
#pragma unroll
      for (int i = 0; i < 8 * PIECES; ++i) {
        const S* const at = own + i / (4 * PIECES) * 8 * row_stride + i / PIECES % 4 * 32 + i % PIECES * V;
        copy_async<PIECE>(to + (i * 32 + lane) * PIECE, at, PIECE);
      }
      return;
    }
#pragma unroll 1
    for (int i = 0; i < 8 * PIECES; ++i) {
      const int r = i / (4 * PIECES) * 8, at = i / PIECES % 4 * 32 + i % PIECES * V;
      const int there = row + r < rows ? held_to<V>((int)min(steps - k - at, (i64)128)) : 0;
      copy_async<PIECE>(to + (i * 32 + lane) * PIECE, there ? own + r * row_stride + at : from, there * (int)sizeof(S));
    }
  }
  static __device__ __forceinline__ void read(Vec<S, 8> (&x)[2][4], const unsigned char* from, int lane) {
#pragma unroll
    for (int i = 0; i < 8 * PIECES; ++i)
      *reinterpret_cast<Vec<S, V>*>(x[i / (4 * PIECES)][i / PIECES % 4].v + i % PIECES * V) =
          *reinterpret_cast<const Vec<S, V>*>(from + (i * 32 + lane) * PIECE);
  }
};
// Along the rows, of 16-bit elements: pieces of 8 rows of one k, which `ldmatrix` exchanges for the same elements as above.
// Of each 32 steps of k, those that it reads at once, 8 * a + 2 * i + b for one i, lie side by side.
template <class S> struct AlongRows {
  static_assert(sizeof(S) == 2, "ldmatrix exchanges elements of 16 bits");
  static __device__ __forceinline__ void fetch(unsigned char* to, const S* first, i64, i64 k_stride, i64 rows, i64 steps,
                                               int lane) {
    const int half = lane % 2, k = lane / 2, own = (half * 32 + k / 2 % 4 * 8 + k / 8 * 2 + k % 2) * 16;
    const S* const from = first + k * k_stride + half * 8;
    if (rows >= 16 && steps >= 128) {
#pragma unroll
      for (int n = 0; n < 8; ++n) copy_async<16>(to + n / 2 * 1024 + n % 2 * 64 + own, from + n * 16 * k_stride, 16);
      return;
    }
#pragma unroll 1
    for (int n = 0; n < 8; ++n) {
      const int there = n * 16 + k < steps ? held_to<8>((int)min(rows - half * 8, (i64)8)) : 0;
      copy_async<16>(to + n / 2 * 1024 + n % 2 * 64 + own, there ? from + n * 16 * k_stride : first, there * 2);
    }
  }
  static __device__ __forceinline__ void read(Vec<S, 8> (&x)[2][4], const unsigned char* from, int lane) {
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
