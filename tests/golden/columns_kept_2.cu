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

// IEEE 754-2019 maximum and minimum.
__device__ __forceinline__ float maximum(float a, float b) {
  float r; asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r;
}
__device__ __forceinline__ double maximum(double a, double b) {
  if (a == b) return __longlong_as_double(__double_as_longlong(a) & __double_as_longlong(b));
  return (a > b || a != a) ? a : b;
}
template <class T> __device__ __forceinline__ T maximum(T a, T b) { return a > b ? a : b; }

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

// Adjacent pairs, over G neighbouring threads of a warp, or every S-th of them; each of them gets the result.
template <class Op, int G, int S = 1, class T> __device__ __forceinline__ T across(T x) {
#pragma unroll
  for (int w = S; w < G; w *= 2) x = Op::of(x, __shfl_xor_sync(0xffffffffu, x, w));
  return x;
}
struct Words { u64 w[12]; };
__device__ __noinline__ double p1rarely0(long long a0, long long a1, double a2, double a3) {
  const long long t1 = (long long)0x3ff0000000000000ull;
  const long long t2 = (long long)0x34ull;
  const long long t3 = (long long)0x1ull;
  const long long t4 = (long long)((u64)a1 - (u64)a0);
  const long long t5 = t4 >> t3;
  const long long t6 = (long long)((u64)t4 - (u64)t5);
  const long long t7 = (long long)((u64)t6 << t2);
  const long long t8 = (long long)((u64)t7 + (u64)t1);
  const double t9 = __longlong_as_double(t8);
  const long long t10 = (long long)((u64)t5 << t2);
  const long long t11 = (long long)((u64)t10 + (u64)t1);
  const double t12 = __longlong_as_double(t11);
  const double t13 = a2 * t12;
  const double t14 = t13 * t9;
  const double t15 = __longlong_as_double(0x7ff0000000000000ll);
  const double t16 = __longlong_as_double(0x40862e5131109faell);
  const bool t17 = a3 > t16;
  const double t18 = t17 ? t15 : t14;
  const double t19 = __longlong_as_double(0x0ll);
  const double t20 = __longlong_as_double(0xc0875427f6acad6fll);
  const bool t21 = a3 < t20;
  const double t22 = t21 ? t19 : t18;
  return t22;
}

extern "C" __global__ void __launch_bounds__(256) kernel(const __grid_constant__ Words W) {
  const double* const p0 = (const double*)(W.w[0]);
  const double* const p1 = (const double*)(W.w[1]);
  double* const p2 = (double*)(W.w[2]);
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32 % 1;
  const int slot = threadIdx.x / 32;
  const i64 row = (i64)blockIdx.x * 8 + slot;
  const bool live = row < ((i64)W.w[4]);
  const int parity = 0;
  const unsigned r0 = (unsigned)row;
  const i64 o0 = (i64)r0 * ((i64)W.w[7]);
  const i64 o1 = (i64)r0 * ((i64)W.w[8]);
  const i64 o2 = (i64)r0 * ((i64)W.w[9]);
  Vec<double, 4> in0[3];
  Vec<double, 4> in1[3];
  {
  const double* const b0 = p0 + o0 + ((i64)group * 1024 + lane * 4);
  const double* const b1 = p1 + o1 + ((i64)group * 1024 + lane * 4);
  #pragma unroll
  for (int k = 0; k < 3; ++k) {
  const int e = (int)group * 1024 + k * 128 + lane * 4;
  if (live && e < ((int)W.w[5])) {
  load<2>(in0[k], b0 + k * 128);
  }
  if (live && e < ((int)W.w[5])) {
  load<2>(in1[k], b1 + k * 128);
  }
  }
  }
  double red0_0;
  {
  double acc0[4];
  #pragma unroll
  for (int v = 0; v < 4; ++v) acc0[v] = __longlong_as_double(0xfff0000000000000ll);
  {
  #pragma unroll
  for (int k = 0; k < 3; ++k) {
  const int e = (int)group * 1024 + k * 128 + lane * 4;
  if (live && e < ((int)W.w[5])) {
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
    const double t1 = widen(in0[k].v[v]);
    acc0[v] = Max::of(acc0[v], t1);
  }
  }
  }
  }
  double leaf0 = across<Max, 32>(pairs<Max, 4>(acc0));
  red0_0 = leaf0;
  }
  const double t2 = __longlong_as_double(0x0ll);
  const double t3 = __longlong_as_double(0x7ff0000000000000ll);
  const double t4 = fabs(red0_0);
  const bool t5 = t4 < t3;
  const double t6 = t5 ? red0_0 : t2;
  const double t7 = __longlong_as_double(0x4338000000000000ll);
  const long long t8 = __double_as_longlong(t7);
  double red1_0;
  {
  double acc0[4];
  #pragma unroll
  for (int v = 0; v < 4; ++v) acc0[v] = __longlong_as_double(0x8000000000000000ll);
  {
  #pragma unroll
  for (int k = 0; k < 3; ++k) {
  const int e = (int)group * 1024 + k * 128 + lane * 4;
  if (live && e < ((int)W.w[5])) {
  double rare0[4]; bool any0 = false;
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
  const double t9 = __longlong_as_double(0x4086232bdd7abcd2ll);
  const double t10 = widen(in0[k].v[v]);
  const double t11 = t10 - t6;
  const double t12 = fabs(t11);
  const bool t13 = t12 < t9;
  const bool t14 = !t13;
  const long long t15 = (long long)0x34ull;
  const double t16 = __longlong_as_double(0x3ff71547652b82fell);
  const double t17 = __fma_rn(t11, t16, t7);
  const long long t18 = __double_as_longlong(t17);
  const long long t19 = (long long)((u64)t18 << t15);
  const double t20 = __longlong_as_double(0x3ff0000000000000ll);
  const double t21 = __longlong_as_double(0xbfe62e42fefa39efll);
  const double t22 = t17 - t7;
  const double t23 = __fma_rn(t22, t21, t11);
  const double t24 = __longlong_as_double(0xbc7abc9e3b39803fll);
  const double t25 = __fma_rn(t22, t24, t23);
  const double t26 = __longlong_as_double(0x3fe000000000000all);
  const double t27 = __longlong_as_double(0x3fc5555555555506ll);
  const double t28 = __longlong_as_double(0x3fa55555555506a8ll);
  const double t29 = __longlong_as_double(0x3f811111111250f3ll);
  const double t30 = __longlong_as_double(0x3f56c16c1847f74ell);
  const double t31 = __longlong_as_double(0x3f2a01a0137835b2ll);
  const double t32 = __longlong_as_double(0x3efa019993e9310all);
  const double t33 = __longlong_as_double(0x3ec71df0a12c19c8ll);
  const double t34 = __longlong_as_double(0x3e928ae226b13c16ll);
  const double t35 = __longlong_as_double(0x3e5ada802d826d3fll);
  const double t36 = __fma_rn(t35, t25, t34);
  const double t37 = __fma_rn(t36, t25, t33);
  const double t38 = __fma_rn(t37, t25, t32);
  const double t39 = __fma_rn(t38, t25, t31);
  const double t40 = __fma_rn(t39, t25, t30);
  const double t41 = __fma_rn(t40, t25, t29);
  const double t42 = __fma_rn(t41, t25, t28);
  const double t43 = __fma_rn(t42, t25, t27);
  const double t44 = __fma_rn(t43, t25, t26);
  const double t45 = __fma_rn(t44, t25, t20);
  const double t46 = __fma_rn(t45, t25, t20);
  const long long t47 = __double_as_longlong(t46);
  const long long t48 = (long long)((u64)t47 + (u64)t19);
  const double t49 = __longlong_as_double(t48);
  rare0[v] = t49; any0 |= t14;
  }
  if (any0) {
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
  const double t50 = __longlong_as_double(0x4086232bdd7abcd2ll);
  const double t51 = widen(in0[k].v[v]);
  const double t52 = t51 - t6;
  const double t53 = fabs(t52);
  const bool t54 = t53 < t50;
  const bool t55 = !t54;
  const double t56 = __longlong_as_double(0x3ff71547652b82fell);
  const double t57 = __fma_rn(t52, t56, t7);
  const long long t58 = __double_as_longlong(t57);
  const double t59 = __longlong_as_double(0x3ff0000000000000ll);
  const double t60 = __longlong_as_double(0xbfe62e42fefa39efll);
  const double t61 = t57 - t7;
  const double t62 = __fma_rn(t61, t60, t52);
  const double t63 = __longlong_as_double(0xbc7abc9e3b39803fll);
  const double t64 = __fma_rn(t61, t63, t62);
  const double t65 = __longlong_as_double(0x3fe000000000000all);
  const double t66 = __longlong_as_double(0x3fc5555555555506ll);
  const double t67 = __longlong_as_double(0x3fa55555555506a8ll);
  const double t68 = __longlong_as_double(0x3f811111111250f3ll);
  const double t69 = __longlong_as_double(0x3f56c16c1847f74ell);
  const double t70 = __longlong_as_double(0x3f2a01a0137835b2ll);
  const double t71 = __longlong_as_double(0x3efa019993e9310all);
  const double t72 = __longlong_as_double(0x3ec71df0a12c19c8ll);
  const double t73 = __longlong_as_double(0x3e928ae226b13c16ll);
  const double t74 = __longlong_as_double(0x3e5ada802d826d3fll);
  const double t75 = __fma_rn(t74, t64, t73);
  const double t76 = __fma_rn(t75, t64, t72);
  const double t77 = __fma_rn(t76, t64, t71);
  const double t78 = __fma_rn(t77, t64, t70);
  const double t79 = __fma_rn(t78, t64, t69);
  const double t80 = __fma_rn(t79, t64, t68);
  const double t81 = __fma_rn(t80, t64, t67);
  const double t82 = __fma_rn(t81, t64, t66);
  const double t83 = __fma_rn(t82, t64, t65);
  const double t84 = __fma_rn(t83, t64, t59);
  const double t85 = __fma_rn(t84, t64, t59);
  if (t55) rare0[v] = p1rarely0(t8, t58, t85, t52);
  }
  }
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
    const double t86 = rare0[v];
    const double t87 = widen(in1[k].v[v]);
    const double t88 = t87 * t86;
    acc0[v] = Sum::of(acc0[v], t88);
  }
  }
  }
  }
  double leaf0 = across<Sum, 32>(pairs<Sum, 4>(acc0));
  red1_0 = leaf0;
  }
  const double t89 = __longlong_as_double(0x3ff0000000000000ll);
  const long long t90 = (long long)0x34ull;
  const long long t91 = (long long)0x3fe6a09e667f3bcdull;
  const long long t92 = __double_as_longlong(red1_0);
  const long long t93 = (long long)((u64)t92 - (u64)t91);
  const long long t94 = t93 >> t90;
  const long long t95 = (long long)((u64)t94 << t90);
  const long long t96 = (long long)((u64)t92 - (u64)t95);
  const double t97 = __longlong_as_double(t96);
  const double t98 = t97 - t89;
  const double t99 = __longlong_as_double(0x3fe62e42fefa39efll);
  const double t100 = __ll2double_rn(t94);
  const double t101 = __fma_rn(t100, t99, t98);
  const double t102 = -t101;
  const double t103 = __fma_rn(t100, t99, t102);
  const double t104 = t103 + t98;
  const double t105 = __longlong_as_double(0x3c7abc9e3b39803fll);
  const double t106 = __fma_rn(t100, t105, t104);
  const double t107 = __longlong_as_double(0xbfe0000000000000ll);
  const double t108 = __longlong_as_double(0x3fd555555555556bll);
  const double t109 = __longlong_as_double(0xbfcffffffffffe41ll);
  const double t110 = __longlong_as_double(0x3fc9999999994c9ell);
  const double t111 = __longlong_as_double(0xbfc555555556ec1dll);
  const double t112 = __longlong_as_double(0x3fc2492492766861ll);
  const double t113 = __longlong_as_double(0xbfbfffffff0f0f5bll);
  const double t114 = __longlong_as_double(0x3fbc71c702910a79ll);
  const double t115 = __longlong_as_double(0xbfb99999b244650ell);
  const double t116 = __longlong_as_double(0x3fb745d59c051792ll);
  const double t117 = __longlong_as_double(0xbfb5555686d44146ll);
  const double t118 = __longlong_as_double(0x3fb3b0d5b906cbb8ll);
  const double t119 = __longlong_as_double(0xbfb248a36bfea222ll);
  const double t120 = __longlong_as_double(0x3fb116c3bdb03200ll);
  const double t121 = __longlong_as_double(0xbfb00c71c2494cb3ll);
  const double t122 = __longlong_as_double(0x3fadc63d92726eacll);
  const double t123 = __longlong_as_double(0xbfab4a8acab51bf2ll);
  const double t124 = __longlong_as_double(0x3fabcf33177ff7e5ll);
  const double t125 = __longlong_as_double(0xbfb01035d3ca6b80ll);
  const double t126 = __longlong_as_double(0x3facf5adbcc66885ll);
  const double t127 = __longlong_as_double(0xbf9880fe33b571f0ll);
  const double t128 = __fma_rn(t127, t98, t126);
  const double t129 = __fma_rn(t128, t98, t125);
  const double t130 = __fma_rn(t129, t98, t124);
  const double t131 = __fma_rn(t130, t98, t123);
  const double t132 = __fma_rn(t131, t98, t122);
  const double t133 = __fma_rn(t132, t98, t121);
  const double t134 = __fma_rn(t133, t98, t120);
  const double t135 = __fma_rn(t134, t98, t119);
  const double t136 = __fma_rn(t135, t98, t118);
  const double t137 = __fma_rn(t136, t98, t117);
  const double t138 = __fma_rn(t137, t98, t116);
  const double t139 = __fma_rn(t138, t98, t115);
  const double t140 = __fma_rn(t139, t98, t114);
  const double t141 = __fma_rn(t140, t98, t113);
  const double t142 = __fma_rn(t141, t98, t112);
  const double t143 = __fma_rn(t142, t98, t111);
  const double t144 = __fma_rn(t143, t98, t110);
  const double t145 = __fma_rn(t144, t98, t109);
  const double t146 = __fma_rn(t145, t98, t108);
  const double t147 = __fma_rn(t146, t98, t107);
  const double t148 = t98 * t98;
  const double t149 = __fma_rn(t148, t147, t106);
  const double t150 = t101 + t149;
  const unsigned long long t151 = (unsigned long long)0x7fe0000000000000ull;
  const unsigned long long t152 = (unsigned long long)0x10000000000000ull;
  const unsigned long long t153 = (u64)__double_as_longlong(red1_0);
  const unsigned long long t154 = t153 - t152;
  const bool t155 = t154 < t151;
  const bool t156 = !t155;
  double t157 = t150;
  if (t156) {
    const double t158 = __longlong_as_double(0x4340000000000000ll);
    const double t159 = red1_0 * t158;
    const long long t160 = __double_as_longlong(t159);
    const long long t161 = (long long)((u64)t160 - (u64)t91);
    const long long t162 = t161 >> t90;
    const long long t163 = (long long)((u64)t162 << t90);
    const long long t164 = (long long)((u64)t160 - (u64)t163);
    const double t165 = __longlong_as_double(t164);
    const double t166 = t165 - t89;
    const double t167 = __longlong_as_double(0x404a800000000000ll);
    const double t168 = __ll2double_rn(t162);
    const double t169 = t168 - t167;
    const double t170 = __fma_rn(t169, t99, t166);
    const double t171 = -t170;
    const double t172 = __fma_rn(t169, t99, t171);
    const double t173 = t172 + t166;
    const double t174 = __fma_rn(t169, t105, t173);
    const double t175 = __fma_rn(t127, t166, t126);
    const double t176 = __fma_rn(t175, t166, t125);
    const double t177 = __fma_rn(t176, t166, t124);
    const double t178 = __fma_rn(t177, t166, t123);
    const double t179 = __fma_rn(t178, t166, t122);
    const double t180 = __fma_rn(t179, t166, t121);
    const double t181 = __fma_rn(t180, t166, t120);
    const double t182 = __fma_rn(t181, t166, t119);
    const double t183 = __fma_rn(t182, t166, t118);
    const double t184 = __fma_rn(t183, t166, t117);
    const double t185 = __fma_rn(t184, t166, t116);
    const double t186 = __fma_rn(t185, t166, t115);
    const double t187 = __fma_rn(t186, t166, t114);
    const double t188 = __fma_rn(t187, t166, t113);
    const double t189 = __fma_rn(t188, t166, t112);
    const double t190 = __fma_rn(t189, t166, t111);
    const double t191 = __fma_rn(t190, t166, t110);
    const double t192 = __fma_rn(t191, t166, t109);
    const double t193 = __fma_rn(t192, t166, t108);
    const double t194 = __fma_rn(t193, t166, t107);
    const double t195 = t166 * t166;
    const double t196 = __fma_rn(t195, t194, t174);
    const double t197 = t170 + t196;
    const double t198 = __longlong_as_double(0x7ff8000000000000ll);
    const bool t199 = red1_0 < t2;
    const double t200 = t199 ? t198 : t197;
    const double t201 = __longlong_as_double(0xfff0000000000000ll);
    const bool t202 = red1_0 == t2;
    const double t203 = t202 ? t201 : t200;
    const bool t204 = red1_0 < t3;
    const double t205 = t204 ? t203 : red1_0;
    t157 = t205;
  }
  const double t206 = t157 + t6;
  if (live && lane == 0 && group == 0) p2[o2] = Narrow<double, double>::to(t206);
}
