typedef unsigned long long u64;
typedef long long i64;
struct F16 { unsigned short bits; };
struct BF16 { unsigned short bits; };
struct Bool { unsigned char byte; };

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
struct Words { u64 w[27]; };

extern "C" __global__ void __launch_bounds__(1024) kernel(const __grid_constant__ Words W) {
  const BF16* const p0 = (const BF16*)(W.w[0]);
  const BF16* const p1 = (const BF16*)(W.w[1]);
  const BF16* const p2 = (const BF16*)(W.w[2]);
  const BF16* const p3 = (const BF16*)(W.w[3]);
  BF16* const p4 = (BF16*)(W.w[4]);
  BF16* const p5 = (BF16*)(W.w[5]);
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  const i64 e = (i64)blockIdx.x * 32 + x;
  const bool live = e < ((i64)W.w[22]);
  __shared__ float team0[32][33];
  float result0 = __uint_as_float(0x80000000u);
  const float* const partial0 = (const float*)(W.w[6] + ((i64)W.w[25])) + e;
  if (live) result0 = column_tree<Sum>(partial0, ((i64)W.w[22]), y * ((i64)W.w[24]), ((i64)W.w[24]), ((i64)W.w[23]), result0);
  team0[x][y] = result0;
  __syncthreads();
  result0 = across<Sum, 32>(team0[y][x]);
  if (x == 0) team0[y][32] = result0;
  __syncthreads();
  result0 = team0[x][32];
  if (y == 0 && live) {
  p5[e * ((i64)W.w[26])] = Narrow<BF16, float>::to(result0);
  }
}
