"""The C++ of attention in integers by Hopper's warpgroup instructions, which read digits where they lie in shared memory.

Every digit of the rows is multiplied by every one of the columns, 32 or 64 columns at a time.
"""

from __future__ import annotations


def _multiply(name: str, columns: int, *, held: bool) -> str:
    """A function that multiplies 64 rows, whose digits four registers have or a descriptor, by so many columns: the sums are
    those from c[FROM] on, of as many for each power of 256."""
    inputs = ("a[0]", "a[1]", "a[2]", "a[3]") if held else ("a",)
    sums, n = columns // 2, columns // 2 + len(inputs)
    registers = ", ".join(f"%{i}" for i in range(sums))
    given = ", ".join(f"%{i}" for i in range(sums, n))
    left = f"{{{given}}}" if held else "da"
    lines = [
        ".reg .pred p;",
        ".reg .b64 da, db;",
        f"setp.ne.b32 p, %{n}, 0;",
        *([] if held else [f"mov.b64 da, {{{given}, %{n + 3}}};"]),
        f"mov.b64 db, {{%{n + 1}, %{n + 2}}};",
        f"wgmma.mma_async.sync.aligned.m64n{columns}k32.s32.s8.s8 {{{registers}}}, {left}, db, p;",
    ]
    text = "".join(f'    "{line}\\n"\n' for line in ["{", *lines, "}"])
    outputs = ", ".join(f'"+r"(c[FROM + {i}])' for i in range(sums))
    values = ", ".join(f'"r"({x})' for x in (*inputs, "add", "b"))
    rows = "const unsigned (&a)[4]" if held else "unsigned a"
    return (
        "template <int LINE, int FROM>\n"
        f"__device__ __forceinline__ void {name}(int (&c)[{3 * sums}], {rows}, unsigned b, int add) {{\n"
        f'  asm volatile(\n{text}    : {outputs}\n    : {values}, "n"(lines<LINE>()), "n"(lines<LINE>()));\n}}\n'
    )


WARPGROUP_PRODUCTS = (
    r"""
__device__ __forceinline__ void warpgroup_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void warpgroup_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most N groups of products are under way; the sums c are there then.
template <int N, int M> __device__ __forceinline__ void await_sums(int (&c)[M]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
#pragma unroll
  for (int i = 0; i < M; ++i) asm volatile("" : "+r"(c[i]));
}
// What this thread has written to shared memory is there for `copy_record`.
__device__ __forceinline__ void order_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void expect_bytes(u64* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}
// Copies bytes that lie one behind the other; the barrier counts them as they arrive.
__device__ __forceinline__ void copy_record(void* to, const void* from, int bytes, u64* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier)) : "memory");
}
// The two halves of the descriptor of a matrix in shared memory whose lines have LINE bytes, in the places of `row_place`: the
// swizzle by its width, and the bytes from eight lines to the next.
template <int LINE> __device__ constexpr unsigned lines() {
  return (LINE == 128 ? 0x40000000u : LINE == 64 ? 0x80000000u : 0xc0000000u) | 8 * LINE / 16;
}
__device__ __forceinline__ unsigned matrix(unsigned address) { return (address & 0x3ffffu) >> 4 | 0x10000u; }
"""
    + _multiply("multiply_shared", 32, held=False)
    + _multiply("multiply_shared", 64, held=False)
    + _multiply("multiply_held", 32, held=True)
    + r"""
// SIZE sums of products of digits, of 64 rows and SIZE * 2 / 3 columns: a third for each power of 256, the highest first.
// Starts dot products of digits a of rows and b of columns, of which there are 64.
template <int STEPS, int LINE, int SIZE> __device__ __forceinline__ void start_dots(int (&c)[SIZE], unsigned a, unsigned b) {
  const unsigned high = matrix(a), low = matrix(a + 64 * LINE), first = matrix(b), second = matrix(b + 64 * LINE);
  warpgroup_fence();
#pragma unroll
  for (int k = 0; k < STEPS; ++k) multiply_shared<LINE, 0>(c, high + k * 2, first + k * 2, k);
#pragma unroll
  for (int k = 0; k < STEPS; ++k) multiply_shared<LINE, SIZE / 3>(c, high + k * 2, second + k * 2, k);
#pragma unroll
  for (int k = 0; k < STEPS; ++k) multiply_shared<LINE, SIZE / 3>(c, low + k * 2, first + k * 2, 1);
#pragma unroll
  for (int k = 0; k < STEPS; ++k) multiply_shared<LINE, SIZE / 3 * 2>(c, low + k * 2, second + k * 2, k);
  warpgroup_commit();
}
// Starts sums of weights u times columns b.
__device__ __forceinline__ void start_rows(int (&c)[48], const unsigned (&u)[2][2][4], unsigned b) {
  const unsigned first = matrix(b), second = matrix(b + 32 * 64);
  warpgroup_fence();
#pragma unroll
  for (int k = 0; k < 2; ++k) multiply_held<64, 0>(c, u[k][0], first + k * 2, k);
#pragma unroll
  for (int k = 0; k < 2; ++k) multiply_held<64, 16>(c, u[k][0], second + k * 2, k);
#pragma unroll
  for (int k = 0; k < 2; ++k) multiply_held<64, 16>(c, u[k][1], first + k * 2, 1);
#pragma unroll
  for (int k = 0; k < 2; ++k) multiply_held<64, 32>(c, u[k][1], second + k * 2, k);
  warpgroup_commit();
}
// P of element i, rounded to f32: sums of products of digits are below 2**22.
template <int SIZE> __device__ __forceinline__ float rounded_sum(const int (&c)[SIZE], int i) {
  const int high = c[i], middle = c[SIZE / 3 + i];
  int low;  // the last byte of the middle sum, times 256, and the lowest sum
  asm("dp2a.lo.s32.u32 %0, 256, %1, %2;" : "=r"(low) : "r"(middle), "r"(c[SIZE / 3 * 2 + i]));
  return __fmaf_rn(__int2float_rn(high + (middle >> 8)), 65536.0f, __int2float_rn(low));
}
// Of N pieces, starts one after the other and takes each when it is there; with two buffers the next is multiplied meanwhile.
// `work` is done while the first is.
template <int SIZE, int BUFFERS, int N, class Start, class Work, class Take>
__device__ __forceinline__ void in_pieces(Start start, Work work, Take take) {
  int c[BUFFERS][SIZE];
  start(c[0], 0);
  work();
#pragma unroll
  for (int n = 0; n < N; ++n) {
    const bool two = BUFFERS > 1 && n + 1 < N;
    if (two) start(c[(n + 1) % BUFFERS], n + 1);
    if (two) await_sums<1>(c[n % BUFFERS]);
    else await_sums<0>(c[n % BUFFERS]);
    take(c[n % BUFFERS], n);
    if (!two && n + 1 < N) start(c[0], n + 1);
  }
}
// The dot products of a piece. LARGE: as for `add_dots`.
template <bool LARGE, int SIZE>
__device__ __forceinline__ void take_dots(float (&t)[8][4], const int (&c)[SIZE], int piece, const float* b,
                                          const float (&a)[2]) {
#pragma unroll
  for (int m = 0; m < SIZE / 12; ++m) {
    const int n = piece * (SIZE / 12) + m;
    const float2 of_columns = *reinterpret_cast<const float2*>(b + n * 8 + threadIdx.x % 4 * 2);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float p = rounded_sum(c, m * 4 + i), r = a[i / 2], s = i % 2 ? of_columns.y : of_columns.x;
      t[n][i] = LARGE ? __fmul_rn(__fmul_rn(p, minimum(r, s)), maximum(r, s)) : __fmul_rn(__fmul_rn(p, r), s);
    }
  }
}
// The dot products of 64 rows, whose scales are `a`, and 64 columns, whose scales are `b`, in pieces.
template <int PIECES, int STEPS, int LINE, class Work>
__device__ __forceinline__ void multiply_dots(float (&t)[8][4], unsigned rows, unsigned digits, const float* b,
                                              const float (&a)[2], bool large, Work work) {
  constexpr int SIZE = 96 / PIECES;
  in_pieces<SIZE, 1, PIECES>(
      [&](int (&c)[SIZE], int n) { start_dots<STEPS, LINE>(c, rows, digits + n * (64 / PIECES) * LINE); }, work,
      [&](const int (&c)[SIZE], int n) {
        if (large) take_dots<true>(t, c, n, b, a);
        else take_dots<false>(t, c, n, b, a);
      });
}
// sums += the weights times columns of 64 rows, 32 columns at a time.
template <int BUFFERS, int N, class Work>
__device__ __forceinline__ void multiply_rows(float (&sums)[N][4], const unsigned (&u)[2][2][4], unsigned digits,
                                              const float (&scale)[2], Work work) {
  in_pieces<48, BUFFERS, N / 4>(
      [&](int (&c)[48], int n) { start_rows(c, u, digits + n * 32 * 128); }, work,
      [&](const int (&c)[48], int n) {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
          float& sum = sums[n * 4 + i / 4][i % 4];
          sum = __fmaf_rn(rounded_sum(c, i), scale[i / 2 % 2], sum);
        }
      });
}
"""
)
