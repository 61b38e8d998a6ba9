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
__device__ __forceinline__ double maximum(double a, double b) {
  if (a == b) return __longlong_as_double(__double_as_longlong(a) & __double_as_longlong(b));
  return (a > b || a != a) ? a : b;
}
template <class T> __device__ __forceinline__ T maximum(T a, T b) { return a > b ? a : b; }

// What two values of a reduction are combined by. Signed integers wrap, which C++ defines only for unsigned ones.
struct Sum {
  template <class T> static __device__ __forceinline__ T of(T a, T b) { return a + b; }
  static __device__ __forceinline__ int of(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
  static __device__ __forceinline__ i64 of(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
};
struct Max { template <class T> static __device__ __forceinline__ T of(T a, T b) { return maximum(a, b); } };

// Adjacent pairs, in one thread: of N values, a power of two, from FIRST on. (Loops of changing length are not always unrolled.)
template <class Op, int N, int FIRST = 0, class T, int S> __device__ __forceinline__ T pairs(const T (&x)[S]) {
  if constexpr (N == 1) return x[FIRST];
  else return Op::of(pairs<Op, N / 2, FIRST>(x), pairs<Op, N / 2, FIRST + N / 2>(x));
}

// n / d for 0 <= n < 2^31, with the multiplier and shift that the host prepared.
__device__ __forceinline__ unsigned divide(unsigned n, u64 magic) {
  return (__umulhi(n, (unsigned)magic) + n) >> (unsigned)(magic >> 32);
}
struct Words { u64 w[26]; };

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

// A matrix in global memory: strides, of type I, and how many columns there are.
template <class S, class I> struct Matrix {
  const S* base;
  I row, column;
  int columns;

  __device__ __forceinline__ const S* at(int r, int c) const { return base + ((i64)r * row + (i64)c * column); }
};

// The row that line `line` of a spread chunk has. A thread takes 8 neighbouring rows; they lie 8 lines apart, so that the
// threads of a warp, which read the first of theirs at once, then the second, ..., read neighbouring lines: different banks.
__device__ __forceinline__ constexpr int spread(int line) { return (line & ~63) | (line & 7) << 3 | (line >> 3 & 7); }

// How a chunk travels: through registers, or by asynchronous copies, straight to its slot or to a place of the thread's own in
// shared memory, from where the thread widens it.
enum Way { HELD, DIRECT, STAGED };

// A chunk of LINES rows by COLUMNS columns, PITCH elements a line in its slot. An access moves V neighbouring columns. What is
// not there becomes zero. `held` is where what is under way goes: registers, or the thread's first place of its own.
template <class S, class X, int LINES, int COLUMNS, int PITCH, int THREADS, int V, Way WAY, bool SPREAD> struct Chunk {
  static constexpr int ACROSS = COLUMNS / V, TOTAL = LINES * ACROSS, COUNT = (TOTAL + THREADS - 1) / THREADS;
  // Lines from one of a thread's accesses to its next. Where they are a power of two, rows are sums of what the thread and
  // what the access contributes.
  static constexpr int STEP = THREADS / ACROSS;
  static constexpr bool EVEN = TOTAL % THREADS == 0 && THREADS % ACROSS == 0 && (STEP & (STEP - 1)) == 0;

  static constexpr __device__ __forceinline__ int row_of(int line) { return SPREAD ? spread(line) : line; }

  // From row `first` and column `column` of a matrix on; rows from `rows` on are not there.
  template <class M>
  static __device__ __forceinline__ void fetch(Vec<S, V>* held, X* slot, const M& from, int first, int rows, int column) {
    if (EVEN && first + LINES <= rows && column + COLUMNS <= from.columns) {
      const int line = (int)threadIdx.x / ACROSS, c = (int)threadIdx.x % ACROSS * V;
      const S* const at = from.at(first + row_of(line), column + c);
#pragma unroll
      for (int i = 0; i < COUNT; ++i)
        move(held, i, slot + line * PITCH + c + i * STEP * PITCH, at + (i64)row_of(i * STEP) * from.row, V);
      return;
    }
#pragma unroll 1
    for (int part = 0; part < COUNT; part += WAY == HELD ? COUNT : 1)
#pragma unroll
      for (int one = 0; one < (WAY == HELD ? COUNT : 1); ++one) {
        const int i = part + one, a = (int)threadIdx.x + i * THREADS;
        if (TOTAL % THREADS != 0 && a >= TOTAL) break;
        const int line = a / ACROSS, c = a % ACROSS * V, row = first + row_of(line);
        const int there = row < rows ? from.columns - column - c : 0;
        move(held, i, slot + line * PITCH + c, there > 0 ? from.at(row, column + c) : from.base, there);
      }
  }

  // An access of V neighbours, of which `there` exist.
  static __device__ __forceinline__ void move(Vec<S, V>* held, int i, X* to, const S* from, int there) {
    const int valid = held_to<V>(there);
    if constexpr (WAY == DIRECT) {
      copy_async<V * sizeof(S)>(to, from, valid * (int)sizeof(S));
    } else if constexpr (WAY == STAGED) {
      copy_async<V * sizeof(S)>(held + i * THREADS, from, valid * (int)sizeof(S));
    } else if (there >= V) {
      held[i] = *reinterpret_cast<const Vec<S, V>*>(from);
    } else {
#pragma unroll
      for (int v = 0; v < V; ++v) held[i].v[v] = v < valid ? from[v] : S{};
    }
  }

  // Puts what `fetch` brought where it belongs.
  static __device__ __forceinline__ void store_shared(const Vec<S, V>* held, X* slot) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const int a = (int)threadIdx.x + i * THREADS;
      if (TOTAL % THREADS != 0 && a >= TOTAL) break;
      const Vec<S, V> own = held[WAY == STAGED ? i * THREADS : i];
      Vec<X, V> wide;
#pragma unroll
      for (int v = 0; v < V; ++v) wide.v[v] = (X)widen(own.v[v]);
      constexpr int piece = V * sizeof(X) > 16 ? 16 / sizeof(X) : V;
      store<piece>(slot + a / ACROSS * PITCH + a % ACROSS * V, wide);
    }
  }
};

// x[m][n] continues the product of rows 4 * m of `a` and lines 8 * n of `b` over D columns: chains in rising columns.
template <int D, int PITCH, int M, class T> __device__ __forceinline__ void dots(T (&x)[M][8], const T* a, const T* b) {
  constexpr int P = 16 / sizeof(T);
#pragma unroll 4
  for (int d = 0; d < D; d += P) {
    Vec<T, P> left[M];
#pragma unroll
    for (int m = 0; m < M; ++m) left[m] = *reinterpret_cast<const Vec<T, P>*>(a + 4 * m * PITCH + d);
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      const Vec<T, P> right = *reinterpret_cast<const Vec<T, P>*>(b + 8 * n * PITCH + d);
#pragma unroll
      for (int e = 0; e < P; ++e)
        if (D % P == 0 || d + e < D)
#pragma unroll
          for (int m = 0; m < M; ++m) x[m][n] = chain(left[m].v[e], right.v[e], x[m][n]);
    }
  }
}

// sum[m][n] continues the product of rows 4 * m of `a` and the thread's columns of K lines of `b`: chains in rising lines. The
// columns are runs of RUN neighbours, 8 * RUN apart.
template <int K, int RUN, int PITCH_A, int PITCH_B, int M, int N, class T>
__device__ __forceinline__ void sums(T (&sum)[M][N], const T* a, const T* b) {
  constexpr int P = 16 / sizeof(T);
#pragma unroll 4
  for (int k = 0; k < K; k += P) {
    Vec<T, P> left[M];
#pragma unroll
    for (int m = 0; m < M; ++m) left[m] = *reinterpret_cast<const Vec<T, P>*>(a + 4 * m * PITCH_A + k);
#pragma unroll
    for (int e = 0; e < P; ++e)
#pragma unroll
      for (int r = 0; r < N / RUN; ++r) {
        const Vec<T, RUN> right = *reinterpret_cast<const Vec<T, RUN>*>(b + (k + e) * PITCH_B + r * 8 * RUN);
#pragma unroll
        for (int n = 0; n < RUN; ++n)
#pragma unroll
          for (int m = 0; m < M; ++m) sum[m][r * RUN + n] = chain(left[m].v[e], right.v[n], sum[m][r * RUN + n]);
      }
  }
}

// The thread's 8 neighbours of a line, from or to shared memory.
template <class T> __device__ __forceinline__ void get8(T (&x)[8], const T* from) {
  constexpr int P = 16 / sizeof(T);
#pragma unroll
  for (int i = 0; i < 8; i += P) {
    const Vec<T, P> piece = *reinterpret_cast<const Vec<T, P>*>(from + i);
#pragma unroll
    for (int j = 0; j < P; ++j) x[i + j] = piece.v[j];
  }
}
template <class T> __device__ __forceinline__ void put8(T* to, const T (&x)[8]) {
  constexpr int P = 16 / sizeof(T);
#pragma unroll
  for (int i = 0; i < 8; i += P) {
    Vec<T, P> piece;
#pragma unroll
    for (int j = 0; j < P; ++j) piece.v[j] = x[i + j];
    *reinterpret_cast<Vec<T, P>*>(to + i) = piece;
  }
}

// Of the 8 values that each of the 8 threads of a row has, 64 in all.
template <class Op, class T> __device__ __forceinline__ T of_row(const T (&x)[8]) {
  T result = pairs<Op, 8>(x);
  result = Op::of(result, __shfl_xor_sync(0xffffffffu, result, 1));
  result = Op::of(result, __shfl_xor_sync(0xffffffffu, result, 4));
  return Op::of(result, __shfl_xor_sync(0xffffffffu, result, 8));
}
__device__ __forceinline__ int least(int a, int b) { return a < b ? a : b; }
__device__ __forceinline__ int most(int a, int b) { return a > b ? a : b; }
__device__ __forceinline__ float exp_(float x) {
  const float t1 = __uint_as_float(0xd800000u);
  const int t2 = (int)0x71800000u;
  const int t3 = (int)0x17u;
  const float t4 = __uint_as_float(0x4b400000u);
  const float t5 = __uint_as_float(0x3fb8aa3bu);
  const float t6 = __uint_as_float(0xc2d15498u);
  const float t7 = x;
  const float t8 = maximum(t7, t6);
  const float t9 = __fmaf_rn(t8, t5, t4);
  const int t10 = __float_as_int(t9);
  const int t11 = (int)((unsigned)t10 << t3);
  const int t12 = (int)((unsigned)t11 + (unsigned)t2);
  const float t13 = __int_as_float(t12);
  const float t14 = __uint_as_float(0x3f800000u);
  const float t15 = __uint_as_float(0xbf317218u);
  const float t16 = t9 - t4;
  const float t17 = __fmaf_rn(t16, t15, t8);
  const float t18 = __uint_as_float(0x3102e308u);
  const float t19 = __fmaf_rn(t16, t18, t17);
  const float t20 = __uint_as_float(0x3efffffeu);
  const float t21 = __uint_as_float(0x3e2aaa47u);
  const float t22 = __uint_as_float(0x3d2aac58u);
  const float t23 = __uint_as_float(0x3c091df4u);
  const float t24 = __uint_as_float(0x3ab52627u);
  const float t25 = __fmaf_rn(t24, t19, t23);
  const float t26 = __fmaf_rn(t25, t19, t22);
  const float t27 = __fmaf_rn(t26, t19, t21);
  const float t28 = __fmaf_rn(t27, t19, t20);
  const float t29 = __fmaf_rn(t28, t19, t14);
  const float t30 = __fmaf_rn(t29, t19, t14);
  const float t31 = t30 * t13;
  const float t32 = t31 * t1;
  return t32;
}
__device__ __forceinline__ float log_(float x) {
  const float t1 = __uint_as_float(0x3f800000u);
  const int t2 = (int)0x17u;
  const int t3 = (int)0x3f3504f3u;
  const float t4 = x;
  const int t5 = __float_as_int(t4);
  const int t6 = (int)((unsigned)t5 - (unsigned)t3);
  const int t7 = t6 >> t2;
  const int t8 = (int)((unsigned)t7 << t2);
  const int t9 = (int)((unsigned)t5 - (unsigned)t8);
  const float t10 = __int_as_float(t9);
  const float t11 = t10 - t1;
  const float t12 = __uint_as_float(0x3f317218u);
  const float t13 = __int2float_rn(t7);
  const float t14 = __fmaf_rn(t13, t12, t11);
  const float t15 = -t14;
  const float t16 = __fmaf_rn(t13, t12, t15);
  const float t17 = t16 + t11;
  const float t18 = __uint_as_float(0xbefffffcu);
  const float t19 = __uint_as_float(0x3eaaaaa8u);
  const float t20 = __uint_as_float(0xbe80021cu);
  const float t21 = __uint_as_float(0x3e4cd1c8u);
  const float t22 = __uint_as_float(0xbe2a11e1u);
  const float t23 = __uint_as_float(0x3e113e59u);
  const float t24 = __uint_as_float(0xbe07b196u);
  const float t25 = __uint_as_float(0x3e03ffa3u);
  const float t26 = __uint_as_float(0xbd9b4612u);
  const float t27 = __fmaf_rn(t26, t11, t25);
  const float t28 = __fmaf_rn(t27, t11, t24);
  const float t29 = __fmaf_rn(t28, t11, t23);
  const float t30 = __fmaf_rn(t29, t11, t22);
  const float t31 = __fmaf_rn(t30, t11, t21);
  const float t32 = __fmaf_rn(t31, t11, t20);
  const float t33 = __fmaf_rn(t32, t11, t19);
  const float t34 = __fmaf_rn(t33, t11, t18);
  const float t35 = t11 * t11;
  const float t36 = __fmaf_rn(t35, t34, t17);
  const float t37 = t14 + t36;
  const unsigned t38 = (unsigned)0x7f000000u;
  const unsigned t39 = (unsigned)0x800000u;
  const unsigned t40 = __float_as_uint(t4);
  const unsigned t41 = t40 - t39;
  const bool t42 = t41 < t38;
  const bool t43 = !t42;
  float t44 = t37;
  if (t43) {
    const float t45 = __uint_as_float(0x4b800000u);
    const float t46 = t4 * t45;
    const int t47 = __float_as_int(t46);
    const int t48 = (int)((unsigned)t47 - (unsigned)t3);
    const int t49 = t48 >> t2;
    const int t50 = (int)((unsigned)t49 << t2);
    const int t51 = (int)((unsigned)t47 - (unsigned)t50);
    const float t52 = __int_as_float(t51);
    const float t53 = t52 - t1;
    const float t54 = __uint_as_float(0x41c00000u);
    const float t55 = __int2float_rn(t49);
    const float t56 = t55 - t54;
    const float t57 = __fmaf_rn(t56, t12, t53);
    const float t58 = -t57;
    const float t59 = __fmaf_rn(t56, t12, t58);
    const float t60 = t59 + t53;
    const float t61 = __fmaf_rn(t26, t53, t25);
    const float t62 = __fmaf_rn(t61, t53, t24);
    const float t63 = __fmaf_rn(t62, t53, t23);
    const float t64 = __fmaf_rn(t63, t53, t22);
    const float t65 = __fmaf_rn(t64, t53, t21);
    const float t66 = __fmaf_rn(t65, t53, t20);
    const float t67 = __fmaf_rn(t66, t53, t19);
    const float t68 = __fmaf_rn(t67, t53, t18);
    const float t69 = t53 * t53;
    const float t70 = __fmaf_rn(t69, t68, t60);
    const float t71 = t57 + t70;
    const float t72 = __uint_as_float(0x7fc00000u);
    const float t73 = __uint_as_float(0x0u);
    const bool t74 = t4 < t73;
    const float t75 = t74 ? t72 : t71;
    const float t76 = __uint_as_float(0xff800000u);
    const bool t77 = t4 == t73;
    const float t78 = t77 ? t76 : t75;
    const float t79 = __uint_as_float(0x7f800000u);
    const bool t80 = t4 < t79;
    const float t81 = t80 ? t78 : t4;
    t44 = t81;
  }
  return t44;
}

extern "C" __global__ void __launch_bounds__(128, 3) kernel(const __grid_constant__ Words W) {
  extern __shared__ __align__(16) unsigned char shared[];
  float* const weights = (float*)(shared + 0);
  float* const tile_largest = (float*)(shared + 16896);
  float* const tile_total = (float*)(shared + 17152);
  float* const factors = (float*)(shared + 17408);
  float* const origins = (float*)(shared + 17664);
  const unsigned pair = divide(blockIdx.x, W.w[8]);
  const int first_row = (int)(blockIdx.x - pair * ((unsigned)W.w[6])) * 32, first_of_tile = first_row & ~63;
  const int c0 = (int)divide(pair, W.w[9]), c1 = (int)pair - c0 * (int)((unsigned)W.w[7]);
  const int group = (int)((unsigned)W.w[10]);
  const int g = c1 / group;
  const int query_length = (int)W.w[11];
  const int key_length = (int)W.w[12];
  const int rows = query_length, columns = key_length;
  const int start = 0, stop = first_of_tile < rows ? (columns + 63) / 64 : 0;
  const int rounds = stop > start ? (stop - start + 1) / 2 : 0;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wn = warp % 2;
  const int row = warp / 2 * 16 + (lane >> 1 & 1 | lane >> 3 & 2), along = (lane & 1 | lane >> 1 & 6), column = along * 8;
  float* const slots = (float*)(shared + 17920);
  int fed_unit = start, fed_step = 0, slot_read = 0;
  int fed_rounds = rounds;
  Vec<BF16, 8>* const held = (Vec<BF16, 8>*)(shared + 64000) + threadIdx.x;
  if (fed_rounds > 0) {
  float* const slot = slots;
  const int present = least(2, stop - fed_unit) * 64;
  int at = fed_step;
  Chunk<BF16, float, 32, 32, 36, 128, 8, STAGED, false>::fetch(held + 0, slot + 0, Matrix<BF16, int>{((const BF16*)W.w[0] + (c0 * ((i64)W.w[14]) + c1 * ((i64)W.w[15]))), (int)((i64)W.w[13]), (int)(i64)1, 64}, first_row, rows, at * 32);
  Chunk<BF16, float, 128, 32, 36, 128, 8, STAGED, true>::fetch(held + 128, slot + 1152, Matrix<BF16, int>{((const BF16*)W.w[1] + (c0 * ((i64)W.w[17]) + g * ((i64)W.w[18]))), (int)((i64)W.w[16]), (int)(i64)1, 64}, fed_unit * 64, columns, at * 32);
  ++fed_step;
  }
  commit_copies();
  const bool owns_row = along < 4;
  const int own_row = row + along * 4;
  float largest = -__uint_as_float(0x7f800000u), total = 0;
  float x[4][8];
  float sum[4][4];
  #pragma unroll
  for (int m = 0; m < 4; ++m)
  #pragma unroll
  for (int n = 0; n < 4; ++n) sum[m][n] = 0;
  #pragma unroll 1
  for (int unit = start; unit < stop; unit += 2) {
  const int own = unit + wn, at_column = own * 64 + column;
  const bool works = own < stop;
  #pragma unroll
  for (int m = 0; m < 4; ++m)
  #pragma unroll
  for (int n = 0; n < 8; ++n) x[m][n] = 0;
  #pragma unroll 1
  for (int chunk = 0; chunk < 2; ++chunk) {
  float* const slot = slots + slot_read * 5760;
  wait_copies<0>();
  Chunk<BF16, float, 32, 32, 36, 128, 8, STAGED, false>::store_shared(held + 0, slot + 0);
  Chunk<BF16, float, 128, 32, 36, 128, 8, STAGED, true>::store_shared(held + 128, slot + 1152);
  __syncthreads();
  {
  float* const slot = slots;
  const int present = least(2, stop - fed_unit) * 64;
  int at = fed_step;
  if (at < 2) {
  Chunk<BF16, float, 32, 32, 36, 128, 8, STAGED, false>::fetch(held + 0, slot + 0, Matrix<BF16, int>{((const BF16*)W.w[0] + (c0 * ((i64)W.w[14]) + c1 * ((i64)W.w[15]))), (int)((i64)W.w[13]), (int)(i64)1, 64}, first_row, rows, at * 32);
  Chunk<BF16, float, 128, 32, 36, 128, 8, STAGED, true>::fetch(held + 128, slot + 1152, Matrix<BF16, int>{((const BF16*)W.w[1] + (c0 * ((i64)W.w[17]) + g * ((i64)W.w[18]))), (int)((i64)W.w[16]), (int)(i64)1, 64}, fed_unit * 64, columns, at * 32);
  } else {
  at -= 2;
  Chunk<BF16, float, 64, 64, 64, 128, 8, STAGED, false>::fetch(held + 0, slot + 0, Matrix<BF16, int>{((const BF16*)W.w[2] + (c0 * ((i64)W.w[20]) + g * ((i64)W.w[21]))), (int)((i64)W.w[19]), (int)(i64)1, 64}, fed_unit * 64 + at * 64, columns, 0);
  }
  if (++fed_step == 2 + present / 64) {
  fed_step = 0; --fed_rounds; fed_unit += 2;
  }
  }
  commit_copies();
  slot_read = slot_read + 1 == 2 ? 0 : slot_read + 1;
  if (works) dots<32, 36, 4>(x, slot + row * 36, slot + 1152 + (wn * 64 + along) * 36);
  }
  if (works) {
  const bool whole = first_row + (row & ~3) + 15 < rows && own * 64 + 63 < columns;
  #pragma unroll
  for (int m = 0; m < 4; ++m) {
  const int at_row = first_row + row + m * 4;
  float (&line)[8] = x[m];
  #pragma unroll
  for (int v = 0; v < 8; ++v) {
  const float t1 = __uint_as_float((unsigned)W.w[5]);
  const float t2 = line[v];
  const float t3 = t2 * t1;
  line[v] = t3;
  }
  if (!whole) {
  const int from = 0, upto = at_row < rows ? columns - 1 - at_column : -1;
  #pragma unroll
  for (int v = 0; v < 8; ++v) if (v < from || v > upto) line[v] = -__uint_as_float(0x7f800000u);
  }
  const float most_ = of_row<Max>(line);
  if (along == m) tile_largest[wn * 32 + row + m * 4] = most_;
  }
  }
  __syncthreads();
  if (owns_row) {
  float before = largest, now = largest;
  #pragma unroll
  for (int w = 0; w < 2; ++w) {
  if (unit + w >= stop) break;
  if (w == wn) before = largest;
  largest = maximum(largest, tile_largest[w * 32 + own_row]);
  if (w == wn) now = largest;
  }
  const bool nothing = now == -__uint_as_float(0x7f800000u);
  const float origin = nothing ? 0 : now;
  if (works) {
  origins[wn * 32 + own_row] = origin;
  factors[wn * 32 + own_row] = nothing ? 1 : exp_(before - origin);
  }}
  __syncwarp();
  if (works) {
  #pragma unroll
  for (int m = 0; m < 4; ++m) {
  const int at_row = first_row + row + m * 4;
  const float origin = origins[wn * 32 + row + m * 4];
  #pragma unroll
  for (int v = 0; v < 8; ++v) x[m][v] = exp_(x[m][v] - origin);
  put8(weights + (row + m * 4) * 132 + wn * 64 + column, x[m]);
  const float all = of_row<Sum>(x[m]);
  if (along == m) tile_total[wn * 32 + row + m * 4] = all;
  }}
  const int present = least(2, stop - unit) * 64;
  #pragma unroll 1
  for (int j = 0; j < present; j += 64) {
  float* const slot = slots + slot_read * 5760;
  wait_copies<0>();
  Chunk<BF16, float, 64, 64, 64, 128, 8, STAGED, false>::store_shared(held + 0, slot + 0);
  __syncthreads();
  if (fed_rounds > 0) {
  float* const slot = slots;
  const int present = least(2, stop - fed_unit) * 64;
  int at = fed_step;
  if (at < 2) {
  Chunk<BF16, float, 32, 32, 36, 128, 8, STAGED, false>::fetch(held + 0, slot + 0, Matrix<BF16, int>{((const BF16*)W.w[0] + (c0 * ((i64)W.w[14]) + c1 * ((i64)W.w[15]))), (int)((i64)W.w[13]), (int)(i64)1, 64}, first_row, rows, at * 32);
  Chunk<BF16, float, 128, 32, 36, 128, 8, STAGED, true>::fetch(held + 128, slot + 1152, Matrix<BF16, int>{((const BF16*)W.w[1] + (c0 * ((i64)W.w[17]) + g * ((i64)W.w[18]))), (int)((i64)W.w[16]), (int)(i64)1, 64}, fed_unit * 64, columns, at * 32);
  } else {
  at -= 2;
  Chunk<BF16, float, 64, 64, 64, 128, 8, STAGED, false>::fetch(held + 0, slot + 0, Matrix<BF16, int>{((const BF16*)W.w[2] + (c0 * ((i64)W.w[20]) + g * ((i64)W.w[21]))), (int)((i64)W.w[19]), (int)(i64)1, 64}, fed_unit * 64 + at * 64, columns, 0);
  }
  if (++fed_step == 2 + present / 64) {
  fed_step = 0; --fed_rounds; fed_unit += 2;
  }
  }
  commit_copies();
  slot_read = slot_read + 1 == 2 ? 0 : slot_read + 1;
  if (j % 64 == 0) {
  if (wn == 0 && owns_row) total = chain(total, factors[j / 64 * 32 + own_row], tile_total[j / 64 * 32 + own_row]);
  #pragma unroll
  for (int m = 0; m < 4; ++m) {
  const float factor = factors[j / 64 * 32 + row + m * 4];
  #pragma unroll
  for (int n = 0; n < 4; ++n) sum[m][n] = sum[m][n] * factor;
  }
  }
  sums<64, 4, 132, 64>(sum, weights + row * 132 + j, slot + wn * 32 + along * 4);
  }
  }
  if (wn == 0 && owns_row) {
  tile_largest[own_row] = largest;
  origins[own_row] = total;
  }
  __syncthreads();
  #pragma unroll
  for (int m = 0; m < 4; ++m) {
  const int at_row = first_row + row + m * 4;
  if (at_row < (int)W.w[22]) {
  const bool nothing = tile_largest[row + m * 4] == -__uint_as_float(0x7f800000u);
  const float divisor = origins[row + m * 4];
  BF16* const to = ((BF16*)W.w[3] + (c0 * ((i64)W.w[23]) + c1 * ((i64)W.w[24]))) + at_row * ((i64)W.w[25]);
  #pragma unroll
  for (int r = 0; r < 1; ++r) {
  const int c = wn * 32 + (r * 8 + along) * 4;
  Vec<BF16, 4> out;
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
  const int n = r * 4 + v;
  out.v[v] = Narrow<BF16, float>::to(nothing ? 0 : sum[m][n] / divisor);
  }
  if (c + 4 <= 64) store<4>(to + c, out); else
  #pragma unroll
  for (int v = 0; v < 4; ++v) if (c + v < 64) to[(c + v)] = out.v[v];
  }}}
}
