"""The C++ of attention in integers by Hopper's warpgroup instructions, which read digits where they lie in shared memory.

Thirty-two columns are multiplied while the sums of those before are put together.
"""

from __future__ import annotations


def _multiply(name: str, left: str, inputs: tuple[str, ...]) -> str:
    """A function that multiplies 64 rows, whose digits four registers or a descriptor have, by 32 columns."""
    n = 16 + len(inputs)
    registers = ", ".join(f"%{i}" for i in range(16))
    given = ", ".join(f"%{i}" for i in range(16, n))
    sums = ", ".join(f'"+r"(c[{i}])' for i in range(16))
    held = len(inputs) > 1
    lines = [
        ".reg .pred p;",
        ".reg .b64 da, db;",
        f"setp.ne.b32 p, %{n}, 0;",
        *([] if held else [f"mov.b64 da, {{%16, %{n + 3}}};"]),
        f"mov.b64 db, {{%{n + 1}, %{n + 2}}};",
        f"wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.s8 {{{registers}}}, {f'{{{given}}}' if held else 'da'}, db, p;",
    ]
    text = "".join(f'    "{line}\\n"\n' for line in ["{", *lines, "}"])
    values = ", ".join(f'"r"({x})' for x in (*inputs, "add", "b"))
    return (
        f"template <int LINE> __device__ __forceinline__ void {name}(int (&c)[16], {left}, unsigned b, int add) {{\n"
        f'  asm volatile(\n{text}    : {sums}\n    : {values}, "n"(lines<LINE>()), "n"(lines<LINE>()));\n}}\n'
    )


WARPGROUP_PRODUCTS = (
    r"""
__device__ __forceinline__ void warpgroup_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void warpgroup_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most N groups of products are under way; the sums c are there then.
template <int N> __device__ __forceinline__ void await_sums(int (&c)[3][16]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
#pragma unroll
  for (int p = 0; p < 3; ++p)
#pragma unroll
    for (int i = 0; i < 16; ++i) asm volatile("" : "+r"(c[p][i]));
}
// What copies have brought to shared memory is there for warpgroup instructions.
__device__ __forceinline__ void order_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// The two halves of the descriptor of a matrix in shared memory whose lines have LINE bytes, in the places of `row_place`: the
// swizzle by its width, and the bytes from eight lines to the next.
template <int LINE> __device__ constexpr unsigned lines() {
  return (LINE == 128 ? 0x40000000u : LINE == 64 ? 0x80000000u : 0xc0000000u) | 8 * LINE / 16;
}
__device__ __forceinline__ unsigned matrix(unsigned address) { return (address & 0x3ffffu) >> 4 | 0x10000u; }
"""
    + _multiply("multiply_shared", "unsigned a", ("a",))
    + _multiply("multiply_held", "const unsigned (&a)[4]", ("a[0]", "a[1]", "a[2]", "a[3]"))
    + r"""
// Starts the products of 32 columns of a block of the depth: digits a of 64 rows, b of the columns.
template <int STEPS, int LINE> __device__ __forceinline__ void start_dots(int (&c)[3][16], unsigned a, unsigned b) {
  warpgroup_fence();
#pragma unroll
  for (int p = 0; p < 3; ++p)
#pragma unroll
    for (int d = p > 1 ? 1 : 0; d < 2 && d <= p; ++d)
#pragma unroll
      for (int k = 0; k < STEPS; ++k)
        multiply_shared<LINE>(c[p], matrix(a + d * 64 * LINE) + k * 2, matrix(b + (p - d) * 64 * LINE) + k * 2,
                                    d != (p > 1) || k);
  warpgroup_commit();
}
// Starts the products of weights and 32 columns of WIDTH.
template <int WIDTH> __device__ __forceinline__ void start_rows(int (&c)[3][16], const unsigned (&u)[2][2][4], unsigned b) {
  warpgroup_fence();
#pragma unroll
  for (int p = 0; p < 3; ++p)
#pragma unroll
    for (int d = p > 1 ? 1 : 0; d < 2 && d <= p; ++d)
#pragma unroll
      for (int k = 0; k < 2; ++k)
        multiply_held<64>(c[p], u[k][d], matrix(b + (p - d) * WIDTH * 64) + k * 2, d != (p > 1) || k);
  warpgroup_commit();
}
// P of element i, rounded to f32.
__device__ __forceinline__ float rounded_sum(const int (&c)[3][16], int i) {
  int low;
  asm("{ .reg .b32 x; lop3.b32 x, %1, 255, 0x4b4000, 0xea; mad.lo.s32 %0, x, 256, %2; }"
      : "=r"(low) : "r"(c[1][i]), "r"(c[2][i]));
  const float high = __int_as_float((c[1][i] >> 8) + (c[0][i] + 0x4b400000)) - (12582912.0f + 192.0f);
  return __fmaf_rn(high, 65536.0f, __int_as_float(low));
}
// As add_dots, with the digits of 64 rows in shared memory.
template <int STEPS, int LINE, bool LARGE>
__device__ __forceinline__ void add_group_dots(float (&t)[8][4], unsigned rows, unsigned digits, const float* b,
                                               const float (&a)[2]) {
  int c[2][3][16];
  start_dots<STEPS, LINE>(c[0], rows, digits);
  start_dots<STEPS, LINE>(c[1], rows, digits + 32 * LINE);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (half == 0) await_sums<1>(c[0]);
    else await_sums<0>(c[1]);
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const float2 of_columns = *reinterpret_cast<const float2*>(b + (half * 4 + n) * 8 + threadIdx.x % 4 * 2);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float p = rounded_sum(c[half], n * 4 + i), r = a[i / 2], s = i % 2 ? of_columns.y : of_columns.x;
        float& sum = t[half * 4 + n][i];
        sum = LARGE ? __fmaf_rn(__fmul_rn(p, minimum(r, s)), maximum(r, s), sum) : __fmaf_rn(__fmul_rn(p, r), s, sum);
      }
    }
  }
}
// As Weights::add_rows.
template <int N>
__device__ __forceinline__ void add_group_rows(float (&sums)[N][4], const unsigned (&u)[2][2][4], unsigned digits,
                                               const float (&scale)[2]) {
  int c[2][3][16];
  start_rows<8 * N>(c[0], u, digits);
#pragma unroll
  for (int n = 0; n < N; n += 4) {
    if (n + 4 < N) {
      start_rows<8 * N>(c[n / 4 % 2 ^ 1], u, digits + (n + 4) * 8 * 64);
      await_sums<1>(c[n / 4 % 2]);
    } else {
      await_sums<0>(c[n / 4 % 2]);
    }
#pragma unroll
    for (int i = 0; i < 16; ++i)
      sums[n + i / 4][i % 4] = __fmaf_rn(rounded_sum(c[n / 4 % 2], i), scale[i / 2 % 2], sums[n + i / 4][i % 4]);
  }
}
"""
)
