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

// What two values of a reduction are combined by. Signed integers wrap, which C++ defines only for unsigned ones.
struct Sum {
  template <class T> static __device__ __forceinline__ T of(T a, T b) { return a + b; }
  static __device__ __forceinline__ int of(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
  static __device__ __forceinline__ i64 of(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
};

// Adjacent pairs, in one thread: of N values, a power of two, from FIRST on. (Loops of changing length are not always unrolled.)
template <class Op, int N, int FIRST = 0, class T, int S> __device__ __forceinline__ T pairs(const T (&x)[S]) {
  if constexpr (N == 1) return x[FIRST];
  else return Op::of(pairs<Op, N / 2, FIRST>(x), pairs<Op, N / 2, FIRST + N / 2>(x));
}
struct Words { u64 w[42]; };
constexpr int V = 4;
typedef float C;
typedef float T;
typedef Sum Op;
__device__ __forceinline__ i64 y_column(const Words& W, unsigned e) {
  const unsigned c0 = e;
  return (i64)c0 * 1;
}
__device__ __forceinline__ i64 y_row(const Words& W, unsigned d) {
  const unsigned c0 = d;
  return (i64)c0 * ((i64)W.w[23]);
}
__device__ __forceinline__ i64 x_column(const Words& W, unsigned e) {
  const unsigned c0 = e;
  return (i64)c0 * 1;
}
__device__ __forceinline__ C load_source(const Words& W, unsigned p, i64 column, Vec<T, V>& to) {
  const unsigned c0 = p;
  const i64 row = (i64)c0 * ((i64)W.w[24]);
  load<V>(to, (const T*)W.w[1] + row + column);
  return 1;
}
__device__ __forceinline__ C element(T x, C factor) { return widen(x); }
__device__ __forceinline__ T finish(const Words& W, C v, unsigned count, i64 base) {
  return Narrow<T, C>::to(v);
}
__device__ __forceinline__ T nothing(const Words& W, i64 base) {
  return Narrow<T, C>::to(__uint_as_float(0x0u));
}

// Whether a segment of a run longer than 32 starts in the window of 32 entries, and which: of the run that the first
// entry is in, or, where `second` is set, of a run that starts behind it. Entries first ... are the segment's.
__device__ __forceinline__ bool find(const u64* entries, const unsigned* starts, unsigned n, unsigned nowhere, unsigned window,
                                     int second, unsigned& d, unsigned& start, unsigned& end, unsigned& first) {
  if (window >= n) return false;
  const unsigned next = min(window + 32u, n);
  d = (unsigned)(entries[second ? next - 1 : window] >> 32);
  if (d >= nowhere) return false;
  start = starts[d];
  end = starts[d + 1];
  const bool inside = start > window;
  first = inside ? start : start + (window - start + 1023u) / 1024u * 1024u;
  return inside == (second != 0) && end - start > 32u && first < min(end, window + 32u);
}

// Adjacent pairs over the teams' values of each column, shared[team * COLUMNS + column]; where the results are then.
template <int TEAMS, int COLUMNS, int THREADS, class U> __device__ __forceinline__ U* teams_joined(U* shared) {
  U *from = shared, *to = shared + TEAMS * COLUMNS;
#pragma unroll
  for (int m = TEAMS; m > 1; m /= 2) {
    __syncthreads();
    for (int i = threadIdx.x; i < m / 2 * COLUMNS; i += THREADS) {
      const int team = i / COLUMNS, c = i % COLUMNS;
      to[i] = Op::of(from[2 * team * COLUMNS + c], from[(2 * team + 1) * COLUMNS + c]);
    }
    U* const other = from;
    from = to;
    to = other;
  }
  __syncthreads();
  return from;
}

extern "C" __global__ void __launch_bounds__(512) kernel(const __grid_constant__ Words W) {
    __shared__ C shared[3072];
    const u64* const entries = (const u64*)(W.w[6] + ((i64)W.w[26]));
    const unsigned* const starts = (const unsigned*)(W.w[6] + ((i64)W.w[27]));
    const unsigned n = ((unsigned)W.w[28]), nowhere = ((unsigned)W.w[29]), width = ((unsigned)W.w[30]);
    const unsigned thread = threadIdx.x, x = thread % 4u, team = thread / 4u;
    const unsigned own = (blockIdx.y * 4u + x) * V;
    const i64 column = x_column(W, own < width ? own : 0);
    for (int second = 0; second < 2; ++second) {
      unsigned mask;
      {
        const unsigned window = blockIdx.x * 1024u + thread % 32u * 32u;
        unsigned d, start, end, first;
        const bool starting = thread % 32u < 32u && find(entries, starts, n, nowhere, window, second, d, start, end, first);
        mask = __ballot_sync(0xffffffffu, starting);
      }
      for (; mask; mask &= mask - 1) {
        unsigned d, start, end, first;
        find(entries, starts, n, nowhere, blockIdx.x * 1024u + (__ffs(mask) - 1) * 32u, second, d, start, end, first);
        const unsigned count = min(end - first, 1024u);
        C sums[1][V];
  #pragma unroll
        for (int q = 0; q < 1; ++q)
  #pragma unroll
          for (int v = 0; v < V; ++v) sums[q][v] = __uint_as_float(0x80000000u);
        for (unsigned k = 0; k < 8u; ++k) {
          const unsigned j = k * 128u + team * 1u;
          if (j >= count) break;
          Vec<T, V> rows[1];
          C factors[1];
          // an element that does not exist is the team's first one again, and left out
  #pragma unroll
          for (int q = 0; q < 1; ++q)
            factors[q] = load_source(W, (unsigned)entries[first + (j + q < count ? j + q : j)], column, rows[q]);
  #pragma unroll
          for (int q = 0; q < 1; ++q)
  #pragma unroll
            for (int v = 0; v < V; ++v)
              if (j + q < count) sums[q][v] = Op::of(sums[q][v], element(rows[q].v[v], factors[q]));
        }
  #pragma unroll
        for (int v = 0; v < V; ++v) {
          C values[1];
  #pragma unroll
          for (int q = 0; q < 1; ++q) values[q] = sums[q][v];
          shared[team * 16 + x * V + v] = pairs<Op, 1>(values);
        }
        C* const total = teams_joined<128, 16, 512>(shared);
        for (unsigned c = thread; c < 16u; c += 512u) {
          const unsigned e = blockIdx.y * 16u + c;
          if (e >= width) continue;
          if (end - start > 1024u)
            ((C*)(W.w[6] + ((i64)W.w[25])))[(i64)(start / 512u + (first - start) / 1024u) * width + e] = total[c];
          else
            ((T*)W.w[5])[y_row(W, d) + y_column(W, e)] = finish(W, total[c], count, 0);
        }
        __syncthreads();
      }
    }
}
