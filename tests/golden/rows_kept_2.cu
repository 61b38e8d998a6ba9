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
template <int P, class T, int N> __device__ __forceinline__ void store(T* to, const Vec<T, N>& from) {
#pragma unroll
  for (int i = 0; i < N / P; ++i) {
    Vec<T, P> piece;
#pragma unroll
    for (int j = 0; j < P; ++j) piece.v[j] = from.v[i * P + j];
    reinterpret_cast<Vec<T, P>*>(to)[i] = piece;
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
struct Words { u64 w[13]; };

// Exchange: `send` puts a value of 4 or 8 bytes to the place in block `rank` of the cluster that p points to in this block, and
// counts its bytes in that block's mbar.
__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ unsigned address_in(const void* p, unsigned rank) {
  unsigned at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared_address(p)), "r"(rank));
  return at;
}
#define SEND "st.async.shared::cluster.mbarrier::complete_tx::bytes"
template <class T> __device__ __forceinline__ void send(T* p, T value, u64* mbar, unsigned rank) {
  const unsigned to = address_in(p, rank), remote = address_in(mbar, rank);
  if constexpr (sizeof(T) == 8) {
    u64 bits; memcpy(&bits, &value, 8);
    asm volatile(SEND ".u64 [%0], %1, [%2];" ::"r"(to), "l"(bits), "r"(remote) : "memory");
  } else {
    unsigned bits; memcpy(&bits, &value, 4);
    asm volatile(SEND ".u32 [%0], %1, [%2];" ::"r"(to), "r"(bits), "r"(remote) : "memory");
  }
}
// All threads of all blocks call it before anything is sent.
__device__ __forceinline__ void init_mbars(u64* mbars, int count) {
  if (threadIdx.x == 0) {
    for (int i = 0; i < count; ++i) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(mbars + i)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// Once for each time that a mbar is used: how many bytes will come.
__device__ __forceinline__ void expect_bytes(u64* mbar, int nbytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(mbar)), "r"(nbytes) : "memory");
}
#define ARRIVED "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64"
// Waits until all that was expected is there; `turn` says how often the mbar was used before.
__device__ __forceinline__ void await_mbar(u64* mbar, unsigned turn) {
  unsigned done;
  do {
    asm volatile("{\n\t.reg .pred p;\n\t" ARRIVED " p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(done) : "r"(shared_address(mbar)), "r"(turn & 1) : "memory");
  } while (!done);
}
// End of cluster exchange.

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

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(512, 1) kernel(const __grid_constant__ Words W) {
  extern __shared__ __align__(128) unsigned char dynamic[];
  const float* const p0 = (const float*)(W.w[0]);
  float* const p1 = (float*)(W.w[1]);
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32 % 16;
  const int slot = threadIdx.x / 512;
  const int rank = blockIdx.x % 2, begin = rank * 49;
  const int count = ((int)W.w[6]) - begin < 49 ? ((int)W.w[6]) - begin : 49;
  i64* const tickets = (i64*)(dynamic + 16);
  u64* const mbars = (u64*)(dynamic + 0);
  init_mbars(mbars, 2);
  const bool leader = rank == 0 && threadIdx.x == 0;
  Vec<float, 4>* const kept_in0 = (Vec<float, 4>*)(dynamic + 896) + threadIdx.x;
  Vec<float, 4> in0[8];
  unsigned round = 0;
  i64 row = blockIdx.x / 2;
  for (int r = 0; r < 3; ++r) {
  {
  const i64 to = row;
  const unsigned r0 = (unsigned)to;
  const i64 o0 = (i64)r0 * ((i64)W.w[7]);
  const int local = r * 16 + group, segment = begin + local;
  const bool here = to < ((i64)W.w[4]) && local < count;
  const float* const b0 = p0 + o0 + ((i64)segment * 1024 + lane * 4);
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  const int e = (int)segment * 1024 + k * 128 + lane * 4;
  if (here && e < ((int)W.w[5])) {
  copy_async<16>(kept_in0 + (r * 8 + k) * 512, b0 + k * 128);
  }
  }
  commit_copies();
  }
  }
  {
  const i64 to = row;
  const unsigned r0 = (unsigned)to;
  const i64 o0 = (i64)r0 * ((i64)W.w[7]);
  const int local = 3 * 16 + group, segment = begin + local;
  const bool here = to < ((i64)W.w[4]) && local < count;
  {
  const float* const b0 = p0 + o0 + ((i64)segment * 1024 + lane * 4);
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  const int e = (int)segment * 1024 + k * 128 + lane * 4;
  if (here && e < ((int)W.w[5])) {
  load<4>(in0[k], b0 + k * 128);
  }
  }
  }
  }
  for (;;) {
  const bool live = true;
  const unsigned r0 = (unsigned)row;
  const i64 o0 = (i64)r0 * ((i64)W.w[7]);
  const i64 o1 = (i64)r0 * ((i64)W.w[8]);
  i64 ticket = 0; if (leader) ticket = atomicAdd((u64*)(W.w[2] + ((i64)W.w[12])), 1ull);
  float red0_0;
  #pragma unroll 1
  for (int r = 0; r < 3; ++r) {
  const int local = r * 16 + group, segment = begin + local;
  const bool here = local < count;
  wait_copies<2>();
  Vec<float, 4> in0[8];
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  in0[k] = kept_in0[(r * 8 + k) * 512];
  }
  float acc0[4];
  #pragma unroll
  for (int v = 0; v < 4; ++v) acc0[v] = __uint_as_float(0x80000000u);
  {
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  const int e = (int)segment * 1024 + k * 128 + lane * 4;
  if (here && e < ((int)W.w[5])) {
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
    const float t1 = widen(in0[k].v[v]);
    const float t2 = t1 * t1;
    acc0[v] = Sum::of(acc0[v], t2);
  }
  }
  }
  }
  float leaf0 = across<Sum, 32>(pairs<Sum, 4>(acc0));
  if (here && lane < 2) send(((float*)(dynamic + 32 + (round & 1) * 416)) + segment, leaf0, (mbars + 0 + (round & 1)), lane);
  commit_copies();
  }
  {
  const int local = 3 * 16 + group, segment = begin + local;
  const bool here = local < count;
  float acc0[4];
  #pragma unroll
  for (int v = 0; v < 4; ++v) acc0[v] = __uint_as_float(0x80000000u);
  {
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  const int e = (int)segment * 1024 + k * 128 + lane * 4;
  if (here && e < ((int)W.w[5])) {
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
    const float t3 = widen(in0[k].v[v]);
    const float t4 = t3 * t3;
    acc0[v] = Sum::of(acc0[v], t4);
  }
  }
  }
  }
  float leaf0 = across<Sum, 32>(pairs<Sum, 4>(acc0));
  if (here && lane < 2) send(((float*)(dynamic + 32 + (round & 1) * 416)) + segment, leaf0, (mbars + 0 + (round & 1)), lane);
  }
  if (leader) for (int to = 0; to < 2; ++to) send(tickets + (round & 1), ticket, (mbars + 0 + (round & 1)), to);
  if (threadIdx.x == 0) expect_bytes((mbars + 0 + (round & 1)), 400);
  await_mbar((mbars + 0 + (round & 1)), round >> 1);
  const i64 next = tickets[round & 1];
  red0_0 = tree<Sum>(((float*)(dynamic + 32 + (round & 1) * 416)), ((int)W.w[6]), __uint_as_float(0x80000000u), threadIdx.x, 512);
  const float t5 = __uint_as_float((unsigned)W.w[3]);
  const float t6 = __fsqrt_rn(red0_0);
  const float t7 = maximum(t6, t5);
  #pragma unroll 1
  for (int r = 0; r < 3; ++r) {
  const int local = r * 16 + group, segment = begin + local;
  const bool here = local < count;
  Vec<float, 4> in0[8];
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  in0[k] = kept_in0[(r * 8 + k) * 512];
  }
  {
  float* const b1 = p1 + o1 + ((i64)segment * 1024 + lane * 4);
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  const int e = (int)segment * 1024 + k * 128 + lane * 4;
  Vec<float, 4> out1;
  if (here && e < ((int)W.w[5])) {
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
    const float t8 = widen(in0[k].v[v]);
    const float t9 = t8 / t7;
    out1.v[v] = Narrow<float, float>::to(t9);
  }
  }
  if (here && e < ((int)W.w[5])) {
  store<4>(b1 + k * 128, out1);
  }
  }
  }
  {
  const i64 to = next;
  const unsigned r0 = (unsigned)to;
  const i64 o0 = (i64)r0 * ((i64)W.w[7]);
  const int local = r * 16 + group, segment = begin + local;
  const bool here = to < ((i64)W.w[4]) && local < count;
  const float* const b0 = p0 + o0 + ((i64)segment * 1024 + lane * 4);
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  const int e = (int)segment * 1024 + k * 128 + lane * 4;
  if (here && e < ((int)W.w[5])) {
  copy_async<16>(kept_in0 + (r * 8 + k) * 512, b0 + k * 128);
  }
  }
  commit_copies();
  }
  }
  {
  const int local = 3 * 16 + group, segment = begin + local;
  const bool here = local < count;
  {
  float* const b1 = p1 + o1 + ((i64)segment * 1024 + lane * 4);
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  const int e = (int)segment * 1024 + k * 128 + lane * 4;
  Vec<float, 4> out1;
  if (here && e < ((int)W.w[5])) {
  #pragma unroll
  for (int v = 0; v < 4; ++v) {
    const float t10 = widen(in0[k].v[v]);
    const float t11 = t10 / t7;
    out1.v[v] = Narrow<float, float>::to(t11);
  }
  }
  if (here && e < ((int)W.w[5])) {
  store<4>(b1 + k * 128, out1);
  }
  }
  }
  }
  {
  const i64 to = next;
  const unsigned r0 = (unsigned)to;
  const i64 o0 = (i64)r0 * ((i64)W.w[7]);
  const int local = 3 * 16 + group, segment = begin + local;
  const bool here = to < ((i64)W.w[4]) && local < count;
  {
  const float* const b0 = p0 + o0 + ((i64)segment * 1024 + lane * 4);
  #pragma unroll
  for (int k = 0; k < 8; ++k) {
  const int e = (int)segment * 1024 + k * 128 + lane * 4;
  if (here && e < ((int)W.w[5])) {
  load<4>(in0[k], b0 + k * 128);
  }
  }
  }
  }
  if (next >= ((i64)W.w[4])) break;
  row = next;
  ++round;
  }
}
