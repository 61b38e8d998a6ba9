"""The C++ of integer products between the steps of a recurrent network: digits of messages and of weights, and their products.

Words are four neighbours along k of one digit; 32 of them are a row of a block. In memory the 16-byte piece j of row r lies at
piece j ^ (r % 2), so that the eight threads that shared memory serves at once find theirs in different banks. As tensor cores
sum over k in any order, thread q of four takes words 8q to 8q + 7 of its row, two in each step of 32.
"""

from __future__ import annotations

from baracuda.lowering.matmul.cuda.integers.prelude import COMBINE, MULTIPLY_ADD, SCALE

#: What weights and messages become.
ROW_DIGITS = (
    SCALE
    + r"""
// The bits of the largest magnitude of a block of a row, of which each thread of a warp has four neighbours.
__device__ __forceinline__ unsigned largest(const float (&x)[4]) {
  unsigned m = 0;
#pragma unroll
  for (int e = 0; e < 4; ++e) m = max(m, __float_as_uint(x[e]) & 0x7fffffffu);
  unsigned most;
  asm("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(most) : "r"(m));
  return most;
}
// What a block's elements are multiplied by, one after the other, and its scale, by those bits.
struct Factors { float once, twice, scale; };
template <int COUNT> __device__ __forceinline__ Factors factors_of(unsigned m) {
  constexpr int BITS = 8 * COUNT - 1;
  const int exponent = max(exponent_above(m), BITS - 149), up = m < 0x7f800000u ? BITS - exponent : -149;
  const float scale = m == 0 ? 1.0f : m < 0x7f800000u ? power_of_two(exponent - BITS) : __uint_as_float(0x7fc00000u);
  return {power_of_two(up / 2), power_of_two(up - up / 2), scale};
}
// The block as digits in planes `plane` bytes apart, the highest first; `put` stores a word so many bytes from the first piece
// on, `odd` says whether pieces are exchanged.
template <int COUNT, class Put>
__device__ __forceinline__ void write_row(const float (&x)[4], float once, float twice, int plane, int odd, const Put& put) {
  constexpr unsigned BALANCE = COUNT == 3 ? 0x808080u : 0x8080u;
  const int lane = threadIdx.x % 32;
  unsigned u[4];
#pragma unroll
  for (int e = 0; e < 4; ++e) u[e] = ((unsigned)__float2int_rn(x[e] * once * twice) + BALANCE) ^ BALANCE;
  const int at = (lane / 4 ^ odd) * 16 + lane % 4 * 4;
#pragma unroll
  for (int d = 0; d < COUNT; ++d) {
    const unsigned select = (COUNT - 1 - d) | (4 + COUNT - 1 - d) << 4;
    put(at + d * plane, __byte_perm(__byte_perm(u[0], u[1], select), __byte_perm(u[2], u[3], select), 0x5410));
  }
}
"""
)

#: What the kernel of the steps does with them.
STEP_PRODUCTS = (
    ROW_DIGITS
    + COMBINE
    + MULTIPLY_ADD
    + r"""
// What a warp makes digits of: its share of `blocks` blocks of ROWS rows of a message, from block `first` on. Rows are EACH
// apart; from `rows` on they are another one.
template <int ROWS, int EACH, int WARPS, int SHARE>
__device__ __forceinline__ void load_message(float (&x)[SHARE][4], const float* sent, i64 pitch, int depth, int first, int blocks,
                                             int rows, int warp) {
  const int lane = threadIdx.x % 32, last = blocks * ROWS - 1;
#pragma unroll
  for (int u = 0; u < SHARE; ++u) {
    const int i = min(warp + u * WARPS, last), row = i % ROWS * EACH;
    const float4 got = __ldcg((const float4*)(sent + (row < rows ? row : 0) * pitch + (first + i / ROWS) * 128 + lane * 4));
    x[u][0] = got.x; x[u][1] = got.y; x[u][2] = got.z; x[u][3] = got.w;
  }
  if ((first + blocks) * 128 > depth) {
#pragma unroll
    for (int u = 0; u < SHARE; ++u) {
      const int k = (first + min(warp + u * WARPS, last) / ROWS) * 128 + lane * 4;
#pragma unroll
      for (int e = 0; e < 4; ++e) x[u][e] = k + e < depth ? x[u][e] : 0.0f;
    }
  }
}
// Their digits, [block][digit][row][128 bytes], and scales, [block][row]: where they are in shared memory, where `put` stores a
// word.
template <int COUNT, int ROWS, int WARPS, int SHARE, class Put>
__device__ __forceinline__ void write_message(const float (&x)[SHARE][4], int blocks, int digits, int scales, int warp,
                                              const Put& put) {
  const int lane = threadIdx.x % 32, all = blocks * ROWS;
  unsigned m[SHARE], mine = 0;  // a thread has the factors of one of them
#pragma unroll
  for (int u = 0; u < SHARE; ++u) m[u] = largest(x[u]);
#pragma unroll
  for (int u = 0; u < SHARE; ++u) mine = lane == u ? m[u] : mine;
  const Factors f = factors_of<COUNT>(mine);
  if (lane < SHARE && warp + lane * WARPS < all) put(scales + (warp + lane * WARPS) * 4, __float_as_uint(f.scale));
#pragma unroll
  for (int u = 0; u < SHARE; ++u) {
    const int i = warp + u * WARPS, row = i % ROWS, block = i / ROWS;
    const float once = __shfl_sync(~0u, f.once, u), twice = __shfl_sync(~0u, f.twice, u);
    const int to = digits + (block * COUNT * ROWS + row) * 128;
    if (i < all) write_row<COUNT>(x[u], once, twice, ROWS * 128, row % 2, [&](int at, unsigned word) { put(to + at, word); });
  }
}
// A block more for a sum, with the contract's order of scales where it is not all the same.
__device__ __forceinline__ float add_sum(float p, float a, float b, float s) {
  const float both = __fmul_rn(a, b);
  return both >= 0x1p-126f && both <= 0x1p+126f ? __fmaf_rn(p, both, s) : add_block<false>(p, a, b, s);
}
// Four words of the row of a fragment, from the piece on that is the thread's.
__device__ __forceinline__ void load_words(unsigned* to, const unsigned char* row, int piece) {
  const uint4 got = *(const uint4*)(row + piece * 16);
  to[0] = got.x; to[1] = got.y; to[2] = got.z; to[3] = got.w;
}
// The sums F of a block: 16 rows of a message, from digits `pitch` bytes apart, by TILES times TOGETHER tiles of eight columns of
// a weight, [tile][digit][column][128 bytes]; `to` is the first row of the first tile's, `tile_pitch` numbers apart.
template <int COUNT, int TILES, int TOGETHER>
__device__ __forceinline__ void block_product(const unsigned char* message, int pitch, const unsigned char* weights, float* to,
                                              int tile_pitch) {
  const int lane = threadIdx.x % 32, row = lane / 4, q = lane % 4;
  unsigned a[COUNT][2][8];
#pragma unroll
  for (int d = 0; d < COUNT; ++d)
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int j = 0; j < 2; ++j)
        load_words(&a[d][h][4 * j], message + d * pitch + (row + 8 * h) * 128, (2 * q + j) ^ row % 2);
#pragma unroll 1
  for (int t = 0; t < TILES; ++t) {
    int places[2 * COUNT - 1][4 * TOGETHER];
#pragma unroll
    for (int p = 0; p < 2 * COUNT - 1; ++p)
#pragma unroll
      for (int i = 0; i < 4 * TOGETHER; ++i) places[p][i] = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      unsigned b[TOGETHER][COUNT][4];
#pragma unroll
      for (int n = 0; n < TOGETHER; ++n)
#pragma unroll
        for (int e = 0; e < COUNT; ++e)
          load_words(b[n][e], weights + (((t * TOGETHER + n) * COUNT + e) * 8 + row) * 128, (2 * q + half) ^ row % 2);
#pragma unroll
      for (int s = 0; s < 2; ++s)
#pragma unroll
        for (int d = 0; d < COUNT; ++d)
#pragma unroll
          for (int e = 0; e < COUNT; ++e)
#pragma unroll
            for (int n = 0; n < TOGETHER; ++n) {
              const int w = 4 * half + 2 * s;
              const unsigned left[4] = {a[d][0][w], a[d][1][w], a[d][0][w + 1], a[d][1][w + 1]};
              multiply_add(&places[d + e][4 * n], left, b[n][e][2 * s], b[n][e][2 * s + 1]);
            }
    }
    int sums[COUNT][4 * TOGETHER];
    combine_places(sums, places);
#pragma unroll
    for (int n = 0; n < TOGETHER; ++n)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        *(float2*)(to + (t * TOGETHER + n) * tile_pitch + (row + 8 * h) * 8 + 2 * q) =
            make_float2(rounded(sums, 4 * n + 2 * h), rounded(sums, 4 * n + 2 * h + 1));
  }
}
"""
)

#: Blocks of a cluster, which make digits of messages for each other.
NEIGHBOURS = r"""
__device__ __forceinline__ int cluster_rank() { int rank; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank)); return rank; }
// Where a block of the cluster has what is at an address of this one's shared memory.
__device__ __forceinline__ unsigned neighbours(unsigned address, int rank) {
  unsigned there; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank)); return there;
}
__device__ __forceinline__ void store_there(unsigned address, unsigned word) {
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(address), "r"(word) : "memory");
}
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
"""
