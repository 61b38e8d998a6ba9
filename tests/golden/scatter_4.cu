typedef unsigned long long u64;
typedef long long i64;
struct Words { u64 w[42]; };

// The first place from low to high - 1 whose key is not below `key`; high where there is none.
__device__ __forceinline__ unsigned first_of(const u64* entries, unsigned key, unsigned low, unsigned high) {
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if ((unsigned)(entries[middle] >> 32) < key) low = middle + 1; else high = middle;
  }
  return low;
}

extern "C" __global__ void __launch_bounds__(256) kernel(const __grid_constant__ Words W) {
  __shared__ unsigned bounds[2];
  const u64* const entries = (const u64*)(W.w[6] + ((i64)W.w[19]));
  const unsigned n = ((unsigned)W.w[20]), key = blockIdx.x * 256u + threadIdx.x;
  if (threadIdx.x < 2) bounds[threadIdx.x] = first_of(entries, (blockIdx.x + threadIdx.x) * 256u, 0, n);
  __syncthreads();
  if (key < ((unsigned)W.w[21]))
    ((unsigned*)(W.w[6] + ((i64)W.w[22])))[key] = first_of(entries, key, bounds[0], bounds[1]);
}
