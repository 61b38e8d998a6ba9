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

// n / d for 0 <= n < 2^31, with the multiplier and shift that the host prepared.
__device__ __forceinline__ unsigned divide(unsigned n, u64 magic) {
  return (__umulhi(n, (unsigned)magic) + n) >> (unsigned)(magic >> 32);
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

extern "C" __global__ void __launch_bounds__(256) kernel(const __grid_constant__ Words W) {
    const unsigned t = (unsigned)blockIdx.x * 256 + threadIdx.x;
    if (t >= ((unsigned)W.w[39])) return;
    const u64* const entries = (const u64*)(W.w[6] + ((i64)W.w[40]));
    const unsigned* const starts = (const unsigned*)(W.w[6] + ((i64)W.w[41]));
    const unsigned q = divide(t, W.w[38]);
    const unsigned d = (unsigned)q, e = (unsigned)(t - q * ((unsigned)W.w[37])) * V;
    const unsigned start = starts[d], count = starts[d + 1] - start;
    Vec<T, V> result;
    const i64 base = 0;
    if (count > 32u) return;
    if (count == 0) {
  #pragma unroll
      for (int v = 0; v < V; ++v) result.v[v] = nothing(W, base + v);
    } else {
      const i64 column = x_column(W, e);
      C waiting[4][V], sum[V];
      for (unsigned j = 0; j < count; j += 4) {
        Vec<T, V> rows[4];
        C factors[4];
  #pragma unroll
        for (int i = 0; i < 4; ++i)
          if (j + i < count) factors[i] = load_source(W, (unsigned)entries[start + j + i], column, rows[i]);
  #pragma unroll
        for (int v = 0; v < V; ++v) {
          C lanes[4];
  #pragma unroll
          for (int i = 0; i < 4; ++i) lanes[i] = j + i < count ? element(rows[i].v[v], factors[i]) : __uint_as_float(0x80000000u);
          sum[v] = pairs<Op, 4>(lanes);
        }
        const unsigned block = j / 4;
        bool placed = false;
  #pragma unroll
        for (int l = 0; l < 4; ++l) {
          if (placed) continue;
          placed = !(block >> l & 1);
  #pragma unroll
          for (int v = 0; v < V; ++v)
            if (placed) waiting[l][v] = sum[v]; else sum[v] = Op::of(waiting[l][v], sum[v]);
        }
      }
      const unsigned blocks = (count + 3) / 4;
      bool some = false;
  #pragma unroll
      for (int l = 0; l < 4; ++l) {
        if (!(blocks >> l & 1)) continue;
  #pragma unroll
        for (int v = 0; v < V; ++v) sum[v] = some ? Op::of(waiting[l][v], sum[v]) : waiting[l][v];
        some = true;
      }
  #pragma unroll
      for (int v = 0; v < V; ++v) result.v[v] = finish(W, sum[v], count, base + v);
    }
    store<V>((T*)W.w[5] + y_row(W, d) + y_column(W, e), result);
}
