typedef unsigned long long u64;
typedef long long i64;
struct F16 { unsigned short bits; };
struct BF16 { unsigned short bits; };
struct Bool { unsigned char byte; };
template <class T, int N> struct alignas(sizeof(T) * N) Vec { T v[N]; };

// Loads widen to the compute type.
__device__ __forceinline__ float widen(F16 h) {
  float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits));
  return __uint_as_float((__float_as_uint(f) & 0x7fffffffu) | (unsigned)(h.bits & 0x8000) << 16);  // a NaN loses its sign there
}
__device__ __forceinline__ float widen(BF16 h) { return __uint_as_float((unsigned)h.bits << 16); }
__device__ __forceinline__ bool widen(Bool x) { return x.byte != 0; }
template <class T> __device__ __forceinline__ T widen(T x) { return x; }

// Stores round once, to nearest even; integers wrap.
template <class T, class C> struct Narrow {
  static __device__ __forceinline__ T to(C x) { return (T)x; }
};
template <> struct Narrow<F16, float> {
  static __device__ __forceinline__ F16 to(float x) {
    F16 h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(x)); return h;
  }
};
template <> struct Narrow<BF16, float> {
  static __device__ __forceinline__ BF16 to(float x) {
    BF16 h; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h.bits) : "f"(x)); return h;
  }
};
template <> struct Narrow<Bool, bool> {
  static __device__ __forceinline__ Bool to(bool x) { return {x}; }
};
template <int P, class T, int N> __device__ __forceinline__ void store(T* to, const Vec<T, N>& from) {
#pragma unroll
  for (int i = 0; i < N / P; ++i) {
    Vec<T, P> piece;
#pragma unroll
    for (int j = 0; j < P; ++j) piece.v[j] = from.v[i * P + j];
    reinterpret_cast<Vec<T, P>*>(to)[i] = piece;
  }
}

// n / d for 0 <= n < 2^31, with the multiplier and shift that the host prepared.
__device__ __forceinline__ unsigned divide(unsigned n, u64 magic) {
  return (__umulhi(n, (unsigned)magic) + n) >> (unsigned)(magic >> 32);
}
struct Words { u64 w[13]; };

// c += the product of 16 rows by 32 bytes and 8 columns by 32 bytes.
__device__ __forceinline__ void multiply_add(int* c, const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The bytes of four words, of which each has those of four rows, by row.
__device__ __forceinline__ void turn(unsigned (&w)[4]) {
  const unsigned low01 = __byte_perm(w[0], w[1], 0x5140), high01 = __byte_perm(w[0], w[1], 0x7362);
  const unsigned low23 = __byte_perm(w[2], w[3], 0x5140), high23 = __byte_perm(w[2], w[3], 0x7362);
  w[0] = __byte_perm(low01, low23, 0x5410);
  w[1] = __byte_perm(low01, low23, 0x7632);
  w[2] = __byte_perm(high01, high23, 0x5410);
  w[3] = __byte_perm(high01, high23, 0x7632);
}

// 16 bytes, of which `left` exist and the rest become zeros. STREAM: nobody else reads them.
template <bool STREAM> __device__ __forceinline__ uint4 sixteen(const unsigned char* from, i64 left) {
  if (left >= 16) return STREAM ? __ldcs((const uint4*)from) : __ldg((const uint4*)from);
  unsigned words[4] = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < 15; ++i)
    if (i < left) words[i / 4] |= (unsigned)from[i] << i % 4 * 8;
  return make_uint4(words[0], words[1], words[2], words[3]);
}
// AHEAD blocks of 64 steps of k, from one to the next WAYS such blocks. CHECK: not all of them exist.
template <bool CHECK, int TILES, int AHEAD, int WAYS>
__device__ __forceinline__ void thin_steps(int (&sums)[TILES][4], const unsigned char* const (&a)[TILES],
                                           const unsigned char* const (&b)[2], i64 from, i64 k) {
  uint4 wide[AHEAD][2], thin[AHEAD][TILES];
#pragma unroll
  for (int s = 0; s < AHEAD; ++s)
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const i64 at = from + s * WAYS * 64;
      wide[s][i] = sixteen<true>(b[i] + at, CHECK ? k - at : 16);
    }
#pragma unroll
  for (int s = 0; s < AHEAD; ++s)
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      const i64 at = from + s * WAYS * 64;
      thin[s][i] = sixteen<false>(a[i] + at, CHECK ? k - at : 16);
    }
#pragma unroll
  for (int s = 0; s < AHEAD; ++s) {
    const unsigned low[4] = {wide[s][0].x, wide[s][1].x, wide[s][0].y, wide[s][1].y};
    const unsigned high[4] = {wide[s][0].z, wide[s][1].z, wide[s][0].w, wide[s][1].w};
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      multiply_add(sums[i], low, thin[s][i].x, thin[s][i].y);
      multiply_add(sums[i], high, thin[s][i].z, thin[s][i].w);
    }
  }
}
// The lines of a thread: row lane / 4 of each 8. Rows and columns that do not exist are others that do, for nobody looks at their
// sums.
template <int TILES>
__device__ __forceinline__ void thin_rows(const unsigned char* (&a)[TILES], const unsigned char* first, i64 stride, int rows,
                                          int lane) {
#pragma unroll
  for (int i = 0; i < TILES; ++i) a[i] = first + min(i * 8 + lane / 4, rows - 1) * stride;
}
// The sums of 16 columns, from `column` on, by TILES times 8 rows, of every WAYS-th block of 64 steps of k.
template <int TILES, int AHEAD, int WAYS>
__device__ __forceinline__ void thin_product(int (&sums)[TILES][4], const unsigned char* a_first, i64 a_stride, int rows,
                                             const unsigned char* b_first, i64 b_stride, int columns, int column, i64 k, int way,
                                             int lane) {
  const unsigned char* a[TILES];
  const unsigned char* b[2];
  thin_rows(a, a_first, a_stride, rows, lane);
#pragma unroll
  for (int i = 0; i < 2; ++i) b[i] = b_first + min(column + i * 8 + lane / 4, columns - 1) * b_stride;
  i64 from = way * 64;
#pragma unroll 1
  for (; from + ((AHEAD - 1) * WAYS + 1) * 64 <= k; from += AHEAD * WAYS * 64)
    thin_steps<false, TILES, AHEAD, WAYS>(sums, a, b, from + lane % 4 * 16, k);
#pragma unroll 1
  for (; from < k; from += WAYS * 64) thin_steps<true, TILES, 1, WAYS>(sums, a, b, from + lane % 4 * 16, k);
}

// 8 columns of 16 steps of k, from step `at` on, where columns lie side by side; zeros from step k on.
__device__ __forceinline__ void load_across(uint2 (&to)[16], const unsigned char* b, i64 k_stride, int at, int k) {
  const unsigned char* from = b + at * k_stride;
#pragma unroll
  for (int r = 0; r < 16; ++r) {
    to[r] = at + r < k ? __ldcs((const uint2*)from) : make_uint2(0, 0);
    from += k_stride;
  }
}
// The same where columns lie side by side: 64 columns, from b on, 8 of them a thread's. The next steps are on their way while
// these are turned and multiplied.
template <int TILES, int WAYS>
__device__ __forceinline__ void thin_across(int (&sums)[TILES][4][4], const unsigned char* a_first, i64 a_stride, int rows,
                                            const unsigned char* b, i64 k_stride, int k, int way, int lane) {
  const unsigned char* a[TILES];
  thin_rows(a, a_first, a_stride, rows, lane);
  uint2 wide[16];
  int at = way * 64 + lane % 4 * 16;
  load_across(wide, b, k_stride, at, k);
#pragma unroll 1
  for (int from = way * 64; from < k; from += WAYS * 64) {
    uint4 thin[TILES];
#pragma unroll
    for (int i = 0; i < TILES; ++i) thin[i] = sixteen<false>(a[i] + at, k - at);
    uint2 next[16];
    at += WAYS * 64;
    load_across(next, b, k_stride, at, k);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      unsigned columns[8][2];
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        unsigned low[4], high[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          low[r] = wide[half * 8 + q * 4 + r].x;
          high[r] = wide[half * 8 + q * 4 + r].y;
        }
        turn(low);
        turn(high);
#pragma unroll
        for (int v = 0; v < 4; ++v) {
          columns[v][q] = low[v];
          columns[v + 4][q] = high[v];
        }
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const unsigned own[4] = {columns[2 * j][0], columns[2 * j + 1][0], columns[2 * j][1], columns[2 * j + 1][1]};
#pragma unroll
        for (int i = 0; i < TILES; ++i)
          multiply_add(sums[i][j], own, half ? thin[i].z : thin[i].x, half ? thin[i].w : thin[i].y);
      }
    }
#pragma unroll
    for (int r = 0; r < 16; ++r) wide[r] = next[r];
  }
}

extern "C" __global__ void __launch_bounds__(256) kernel(const __grid_constant__ Words W) {
  extern __shared__ __align__(16) unsigned char shared[];
  const unsigned product = divide(blockIdx.x, W.w[8]);
  const i64 m0 = 0, n0 = (i64)(blockIdx.x - product * ((unsigned)W.w[9])) * 128;
  const i64 rows_left = ((i64)W.w[10]) - m0, columns_left = ((i64)W.w[11]) - n0;
  const int rows = rows_left < 8 ? (int)rows_left : 8;
  const int columns = columns_left < 128 ? (int)columns_left : 128;
  int* const sums0 = (int*)shared;
  for (int i = threadIdx.x; i < 1056; i += 256) sums0[i] = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int group = warp / 1, way = warp % 1, column = group * 16;
  int sums[1][4] = {};
  thin_product<1, 4, 1>(sums, (const unsigned char*)(W.w[0]) + ((i64)0 + (m0) * ((i64)W.w[6])), ((i64)W.w[6]), rows, (const unsigned char*)(W.w[1]) + ((i64)0 + (n0) * ((i64)W.w[7])), ((i64)W.w[7]), columns, column, W.w[12], way, lane);
  #pragma unroll
  for (int i = 0; i < 4; ++i)
  atomicAdd(sums0 + (i / 4 * 8 + lane % 4 * 2 + i % 2) * 132 + column + lane / 4 + i / 2 % 2 * 8, (&sums[0][0])[i]);
  __syncthreads();
  int* const p1 = (int*)(W.w[2]);
  #pragma unroll 1
  for (int e0 = threadIdx.x; e0 < 256; e0 += 256) {
  #pragma unroll
  for (int u = 0; u < 1; ++u) {
  const int e = e0 + u * 256, r = e / 32, s = e % 32 * 4;
  const i64 c0 = m0 + r, at = n0 + s;
  const int left = columns - s;
  if (e < 256 && r < rows && left > 0) {
  const i64 o1 = (i64)c0 * ((i64)W.w[4]) + at * ((i64)W.w[5]);
  Vec<int, 4> out1;
  #pragma unroll
  for (int v = 0; v < 4; ++v) if (v < left) {
  const int t1 = widen(sums0[r * 132 + s + v]);
  out1.v[v] = Narrow<int, int>::to(t1);
  }
  if (left >= 4) store<4>((p1 + o1), out1);
  else {
  #pragma unroll
  for (int v = 0; v < 4; ++v) if (v < left) (p1 + o1)[v] = out1.v[v];
  }
  }}}
}
