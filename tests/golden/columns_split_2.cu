typedef unsigned long long u64;
typedef long long i64;
struct F16 { unsigned short bits; };
struct BF16 { unsigned short bits; };
struct Bool { unsigned char byte; };
template <class T, int N> struct alignas(sizeof(T) * N) Vec { T v[N]; };

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
struct Words { u64 w[27]; };

extern "C" __global__ void __launch_bounds__(512, 2) kernel(const __grid_constant__ Words W) {
  extern __shared__ __align__(128) unsigned char dynamic[];
  const float* const p0 = (const float*)(W.w[0]);
  float* const p1 = (float*)(W.w[1]);
  const int x = threadIdx.x % 4, y = threadIdx.x / 4;
  const i64 mine = (i64)(blockIdx.x) * 16 + x * 4;
  const bool live = mine < ((i64)W.w[15]);
  const i64 row = live ? mine : ((i64)W.w[15]) - 4;
  const unsigned r0 = (unsigned)row;
  const i64 o0 = (i64)r0 * ((i64)W.w[18]);
  const i64 o1 = (i64)r0 * ((i64)W.w[19]);
  const int chunk = 0;
  float* const tree0_0 = (float*)((char*)dynamic + 0);
  float red0_0[4];
  {
  const i64 it = mine - x * 4 + threadIdx.x % 16;
  const int part = threadIdx.x / 16;
  tree0_0[threadIdx.x] = it < ((i64)W.w[21]) ? column_tree<Sum, float>(((float*)((W.w[2] + ((i64)W.w[26])) + 8 * 0 * ((i64)W.w[24])) + it), ((i64)W.w[21]), part * ((i64)W.w[25]), ((i64)W.w[25]), ((int)W.w[22]), __uint_as_float(0x80000000u)) : __uint_as_float(0x80000000u);
  }
  __syncthreads();
  side_tree<Sum, 16, 512>(tree0_0, 32, __uint_as_float(0x80000000u), x * 4, red0_0);
  if (live && y == 0 && chunk == 0) {
  Vec<float, 4> out1;
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
  out1.v[v] = Narrow<float, float>::to(red0_0[v]);
  }
  store<4>(p1 + o1, out1);
  }
}
