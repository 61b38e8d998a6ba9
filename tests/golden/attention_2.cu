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
struct Words { u64 w[68]; };

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

__device__ __forceinline__ void turn(float (&x)[8][4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float first = x[0][i];
#pragma unroll
    for (int n = 0; n < 7; ++n) x[n][i] = x[n + 1][i];
    x[7][i] = first;
  }
}

extern "C" __global__ void __launch_bounds__(128, 3) kernel(const __grid_constant__ Words W) {
  extern __shared__ __align__(128) unsigned char shared[];
  const unsigned pair = divide(blockIdx.x, W.w[47]);
  const int first_row = (int)(blockIdx.x - pair * ((unsigned)W.w[45])) * 64, first_of_tile = first_row & ~63;
  const int c0 = (int)divide(pair, W.w[48]), c1 = (int)pair - c0 * (int)((unsigned)W.w[46]);
  const int group = (int)((unsigned)W.w[49]);
  const int g = c1 / group;
  const int query_length = (int)W.w[50];
  const int key_length = (int)W.w[51];
  const int rows = query_length, columns = key_length;
  const int start = 0, stop = first_of_tile < rows ? (columns + 63) / 64 : 0;
  const int lane = threadIdx.x % 32, first = first_row + threadIdx.x / 32 * 16, row = first + lane / 4;
  const i64 q_record = (((i64)c0 * W.w[52] + (c1)) * W.w[53] + (first_row / 64));
  const unsigned char* const q_digits = ((unsigned char*)(W.w[4] + W.w[54])) + q_record * 8192;
  const float* const q_scales = (const float*)(((unsigned char*)(W.w[4] + W.w[55])) + q_record * 272);
  const float q_scale[2] = {q_scales[row - first_row], q_scales[row - first_row + 8]};
  const bool q_large = __any_sync(~0u, q_scale[0] > 0x1p64f || q_scale[1] > 0x1p64f);
  copy_bytes<8192, 128>(shared + 34304, q_digits);
  SharedRows<2, 64> q_rows(shared + 34304, first - first_row);
  const i64 record0 = (((i64)c0 * W.w[57] + (g)) * W.w[58] + (0));
  const unsigned char* from0 = ((unsigned char*)(W.w[4] + W.w[56])) + record0 * 8192;
  const unsigned char* scales0 = ((unsigned char*)(W.w[4] + W.w[59])) + record0 * 272;
  const i64 record1 = (((i64)c0 * W.w[61] + (g)) * W.w[62] + (0));
  const unsigned char* from1 = ((unsigned char*)(W.w[4] + W.w[60])) + record1 * 8192;
  const unsigned char* scales1 = ((unsigned char*)(W.w[4] + W.w[63])) + record1 * 272;
  int fed_tile = start, fed_step = 0, fed_slot = 0, slot_read = 0;
  int fed_left = most(stop - start, 0);
  const auto feed = [&] {
  if (fed_left > 0) {
  unsigned char* const to = shared + fed_slot * 8576;
  if (fed_step < 1) {
  copy_bytes<8192, 128>(to, from0 + (i64)fed_tile * 8192);
  copy_bytes<272, 128>(to + 8192, scales0 + fed_tile * 272);
  } else {
  copy_bytes<8192, 128>(to, from1 + (i64)fed_tile * 8192);
  copy_bytes<272, 128>(to + 8192, scales1 + fed_tile * 272);
  }
  if (++fed_step == 2) { fed_step = 0; --fed_left; ++fed_tile; }
  }
  commit_copies();
  fed_slot = fed_slot + 1 == 4 ? 0 : fed_slot + 1;
  };
  feed();
  feed();
  feed();
  float largest[2] = {-__int_as_float(0x7f800000), -__int_as_float(0x7f800000)}, total[2] = {};
  float sum[8][4] = {};
  #pragma unroll 1
  for (int tile = start; tile < stop; ++tile) {
  float x[8][4] = {};
  {
  unsigned char* const slot = shared + slot_read * 8576;
  const float* const scales = (const float*)(slot + 8192);
  wait_copies<2>();
  __syncthreads();
  feed();
  slot_read = slot_read + 1 == 4 ? 0 : slot_read + 1;
  if (q_large) add_dots<2, 2, 64, true>(x, q_rows, 0, shared_address(slot), scales, q_scale);
  else add_dots<2, 2, 64, false>(x, q_rows, 0, shared_address(slot), scales, q_scale);
  }
  #pragma unroll
  for (int m = 0; m < 8; ++m) {
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
  const int at_row = row + i / 2 * 8, at_column = tile * 64 + m * 8 + lane % 4 * 2 + i % 2;
  const float t1 = __uint_as_float((unsigned)W.w[5]);
  const float t2 = x[m][i];
  const float t3 = t2 * t1;
  x[m][i] = t3;
  }
  }
  if (!(first + 15 < rows && tile * 64 + 63 < columns)) {
  #pragma unroll
  for (int n = 0; n < 8; ++n)
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
  const int at_row = row + i / 2 * 8, at_column = tile * 64 + n * 8 + lane % 4 * 2 + i % 2;
  if (!(at_row < rows && at_column < columns)) x[n][i] = -__int_as_float(0x7f800000);
  }}
  float factor[2];
  {
  const float now = maximum(largest[0], largest_of_row<0>(x));
  const bool nothing = now == -__int_as_float(0x7f800000);
  const float origin = nothing ? 0 : now;
  factor[0] = exp_(nothing ? 0 : largest[0] - origin);
  largest[0] = now;
  #pragma unroll
  for (int n = 0; n < 8; ++n)
  #pragma unroll
  for (int i = 0; i < 2; ++i) x[n][i] = exp_(x[n][i] - origin);
  total[0] = chain(total[0], factor[0], sum_of_row<0>(x));
  }
  {
  const float now = maximum(largest[1], largest_of_row<1>(x));
  const bool nothing = now == -__int_as_float(0x7f800000);
  const float origin = nothing ? 0 : now;
  factor[1] = exp_(nothing ? 0 : largest[1] - origin);
  largest[1] = now;
  #pragma unroll
  for (int n = 0; n < 8; ++n)
  #pragma unroll
  for (int i = 2; i < 4; ++i) x[n][i] = exp_(x[n][i] - origin);
  total[1] = chain(total[1], factor[1], sum_of_row<1>(x));
  }
  {
  unsigned char* const slot = shared + slot_read * 8576;
  const float* const scales = (const float*)(slot + 8192);
  wait_copies<2>();
  __syncthreads();
  feed();
  slot_read = slot_read + 1 == 4 ? 0 : slot_read + 1;
  scale_columns(x, scales);
  Weights<2> digits;
  float scale[2];
  digits.set(x, scale);
  if (__any_sync(~0u, factor[0] != 1 || factor[1] != 1)) {
  #pragma unroll
  for (int n = 0; n < 8; ++n)
  #pragma unroll
  for (int i = 0; i < 4; ++i) sum[n][i] *= factor[i / 2];
  }
  digits.add_rows<8>(sum, shared_address(slot), scale);
  }
  }
  #pragma unroll
  for (int h = 0; h < 2; ++h) {
  const int at_row = row + h * 8;
  if (at_row < (int)W.w[64]) {
  BF16* const to = ((BF16*)W.w[3] + (c0 * ((i64)W.w[65]) + c1 * ((i64)W.w[66]))) + at_row * ((i64)W.w[67]);
  #pragma unroll
  for (int n = 0; n < 8; ++n) {
  const int c = n * 8 + lane % 4 * 2;
  Vec<BF16, 2> out;
  #pragma unroll
  for (int e = 0; e < 2; ++e) { const int i = 2 * h + e; out.v[e] = Narrow<BF16, float>::to(largest[h] == -__int_as_float(0x7f800000) ? 0 : sum[n][i] / total[h]); }
  if (c + 2 <= 64) store<2>(to + c, out); else
  #pragma unroll
  for (int e = 0; e < 2; ++e) if (c + e < 64) to[(c + e)] = out.v[e];
  }}}
}
