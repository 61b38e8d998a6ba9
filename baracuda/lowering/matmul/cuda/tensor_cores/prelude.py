"""The C++ of lines on their way, and of the tensor cores that take them."""

from __future__ import annotations

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.core.elements import ElementKind
from baracuda.lowering.matmul.cuda.integers.prelude import MULTIPLY_ADD
from baracuda.lowering.matmul.problem import MatmulProblem

#: Columns of bytes from rows.
TURN = r"""
// The bytes of four words, of which each has those of four rows, by row.
__device__ __forceinline__ void turn(unsigned (&w)[4]) {
  const unsigned low01 = __byte_perm(w[0], w[1], 0x5140), high01 = __byte_perm(w[0], w[1], 0x7362);
  const unsigned low23 = __byte_perm(w[2], w[3], 0x5140), high23 = __byte_perm(w[2], w[3], 0x7362);
  w[0] = __byte_perm(low01, low23, 0x5410);
  w[1] = __byte_perm(low01, low23, 0x7632);
  w[2] = __byte_perm(high01, high23, 0x5410);
  w[3] = __byte_perm(high01, high23, 0x7632);
}
"""

#: A pass that writes a factor's lines along k.
WRITE_LINES = (
    TURN
    + r"""
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
"""
)

#: Lines on their way to shared memory.
LINES = r"""
// Blocks of ROWS lines by 128 bytes along k on their way to shared memory, by THREADS threads. There piece j, of 16 bytes, of
// line r lies at piece j ^ r % 8: the 128-byte swizzle, which tensor cores read and `ldmatrix` reads without bank conflicts. What
// does not exist are zeros.
template <int ROWS, int THREADS> struct Lines {
  static constexpr int NEXT = THREADS / 8, COUNT = (ROWS + NEXT - 1) / NEXT;
  const unsigned char* base;
  const unsigned char* from;
  i64 next;
  int rows, piece, place;
  // `rows` exist from `base` on, `stride` bytes apart.
  __device__ __forceinline__ Lines(const unsigned char* base, i64 stride, int rows, int thread)
      : base(base), from(base + thread / 8 * stride + thread % 8 * 16), next(stride * NEXT), rows(rows - thread / 8),
        piece(thread % 8 * 16), place(thread / 8 * 128 + ((thread % 8 ^ thread / 8 % 8) * 16)) {}
  template <bool CHECK> __device__ __forceinline__ void fetch_all(unsigned char* to, int valid) {
    const unsigned char* at = from;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      if (ROWS % NEXT != 0 && piece / 16 + place / 128 * 8 >= (ROWS - i * NEXT) * 8) break;
      const bool there = !CHECK || (i * NEXT < rows && valid > 0);
      copy_async<16>(to + place + i * NEXT * 128, there ? at : base, there ? valid : 0);
      at += next;
    }
  }
  // Starts the next block, of which `left` steps of k exist.
  __device__ __forceinline__ void fetch(unsigned char* to, int left) {
    const int valid = left - piece < 16 ? left - piece : 16;
    if (left >= 128 && rows > (COUNT - 1) * NEXT) fetch_all<false>(to, 16);
    else fetch_all<true>(to, valid);
    from += 128;
  }
};
"""

#: Products of few rows.
THIN = r"""
// 16 bytes, of which `left` exist and the rest become zeros. STREAM: nobody else reads them.
template <bool STREAM> __device__ __forceinline__ uint4 sixteen(const unsigned char* from, i64 left) {
  if (left >= 16) return STREAM ? __ldcs((const uint4*)from) : __ldg((const uint4*)from);
  unsigned words[4] = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < 15; ++i)
    if (i < left) words[i / 4] |= (unsigned)from[i] << i % 4 * 8;
  return make_uint4(words[0], words[1], words[2], words[3]);
}
// AHEAD blocks of 64 steps of k, from one to the next WAYS such blocks. CHECK: not all of them exist.
template <bool CHECK, int TILES, int AHEAD, int WAYS>
__device__ __forceinline__ void thin_steps(int (&sums)[TILES][4], const unsigned char* const (&a)[TILES],
                                           const unsigned char* const (&b)[2], i64 from, i64 k) {
  uint4 wide[AHEAD][2], thin[AHEAD][TILES];
#pragma unroll
  for (int s = 0; s < AHEAD; ++s)
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const i64 at = from + s * WAYS * 64;
      wide[s][i] = sixteen<true>(b[i] + at, CHECK ? k - at : 16);
    }
#pragma unroll
  for (int s = 0; s < AHEAD; ++s)
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      const i64 at = from + s * WAYS * 64;
      thin[s][i] = sixteen<false>(a[i] + at, CHECK ? k - at : 16);
    }
#pragma unroll
  for (int s = 0; s < AHEAD; ++s) {
    const unsigned low[4] = {wide[s][0].x, wide[s][1].x, wide[s][0].y, wide[s][1].y};
    const unsigned high[4] = {wide[s][0].z, wide[s][1].z, wide[s][0].w, wide[s][1].w};
#pragma unroll
    for (int i = 0; i < TILES; ++i) {
      multiply_add(sums[i], low, thin[s][i].x, thin[s][i].y);
      multiply_add(sums[i], high, thin[s][i].z, thin[s][i].w);
    }
  }
}
// The lines of a thread: row lane / 4 of each 8. Rows and columns that do not exist are others that do, for nobody looks at their
// sums.
template <int TILES>
__device__ __forceinline__ void thin_rows(const unsigned char* (&a)[TILES], const unsigned char* first, i64 stride, int rows,
                                          int lane) {
#pragma unroll
  for (int i = 0; i < TILES; ++i) a[i] = first + min(i * 8 + lane / 4, rows - 1) * stride;
}
// The sums of 16 columns, from `column` on, by TILES times 8 rows, of every WAYS-th block of 64 steps of k.
template <int TILES, int AHEAD, int WAYS>
__device__ __forceinline__ void thin_product(int (&sums)[TILES][4], const unsigned char* a_first, i64 a_stride, int rows,
                                             const unsigned char* b_first, i64 b_stride, int columns, int column, i64 k, int way,
                                             int lane) {
  const unsigned char* a[TILES];
  const unsigned char* b[2];
  thin_rows(a, a_first, a_stride, rows, lane);
#pragma unroll
  for (int i = 0; i < 2; ++i) b[i] = b_first + min(column + i * 8 + lane / 4, columns - 1) * b_stride;
  i64 from = way * 64;
#pragma unroll 1
  for (; from + ((AHEAD - 1) * WAYS + 1) * 64 <= k; from += AHEAD * WAYS * 64)
    thin_steps<false, TILES, AHEAD, WAYS>(sums, a, b, from + lane % 4 * 16, k);
#pragma unroll 1
  for (; from < k; from += WAYS * 64) thin_steps<true, TILES, 1, WAYS>(sums, a, b, from + lane % 4 * 16, k);
}

// 8 columns of 16 steps of k, from step `at` on, where columns lie side by side; zeros from step k on.
__device__ __forceinline__ void load_across(uint2 (&to)[16], const unsigned char* b, i64 k_stride, int at, int k) {
  const unsigned char* from = b + at * k_stride;
#pragma unroll
  for (int r = 0; r < 16; ++r) {
    to[r] = at + r < k ? __ldcs((const uint2*)from) : make_uint2(0, 0);
    from += k_stride;
  }
}
// The same where columns lie side by side: 64 columns, from b on, 8 of them a thread's. The next steps are on their way while
// these are turned and multiplied.
template <int TILES, int WAYS>
__device__ __forceinline__ void thin_across(int (&sums)[TILES][4][4], const unsigned char* a_first, i64 a_stride, int rows,
                                            const unsigned char* b, i64 k_stride, int k, int way, int lane) {
  const unsigned char* a[TILES];
  thin_rows(a, a_first, a_stride, rows, lane);
  uint2 wide[16];
  int at = way * 64 + lane % 4 * 16;
  load_across(wide, b, k_stride, at, k);
#pragma unroll 1
  for (int from = way * 64; from < k; from += WAYS * 64) {
    uint4 thin[TILES];
#pragma unroll
    for (int i = 0; i < TILES; ++i) thin[i] = sixteen<false>(a[i] + at, k - at);
    uint2 next[16];
    at += WAYS * 64;
    load_across(next, b, k_stride, at, k);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      unsigned columns[8][2];
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        unsigned low[4], high[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          low[r] = wide[half * 8 + q * 4 + r].x;
          high[r] = wide[half * 8 + q * 4 + r].y;
        }
        turn(low);
        turn(high);
#pragma unroll
        for (int v = 0; v < 4; ++v) {
          columns[v][q] = low[v];
          columns[v + 4][q] = high[v];
        }
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const unsigned own[4] = {columns[2 * j][0], columns[2 * j + 1][0], columns[2 * j][1], columns[2 * j + 1][1]};
#pragma unroll
        for (int i = 0; i < TILES; ++i)
          multiply_add(sums[i][j], own, half ? thin[i].z : thin[i].x, half ? thin[i].w : thin[i].y);
      }
    }
#pragma unroll
    for (int r = 0; r < 16; ++r) wide[r] = next[r];
  }
}
"""

_LETTERS = {ElementKind.S8: "s8", ElementKind.U8: "u8", ElementKind.BF16: "bf16", ElementKind.F16: "f16"}


def letters(c: MatmulProblem) -> tuple[str, str]:
    """The elements of both factors, as instructions call them."""
    return _LETTERS[c.a[0].kind], _LETTERS[c.b[0].kind]


def warpgroup_products(c: MatmulProblem, columns: int) -> str:
    """Hopper's instruction for 64 rows by so many columns."""
    count, whole = columns // 2, c.accumulator is ElementKind.S32
    numbered = ",".join(f"%{i}" for i in range(count))
    sums = ", ".join(f'"+{"r" if whole else "f"}"(c[{i}])' for i in range(count))
    kinds = f"{'k32.s32' if whole else 'k16.f32'}.{'.'.join(letters(c))}"
    signs = "" if whole else ", 1, 1, 0, 0"  # neither factor is negated, and both lie along k
    return rf"""
// c += the product of 64 rows and {columns} columns by 32 bytes along k, which begin K times 32 bytes into a and b.
template <int K> __device__ __forceinline__ void multiply_lines({COMPUTE_TYPE[c.accumulator]} (&c)[{count}], unsigned a,
                                               unsigned b) {{
  asm volatile(
      "{{\n.reg .pred p;\n.reg .b64 da, db;\n.reg .b32 x, y;\nsetp.eq.u32 p, 0, 0;\nadd.u32 x, %{count}, %{count + 2};\n"
      "add.u32 y, %{count + 1}, %{count + 2};\nmov.b64 da, {{x, 0x40000040}};\nmov.b64 db, {{y, 0x40000040}};\n"
      "wgmma.mma_async.sync.aligned.m64n{columns}{kinds} {{{numbered}}}, da, db, p{signs};\n}}\n"
      : {sums}
      : "r"(a), "r"(b), "n"(2 * K));
}}
"""


def warp_products(c: MatmulProblem, *, flipped: bool = False) -> str:
    """The tensor-core instruction of a warp; `flipped`: its rows are the columns of the product."""
    a, b = letters(c)[::-1] if flipped else letters(c)
    return MULTIPLY_ADD.replace(".s8.s8.", f".{a}.{b}.")


#: What warps do with lines.
LINE_PRODUCTS = r"""
// c += the product of a warp's TM times 16 rows and TN times 8 columns by 128 steps of k, whose first lines are at a and b.
template <int TM, int TN> __device__ __forceinline__ void line_products(int (&c)[TM][TN][4], unsigned a, unsigned b, int lane) {
  const unsigned own_a = lane % 16 * 128 + ((lane / 16 ^ lane % 8) << 4);
  const unsigned own_b = (lane / 16 * 8 + lane % 8) * 128 + ((lane / 8 % 2 ^ lane % 8) << 4);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    unsigned left[TM][4];
#pragma unroll
    for (int i = 0; i < TM; ++i) load_matrices(left[i], a + i * 2048 + (own_a ^ k * 32));
#pragma unroll
    for (int j = 0; j < TN; j += 2) {
      unsigned right[4];
      load_matrices(right, b + j * 1024 + (own_b ^ k * 32));
#pragma unroll
      for (int i = 0; i < TM; ++i) {
        multiply_add(c[i][j], left[i], right[0], right[1]);
        multiply_add(c[i][j + 1], left[i], right[2], right[3]);
      }
    }
  }
}
"""
