"""The C++ that generated kernels start with, as far as they use it: storage types, conversions, vectors and the pieces of the
canonical reduction. No toolkit header is included, so that a kernel compiles wherever NVRTC is."""

from __future__ import annotations

from baracuda.codegen.cuda.library import Library
from baracuda.core.elements import ElementKind

#: How a value of a compute kind is written in C++.
COMPUTE_TYPE = {
    ElementKind.F32: "float",
    ElementKind.F64: "double",
    ElementKind.S32: "int",
    ElementKind.U32: "unsigned",
    ElementKind.S64: "long long",
    ElementKind.U64: "unsigned long long",
    ElementKind.BOOL: "bool",
}

#: How an element of a storage kind is written in C++.
STORAGE_TYPE = COMPUTE_TYPE | {
    ElementKind.BOOL: "Bool",
    ElementKind.F16: "F16",
    ElementKind.BF16: "BF16",
    ElementKind.S8: "signed char",
    ElementKind.U8: "unsigned char",
    ElementKind.S16: "short",
    ElementKind.U16: "unsigned short",
}

PRELUDE = Library(r"""
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

// The codes of 8-bit floats, to nearest even and limited to the largest value.
__device__ __forceinline__ int code_f8e4m3(float x) {
  unsigned short h; asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(h) : "f"(0.f), "f"(x)); return h & 0xff;
}
__device__ __forceinline__ int code_f8e5m2(float x) {
  unsigned short h; asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(h) : "f"(0.f), "f"(x)); return h & 0xff;
}

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

// Division towards zero, and its remainder. By zero both are 0; the one quotient that overflows wraps.
__device__ __forceinline__ unsigned idiv(unsigned a, unsigned b) { return b ? a / b : 0; }
__device__ __forceinline__ u64 idiv(u64 a, u64 b) { return b ? a / b : 0; }
__device__ __forceinline__ int idiv(int a, int b) { return b == -1 ? (int)(0u - a) : b ? a / b : 0; }
__device__ __forceinline__ i64 idiv(i64 a, i64 b) { return b == -1 ? (i64)(0ull - a) : b ? a / b : 0; }
__device__ __forceinline__ unsigned irem(unsigned a, unsigned b) { return b ? a % b : 0; }
__device__ __forceinline__ u64 irem(u64 a, u64 b) { return b ? a % b : 0; }
__device__ __forceinline__ int irem(int a, int b) { return b == -1 || b == 0 ? 0 : a % b; }
__device__ __forceinline__ i64 irem(i64 a, i64 b) { return b == -1 || b == 0 ? 0 : a % b; }
__device__ __forceinline__ unsigned mulhi(unsigned a, unsigned b) { return __umulhi(a, b); }
__device__ __forceinline__ u64 mulhi(u64 a, u64 b) { return __umul64hi(a, b); }
__device__ __forceinline__ int mulhi(int a, int b) { return __mulhi(a, b); }
__device__ __forceinline__ i64 mulhi(i64 a, i64 b) { return __mul64hi(a, b); }
// What compilers make of a correctly rounded square root, without their branch for numbers that are not ordinary. The seed is an
// approximation, the result is exact, as tests/lowering/test_square_root.py tries for every significand.
__device__ __forceinline__ float sqrt_of_ordinary(float x) {
  const float seed = __nvvm_rsqrt_approx_ftz_f(x);
  const float root = __fmul_rn(x, seed), half = __fmul_rn(seed, 0.5f);
  return x == 0 ? x : __fmaf_rn(__fmaf_rn(-root, root, x), half, root);
}

// Compilers make two instructions of the two halves, whose upper one takes as long as both together.
__device__ __forceinline__ u64 whole_product(unsigned a, unsigned b) {
  u64 product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
}
__device__ __forceinline__ int popcount(unsigned a) { return __popc(a); }
__device__ __forceinline__ int popcount(u64 a) { return __popcll(a); }
__device__ __forceinline__ int popcount(int a) { return __popc(a); }
__device__ __forceinline__ int popcount(i64 a) { return __popcll(a); }
__device__ __forceinline__ int clz(unsigned a) { return __clz(a); }
__device__ __forceinline__ int clz(u64 a) { return __clzll(a); }
__device__ __forceinline__ int clz(int a) { return __clz(a); }
__device__ __forceinline__ int clz(i64 a) { return __clzll(a); }
// The greatest common divisor of the absolute values.
template <class T> __device__ __forceinline__ T euclid(T a, T b) {
  while (b) { T rest = a % b; a = b; b = rest; }
  return a;
}
__device__ __forceinline__ unsigned gcd(unsigned a, unsigned b) { return euclid(a, b); }
__device__ __forceinline__ u64 gcd(u64 a, u64 b) { return euclid(a, b); }
__device__ __forceinline__ int gcd(int a, int b) { return (int)euclid(a < 0 ? 0u - a : a, b < 0 ? 0u - b : b); }
__device__ __forceinline__ i64 gcd(i64 a, i64 b) { return (i64)euclid(a < 0 ? 0ull - a : a, b < 0 ? 0ull - b : b); }

// What two values of a reduction are combined by. Signed integers wrap, which C++ defines only for unsigned ones.
struct Sum {
  template <class T> static __device__ __forceinline__ T of(T a, T b) { return a + b; }
  static __device__ __forceinline__ int of(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
  static __device__ __forceinline__ i64 of(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
};
struct Prod {
  template <class T> static __device__ __forceinline__ T of(T a, T b) { return a * b; }
  static __device__ __forceinline__ int of(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
  static __device__ __forceinline__ i64 of(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
};
struct Max { template <class T> static __device__ __forceinline__ T of(T a, T b) { return maximum(a, b); } };
struct Min { template <class T> static __device__ __forceinline__ T of(T a, T b) { return minimum(a, b); } };
struct And { template <class T> static __device__ __forceinline__ T of(T a, T b) { return a & b; } };
struct Or { template <class T> static __device__ __forceinline__ T of(T a, T b) { return a | b; } };
struct Xor { template <class T> static __device__ __forceinline__ T of(T a, T b) { return a ^ b; } };

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
// Adjacent pairs, over m values in shared memory, which are overwritten when there are more than 32. All threads of the
// block call it and each gets the result; the values must have been written before a barrier.
template <class Op, class T> __device__ __forceinline__ T tree(T* p, int m, T identity, int thread, int threads) {
  while (m > 32) {
    int half = (m + 1) / 2;
    for (int base = 0; base < half; base += threads) {
      int i = base + thread;
      T a = identity, b = identity;
      if (i < half) { a = p[2 * i]; if (2 * i + 1 < m) b = p[2 * i + 1]; }
      __syncthreads();
      if (i < half) p[i] = Op::of(a, b);
      __syncthreads();
    }
    m = half;
  }
  int lane = thread & 31;
  return across<Op, 32>(lane < m ? p[lane] : identity);
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

// n / d for 0 <= n < 2^31, with the multiplier and shift that the host prepared.
__device__ __forceinline__ unsigned divide(unsigned n, u64 magic) {
  return (__umulhi(n, (unsigned)magic) + n) >> (unsigned)(magic >> 32);
}
""")


def magic(divisor: int) -> int:
    """The word with which `divide` divides by `divisor` (1 to 2**31): multiplier low, shift high (Granlund & Montgomery,
    Division by Invariant Integers using Multiplication, 1994)."""
    shift = max(divisor - 1, 0).bit_length()
    return ((1 << 32) * ((1 << shift) - divisor) // divisor + 1) | shift << 32
