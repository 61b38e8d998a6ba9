typedef unsigned long long u64;
typedef long long i64;

// n / d for 0 <= n < 2^31, with the multiplier and shift that the host prepared.
__device__ __forceinline__ unsigned divide(unsigned n, u64 magic) {
  return (__umulhi(n, (unsigned)magic) + n) >> (unsigned)(magic >> 32);
}
struct Words { u64 w[15]; };

// The bytes of four words, of which each has those of four rows, by row.
__device__ __forceinline__ void turn(unsigned (&w)[4]) {
  const unsigned low01 = __byte_perm(w[0], w[1], 0x5140), high01 = __byte_perm(w[0], w[1], 0x7362);
  const unsigned low23 = __byte_perm(w[2], w[3], 0x5140), high23 = __byte_perm(w[2], w[3], 0x7362);
  w[0] = __byte_perm(low01, low23, 0x5410);
  w[1] = __byte_perm(low01, low23, 0x7632);
  w[2] = __byte_perm(high01, high23, 0x5410);
  w[3] = __byte_perm(high01, high23, 0x7632);
}

// 64 rows by 128 steps of k, of which `rows` and `steps` exist behind `before` others, by 128 threads, as lines of which `left`
// bytes exist. BY_ROWS: a thread reads four rows at a time, V of them at once; else it reads along k, where V = 4 in words, which
// begin anywhere among its bytes.
template <bool BY_ROWS, int V>
__device__ __forceinline__ void write_lines(const unsigned char* from, i64 row_stride, i64 k_stride, i64 rows, i64 steps,
                                            i64 before, unsigned char* to, i64 line, i64 left) {
  const int thread = threadIdx.x;
  __shared__ __align__(16) unsigned char shared[64 * 128];
  if constexpr (BY_ROWS) {
    const int row = thread % 16 * 4, piece = thread / 16;
    unsigned words[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const unsigned char* const at = from + row * row_stride + (piece * 16 + k) * k_stride;
      const bool there = piece * 16 + k < steps;
      words[k] = 0;
      if (V == 4 && there && row + 4 <= rows) {
        words[k] = *reinterpret_cast<const unsigned*>(at);
      } else if (V == 2 && there && row + 4 <= rows) {
        words[k] = *reinterpret_cast<const unsigned short*>(at) | *reinterpret_cast<const unsigned short*>(at + 2) << 16;
      } else {
#pragma unroll
        for (int v = 0; v < 4; ++v)
          if (there && row + v < rows) words[k] |= (unsigned)at[v * row_stride] << 8 * v;
      }
    }
    unsigned turned[4][4];
#pragma unroll
    for (int w = 0; w < 4; ++w) {
#pragma unroll
      for (int k = 0; k < 4; ++k) turned[w][k] = words[4 * w + k];
      turn(turned[w]);
    }
#pragma unroll
    for (int v = 0; v < 4; ++v)
      *reinterpret_cast<uint4*>(shared + (row + v) * 128 + ((piece ^ thread % 8) * 16)) =
          make_uint4(turned[0][v], turned[1][v], turned[2][v], turned[3][v]);
    __syncthreads();
  }
  const int piece = thread % 8;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = thread / 8 + i * 16;
    if (row >= rows || piece * 16 >= left) continue;
    uint4 whole;
    if constexpr (BY_ROWS) {
      whole = *reinterpret_cast<const uint4*>(shared + row * 128 + ((piece ^ row / 4 % 8) * 16));
    } else {
      unsigned words[4] = {0, 0, 0, 0};
      const unsigned char* const at = from + row * row_stride + piece * 16 * k_stride;
      if (V == 4 && before + piece > 0 && piece * 16 + 20 <= steps) {
        const unsigned shift = (u64)at % 4;
        const unsigned* const first = reinterpret_cast<const unsigned*>(at - shift);
#pragma unroll
        for (int w = 0; w < 4; ++w) words[w] = __funnelshift_r(first[w], first[w + 1], 8 * shift);
      } else {
#pragma unroll
        for (int k = 0; k < 16; ++k)
          if (piece * 16 + k < steps) words[k / 4] |= (unsigned)at[k * k_stride] << k % 4 * 8;
      }
      whole = make_uint4(words[0], words[1], words[2], words[3]);
    }
    *reinterpret_cast<uint4*>(to + row * line + piece * 16) = whole;
  }
}

extern "C" __global__ void __launch_bounds__(128) kernel(const __grid_constant__ Words W) {
  unsigned block = blockIdx.x;
  if (block < ((unsigned)W.w[6])) {
  const unsigned line = divide(block, W.w[7]), turn = block - line * ((unsigned)W.w[8]);
  const unsigned matrix = divide(line, W.w[9]), tile = line - matrix * ((unsigned)W.w[10]);
  const i64 row = (i64)tile * 64, k = (i64)turn * 128, rows = ((i64)W.w[11]);
  write_lines<true, 4>((const unsigned char*)W.w[1] + ((i64)0 + row * (i64)1 + k * ((i64)W.w[4])), (i64)1, ((i64)W.w[4]), rows - row, ((i64)W.w[12]) - k, k, (unsigned char*)(W.w[3] + W.w[13]) + ((matrix * rows + row) * ((i64)W.w[5]) + k), ((i64)W.w[5]), ((i64)W.w[5]) - k);
  return;
  }
  block -= ((unsigned)W.w[14]);
}
