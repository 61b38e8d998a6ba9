typedef unsigned long long u64;
typedef long long i64;
struct Words { u64 w[42]; };

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
__device__ __forceinline__ u64 entry_of(const Words& W, unsigned p) {
  const unsigned c0 = p;
  const i64 value = ((const i64*)W.w[0])[(i64)c0 * ((i64)W.w[7])];
  const i64 last = ((i64)W.w[8]);
  unsigned key = (unsigned)(value < 0 ? 0 : value > last ? last : value);
  return (u64)key << 32 | p;
}
__device__ __forceinline__ unsigned digit_of(const Words& W, u64 entry) {
  return (unsigned)(entry >> ((unsigned)W.w[9])) & 63u;
}

extern "C" __global__ void __launch_bounds__(256) kernel(const __grid_constant__ Words W) {
    __shared__ unsigned sums[8], places[64], counts[8][64];
    const unsigned n = ((unsigned)W.w[15]), thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    const unsigned* const totals = (const unsigned*)(W.w[6] + ((i64)W.w[16]));
    const unsigned* const before = (const unsigned*)(W.w[6] + ((i64)W.w[17])) + blockIdx.x;
    for (unsigned i = lane; i < 64u; i += 32) counts[warp][i] = 0;
    // where each digit of this tile goes: behind all smaller digits, and behind its own in the tiles before
    unsigned own[1], sum = 0, all;
  #pragma unroll
    for (int i = 0; i < 1; ++i) {
      const unsigned d = thread * 1u + i;
      own[i] = d < 64u ? totals[d] : 0;
      sum += own[i];
    }
    unsigned place = sum_before<8>(sum, sums, all);
  #pragma unroll
    for (int i = 0; i < 1; ++i) {
      const unsigned d = thread * 1u + i;
      if (d < 64u) places[d] = place + before[(i64)d * gridDim.x];
      place += own[i];
    }
    __syncthreads();
    u64 entries[4];
    unsigned ranks[4];
    const unsigned first = blockIdx.x * 1024u + warp * 128u + lane;
  #pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned p = first + i * 32u;
      if (p < n) entries[i] = entry_of(W, p);
    }
  #pragma unroll
    for (int i = 0; i < 4; ++i) {
      const bool exists = first + i * 32u < n;
      const unsigned d = exists ? digit_of(W, entries[i]) : 64u;
      const unsigned peers = __match_any_sync(0xffffffffu, d), mine = __popc(peers & ((1u << lane) - 1));
      const unsigned found = exists ? counts[warp][d] : 0;
      __syncwarp();
      if (exists && mine == 0) counts[warp][d] = found + __popc(peers);
      __syncwarp();
      ranks[i] = found + mine;
    }
    __syncthreads();
    for (unsigned d = thread; d < 64u; d += 256u) {
      unsigned at = places[d];
  #pragma unroll
      for (int w = 0; w < 8; ++w) { const unsigned c = counts[w][d]; counts[w][d] = at; at += c; }
    }
    __syncthreads();
    u64* const to = (u64*)(W.w[6] + ((i64)W.w[18]));
  #pragma unroll
    for (int i = 0; i < 4; ++i)
      if (first + i * 32u < n) to[counts[warp][digit_of(W, entries[i])] + ranks[i]] = entries[i];
}
