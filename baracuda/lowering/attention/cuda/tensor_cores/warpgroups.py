"""The C++ of attention by Hopper's warpgroup instructions, which read tiles where they lie in shared memory."""

from __future__ import annotations


def _multiply(columns: int, *, held: bool, turned: bool) -> str:
    """A function: c += 64 rows of 16 elements, in four registers (`held`) or in shared memory, times `columns` columns. `turned`:
    the columns are elements of 16 lines, else they are lines themselves."""
    sums, inputs = columns // 2, ("a[0]", "a[1]", "a[2]", "a[3]") if held else ("a",)
    n = sums + len(inputs)
    registers = ", ".join(f"%{i}" for i in range(sums))
    left = f"{{{', '.join(f'%{i}' for i in range(sums, n))}}}" if held else "da"
    flags = f"1, 1, {int(turned)}" if held else f"1, 1, 0, {int(turned)}"
    lines = [
        ".reg .pred p;",
        ".reg .b64 da, db;",
        f"setp.ne.b32 p, %{n + 1}, 0;",
        *([] if held else [f"mov.b64 da, {{%{sums}, 0x40000040}};"]),
        f"mov.b64 db, {{%{n}, 0x40000040}};",
        f"wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.ELEMENT.ELEMENT {{{registers}}}, {left}, db, p, {flags};",
    ]
    text = "".join(f'    "{line}\\n"\n' for line in ["{", *lines, "}"])
    outputs = ", ".join(f'"+f"(c[{i // 4}][{i % 4}])' for i in range(sums))
    values = ", ".join(f'"r"({x})' for x in (*inputs, "b", "add"))
    name = "multiply_lines" if turned else "multiply_rows"
    parameter = "const unsigned (&a)[4]" if held else "unsigned a"
    return (
        f"__device__ __forceinline__ void {name}(float (&c)[{sums // 4}][4], {parameter}, unsigned b, int add) {{\n"
        f"  asm volatile(\n{text}    : {outputs}\n    : {values});\n}}\n"
    )


GROUP_LINKS = (
    _multiply(64, held=False, turned=False)
    + _multiply(64, held=True, turned=False)
    + _multiply(64, held=True, turned=True)
    + _multiply(128, held=True, turned=True)
    + r"""
// Makes the compiler wait for sums that a warpgroup has under way.
template <int N> __device__ __forceinline__ void touch(float (&c)[N][4]) {
#pragma unroll
  for (int n = 0; n < N; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) asm volatile("" : "+f"(c[n][i])::"memory");
}
// Waits until at most UNDER_WAY groups of links are under way; the sums c are there then.
template <int UNDER_WAY, int N> __device__ __forceinline__ void await_links(float (&c)[N][4]) {
  warpgroup_wait<UNDER_WAY>();
  touch(c);
}
// The low half of the descriptor of lines whose elements are columns: 8192 bytes from 64 of them to the next.
__device__ __forceinline__ unsigned lines(unsigned address) { return (address & 0x3ffffu) >> 4 | 0x2000000u; }
// Starts the products of 64 rows, in shared memory or in registers, with 64 columns, over STEPS times 16 of the depth.
template <int STEPS> __device__ __forceinline__ void start_dots(float (&x)[8][4], unsigned rows, unsigned columns, int add) {
  warpgroup_fence();
#pragma unroll
  for (int k = 0; k < STEPS; ++k)
    multiply_rows(x, matrix(rows) + (k / 4 * 512 + k % 4 * 2), matrix(columns) + (k / 4 * 512 + k % 4 * 2), add || k);
  warpgroup_commit();
}
template <int STEPS>
__device__ __forceinline__ void start_dots(float (&x)[8][4], const unsigned (&rows)[STEPS][4], unsigned columns, int add) {
  warpgroup_fence();
#pragma unroll
  for (int k = 0; k < STEPS; ++k) multiply_rows(x, rows[k], matrix(columns) + (k / 4 * 512 + k % 4 * 2), add || k);
  warpgroup_commit();
}
// Starts the sums of weights of 64 rows and 64 columns times 64 lines.
template <int N> __device__ __forceinline__ void start_lines(float (&sums)[N][4], const unsigned (&w)[4][4], unsigned from) {
  warpgroup_fence();
#pragma unroll
  for (int k = 0; k < 4; ++k) multiply_lines(sums, w[k], lines(from) + k * 128, 1);
  warpgroup_commit();
}
// The rows of a warp, from shared memory.
template <int STEPS> __device__ __forceinline__ void hold_rows(unsigned (&to)[STEPS][4], unsigned rows) {
  const int lane = threadIdx.x % 32;
  const unsigned a = rows + tile_place(threadIdx.x / 32 % 4 * 16 + lane % 16, lane / 16);
#pragma unroll
  for (int k = 0; k < STEPS; ++k) load_matrices(to[k], (a ^ k % 4 * 32) + k / 4 * 8192);
}
// Behind the loops that multiply them, what keeps such rows in their registers: ptxas of CUDA 13.0 otherwise takes rows that only
// warpgroup instructions read for dead after the last of a turn, and gives their registers to others. `never` is false.
template <int STEPS> __device__ __forceinline__ void keep_rows(const unsigned (&held)[STEPS][4], unsigned rows, bool never) {
#pragma unroll
  for (int k = 0; k < STEPS; ++k)
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %5, 0;\n@p st.shared.v4.b32 [%4], {%0, %1, %2, %3};\n}"
                 ::"r"(held[k][0]), "r"(held[k][1]), "r"(held[k][2]), "r"(held[k][3]), "r"(rows), "r"((int)never) : "memory");
}
"""
)
