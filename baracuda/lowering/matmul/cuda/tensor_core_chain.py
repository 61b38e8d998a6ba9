"""The kernel of a product in bfloat16 or half precision by the tensor cores of a GPU.

Each sum is one chain of `mma` instructions, 16 steps of k each, in rising k from +0.0; a last step that is not whole is filled
with zeros. The order within an instruction is the hardware's: it is the same for every tile, and for a product and its
transpose, so that a row's bits depend on nothing but the row, the other factor and the architecture. It is the order of cuBLAS
where that does not split k (H200: equal bits from 64 rows on).

Bytes: each element of the factors once for every column (row) of tiles that it meets, most of that from L2.
"""

from __future__ import annotations

from math import prod

from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.factors import Factor, matrix_factors
from baracuda.lowering.matmul.cuda.kernel import declared_loader, place_of_block
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tensor_core_tiles import TensorCoreTile
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.runtime.program import KernelSource, Launch, Lowered

_INSTRUCTIONS = r"""
// Matrices of 8x8 from shared memory, a row from the address of each lane, in the order that `mma` takes them. TURNED: as their
// transposes.
template <bool TURNED> __device__ __forceinline__ void load_matrices(unsigned (&to)[4], const unsigned short* from) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(from);
  if constexpr (TURNED)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
}
template <bool TURNED> __device__ __forceinline__ void load_matrices(unsigned (&to)[2], const unsigned short* from) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(from);
  if constexpr (TURNED)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1]) : "r"(at) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(at) : "memory");
}

// The link of 16 steps of k of 16 rows by 8 columns.
__device__ __forceinline__ void link(float (&s)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.ELEMENT.ELEMENT.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Where the row of 8 lies that a lane names, from the first element of a warp's matrices: those of a are rows 0 and 8 of k = 0,
// then of k = 8, those of b steps 0 and 8 of column 0, then of column 8.
template <int PITCH, bool KMAJOR, bool LEFT> __device__ __forceinline__ int own_row(int lane) {
  const int first = lane / 8 % 2 * 8, second = lane / 16 * 8;
  return (lane % 8 + (LEFT == KMAJOR ? second : first)) * PITCH + (LEFT == KMAJOR ? first : second);
}

// One link for each of a warp's sums, TM times 16 rows by TN times 8 columns.
template <int TM, int TN, int PITCH_A, bool KMAJOR_A, int PITCH_B, bool KMAJOR_B>
__device__ __forceinline__ void links(float (&sum)[TM][TN][4], const unsigned short* a, const unsigned short* b) {
  unsigned own_a[TM][4], own_b[TN][2];
#pragma unroll
  for (int i = 0; i < TM; ++i) load_matrices<KMAJOR_A>(own_a[i], a + i * 16 * (KMAJOR_A ? 1 : PITCH_A));
  if constexpr (TN % 2 == 0) {
#pragma unroll
    for (int j = 0; j < TN; j += 2) {
      unsigned both[4];
      load_matrices<KMAJOR_B>(both, b + j * 8 * (KMAJOR_B ? 1 : PITCH_B));
      own_b[j][0] = both[0]; own_b[j][1] = both[1]; own_b[j + 1][0] = both[2]; own_b[j + 1][1] = both[3];
    }
  } else {
#pragma unroll
    for (int j = 0; j < TN; ++j) load_matrices<KMAJOR_B>(own_b[j], b + j * 8 * (KMAJOR_B ? 1 : PITCH_B));
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) link(sum[i][j], own_a[i], own_b[j][0], own_b[j][1]);
}
"""


class _Kernel:
    """Writes one kernel. Names in the generated code: a0 and b0 the loaders, `tile` the number of a tile along k, `read` and
    `write` the stages that are multiplied and filled next, `row` and `column` the warp's first ones."""

    def __init__(self, c: MatmulProblem, factors: list[Factor], tile: TensorCoreTile, words: Words) -> None:
        self.c, self.factors, self.tile, self.words = c, factors, tile, words
        self.asynchronous = [f for f in factors if f.staging_path.asynchronous]
        self.through_registers = [f for f in factors if not f.staging_path.asynchronous]
        self.starts: dict[str, int] = {}
        total = 0
        for f in factors:
            self.starts[f.name] = total
            total += tile.stages * f.staging_path.nbytes
        self.shared = max(total, sums_bytes(c, tile))

    def thread(self) -> list[str]:
        t = self.tile
        across = t.bn // t.wn
        return [
            "const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;",
            f"const bool works = warp < {t.warps};",
            f"const int row = warp / {across} * {t.wm}, column = warp % {across} * {t.wn};",
        ]

    def declare(self) -> list[str]:
        """The loaders and their stages; where in a stage the lane's rows of its warp's matrices begin; the sums."""
        lines, t = [], self.tile
        for f, first in zip(self.factors, ("row", "column"), strict=True):
            p, left = f.staging_path, first == "row"
            lines += declared_loader(self.c, f, self.words, t.threads, self.starts[f.name], left=left)
            own = f"own_row<{p.pitch}, {_flag(p.by_k)}, {_flag(left)}>(lane)"
            lines.append(f"const int own_{f.name} = {own} + {first} * {1 if p.by_k else p.pitch};")
        return [
            *lines,
            f"float sum[{t.wm // 16}][{t.wn // 8}][4];",
            "#pragma unroll",
            f"for (int i = 0; i < {t.wm // 16}; ++i)",
            "#pragma unroll",
            f"for (int j = 0; j < {t.wn // 8}; ++j) sum[i][j][0] = sum[i][j][1] = sum[i][j][2] = sum[i][j][3] = 0;",
        ]

    def fetch(self, f: Factor, stage: str, tile: str) -> str:
        whole = f"rows == {self.tile.bm}" if f is self.factors[0] else f"columns == {self.tile.bn}"
        return f"copy_tile<{self.tile.bk}>({f.name}, stages_{f.name} + {stage} * {f.staging_path.elements}, {tile}, k, {whole});"

    def links(self, step: str) -> str:
        """A link of each sum, at a step of 16 of k."""
        types, places = [], []
        for f in self.factors:
            p = f.staging_path
            types.append(f"{p.pitch}, {_flag(p.by_k)}")
            places.append(f"from_{f.name} + {step} * {16 * (p.pitch if p.by_k else 1)}")
        return f"links<{self.tile.wm // 16}, {self.tile.wn // 8}, {', '.join(types)}>(sum, {', '.join(places)});"

    def main(self) -> list[str]:
        """The sums."""
        t, ahead = self.tile, self.tile.stages - 1
        next_ = f"(read + 1 == {t.stages} ? 0 : read + 1)"
        stored = [f"{f.name}.store_shared(stages_{f.name} + {{}} * {f.staging_path.elements});" for f in self.through_registers]
        lines = [
            f"const int k = {self.words.word(self.c.k)}, tiles = (k + {t.bk - 1}) / {t.bk};",
            *self.declare(),
            f"int read = 0, write = {ahead};",
            "#pragma unroll",
            f"for (int stage = 0; stage < {ahead}; ++stage) {{",
            *[self.fetch(f, "stage", "stage") for f in self.asynchronous],
            "commit_copies();",
            "}",
        ]
        if stored:
            first = [self.fetch(f, "0", "0") for f in self.through_registers]
            lines += ["if (tiles > 0) {", *first, *[line.format("0") for line in stored], "}"]
        return [
            *lines,
            "#pragma unroll 1",
            "for (int tile = 0; tile < tiles; ++tile) {",
            f"wait_copies<{t.stages - 2}>();",
            "__syncthreads();",
            *[self.fetch(f, "write", f"tile + {ahead}") for f in self.asynchronous],
            "commit_copies();",
            *[self.fetch(f, "0", "tile + 1") for f in self.through_registers],
            "if (works) {",
            *[
                f"const {f.shared}* const from_{f.name} = stages_{f.name} + (read * {f.staging_path.elements} + own_{f.name});"
                for f in self.factors
            ],
            f"const int left = k - tile * {t.bk};",
            f"if (left >= {t.bk}) {{",
            "#pragma unroll",
            f"for (int step = 0; step < {t.bk // 16}; ++step) {self.links('step')}",
            "} else {",
            "#pragma unroll 1",
            f"for (int step = 0; step * 16 < left; ++step) {self.links('step')}",
            "}}",
            *(["if (tile + 1 < tiles) {", *[line.format(next_) for line in stored], "}"] if stored else ()),
            f"read = {next_};",
            f"write = write + 1 == {t.stages} ? 0 : write + 1;",
            "}",
        ]

    def sums_to_shared(self) -> list[str]:
        """Puts the sums into shared memory, in the place of the tiles."""
        t, pitch = self.tile, sums_pitch(self.c, self.tile)
        at = f"(row + i * 16 + h * 8 + lane / 4) * {pitch} + column + j * 8 + lane % 4 * 2"
        return [
            "wait_copies<0>();",
            "__syncthreads();",
            "float* const sums0 = (float*)shared;",
            "if (works) {",
            "#pragma unroll",
            f"for (int i = 0; i < {t.wm // 16}; ++i)",
            "#pragma unroll",
            f"for (int j = 0; j < {t.wn // 8}; ++j)",
            "#pragma unroll",
            "for (int h = 0; h < 2; ++h)",
            f"*reinterpret_cast<Vec<float, 2>*>(sums0 + {at}) = Vec<float, 2>{{sum[i][j][2 * h], sum[i][j][2 * h + 1]}};",
            "}",
            "__syncthreads();",
        ]


def _flag(value: bool) -> str:
    return str(value).lower()


def lower_chain(c: MatmulProblem, tile: TensorCoreTile, *, exchanged: bool) -> Lowered:
    """The kernel of a product by tensor cores under a tile. `exchanged` says that the factors have changed places."""
    words = Words(len(c.tensors), c.epilogue.params)
    kernel = _Kernel(c, matrix_factors(c, tile, exchanged=exchanged), tile, words)
    frame = epilogue_frame(c, words)
    finish, definitions = epilogue(c, frame, tile)
    body = [
        "extern __shared__ __align__(16) unsigned char shared[];",
        *place_of_block(c, tile, words),
        *kernel.thread(),
        *kernel.main(),
        *kernel.sums_to_shared(),
        *finish,
    ]
    assert c.math is not None
    tables = PRODUCTS + _INSTRUCTIONS.replace("ELEMENT", str(c.math)) + definitions
    source = frame.kernel(body, tile.threads, tables, blocks=tile.resident)
    blocks = prod(c.batch) * -(-c.m // tile.bm) * -(-c.n // tile.bn)
    return Lowered(
        (Launch(KernelSource(source), (blocks, 1, 1), tile.threads, kernel.shared),), tuple(words.values), 0, f"product {tile}"
    )
