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

// Adjacent pairs over a sequence of unknown length, pushed in order: results wait for a neighbour of their own size.
template <class Op, class T> struct Counter {
  T waiting[32];
  __device__ __forceinline__ void push(T x, int i) {
    int level = 0;
    for (; i >> level & 1; ++level) x = Op::of(waiting[level], x);
    waiting[level] = x;
  }
  __device__ __forceinline__ T total(int count) {
    int level = 0;
    while (!(count >> level & 1)) ++level;
    T x = waiting[level];
    for (++level; count >> level; ++level) if (count >> level & 1) x = Op::of(waiting[level], x);
    return x;
  }
};

// Adjacent pairs over entries first ... first+count-1 of a column (count a power of two, at least 8), as far as they exist.
template <class Op, class T>
__device__ __forceinline__ T column_tree(const T* column, i64 pitch, i64 first, i64 count, i64 end, T identity) {
  Counter<Op, T> counter;
  for (i64 block = 0; block < count; block += 8) {
    T x[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = first + block + i < end ? column[(first + block + i) * pitch] : identity;
    counter.push(pairs<Op, 8>(x), (int)(block / 8));
  }
  return counter.total((int)(count / 8));
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

extern "C" __global__ void __launch_bounds__(256) kernel(const __grid_constant__ Words W) {
  __shared__ C shared[384];
  const u64* const entries = (const u64*)(W.w[6] + ((i64)W.w[31]));
  const unsigned* const starts = (const unsigned*)(W.w[6] + ((i64)W.w[32]));
  const unsigned n = ((unsigned)W.w[33]), nowhere = ((unsigned)W.w[34]), width = ((unsigned)W.w[35]);
  // of a run that starts here and goes beyond this window, the last entry of the window is one
  const unsigned window = blockIdx.x * 1024u, d = (unsigned)(entries[min(window + 1024u, n) - 1] >> 32);
  if (d >= nowhere) return;
  const unsigned start = starts[d], count = starts[d + 1] - start;
  if (start < window || count <= 1024u) return;
  const unsigned segments = (count + 1023u) / 1024u;
  const unsigned x = threadIdx.x % 16u, team = threadIdx.x / 16u, e = blockIdx.y * 16u + x;
  const C* const partials = (const C*)(W.w[6] + ((i64)W.w[36])) + (i64)(start / 512u) * width;
  unsigned each = 8;
  while (each * 16u < segments) each *= 2;
  C sum = __uint_as_float(0x80000000u);
  if (e < width && team * each < segments)
    sum = column_tree<Op>(partials + e, width, team * each, each, segments, sum);
  shared[threadIdx.x] = sum;
  C* const total = teams_joined<16, 16, 256>(shared);
  if (team == 0 && e < width)
    ((T*)W.w[5])[y_row(W, d) + y_column(W, e)] = finish(W, total[x], count, 0);
}
