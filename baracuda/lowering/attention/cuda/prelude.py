"""The C++ of attention: chunks of matrices on their way to shared memory, and the two products that are made of them."""

from __future__ import annotations

ATTENTION = r"""
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
"""
