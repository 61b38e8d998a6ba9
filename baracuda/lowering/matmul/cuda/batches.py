"""The kernel of many small products: a block takes some matrices of both factors whole.

A block's factors come to shared memory in runs of neighbours, widened; a thread takes a few rows and columns of one product, each
sum one chain in rising k; the sums go through shared memory to the epilogue, so that neighbouring threads write neighbouring
elements. In shared memory lines and matrices are odd numbers of 16 bytes apart, so that threads of different rows, or of
different matrices, read from different banks.

Bytes: each factor and each result once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.lowering.elementwise.cuda.pointwise import PointwiseKernel
from baracuda.lowering.matmul.cuda.epilogue import epilogue_frame, product_names
from baracuda.lowering.matmul.cuda.factors import STORAGE, small_float_definitions
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Frame, Target, Words, offset, piece, unravel
from baracuda.lowering.nest.problem import Operand
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Extents up to which a product is small, and how many there are at least.
SMALL, MANY = 32, 16
#: Threads of a block, and the runs of a factor that each has in flight.
THREADS, AHEAD = 128, 4

_CODE = r"""
// Lines of small matrices, whose places are given, to shared memory: V neighbours at once, `step` elements apart there.
template <int V, class X, class S> __device__ __forceinline__ void put(X* to, int step, const Vec<S, V>& from) {
  X wide[V];
  widen_all(wide, from);
  constexpr int W = 16 / sizeof(X);
  if (V % W == 0 && step == 1) {
#pragma unroll
    for (int v = 0; v < V; v += W) {
      Vec<X, W> own;
#pragma unroll
      for (int w = 0; w < W; ++w) own.v[w] = wide[(v + w) % V];
      *reinterpret_cast<Vec<X, W>*>(to + v) = own;
    }
  } else {
#pragma unroll
    for (int v = 0; v < V; ++v) to[v * step] = wide[v];
  }
}
template <int TM, int W, class X> __device__ __forceinline__ void put_sums(X* to, int pitch, int rows, const X (&sum)[TM][W]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    Vec<X, W> own;
#pragma unroll
    for (int j = 0; j < W; ++j) own.v[j] = sum[i][j];
    if (i < rows) *reinterpret_cast<Vec<X, W>*>(to + i * pitch) = own;
  }
}
// TM rows by W columns of one product, in rising k: lines of a are rows, those of b steps of k.
template <int TM, int W, class X>
__device__ __forceinline__ void small_product(X (&sum)[TM][W], const X* a, int pitch_a, const X* b, int pitch_b, int k) {
  int step = 0;
#pragma unroll 2
  for (; step + W <= k; step += W) {
    Vec<X, W> x[TM];
#pragma unroll
    for (int i = 0; i < TM; ++i) x[i] = *reinterpret_cast<const Vec<X, W>*>(a + i * pitch_a + step);
#pragma unroll
    for (int u = 0; u < W; ++u) {
      const Vec<X, W> y = *reinterpret_cast<const Vec<X, W>*>(b + (step + u) * pitch_b);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < W; ++j) sum[i][j] = chain(x[i].v[u], y.v[j], sum[i][j]);
    }
  }
  for (; step < k; ++step) {
    const Vec<X, W> y = *reinterpret_cast<const Vec<X, W>*>(b + step * pitch_b);
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const X x = a[i * pitch_a + step];
#pragma unroll
      for (int j = 0; j < W; ++j) sum[i][j] = chain(x, y.v[j], sum[i][j]);
    }
  }
}
"""


def _odd(count: int) -> int:
    return count | 1


@dataclass(frozen=True)
class _Lines:
    """Lines in shared memory: how many a matrix has, elements that exist in each, and elements to the next line and matrix."""

    lines: int
    inner: int
    wide: int

    @property
    def pitch(self) -> int:
        return self.wide * _odd(-(-self.inner // self.wide))

    @property
    def matrix(self) -> int:
        return self.wide * _odd(self.lines * self.pitch // self.wide)


def is_small(c: MatmulProblem) -> bool:
    """Whether a product is one of many small ones, of real numbers."""
    return len(c.a) == 1 and c.k > 0 and max(c.m, c.n, c.k) <= SMALL and prod(c.batch) >= MANY


class _Kernel:
    """Writes one kernel. Names in the generated code: `first` the block's first matrix, `count` how many it has."""

    def __init__(self, c: MatmulProblem, target: Target, words: Words) -> None:
        self.c, self.words = c, words
        self.size = c.accumulator.itemsize
        self.wide = 16 // self.size
        self.type = COMPUTE_TYPE[c.accumulator]
        self.rows = 8 if c.m > 16 and self.wide == 4 else 4
        self.down, self.across = -(-c.m // self.rows), -(-c.n // self.wide)
        self.a, self.b, self.y = (_Lines(*e, self.wide) for e in ((c.m, c.k), (c.k, c.n), (c.m, c.n)))
        self.each = max(self.a.matrix + self.b.matrix, self.y.matrix) * self.size
        slack = (self.rows * self.a.pitch + self.a.matrix) * self.size
        self.group = max(1, min(THREADS // (self.down * self.across), (target.shared_bytes // 2 - slack) // self.each))
        self.shared = self.group * self.each + slack

    def stage(self, name: str, number: int, o: Operand, lines: _Lines, start: str) -> list[str]:
        """Brings a factor of the block's matrices."""
        c, words, rank = self.c, self.words, len(self.c.batch)
        extents = (*c.batch, lines.lines, lines.inner)
        along = o.steps(rank) == 1 != o.steps(rank + 1)  # neighbours lie from line to line
        run = lines.lines if along else lines.inner
        neighbours = 1 in (o.steps(rank), o.steps(rank + 1))
        vector = gcd(run, piece(o, 16 // o.kind.itemsize, rank if along else rank + 1, extents)) if neighbours else 1
        other = lines.inner if along else lines.lines
        storage = STORAGE[o.kind]
        strides = [None if o.steps(i) == 0 else words.signed(o.strides[i]) for i in range(rank)]
        line_step, inner_step = (words.signed(o.strides[rank + i]) for i in (0, 1))
        per, count = words.unsigned(run // vector), words.unsigned(other)
        place = ("at", "line") if along else ("line", "at")
        return [
            f"const {storage}* const {name} = (const {storage}*)W.w[{number}];",
            f"{self.type}* const shared_{name} = ({self.type}*)(shared) + {start};",
            f"const unsigned total_{name} = count * {count} * {per};",
            "#pragma unroll 1",
            f"for (unsigned base = threadIdx.x; base < total_{name}; base += {THREADS * AHEAD}) {{",
            f"Vec<{storage}, {vector}> got[{AHEAD}];",
            f"int to[{AHEAD}];",
            "#pragma unroll",
            f"for (int u = 0; u < {AHEAD}; ++u) {{",
            f"const unsigned run = base + u * {THREADS};",
            f"if (run < total_{name}) {{",
            f"const unsigned both = divide(run, {words.divisor(run // vector)}), at = (run - both * {per}) * {vector};",
            f"const unsigned own = divide(both, {words.divisor(other)}), line = both - own * {count}, matrix = first + own;",
            *unravel("matrix", c.batch, words, "c", wide=False),
            f"got[u] = *reinterpret_cast<const Vec<{storage}, {vector}>*>({name} + ({offset(strides, 'c')}"
            f" + {place[0]} * {line_step} + {place[1]} * {inner_step}));",
            f"to[u] = own * {words.unsigned(lines.matrix)} + {place[0]} * {words.unsigned(lines.pitch)} + {place[1]};",
            "}}",
            "#pragma unroll",
            f"for (int u = 0; u < {AHEAD}; ++u)",
            f"if (base + u * {THREADS} < total_{name}) put<{vector}>(shared_{name} + to[u], "
            f"{f'(int){words.word(lines.pitch)}' if along else '1'}, got[u]);",
            "}",
        ]

    def sums(self) -> list[str]:
        """The sums of a thread, then those of the block in shared memory."""
        words = self.words
        tiles = words.unsigned(self.down * self.across)
        pitch_a, pitch_b, pitch_y = (f"(int){words.word(x.pitch)}" for x in (self.a, self.b, self.y))
        matrix_a, matrix_b, matrix_y = (f"own * {words.unsigned(x.matrix)}" for x in (self.a, self.b, self.y))
        return [
            "__syncthreads();",
            f"const unsigned own = divide(threadIdx.x, {words.divisor(self.down * self.across)});",
            f"const unsigned tile = threadIdx.x - own * {tiles};",
            f"const int down = divide(tile, {words.divisor(self.across)}), row = down * {self.rows};",
            f"const int column = (tile - down * {words.unsigned(self.across)}) * {self.wide};",
            f"{self.type} sum[{self.rows}][{self.wide}];",
            "#pragma unroll",
            f"for (int i = 0; i < {self.rows}; ++i)",
            "#pragma unroll",
            f"for (int j = 0; j < {self.wide}; ++j) sum[i][j] = 0;",
            "if (own < count)",
            f"small_product(sum, shared_a + ({matrix_a} + row * {pitch_a}), {pitch_a}, shared_b + ({matrix_b} + column), "
            f"{pitch_b}, (int){words.word(self.c.k)});",
            "__syncthreads();",
            f"{self.type}* const sums0 = ({self.type}*)shared;",
            f"const int rows = {words.word(self.c.m)};",
            f"if (own < count) put_sums(sums0 + ({matrix_y} + row * {pitch_y} + column), {pitch_y}, rows - row, sum);",
            "__syncthreads();",
        ]

    def finish(self, frame: Frame) -> tuple[list[str], str]:
        """The epilogue over the block's sums, and the definitions that it needs."""
        c, words, rank = self.c, self.words, len(self.c.batch)
        runs, names = PointwiseKernel(frame), product_names(c)
        runs.width = width = gcd(runs.width, c.n)
        at = {frame.input_index[s]: "sums0[from + v]" for s in names if s in frame.input_index}
        inputs = [i for i in range(frame.inputs) if i not in at]
        outputs = range(frame.inputs, len(frame.ports))
        compute, functions = runs.compute(at, "")
        per = c.n // width
        return [
            *[frame.pointers()[i] for i in (*inputs, *outputs)],
            f"const unsigned pieces = count * (unsigned)rows * {words.unsigned(per)};",
            "#pragma unroll 1",
            f"for (unsigned e = threadIdx.x; e < pieces; e += {THREADS}) {{",
            f"const unsigned both = divide(e, {words.divisor(per)}), at = (e - both * {words.unsigned(per)}) * {width};",
            f"const unsigned own = divide(both, {words.divisor(c.m)}), c{rank} = both - own * rows, matrix = first + own;",
            *unravel("matrix", c.batch, words, "c", wide=False),
            f"const int from = own * {words.unsigned(self.y.matrix)} + c{rank} * {words.unsigned(self.y.pitch)} + at;",
            *[line for i in (*inputs, *outputs) for line in (runs.place(i), runs.declare(i))],
            *[line for i in inputs for line in runs.move(i, whole=True)],
            *compute,
            *[line for i in outputs for line in runs.move(i, whole=True)],
            "}",
        ], runs.definitions(functions)


def lower_batches(c: MatmulProblem, target: Target, *, exchanged: bool) -> Lowered:
    """The kernel of many small products; `exchanged` says that the factors have changed places."""
    words = Words(len(c.tensors), c.epilogue.params)
    kernel = _Kernel(c, target, words)
    frame = epilogue_frame(c, words)
    batch = prod(c.batch)
    (a,), (b,) = c.a, c.b
    numbers = (1, 0) if exchanged else (0, 1)
    place = [
        "extern __shared__ __align__(16) unsigned char shared[];",
        f"const unsigned first = blockIdx.x * {words.unsigned(kernel.group)};",
        f"const unsigned rest = {words.unsigned(batch)} - first, whole = {words.unsigned(kernel.group)};",
        "const unsigned count = rest < whole ? rest : whole;",
    ]
    begin = words.unsigned(kernel.group * kernel.a.matrix + kernel.rows * kernel.a.pitch)
    finish, definitions = kernel.finish(frame)
    body = [
        *place,
        *kernel.stage("a", numbers[0], a, kernel.a, "0"),
        *kernel.stage("b", numbers[1], b, kernel.b, begin),
        *kernel.sums(),
        *finish,
    ]
    source = frame.kernel(body, THREADS, PRODUCTS + small_float_definitions(c) + _CODE + definitions)
    name = f"batches {kernel.rows}x{kernel.wide}"
    blocks = -(-batch // kernel.group)
    return Lowered((Launch(KernelSource(source), (blocks, 1, 1), THREADS, kernel.shared),), tuple(words.values), 0, name)
