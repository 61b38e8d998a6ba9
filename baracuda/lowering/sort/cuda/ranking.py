"""The rank of each element of a block among those of its digit, in CUDA C++: what every radix order here rests on.

A block of T threads has T * I elements, in the order warp, item, lane. Warps find the rank of an element among those of its
digit by votes, so that nothing depends on the order in which threads run. Elements that do not exist are the last ones, and
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
// The lanes of a warp whose digit is the same.
template <int RADIX> __device__ __forceinline__ unsigned peers_of(unsigned digit) {
  unsigned peers = 0xffffffffu;
#pragma unroll
  for (int bit = 1; bit < RADIX; bit *= 2) {
    const unsigned with = __ballot_sync(0xffffffffu, digit & bit);
    peers &= digit & bit ? with : ~with;
  }
  return peers;
}

// How many elements of the block have the digits of this thread; counts, of WARPS rows of RADIX, then has for each warp and digit
// where its elements of that digit come among those of the thread's digits.
template <int T, int I, int RADIX>
__device__ __forceinline__ unsigned tally(const unsigned (&digits)[I], unsigned* counts) {
  constexpr int WARPS = T / 32, EACH = RADIX > T ? RADIX / T : 1;
  const unsigned thread = threadIdx.x, lane = thread % 32;
  unsigned* const own = counts + thread / 32 * RADIX;
  for (unsigned d = lane; d < RADIX; d += 32) own[d] = 0;
  __syncwarp();
#pragma unroll
  for (int i = 0; i < I; ++i) atomicAdd(&own[digits[i] % RADIX], 1u);
  __syncthreads();
  unsigned sum = 0;
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
  return sum;
}

// Of the digits of this thread's elements, the places of these among the block's T * I elements in order of their digits, after
// `tally`, whose sum this is; the upper halves of the words stay. Returns where the first of the thread's digits begins.
template <int T, int I, int RADIX>
__device__ __forceinline__ unsigned rank(unsigned (&ranks)[I], unsigned sum, unsigned* counts, unsigned* sums) {
  constexpr int WARPS = T / 32, EACH = RADIX > T ? RADIX / T : 1, G = 4;
  const unsigned thread = threadIdx.x, lane = thread % 32;
  unsigned* const own = counts + thread / 32 * RADIX;
  unsigned all;
  const unsigned start = sum_before<WARPS>(sum, sums, all);
#pragma unroll
  for (int j = 0; j < EACH; ++j) {
    const unsigned d = thread * EACH + j;
    if (d < RADIX)
#pragma unroll
      for (int w = 0; w < WARPS; ++w) counts[w * RADIX + d] += start;
  }
  __syncthreads();
#pragma unroll
  for (int first = 0; first < I; first += G) {  // so many counts are under way at once
    unsigned peers[G], found[G];
#pragma unroll
    for (int g = 0; g < G; ++g)
      if (first + g < I) peers[g] = peers_of<RADIX>(ranks[first + g]);
#pragma unroll
    for (int g = 0; g < G; ++g)
      if (first + g < I) {
        found[g] = 0;
        if ((peers[g] & ((1u << lane) - 1)) == 0) found[g] = atomicAdd(&own[ranks[first + g] % RADIX], __popc(peers[g]));
        __syncwarp();
      }
#pragma unroll
    for (int g = 0; g < G; ++g)
      if (first + g < I) {
        const unsigned before = __shfl_sync(0xffffffffu, found[g], __ffs(peers[g]) - 1);
        ranks[first + g] = (ranks[first + g] & 0xffff0000u) + before + __popc(peers[g] & ((1u << lane) - 1));
      }
  }
  return start;
}
"""
