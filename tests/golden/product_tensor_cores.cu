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

// n / d for 0 <= n < 2^31, with the multiplier and shift that the host prepared.
__device__ __forceinline__ unsigned divide(unsigned n, u64 magic) {
  return (__umulhi(n, (unsigned)magic) + n) >> (unsigned)(magic >> 32);
}
struct Words { u64 w[15]; };

// N bytes from global to shared memory without passing registers; those from `valid` on become zero.
template <int N> __device__ __forceinline__ void copy_async(void* to, const void* from, int valid) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  if constexpr (N == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(valid) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at), "l"(from), "n"(N), "r"(valid) : "memory");
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most N of this thread's groups of copies are under way.
template <int N> __device__ __forceinline__ void wait_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

// Barriers in shared memory: a phase ends with the last of `count` arrivals, and phases have parity 0 and 1 in turn.
__device__ __forceinline__ void start_barrier(u64* barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(count) : "memory");
}
__device__ __forceinline__ void arrive(u64* barrier) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"((unsigned)__cvta_generic_to_shared(barrier))
               : "memory");
}
// Arrives when this thread's copies so far have.
__device__ __forceinline__ void arrive_copied(u64* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"((unsigned)__cvta_generic_to_shared(barrier)) : "memory");
}
#if __CUDA_ARCH__ >= 900
#define PHASE_TEST "mbarrier.try_wait.parity.shared.b64"
#else
#define PHASE_TEST "mbarrier.test_wait.parity.shared.b64"
#endif
// Waits for the end of the phase of a parity; the phase before the first has parity 1.
__device__ __forceinline__ void await_phase(u64* barrier, unsigned parity) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(barrier);
  unsigned ended;
  do {
    asm volatile("{ .reg .pred p; " PHASE_TEST " p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(ended) : "r"(at), "r"(parity) : "memory");
  } while (!ended);
}

// How many of V neighbours are among the `there` that exist. Whether all are is to be asked as `there >= V`: for sm_90, ptxas
// 13.0 to 13.3 makes `there == V` out of `held_to<V>(there) == V`.
template <int V> __device__ __forceinline__ int held_to(int there) { return there < 0 ? 0 : there > V ? V : there; }

// The elements of a vector, widened. Two bfloat16 are the halves of a word: one operation each.
template <class T, class X, int N> __device__ __forceinline__ void widen_all(T (&to)[N], const Vec<X, N>& from) {
#pragma unroll
  for (int i = 0; i < N; ++i) to[i] = (T)widen(from.v[i]);
}
template <int N> __device__ __forceinline__ void widen_all(float (&to)[N], const Vec<BF16, N>& from) {
  if constexpr (N % 2 == 0) {
    unsigned words[N / 2];
    memcpy(words, &from, sizeof(from));
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      to[i] = __uint_as_float(words[i / 2] << 16);
      to[i + 1] = __uint_as_float(words[i / 2] & 0xffff0000u);
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) to[i] = widen(from.v[i]);
  }
}

// One factor's tiles, ROWS of m (or n) by BK of k, on their way to shared memory, where they lie as [k][row] (KMAJOR) or
// [row][k], PITCH elements a line. An access moves V neighbours, along the rows (ALONG) or along k. ASYNC: straight to shared
// memory, as stored; else through registers, widened. S is the type in global memory, X the one in shared memory. THREADS
// threads bring every EVERY-th tile.
template <class S, class X, int ROWS, int BK, int PITCH, int THREADS, int V, bool ALONG, bool KMAJOR, bool ASYNC, int EVERY = 1>
struct Loader {
  static_assert(!ASYNC || V == 1 || ALONG == KMAJOR, "an asynchronous copy moves neighbours to neighbours");
  static constexpr int TOTAL = ROWS * BK / V, COUNT = (TOTAL + THREADS - 1) / THREADS;
  // Single elements that lie along k go to lines of the tile: a warp takes 8 of k by 4 rows, which are 32 different banks.
  static constexpr bool PATCH = !ALONG && V == 1 && KMAJOR;

  // Access a's row and k.
  static constexpr __device__ __forceinline__ int row_of(int a) {
    return ALONG ? a % (ROWS / V) * V : PATCH ? a / 32 / (BK / 8) * 4 + a / 8 % 4 : a / (BK / V);
  }
  static constexpr __device__ __forceinline__ int k_of(int a) {
    return ALONG ? a / (ROWS / V) : PATCH ? a / 32 % (BK / 8) * 8 + a % 8 : a % (BK / V) * V;
  }
  static constexpr __device__ __forceinline__ int place(int row, int k) { return KMAJOR ? k * PITCH + row : row * PITCH + k; }
  // Where all extents are powers of two, row and k of access thread + i * THREADS are the sums of those of both.
  static constexpr bool SUMS = (ROWS & (ROWS - 1)) == 0;
  __device__ __forceinline__ int row_from(int i) const { return SUMS ? row_of(i * THREADS) : row_of(thread + i * THREADS) - row; }
  __device__ __forceinline__ int k_from(int i) const { return SUMS ? k_of(i * THREADS) : k_of(thread + i * THREADS) - k; }

  const S* base;
  const S* at;
  i64 row_stride, k_stride;
  int rows, thread, row, k;
  Vec<S, V> held[ASYNC ? 1 : COUNT];

  // `rows` exist from `base` on; `thread` is the number of this one among those that load.
  __device__ __forceinline__ Loader(const S* base, i64 row_stride, i64 k_stride, int rows, int thread)
      : base(base), row_stride(row_stride), k_stride(k_stride), rows(rows), thread(thread), row(row_of(thread)), k(k_of(thread)) {
    at = base + row * row_stride + k * k_stride;
  }

  // Starts the next tile, of which `left` of k exist. CHECK: some of its elements may not.
  template <bool CHECK> __device__ __forceinline__ void fetch(X* stage, int left) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      if (TOTAL % THREADS != 0 && thread + i * THREADS >= TOTAL) break;
      const int dr = row_from(i), dk = k_from(i);
      const S* from = at + (dr * row_stride + dk * k_stride);
      int there = V, valid = V;  // how many neighbours exist from here on, and how many of the access do
      if (CHECK) {
        const int r = rows - row - dr, l = left - k - dk;
        there = ALONG ? (l > 0 ? r : 0) : (r > 0 ? l : 0);
        valid = held_to<V>(there);
        if (there <= 0) from = base;
      }
      if constexpr (ASYNC) {
        copy_async<V * sizeof(S)>(stage + place(row, k) + place(dr, dk), from, valid * (int)sizeof(S));
      } else if (there >= V) {
        held[i] = *reinterpret_cast<const Vec<S, V>*>(from);
      } else {
#pragma unroll
        for (int v = 0; v < V; ++v) held[i].v[v] = v < valid ? from[v] : S{};
      }
    }
    at += EVERY * BK * k_stride;
  }

  // Puts what `fetch` brought into registers where it belongs.
  __device__ __forceinline__ void store_shared(X* stage) {
    if constexpr (!ASYNC) {
      stage += place(row, k);
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        if (TOTAL % THREADS != 0 && thread + i * THREADS >= TOTAL) break;
        X* to = stage + place(row_from(i), k_from(i));
        Vec<X, V> wide;
        widen_all(wide.v, held[i]);
        if constexpr (ALONG == KMAJOR) {
          constexpr int piece = V * sizeof(X) > 16 ? 16 / sizeof(X) : V;
          store<piece>(to, wide);
        } else {
#pragma unroll
          for (int v = 0; v < V; ++v) to[ALONG ? place(v, 0) : place(0, v)] = wide.v[v];
        }
      }
    }
  }
};

// A thread's elements of a tile for D steps of k: N rows, in chunks of CHUNK neighbours that are STEP apart.
template <int STEP, int CHUNK, int PITCH, bool KMAJOR, class X, class T, int D, int N>
__device__ __forceinline__ void fragment(T (&to)[D][N], const X* tile, int k) {
  if constexpr (KMAJOR) {
#pragma unroll
    for (int d = 0; d < D; ++d)
#pragma unroll
      for (int c = 0; c < N / CHUNK; ++c) {
        const Vec<X, CHUNK> piece = *reinterpret_cast<const Vec<X, CHUNK>*>(tile + (k + d) * PITCH + c * STEP);
T wide[CHUNK];
        widen_all(wide, piece);
#pragma unroll
        for (int i = 0; i < CHUNK; ++i) to[d][c * CHUNK + i] = wide[i];
      }
  } else {
    constexpr int P = D * sizeof(X) > 16 ? 16 / sizeof(X) : D;
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
      for (int e = 0; e < D / P; ++e) {
        const int row = n / CHUNK * STEP + n % CHUNK;
        const Vec<X, P> piece = *reinterpret_cast<const Vec<X, P>*>(tile + row * PITCH + k + e * P);
T wide[P];
        widen_all(wide, piece);
#pragma unroll
        for (int i = 0; i < P; ++i) to[e * P + i][n] = wide[i];
      }
  }
}

// One link of a chain. Integers wrap, which C++ defines only for unsigned ones.
__device__ __forceinline__ float chain(float a, float b, float s) { return __fmaf_rn(a, b, s); }
__device__ __forceinline__ double chain(double a, double b, double s) { return __fma_rn(a, b, s); }
__device__ __forceinline__ int chain(int a, int b, int s) { return (int)((unsigned)a * (unsigned)b + (unsigned)s); }
__device__ __forceinline__ unsigned chain(unsigned a, unsigned b, unsigned s) { return a * b + s; }
__device__ __forceinline__ i64 chain(i64 a, i64 b, i64 s) { return (i64)((u64)a * (u64)b + (u64)s); }
__device__ __forceinline__ u64 chain(u64 a, u64 b, u64 s) { return a * b + s; }
// Four links of 8-bit integers, which are exact in any order: signed or not, by factor.
#define DOT(name, kinds)                                                              \
  __device__ __forceinline__ int name(int a, int b, int s) {                          \
    int r; asm("dp4a." kinds " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(s)); return r; \
  }
DOT(dot_ss, "s32.s32") DOT(dot_su, "s32.u32") DOT(dot_us, "u32.s32") DOT(dot_uu, "u32.u32")

// Starts tile number `tile` of those that k has.
template <int BK, class L, class X> __device__ __forceinline__ void copy_tile(L& loader, X* stage, int tile, int k, bool whole) {
  const int left = k - tile * BK;
  if (left <= 0) return;
  if (whole && left >= BK) loader.template fetch<false>(stage, BK);
  else loader.template fetch<true>(stage, left);
}

// Matrices of 8x8 from shared memory, a row from the address of each lane, in the order that `mma` takes them. TURNED: as their
// transposes.
template <bool TURNED> __device__ __forceinline__ void load_matrices(unsigned (&to)[4], const unsigned short* from) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(from);
  if constexpr (TURNED)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
}
template <bool TURNED> __device__ __forceinline__ void load_matrices(unsigned (&to)[2], const unsigned short* from) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(from);
  if constexpr (TURNED)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1]) : "r"(at) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(at) : "memory");
}

// The link of 16 steps of k of 16 rows by 8 columns.
__device__ __forceinline__ void link(float (&s)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Where the row of 8 lies that a lane names, from the first element of a warp's matrices: those of a are rows 0 and 8 of k = 0,
// then of k = 8, those of b steps 0 and 8 of column 0, then of column 8.
template <int PITCH, bool KMAJOR, bool LEFT> __device__ __forceinline__ int own_row(int lane) {
  const int first = lane / 8 % 2 * 8, second = lane / 16 * 8;
  return (lane % 8 + (LEFT == KMAJOR ? second : first)) * PITCH + (LEFT == KMAJOR ? first : second);
}

// One link for each of a warp's sums, TM times 16 rows by TN times 8 columns.
template <int TM, int TN, int PITCH_A, bool KMAJOR_A, int PITCH_B, bool KMAJOR_B>
__device__ __forceinline__ void links(float (&sum)[TM][TN][4], const unsigned short* a, const unsigned short* b) {
  unsigned own_a[TM][4], own_b[TN][2];
#pragma unroll
  for (int i = 0; i < TM; ++i) load_matrices<KMAJOR_A>(own_a[i], a + i * 16 * (KMAJOR_A ? 1 : PITCH_A));
  if constexpr (TN % 2 == 0) {
#pragma unroll
    for (int j = 0; j < TN; j += 2) {
      unsigned both[4];
      load_matrices<KMAJOR_B>(both, b + j * 8 * (KMAJOR_B ? 1 : PITCH_B));
      own_b[j][0] = both[0]; own_b[j][1] = both[1]; own_b[j + 1][0] = both[2]; own_b[j + 1][1] = both[3];
    }
  } else {
#pragma unroll
    for (int j = 0; j < TN; ++j) load_matrices<KMAJOR_B>(own_b[j], b + j * 8 * (KMAJOR_B ? 1 : PITCH_B));
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) link(sum[i][j], own_a[i], own_b[j][0], own_b[j][1]);
}

extern "C" __global__ void __launch_bounds__(128, 1) kernel(const __grid_constant__ Words W) {
  extern __shared__ __align__(16) unsigned char shared[];
  const unsigned product = divide(blockIdx.x, W.w[7]);
  const unsigned inside = blockIdx.x - product * ((unsigned)W.w[8]);
  const unsigned square = inside / (8 * ((unsigned)W.w[6])), turn = inside - square * (8 * ((unsigned)W.w[6]));
  const unsigned first = square * 8, rest = ((unsigned)W.w[9]) - first;
  const unsigned high = rest < 8 ? rest : 8;
  const unsigned tile_m = first + turn % high, tile_n = turn / high;
  const i64 m0 = (i64)tile_m * 16, n0 = (i64)tile_n * 8;
  const i64 rows_left = ((i64)W.w[10]) - m0, columns_left = ((i64)W.w[11]) - n0;
  const int rows = rows_left < 16 ? (int)rows_left : 16;
  const int columns = columns_left < 8 ? (int)columns_left : 8;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool works = warp < 1;
  const int row = warp / 1 * 16, column = warp % 1 * 8;
  const int k = W.w[12], tiles = (k + 127) / 128;
  Loader<unsigned short, unsigned short, 16, 128, 136, 128, 8, false, false, true, 1> a0((const unsigned short*)W.w[0] + ((i64)0 + m0 * ((i64)W.w[13])), ((i64)W.w[13]), (i64)1, rows, threadIdx.x);
  unsigned short* const stages_a0 = (unsigned short*)(shared + 0);
  const int own_a0 = own_row<136, false, true>(lane) + row * 136;
  Loader<unsigned short, unsigned short, 8, 128, 16, 128, 8, true, true, true, 1> b0((const unsigned short*)W.w[1] + ((i64)0 + n0 * (i64)1), (i64)1, ((i64)W.w[14]), columns, threadIdx.x);
  unsigned short* const stages_b0 = (unsigned short*)(shared + 34816);
  const int own_b0 = own_row<16, true, false>(lane) + column * 1;
  float sum[1][1][4];
  #pragma unroll
  for (int i = 0; i < 1; ++i)
  #pragma unroll
  for (int j = 0; j < 1; ++j) sum[i][j][0] = sum[i][j][1] = sum[i][j][2] = sum[i][j][3] = 0;
  int read = 0, write = 7;
  #pragma unroll
  for (int stage = 0; stage < 7; ++stage) {
  copy_tile<128>(a0, stages_a0 + stage * 2176, stage, k, rows == 16);
  copy_tile<128>(b0, stages_b0 + stage * 2048, stage, k, columns == 8);
  commit_copies();
  }
  #pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
  wait_copies<6>();
  __syncthreads();
  copy_tile<128>(a0, stages_a0 + write * 2176, tile + 7, k, rows == 16);
  copy_tile<128>(b0, stages_b0 + write * 2048, tile + 7, k, columns == 8);
  commit_copies();
  if (works) {
  const unsigned short* const from_a0 = stages_a0 + (read * 2176 + own_a0);
  const unsigned short* const from_b0 = stages_b0 + (read * 2048 + own_b0);
  const int left = k - tile * 128;
  if (left >= 128) {
  #pragma unroll
  for (int step = 0; step < 8; ++step) links<1, 1, 136, false, 16, true>(sum, from_a0 + step * 16, from_b0 + step * 256);
  } else {
  #pragma unroll 1
  for (int step = 0; step * 16 < left; ++step) links<1, 1, 136, false, 16, true>(sum, from_a0 + step * 16, from_b0 + step * 256);
  }}
  read = (read + 1 == 8 ? 0 : read + 1);
  write = write + 1 == 8 ? 0 : write + 1;
  }
  wait_copies<0>();
  __syncthreads();
  float* const sums0 = (float*)shared;
  if (works) {
  #pragma unroll
  for (int i = 0; i < 1; ++i)
  #pragma unroll
  for (int j = 0; j < 1; ++j)
  #pragma unroll
  for (int h = 0; h < 2; ++h)
  *reinterpret_cast<Vec<float, 2>*>(sums0 + (row + i * 16 + h * 8 + lane / 4) * 12 + column + j * 8 + lane % 4 * 2) = Vec<float, 2>{sum[i][j][2 * h], sum[i][j][2 * h + 1]};
  }
  __syncthreads();
  BF16* const p1 = (BF16*)(W.w[2]);
  #pragma unroll 1
  for (int e0 = threadIdx.x; e0 < 16; e0 += 128) {
  #pragma unroll
  for (int u = 0; u < 1; ++u) {
  const int e = e0 + u * 128, r = e / 1, s = e % 1 * 8;
  const i64 c0 = m0 + r, at = n0 + s;
  const int left = columns - s;
  if (e < 16 && r < rows && left > 0) {
  const i64 o1 = (i64)c0 * ((i64)W.w[4]) + at * ((i64)W.w[5]);
  Vec<BF16, 8> out1;
  #pragma unroll
  for (int v = 0; v < 8; ++v) if (v < left) {
  const float t1 = widen(sums0[r * 12 + s + v]);
  out1.v[v] = Narrow<BF16, float>::to(t1);
  }
  if (left >= 8) store<8>((p1 + o1), out1);
  else {
  #pragma unroll
  for (int v = 0; v < 8; ++v) if (v < left) (p1 + o1)[v] = out1.v[v];
  }
  }}}
}
