"""The kernel that prepares the backward of attention: delta[i], the chain over d of dy[i, d] * y[i, d], for every query."""

from __future__ import annotations

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.lowering.attention.cuda.operands import Operands
from baracuda.lowering.attention.cuda.prelude import ATTENTION
from baracuda.lowering.attention.problem import Attention
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.nest.cuda.kernel import Words, translation_unit
from baracuda.runtime.program import KernelSource, Launch

#: Queries of a block, its threads, and the columns that it has in shared memory at a time.
_ROWS, _THREADS, _STEP = 64, 128, 32


def delta_bytes(a: Attention) -> int:
    """The workspace that delta takes."""
    return a.batch * a.heads * a.queries * a.compute.itemsize


def lower_delta(a: Attention, words: Words) -> Launch:
    """The kernel. Bytes: y and dy once. A thread has one chain, whose elements pass through shared memory."""
    operands, type_ = Operands(a, words), COMPUTE_TYPE[a.compute]
    blocks, pitch = -(-a.queries // _ROWS), _STEP + 1
    whole, lengths = f"(int){words.word(a.queries)}", "query_lengths"
    row_limit = whole
    if lengths in operands:
        at = f"((const int*){operands.pointer(lengths)})[c0 * {words.signed(operands[lengths].strides[0])}]"
        row_limit = f"({at} < {whole} ? {at} : {whole})"
    sources = [f"const auto {n}_ = {operands.matrix(n, 'c1')};" for n in ("dy", "y")]
    body = [
        f"__shared__ {type_} left[{_ROWS * pitch}], right[{_ROWS * pitch}];",
        f"const unsigned pair = divide(blockIdx.x, {words.divisor(blocks)});",
        f"const int first = (int)(blockIdx.x - pair * {words.unsigned(blocks)}) * {_ROWS};",
        f"const int heads = (int){words.word(a.heads)};",
        f"const int c0 = (int)divide(pair, {words.divisor(a.heads)}), c1 = (int)pair - c0 * heads;",
        f"const int rows = {row_limit}, thread = threadIdx.x;",
        *sources,
        f"{type_} delta = 0;",
        "#pragma unroll 1",
        f"for (int column = 0; column < {a.value_depth}; column += {_STEP}) {{",
        "#pragma unroll 4",
        f"for (int e = thread; e < {_ROWS * _STEP}; e += {_THREADS}) {{",
        f"const int r = e / {_STEP}, c = e % {_STEP}, row = first + r;",
        f"if (row < rows && column + c < {a.value_depth}) {{",
        f"left[r * {pitch} + c] = widen(*dy_.at(row, column + c));",
        f"right[r * {pitch} + c] = widen(*y_.at(row, column + c));",
        "}}",
        "__syncthreads();",
        f"if (thread < {_ROWS} && first + thread < rows)",
        f"for (int c = 0; c < {_STEP} && column + c < {a.value_depth}; ++c)",
        f"delta = chain(left[thread * {pitch} + c], right[thread * {pitch} + c], delta);",
        "__syncthreads();",
        "}",
        f"if (thread < {_ROWS} && first + thread < {whole})",
        f"(({type_}*)W.w[{words.operands}])[((i64)c0 * heads + c1) * {words.signed(a.queries)} + first + thread] = delta;",
    ]
    source = translation_unit(words, body, _THREADS, PRODUCTS + ATTENTION)
    return Launch(KernelSource(source), (a.batch * a.heads * blocks, 1, 1), _THREADS)
