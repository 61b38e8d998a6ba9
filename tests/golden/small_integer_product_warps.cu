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

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
// Four matrices of 8 lines of 16 bytes; each thread says where a line begins and has 4 bytes of a line of each: thread / 4's.
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(address) : "memory");
}
// The same, but each thread has two 16-bit elements of a column, thread / 4's, from lines thread % 4 * 2 and the next.
__device__ __forceinline__ void load_transposed(unsigned (&to)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(address) : "memory");
}
// Blocks of ROWS lines by 128 bytes along k on their way to shared memory, by THREADS threads. There piece j, of 16 bytes, of
// line r lies at piece j ^ r % 8: the 128-byte swizzle, which tensor cores read and `ldmatrix` reads without bank conflicts. What
// does not exist are zeros.
template <int ROWS, int THREADS> struct Lines {
  static constexpr int NEXT = THREADS / 8, COUNT = (ROWS + NEXT - 1) / NEXT;
  const unsigned char* base;
  const unsigned char* from;
  i64 next;
  int rows, piece, place;
  // `rows` exist from `base` on, `stride` bytes apart.
  __device__ __forceinline__ Lines(const unsigned char* base, i64 stride, int rows, int thread)
      : base(base), from(base + thread / 8 * stride + thread % 8 * 16), next(stride * NEXT), rows(rows - thread / 8),
        piece(thread % 8 * 16), place(thread / 8 * 128 + ((thread % 8 ^ thread / 8 % 8) * 16)) {}
  template <bool CHECK> __device__ __forceinline__ void fetch_all(unsigned char* to, int valid) {
    const unsigned char* at = from;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      if (ROWS % NEXT != 0 && piece / 16 + place / 128 * 8 >= (ROWS - i * NEXT) * 8) break;
      const bool there = !CHECK || (i * NEXT < rows && valid > 0);
      copy_async<16>(to + place + i * NEXT * 128, there ? at : base, there ? valid : 0);
      at += next;
    }
  }
  // Starts the next block, of which `left` steps of k exist.
  __device__ __forceinline__ void fetch(unsigned char* to, int left) {
    const int valid = left - piece < 16 ? left - piece : 16;
    if (left >= 128 && rows > (COUNT - 1) * NEXT) fetch_all<false>(to, 16);
    else fetch_all<true>(to, valid);
    from += 128;
  }
};

// c += the product of 16 rows by 32 bytes and 8 columns by 32 bytes.
__device__ __forceinline__ void multiply_add(int* c, const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// c += the product of a warp's TM times 16 rows and TN times 8 columns by 128 steps of k, whose first lines are at a and b.
template <int TM, int TN> __device__ __forceinline__ void line_products(int (&c)[TM][TN][4], unsigned a, unsigned b, int lane) {
  const unsigned own_a = lane % 16 * 128 + ((lane / 16 ^ lane % 8) << 4);
  const unsigned own_b = (lane / 16 * 8 + lane % 8) * 128 + ((lane / 8 % 2 ^ lane % 8) << 4);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    unsigned left[TM][4];
#pragma unroll
    for (int i = 0; i < TM; ++i) load_matrices(left[i], a + i * 2048 + (own_a ^ k * 32));
#pragma unroll
    for (int j = 0; j < TN; j += 2) {
      unsigned right[4];
      load_matrices(right, b + j * 1024 + (own_b ^ k * 32));
#pragma unroll
      for (int i = 0; i < TM; ++i) {
        multiply_add(c[i][j], left[i], right[0], right[1]);
        multiply_add(c[i][j + 1], left[i], right[2], right[3]);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256, 1) kernel(const __grid_constant__ Words W) {
  extern __shared__ __align__(128) unsigned char shared[];
  const unsigned product = divide(blockIdx.x, W.w[7]);
  const unsigned inside = blockIdx.x - product * ((unsigned)W.w[8]);
  const unsigned square = inside / (8 * ((unsigned)W.w[6])), turn = inside - square * (8 * ((unsigned)W.w[6]));
  const unsigned first = square * 8, rest = ((unsigned)W.w[9]) - first;
  const unsigned high = rest < 8 ? rest : 8;
  const unsigned tile_m = first + turn % high, tile_n = turn / high;
  const i64 m0 = (i64)tile_m * 64, n0 = (i64)tile_n * 32;
  const i64 rows_left = ((i64)W.w[10]) - m0, columns_left = ((i64)W.w[11]) - n0;
  const int rows = rows_left < 64 ? (int)rows_left : 64;
  const int columns = columns_left < 32 ? (int)columns_left : 32;
  Lines<64, 256> a((const unsigned char*)(W.w[0]) + ((i64)0 + (m0) * ((i64)W.w[12])), ((i64)W.w[12]), rows, threadIdx.x);
  Lines<32, 256> b((const unsigned char*)(W.w[1]) + ((i64)0 + (n0) * ((i64)W.w[13])), ((i64)W.w[13]), columns, threadIdx.x);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = warp / 2 * 16, column = warp % 2 * 16;
  int sums[1][2][4];
  #pragma unroll
  for (int i = 0; i < 1; ++i)
  #pragma unroll
  for (int j = 0; j < 2; ++j) sums[i][j][0] = sums[i][j][1] = sums[i][j][2] = sums[i][j][3] = 0;
  const int k = W.w[14];
  int coming = k, read = 0, write = 5;
  const auto fetch = [&](int stage) {
  unsigned char* const to = shared + stage * 12288;
  if (coming > 0) { a.fetch(to, coming); b.fetch(to + 8192, coming); }
  commit_copies();
  coming -= 128;
  };
  #pragma unroll
  for (int stage = 0; stage < 5; ++stage) fetch(stage);
  #pragma unroll 1
  for (int left = k; left > 0; left -= 128) {
  wait_copies<4>();
  __syncthreads();
  fetch(write);
  const unsigned from = shared_address(shared) + read * 12288;
  line_products(sums, from + row * 128, from + (64 + column) * 128, lane);
  read = read + 1 == 6 ? 0 : read + 1;
  write = write + 1 == 6 ? 0 : write + 1;
  }
  wait_copies<0>();
  __syncthreads();
  int* const sums0 = (int*)shared;
  #pragma unroll
  for (int i = 0; i < 1; ++i)
  #pragma unroll
  for (int j = 0; j < 2; ++j)
  #pragma unroll
  for (int h = 0; h < 2; ++h)
  *(int2*)(sums0 + (row + i * 16 + h * 8 + lane / 4) * 36 + column + j * 8 + lane % 4 * 2) = make_int2(sums[i][j][2 * h], sums[i][j][2 * h + 1]);
  __syncthreads();
  int* const p1 = (int*)(W.w[2]);
  #pragma unroll 1
  for (int e0 = threadIdx.x; e0 < 512; e0 += 256) {
  #pragma unroll
  for (int u = 0; u < 1; ++u) {
  const int e = e0 + u * 256, r = e / 8, s = e % 8 * 4;
  const i64 c0 = m0 + r, at = n0 + s;
  const int left = columns - s;
  if (e < 512 && r < rows && left > 0) {
  const i64 o1 = (i64)c0 * ((i64)W.w[4]) + at * ((i64)W.w[5]);
  Vec<int, 4> out1;
  #pragma unroll
  for (int v = 0; v < 4; ++v) if (v < left) {
  const int t1 = widen(sums0[r * 36 + s + v]);
  out1.v[v] = Narrow<int, int>::to(t1);
  }
  if (left >= 4) store<4>((p1 + o1), out1);
  else {
  #pragma unroll
  for (int v = 0; v < 4; ++v) if (v < left) (p1 + o1)[v] = out1.v[v];
  }
  }}}
}
