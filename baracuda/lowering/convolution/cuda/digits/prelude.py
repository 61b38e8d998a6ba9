"""The C++ of convolutions in integers on tensor cores, beside that of integer products."""

from __future__ import annotations

WINDOWS = r"""
// The scales of a thread's rows, 0 where a window has nothing of a tap, and of its columns, two of each eighth. They are in
// registers before the digits are multiplied.
template <int N> struct WindowScales {
  float a[2];
  float2 b[N];
  bool ordinary;
  __device__ __forceinline__ WindowScales(const float* rows, const float* columns, int row, int column) {
    a[0] = rows[row];
    a[1] = rows[row + 8];
#pragma unroll
    for (int i = 0; i < N; ++i) b[i] = *(const float2*)(columns + column + i * 8);
    const float least = a[0] < a[1] ? a[0] : a[1], greatest = a[0] < a[1] ? a[1] : a[0];
    ordinary = plain(make_float2(least, greatest), *(const float2*)(columns + 64));
  }
};
// A block more for the sums of a thread: rows 0 and 8 from its first one, columns 0 and 1 from each eighth.
template <int COUNT, int N>
__device__ __forceinline__ void add_windows(float (&sums)[4 * N], const int (&parts)[COUNT][4 * N],
                                            const WindowScales<N>& scales) {
  if (scales.ordinary) {
#pragma unroll
    for (int i = 0; i < 4 * N; ++i) {
      const float2 b = scales.b[i / 4];
      sums[i] = add_block<true>(rounded(parts, i), scales.a[i / 2 % 2], i % 2 ? b.y : b.x, sums[i]);
    }
  } else {
#pragma unroll
    for (int i = 0; i < 4 * N; ++i) {
      const float2 b = scales.b[i / 4];
      const float a = scales.a[i / 2 % 2], next = add_block<false>(rounded(parts, i), a, i % 2 ? b.y : b.x, sums[i]);
      sums[i] = a == 0.0f ? sums[i] : next;
    }
  }
}
// Sends the lines of 32 rows on their way, by a warp: `line` is that of the lane's own row, negative where there is none. Of the
// 128 bytes that a line has of each digit, the first 16 * PIECES travel; the rows are those from 32 * chunk on, 64 to a record.
template <int COUNT, int PIECES>
__device__ __forceinline__ void copy_lines(unsigned char* to, const unsigned char* from, int line, unsigned blocks,
                                           unsigned block, int chunk, int lane) {
  constexpr int ROWS = 32 / PIECES;
  const int piece = lane % PIECES;
  to += chunk / 2 * (COUNT * 8192) + chunk % 2 * 4096;
#pragma unroll 4
  for (int i = 0; i < PIECES; ++i) {
    const int row = i * ROWS + lane / PIECES, own = __shfl_sync(~0u, line, row), there = own >= 0 ? own : 0;
    const unsigned char* const source = from + ((i64)(there >> 6) * blocks + block) * (COUNT * 8192) + (there & 63) * 128 +
                                        (piece ^ there & 7) * 16;
    unsigned char* const at = to + row * 128 + (piece ^ row & 7) * 16;
#pragma unroll
    for (int d = 0; d < COUNT; ++d) copy_async<16>(at + d * 8192, source + d * 8192, own >= 0 ? 16 : 0);
  }
}
// The same rows' scales; 0 for those that are not there.
__device__ __forceinline__ void copy_scales(float* to, const float* from, int line, unsigned blocks, unsigned block, int lane) {
  const int there = line >= 0 ? line : 0;
  copy_async<4>(to + lane, from + ((i64)(there >> 6) * blocks + block) * 68 + (there & 63), line >= 0 ? 4 : 0);
}
"""
