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

// N consecutive elements, moved in pieces of P.
template <int P, class T, int N> __device__ __forceinline__ void load(Vec<T, N>& to, const T* from) {
#pragma unroll
  for (int i = 0; i < N / P; ++i) {
    Vec<T, P> piece = reinterpret_cast<const Vec<T, P>*>(from)[i];
#pragma unroll
    for (int j = 0; j < P; ++j) to.v[i * P + j] = piece.v[j];
  }
}
template <int P, class T, int N> __device__ __forceinline__ void store(T* to, const Vec<T, N>& from) {
#pragma unroll
  for (int i = 0; i < N / P; ++i) {
    Vec<T, P> piece;
#pragma unroll
    for (int j = 0; j < P; ++j) piece.v[j] = from.v[i * P + j];
    reinterpret_cast<Vec<T, P>*>(to)[i] = piece;
  }
}

// IEEE 754-2019 maximum and minimum.
__device__ __forceinline__ float maximum(float a, float b) {
  float r; asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r;
}
__device__ __forceinline__ float minimum(float a, float b) {
  float r; asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r;
}
__device__ __forceinline__ double maximum(double a, double b) {
  if (a == b) return __longlong_as_double(__double_as_longlong(a) & __double_as_longlong(b));
  return (a > b || a != a) ? a : b;
}
__device__ __forceinline__ double minimum(double a, double b) {
  if (a == b) return __longlong_as_double(__double_as_longlong(a) | __double_as_longlong(b));
  return (a < b || a != a) ? a : b;
}
template <class T> __device__ __forceinline__ T maximum(T a, T b) { return a > b ? a : b; }
template <class T> __device__ __forceinline__ T minimum(T a, T b) { return a < b ? a : b; }

// n / d for 0 <= n < 2^31, with the multiplier and shift that the host prepared.
__device__ __forceinline__ unsigned divide(unsigned n, u64 magic) {
  return (__umulhi(n, (unsigned)magic) + n) >> (unsigned)(magic >> 32);
}
struct Words { u64 w[29]; };

// N bytes from global to shared memory without passing registers; those from `valid` on become zero.
template <int N> __device__ __forceinline__ void copy_async(void* to, const void* from, int valid) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  if constexpr (N == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(valid) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at), "l"(from), "n"(N), "r"(valid) : "memory");
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most N of this thread's groups of copies are under way.
template <int N> __device__ __forceinline__ void wait_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

// Barriers in shared memory: a phase ends with the last of `count` arrivals, and phases have parity 0 and 1 in turn.
__device__ __forceinline__ void start_barrier(u64* barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(count) : "memory");
}
__device__ __forceinline__ void arrive(u64* barrier) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"((unsigned)__cvta_generic_to_shared(barrier))
               : "memory");
}
// Arrives when this thread's copies so far have.
__device__ __forceinline__ void arrive_copied(u64* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"((unsigned)__cvta_generic_to_shared(barrier)) : "memory");
}
#if __CUDA_ARCH__ >= 900
#define PHASE_TEST "mbarrier.try_wait.parity.shared.b64"
#else
#define PHASE_TEST "mbarrier.test_wait.parity.shared.b64"
#endif
// Waits for the end of the phase of a parity; the phase before the first has parity 1.
__device__ __forceinline__ void await_phase(u64* barrier, unsigned parity) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(barrier);
  unsigned ended;
  do {
    asm volatile("{ .reg .pred p; " PHASE_TEST " p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(ended) : "r"(at), "r"(parity) : "memory");
  } while (!ended);
}

// How many of V neighbours are among the `there` that exist. Whether all are is to be asked as `there >= V`: for sm_90, ptxas
// 13.0 to 13.3 makes `there == V` out of `held_to<V>(there) == V`.
template <int V> __device__ __forceinline__ int held_to(int there) { return there < 0 ? 0 : there > V ? V : there; }

// The elements of a vector, widened. Two bfloat16 are the halves of a word: one operation each.
template <class T, class X, int N> __device__ __forceinline__ void widen_all(T (&to)[N], const Vec<X, N>& from) {
#pragma unroll
  for (int i = 0; i < N; ++i) to[i] = (T)widen(from.v[i]);
}
template <int N> __device__ __forceinline__ void widen_all(float (&to)[N], const Vec<BF16, N>& from) {
  if constexpr (N % 2 == 0) {
    unsigned words[N / 2];
    memcpy(words, &from, sizeof(from));
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      to[i] = __uint_as_float(words[i / 2] << 16);
      to[i + 1] = __uint_as_float(words[i / 2] & 0xffff0000u);
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) to[i] = widen(from.v[i]);
  }
}

// One factor's tiles, ROWS of m (or n) by BK of k, on their way to shared memory, where they lie as [k][row] (KMAJOR) or
// [row][k], PITCH elements a line. An access moves V neighbours, along the rows (ALONG) or along k. ASYNC: straight to shared
// memory, as stored; else through registers, widened. S is the type in global memory, X the one in shared memory. THREADS
// threads bring every EVERY-th tile.
template <class S, class X, int ROWS, int BK, int PITCH, int THREADS, int V, bool ALONG, bool KMAJOR, bool ASYNC, int EVERY = 1>
struct Loader {
  static_assert(!ASYNC || V == 1 || ALONG == KMAJOR, "an asynchronous copy moves neighbours to neighbours");
  static constexpr int TOTAL = ROWS * BK / V, COUNT = (TOTAL + THREADS - 1) / THREADS;
  // Single elements that lie along k go to lines of the tile: a warp takes 8 of k by 4 rows, which are 32 different banks.
  static constexpr bool PATCH = !ALONG && V == 1 && KMAJOR;

  // Access a's row and k.
  static constexpr __device__ __forceinline__ int row_of(int a) {
    return ALONG ? a % (ROWS / V) * V : PATCH ? a / 32 / (BK / 8) * 4 + a / 8 % 4 : a / (BK / V);
  }
  static constexpr __device__ __forceinline__ int k_of(int a) {
    return ALONG ? a / (ROWS / V) : PATCH ? a / 32 % (BK / 8) * 8 + a % 8 : a % (BK / V) * V;
  }
  static constexpr __device__ __forceinline__ int place(int row, int k) { return KMAJOR ? k * PITCH + row : row * PITCH + k; }
  // Where all extents are powers of two, row and k of access thread + i * THREADS are the sums of those of both.
  static constexpr bool SUMS = (ROWS & (ROWS - 1)) == 0;
  __device__ __forceinline__ int row_from(int i) const { return SUMS ? row_of(i * THREADS) : row_of(thread + i * THREADS) - row; }
  __device__ __forceinline__ int k_from(int i) const { return SUMS ? k_of(i * THREADS) : k_of(thread + i * THREADS) - k; }

  const S* base;
  const S* at;
  i64 row_stride, k_stride;
  int rows, thread, row, k;
  Vec<S, V> held[ASYNC ? 1 : COUNT];

  // `rows` exist from `base` on; `thread` is the number of this one among those that load.
  __device__ __forceinline__ Loader(const S* base, i64 row_stride, i64 k_stride, int rows, int thread)
      : base(base), row_stride(row_stride), k_stride(k_stride), rows(rows), thread(thread), row(row_of(thread)), k(k_of(thread)) {
    at = base + row * row_stride + k * k_stride;
  }

  // Starts the next tile, of which `left` of k exist. CHECK: some of its elements may not.
  template <bool CHECK> __device__ __forceinline__ void fetch(X* stage, int left) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      if (TOTAL % THREADS != 0 && thread + i * THREADS >= TOTAL) break;
      const int dr = row_from(i), dk = k_from(i);
      const S* from = at + (dr * row_stride + dk * k_stride);
      int there = V, valid = V;  // how many neighbours exist from here on, and how many of the access do
      if (CHECK) {
        const int r = rows - row - dr, l = left - k - dk;
        there = ALONG ? (l > 0 ? r : 0) : (r > 0 ? l : 0);
        valid = held_to<V>(there);
        if (there <= 0) from = base;
      }
      if constexpr (ASYNC) {
        copy_async<V * sizeof(S)>(stage + place(row, k) + place(dr, dk), from, valid * (int)sizeof(S));
      } else if (there >= V) {
        held[i] = *reinterpret_cast<const Vec<S, V>*>(from);
      } else {
#pragma unroll
        for (int v = 0; v < V; ++v) held[i].v[v] = v < valid ? from[v] : S{};
      }
    }
    at += EVERY * BK * k_stride;
  }

  // Puts what `fetch` brought into registers where it belongs.
  __device__ __forceinline__ void store_shared(X* stage) {
    if constexpr (!ASYNC) {
      stage += place(row, k);
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        if (TOTAL % THREADS != 0 && thread + i * THREADS >= TOTAL) break;
        X* to = stage + place(row_from(i), k_from(i));
        Vec<X, V> wide;
        widen_all(wide.v, held[i]);
        if constexpr (ALONG == KMAJOR) {
          constexpr int piece = V * sizeof(X) > 16 ? 16 / sizeof(X) : V;
          store<piece>(to, wide);
        } else {
#pragma unroll
          for (int v = 0; v < V; ++v) to[ALONG ? place(v, 0) : place(0, v)] = wide.v[v];
        }
      }
    }
  }
};

// A thread's elements of a tile for D steps of k: N rows, in chunks of CHUNK neighbours that are STEP apart.
template <int STEP, int CHUNK, int PITCH, bool KMAJOR, class X, class T, int D, int N>
__device__ __forceinline__ void fragment(T (&to)[D][N], const X* tile, int k) {
  if constexpr (KMAJOR) {
#pragma unroll
    for (int d = 0; d < D; ++d)
#pragma unroll
      for (int c = 0; c < N / CHUNK; ++c) {
        const Vec<X, CHUNK> piece = *reinterpret_cast<const Vec<X, CHUNK>*>(tile + (k + d) * PITCH + c * STEP);
T wide[CHUNK];
        widen_all(wide, piece);
#pragma unroll
        for (int i = 0; i < CHUNK; ++i) to[d][c * CHUNK + i] = wide[i];
      }
  } else {
    constexpr int P = D * sizeof(X) > 16 ? 16 / sizeof(X) : D;
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
      for (int e = 0; e < D / P; ++e) {
        const int row = n / CHUNK * STEP + n % CHUNK;
        const Vec<X, P> piece = *reinterpret_cast<const Vec<X, P>*>(tile + row * PITCH + k + e * P);
T wide[P];
        widen_all(wide, piece);
#pragma unroll
        for (int i = 0; i < P; ++i) to[e * P + i][n] = wide[i];
      }
  }
}

// One link of a chain. Integers wrap, which C++ defines only for unsigned ones.
__device__ __forceinline__ float chain(float a, float b, float s) { return __fmaf_rn(a, b, s); }
__device__ __forceinline__ double chain(double a, double b, double s) { return __fma_rn(a, b, s); }
__device__ __forceinline__ int chain(int a, int b, int s) { return (int)((unsigned)a * (unsigned)b + (unsigned)s); }
__device__ __forceinline__ unsigned chain(unsigned a, unsigned b, unsigned s) { return a * b + s; }
__device__ __forceinline__ i64 chain(i64 a, i64 b, i64 s) { return (i64)((u64)a * (u64)b + (u64)s); }
__device__ __forceinline__ u64 chain(u64 a, u64 b, u64 s) { return a * b + s; }
// Four links of 8-bit integers, which are exact in any order: signed or not, by factor.
#define DOT(name, kinds)                                                              \
  __device__ __forceinline__ int name(int a, int b, int s) {                          \
    int r; asm("dp4a." kinds " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(s)); return r; \
  }
DOT(dot_ss, "s32.s32") DOT(dot_su, "s32.u32") DOT(dot_us, "u32.s32") DOT(dot_uu, "u32.u32")

// Starts tile number `tile` of those that k has.
template <int BK, class L, class X> __device__ __forceinline__ void copy_tile(L& loader, X* stage, int tile, int k, bool whole) {
  const int left = k - tile * BK;
  if (left <= 0) return;
  if (whole && left >= BK) loader.template fetch<false>(stage, BK);
  else loader.template fetch<true>(stage, left);
}

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
// Products of digits are summed by the power of 256 that they belong to, the highest two and the lowest two of three digits on
// top of one another: `sums` are those s32, the highest first, and a block's P is
//     three digits: sums[0] * 2**24 + sums[1] * 2**16 + sums[2]        two: sums[0] * 2**8 + sums[1]
__device__ __forceinline__ i64 wide_multiply_add(int a, int b, i64 c) {
  i64 r; asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(r) : "r"(a), "r"(b), "l"(c)); return r;
}
template <int N> __device__ __forceinline__ float rounded(const int (&sums)[2][N], int i) {
  return __ll2float_rn(wide_multiply_add(sums[0][i], 1 << 8, sums[1][i]));
}
template <int N> __device__ __forceinline__ float rounded(const int (&sums)[3][N], int i) {
  const int high = sums[0][i], middle = sums[1][i], low = sums[2][i];
  const int top = (((middle + (low >> 16)) >> 8) + high) >> 8;  // P >> 32: an s64 multiplication costs more
  return __ll2float_rn((i64)top << 32 | (((unsigned)high << 24) + ((unsigned)middle << 16) + (unsigned)low));
}
template <int N> __device__ __forceinline__ void raise(int (&sums)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) sums[i] <<= 8;
}
// The sums of a block from those of each power of 256.
template <int N> __device__ __forceinline__ void combine_places(int (&sums)[2][N], const int (&places)[3][N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    sums[0][i] = places[0][i] * 256 + places[1][i];
    sums[1][i] = places[2][i];
  }
}
template <int N> __device__ __forceinline__ void combine_places(int (&sums)[3][N], const int (&places)[5][N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    sums[0][i] = places[0][i] * 256 + places[1][i];
    sums[1][i] = places[2][i];
    sums[2][i] = places[3][i] * 256 + places[4][i];
  }
}
// One block more.
template <bool PLAIN> __device__ __forceinline__ float add_block(float p, float a, float b, float s) {
  return PLAIN ? __fmaf_rn(p, __fmul_rn(a, b), s) : __fmaf_rn(__fmul_rn(p, minimum(a, b)), maximum(a, b), s);
}
// Whether the products of scales of these ranges are f32.
__device__ __forceinline__ bool plain(float2 a, float2 b) {
  return __fmul_rn(a.x, b.x) > 0.0f && __fmul_rn(a.y, b.y) < __int_as_float(0x7f800000);
}
// A block more for the sums of a thread: rows 0 and 8 from its first one, columns 0 and 1 from each eighth.
template <bool PLAIN, int COUNT, int N>
__device__ __forceinline__ void add_blocks(float (&sums)[N], const int (&parts)[COUNT][N], float a0, float a1,
                                           const float* scales_b) {
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    const float2 b = *(const float2*)(scales_b + i / 4 * 8);
    sums[i] = add_block<PLAIN>(rounded(parts, i), a0, b.x, sums[i]);
    sums[i + 1] = add_block<PLAIN>(rounded(parts, i + 1), a0, b.y, sums[i + 1]);
    sums[i + 2] = add_block<PLAIN>(rounded(parts, i + 2), a1, b.x, sums[i + 2]);
    sums[i + 3] = add_block<PLAIN>(rounded(parts, i + 3), a1, b.y, sums[i + 3]);
  }
}
// What becomes of a sum that is NaN: that of the products with a factor that is not finite, where its row or column has one.
template <class A, class B>
__device__ __noinline__ float not_finite(float sum, const A* a, i64 a_step, const B* b, i64 b_step, int k) {
  float total = 0;
  bool found = false;
  for (int i = 0; i < k; ++i) {
    const float x = widen(a[i * a_step]), y = widen(b[i * b_step]);
    if (fabsf(x) < __int_as_float(0x7f800000) && fabsf(y) < __int_as_float(0x7f800000)) continue;
    total += x * y;
    found = true;
    if (total != total) break;
  }
  return found ? total : sum;
}

// Four matrices of 8 lines of 16 bytes; each thread says where a line begins and has 4 bytes of a line of each: thread / 4's.
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(address) : "memory");
}
// The same, but each thread has two 16-bit elements of a column, thread / 4's, from lines thread % 4 * 2 and the next.
__device__ __forceinline__ void load_transposed(unsigned (&to)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(address) : "memory");
}
// c += the product of 16 rows by 32 bytes and 8 columns by 32 bytes.
__device__ __forceinline__ void multiply_add(int* c, const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// 2**exponent, from 2**-149 on.
__device__ __forceinline__ float power_of_two(int exponent) {
  return __uint_as_float(exponent >= -126 ? (unsigned)(exponent + 127) << 23 : 1u << (exponent + 149));
}
// The least E with m <= 127/128 * 2**E, given the bits of a finite m.
__device__ __forceinline__ int exponent_above(unsigned m) {
  const bool tiny = m < 0x00800000u;
  const unsigned bits = tiny ? __float_as_uint(__uint_as_float(m) * 0x1p64f) : m;
  return (int)((bits + 0x1ffffu) >> 23) - 126 - (tiny ? 64 : 0);
}

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

extern "C" __global__ void __launch_bounds__(256, 1) kernel(const __grid_constant__ Words W) {
  extern __shared__ __align__(128) unsigned char shared[];
  const unsigned product = divide(blockIdx.x, W.w[15]);
  const i64 m0 = 0, n0 = (i64)(blockIdx.x - product * ((unsigned)W.w[16])) * 16;
  const i64 rows_left = ((i64)W.w[17]) - m0, columns_left = ((i64)W.w[18]) - n0;
  const int rows = rows_left < 64 ? (int)rows_left : 64;
  const int columns = columns_left < 16 ? (int)columns_left : 16;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int group = warp / 8, way = warp % 8;
  const unsigned blocks = ((unsigned)W.w[19]), turns = (blocks + 7) / 8;
  const unsigned char* const workspace = (const unsigned char*)W.w[3];
  const unsigned char* const a_digits = workspace + W.w[20];
  const float* const a_scales = (const float*)(workspace + W.w[21]);
  const i64 a_record = (i64)0 + (i64)(0) * blocks;
  unsigned char* const ring = shared + warp * 12288;
  const BF16* const from = (const BF16*)W.w[1] + ((i64)0 + (n0 + (group * 16 < columns ? group * 16 : 0)) * ((i64)W.w[22]));
  const i64 k_stride = (i64)1;
  AlongK<BF16> wide_factor(from, ((i64)W.w[22]), k_stride, columns - group * 16, (int)((i64)W.w[23]), way * 128, lane);
  const auto fetch = [&](unsigned stage) {
  if (wide_factor.steps > 0) wide_factor.fetch(ring + stage * 4096);
  wide_factor.advance(1024, 1024 * k_stride);
  commit_copies();
  };
  float* const exchange = (float*)(shared + 98304) + group * 17664;
  float sums[4];
  #pragma unroll
  for (int o = 0; o < 4; ++o) sums[o] = 0;
  #pragma unroll
  for (int s = 0; s < 3; ++s) fetch(s);
  unsigned stage = 0;
  #pragma unroll 1
  for (unsigned turn = 0; turn < turns; ++turn) {
  const unsigned block = turn * 8 + way;
  float* const products = exchange + turn % 2 * 8832;
  float* const wide_scales = products + 8192;
  float* const thin_scales = wide_scales + 128;
  wait_copies<2>();
  __syncwarp();
  if (block < blocks) {
  const i64 record = a_record + block;
  const float thin_scale0 = a_scales[record * 68 + (lane + 0) % 64];
  const float thin_scale32 = a_scales[record * 68 + (lane + 32) % 64];
  Vec<BF16, 8> x[2][4];
  wide_factor.read(x, ring + stage * 4096);
  const unsigned most[2] = {greatest(x[0]), greatest(x[1])};
  __syncwarp();
  fetch(stage);
  float scales[2];
  block_product<3, 8>(products + way * 1024, scales, x, most, a_digits + record * 24576, lane);
  if (lane + 0 < 64) thin_scales[way * 64 + lane + 0] = thin_scale0;
  if (lane + 32 < 64) thin_scales[way * 64 + lane + 32] = thin_scale32;
  #pragma unroll
  for (int r = 0; r < 2; ++r) if (lane % 4 == 0) wide_scales[way * 16 + lane / 4 + r * 8] = scales[r];
  }
  if (++stage == 3) stage = 0;
  group_barrier(group, 256);
  #pragma unroll
  for (int w = 0; w < 8; ++w)
  if (turn * 8 + w < blocks) {
  #pragma unroll
  for (int o = 0; o < 4; ++o) {
  const int i = way + o * 8;
  const int r = i / 4 * 8 + lane % 4 * 2 + i % 2, wide = lane / 4 + i / 2 % 2 * 8;
  if (i < 32)
  sums[o] = add_block<false>(products[(w * 32 + i) * 32 + lane], wide_scales[w * 16 + wide], thin_scales[w * 64 + r], sums[o]);
  }}}
  wait_copies<0>();
  __syncthreads();
  float* const sums0 = (float*)shared;
  #pragma unroll
  for (int o = 0; o < 4; ++o) {
  const int i = way + o * 8;
  const int r = i / 4 * 8 + lane % 4 * 2 + i % 2, wide = lane / 4 + i / 2 % 2 * 8;
  if (i < 32) {
  const int s = group * 16 + wide;
  if (sums[o] != sums[o] && r < rows && s < columns)
  sums[o] = not_finite(sums[o], (const BF16*)W.w[0] + ((i64)0 + (m0 + r) * ((i64)W.w[24])), ((i64)W.w[25]), (const BF16*)W.w[1] + ((i64)0 + (n0 + s) * ((i64)W.w[26])), ((i64)W.w[27]), W.w[28]);
  sums0[r * 20 + s] = sums[o];
  }}
  __syncthreads();
  BF16* const p1 = (BF16*)(W.w[2]);
  #pragma unroll 1
  for (int e0 = threadIdx.x; e0 < 128; e0 += 256) {
  #pragma unroll
  for (int u = 0; u < 1; ++u) {
  const int e = e0 + u * 256, r = e / 2, s = e % 2 * 8;
  const i64 c0 = m0 + r, at = n0 + s;
  const int left = columns - s;
  if (e < 128 && r < rows && left > 0) {
  const i64 o1 = (i64)c0 * ((i64)W.w[13]) + at * ((i64)W.w[14]);
  Vec<BF16, 8> out1;
  #pragma unroll
  for (int v = 0; v < 8; ++v) if (v < left) {
  const float t1 = widen(sums0[r * 20 + s + v]);
  out1.v[v] = Narrow<BF16, float>::to(t1);
  }
  if (left >= 8) store<8>((p1 + o1), out1);
  else {
  #pragma unroll
  for (int v = 0; v < 8; ++v) if (v < left) (p1 + o1)[v] = out1.v[v];
  }
  }}}
}
