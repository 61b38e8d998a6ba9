typedef unsigned long long u64;
typedef long long i64;
struct Words { u64 w[42]; };
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
    __shared__ unsigned counts[64];
    const unsigned n = ((unsigned)W.w[10]), first = blockIdx.x * 1024u + threadIdx.x;
    for (unsigned i = threadIdx.x; i < 64u; i += 256u) counts[i] = 0;
    __syncthreads();
  #pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned p = first + i * 256u;
      if (p < n) atomicAdd(&counts[digit_of(W, entry_of(W, p))], 1u);
    }
    __syncthreads();
    unsigned* const to = (unsigned*)(W.w[6] + ((i64)W.w[11])) + blockIdx.x;
    for (unsigned i = threadIdx.x; i < 64u; i += 256u) to[(i64)i * gridDim.x] = counts[i];
}
