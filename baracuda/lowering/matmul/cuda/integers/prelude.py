"""The C++ of integer products: digits, their records on the way to shared memory, tensor cores, and what becomes of a block."""

from __future__ import annotations

#: The scale of a row of a block.
SCALE = r"""
// 2**exponent, from 2**-149 on.
__device__ __forceinline__ float power_of_two(int exponent) {
  return __uint_as_float(exponent >= -126 ? (unsigned)(exponent + 127) << 23 : 1u << (exponent + 149));
}
// The least E with m <= 127/128 * 2**E, given the bits of a finite m.
__device__ __forceinline__ int exponent_above(unsigned m) {
  const bool tiny = m < 0x00800000u;
  const unsigned bits = tiny ? __float_as_uint(__uint_as_float(m) * 0x1p64f) : m;
  return (int)((bits + 0x1ffffu) >> 23) - 126 - (tiny ? 64 : 0);
}
"""

#: The digits of a factor, by a pass of their own.
DIGITS = r"""
// A block of 64 rows by 128 steps of k, of which `rows` and `steps` exist, as a record of COUNT digits and its scales. Neighbours
// are read V at a time, along the rows (ALONG) or along k. A thread has 32 elements: pieces of 16 along k, which are 16 bytes of
// each digit.
template <bool ALONG, int V, int COUNT, class S>
__device__ __forceinline__ void write_digits(const S* from, i64 row_stride, i64 k_stride, i64 rows, i64 steps,
                                             unsigned char* to, float* scales, unsigned char* shared) {
  constexpr int BITS = 8 * COUNT - 1, OWN_ROWS = ALONG ? V : 1, PIECES = 2 / OWN_ROWS;
  __shared__ unsigned most[64];
  const int thread = threadIdx.x;
  const int row = ALONG ? thread % (64 / V) * V : thread / 4;
  // Piece i of a thread begins at k = 16 * (first + i * NEXT).
  constexpr int NEXT = 4;
  const int first = ALONG ? thread / (64 / V) : thread % 4;
  float x[OWN_ROWS][PIECES][16];
  if (thread < 64) most[thread] = 0;
#pragma unroll
  for (int i = 0; i < PIECES; ++i) {
    const int k0 = 16 * (first + i * NEXT);
    if constexpr (ALONG) {
#pragma unroll
      for (int k = 0; k < 16; ++k) {
        const S* const at = from + row * row_stride + (k0 + k) * k_stride;
        if (row + V <= rows && k0 + k < steps) {
          const Vec<S, V> got = *reinterpret_cast<const Vec<S, V>*>(at);
#pragma unroll
          for (int v = 0; v < V; ++v) x[v][i][k] = widen(got.v[v]);
        } else {
#pragma unroll
          for (int v = 0; v < V; ++v) x[v][i][k] = row + v < rows && k0 + k < steps ? widen(at[v * row_stride]) : 0.0f;
        }
      }
    } else {
      const S* const at = from + row * row_stride + k0 * k_stride;
      if (row < rows && k0 + 16 <= steps) {
        Vec<S, 16> got;
        if constexpr (V > 1) load<V>(got, at);
        else
#pragma unroll
          for (int k = 0; k < 16; ++k) got.v[k] = at[k * k_stride];
#pragma unroll
        for (int k = 0; k < 16; ++k) x[0][i][k] = widen(got.v[k]);
      } else {
#pragma unroll
        for (int k = 0; k < 16; ++k) x[0][i][k] = row < rows && k0 + k < steps ? widen(at[k * k_stride]) : 0.0f;
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int v = 0; v < OWN_ROWS; ++v) {
    unsigned m = 0;
#pragma unroll
    for (int i = 0; i < PIECES; ++i)
#pragma unroll
      for (int k = 0; k < 16; ++k) m = max(m, __float_as_uint(x[v][i][k]) & 0x7fffffffu);
    if constexpr (!ALONG) {
      m = max(m, __shfl_xor_sync(~0u, m, 1));
      m = max(m, __shfl_xor_sync(~0u, m, 2));
      if (thread % 4 == 0) most[row] = m;
    } else {
      atomicMax(&most[row + v], m);
    }
  }
  __syncthreads();
#pragma unroll
  for (int v = 0; v < OWN_ROWS; ++v) {
    const unsigned m = most[row + v];
    const int up = m < 0x7f800000u ? BITS - max(exponent_above(m), BITS - 149) : -149;
    const float once = power_of_two(up / 2), twice = power_of_two(up - up / 2);
#pragma unroll
    for (int i = 0; i < PIECES; ++i) {
      unsigned words[COUNT][4];
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        constexpr unsigned BALANCE = COUNT == 3 ? 0x808080u : 0x8080u;
        unsigned u[4];
#pragma unroll
        for (int e = 0; e < 4; ++e)
          u[e] = ((unsigned)__float2int_rn(x[v][i][4 * w + e] * once * twice) + BALANCE) ^ BALANCE;
#pragma unroll
        for (int d = 0; d < COUNT; ++d) {
          const unsigned select = (COUNT - 1 - d) | (4 + COUNT - 1 - d) << 4;
          words[d][w] = __byte_perm(__byte_perm(u[0], u[1], select), __byte_perm(u[2], u[3], select), 0x5410);
        }
      }
      const int r = row + v, at = r * 128 + (((first + i * NEXT) ^ r % 8) * 16);
#pragma unroll
      for (int d = 0; d < COUNT; ++d)
        *reinterpret_cast<uint4*>(shared + d * 8192 + at) = make_uint4(words[d][0], words[d][1], words[d][2], words[d][3]);
    }
  }
  if (thread < 32) {
    float s[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const unsigned m = most[thread + 32 * i];
      s[i] = m == 0 ? 1.0f : power_of_two(max(exponent_above(m), BITS - 149) - BITS);
      if (m >= 0x7f800000u) s[i] = __uint_as_float(0x7fc00000u);
      scales[thread + 32 * i] = s[i];
    }
    float least = fminf(s[0], s[1]), greatest = fmaxf(s[0], s[1]);  // a NaN is passed over
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
      least = fminf(least, __shfl_xor_sync(~0u, least, d));
      greatest = fmaxf(greatest, __shfl_xor_sync(~0u, greatest, d));
    }
    if (thread < 2) scales[64 + thread] = thread ? greatest : least;
  }
  __syncthreads();
#pragma unroll
  for (int i = thread; i < COUNT * 512; i += 256) reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(shared)[i];
}
"""


#: An address as instructions on shared memory take it.
SHARED_ADDRESS = r"""
__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }"""

#: What becomes of the sums of a block of k, shared by all kernels on tensor cores.
COMBINE = (
    SHARED_ADDRESS
    + r"""
// Products of digits are summed by the power of 256 that they belong to, the highest two and the lowest two of three digits on
// top of one another: `sums` are those s32, the highest first, and a block's P is
//     three digits: sums[0] * 2**24 + sums[1] * 2**16 + sums[2]        two: sums[0] * 2**8 + sums[1]
__device__ __forceinline__ i64 wide_multiply_add(int a, int b, i64 c) {
  i64 r; asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(r) : "r"(a), "r"(b), "l"(c)); return r;
}
template <int N> __device__ __forceinline__ float rounded(const int (&sums)[2][N], int i) {
  return __ll2float_rn(wide_multiply_add(sums[0][i], 1 << 8, sums[1][i]));
}
template <int N> __device__ __forceinline__ float rounded(const int (&sums)[3][N], int i) {
  const int high = sums[0][i], middle = sums[1][i], low = sums[2][i];
  const int top = (((middle + (low >> 16)) >> 8) + high) >> 8;  // P >> 32: an s64 multiplication costs more
  return __ll2float_rn((i64)top << 32 | (((unsigned)high << 24) + ((unsigned)middle << 16) + (unsigned)low));
}
template <int N> __device__ __forceinline__ void raise(int (&sums)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) sums[i] <<= 8;
}
// The sums of a block from those of each power of 256.
template <int N> __device__ __forceinline__ void combine_places(int (&sums)[2][N], const int (&places)[3][N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    sums[0][i] = places[0][i] * 256 + places[1][i];
    sums[1][i] = places[2][i];
  }
}
template <int N> __device__ __forceinline__ void combine_places(int (&sums)[3][N], const int (&places)[5][N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    sums[0][i] = places[0][i] * 256 + places[1][i];
    sums[1][i] = places[2][i];
    sums[2][i] = places[3][i] * 256 + places[4][i];
  }
}
// One block more.
template <bool PLAIN> __device__ __forceinline__ float add_block(float p, float a, float b, float s) {
  return PLAIN ? __fmaf_rn(p, __fmul_rn(a, b), s) : __fmaf_rn(__fmul_rn(p, minimum(a, b)), maximum(a, b), s);
}
// Whether the products of scales of these ranges are f32.
__device__ __forceinline__ bool plain(float2 a, float2 b) {
  return __fmul_rn(a.x, b.x) > 0.0f && __fmul_rn(a.y, b.y) < __int_as_float(0x7f800000);
}
// A block more for the sums of a thread: rows 0 and 8 from its first one, columns 0 and 1 from each eighth.
template <bool PLAIN, int COUNT, int N>
__device__ __forceinline__ void add_blocks(float (&sums)[N], const int (&parts)[COUNT][N], float a0, float a1,
                                           const float* scales_b) {
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    const float2 b = *(const float2*)(scales_b + i / 4 * 8);
    sums[i] = add_block<PLAIN>(rounded(parts, i), a0, b.x, sums[i]);
    sums[i + 1] = add_block<PLAIN>(rounded(parts, i + 1), a0, b.y, sums[i + 1]);
    sums[i + 2] = add_block<PLAIN>(rounded(parts, i + 2), a1, b.x, sums[i + 2]);
    sums[i + 3] = add_block<PLAIN>(rounded(parts, i + 3), a1, b.y, sums[i + 3]);
  }
}
// What becomes of a sum that is NaN: that of the products with a factor that is not finite, where its row or column has one.
template <class A, class B>
__device__ __noinline__ float not_finite(float sum, const A* a, i64 a_step, const B* b, i64 b_step, int k) {
  float total = 0;
  bool found = false;
  for (int i = 0; i < k; ++i) {
    const float x = widen(a[i * a_step]), y = widen(b[i * b_step]);
    if (fabsf(x) < __int_as_float(0x7f800000) && fabsf(y) < __int_as_float(0x7f800000)) continue;
    total += x * y;
    found = true;
    if (total != total) break;
  }
  return found ? total : sum;
}
"""
)


def _with_registers(text: str) -> str:
    """The text with the 32 registers of a thread's sums written out, as assembly wants them."""
    numbered = (",".join(f"%{i}" for i in range(32)), ", ".join(f'"+r"(c[{i}])' for i in range(32)))
    return text.replace("@REGISTERS@", numbered[0]).replace("@SUMS@", numbered[1])


#: Hopper's warpgroup instructions, but for the products.
WARPGROUP_INSTRUCTIONS = r"""
__device__ __forceinline__ void expect_bytes(u64* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}
// Copies bytes that lie one behind the other; the barrier counts them as they arrive.
__device__ __forceinline__ void copy_record(void* to, const void* from, int bytes, u64* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier)) : "memory");
}
// What this thread has written to shared memory is there for copies by `copy_record`, and what these brought for it.
__device__ __forceinline__ void order_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
template <int REGISTERS> __device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS> __device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
__device__ __forceinline__ void warpgroup_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void warpgroup_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void warpgroup_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
// The low half of the descriptor of a matrix in shared memory, of lines of 128 bytes along k, swizzled. The high half (1024 bytes
// from eight lines to the next, 128-byte swizzle) is a constant of the instruction: ptxas would hold one for each otherwise.
__device__ __forceinline__ unsigned matrix(unsigned address) { return (address & 0x3ffffu) >> 4 | 0x10000u; }"""

_DIGIT_PAIRS = r"""
// c += the product of 64 rows by 32 bytes and 64 columns by 32 bytes, which begin OA and OB bytes into a and b; without `add`,
// c is 0 before.
template <int OA, int OB> __device__ __forceinline__ void multiply(int (&c)[32], unsigned a, unsigned b, int add) {
  asm volatile(
      "{\n.reg .pred p;\n.reg .b64 da, db;\n.reg .b32 x, y;\nsetp.ne.b32 p, %34, 0;\nadd.u32 x, %32, %35;\nadd.u32 y, %33, %36;\n"
      "mov.b64 da, {x, 0x40000040};\nmov.b64 db, {y, 0x40000040};\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 {@REGISTERS@}, da, db, p;\n}\n"
      : @SUMS@
      : "r"(a), "r"(b), "r"(add), "n"(OA >> 4), "n"(OB >> 4));
}
template <int I, int J, int K = 0> __device__ __forceinline__ void digit_pair(int (&c)[32], unsigned a, unsigned b, int add) {
  multiply<I * 8192 + K * 32, J * 8192 + K * 32>(c, a, b, add);
  if constexpr (K < 3) digit_pair<I, J, K + 1>(c, a, b, 1);
}
// All pairs of digits I of a and J of b (0 is the most significant) with I + J = PLACES.
template <int COUNT, int PLACES, int I = 0>
__device__ __forceinline__ void digit_pairs(int (&c)[32], unsigned a, unsigned b, int add) {
  if constexpr (I < COUNT) {
    constexpr int J = PLACES - I;
    if constexpr (J >= 0 && J < COUNT) {
      digit_pair<I, J>(c, a, b, add);
      digit_pairs<COUNT, PLACES, I + 1>(c, a, b, 1);
    } else {
      digit_pairs<COUNT, PLACES, I + 1>(c, a, b, add);
    }
  }
}"""

WARPGROUP_BARRIER = r"""
// All threads of a warpgroup.
__device__ __forceinline__ void warpgroup_barrier(int group) { asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory"); }"""

_BLOCK_SUMS = r"""
// GROUPS warpgroups multiply in turn: left alone all would multiply at once and then all put sums together, while the tensor
// cores wait. Before the first turn, the last gives one to the first.
template <int GROUPS> __device__ __forceinline__ void await_turn(int group) {
  asm volatile("bar.sync %0, 256;" ::"r"(1 + GROUPS + group) : "memory");
}
template <int GROUPS> __device__ __forceinline__ void give_turn(int group) {
  asm volatile("bar.arrive %0, 256;" ::"r"(1 + GROUPS + (group + 1 == GROUPS ? 0 : group + 1)) : "memory");
}
// The sums of a block, from the digits in shared memory. What waits for a sum to be raised comes last, behind other products.
template <int GROUPS> __device__ __forceinline__ void block_sums(int (&sums)[3][32], unsigned a, unsigned b, int group) {
  await_turn<GROUPS>(group);
  warpgroup_fence();
  digit_pairs<3, 0>(sums[0], a, b, 0);
  warpgroup_commit();
  digit_pairs<3, 3>(sums[2], a, b, 0);
  warpgroup_commit();
  digit_pairs<3, 2>(sums[1], a, b, 0);
  warpgroup_commit();
  warpgroup_wait<2>();
  raise(sums[0]);
  warpgroup_fence();
  digit_pairs<3, 1>(sums[0], a, b, 1);
  warpgroup_commit();
  warpgroup_wait<2>();
  raise(sums[2]);
  warpgroup_fence();
  digit_pairs<3, 4>(sums[2], a, b, 1);
  warpgroup_commit();
  give_turn<GROUPS>(group);
  warpgroup_wait<0>();
}
template <int GROUPS> __device__ __forceinline__ void block_sums(int (&sums)[2][32], unsigned a, unsigned b, int group) {
  await_turn<GROUPS>(group);
  warpgroup_fence();
  digit_pairs<2, 0>(sums[0], a, b, 0);
  warpgroup_commit();
  digit_pairs<2, 2>(sums[1], a, b, 0);
  warpgroup_commit();
  warpgroup_wait<1>();
  raise(sums[0]);
  warpgroup_fence();
  digit_pairs<2, 1>(sums[0], a, b, 1);
  warpgroup_commit();
  give_turn<GROUPS>(group);
  warpgroup_wait<0>();
}
"""

#: What warpgroups do with digits.
WARPGROUPS = WARPGROUP_INSTRUCTIONS + _with_registers(_DIGIT_PAIRS) + WARPGROUP_BARRIER + _BLOCK_SUMS

#: Matrices from shared memory to the registers that a warp's tensor-core instructions read.
LOAD_MATRICES = r"""
// Four matrices of 8 lines of 16 bytes; each thread says where a line begins and has 4 bytes of a line of each: thread / 4's.
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(address) : "memory");
}
// The same, but each thread has two 16-bit elements of a column, thread / 4's, from lines thread % 4 * 2 and the next.
__device__ __forceinline__ void load_transposed(unsigned (&to)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(address) : "memory");
}"""

#: The tensor-core instruction of a warp.
MULTIPLY_ADD = r"""
// c += the product of 16 rows by 32 bytes and 8 columns by 32 bytes.
__device__ __forceinline__ void multiply_add(int* c, const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
"""

#: What warps have of tensor cores.
WARP_INSTRUCTIONS = LOAD_MATRICES + MULTIPLY_ADD

#: What warps do with records.
WARP_RECORDS = r"""
// Copies bytes that lie one behind the other, by a warp.
template <int BYTES> __device__ __forceinline__ void copy_pieces(void* to, const void* from, int lane) {
#pragma unroll
  for (int i = 0; i < BYTES; i += 512) {
    const int at = i + lane * 16;
    if (BYTES % 512 == 0 || at < BYTES) copy_async<16>((unsigned char*)to + at, (const unsigned char*)from + at, 16);
  }
}
// The sums of a block of 16 rows by 32 columns, from digits in shared memory: a and b are the first lines of the highest ones.
template <int COUNT> __device__ __forceinline__ void block_sums(int (&sums)[COUNT][16], unsigned a, unsigned b, int lane) {
  const unsigned own_a = lane % 16 * 128 + ((lane / 16 ^ lane % 8) << 4);
  const unsigned own_b = (lane / 16 * 8 + lane % 8) * 128 + ((lane / 8 % 2 ^ lane % 8) << 4);
  int places[2 * COUNT - 1][16];
#pragma unroll
  for (int p = 0; p < 2 * COUNT - 1; ++p)
#pragma unroll
    for (int i = 0; i < 16; ++i) places[p][i] = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    unsigned left[COUNT][4];
#pragma unroll
    for (int d = 0; d < COUNT; ++d) load_matrices(left[d], a + d * 8192 + (own_a ^ k * 32));
#pragma unroll
    for (int n = 0; n < 2; ++n)
#pragma unroll
      for (int e = 0; e < COUNT; ++e) {
        unsigned right[4];
        load_matrices(right, b + e * 8192 + n * 2048 + (own_b ^ k * 32));
#pragma unroll
        for (int d = 0; d < COUNT; ++d) {
          multiply_add(places[d + e] + n * 8, left[d], right[0], right[1]);
          multiply_add(places[d + e] + n * 8 + 4, left[d], right[2], right[3]);
        }
      }
  }
  combine_places(sums, places);
}
"""
