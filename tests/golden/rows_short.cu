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

// Adjacent pairs, over G neighbouring threads of a warp, or every S-th of them; each of them gets the result.
template <class Op, int G, int S = 1, class T> __device__ __forceinline__ T across(T x) {
#pragma unroll
  for (int w = S; w < G; w *= 2) x = Op::of(x, __shfl_xor_sync(0xffffffffu, x, w));
  return x;
}
struct Words { u64 w[9]; };

extern "C" __global__ void __launch_bounds__(256) kernel(const __grid_constant__ Words W) {
  const float* const p0 = (const float*)(W.w[0]);
  float* const p1 = (float*)(W.w[1]);
  const int lane = threadIdx.x % 2, group = threadIdx.x / 2 % 1;
  const int slot = threadIdx.x / 2;
  const i64 row = (i64)blockIdx.x * 128 + slot;
  const bool live = row < ((i64)W.w[3]);
  const int parity = 0;
  const unsigned r0 = (unsigned)row;
  const i64 o0 = (i64)r0 * ((i64)W.w[6]);
  const i64 o1 = (i64)r0 * ((i64)W.w[7]);
  Vec<float, 4> in0[1];
  {
  const float* const b0 = p0 + o0 + ((i64)group * 1024 + lane * 4);
  #pragma unroll
  for (int k = 0; k < 1; ++k) {
  const int e = (int)group * 1024 + k * 128 + lane * 4;
  if (live) {
  load<4>(in0[k], b0 + k * 128);
  }
  }
  }
  float red0_0;
  {
  float acc0[4];
  #pragma unroll
  for (int v = 0; v < 4; ++v) acc0[v] = __uint_as_float(0x80000000u);
  {
  #pragma unroll
  for (int k = 0; k < 1; ++k) {
  const int e = (int)group * 1024 + k * 128 + lane * 4;
  if (live) {
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
    const float t1 = widen(in0[k].v[v]);
    acc0[v] = Sum::of(acc0[v], t1);
  }
  }
  }
  }
  float leaf0 = across<Sum, 2>(pairs<Sum, 4>(acc0));
  red0_0 = leaf0;
  }
  if (live && lane == 0 && group == 0) p1[o1] = Narrow<float, float>::to(red0_0);
}
