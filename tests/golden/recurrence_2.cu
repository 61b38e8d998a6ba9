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
struct Words { u64 w[31]; };

// An index brought into range.
__device__ __forceinline__ i64 bounded(i64 i, i64 n) { return i < 0 ? 0 : i < n ? i : n - 1; }
__device__ __forceinline__ i64 bounded(int i, i64 n) { const int m = (int)n - 1; return max(min(i, m), 0); }
extern __shared__ __align__(16) unsigned char shared_state[];

extern "C" __global__ void __launch_bounds__(32) kernel(const __grid_constant__ Words W) {
  const long long* const __restrict__ p0 = (const long long*)W.w[0];
  const long long* const __restrict__ p1 = (const long long*)W.w[1];
  const Bool* const __restrict__ p2 = (const Bool*)W.w[2];
  const int* const __restrict__ p3 = (const int*)W.w[3];
  const float* const __restrict__ p4 = (const float*)W.w[4];
  float* const __restrict__ p5 = (float*)W.w[5];
  const int thread = threadIdx.x, b = blockIdx.x;
  const long long t1 = (long long)W.w[7];
  const long long t2 = (long long)0x0ull;
  const int t3 = b;
  const long long t4 = widen(p0[(i64)t3 * ((i64)W.w[9])]);
  const long long t5 = maximum(t4, t2);
  const long long t6 = minimum(t5, t1);
  const int t7 = (int)t6;
  const int t8 = (int)0x1u;
  const int t9 = (int)0x2u;
  const long long t10 = (long long)W.w[8];
  const long long t11 = widen(p1[(i64)t3 * ((i64)W.w[11])]);
  const long long t12 = maximum(t11, t2);
  const long long t13 = minimum(t12, t10);
  const int t14 = (int)t13;
  const int t15 = (int)((unsigned)t14 * (unsigned)t9);
  const int t16 = (int)((unsigned)t15 + (unsigned)t8);
  const int t17 = (int)((unsigned)t15 - (unsigned)t8);
  const int t18 = (int)0x0u;
  const bool t19 = t14 > t18;
  const int steps = (int)max(min((i64)t7, ((i64)W.w[10])), 0ll), lanes = (int)max(min((i64)t16, ((i64)W.w[12])), 0ll), every_lane = ((i64)W.w[13]);
  int now = 2, then = now + ((i64)W.w[14]);
  float* const s0 = (float*)(shared_state + ((i64)W.w[15]));
  for (int lane = thread; lane < every_lane; lane += 32) {
    const float t20 = __uint_as_float(0xff800000u);
    const float t21 = __uint_as_float(0x0u);
    const int t22 = lane;
    const bool t23 = t22 == t18;
    const float t24 = t23 ? t21 : t20;
    s0[now + lane] = s0[then + lane] = t24;
  }
  if (thread < 2) {
    const int i = -1 - thread;
    s0[now + i] = s0[then + i] = __uint_as_float(0xff800000u);
  }
  bool h0[1];
  int h1[1];
  #pragma unroll
  for (int k = 0; k < 1; ++k) {
    const int lane = min(thread + k * 32, every_lane - 1);
    const int t25 = lane;
    const bool t26 = widen(p2[(i64)t3 * ((i64)W.w[16]) + (i64)t25 * ((i64)W.w[17])]);
    const int t27 = widen(p3[(i64)t3 * ((i64)W.w[18]) + (i64)t25 * ((i64)W.w[19])]);
    h0[k] = t26;
    h1[k] = t27;
  }
  __syncwarp();
  float f0[4][1];
  #pragma unroll
  for (int p = 0; p < 4; ++p) {
    const int at = p;
    if (at < steps) {
      #pragma unroll
      for (int k = 0; k < 1; ++k) {
        const int lane = min(thread + k * 32, every_lane - 1);
        const int t188 = at;
        const int t189 = h1[k];
        f0[p][k] = p4[(i64)t188 * ((i64)W.w[25]) + (i64)t3 * ((i64)W.w[26]) + bounded(t189, ((i64)W.w[24])) * ((i64)W.w[27])];
      }
    }
  }
  for (int base = 0; base < steps; base += 4) {
    #pragma unroll
    for (int p = 0; p < 4; ++p) {
      const int step = base + p;
      if (step < steps) {
        #pragma unroll
        for (int k = 0; k < 1; ++k) {
          const int lane = thread + k * 32;
          if (lane < lanes) {
            const float t28 = widen(f0[p][k]);
            const unsigned t29 = (unsigned)0x80000000u;
            const float t30 = __uint_as_float(0xd800000u);
            const int t31 = (int)0x71800000u;
            const int t32 = (int)0x17u;
            const float t33 = __uint_as_float(0x4b400000u);
            const float t34 = __uint_as_float(0x3fb8aa3bu);
            const float t35 = __uint_as_float(0xc2d15498u);
            const float t36 = __uint_as_float(0xff800000u);
            const float t37 = s0[now + lane + (-2)];
            const bool t38 = h0[k];
            const float t39 = t38 ? t37 : t36;
            const float t40 = s0[now + lane + (-1)];
            const float t41 = s0[now + lane + (0)];
            const float t42 = maximum(t41, t40);
            const float t43 = maximum(t42, t39);
            const float t44 = __uint_as_float(0x0u);
            const bool t45 = t43 == t36;
            const float t46 = t45 ? t44 : t43;
            const float t47 = minimum(t42, t39);
            const float t48 = t47 - t46;
            const float t49 = fabsf(t48);
            const float t50 = -t49;
            const float t51 = maximum(t50, t35);
            const float t52 = __fmaf_rn(t51, t34, t33);
            const int t53 = __float_as_int(t52);
            const int t54 = (int)((unsigned)t53 << t32);
            const int t55 = (int)((unsigned)t54 + (unsigned)t31);
            const float t56 = __int_as_float(t55);
            const float t57 = __uint_as_float(0x3f800000u);
            const float t58 = __uint_as_float(0xbf317218u);
            const float t59 = t52 - t33;
            const float t60 = __fmaf_rn(t59, t58, t51);
            const float t61 = __uint_as_float(0x3102e308u);
            const float t62 = __fmaf_rn(t59, t61, t60);
            const float t63 = __uint_as_float(0x3efffffeu);
            const float t64 = __uint_as_float(0x3e2aaa47u);
            const float t65 = __uint_as_float(0x3d2aac58u);
            const float t66 = __uint_as_float(0x3c091df4u);
            const float t67 = __uint_as_float(0x3ab52627u);
            const float t68 = __fmaf_rn(t67, t62, t66);
            const float t69 = __fmaf_rn(t68, t62, t65);
            const float t70 = __fmaf_rn(t69, t62, t64);
            const float t71 = __fmaf_rn(t70, t62, t63);
            const float t72 = __fmaf_rn(t71, t62, t57);
            const float t73 = __fmaf_rn(t72, t62, t57);
            const float t74 = t73 * t56;
            const float t75 = t74 * t30;
            const float t76 = minimum(t41, t40);
            const float t77 = t76 - t46;
            const float t78 = fabsf(t77);
            const float t79 = -t78;
            const float t80 = maximum(t79, t35);
            const float t81 = __fmaf_rn(t80, t34, t33);
            const int t82 = __float_as_int(t81);
            const int t83 = (int)((unsigned)t82 << t32);
            const int t84 = (int)((unsigned)t83 + (unsigned)t31);
            const float t85 = __int_as_float(t84);
            const float t86 = t81 - t33;
            const float t87 = __fmaf_rn(t86, t58, t80);
            const float t88 = __fmaf_rn(t86, t61, t87);
            const float t89 = __fmaf_rn(t67, t88, t66);
            const float t90 = __fmaf_rn(t89, t88, t65);
            const float t91 = __fmaf_rn(t90, t88, t64);
            const float t92 = __fmaf_rn(t91, t88, t63);
            const float t93 = __fmaf_rn(t92, t88, t57);
            const float t94 = __fmaf_rn(t93, t88, t57);
            const float t95 = t94 * t85;
            const float t96 = t95 * t30;
            const float t97 = t96 + t75;
            const unsigned t98 = __float_as_uint(t97);
            const unsigned t99 = t98 & t29;
            const int t100 = (int)0x3f800000u;
            const int t101 = (int)0x3f3504f3u;
            const float t102 = t57 + t97;
            const int t103 = __float_as_int(t102);
            const int t104 = (int)((unsigned)t103 - (unsigned)t101);
            const int t105 = t104 >> t32;
            const int t106 = (int)(0 - (unsigned)t105);
            const int t107 = (int)((unsigned)t106 << t32);
            const int t108 = (int)((unsigned)t107 + (unsigned)t100);
            const float t109 = __int_as_float(t108);
            const float t110 = t109 - t57;
            const float t111 = __fmaf_rn(t97, t109, t110);
            const float t112 = t110 - t111;
            const float t113 = __fmaf_rn(t97, t109, t112);
            const float t114 = -t111;
            const float t115 = __fmaf_rn(t114, t113, t113);
            const float t116 = __uint_as_float(0x3f317218u);
            const float t117 = __int2float_rn(t105);
            const float t118 = __fmaf_rn(t117, t116, t111);
            const float t119 = -t118;
            const float t120 = __fmaf_rn(t117, t116, t119);
            const float t121 = t120 + t111;
            const float t122 = t121 + t115;
            const float t123 = __uint_as_float(0xbefffffcu);
            const float t124 = __uint_as_float(0x3eaaaaa8u);
            const float t125 = __uint_as_float(0xbe80021cu);
            const float t126 = __uint_as_float(0x3e4cd1c8u);
            const float t127 = __uint_as_float(0xbe2a11e1u);
            const float t128 = __uint_as_float(0x3e113e59u);
            const float t129 = __uint_as_float(0xbe07b196u);
            const float t130 = __uint_as_float(0x3e03ffa3u);
            const float t131 = __uint_as_float(0xbd9b4612u);
            const float t132 = __fmaf_rn(t131, t111, t130);
            const float t133 = __fmaf_rn(t132, t111, t129);
            const float t134 = __fmaf_rn(t133, t111, t128);
            const float t135 = __fmaf_rn(t134, t111, t127);
            const float t136 = __fmaf_rn(t135, t111, t126);
            const float t137 = __fmaf_rn(t136, t111, t125);
            const float t138 = __fmaf_rn(t137, t111, t124);
            const float t139 = __fmaf_rn(t138, t111, t123);
            const float t140 = t111 * t111;
            const float t141 = __fmaf_rn(t140, t139, t122);
            const float t142 = t118 + t141;
            const unsigned t143 = __float_as_uint(t142);
            const unsigned t144 = t143 | t99;
            const float t145 = __uint_as_float(t144);
            const float t146 = __uint_as_float(0x7e000000u);
            const bool t147 = t97 < t146;
            const float t148 = __uint_as_float(0xbf800000u);
            const bool t149 = t97 > t148;
            const bool t150 = (bool)(t149 & t147);
            const bool t151 = !t150;
            float t152 = t145;
            if (t151) {
              const int t153 = __float_as_int(t97);
              const int t154 = (int)((unsigned)t153 - (unsigned)t101);
              const int t155 = t154 >> t32;
              const int t156 = (int)((unsigned)t155 << t32);
              const int t157 = (int)((unsigned)t153 - (unsigned)t156);
              const float t158 = __int_as_float(t157);
              const float t159 = t158 - t57;
              const float t160 = __int2float_rn(t155);
              const float t161 = __fmaf_rn(t160, t116, t159);
              const float t162 = -t161;
              const float t163 = __fmaf_rn(t160, t116, t162);
              const float t164 = t163 + t159;
              const float t165 = __fmaf_rn(t131, t159, t130);
              const float t166 = __fmaf_rn(t165, t159, t129);
              const float t167 = __fmaf_rn(t166, t159, t128);
              const float t168 = __fmaf_rn(t167, t159, t127);
              const float t169 = __fmaf_rn(t168, t159, t126);
              const float t170 = __fmaf_rn(t169, t159, t125);
              const float t171 = __fmaf_rn(t170, t159, t124);
              const float t172 = __fmaf_rn(t171, t159, t123);
              const float t173 = t159 * t159;
              const float t174 = __fmaf_rn(t173, t172, t164);
              const float t175 = t161 + t174;
              const float t176 = __uint_as_float(0x7fc00000u);
              const bool t177 = t97 < t44;
              const float t178 = t177 ? t176 : t175;
              const bool t179 = t97 == t148;
              const float t180 = t179 ? t36 : t178;
              const float t181 = __uint_as_float(0x7f800000u);
              const bool t182 = t97 < t181;
              const float t183 = t182 ? t180 : t97;
              t152 = t183;
            }
            const float t184 = t43 + t152;
            const float t185 = t184 + t28;
            s0[then + lane] = t185;
          }
        }
        const int at = step + 4;
        if (at < steps) {
          #pragma unroll
          for (int k = 0; k < 1; ++k) {
            const int lane = min(thread + k * 32, every_lane - 1);
            const int t186 = at;
            const int t187 = h1[k];
            f0[p][k] = p4[(i64)t186 * ((i64)W.w[21]) + (i64)t3 * ((i64)W.w[22]) + bounded(t187, ((i64)W.w[20])) * ((i64)W.w[23])];
          }
        }
        const int t = now; now = then; then = t;
        __syncwarp();
      }
    }
  }
  if (thread == 0) {
    const float t190 = __uint_as_float(0xd800000u);
    const int t191 = (int)0x71800000u;
    const int t192 = (int)0x17u;
    const float t193 = __uint_as_float(0x4b400000u);
    const float t194 = __uint_as_float(0x3fb8aa3bu);
    const float t195 = __uint_as_float(0xc2d15498u);
    const float t196 = __uint_as_float(0xff800000u);
    const float t197 = s0[now + (int)bounded(t17, ((i64)W.w[28]))];
    const float t198 = t19 ? t197 : t196;
    const float t199 = s0[now + (int)bounded(t15, ((i64)W.w[29]))];
    const float t200 = maximum(t199, t198);
    const float t201 = __uint_as_float(0x0u);
    const bool t202 = t200 == t196;
    const float t203 = t202 ? t201 : t200;
    const float t204 = minimum(t199, t198);
    const float t205 = t204 - t203;
    const float t206 = fabsf(t205);
    const float t207 = -t206;
    const float t208 = maximum(t207, t195);
    const float t209 = __fmaf_rn(t208, t194, t193);
    const int t210 = __float_as_int(t209);
    const int t211 = (int)((unsigned)t210 << t192);
    const int t212 = (int)((unsigned)t211 + (unsigned)t191);
    const float t213 = __int_as_float(t212);
    const float t214 = __uint_as_float(0x3f800000u);
    const float t215 = __uint_as_float(0xbf317218u);
    const float t216 = t209 - t193;
    const float t217 = __fmaf_rn(t216, t215, t208);
    const float t218 = __uint_as_float(0x3102e308u);
    const float t219 = __fmaf_rn(t216, t218, t217);
    const float t220 = __uint_as_float(0x3efffffeu);
    const float t221 = __uint_as_float(0x3e2aaa47u);
    const float t222 = __uint_as_float(0x3d2aac58u);
    const float t223 = __uint_as_float(0x3c091df4u);
    const float t224 = __uint_as_float(0x3ab52627u);
    const float t225 = __fmaf_rn(t224, t219, t223);
    const float t226 = __fmaf_rn(t225, t219, t222);
    const float t227 = __fmaf_rn(t226, t219, t221);
    const float t228 = __fmaf_rn(t227, t219, t220);
    const float t229 = __fmaf_rn(t228, t219, t214);
    const float t230 = __fmaf_rn(t229, t219, t214);
    const float t231 = t230 * t213;
    const float t232 = t231 * t190;
    const float t233 = __uint_as_float(0xbeffffe9u);
    const float t234 = __uint_as_float(0x3eaaa6e8u);
    const float t235 = __uint_as_float(0xbe7f91f3u);
    const float t236 = __uint_as_float(0x3e49a5aau);
    const float t237 = __uint_as_float(0xbe1d21afu);
    const float t238 = __uint_as_float(0x3dda5704u);
    const float t239 = __uint_as_float(0xbd6b5846u);
    const float t240 = __uint_as_float(0x3ca48be7u);
    const float t241 = __uint_as_float(0xbb57a4e7u);
    const float t242 = __fmaf_rn(t241, t232, t240);
    const float t243 = __fmaf_rn(t242, t232, t239);
    const float t244 = __fmaf_rn(t243, t232, t238);
    const float t245 = __fmaf_rn(t244, t232, t237);
    const float t246 = __fmaf_rn(t245, t232, t236);
    const float t247 = __fmaf_rn(t246, t232, t235);
    const float t248 = __fmaf_rn(t247, t232, t234);
    const float t249 = __fmaf_rn(t248, t232, t233);
    const float t250 = t232 * t232;
    const float t251 = __fmaf_rn(t250, t249, t232);
    const float t252 = t200 + t251;
    const float t253 = t201 - t252;
    p5[(i64)b * ((i64)W.w[30])] = Narrow<float, float>::to(t253);
  }
}
