"""Sums of a convolution that are taken in parts: where parts lie, and the launch that adds them up.

Parts lie in the workspace, [part][*batch][row][column], each in the accumulator's kind. They are added in rising order.
"""

from __future__ import annotations

from math import prod

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.lowering.convolution.cuda.windows import Windows
from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_pitch
from baracuda.lowering.matmul.cuda.factors import small_float_definitions
from baracuda.lowering.matmul.cuda.integers.digits import ROWS
from baracuda.lowering.matmul.cuda.integers.product import GROUP, SquareSums
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tile_place import tile_extents, tile_place
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.runtime.program import KernelSource, Launch

#: Threads of a block that adds parts up.
_THREADS = 256


def parts_end(v: Windows, start: int) -> int:
    """The end of the workspace, given where parts begin."""
    c = v.product
    return start + v.parts * prod(c.batch) * c.m * c.n * c.accumulator.itemsize


def _address(v: Windows, words: Words, start: int, part: str) -> str:
    """The C++ address of a batch's sums of a part."""
    number = part
    for i, n in enumerate(v.product.batch):
        number = f"({number} * {words.unsigned(n)} + c{i})"
    each = f"(i64){number} * {words.signed(v.product.m)} * {words.signed(v.product.n)}"
    return f"({COMPUTE_TYPE[v.product.accumulator]}*)(W.w[{words.operands}] + {words.word(start)}) + {each}"


def store_part(v: Windows, words: Words, start: int, count: int) -> list[str]:
    """Stores the sums of a thread as tensor cores leave them: rows 0 and 8 from `row`, columns 0 and 1 from each eighth."""
    return [
        f"{COMPUTE_TYPE[v.product.accumulator]}* const to = {_address(v, words, start, f'c{len(v.batches)}')};",
        "#pragma unroll",
        f"for (int i = 0; i < {count}; ++i) {{",
        "const int r = row + i / 2 % 2 * 8, s = column + i / 4 * 8 + i % 2;",
        f"if (r < rows && s < columns) to[(m0 + r) * {words.signed(v.product.n)} + n0 + s] = sums[i];",
        "}",
    ]


def join_parts(v: Windows, words: Words, start: int, functions: str = "", anew: str = "") -> Launch:
    """The launch that adds parts up and does what follows; `anew` is a statement on the sum `total`."""
    c, tile, kind = v.product, SquareSums(_THREADS), COMPUTE_TYPE[v.product.accumulator]
    tiles_m, tiles_n = -(-c.m // ROWS), -(-c.n // ROWS)
    frame, pitch = epilogue_frame(v.finished, words), sums_pitch(v.finished, tile)
    finish, definitions = epilogue(v.finished, frame, tile)
    at = f"s * {pitch} + r" if v.turned else f"r * {pitch} + s"
    body = [
        f"__shared__ {kind} sums0[{ROWS} * {pitch}];",
        "const unsigned number = blockIdx.x;",
        *tile_place(c, words, tiles_m, tiles_n, GROUP, "number"),
        f"const i64 m0 = (i64)tile_m * {ROWS}, n0 = (i64)tile_n * {ROWS};",
        *tile_extents(c, words, ROWS, ROWS),
        f"const {kind}* const from = {_address(v, words, start, '0u')};",
        f"const i64 next = {words.signed(prod(c.batch) * c.m * c.n)};",
        "#pragma unroll 1",
        f"for (int e = threadIdx.x; e < {ROWS * ROWS}; e += {_THREADS}) {{",
        f"const int r = e / {ROWS}, s = e % {ROWS};",
        f"{kind} total = 0;",
        "if (r < rows && s < columns) {",
        f"const {kind}* at = from + (m0 + r) * {words.signed(c.n)} + n0 + s;",
        f"for (unsigned part = 0; part < {words.unsigned(v.parts)}; ++part, at += next) total = Sum::of(total, *at);",
        *([anew] if anew else ()),
        "}",
        f"sums0[{at}] = total;",
        "}",
        "__syncthreads();",
        *v.epilogue(words, finish),
    ]
    source = frame.kernel(body, _THREADS, PRODUCTS + small_float_definitions(c) + functions + definitions)
    return Launch(KernelSource(source), (prod(c.batch) * tiles_m * tiles_n, 1, 1), _THREADS)
