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

extern "C" __global__ void __launch_bounds__(256) kernel(const __grid_constant__ Words W) {
  __shared__ unsigned sums[8];
  const unsigned count = ((unsigned)W.w[12]);
  unsigned* const row = (unsigned*)(W.w[6] + ((i64)W.w[13])) + (i64)blockIdx.x * count;
  unsigned carry = 0;
  for (unsigned base = 0; base < count; base += 256u) {
    const unsigned i = base + threadIdx.x;
    const unsigned own = i < count ? row[i] : 0;
    unsigned total;
    const unsigned before = sum_before<8>(own, sums, total);
    if (i < count) row[i] = carry + before;
    carry += total;
  }
  if (threadIdx.x == 0) ((unsigned*)(W.w[6] + ((i64)W.w[14])))[blockIdx.x] = carry;
}
