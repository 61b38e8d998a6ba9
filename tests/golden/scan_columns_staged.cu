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
struct Words { u64 w[14]; };

// Clusters: all threads of all blocks come to one point before any passes the other. Nothing is seen for it that was not before.
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
// End of clusters.

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

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(1024, 1) kernel(const __grid_constant__ Words W) {
  const float* const p0 = (const float*)(W.w[0]);
  float* const p1 = (float*)(W.w[1]);
  long long* const p2 = (long long*)(W.w[2]);
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  const i64 first = (i64)blockIdx.x * 32, row = first + x;
  const bool live = row < ((i64)W.w[13]);
  const unsigned r0 = (unsigned)row;
  const i64 o0 = (i64)r0 * ((i64)W.w[7]);
  const i64 o1 = (i64)r0 * ((i64)W.w[8]);
  const i64 o2 = (i64)r0 * ((i64)W.w[9]);
  Carry<Scan0> carry0; carry0.start();
  __shared__ Scan0::State totals0[2][32][33], begun0[2][32];
  Some<Scan0> i0 = none<Scan0>();
  extern __shared__ __align__(128) unsigned char staged[];
  const int piece = threadIdx.x % 8 * 4, line = threadIdx.x / 8;
  const i64 beside = first + piece; const bool copies = beside < ((i64)W.w[4]);
  const unsigned c0 = (unsigned)beside;
  const float* const from0 = p0 + ((i64)c0 * ((i64)W.w[7]));
  {
  const int start = 0 + line;
  unsigned char* const to0 = staged + 0 + (0) * 32768 + (line / 8 * 256 + line % 8 * 32 + piece) * 4;
  const float* const at0 = from0 + (i64)start * ((i64)W.w[10]);
  #pragma unroll
  for (int j = 0; j < 2; ++j) if (copies && start + j * 128 >= 0 && start + j * 128 < ((int)W.w[5])) {
  copy_async<16>(to0 + j * 16384, at0 + (i64)j * 128 * ((i64)W.w[10]));
  }
  }
  commit_copies();
  {
  const int start = 256 + line;
  unsigned char* const to0 = staged + 0 + (1) * 32768 + (line / 8 * 256 + line % 8 * 32 + piece) * 4;
  const float* const at0 = from0 + (i64)start * ((i64)W.w[10]);
  #pragma unroll
  for (int j = 0; j < 2; ++j) if (copies && start + j * 128 >= 0 && start + j * 128 < ((int)W.w[5])) {
  copy_async<16>(to0 + j * 16384, at0 + (i64)j * 128 * ((i64)W.w[10]));
  }
  }
  commit_copies();
  {
  const int start = 512 + line;
  unsigned char* const to0 = staged + 0 + (2) * 32768 + (line / 8 * 256 + line % 8 * 32 + piece) * 4;
  const float* const at0 = from0 + (i64)start * ((i64)W.w[10]);
  #pragma unroll
  for (int j = 0; j < 2; ++j) if (copies && start + j * 128 >= 0 && start + j * 128 < ((int)W.w[5])) {
  copy_async<16>(to0 + j * 16384, at0 + (i64)j * 128 * ((i64)W.w[10]));
  }
  }
  commit_copies();
  {
  const int start = 768 + line;
  unsigned char* const to0 = staged + 0 + (3) * 32768 + (line / 8 * 256 + line % 8 * 32 + piece) * 4;
  const float* const at0 = from0 + (i64)start * ((i64)W.w[10]);
  #pragma unroll
  for (int j = 0; j < 2; ++j) if (copies && start + j * 128 >= 0 && start + j * 128 < ((int)W.w[5])) {
  copy_async<16>(to0 + j * 16384, at0 + (i64)j * 128 * ((i64)W.w[10]));
  }
  }
  commit_copies();
  for (i64 block = 0; block * 256 < ((int)W.w[5]); ++block) {
  const int parity = block & 1;
  const int p = (int)(block) * 256 + y * 8, e = p;
  const bool here = live && p < ((int)W.w[5]), full = live && p + 8 <= ((int)W.w[5]);
  wait_copies<3>();
  __syncthreads();
  Vec<float, 8> in0;
  {
  const float* const from = (const float*)(staged + 0 + (block % 4) * 32768) + (y) * 256 + x;
  #pragma unroll
  for (int v = 0; v < 8; ++v) in0.v[v] = from[v * 32];
  }
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
  {
  const int start = (int)(block + 4) * 256 + line;
  unsigned char* const to0 = staged + 0 + (block % 4) * 32768 + (line / 8 * 256 + line % 8 * 32 + piece) * 4;
  const float* const at0 = from0 + (i64)start * ((i64)W.w[10]);
  #pragma unroll
  for (int j = 0; j < 2; ++j) if (copies && start + j * 128 >= 0 && start + j * 128 < ((int)W.w[5])) {
  copy_async<16>(to0 + j * 16384, at0 + (i64)j * 128 * ((i64)W.w[10]));
  }
  }
  commit_copies();
  cluster_arrive();
  totals0[parity][threadIdx.x % 32][threadIdx.x / 32] = steps<Scan0, 32>(totals0[parity][threadIdx.x % 32][threadIdx.x / 32], threadIdx.x % 32);
  __syncthreads();
  Some<Scan0> b0 = none<Scan0>();
  if (y > 0) b0 = some<Scan0>(totals0[parity][y - 1][x]);
  b0 = then<Scan0>(Some<Scan0>{begun0[parity][x], block > 0}, b0);
  if (b0.is) {
  #pragma unroll
  for (int k = 0; k < 8; ++k) x0[k] = Scan0::join(b0.s, x0[k]);
  }
  Vec<float, 8> out1;
  Vec<long long, 8> out2;
  {
  #pragma unroll
  for (int v = 0; v < 8; ++v) {
  const float t3 = x0[v].c0;
  const int t4 = x0[v].c1;
  const long long t5 = (long long)t4;
  out1.v[v] = Narrow<float, float>::to(t3);
  out2.v[v] = Narrow<long long, long long>::to(t5);
  }
  }
  if (full) {
  auto at = p1 + o1 + (i64)e * ((i64)W.w[11]);
  #pragma unroll
  for (int v = 0; v < 8; ++v, at += ((i64)W.w[11])) {
  *at = out1.v[v];
  }
  } else if (here) {
  auto at = p1 + o1 + (i64)e * ((i64)W.w[11]);
  #pragma unroll
  for (int v = 0; v < 8; ++v, at += ((i64)W.w[11])) if (e + v >= 0 && e + v < ((int)W.w[5])) {
  *at = out1.v[v];
  }
  }
  if (full) {
  auto at = p2 + o2 + (i64)e * ((i64)W.w[12]);
  #pragma unroll
  for (int v = 0; v < 8; ++v, at += ((i64)W.w[12])) {
  *at = out2.v[v];
  }
  } else if (here) {
  auto at = p2 + o2 + (i64)e * ((i64)W.w[12]);
  #pragma unroll
  for (int v = 0; v < 8; ++v, at += ((i64)W.w[12])) if (e + v >= 0 && e + v < ((int)W.w[5])) {
  *at = out2.v[v];
  }
  }
  if (y == 0) {
  i0 = then<Scan0>(i0, some<Scan0>(totals0[parity][31][x]));
  if (block % 16 == 15) { carry0.add(i0, block / 16); i0 = none<Scan0>(); }
  begun0[parity ^ 1][x] = then<Scan0>(carry0.before, i0).s;
  }
  cluster_wait();
  }
}
