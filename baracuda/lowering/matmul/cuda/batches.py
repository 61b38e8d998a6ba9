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
from baracuda.lowering.matmul.cuda.epilogue import direct_epilogue, epilogue_frame, is_direct, product_names
from baracuda.lowering.matmul.cuda.factors import STORAGE, small_float_definitions
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Frame, Target, Words, offset, piece, unravel
from baracuda.lowering.nest.problem import Operand
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Extents up to which a product is small, and how many there are at least.
SMALL, MANY = 32, 16
#: Threads of a block, with tiles of few columns and of many, and the runs of a factor that each has in flight.
THREADS, THREADS_OF_MANY, AHEAD = 128, 64, 4

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
// TM rows, `down` apart, by TC runs of W columns, `across` apart, of one product: lines of a are rows, those of b steps of k.
template <int TM, int TC, int W, class X>
__device__ __forceinline__ void small_product(X (&sum)[TM][TC * W], const X* a, int down, const X* b, int across, int pitch_b,
                                              int k) {
  int step = 0;
#pragma unroll 1
  for (; step + W <= k; step += W) {
    Vec<X, W> x[TM];
#pragma unroll
    for (int i = 0; i < TM; ++i) x[i] = *reinterpret_cast<const Vec<X, W>*>(a + i * down + step);
#pragma unroll
    for (int u = 0; u < W; ++u)
#pragma unroll
      for (int c = 0; c < TC; ++c) {
        const Vec<X, W> y = *reinterpret_cast<const Vec<X, W>*>(b + (step + u) * pitch_b + c * across);
#pragma unroll
        for (int i = 0; i < TM; ++i)
#pragma unroll
          for (int j = 0; j < W; ++j) sum[i][c * W + j] = chain(x[i].v[u], y.v[j], sum[i][c * W + j]);
      }
  }
  for (; step < k; ++step)
#pragma unroll
    for (int c = 0; c < TC; ++c) {
      const Vec<X, W> y = *reinterpret_cast<const Vec<X, W>*>(b + step * pitch_b + c * across);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < W; ++j) sum[i][c * W + j] = chain(a[i * down + step], y.v[j], sum[i][c * W + j]);
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


@dataclass(frozen=True)
class _Staged:
    """A factor on its way to shared memory: its name, its number among the addresses, its lines there and where they begin."""

    name: str
    number: int
    operand: Operand
    lines: _Lines
    start: int
    along: bool
    vector: int

    @staticmethod
    def of(c: MatmulProblem, name: str, number: int, o: Operand, lines: _Lines, start: int) -> _Staged:
        rank = len(c.batch)
        along = o.steps(rank) == 1 != o.steps(rank + 1)  # neighbours lie from line to line
        vector = 1
        if 1 in (o.steps(rank), o.steps(rank + 1)):
            widest = piece(o, 16 // o.kind.itemsize, rank if along else rank + 1, (*c.batch, lines.lines, lines.inner))
            vector = gcd(lines.lines if along else lines.inner, widest)
        return _Staged(name, number, o, lines, start, along, vector)

    def asynchronous(self, c: MatmulProblem) -> bool:
        """Whether runs go straight to shared memory."""
        return self.operand.kind is c.accumulator and not self.along and self.vector * self.operand.kind.itemsize in (4, 8, 16)

    @property
    def pieces(self) -> int:
        """Runs of a matrix."""
        return self.lines.lines * self.lines.inner // self.vector

    def place(self, c: MatmulProblem, words: Words, threads: int) -> list[str]:
        """Declares, of the thread's run of a `sweep`, the number of the block's matrix, `own`, where it is read, `from`, and
        where it goes, `to`. A thread whose runs of all sweeps are at one place of their matrices finds that once."""
        o, lines, rank, pieces = self.operand, self.lines, len(c.batch), self.pieces
        length, other = (lines.lines, lines.inner) if self.along else (lines.inner, lines.lines)
        assert pieces == length // self.vector * other
        if threads % pieces == 0:
            own, rest = f"threadIdx.x / {pieces} + sweep * {threads // pieces}", f"threadIdx.x % {pieces}"
        elif pieces % threads == 0:
            own, rest = f"sweep / {pieces // threads}", f"threadIdx.x + sweep % {pieces // threads} * {threads}"
        else:
            run = f"(threadIdx.x + sweep * {threads})"
            own, rest = f"divide({run}, {words.divisor(pieces)})", f"{run} - own * {words.unsigned(pieces)}"
        strides = [None if o.steps(i) == 0 else words.signed(o.strides[i]) for i in range(rank)]
        line, inner = ("at", "line") if self.along else ("line", "at")
        steps = [words.signed(o.strides[rank + i]) for i in (0, 1)]
        per = length // self.vector
        return [
            f"const unsigned own = {own}, rest = {rest}, matrix = first + own;",
            f"const unsigned line = divide(rest, {words.divisor(per)});",
            f"const unsigned at = (rest - line * {words.unsigned(per)}) * {self.vector};",
            *unravel("matrix", c.batch, words, "c", wide=False),
            f"const auto* const from = p_{self.name} + ({offset(strides, 'c')} + ({line} * {steps[0]} + {inner} * {steps[1]}));",
            f"const int to = own * {words.unsigned(lines.matrix)} + ({line} * {words.unsigned(lines.pitch)} + {inner});",
        ]


class _Kernel:
    """Writes one kernel. Names in the generated code: `first` the block's first matrix, `count` how many it has, `own` the
    thread's."""

    def __init__(self, c: MatmulProblem, target: Target, words: Words, *, exchanged: bool) -> None:
        self.c, self.words = c, words
        size = c.accumulator.itemsize
        self.wide = 16 // size
        self.type = COMPUTE_TYPE[c.accumulator]
        self.rows = 8 if c.m > 16 and self.wide == 4 else 4
        self.runs = 2 if self.rows == 8 and c.n > 16 else 1
        self.threads = THREADS if self.runs == 1 else THREADS_OF_MANY
        self.down, self.across = -(-c.m // self.rows), -(-c.n // (self.wide * self.runs))
        a, b, self.y = (_Lines(*e, self.wide) for e in ((c.m, c.k), (c.k, c.n), (c.m, c.n)))
        each = max(a.matrix + b.matrix, self.y.matrix) * size
        beyond = (self.rows * self.down - c.m) * a.pitch  # rows that a last tile reads, but nobody has
        slack = (beyond + self.wide * (self.runs * self.across + 1)) * size
        self.group = max(1, min(self.threads // (self.down * self.across), (target.shared_bytes // 2 - slack) // each))
        start = self.group * a.matrix + -(-beyond // self.wide) * self.wide
        self.shared = -(-(self.group * each + slack) // 16) * 16
        self.a = _Staged.of(c, "a", int(exchanged), c.a[0], a, 0)
        self.b = _Staged.of(c, "b", int(not exchanged), c.b[0], b, start)

    def staged(self) -> list[str]:
        """Brings the factors of the block's matrices."""
        c, words = self.c, self.words
        lines = []
        asynchronous = [f for f in (self.a, self.b) if f.asynchronous(c)]
        others = [f for f in (self.a, self.b) if not f.asynchronous(c)]
        for f in (self.a, self.b):
            storage = STORAGE[f.operand.kind]
            lines += [
                f"const {storage}* const p_{f.name} = (const {storage}*)W.w[{f.number}];",
                f"{self.type}* const shared_{f.name} = ({self.type}*)shared + {words.unsigned(f.start)};",
                f"const int sweeps_{f.name} = {words.word(-(-self.group * f.pieces // self.threads))};",
            ]
        for f in asynchronous:
            nbytes = f.vector * f.operand.kind.itemsize
            lines += [
                "#pragma unroll 4",
                f"for (int sweep = 0; sweep < sweeps_{f.name}; ++sweep) {{",
                *f.place(c, words, self.threads),
                f"if (own < count) copy_async<{nbytes}>(shared_{f.name} + to, from, {nbytes});",
                "}",
            ]
        if others:
            most = " || ".join(f"first_sweep < sweeps_{f.name}" for f in others)
            lines += ["#pragma unroll 1", f"for (int first_sweep = 0; {most}; first_sweep += {AHEAD}) {{"]
            for f in others:
                lines += [
                    f"Vec<{STORAGE[f.operand.kind]}, {f.vector}> got_{f.name}[{AHEAD}];",
                    f"int to_{f.name}[{AHEAD}];",
                    "#pragma unroll",
                    f"for (int u = 0; u < {AHEAD}; ++u) {{",
                    "const int sweep = first_sweep + u;",
                    *f.place(c, words, self.threads),
                    f"to_{f.name}[u] = own < count ? to : -1;",
                    f"if (own < count) got_{f.name}[u] = "
                    f"*reinterpret_cast<const Vec<{STORAGE[f.operand.kind]}, {f.vector}>*>(from);",
                    "}",
                ]
            for f in others:
                lines += [
                    "#pragma unroll",
                    f"for (int u = 0; u < {AHEAD}; ++u)",
                    f"if (to_{f.name}[u] >= 0) put<{f.vector}>(shared_{f.name} + to_{f.name}[u], "
                    f"{f'(int){words.word(f.lines.pitch)}' if f.along else '1'}, got_{f.name}[u]);",
                ]
            lines.append("}")
        return [*lines, *(["commit_copies();", "wait_copies<0>();"] if asynchronous else ()), "__syncthreads();"]

    def sums(self) -> list[str]:
        """The sums of a thread."""
        words, columns = self.words, self.wide * self.runs
        pitch_a, pitch_b = (f"(int){words.word(f.lines.pitch)}" for f in (self.a, self.b))
        matrix_a, matrix_b = (f"own * {words.unsigned(f.lines.matrix)}" for f in (self.a, self.b))
        return [
            f"const int down = {words.word(self.down)}, across = {words.word(self.across)} * {self.wide};",
            f"const unsigned own = divide(threadIdx.x, {words.divisor(self.down * self.across)});",
            f"const unsigned tile = threadIdx.x - own * {words.unsigned(self.down * self.across)};",
            f"const int row = divide(tile, {words.divisor(self.across)});",
            f"const int column = tile * {self.wide} - row * across;",
            f"{self.type} sum0[{self.rows}][{columns}];",
            "#pragma unroll",
            f"for (int i = 0; i < {self.rows}; ++i)",
            "#pragma unroll",
            f"for (int j = 0; j < {columns}; ++j) sum0[i][j] = 0;",
            "if (own < count)",
            f"small_product<{self.rows}, {self.runs}, {self.wide}>(sum0, shared_a + ({matrix_a} + row * {pitch_a}), "
            f"down * {pitch_a}, shared_b + ({matrix_b} + column), across, {pitch_b}, (int){words.word(self.c.k)});",
            f"const int rows = {words.word(self.c.m)}, columns = {words.word(self.c.n)};",
        ]

    @property
    def place(self) -> tuple[str, str]:
        """The row and the column of a thread's sum [i][j]."""
        return "row + i * down", f"column + j / {self.wide} * across + j % {self.wide}"

    def written(self, frame: Frame) -> tuple[list[str], str]:
        """From the sums to the results, and the definitions that it needs."""
        if is_direct(self.c, self.wide):
            lines, definitions = direct_epilogue(self.c, frame, self.wide, *self.place)
            matrix = unravel("matrix", self.c.batch, self.words, "c", wide=False)
            begin = ["if (own < count) {", "const i64 m0 = 0, n0 = 0;", "const unsigned matrix = first + own;", *matrix]
            return [*begin, *lines, "}"], definitions
        lines, definitions = self.finish(frame)
        return [*self.sums_to_shared(), *lines], definitions

    def sums_to_shared(self) -> list[str]:
        """Puts the sums into shared memory, in the place of the factors."""
        row, column = self.place
        return [
            "__syncthreads();",
            f"{self.type}* const sums0 = ({self.type}*)shared;",
            "if (own < count) {",
            "#pragma unroll",
            f"for (int i = 0; i < {self.rows}; ++i)",
            "#pragma unroll",
            f"for (int j = 0; j < {self.wide * self.runs}; j += {self.wide}) {{",
            f"const int r = {row}, s = {column};",
            f"Vec<{self.type}, {self.wide}> run;",
            "#pragma unroll",
            f"for (int v = 0; v < {self.wide}; ++v) run.v[v] = sum0[i][j + v];",
            f"if (r < rows && s < columns) *reinterpret_cast<Vec<{self.type}, {self.wide}>*>(sums0 + (own * "
            f"{self.words.unsigned(self.y.matrix)} + r * {self.words.unsigned(self.y.pitch)} + s)) = run;",
            "}}",
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
            f"for (unsigned e = threadIdx.x; e < pieces; e += {self.threads}) {{",
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
    kernel = _Kernel(c, target, words, exchanged=exchanged)
    frame, batch = epilogue_frame(c, words), prod(c.batch)
    finish, definitions = kernel.written(frame)
    body = [
        "extern __shared__ __align__(16) unsigned char shared[];",
        f"const unsigned first = blockIdx.x * {words.unsigned(kernel.group)}, whole = {words.unsigned(kernel.group)};",
        f"const unsigned rest = {words.unsigned(batch)} - first, count = rest < whole ? rest : whole;",
        *kernel.staged(),
        *kernel.sums(),
        *finish,
    ]
    source = frame.kernel(body, kernel.threads, PRODUCTS + small_float_definitions(c) + _CODE + definitions)
    blocks, name = -(-batch // kernel.group), f"batches {kernel.rows}x{kernel.wide * kernel.runs}"
    launch = Launch(KernelSource(source), (blocks, 1, 1), kernel.threads, kernel.shared)
    return Lowered((launch,), tuple(words.values), 0, name)
