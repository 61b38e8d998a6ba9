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

// Adjacent pairs, in one thread: of N values, a power of two, from FIRST on. (Loops of changing length are not always unrolled.)
template <class Op, int N, int FIRST = 0, class T, int S> __device__ __forceinline__ T pairs(const T (&x)[S]) {
  if constexpr (N == 1) return x[FIRST];
  else return Op::of(pairs<Op, N / 2, FIRST>(x), pairs<Op, N / 2, FIRST + N / 2>(x));
}

// n / d for 0 <= n < 2^31, with the multiplier and shift that the host prepared.
__device__ __forceinline__ unsigned divide(unsigned n, u64 magic) {
  return (__umulhi(n, (unsigned)magic) + n) >> (unsigned)(magic >> 32);
}
struct Words { u64 w[47]; };

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

__device__ __forceinline__ void expect_bytes(u64* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}
// Copies bytes that lie one behind the other; the barrier counts them as they arrive.
__device__ __forceinline__ void copy_record(void* to, const void* from, int bytes, u64* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier)) : "memory");
}
// What this thread has written to shared memory is there for copies by `copy_record`, and what these brought for it.
__device__ __forceinline__ void order_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
template <int REGISTERS> __device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS> __device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
__device__ __forceinline__ void warpgroup_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void warpgroup_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void warpgroup_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
// The low half of the descriptor of a matrix in shared memory, of lines of 128 bytes along k, swizzled. The high half (1024 bytes
// from eight lines to the next, 128-byte swizzle) is a constant of the instruction: ptxas would hold one for each otherwise.
__device__ __forceinline__ unsigned matrix(unsigned address) { return (address & 0x3ffffu) >> 4 | 0x10000u; }
// c += the product of 64 rows by 32 bytes and 64 columns by 32 bytes, which begin OA and OB bytes into a and b; without `add`,
// c is 0 before.
template <int OA, int OB> __device__ __forceinline__ void multiply(int (&c)[32], unsigned a, unsigned b, int add) {
  asm volatile(
      "{\n.reg .pred p;\n.reg .b64 da, db;\n.reg .b32 x, y;\nsetp.ne.b32 p, %34, 0;\nadd.u32 x, %32, %35;\nadd.u32 y, %33, %36;\n"
      "mov.b64 da, {x, 0x40000040};\nmov.b64 db, {y, 0x40000040};\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, da, db, p;\n}\n"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]), "+r"(c[6]), "+r"(c[7]), "+r"(c[8]), "+r"(c[9]), "+r"(c[10]), "+r"(c[11]), "+r"(c[12]), "+r"(c[13]), "+r"(c[14]), "+r"(c[15]), "+r"(c[16]), "+r"(c[17]), "+r"(c[18]), "+r"(c[19]), "+r"(c[20]), "+r"(c[21]), "+r"(c[22]), "+r"(c[23]), "+r"(c[24]), "+r"(c[25]), "+r"(c[26]), "+r"(c[27]), "+r"(c[28]), "+r"(c[29]), "+r"(c[30]), "+r"(c[31])
      : "r"(a), "r"(b), "r"(add), "n"(OA >> 4), "n"(OB >> 4));
}
template <int I, int J, int K = 0> __device__ __forceinline__ void digit_pair(int (&c)[32], unsigned a, unsigned b, int add) {
  multiply<I * 8192 + K * 32, J * 8192 + K * 32>(c, a, b, add);
  if constexpr (K < 3) digit_pair<I, J, K + 1>(c, a, b, 1);
}
// All pairs of digits I of a and J of b (0 is the most significant) with I + J = PLACES.
template <int COUNT, int PLACES, int I = 0>
__device__ __forceinline__ void digit_pairs(int (&c)[32], unsigned a, unsigned b, int add) {
  if constexpr (I < COUNT) {
    constexpr int J = PLACES - I;
    if constexpr (J >= 0 && J < COUNT) {
      digit_pair<I, J>(c, a, b, add);
      digit_pairs<COUNT, PLACES, I + 1>(c, a, b, 1);
    } else {
      digit_pairs<COUNT, PLACES, I + 1>(c, a, b, add);
    }
  }
}
// All threads of a warpgroup.
__device__ __forceinline__ void warpgroup_barrier(int group) { asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory"); }
// GROUPS warpgroups multiply in turn: left alone all would multiply at once and then all put sums together, while the tensor
// cores wait. Before the first turn, the last gives one to the first.
template <int GROUPS> __device__ __forceinline__ void await_turn(int group) {
  asm volatile("bar.sync %0, 256;" ::"r"(1 + GROUPS + group) : "memory");
}
template <int GROUPS> __device__ __forceinline__ void give_turn(int group) {
  asm volatile("bar.arrive %0, 256;" ::"r"(1 + GROUPS + (group + 1 == GROUPS ? 0 : group + 1)) : "memory");
}
// The sums of a block, from the digits in shared memory. What waits for a sum to be raised comes last, behind other products.
template <int GROUPS> __device__ __forceinline__ void block_sums(int (&sums)[3][32], unsigned a, unsigned b, int group) {
  await_turn<GROUPS>(group);
  warpgroup_fence();
  digit_pairs<3, 0>(sums[0], a, b, 0);
  warpgroup_commit();
  digit_pairs<3, 3>(sums[2], a, b, 0);
  warpgroup_commit();
  digit_pairs<3, 2>(sums[1], a, b, 0);
  warpgroup_commit();
  warpgroup_wait<2>();
  raise(sums[0]);
  warpgroup_fence();
  digit_pairs<3, 1>(sums[0], a, b, 1);
  warpgroup_commit();
  warpgroup_wait<2>();
  raise(sums[2]);
  warpgroup_fence();
  digit_pairs<3, 4>(sums[2], a, b, 1);
  warpgroup_commit();
  give_turn<GROUPS>(group);
  warpgroup_wait<0>();
}
template <int GROUPS> __device__ __forceinline__ void block_sums(int (&sums)[2][32], unsigned a, unsigned b, int group) {
  await_turn<GROUPS>(group);
  warpgroup_fence();
  digit_pairs<2, 0>(sums[0], a, b, 0);
  warpgroup_commit();
  digit_pairs<2, 2>(sums[1], a, b, 0);
  warpgroup_commit();
  warpgroup_wait<1>();
  raise(sums[0]);
  warpgroup_fence();
  digit_pairs<2, 1>(sums[0], a, b, 1);
  warpgroup_commit();
  give_turn<GROUPS>(group);
  warpgroup_wait<0>();
}

// The scales of a thread's rows and columns, in registers before the digits are multiplied.
struct Scales {
  float a[2];
  float2 b[8];
  bool ordinary;
  __device__ __forceinline__ Scales(const float* rows, const float* columns, int row, int column) {
    a[0] = rows[row];
    a[1] = rows[row + 8];
#pragma unroll
    for (int i = 0; i < 8; ++i) b[i] = *(const float2*)(columns + column + i * 8);
    ordinary = plain(*(const float2*)(rows + 64), *(const float2*)(columns + 64));
  }
};
// A block more for the 32 sums of a thread: rows 0 and 8 from its first one, columns 0 and 1 from each eighth.
template <bool PLAIN, int COUNT>
__device__ __forceinline__ void add_blocks(float (&sums)[32], const int (&parts)[COUNT][32], const Scales& scales) {
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const float2 b = scales.b[i / 4];
    sums[i] = add_block<PLAIN>(rounded(parts, i), scales.a[i / 2 % 2], i % 2 ? b.y : b.x, sums[i]);
  }
}

extern "C" __global__ void __launch_bounds__(384, 1) kernel(const __grid_constant__ Words W) {
  extern __shared__ unsigned char unaligned[];
  unsigned char* const shared = unaligned + (-shared_address(unaligned) & 1023);
  float* const stage_scales = (float*)(shared + 221184);
  u64* const full = (u64*)(shared + 223632); u64* const empty = full + 3;
  if (threadIdx.x == 0) {
  for (int i = 0; i < 3; ++i) { start_barrier(full + i, 1); start_barrier(empty + i, 8); }
  order_copies();
  }
  __syncthreads();
  const unsigned tiles = ((unsigned)W.w[26]), blocks = ((unsigned)W.w[27]);
  const unsigned char* const workspace = (const unsigned char*)W.w[3];
  unsigned read = 0, parity = 0;
  const auto advance = [&] { if (++read == 3) { read = 0; parity ^= 1; } };
  if (threadIdx.x < 128) {
  give_registers<40>();
  if (threadIdx.x == 0) {
  for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {
  const unsigned product = divide(number, W.w[29]);
  const unsigned inside = number - product * ((unsigned)W.w[30]);
  const unsigned square = inside / (8 * ((unsigned)W.w[28])), turn = inside - square * (8 * ((unsigned)W.w[28]));
  const unsigned first = square * 8, rest = ((unsigned)W.w[31]) - first;
  const unsigned high = rest < 8 ? rest : 8;
  const unsigned tile_m = first + turn % high, tile_n = turn / high;
  const unsigned char* const a_digits = workspace + W.w[32];
  const float* const a_scales = (const float*)(workspace + W.w[33]);
  const i64 a_record = (i64)0 + (i64)(2 * tile_m) * blocks;
  const unsigned char* const b_digits = workspace + W.w[34];
  const float* const b_scales = (const float*)(workspace + W.w[35]);
  const i64 b_record = (i64)0 + (i64)(tile_n) * blocks;
  for (unsigned block = 0; block < blocks; ++block) {
  await_phase(empty + read, parity ^ 1);
  unsigned char* const to = shared + read * 73728;
  float* const scales = stage_scales + read * 204;
  expect_bytes(full + read, 74544);
  const i64 record0 = a_record + 0 * blocks + block;
  copy_record(to + 0, a_digits + record0 * 24576, 24576, full + read);
  copy_record(scales + 0, a_scales + record0 * 68, 272, full + read);
  const i64 record1 = a_record + 1 * blocks + block;
  copy_record(to + 24576, a_digits + record1 * 24576, 24576, full + read);
  copy_record(scales + 68, a_scales + record1 * 68, 272, full + read);
  const i64 record2 = b_record + block;
  copy_record(to + 49152, b_digits + record2 * 24576, 24576, full + read);
  copy_record(scales + 136, b_scales + record2 * 68, 272, full + read);
  advance();
  }}}
  } else {
  take_registers<232>();
  const int group = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
  if (group == 1) give_turn<2>(group);
  const int row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
  for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {
  const unsigned product = divide(number, W.w[37]);
  const unsigned inside = number - product * ((unsigned)W.w[38]);
  const unsigned square = inside / (8 * ((unsigned)W.w[36])), turn = inside - square * (8 * ((unsigned)W.w[36]));
  const unsigned first = square * 8, rest = ((unsigned)W.w[39]) - first;
  const unsigned high = rest < 8 ? rest : 8;
  const unsigned tile_m = first + turn % high, tile_n = turn / high;
  const i64 m0 = (i64)(2 * tile_m + group) * 64, n0 = (i64)tile_n * 64;
  const i64 rows_left = ((i64)W.w[40]) - m0, columns_left = ((i64)W.w[41]) - n0;
  const int rows = rows_left < 64 ? (int)rows_left : 64;
  const int columns = columns_left < 64 ? (int)columns_left : 64;
  float sums[32];
  #pragma unroll
  for (int i = 0; i < 32; ++i) sums[i] = 0;
  for (unsigned block = 0; block < blocks; ++block) {
  await_phase(full + read, parity);
  const unsigned stage = shared_address(shared) + read * 73728;
  const float* const stage_scale = stage_scales + read * 204;
  const Scales scales(stage_scale + group * 68, stage_scale + 136, row, column);
  int parts[3][32];
  block_sums<2>(parts, matrix(stage + group * 24576), matrix(stage + 49152), group);
  if (block + 1 < blocks) {
  if (thread % 32 == 0) arrive(empty + read);
  advance();
  }
  if (scales.ordinary) add_blocks<true>(sums, parts, scales);
  else add_blocks<false>(sums, parts, scales);
  }
  warpgroup_barrier(group);
  float* const sums0 = (float*)(shared + read * 73728 + group * 24576);
  #pragma unroll
  for (int i = 0; i < 32; i += 2) {
  const int r = row + i / 2 % 2 * 8, s0 = column + i / 4 * 8;
  #pragma unroll
  for (int e = 0; e < 2; ++e) {
  const int s = s0 + e;
  if (sums[i + e] != sums[i + e] && r < rows && s < columns)
  sums[i + e] = not_finite(sums[i + e], (const BF16*)W.w[0] + ((i64)0 + (m0 + r) * ((i64)W.w[42])), ((i64)W.w[43]), (const BF16*)W.w[1] + ((i64)0 + (n0 + s) * ((i64)W.w[44])), ((i64)W.w[45]), W.w[46]);
  }
  *(float2*)(sums0 + r * 68 + s0) = make_float2(sums[i], sums[i + 1]);
  }
  warpgroup_barrier(group);
  BF16* const p1 = (BF16*)(W.w[2]);
  #pragma unroll 1
  for (int e0 = thread; e0 < 512; e0 += 128) {
  #pragma unroll
  for (int u = 0; u < 1; ++u) {
  const int e = e0 + u * 128, r = e / 8, s = e % 8 * 8;
  const i64 c0 = m0 + r, at = n0 + s;
  const int left = columns - s;
  if (e < 512 && r < rows && left > 0) {
  const i64 o1 = (i64)c0 * ((i64)W.w[24]) + at * ((i64)W.w[25]);
  Vec<BF16, 8> out1;
  #pragma unroll
  for (int v = 0; v < 8; ++v) if (v < left) {
  const float t1 = widen(sums0[r * 68 + s + v]);
  out1.v[v] = Narrow<BF16, float>::to(t1);
  }
  if (left >= 8) store<8>((p1 + o1), out1);
  else {
  #pragma unroll
  for (int v = 0; v < 8; ++v) if (v < left) (p1 + o1)[v] = out1.v[v];
  }
  }}}
  order_copies();
  warpgroup_barrier(group);
  if (thread % 32 == 0) arrive(empty + read);
  advance();
  }}
}
