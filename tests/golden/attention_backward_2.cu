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

// Adjacent pairs, in one thread: of N values, a power of two, from FIRST on. (Loops of changing length are not always unrolled.)
template <class Op, int N, int FIRST = 0, class T, int S> __device__ __forceinline__ T pairs(const T (&x)[S]) {
  if constexpr (N == 1) return x[FIRST];
  else return Op::of(pairs<Op, N / 2, FIRST>(x), pairs<Op, N / 2, FIRST + N / 2>(x));
}

// n / d for 0 <= n < 2^31, with the multiplier and shift that the host prepared.
__device__ __forceinline__ unsigned divide(unsigned n, u64 magic) {
  return (__umulhi(n, (unsigned)magic) + n) >> (unsigned)(magic >> 32);
}
struct Words { u64 w[80]; };

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

extern "C" __global__ void __launch_bounds__(256) kernel(const __grid_constant__ Words W) {
  __shared__ __align__(16) unsigned char shared[8192];
  unsigned record = blockIdx.x;
  if (record < ((unsigned)W.w[24])) {
  const unsigned line = divide(record, W.w[25]), tile = record - line * ((unsigned)W.w[26]);
  const int c0 = (int)divide(line, W.w[27]), c1 = (int)line - c0 * (int)W.w[28];
  const int query_length = (int)W.w[29];
  const int first = (int)tile * 64;
  write_row_digits<8, 2, 64, 64, 32, true, true>(((const BF16*)W.w[0] + (c0 * ((i64)W.w[30]) + c1 * ((i64)W.w[31]))) + first * ((i64)W.w[23]), ((i64)W.w[23]), (i64)1, query_length - first, ((unsigned char*)(W.w[9] + W.w[32])) + (i64)record * 8192, ((unsigned char*)(W.w[9] + W.w[33])) + (i64)record * 8192, (float*)(((unsigned char*)(W.w[9] + W.w[34])) + (i64)record * 272), shared);
  return;
  }
  record -= ((unsigned)W.w[35]);
  if (record < ((unsigned)W.w[37])) {
  const unsigned line = divide(record, W.w[38]), tile = record - line * ((unsigned)W.w[39]);
  const int c0 = (int)divide(line, W.w[40]), c1 = (int)line - c0 * (int)W.w[41];
  const int key_length = (int)W.w[42];
  const int first = (int)tile * 64;
  write_row_digits<8, 2, 64, 64, 32, true, true>(((const BF16*)W.w[1] + (c0 * ((i64)W.w[43]) + c1 * ((i64)W.w[44]))) + first * ((i64)W.w[36]), ((i64)W.w[36]), (i64)1, key_length - first, ((unsigned char*)(W.w[9] + W.w[45])) + (i64)record * 8192, ((unsigned char*)(W.w[9] + W.w[46])) + (i64)record * 8192, (float*)(((unsigned char*)(W.w[9] + W.w[47])) + (i64)record * 272), shared);
  return;
  }
  record -= ((unsigned)W.w[48]);
  if (record < ((unsigned)W.w[50])) {
  const unsigned line = divide(record, W.w[51]), tile = record - line * ((unsigned)W.w[52]);
  const int c0 = (int)divide(line, W.w[53]), c1 = (int)line - c0 * (int)W.w[54];
  const int key_length = (int)W.w[55];
  const int first = (int)tile * 64;
  write_row_digits<8, 2, 64, 64, 32, true, false>(((const BF16*)W.w[2] + (c0 * ((i64)W.w[56]) + c1 * ((i64)W.w[57]))) + first * ((i64)W.w[49]), ((i64)W.w[49]), (i64)1, key_length - first, ((unsigned char*)(W.w[9] + W.w[58])) + (i64)record * 8192, ((unsigned char*)(W.w[9] + W.w[59])) + (i64)record * 8192, (float*)(((unsigned char*)(W.w[9] + W.w[60])) + (i64)record * 272), shared);
  return;
  }
  record -= ((unsigned)W.w[61]);
  if (record < ((unsigned)W.w[63])) {
  const unsigned line = divide(record, W.w[64]), tile = record - line * ((unsigned)W.w[65]);
  const int c0 = (int)divide(line, W.w[66]), c1 = (int)line - c0 * (int)W.w[67];
  const int query_length = (int)W.w[68];
  const int first = (int)tile * 64;
  write_row_digits<8, 2, 64, 64, 32, true, true>(((const BF16*)W.w[5] + (c0 * ((i64)W.w[69]) + c1 * ((i64)W.w[70]))) + first * ((i64)W.w[62]), ((i64)W.w[62]), (i64)1, query_length - first, ((unsigned char*)(W.w[9] + W.w[71])) + (i64)record * 8192, ((unsigned char*)(W.w[9] + W.w[72])) + (i64)record * 8192, (float*)(((unsigned char*)(W.w[9] + W.w[73])) + (i64)record * 784), shared);
  if (threadIdx.x < 64) {
  const int heads = (int)W.w[75], query = first + (int)threadIdx.x;
  float lse, delta;
  lse = __uint_as_float(0x7f800000u); delta = 0;
  if (query < query_length) {
  lse = ((const float*)W.w[4] + (c0 * ((i64)W.w[76]) + c1 * ((i64)W.w[77])))[(query) * (i64)1];
  if (lse == -__uint_as_float(0x7f800000u)) lse = __uint_as_float(0x7f800000u);
  delta = ((const float*)W.w[9])[((i64)c0 * heads + c1) * ((i64)W.w[78]) + query];
  }
  float* const to = (float*)(((unsigned char*)(W.w[9] + W.w[74])) + (i64)record * 784 + 272) + threadIdx.x;
  to[0] = lse; to[64] = delta;
  }
  return;
  }
  record -= ((unsigned)W.w[79]);
}
