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

// n / d for 0 <= n < 2^31, with the multiplier and shift that the host prepared.
__device__ __forceinline__ unsigned divide(unsigned n, u64 magic) {
  return (__umulhi(n, (unsigned)magic) + n) >> (unsigned)(magic >> 32);
}
struct Words { u64 w[34]; };

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
// All threads of a warpgroup.
__device__ __forceinline__ void warpgroup_barrier(int group) { asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory"); }
// c += the product of 64 rows and 64 columns by 32 bytes along k, which begin K times 32 bytes into a and b.
template <int K> __device__ __forceinline__ void multiply_lines(int (&c)[32], unsigned a,
                                               unsigned b) {
  asm volatile(
      "{\n.reg .pred p;\n.reg .b64 da, db;\n.reg .b32 x, y;\nsetp.eq.u32 p, 0, 0;\nadd.u32 x, %32, %34;\n"
      "add.u32 y, %33, %34;\nmov.b64 da, {x, 0x40000040};\nmov.b64 db, {y, 0x40000040};\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, da, db, p;\n}\n"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]), "+r"(c[6]), "+r"(c[7]), "+r"(c[8]), "+r"(c[9]), "+r"(c[10]), "+r"(c[11]), "+r"(c[12]), "+r"(c[13]), "+r"(c[14]), "+r"(c[15]), "+r"(c[16]), "+r"(c[17]), "+r"(c[18]), "+r"(c[19]), "+r"(c[20]), "+r"(c[21]), "+r"(c[22]), "+r"(c[23]), "+r"(c[24]), "+r"(c[25]), "+r"(c[26]), "+r"(c[27]), "+r"(c[28]), "+r"(c[29]), "+r"(c[30]), "+r"(c[31])
      : "r"(a), "r"(b), "n"(2 * K));
}

// Blocks of ROWS lines by 128 bytes along k on their way to shared memory, by THREADS threads. There piece j, of 16 bytes, of
// line r lies at piece j ^ r % 8: the 128-byte swizzle, which tensor cores read and `ldmatrix` reads without bank conflicts. What
// does not exist are zeros.
template <int ROWS, int THREADS> struct Lines {
  static constexpr int NEXT = THREADS / 8, COUNT = (ROWS + NEXT - 1) / NEXT;
  const unsigned char* base;
  const unsigned char* from;
  i64 next;
  int rows, piece, place;
  // `rows` exist from `base` on, `stride` bytes apart.
  __device__ __forceinline__ Lines(const unsigned char* base, i64 stride, int rows, int thread)
      : base(base), from(base + thread / 8 * stride + thread % 8 * 16), next(stride * NEXT), rows(rows - thread / 8),
        piece(thread % 8 * 16), place(thread / 8 * 128 + ((thread % 8 ^ thread / 8 % 8) * 16)) {}
  template <bool CHECK> __device__ __forceinline__ void fetch_all(unsigned char* to, int valid) {
    const unsigned char* at = from;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      if (ROWS % NEXT != 0 && piece / 16 + place / 128 * 8 >= (ROWS - i * NEXT) * 8) break;
      const bool there = !CHECK || (i * NEXT < rows && valid > 0);
      copy_async<16>(to + place + i * NEXT * 128, there ? at : base, there ? valid : 0);
      at += next;
    }
  }
  // Starts the next block, of which `left` steps of k exist.
  __device__ __forceinline__ void fetch(unsigned char* to, int left) {
    const int valid = left - piece < 16 ? left - piece : 16;
    if (left >= 128 && rows > (COUNT - 1) * NEXT) fetch_all<false>(to, 16);
    else fetch_all<true>(to, valid);
    from += 128;
  }
};

extern "C" __global__ void __launch_bounds__(384, 1) kernel(const __grid_constant__ Words W) {
  extern __shared__ unsigned char unaligned[];
  unsigned char* const shared = unaligned + (-shared_address(unaligned) & 1023);
  u64* const full = (u64*)(shared + 215040); u64* const empty = full + 8;
  if (threadIdx.x == 0) {
  for (int i = 0; i < 8; ++i) {
  start_barrier(full + i, 128); start_barrier(empty + i, 8);
  }
  order_copies();
  }
  __syncthreads();
  const unsigned tiles = ((unsigned)W.w[20]);
  const int k = W.w[21];
  unsigned read = 0, parity = 0;
  const auto advance = [&] { if (++read == 8) { read = 0; parity ^= 1; } };
  if (threadIdx.x < 128) {
  for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {
  const unsigned product = divide(number, W.w[23]);
  const unsigned inside = number - product * ((unsigned)W.w[24]);
  const unsigned square = inside / (8 * ((unsigned)W.w[22])), turn = inside - square * (8 * ((unsigned)W.w[22]));
  const unsigned first = square * 8, rest = ((unsigned)W.w[25]) - first;
  const unsigned high = rest < 8 ? rest : 8;
  const unsigned tile_m = first + turn % high, tile_n = turn / high;
  const i64 m0 = (i64)tile_m * 128, n0 = (i64)tile_n * 64;
  const i64 rows_left = ((i64)W.w[26]) - m0, columns_left = ((i64)W.w[27]) - n0;
  const int rows = rows_left < 128 ? (int)rows_left : 128;
  const int columns = columns_left < 64 ? (int)columns_left : 64;
  Lines<128, 128> a((const unsigned char*)(W.w[0]) + ((i64)0 + (m0) * ((i64)W.w[17])), ((i64)W.w[17]), rows, threadIdx.x);
  Lines<64, 128> b((const unsigned char*)(W.w[3] + W.w[18]) + ((i64)0 + (n0) * ((i64)W.w[19])), ((i64)W.w[19]), columns, threadIdx.x);
  #pragma unroll 1
  for (int left = k; left > 0; left -= 128) {
  await_phase(empty + read, parity ^ 1);
  unsigned char* const to = shared + read * 24576;
  a.fetch(to, left);
  b.fetch(to + 16384, left);
  arrive_copied(full + read);
  advance();
  }}
  } else {
  const int group = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
  const int row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
  int* const sums0 = (int*)(shared + 196608) + group * 2304;
  for (unsigned number = blockIdx.x; number < tiles; number += gridDim.x) {
  int sums[32];
  #pragma unroll
  for (int i = 0; i < 32; ++i) sums[i] = 0;
  unsigned last = 0;
  int left = k;
  const auto release = [&] { if (left < k && thread % 32 == 0) arrive(empty + last); };
  #pragma unroll 1
  for (; left >= 128; left -= 128) {
  await_phase(full + read, parity);
  order_copies();
  const unsigned stage = shared_address(shared) + read * 24576;
  const unsigned own_a = matrix(stage + group * 8192), own_b = matrix(stage + 16384);
  warpgroup_fence();
  multiply_lines<0>(sums, own_a, own_b);
  multiply_lines<1>(sums, own_a, own_b);
  multiply_lines<2>(sums, own_a, own_b);
  multiply_lines<3>(sums, own_a, own_b);
  warpgroup_commit();
  warpgroup_wait<1>();
  release();
  last = read;
  advance();
  }
  if (left > 0) {
  await_phase(full + read, parity);
  order_copies();
  const unsigned stage = shared_address(shared) + read * 24576;
  const unsigned own_a = matrix(stage + group * 8192), own_b = matrix(stage + 16384);
  #pragma unroll 1
  for (int step = 0; step * 32 < left; ++step) {
  warpgroup_fence();
  multiply_lines<0>(sums, own_a + step * 2, own_b + step * 2);
  warpgroup_commit();
  warpgroup_wait<0>();
  }
  release();
  last = read;
  advance();
  }
  warpgroup_wait<0>();
  if (thread % 32 == 0) arrive(empty + last);
  const unsigned product = divide(number, W.w[29]);
  const unsigned inside = number - product * ((unsigned)W.w[30]);
  const unsigned square = inside / (8 * ((unsigned)W.w[28])), turn = inside - square * (8 * ((unsigned)W.w[28]));
  const unsigned first = square * 8, rest = ((unsigned)W.w[31]) - first;
  const unsigned high = rest < 8 ? rest : 8;
  const unsigned tile_m = first + turn % high, tile_n = turn / high;
  const i64 m0 = (i64)tile_m * 128 + group * 64;
  #pragma unroll 1
  for (int part = 0; part < 2; ++part) {
  const i64 n0 = (i64)tile_n * 64 + part * 32;
  const i64 rows_left = ((i64)W.w[32]) - m0, columns_left = ((i64)W.w[33]) - n0;
  const int rows = rows_left < 64 ? (int)rows_left : 64;
  const int columns = columns_left < 32 ? (int)columns_left : 32;
  if (rows <= 0 || columns <= 0) break;
  warpgroup_barrier(group);
  #pragma unroll
  for (int q = 0; q < 2; ++q) if (q == part) {
  #pragma unroll
  for (int i = 0; i < 16; i += 2)
  *(Vec<int, 2>*)(sums0 + (row + i / 2 % 2 * 8) * 36 + column + i / 4 * 8) = Vec<int, 2>{{sums[q * 16 + i], sums[q * 16 + i + 1]}};
  }
  warpgroup_barrier(group);
  int* const p1 = (int*)(W.w[2]);
  #pragma unroll 1
  for (int e0 = thread; e0 < 512; e0 += 128) {
  #pragma unroll
  for (int u = 0; u < 1; ++u) {
  const int e = e0 + u * 128, r = e / 8, s = e % 8 * 4;
  const i64 c0 = m0 + r, at = n0 + s;
  const int left = columns - s;
  if (e < 512 && r < rows && left > 0) {
  const i64 o1 = (i64)c0 * ((i64)W.w[15]) + at * ((i64)W.w[16]);
  Vec<int, 4> out1;
  #pragma unroll
  for (int v = 0; v < 4; ++v) if (v < left) {
  const int t1 = widen(sums0[r * 36 + s + v]);
  out1.v[v] = Narrow<int, int>::to(t1);
  }
  if (left >= 4) store<4>((p1 + o1), out1);
  else {
  #pragma unroll
  for (int v = 0; v < 4; ++v) if (v < left) (p1 + o1)[v] = out1.v[v];
  }
  }}}
  }
  }}
}
