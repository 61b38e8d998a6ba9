typedef unsigned long long u64;
typedef long long i64;
struct F16 { unsigned short bits; };
struct BF16 { unsigned short bits; };
struct Bool { unsigned char byte; };

// Loads widen to the compute type.
__device__ __forceinline__ float widen(F16 h) {
  float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits));
  return __uint_as_float((__float_as_uint(f) & 0x7fffffffu) | (unsigned)(h.bits & 0x8000) << 16);  // a NaN loses its sign there
}
__device__ __forceinline__ float widen(BF16 h) { return __uint_as_float((unsigned)h.bits << 16); }
__device__ __forceinline__ bool widen(Bool x) { return x.byte != 0; }
template <class T> __device__ __forceinline__ T widen(T x) { return x; }

// n / d for 0 <= n < 2^31, with the multiplier and shift that the host prepared.
__device__ __forceinline__ unsigned divide(unsigned n, u64 magic) {
  return (__umulhi(n, (unsigned)magic) + n) >> (unsigned)(magic >> 32);
}
struct Words { u64 w[14]; };

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

// A row of a block of k, of which `steps` exist, by a warp: its integers of BITS bits times 2**896, and its scale.
template <int BITS, int ROWS, class S>
__device__ __forceinline__ void write_doubles(const S* from, i64 k_stride, int row, i64 steps, double* to, float* scales,
                                              int lane) {
  constexpr int HELD = ROWS < 8 ? ROWS : 8;
  float x[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) x[i] = lane * 4 + i < steps ? widen(from[(lane * 4 + i) * k_stride]) : 0.0f;
  unsigned m = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) m = max(m, __float_as_uint(x[i]) & 0x7fffffffu);
  m = __reduce_max_sync(~0u, m);
  const bool usual = m - 1 < 0x7f7fffffu;  // neither 0 nor infinite
  const int up = usual ? BITS - max(exponent_above(m), BITS - 149) : 0;
  const float once = power_of_two(up / 2), twice = power_of_two(up - up / 2);
  double* const own = to + row / 8 * 1024 + (lane / 8 * 2 + lane % 2) * 16 * HELD + row % 8 * 8 + lane / 2 % 4 * 2;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    own[i / 2 * 8 * HELD + i % 2] = usual ? (double)rintf(x[i] * once * twice) * 0x1p896 : 0.0;
  }
  if (lane == 0) scales[row] = usual || m == 0 ? power_of_two(-up) : __uint_as_float(0x7fc00000u);
}

extern "C" __global__ void __launch_bounds__(128) kernel(const __grid_constant__ Words W) {
  const unsigned unit = blockIdx.x * 4 + threadIdx.x / 32, record = unit / 4, row = unit % 4;
  if (record >= ((unsigned)W.w[4])) return;
  const unsigned matrix = divide(record, W.w[5]);
  const unsigned block = record - matrix * ((unsigned)W.w[6]);
  const i64 k = (i64)block * 128, row_stride = ((i64)W.w[7]);
  const BF16* const from = (const BF16*)W.w[0] + ((i64)0 + row * row_stride + k * ((i64)W.w[8]));
  double* const to = (double*)(W.w[3] + W.w[9]) + (i64)record * 512;
  float* const scales = (float*)(W.w[3] + W.w[10]) + (i64)record * 4;
  write_doubles<23, 4>(from, ((i64)W.w[11]), row, row < ((i64)W.w[12]) ? ((i64)W.w[13]) - k : (i64)0, to, scales, threadIdx.x % 32);
}
