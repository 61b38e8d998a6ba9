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
struct Words { u64 w[10]; };
__device__ __noinline__ double rarely0(long long a0, double a1, double a2) {
  const long long t1 = (long long)0x3ff0000000000000ull;
  const long long t2 = (long long)0x34ull;
  const long long t3 = (long long)0x1ull;
  const double t4 = __longlong_as_double(0x4338000000000000ll);
  const long long t5 = __double_as_longlong(t4);
  const long long t6 = (long long)((u64)a0 - (u64)t5);
  const long long t7 = t6 >> t3;
  const long long t8 = (long long)((u64)t6 - (u64)t7);
  const long long t9 = (long long)((u64)t8 << t2);
  const long long t10 = (long long)((u64)t9 + (u64)t1);
  const double t11 = __longlong_as_double(t10);
  const long long t12 = (long long)((u64)t7 << t2);
  const long long t13 = (long long)((u64)t12 + (u64)t1);
  const double t14 = __longlong_as_double(t13);
  const double t15 = a1 * t14;
  const double t16 = t15 * t11;
  const double t17 = __longlong_as_double(0x7ff0000000000000ll);
  const double t18 = __longlong_as_double(0x40862e5131109faell);
  const bool t19 = a2 > t18;
  const double t20 = t19 ? t17 : t16;
  const double t21 = __longlong_as_double(0x0ll);
  const double t22 = __longlong_as_double(0xc0875427f6acad6fll);
  const bool t23 = a2 < t22;
  const double t24 = t23 ? t21 : t20;
  return t24;
}

extern "C" __global__ void __launch_bounds__(128) kernel(const __grid_constant__ Words W) {
  const double* const p0 = (const double*)(W.w[0]);
  double* const p1 = (double*)(W.w[1]);
  const unsigned block = blockIdx.x;
  const unsigned first = (unsigned)block * 384 + threadIdx.x;
  if ((unsigned)(block + 1) * 384 <= ((unsigned)W.w[5])) {
  Vec<double, 2> in0_[3];
  #pragma unroll
  for (int u = 0; u < 3; ++u) { const unsigned i = first + u * 128;
  const unsigned c0 = i;
  const i64 at = (i64)c0 * 2;
  const i64 o0 = (i64)0 + at * ((i64)W.w[6]);
  auto& in0 = in0_[u];
  load<2>(in0, (p0 + o0));
  }
  #pragma unroll
  for (int u = 0; u < 3; ++u) { const unsigned i = first + u * 128;
  const unsigned c0 = i;
  const i64 at = (i64)c0 * 2;
  auto& in0 = in0_[u];
  const i64 o1 = (i64)0 + at * ((i64)W.w[7]);
  Vec<double, 2> out1;
  double rare0[2]; bool any0 = false;
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  const double t1 = __longlong_as_double(0x4086232bdd7abcd2ll);
  const double t2 = widen(in0.v[v]);
  const double t3 = fabs(t2);
  const bool t4 = t3 < t1;
  const bool t5 = !t4;
  const long long t6 = (long long)0x34ull;
  const double t7 = __longlong_as_double(0x4338000000000000ll);
  const double t8 = __longlong_as_double(0x3ff71547652b82fell);
  const double t9 = __fma_rn(t2, t8, t7);
  const long long t10 = __double_as_longlong(t9);
  const long long t11 = (long long)((u64)t10 << t6);
  const double t12 = __longlong_as_double(0x3ff0000000000000ll);
  const double t13 = __longlong_as_double(0xbfe62e42fefa39efll);
  const double t14 = t9 - t7;
  const double t15 = __fma_rn(t14, t13, t2);
  const double t16 = __longlong_as_double(0xbc7abc9e3b39803fll);
  const double t17 = __fma_rn(t14, t16, t15);
  const double t18 = __longlong_as_double(0x3fe000000000000all);
  const double t19 = __longlong_as_double(0x3fc5555555555506ll);
  const double t20 = __longlong_as_double(0x3fa55555555506a8ll);
  const double t21 = __longlong_as_double(0x3f811111111250f3ll);
  const double t22 = __longlong_as_double(0x3f56c16c1847f74ell);
  const double t23 = __longlong_as_double(0x3f2a01a0137835b2ll);
  const double t24 = __longlong_as_double(0x3efa019993e9310all);
  const double t25 = __longlong_as_double(0x3ec71df0a12c19c8ll);
  const double t26 = __longlong_as_double(0x3e928ae226b13c16ll);
  const double t27 = __longlong_as_double(0x3e5ada802d826d3fll);
  const double t28 = __fma_rn(t27, t17, t26);
  const double t29 = __fma_rn(t28, t17, t25);
  const double t30 = __fma_rn(t29, t17, t24);
  const double t31 = __fma_rn(t30, t17, t23);
  const double t32 = __fma_rn(t31, t17, t22);
  const double t33 = __fma_rn(t32, t17, t21);
  const double t34 = __fma_rn(t33, t17, t20);
  const double t35 = __fma_rn(t34, t17, t19);
  const double t36 = __fma_rn(t35, t17, t18);
  const double t37 = __fma_rn(t36, t17, t12);
  const double t38 = __fma_rn(t37, t17, t12);
  const long long t39 = __double_as_longlong(t38);
  const long long t40 = (long long)((u64)t39 + (u64)t11);
  const double t41 = __longlong_as_double(t40);
  rare0[v] = t41; any0 |= t5;
  }
  if (any0) {
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  const double t1 = __longlong_as_double(0x4086232bdd7abcd2ll);
  const double t2 = widen(in0.v[v]);
  const double t3 = fabs(t2);
  const bool t4 = t3 < t1;
  const bool t5 = !t4;
  const double t6 = __longlong_as_double(0x4338000000000000ll);
  const double t7 = __longlong_as_double(0x3ff71547652b82fell);
  const double t8 = __fma_rn(t2, t7, t6);
  const long long t9 = __double_as_longlong(t8);
  const double t10 = __longlong_as_double(0x3ff0000000000000ll);
  const double t11 = __longlong_as_double(0xbfe62e42fefa39efll);
  const double t12 = t8 - t6;
  const double t13 = __fma_rn(t12, t11, t2);
  const double t14 = __longlong_as_double(0xbc7abc9e3b39803fll);
  const double t15 = __fma_rn(t12, t14, t13);
  const double t16 = __longlong_as_double(0x3fe000000000000all);
  const double t17 = __longlong_as_double(0x3fc5555555555506ll);
  const double t18 = __longlong_as_double(0x3fa55555555506a8ll);
  const double t19 = __longlong_as_double(0x3f811111111250f3ll);
  const double t20 = __longlong_as_double(0x3f56c16c1847f74ell);
  const double t21 = __longlong_as_double(0x3f2a01a0137835b2ll);
  const double t22 = __longlong_as_double(0x3efa019993e9310all);
  const double t23 = __longlong_as_double(0x3ec71df0a12c19c8ll);
  const double t24 = __longlong_as_double(0x3e928ae226b13c16ll);
  const double t25 = __longlong_as_double(0x3e5ada802d826d3fll);
  const double t26 = __fma_rn(t25, t15, t24);
  const double t27 = __fma_rn(t26, t15, t23);
  const double t28 = __fma_rn(t27, t15, t22);
  const double t29 = __fma_rn(t28, t15, t21);
  const double t30 = __fma_rn(t29, t15, t20);
  const double t31 = __fma_rn(t30, t15, t19);
  const double t32 = __fma_rn(t31, t15, t18);
  const double t33 = __fma_rn(t32, t15, t17);
  const double t34 = __fma_rn(t33, t15, t16);
  const double t35 = __fma_rn(t34, t15, t10);
  const double t36 = __fma_rn(t35, t15, t10);
  if (t5) rare0[v] = rarely0(t9, t36, t2);
  }
  }
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  const double t1 = rare0[v];
  out1.v[v] = Narrow<double, double>::to(t1);
  }
  store<2>((p1 + o1), out1);
  }}
  else {
  #pragma unroll 1
  for (int u = 0; u < 3; ++u) { const unsigned i = first + u * 128;
  if (i < ((unsigned)W.w[3])) {
  const unsigned c0 = i;
  const i64 at = (i64)c0 * 2;
  const i64 left = ((i64)W.w[4]) - at;
  const i64 o0 = (i64)0 + at * ((i64)W.w[8]);
  Vec<double, 2> in0 = {};
  if (left >= 2) load<2>(in0, (p0 + o0));
  else {
  #pragma unroll
  for (int v = 0; v < 2; ++v) if (v < left) in0.v[v] = (p0 + o0)[v];
  }
  const i64 o1 = (i64)0 + at * ((i64)W.w[9]);
  Vec<double, 2> out1 = {};
  double rare0[2]; bool any0 = false;
  #pragma unroll
  for (int v = 0; v < 2; ++v) if (v < left) {
  const double t1 = __longlong_as_double(0x4086232bdd7abcd2ll);
  const double t2 = widen(in0.v[v]);
  const double t3 = fabs(t2);
  const bool t4 = t3 < t1;
  const bool t5 = !t4;
  const long long t6 = (long long)0x34ull;
  const double t7 = __longlong_as_double(0x4338000000000000ll);
  const double t8 = __longlong_as_double(0x3ff71547652b82fell);
  const double t9 = __fma_rn(t2, t8, t7);
  const long long t10 = __double_as_longlong(t9);
  const long long t11 = (long long)((u64)t10 << t6);
  const double t12 = __longlong_as_double(0x3ff0000000000000ll);
  const double t13 = __longlong_as_double(0xbfe62e42fefa39efll);
  const double t14 = t9 - t7;
  const double t15 = __fma_rn(t14, t13, t2);
  const double t16 = __longlong_as_double(0xbc7abc9e3b39803fll);
  const double t17 = __fma_rn(t14, t16, t15);
  const double t18 = __longlong_as_double(0x3fe000000000000all);
  const double t19 = __longlong_as_double(0x3fc5555555555506ll);
  const double t20 = __longlong_as_double(0x3fa55555555506a8ll);
  const double t21 = __longlong_as_double(0x3f811111111250f3ll);
  const double t22 = __longlong_as_double(0x3f56c16c1847f74ell);
  const double t23 = __longlong_as_double(0x3f2a01a0137835b2ll);
  const double t24 = __longlong_as_double(0x3efa019993e9310all);
  const double t25 = __longlong_as_double(0x3ec71df0a12c19c8ll);
  const double t26 = __longlong_as_double(0x3e928ae226b13c16ll);
  const double t27 = __longlong_as_double(0x3e5ada802d826d3fll);
  const double t28 = __fma_rn(t27, t17, t26);
  const double t29 = __fma_rn(t28, t17, t25);
  const double t30 = __fma_rn(t29, t17, t24);
  const double t31 = __fma_rn(t30, t17, t23);
  const double t32 = __fma_rn(t31, t17, t22);
  const double t33 = __fma_rn(t32, t17, t21);
  const double t34 = __fma_rn(t33, t17, t20);
  const double t35 = __fma_rn(t34, t17, t19);
  const double t36 = __fma_rn(t35, t17, t18);
  const double t37 = __fma_rn(t36, t17, t12);
  const double t38 = __fma_rn(t37, t17, t12);
  const long long t39 = __double_as_longlong(t38);
  const long long t40 = (long long)((u64)t39 + (u64)t11);
  const double t41 = __longlong_as_double(t40);
  rare0[v] = t41; any0 |= t5;
  }
  if (any0) {
  #pragma unroll
  for (int v = 0; v < 2; ++v) if (v < left) {
  const double t1 = __longlong_as_double(0x4086232bdd7abcd2ll);
  const double t2 = widen(in0.v[v]);
  const double t3 = fabs(t2);
  const bool t4 = t3 < t1;
  const bool t5 = !t4;
  const double t6 = __longlong_as_double(0x4338000000000000ll);
  const double t7 = __longlong_as_double(0x3ff71547652b82fell);
  const double t8 = __fma_rn(t2, t7, t6);
  const long long t9 = __double_as_longlong(t8);
  const double t10 = __longlong_as_double(0x3ff0000000000000ll);
  const double t11 = __longlong_as_double(0xbfe62e42fefa39efll);
  const double t12 = t8 - t6;
  const double t13 = __fma_rn(t12, t11, t2);
  const double t14 = __longlong_as_double(0xbc7abc9e3b39803fll);
  const double t15 = __fma_rn(t12, t14, t13);
  const double t16 = __longlong_as_double(0x3fe000000000000all);
  const double t17 = __longlong_as_double(0x3fc5555555555506ll);
  const double t18 = __longlong_as_double(0x3fa55555555506a8ll);
  const double t19 = __longlong_as_double(0x3f811111111250f3ll);
  const double t20 = __longlong_as_double(0x3f56c16c1847f74ell);
  const double t21 = __longlong_as_double(0x3f2a01a0137835b2ll);
  const double t22 = __longlong_as_double(0x3efa019993e9310all);
  const double t23 = __longlong_as_double(0x3ec71df0a12c19c8ll);
  const double t24 = __longlong_as_double(0x3e928ae226b13c16ll);
  const double t25 = __longlong_as_double(0x3e5ada802d826d3fll);
  const double t26 = __fma_rn(t25, t15, t24);
  const double t27 = __fma_rn(t26, t15, t23);
  const double t28 = __fma_rn(t27, t15, t22);
  const double t29 = __fma_rn(t28, t15, t21);
  const double t30 = __fma_rn(t29, t15, t20);
  const double t31 = __fma_rn(t30, t15, t19);
  const double t32 = __fma_rn(t31, t15, t18);
  const double t33 = __fma_rn(t32, t15, t17);
  const double t34 = __fma_rn(t33, t15, t16);
  const double t35 = __fma_rn(t34, t15, t10);
  const double t36 = __fma_rn(t35, t15, t10);
  if (t5) rare0[v] = rarely0(t9, t36, t2);
  }
  }
  #pragma unroll
  for (int v = 0; v < 2; ++v) if (v < left) {
  const double t1 = rare0[v];
  out1.v[v] = Narrow<double, double>::to(t1);
  }
  if (left >= 2) store<2>((p1 + o1), out1);
  else {
  #pragma unroll
  for (int v = 0; v < 2; ++v) if (v < left) (p1 + o1)[v] = out1.v[v];
  }
  }}
  }
}
