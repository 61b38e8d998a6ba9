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
struct Words { u64 w[19]; };

// A state, or none yet.
template <class J> struct Some { typename J::State s; bool is; };
template <class J> __device__ __forceinline__ Some<J> some(typename J::State s) { return Some<J>{s, true}; }
template <class J> __device__ __forceinline__ Some<J> none() { Some<J> r = {}; return r; }
template <class J> __device__ __forceinline__ Some<J> then(Some<J> a, Some<J> b) {
  if (!a.is) return b;
  if (!b.is) return a;
  return some<J>(J::join(a.s, b.s));
}
// Kogge and Stone's steps over the totals of a block's chunks, one to a thread.
template <class J, int W> __device__ __forceinline__ typename J::State steps(typename J::State s, int lane) {
#pragma unroll
  for (int d = 1; d < W; d *= 2) {
    typename J::State earlier = J::up(s, d, W);
    if (lane >= d) s = J::join(earlier, s);
  }
  return s;
}
// What is carried from tile to tile of a row.
template <class J> struct Carry {
  Some<J> spans, tiles, before;
  __device__ __forceinline__ void start() { spans = tiles = before = none<J>(); }
  __device__ __forceinline__ void add(Some<J> total, i64 tile) {
    tiles = then<J>(tiles, total);
    if ((tile + 1) % 64 == 0) {
      spans = then<J>(spans, tiles);
      tiles = none<J>();
    }
    before = then<J>(spans, tiles);
  }
};
// A chunk on its way from memory, as words: elements of 16 bits would each get a register, and have to be there for that.
template <class T> struct Chunk {
  static constexpr int words = sizeof(Vec<T, 8>) / 4;
  unsigned w[words];
  __device__ __forceinline__ void hold() {
#pragma unroll
    for (int i = 0; i < words; ++i) asm volatile("" : "+r"(w[i]));
  }
  __device__ __forceinline__ void set(const Vec<T, 8>& x) { memcpy(w, &x, sizeof(x)); hold(); }
  __device__ __forceinline__ Vec<T, 8> get() { Vec<T, 8> x; hold(); memcpy(&x, w, sizeof(x)); return x; }
  // In pieces of P elements.
  template <int P> __device__ __forceinline__ void load(const T* from) {
    constexpr int N = P * sizeof(T) / 4;
    if constexpr (N == 0) {
      Vec<T, 8> x;
      ::load<P>(x, from);
      set(x);
    } else {
#pragma unroll
      for (int i = 0; i < words / N; ++i) {
        const Vec<unsigned, N> piece = reinterpret_cast<const Vec<unsigned, N>*>(from)[i];
#pragma unroll
        for (int j = 0; j < N; ++j) w[i * N + j] = piece.v[j];
      }
    }
  }
};
// Where pieces lie so that neither those of one thread nor those of neighbours share a bank; of numbers without a bit in common
// it is the exclusive or.
__device__ __forceinline__ constexpr int swizzle(int piece) { return piece ^ (piece >> 3 & 7); }
// Stores the chunks of G neighbouring threads of a warp, which lie one behind the other from `to` on, so that the threads write
// neighbouring pieces of P elements at a time. `place` is this thread's place among them; `staging` has room for the chunks of
// the warp, all of whose threads call it.
template <int P, int G, class T>
__device__ __forceinline__ void store_together(T* to, const Vec<T, 8>& from, int place, unsigned char* staging) {
  constexpr int N = 8 / P;
  typedef Vec<T, P> Piece;
  Piece* const pieces = (Piece*)staging;
  const int first = threadIdx.x % 32 / G * G * N, own = swizzle(first + place * N), stored = swizzle(first + place);
#pragma unroll
  for (int i = 0; i < N; ++i) {
    Piece piece;
#pragma unroll
    for (int j = 0; j < P; ++j) piece.v[j] = from.v[i * P + j];
    pieces[own ^ i] = piece;
  }
  __syncwarp();
#pragma unroll
  for (int i = 0; i < N; ++i) reinterpret_cast<Piece*>(to)[i * G + place] = pieces[stored ^ swizzle(i * G)];
  __syncwarp();
}
struct Scan0 {
  struct State { float c0; int c1; };
  static __device__ __forceinline__ State join(State l, State r) {
    const bool t1 = r.c0 != r.c0;
    const bool t2 = r.c0 >= l.c0;
    const bool t3 = (bool)(t2 | t1);
    const float t4 = t3 ? r.c0 : l.c0;
    const int t5 = t3 ? r.c1 : l.c1;
    return State{t4, t5};
  }
  static __device__ __forceinline__ State up(State x, int d, int width) { return State{__shfl_up_sync(0xffffffffu, x.c0, d, width), __shfl_up_sync(0xffffffffu, x.c1, d, width)}; }
};

extern "C" __global__ void __launch_bounds__(512) kernel(const __grid_constant__ Words W) {
  const float* const p0 = (const float*)(W.w[0]);
  float* const p1 = (float*)(W.w[1]);
  long long* const p2 = (long long*)(W.w[2]);
  const i64 tile = blockIdx.x % ((i64)W.w[13]);
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const i64 first = (i64)(blockIdx.x / ((i64)W.w[13])) * 16, row = first + x;
  const bool live = row < ((i64)W.w[14]);
  const unsigned r0 = (unsigned)row;
  const i64 o0 = (i64)r0 * ((i64)W.w[7]);
  const i64 o1 = (i64)r0 * ((i64)W.w[8]);
  const i64 o2 = (i64)r0 * ((i64)W.w[9]);
  Scan0::State* const tiles0 = (Scan0::State*)((W.w[3] + ((i64)W.w[17]))) + row * ((i64)W.w[15]);
  Scan0::State* const spans0 = (Scan0::State*)((W.w[3] + ((i64)W.w[18]))) + row * ((i64)W.w[16]);
  __shared__ Scan0::State totals0[2][32][17];
  Some<Scan0> i0 = none<Scan0>();
  for (i64 block = tile * 16; block * 256 < ((int)W.w[5]) && block < (tile + 1) * 16; ++block) {
  const int parity = block & 1;
  const int p = (int)(block) * 256 + y * 8, e = p;
  const bool here = live && p < ((int)W.w[5]), full = live && p + 8 <= ((int)W.w[5]);
  Vec<float, 8> raw0;
  {
  Vec<float, 8> apart = {};
  if (full) {
  auto at = p0 + o0 + (i64)e * ((i64)W.w[10]);
  #pragma unroll
  for (int v = 0; v < 8; ++v, at += ((i64)W.w[10])) {
  apart.v[v] = *at;
  }
  } else if (here) {
  auto at = p0 + o0 + (i64)e * ((i64)W.w[10]);
  #pragma unroll
  for (int v = 0; v < 8; ++v, at += ((i64)W.w[10])) if (e + v >= 0 && e + v < ((int)W.w[5])) {
  apart.v[v] = *at;
  }
  }
  raw0 = apart;
  }
  const Vec<float, 8> in0 = raw0;
  Scan0::State x0[8];
  {
  #pragma unroll
  for (int v = 0; v < 8; ++v) {
  const float t1 = widen(in0.v[v]);
  const int t2 = (int)(e + v);
  x0[v] = Scan0::State{t1, t2};
  }
  }
  #pragma unroll
  for (int k = 1; k < 8; ++k)
  x0[k] = Scan0::join(x0[k - 1], x0[k]);
  Scan0::State s0 = x0[7];
  totals0[parity][y][x] = s0;
  __syncthreads();
  totals0[parity][threadIdx.x % 32][threadIdx.x / 32] = steps<Scan0, 32>(totals0[parity][threadIdx.x % 32][threadIdx.x / 32], threadIdx.x % 32);
  __syncthreads();
  if (y == 0) {
  i0 = then<Scan0>(i0, some<Scan0>(totals0[parity][31][x]));
  }
  }
  const bool leaves = live && y == 0;
  const Some<Scan0> m0 = i0;
  if (leaves) tiles0[tile] = m0.s;
}
