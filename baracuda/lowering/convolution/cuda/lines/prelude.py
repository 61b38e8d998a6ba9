"""The C++ of convolutions by lines of channels."""

from __future__ import annotations

WINDOW_LINES = r"""
// Sends 128 bytes, of which `left` exist, of each of 32 lines on their way, by a warp: `line` is where that of the lane's own row
// begins, in pieces of 16 bytes from `from` on, negative where there is none.
__device__ __forceinline__ void copy_window_lines(unsigned char* to, const unsigned char* from, int line, int offset, int left,
                                                  int lane) {
  const int piece = lane % 8, rest = left - piece * 16, valid = rest < 16 ? rest : 16;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row = i * 4 + lane / 8, own = __shfl_sync(~0u, line, row);
    const bool there = own >= 0 && valid > 0;
    copy_async<16>(to + row * 128 + (piece ^ row & 7) * 16, there ? from + ((i64)own * 16 + offset + piece * 16) : from,
                   there ? valid : 0);
  }
}
"""

#: A pass that writes lines of channels.
WRITE_CHANNELS = r"""
// The lines of 64 rows from `channels` of 64 channels, filled with zeros up to LINE elements, by 256 threads. BY_ROWS: neighbours
// are read along the rows.
template <bool BY_ROWS, class E>
__device__ __forceinline__ void write_channels(const E* from, i64 row_stride, i64 channel_stride, i64 rows, i64 channels, E* to,
                                               i64 line, i64 left) {
  __shared__ E tile[64][65];
#pragma unroll 4
  for (int i = threadIdx.x; i < 4096; i += 256) {
    const int row = BY_ROWS ? i % 64 : i / 64, channel = BY_ROWS ? i / 64 : i % 64;
    tile[row][channel] = row < rows && channel < channels ? from[row * row_stride + channel * channel_stride] : E(0);
  }
  __syncthreads();
#pragma unroll 4
  for (int i = threadIdx.x; i < 4096; i += 256) {
    const int row = i / 64, channel = i % 64;
    if (row < rows && channel < left) to[row * line + channel] = tile[row][channel];
  }
}
"""
