"""The rank of each element of a block among those of its digit, in CUDA C++: what every radix order here rests on.

A block of T threads has T * I elements, in the order warp, item, lane. Warps find the rank of an element among those of its
digit with `match`, so that nothing depends on the order in which threads run. Elements that do not exist are the last ones, and
have the largest digit: they stay the last ones.
"""

from __future__ import annotations

SUM_BEFORE = """
// The sum of x over the threads before this one; `sums` may be written again after the next barrier.
template <int WARPS> __device__ __forceinline__ unsigned sum_before(unsigned x, unsigned* sums, unsigned& total) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned sum = x;
#pragma unroll
  for (int w = 1; w < 32; w *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, sum, w);
    if (lane >= w) sum += other;
  }
  __syncthreads();
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  unsigned before = 0;
  total = 0;
#pragma unroll
  for (int w = 0; w < WARPS; ++w) {
    if (w < warp) before += sums[w];
    total += sums[w];
  }
  return before + sum - x;
}
"""

RANK = """
// ranks[i]: the place of this thread's element number i, of digit digits[i], among the block's T * I elements in order of their
// digits. counts, of WARPS rows of RADIX, has in its first row where each digit begins.
template <int T, int I, int RADIX>
__device__ __forceinline__ void rank(const unsigned (&digits)[I], unsigned (&ranks)[I], unsigned* counts, unsigned* sums) {
  constexpr int WARPS = T / 32, EACH = RADIX > T ? RADIX / T : 1;
  const unsigned thread = threadIdx.x, lane = thread % 32;
  unsigned* const own = counts + thread / 32 * RADIX;
  for (unsigned d = lane; d < RADIX; d += 32) own[d] = 0;
  __syncwarp();
#pragma unroll
  for (int i = 0; i < I; ++i) {
    const unsigned d = digits[i];
    const unsigned peers = __match_any_sync(0xffffffffu, d), mine = __popc(peers & ((1u << lane) - 1));
    const unsigned found = own[d];
    __syncwarp();
    if (mine == 0) own[d] = found + __popc(peers);
    __syncwarp();
    ranks[i] = found + mine;
  }
  __syncthreads();
  unsigned sum = 0, all;
#pragma unroll
  for (int j = 0; j < EACH; ++j) {
    const unsigned d = thread * EACH + j;
    if (d < RADIX)
#pragma unroll
      for (int w = 0; w < WARPS; ++w) {
        const unsigned c = counts[w * RADIX + d];
        counts[w * RADIX + d] = sum;
        sum += c;
      }
  }
  const unsigned before = sum_before<WARPS>(sum, sums, all);
#pragma unroll
  for (int j = 0; j < EACH; ++j) {
    const unsigned d = thread * EACH + j;
    if (d < RADIX)
#pragma unroll
      for (int w = 0; w < WARPS; ++w) counts[w * RADIX + d] += before;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < I; ++i) ranks[i] += own[digits[i]];
}
"""
