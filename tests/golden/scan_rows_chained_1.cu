typedef unsigned long long u64;
typedef long long i64;
struct Words { u64 w[12]; };

extern "C" __global__ void __launch_bounds__(256) kernel(const __grid_constant__ Words W) {
  const i64 i = (i64)blockIdx.x * 256 + threadIdx.x;
  if (i < ((i64)W.w[10])) ((u64*)(W.w[2] + ((i64)W.w[11])))[i] = 0;
}
