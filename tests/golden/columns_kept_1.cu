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

// Makes the compiler forget what it has computed of x, so that it computes it again instead of holding it in registers.
template <class T, int N> __device__ __forceinline__ void forget(Vec<T, N>& x) {
  constexpr int words = sizeof(x) / 4;
  unsigned w[words];
  memcpy(w, &x, sizeof(x));
#pragma unroll
  for (int i = 0; i < words; ++i) asm volatile("" : "+r"(w[i]));
  memcpy(&x, w, sizeof(x));
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

// n / d for 0 <= n < 2^31, with the multiplier and shift that the host prepared.
__device__ __forceinline__ unsigned divide(unsigned n, u64 magic) {
  return (__umulhi(n, (unsigned)magic) + n) >> (unsigned)(magic >> 32);
}
struct Words { u64 w[21]; };

// Streams: N bytes from global to shared memory without passing registers.
template <int N> __device__ __forceinline__ void copy_async(void* to, const void* from) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  if constexpr (N >= 16) {
#pragma unroll
    for (int i = 0; i < N; i += 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at + i), "l"((const char*)from + i) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(N) : "memory");
  }
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most N of this thread's groups of copies are under way.
template <int N> __device__ __forceinline__ void wait_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// End of streams.
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

extern "C" __global__ void __launch_bounds__(512, 1) kernel(const __grid_constant__ Words W) {
  extern __shared__ __align__(128) unsigned char dynamic[];
  const double* const p0 = (const double*)(W.w[0]);
  double* const p1 = (double*)(W.w[1]);
  double* const p2 = (double*)(W.w[2]);
  const int x = threadIdx.x % 8, y = threadIdx.x / 8;
  i64 group = blockIdx.x, next = group + gridDim.x;
  {
  const i64 mine = (i64)(group) * 16 + x * 2;
  const bool live = mine < ((i64)W.w[4]);
  const i64 row = live ? mine : ((i64)W.w[4]) - 2;
  const unsigned rq1 = divide((unsigned)row, W.w[16]), r1 = (unsigned)row - rq1 * ((unsigned)W.w[15]);
  const unsigned r0 = rq1;
  const i64 o0 = (i64)r0 * ((i64)W.w[7]) + (i64)r1 * ((i64)W.w[8]);
  auto* const ahead0 = ((Vec<double, 2>*)(dynamic + 4096) + threadIdx.x);
  #pragma unroll
  for (int l = 0; l < 2; ++l) {
  const int lane = y * 2 + l;
  {
  const double* const b0 = p0 + o0 + ((i64)0 * 1024 + lane) * ((i64)W.w[13]);
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  const int e = (int)0 * 1024 + k * 128 + lane;
  if (e < ((int)W.w[5])) {
  copy_async<16>(ahead0 + (l * 8 + k) * 512, b0 + k * (((i64)W.w[13]) * 128));
  }
  }
  }
  }
  }
  commit_copies();
  for (; group < ((i64)W.w[14]); group = next, next += gridDim.x) {
  extern __shared__ __align__(128) unsigned char dynamic[];
  const double* const p0 = (const double*)(W.w[0]);
  double* const p1 = (double*)(W.w[1]);
  double* const p2 = (double*)(W.w[2]);
  const int x = threadIdx.x % 8, y = threadIdx.x / 8;
  const i64 mine = (i64)(group) * 16 + x * 2;
  const bool live = mine < ((i64)W.w[4]);
  const i64 row = live ? mine : ((i64)W.w[4]) - 2;
  const unsigned rq1 = divide((unsigned)row, W.w[18]), r1 = (unsigned)row - rq1 * ((unsigned)W.w[17]);
  const unsigned r0 = rq1;
  const i64 o0 = (i64)r0 * ((i64)W.w[7]) + (i64)r1 * ((i64)W.w[8]);
  const i64 o1 = (i64)r0 * ((i64)W.w[9]) + (i64)r1 * ((i64)W.w[10]);
  const i64 o2 = (i64)r0 * ((i64)W.w[11]) + (i64)r1 * ((i64)W.w[12]);
  Vec<double, 2> in0[16];
  wait_copies<0>();
  #pragma unroll
  for (int j = 0; j < 16; ++j) {
  in0[j] = ((Vec<double, 2>*)(dynamic + 4096) + threadIdx.x)[j * 512];
  }
  if (next < ((i64)W.w[14])) {
  {
  const i64 mine = (i64)(next) * 16 + x * 2;
  const bool live = mine < ((i64)W.w[4]);
  const i64 row = live ? mine : ((i64)W.w[4]) - 2;
  const unsigned rq1 = divide((unsigned)row, W.w[20]), r1 = (unsigned)row - rq1 * ((unsigned)W.w[19]);
  const unsigned r0 = rq1;
  const i64 o0 = (i64)r0 * ((i64)W.w[7]) + (i64)r1 * ((i64)W.w[8]);
  auto* const ahead0 = ((Vec<double, 2>*)(dynamic + 4096) + threadIdx.x);
  #pragma unroll
  for (int l = 0; l < 2; ++l) {
  const int lane = y * 2 + l;
  {
  const double* const b0 = p0 + o0 + ((i64)0 * 1024 + lane) * ((i64)W.w[13]);
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  const int e = (int)0 * 1024 + k * 128 + lane;
  if (e < ((int)W.w[5])) {
  copy_async<16>(ahead0 + (l * 8 + k) * 512, b0 + k * (((i64)W.w[13]) * 128));
  }
  }
  }
  }
  }
  commit_copies();
  }
  double* const tree0_0 = (double*)((char*)dynamic + 0);
  double red0_0[2];
  {
  const int segment = 0, s = 0, batch = 1;
  double total0[2];
  double hold0[1][2];
  #pragma unroll
  for (int l = 0; l < 2; ++l) {
  const int lane = y * 2 + l;
  double acc0[2];
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  acc0[v] = __longlong_as_double(0xfff0000000000000ll);
  }
  {
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  const int e = (int)segment * 1024 + k * 128 + lane;
  if (e < ((int)W.w[5])) {
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  const double t1 = widen(in0[l * 8 + k].v[v]);
  acc0[v] = Max::of(acc0[v], t1);
  }
  }
  }
  }
  if (l & 1) {
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  acc0[v] = Max::of(hold0[0][v], acc0[v]);
  }
  } else {
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  hold0[0][v] = acc0[v];
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
  total0[v] = across<Max, 32, 8>(total0[v]);
  }
  if (threadIdx.x % 32 < 8) {
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  tree0_0[(s * 16 + threadIdx.x / 32) * 16 + x * 2 + v] = total0[v];
  }
  }
  __syncthreads();
  side_tree<Max, 16, 512>(tree0_0, batch * 16, __longlong_as_double(0xfff0000000000000ll), x * 2, red0_0);
  }
  double row1_0[2];
  long long row1_1[2];
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  const double t2 = __longlong_as_double(0x0ll);
  const double t3 = __longlong_as_double(0x7ff0000000000000ll);
  const double t4 = fabs(red0_0[v]);
  const bool t5 = t4 < t3;
  const double t6 = t5 ? red0_0[v] : t2;
  const double t7 = __longlong_as_double(0x4338000000000000ll);
  const long long t8 = __double_as_longlong(t7);
  row1_0[v] = t6;
  row1_1[v] = t8;
  }
  double* const tree1_0 = (double*)((char*)dynamic + 0);
  double red1_0[2];
  #pragma unroll
  for (int j = 0; j < 16; ++j) {
  forget(in0[j]);
  }
  {
  const int segment = 0, s = 0, batch = 1;
  double total0[2];
  double hold0[1][2];
  #pragma unroll
  for (int l = 0; l < 2; ++l) {
  const int lane = y * 2 + l;
  double acc0[2];
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  acc0[v] = __longlong_as_double(0x8000000000000000ll);
  }
  {
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  const int e = (int)segment * 1024 + k * 128 + lane;
  if (e < ((int)W.w[5])) {
  double rare0[2]; bool any0 = false;
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  const double t9 = __longlong_as_double(0x4086232bdd7abcd2ll);
  const double t10 = widen(in0[l * 8 + k].v[v]);
  const double t11 = t10 - row1_0[v];
  const double t12 = fabs(t11);
  const bool t13 = t12 < t9;
  const bool t14 = !t13;
  const long long t15 = (long long)0x34ull;
  const double t16 = __longlong_as_double(0x4338000000000000ll);
  const double t17 = __longlong_as_double(0x3ff71547652b82fell);
  const double t18 = __fma_rn(t11, t17, t16);
  const long long t19 = __double_as_longlong(t18);
  const long long t20 = (long long)((u64)t19 << t15);
  const double t21 = __longlong_as_double(0x3ff0000000000000ll);
  const double t22 = __longlong_as_double(0xbfe62e42fefa39efll);
  const double t23 = t18 - t16;
  const double t24 = __fma_rn(t23, t22, t11);
  const double t25 = __longlong_as_double(0xbc7abc9e3b39803fll);
  const double t26 = __fma_rn(t23, t25, t24);
  const double t27 = __longlong_as_double(0x3fe000000000000all);
  const double t28 = __longlong_as_double(0x3fc5555555555506ll);
  const double t29 = __longlong_as_double(0x3fa55555555506a8ll);
  const double t30 = __longlong_as_double(0x3f811111111250f3ll);
  const double t31 = __longlong_as_double(0x3f56c16c1847f74ell);
  const double t32 = __longlong_as_double(0x3f2a01a0137835b2ll);
  const double t33 = __longlong_as_double(0x3efa019993e9310all);
  const double t34 = __longlong_as_double(0x3ec71df0a12c19c8ll);
  const double t35 = __longlong_as_double(0x3e928ae226b13c16ll);
  const double t36 = __longlong_as_double(0x3e5ada802d826d3fll);
  const double t37 = __fma_rn(t36, t26, t35);
  const double t38 = __fma_rn(t37, t26, t34);
  const double t39 = __fma_rn(t38, t26, t33);
  const double t40 = __fma_rn(t39, t26, t32);
  const double t41 = __fma_rn(t40, t26, t31);
  const double t42 = __fma_rn(t41, t26, t30);
  const double t43 = __fma_rn(t42, t26, t29);
  const double t44 = __fma_rn(t43, t26, t28);
  const double t45 = __fma_rn(t44, t26, t27);
  const double t46 = __fma_rn(t45, t26, t21);
  const double t47 = __fma_rn(t46, t26, t21);
  const long long t48 = __double_as_longlong(t47);
  const long long t49 = (long long)((u64)t48 + (u64)t20);
  const double t50 = __longlong_as_double(t49);
  rare0[v] = t50; any0 |= t14;
  }
  if (any0) {
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  const double t51 = __longlong_as_double(0x4086232bdd7abcd2ll);
  const double t52 = widen(in0[l * 8 + k].v[v]);
  const double t53 = t52 - row1_0[v];
  const double t54 = fabs(t53);
  const bool t55 = t54 < t51;
  const bool t56 = !t55;
  const double t57 = __longlong_as_double(0x4338000000000000ll);
  const double t58 = __longlong_as_double(0x3ff71547652b82fell);
  const double t59 = __fma_rn(t53, t58, t57);
  const long long t60 = __double_as_longlong(t59);
  const double t61 = __longlong_as_double(0x3ff0000000000000ll);
  const double t62 = __longlong_as_double(0xbfe62e42fefa39efll);
  const double t63 = t59 - t57;
  const double t64 = __fma_rn(t63, t62, t53);
  const double t65 = __longlong_as_double(0xbc7abc9e3b39803fll);
  const double t66 = __fma_rn(t63, t65, t64);
  const double t67 = __longlong_as_double(0x3fe000000000000all);
  const double t68 = __longlong_as_double(0x3fc5555555555506ll);
  const double t69 = __longlong_as_double(0x3fa55555555506a8ll);
  const double t70 = __longlong_as_double(0x3f811111111250f3ll);
  const double t71 = __longlong_as_double(0x3f56c16c1847f74ell);
  const double t72 = __longlong_as_double(0x3f2a01a0137835b2ll);
  const double t73 = __longlong_as_double(0x3efa019993e9310all);
  const double t74 = __longlong_as_double(0x3ec71df0a12c19c8ll);
  const double t75 = __longlong_as_double(0x3e928ae226b13c16ll);
  const double t76 = __longlong_as_double(0x3e5ada802d826d3fll);
  const double t77 = __fma_rn(t76, t66, t75);
  const double t78 = __fma_rn(t77, t66, t74);
  const double t79 = __fma_rn(t78, t66, t73);
  const double t80 = __fma_rn(t79, t66, t72);
  const double t81 = __fma_rn(t80, t66, t71);
  const double t82 = __fma_rn(t81, t66, t70);
  const double t83 = __fma_rn(t82, t66, t69);
  const double t84 = __fma_rn(t83, t66, t68);
  const double t85 = __fma_rn(t84, t66, t67);
  const double t86 = __fma_rn(t85, t66, t61);
  const double t87 = __fma_rn(t86, t66, t61);
  if (t56) rare0[v] = p1rarely0(row1_1[v], t60, t87, t53);
  }
  }
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  const double t88 = rare0[v];
  acc0[v] = Sum::of(acc0[v], t88);
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
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  total0[v] = acc0[v];
  }
  }
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  total0[v] = across<Sum, 32, 8>(total0[v]);
  }
  if (threadIdx.x % 32 < 8) {
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  tree1_0[(s * 16 + threadIdx.x / 32) * 16 + x * 2 + v] = total0[v];
  }
  }
  __syncthreads();
  side_tree<Sum, 16, 512>(tree1_0, batch * 16, __longlong_as_double(0x8000000000000000ll), x * 2, red1_0);
  }
  if (live && y == 0) {
  Vec<double, 2> out1;
  Vec<double, 2> out2;
  #pragma unroll
  for (int v = 0; v < 2; ++v) {
  out1.v[v] = Narrow<double, double>::to(red0_0[v]);
  out2.v[v] = Narrow<double, double>::to(red1_0[v]);
  }
  #pragma unroll
  for (int v = 0; v < 2; ++v) (p1 + o1)[v * ((i64)W.w[10])] = out1.v[v];
  #pragma unroll
  for (int v = 0; v < 2; ++v) (p2 + o2)[v * ((i64)W.w[12])] = out2.v[v];
  }
  }
}
