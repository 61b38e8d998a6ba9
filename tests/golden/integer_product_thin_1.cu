typedef unsigned long long u64;
typedef long long i64;
struct F16 { unsigned short bits; };
struct BF16 { unsigned short bits; };
struct Bool { unsigned char byte; };
template <class T, int N> struct alignas(sizeof(T) * N) Vec { T v[N]; };

// Loads widen to the compute type.
__device__ __forceinline__ float widen(F16 h) {
  float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits));
  return __uint_as_float((__float_as_uint(f) & 0x7fffffffu) | (unsigned)(h.bits & 0x8000) << 16);  // a NaN loses its sign there
}
__device__ __forceinline__ float widen(BF16 h) { return __uint_as_float((unsigned)h.bits << 16); }
__device__ __forceinline__ bool widen(Bool x) { return x.byte != 0; }
template <class T> __device__ __forceinline__ T widen(T x) { return x; }

// N consecutive elements, moved in pieces of P.
template <int P, class T, int N> __device__ __forceinline__ void load(Vec<T, N>& to, const T* from) {
#pragma unroll
  for (int i = 0; i < N / P; ++i) {
    Vec<T, P> piece = reinterpret_cast<const Vec<T, P>*>(from)[i];
#pragma unroll
    for (int j = 0; j < P; ++j) to.v[i * P + j] = piece.v[j];
  }
}

// n / d for 0 <= n < 2^31, with the multiplier and shift that the host prepared.
__device__ __forceinline__ unsigned divide(unsigned n, u64 magic) {
  return (__umulhi(n, (unsigned)magic) + n) >> (unsigned)(magic >> 32);
}
struct Words { u64 w[13]; };

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

extern "C" __global__ void __launch_bounds__(256) kernel(const __grid_constant__ Words W) {
  extern __shared__ __align__(1024) unsigned char shared[];
  unsigned record = blockIdx.x;
  {
  const unsigned line = divide(record, W.w[7]), block = record - line * ((unsigned)W.w[5]);
  const unsigned matrix = divide(line, W.w[8]), tile = line - matrix * ((unsigned)W.w[6]);
  const i64 row = (i64)tile * 64, k = (i64)block * 128;
  const BF16* const from = (const BF16*)W.w[0] + ((i64)0 + row * ((i64)W.w[4]) + k * (i64)1);
  unsigned char* const to = (unsigned char*)(W.w[3] + W.w[9]);
  float* const scales = (float*)(W.w[3] + W.w[10]);
  write_digits<false, 8, 3>(from, ((i64)W.w[4]), (i64)1, ((i64)W.w[11]) - row, ((i64)W.w[12]) - k, to + (i64)record * 24576, scales + (i64)record * 68, shared);
  return;
  }
}
