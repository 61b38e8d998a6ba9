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
struct Words { u64 w[15]; };

extern "C" __global__ void __launch_bounds__(512, 2) kernel(const __grid_constant__ Words W) {
  extern __shared__ __align__(128) unsigned char dynamic[];
  const float* const p0 = (const float*)(W.w[0]);
  float* const p1 = (float*)(W.w[1]);
  const int x = threadIdx.x % 4, y = threadIdx.x / 4;
  const i64 mine = (i64)(blockIdx.x / ((int)W.w[10])) * 16 + x * 4;
  const bool live = mine < ((i64)W.w[3]);
  const i64 row = live ? mine : ((i64)W.w[3]) - 4;
  const unsigned r0 = (unsigned)row;
  const i64 o0 = (i64)r0 * ((i64)W.w[6]);
  const i64 o1 = (i64)r0 * ((i64)W.w[7]);
  const int chunk = blockIdx.x % ((int)W.w[10]);
  const int begin = chunk * ((int)W.w[11]);
  const int end = ((int)W.w[5]) - begin < ((int)W.w[11]) ? ((int)W.w[5]) : begin + ((int)W.w[11]);
  float* const tree0_0 = (float*)((char*)dynamic + 0);
  float red0_0[4];
  for (int first = begin; first < end; first += 8) {
  const int left = end - first, batch = left < 8 ? left : 8;
  for (int s = 0; s < batch; ++s) {
  const int segment = first + s;
  float total0[4];
  Vec<float, 4> in0[8];
  #pragma unroll
  for (int l = 0; l < 1; ++l) {
  const int lane = y * 1 + l;
  {
  const float* const b0 = p0 + o0 + ((i64)segment * 1024 + lane) * ((i64)W.w[8]);
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  const int e = (int)segment * 1024 + k * 128 + lane;
  if (true) {
  load<4>(in0[l * 8 + k], b0 + k * (((i64)W.w[8]) * 128));
  }
  }
  }
  }
  #pragma unroll
  for (int l = 0; l < 1; ++l) {
  const int lane = y * 1 + l;
  float acc0[4];
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
  acc0[v] = __uint_as_float(0x80000000u);
  }
  {
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  const int e = (int)segment * 1024 + k * 128 + lane;
  if (true) {
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
  const float t1 = widen(in0[l * 8 + k].v[v]);
  acc0[v] = Sum::of(acc0[v], t1);
  }
  }
  }
  }
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
  total0[v] = acc0[v];
  }
  }
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
  total0[v] = across<Sum, 32, 4>(total0[v]);
  }
  if (threadIdx.x % 32 < 4) {
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
  tree0_0[(s * 16 + threadIdx.x / 32) * 16 + x * 4 + v] = total0[v];
  }
  }
  }
  __syncthreads();
  side_tree<Sum, 16, 512>(tree0_0, batch * 16, __uint_as_float(0x80000000u), x * 4, red0_0);
  }
  if (live && y == 0) {
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
  ((float*)((W.w[2] + ((i64)W.w[14])) + 8 * 0 * ((i64)W.w[12])) + row)[chunk * ((i64)W.w[9]) + v] = red0_0[v];
  }
  }
}
