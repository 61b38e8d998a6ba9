typedef unsigned long long u64;
typedef long long i64;
struct F16 { unsigned short bits; };
struct BF16 { unsigned short bits; };
struct Bool { unsigned char byte; };

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
struct Words { u64 w[23]; };

// An index brought into range.
__device__ __forceinline__ i64 bounded(i64 i, i64 n) { return i < 0 ? 0 : i < n ? i : n - 1; }
__device__ __forceinline__ i64 bounded(int i, i64 n) { const int m = (int)n - 1; return max(min(i, m), 0); }

extern "C" __global__ void __launch_bounds__(32) kernel(const __grid_constant__ Words W) {
  const long long* const __restrict__ p0 = (const long long*)W.w[0];
  const long long* const __restrict__ p1 = (const long long*)W.w[1];
  int* const __restrict__ p2 = (int*)W.w[2];
  Bool* const __restrict__ p3 = (Bool*)W.w[3];
  const int thread = threadIdx.x, b = blockIdx.x;
  const int t1 = (int)0x0u;
  const int t2 = (int)0x1u;
  const int t3 = (int)0x2u;
  const long long t4 = (long long)W.w[5];
  const long long t5 = (long long)0x0ull;
  const int t6 = b;
  const long long t7 = widen(p0[(i64)t6 * ((i64)W.w[9])]);
  const long long t8 = maximum(t7, t5);
  const long long t9 = minimum(t8, t4);
  const int t10 = (int)t9;
  const int t11 = (int)((unsigned)t10 * (unsigned)t3);
  const int t12 = (int)((unsigned)t11 + (unsigned)t2);
  const long long t13 = (long long)W.w[6];
  const int t14 = (int)W.w[7];
  const int steps = (int)max(min((i64)t1, ((i64)W.w[8])), 0ll), lanes = (int)max(min((i64)t12, ((i64)W.w[10])), 0ll), every_lane = ((i64)W.w[11]);
  int now = 0, then = now + ((i64)W.w[12]);
  __syncwarp();
  __syncwarp();
  for (int lane = thread; lane < every_lane; lane += 32) {
    const int t15 = lane;
    const int t16 = t15 >> t2;
    const long long t17 = widen(p1[(i64)t6 * ((i64)W.w[14]) + bounded(t16, ((i64)W.w[13])) * ((i64)W.w[15])]);
    const long long t18 = maximum(t17, t5);
    const long long t19 = minimum(t18, t13);
    const int t20 = (int)t19;
    const int t21 = (int)((unsigned)t15 & (unsigned)t2);
    const bool t22 = t21 != t1;
    const int t23 = t22 ? t20 : t14;
    const int t24 = (int)0xffffffffu;
    const int t25 = (int)((unsigned)t16 + (unsigned)t24);
    const long long t26 = widen(p1[(i64)t6 * ((i64)W.w[19]) + bounded(t25, ((i64)W.w[18])) * ((i64)W.w[20])]);
    const long long t27 = maximum(t26, t5);
    const long long t28 = minimum(t27, t13);
    const int t29 = (int)t28;
    const bool t30 = t20 != t29;
    const bool t31 = (bool)(t22 & t30);
    p2[(i64)b * ((i64)W.w[16]) + (i64)lane * ((i64)W.w[17])] = Narrow<int, int>::to(t23);
    p3[(i64)b * ((i64)W.w[21]) + (i64)lane * ((i64)W.w[22])] = Narrow<Bool, bool>::to(t31);
  }
}
