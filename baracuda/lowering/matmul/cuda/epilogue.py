"""What becomes of the sums: through the epilogue's formula to the results.

The sums go through shared memory so that whatever the threads' tiles are, neighbouring threads load and store neighbouring
elements in wide pieces, and the formula's code appears once however many elements a thread has. Where there is next to no
formula and a thread's sums are such pieces already, they go straight from registers.
"""

from __future__ import annotations

from typing import Protocol

from baracuda.lowering.elementwise.cuda.pointwise import PointwiseKernel
from baracuda.lowering.matmul.problem import PRODUCT, PRODUCT_PARTS, MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Frame, Tuning, Words
from baracuda.lowering.nest.problem import Nest, Operand


class SumsTile(Protocol):
    """The sums that some threads have: `bm` rows by `bn` columns."""

    @property
    def bm(self) -> int: ...

    @property
    def bn(self) -> int: ...

    @property
    def threads(self) -> int: ...


#: Operations of a formula whose code may appear for every piece of a thread.
_FEW = 2
#: Runs whose operands a thread loads before it computes, where the epilogue has operands.
_TOGETHER = 4


def product_names(c: MatmulProblem) -> tuple[str, ...]:
    """The names of the sums in the epilogue."""
    return (PRODUCT,) if len(c.a) == 1 else PRODUCT_PARTS


def sums_pitch(c: MatmulProblem, tile: SumsTile) -> int:
    """Elements from row to row of the sums in shared memory: the rows that a warp writes at once begin in different banks."""
    return tile.bn + 16 // c.accumulator.itemsize


def sums_bytes(c: MatmulProblem, tile: SumsTile) -> int:
    """Shared memory that the sums of a block take."""
    return len(c.a) * tile.bm * sums_pitch(c, tile) * c.accumulator.itemsize


def epilogue_frame(c: MatmulProblem, words: Words) -> Frame:
    """The epilogue as a pointwise nest over (*batch, m, n). The sums are inputs of it that lie nowhere."""
    rank, sums = len(c.batch) + 2, product_names(c)
    tensors = iter(enumerate(c.operands, len(c.a) + len(c.b)))
    nowhere = Operand(c.accumulator, (0,) * rank)
    operands, addresses = [], []
    for port in (*c.epilogue.inputs, *(p for p, _ in c.epilogue.outputs)):
        i, operand = (0, nowhere) if port.name in sums else next(tensors)
        operands.append(operand)
        addresses.append(f"W.w[{i}]")
    nest = Nest(c.epilogue, (*c.batch, c.m, c.n), (), tuple(operands))
    return Frame(nest, Tuning(), words, addresses)


def epilogue(
    c: MatmulProblem, frame: Frame, tile: SumsTile, thread: str = "threadIdx.x", pitch: int | None = None
) -> tuple[list[str], str]:
    """The statements of the epilogue, and the definitions that they need.

    They read the sums of the block from `sums0` (and `sums1`) in shared memory; its first element is at (m0, n0), and `rows`
    and `columns` of it exist. The batch's coordinates are c0, c1, ...; `thread` is the number of this one among the tile's,
    `pitch` how many elements lie from row to row of the sums (default: `sums_pitch`).
    """
    runs, sums = PointwiseKernel(frame), product_names(c)
    width, rank = min(runs.width, tile.bn), len(c.batch) + 2
    runs.width = width
    where = f"[r * {pitch or sums_pitch(c, tile)} + s + v]"
    at = {frame.input_index[s]: f"sums{i}{where}" for i, s in enumerate(sums) if s in frame.input_index}
    inputs = [i for i in range(frame.inputs) if i not in at]
    outputs = range(frame.inputs, len(frame.ports))
    compute, functions = runs.compute(at, "if (v < left) ")
    count = tile.bm * tile.bn // width
    together = min(_TOGETHER if inputs else 1, max(1, count // tile.threads))
    each = [
        "#pragma unroll",
        f"for (int u = 0; u < {together}; ++u) {{",
        f"const int e = e0 + u * {tile.threads}, r = e / {tile.bn // width}, s = e % {tile.bn // width} * {width};",
        f"const i64 c{rank - 2} = m0 + r, at = n0 + s;",
        "const int left = columns - s;",
        f"if (e < {count} && r < rows && left > 0) {{",
    ]
    lines = [
        *[frame.pointers()[i] for i in (*inputs, *outputs)],
        "#pragma unroll 1",
        f"for (int e0 = {thread}; e0 < {count}; e0 += {tile.threads * together}) {{",
        *[f"Vec<{frame.storage(i)}, {width}> in{i}_[{together}];" for i in inputs],
        *(each if inputs else ()),
        *[line for i in inputs for line in (runs.place(i), f"auto& in{i} = in{i}_[u];", *runs.move(i, whole=False))],
        *(["}}"] if inputs else ()),
        *each,
        *[f"auto& in{i} = in{i}_[u];" for i in inputs],
        *[line for i in outputs for line in (runs.place(i), runs.declare(i))],
        *compute,
        *[line for i in outputs for line in runs.move(i, whole=False)],
        "}}}",
    ]
    return lines, runs.definitions(functions)


def is_direct(c: MatmulProblem, chunk: int) -> bool:
    """Whether the sums of a thread, in pieces of `chunk` neighbours along n, go to the results straight from registers."""
    whole = chunk * c.accumulator.itemsize == 16 and c.operands[-1].steps(len(c.batch) + 1) == 1
    return whole and len(c.operands) == 1 and len(c.epilogue.nodes) <= len(c.a) + _FEW


def direct_epilogue(c: MatmulProblem, frame: Frame, chunk: int, row: str, column: str) -> tuple[list[str], str]:
    """The statements of an epilogue on the sums sum0 (and sum1), and the definitions that they need; `row` and `column` say
    where in the block a thread's sum [i][j] is."""
    runs, sums, out = PointwiseKernel(frame), product_names(c), len(frame.ports) - 1
    runs.width = chunk
    at = {frame.input_index[s]: f"sum{i}[i][j + v]" for i, s in enumerate(sums) if s in frame.input_index}
    compute, functions = runs.compute(at, "if (v < left) ")
    tm, tn = (f"sizeof(sum0{x}) / sizeof(sum0{x}[0])" for x in ("", "[0]"))
    lines = [
        frame.pointers()[out],
        "#pragma unroll",
        f"for (int i = 0; i < {tm}; ++i)",
        "#pragma unroll",
        f"for (int j = 0; j < {tn}; j += {chunk}) {{",
        f"const int r = {row}, s = {column}, left = columns - s;",
        f"const i64 c{len(c.batch)} = m0 + r, at = n0 + s;",
        "if (r < rows && left > 0) {",
        runs.place(out),
        runs.declare(out),
        *compute,
        *runs.move(out, whole=False),
        "}}",
    ]
    return lines, runs.definitions(functions)
