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

// n / d for 0 <= n < 2^31, with the multiplier and shift that the host prepared.
__device__ __forceinline__ unsigned divide(unsigned n, u64 magic) {
  return (__umulhi(n, (unsigned)magic) + n) >> (unsigned)(magic >> 32);
}
struct Words { u64 w[19]; };

// Block hand-off: a word and its mark, past the first-level cache, which does not see what other blocks write.
__device__ __forceinline__ void store_word(u64 at, u64 word) {
  asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}
__device__ __forceinline__ u64 load_word(u64 at) {
  u64 word; asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory"); return word;
}
__device__ __forceinline__ void backoff() { __nanosleep(64); }
template <class T> __device__ __forceinline__ void publish(u64 at, T x) {
  constexpr int words = (sizeof(T) + 3) / 4;
  unsigned w[words] = {};
  memcpy(w, &x, sizeof(T));
#pragma unroll
  for (int i = 0; i < words; ++i) store_word(at + 8 * i, (u64)1 << 32 | w[i]);
}
// Whether a value is there, and if so the value.
template <class T> __device__ __forceinline__ bool poll(u64 at, T& x) {
  constexpr int words = (sizeof(T) + 3) / 4;
  unsigned w[words];
  bool there = true;
#pragma unroll
  for (int i = 0; i < words; ++i) {
    const u64 word = load_word(at + 8 * i);
    w[i] = (unsigned)word;
    there &= word >> 32 != 0;
  }
  memcpy(&x, w, sizeof(T));
  return there;
}

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
  struct State { float c0; };
  static __device__ __forceinline__ State join(State l, State r) {
    const float t1 = l.c0 + r.c0;
    return State{t1};
  }
  static __device__ __forceinline__ State up(State x, int d, int width) { return State{__shfl_up_sync(0xffffffffu, x.c0, d, width)}; }
};

extern "C" __global__ void __launch_bounds__(512, 2) kernel(const __grid_constant__ Words W) {
  __shared__ unsigned tickets[2];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  __shared__ Scan0::State totals0[1][16], before0[1][16];
  __shared__ __align__(16) unsigned char stagings[16][1024];
  unsigned char* const staging = stagings[threadIdx.x / 32];
  const int slot = 0, x = 0;
  Chunk<float> raw0;
  const float* const p0 = (const float*)(W.w[0]);
  float* const p1 = (float*)(W.w[1]);
  unsigned* const counter = (unsigned*)(W.w[2] + ((i64)W.w[12]));
  const unsigned sets = ((unsigned)W.w[13]), items = ((unsigned)W.w[14]);
  const u64 by_sets = W.w[15], states = (W.w[2] + ((i64)W.w[16]));
  const i64 rows = ((i64)W.w[17]), tiles = ((i64)W.w[18]);
  if (t == 0) { tickets[0] = atomicAdd(counter, 1u); tickets[1] = atomicAdd(counter, 1u); }
  __syncthreads();
  unsigned item = 0, next = tickets[0];
  {
  const int tile = divide(next, by_sets);
  const i64 first = (i64)(next - (unsigned)tile * sets) * 1, row = first + x;
  const bool live = next < items && row < rows;
  const unsigned r0 = (unsigned)row;
  const i64 o0 = (i64)r0 * ((i64)W.w[6]);
  const i64 o1 = (i64)r0 * ((i64)W.w[7]);
  {
  const int p = (int)(tile) * 4096 + t * 8, e = p;
  const bool here = live && p < ((int)W.w[4]), full = live && p + 8 <= ((int)W.w[4]);
  if (full) {
  raw0.load<4>(p0 + o0 + e);
  } else {
  Vec<float, 8> apart = {};
  if (here) {
  #pragma unroll
  for (int v = 0; v < 8; ++v) if (e + v >= 0 && e + v < ((int)W.w[4])) {
  apart.v[v] = (p0 + o0 + e)[v];
  }
  }
  raw0.set(apart);
  }
  }
  }
  item = next; next = tickets[1];
  __syncthreads();
  for (int parity = 0; item < items; parity ^= 1) {
  const int tile = divide(item, by_sets);
  const i64 first = (i64)(item - (unsigned)tile * sets) * 1, row = first + x;
  const bool live = item < items && row < rows;
  const unsigned r0 = (unsigned)row;
  const i64 o0 = (i64)r0 * ((i64)W.w[6]);
  const i64 o1 = (i64)r0 * ((i64)W.w[7]);
  unsigned after = 0;
  if (t == 0) after = atomicAdd(counter, 1u);
  const int p = (int)(tile) * 4096 + t * 8, e = p;
  const bool here = live && p < ((int)W.w[4]), full = live && p + 8 <= ((int)W.w[4]);
  const Vec<float, 8> in0 = raw0.get();
  {
  const int tile = divide(next, by_sets);
  const i64 first = (i64)(next - (unsigned)tile * sets) * 1, row = first + x;
  const bool live = next < items && row < rows;
  const unsigned r0 = (unsigned)row;
  const i64 o0 = (i64)r0 * ((i64)W.w[6]);
  const i64 o1 = (i64)r0 * ((i64)W.w[7]);
  {
  const int p = (int)(tile) * 4096 + t * 8, e = p;
  const bool here = live && p < ((int)W.w[4]), full = live && p + 8 <= ((int)W.w[4]);
  if (full) {
  raw0.load<4>(p0 + o0 + e);
  } else {
  Vec<float, 8> apart = {};
  if (here) {
  #pragma unroll
  for (int v = 0; v < 8; ++v) if (e + v >= 0 && e + v < ((int)W.w[4])) {
  apart.v[v] = (p0 + o0 + e)[v];
  }
  }
  raw0.set(apart);
  }
  }
  }
  Scan0::State x0[8];
  {
  #pragma unroll
  for (int v = 0; v < 8; ++v) {
  const float t1 = widen(in0.v[v]);
  x0[v] = Scan0::State{t1};
  }
  }
  #pragma unroll
  for (int k = 1; k < 8; ++k)
  x0[k] = Scan0::join(x0[k - 1], x0[k]);
  Scan0::State s0 = x0[7];
  s0 = steps<Scan0, 32>(s0, lane);
  Some<Scan0> b0 = {Scan0::up(s0, 1, 32), lane > 0};
  if (lane == 31) totals0[slot][warp] = s0;
  __syncthreads();
  Some<Scan0> n0 = none<Scan0>();
  if (warp == 0) {
  Scan0::State r0 = totals0[slot][0], w0 = r0;
  #pragma unroll 4
  for (int w = 1; w < 16; ++w) {
  if (w == lane) w0 = r0;
  r0 = Scan0::join(r0, totals0[slot][w]);
  }
  n0 = some<Scan0>(r0);
  if (lane == 0) {
  publish(states + 24 * (row * tiles + tile) + 0, n0.s.c0);
  }
  Scan0::State seen0 = {}; Carry<Scan0> carry0; carry0.start();
  const int its = tile - 1 - lane;
  int nearest;
  for (;;) {
  bool total = true, carry = true;
  if (its >= 0) {
  total &= poll(states + 24 * (row * tiles + its) + 0, seen0.c0);
  carry &= poll(states + 24 * (row * tiles + its) + 8, carry0.spans.s.c0);
  carry &= poll(states + 24 * (row * tiles + its) + 16, carry0.tiles.s.c0);
  }
  const unsigned carried = __ballot_sync(0xffffffffu, carry), known = __ballot_sync(0xffffffffu, total);
  nearest = __ffs(carried) - 1;
  if (carried && !(~known & ((1u << nearest) - 1))) break;
  backoff();
  }
  carry0.spans = {Scan0::State{__shfl_sync(0xffffffffu, carry0.spans.s.c0, nearest)}, tile - nearest >= 64};
  carry0.tiles = {Scan0::State{__shfl_sync(0xffffffffu, carry0.tiles.s.c0, nearest)}, (tile - nearest) % 64 > 0};
  carry0.before = then<Scan0>(carry0.spans, carry0.tiles);
  for (int from = nearest - 1; from >= 0; --from)
    carry0.add(some<Scan0>(Scan0::State{__shfl_sync(0xffffffffu, seen0.c0, from)}), tile - 1 - from);
  const Some<Scan0> c0 = carry0.before;
  carry0.add(n0, tile);
  if (lane == 0) {
  publish(states + 24 * (row * tiles + tile) + 8, carry0.spans.s.c0);
  publish(states + 24 * (row * tiles + tile) + 16, carry0.tiles.s.c0);
  }
  if (lane < 16) before0[slot][lane] = then<Scan0>(c0, Some<Scan0>{w0, lane > 0}).s;
  }
  __syncthreads();
  b0 = then<Scan0>(Some<Scan0>{before0[slot][warp], tile > 0 || warp > 0}, b0);
  if (b0.is) {
  #pragma unroll
  for (int k = 0; k < 8; ++k) x0[k] = Scan0::join(b0.s, x0[k]);
  }
  Vec<float, 8> out1;
  {
  #pragma unroll
  for (int v = 0; v < 8; ++v) {
  const float t2 = x0[v].c0;
  out1.v[v] = Narrow<float, float>::to(t2);
  }
  }
  const bool whole_warp = __all_sync(0xffffffffu, full);
  if (whole_warp) {
  store_together<4, 32>(p1 + o1 + (e - lane * 8), out1, lane, staging);
  } else if (here) {
  #pragma unroll
  for (int v = 0; v < 8; ++v) if (e + v >= 0 && e + v < ((int)W.w[4])) {
  (p1 + o1 + e)[v] = out1.v[v];
  }
  }
  if (t == 0) tickets[parity] = after;
  __syncthreads();
  item = next;
  next = tickets[parity];
  }
}
