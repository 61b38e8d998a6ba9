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

// Adjacent pairs, over G neighbouring threads of a warp, or every S-th of them; each of them gets the result.
template <class Op, int G, int S = 1, class T> __device__ __forceinline__ T across(T x) {
#pragma unroll
  for (int w = S; w < G; w *= 2) x = Op::of(x, __shfl_xor_sync(0xffffffffu, x, w));
  return x;
}

// Adjacent pairs over m values for each of X neighbouring rows, p[i * X + x], which are overwritten when there are more than 8.
// All threads of the block call it and each gets the results of the V rows from x on; the values must have been written before
// a barrier, and may be written again at once.
template <class Op, int X, int THREADS, class T, int V>
__device__ __forceinline__ void side_tree(T* p, int m, T identity, int x, T (&result)[V]) {
  constexpr int R = 8;
  while (m > R) {
    int parts = (m + R - 1) / R;
    for (int base = 0; base < parts * X; base += THREADS) {
      int at = base + threadIdx.x, part = at / X;
      T a[R];
#pragma unroll
      for (int i = 0; i < R; ++i) a[i] = part * R + i < m ? p[(part * R + i) * X + at % X] : identity;
      __syncthreads();
      if (part < parts) p[at] = pairs<Op, R>(a);
      __syncthreads();
    }
    m = parts;
  }
#pragma unroll
  for (int v = 0; v < V; ++v) {
    T a[R];
#pragma unroll
    for (int i = 0; i < R; ++i) a[i] = i < m ? p[i * X + x + v] : identity;
    result[v] = pairs<Op, R>(a);
  }
  __syncthreads();
}
struct Words { u64 w[9]; };

extern "C" __global__ void __launch_bounds__(128, 2) kernel(const __grid_constant__ Words W) {
  extern __shared__ __align__(128) unsigned char dynamic[];
  const float* const p0 = (const float*)(W.w[0]);
  float* const p1 = (float*)(W.w[1]);
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const i64 mine = (i64)(blockIdx.x) * 32 + x * 2;
  const bool live = mine < ((i64)W.w[3]);
  const i64 row = live ? mine : ((i64)W.w[3]) - 2;
  const unsigned r0 = (unsigned)row;
  const i64 o0 = (i64)r0 * ((i64)W.w[6]);
  const i64 o1 = (i64)r0 * ((i64)W.w[7]);
  float* const tree0_0 = (float*)((char*)dynamic + 0);
  float red0_0[2];
  {
  const int segment = 0, s = 0, batch = 1;
  float total0[2];
  float hold0[3][2];
  Vec<float, 2> in0[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
  const int lane = y * 8 + l;
  {
  const float* const b0 = p0 + o0 + ((i64)segment * 1024 + lane) * ((i64)W.w[8]);
  #pragma unroll
  for (int k = 0; k < 1; ++k) {
  const int e = (int)segment * 1024 + k * 128 + lane;
  if (true) {
  load<2>(in0[l * 1 + k], b0 + k * (((i64)W.w[8]) * 128));
  }
  }
  }
  }
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
  const int lane = y * 8 + l;
  float acc0[2];
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  acc0[v] = __uint_as_float(0x80000000u);
  }
  {
  #pragma unroll
  for (int k = 0; k < 1; ++k) {
  const int e = (int)segment * 1024 + k * 128 + lane;
  if (true) {
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  const float t1 = widen(in0[l * 1 + k].v[v]);
  acc0[v] = Sum::of(acc0[v], t1);
  }
  }
  }
  }
  if (l & 1) {
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  acc0[v] = Sum::of(hold0[0][v], acc0[v]);
  }
  } else {
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  hold0[0][v] = acc0[v];
  }
  continue;
  }
  if (l & 2) {
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  acc0[v] = Sum::of(hold0[1][v], acc0[v]);
  }
  } else {
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  hold0[1][v] = acc0[v];
  }
  continue;
  }
  if (l & 4) {
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  acc0[v] = Sum::of(hold0[2][v], acc0[v]);
  }
  } else {
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  hold0[2][v] = acc0[v];
  }
  continue;
  }
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  total0[v] = acc0[v];
  }
  }
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  total0[v] = across<Sum, 32, 16>(total0[v]);
  }
  if (threadIdx.x % 32 < 16) {
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  tree0_0[(s * 4 + threadIdx.x / 32) * 32 + x * 2 + v] = total0[v];
  }
  }
  __syncthreads();
  side_tree<Sum, 32, 128>(tree0_0, batch * 4, __uint_as_float(0x80000000u), x * 2, red0_0);
  }
  if (live && y == 0) {
  Vec<float, 2> out1;
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  out1.v[v] = Narrow<float, float>::to(red0_0[v]);
  }
  store<2>(p1 + o1, out1);
  }
}
