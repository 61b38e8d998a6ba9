"""Tables of a function's values: one launch computes them into the workspace, and each block of the next copies them to its
shared memory while the first values to look up are under way from memory."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.formula.expr import READS, Expr
from baracuda.lowering.cuda.emit import Emitter, table_definitions
from baracuda.lowering.cuda.kernel import Frame, Launch, Target, piece
from baracuda.lowering.cuda.pointwise import Body
from baracuda.lowering.cuda.prelude import COMPUTE_TYPE

#: Threads of a block that computes entries.
_THREADS = 128
#: What a thread copies at once.
_BYTES = 16
#: Bytes of each input that a block which computes entries has brought to the cache meanwhile: memory would be idle.
_AHEAD = 24 << 10
#: The statements after which a block of `walk` may look at its tables.
COPIED = ('if (copying) { asm volatile("cp.async.wait_all;" ::: "memory"); __syncthreads(); copying = false; }',)

_COPY = f"""
__device__ __forceinline__ void copy_async(void* to, const void* from) {{
  const unsigned there = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], {_BYTES};" :: "r"(there), "l"(from) : "memory");
}}
"""
_FETCH = """
// Brings bytes, sixteens of them at an address that is a multiple of 16, to the second-level cache.
__device__ __forceinline__ void fetch(const void* from, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" :: "l"(from), "r"(bytes) : "memory");
#endif
}
"""


def table_bytes(entries: int, size: int) -> int:
    """The bytes of a table, which a copy takes whole pieces of."""
    return -(-entries * size // _BYTES) * _BYTES


def fill(frame: Frame, entries: int, entry: Sequence[str], functions: Sequence[Expr], storage: str, size: int) -> Launch:
    """Computes functions of one input for each entry of their tables, which lie one behind another in the workspace.

    `entry` declares the input's value `entry`, given its `number`; `storage` is the type of the results and `size` its bytes.
    """
    constants: dict[Expr, str] = {}
    blocks = -(-entries // _THREADS)
    lines = [
        f"const int number = blockIdx.x * {_THREADS} + threadIdx.x;",
        *_fetched(frame, blocks),
        f"if (number < {entries}) {{",
        *entry,
    ]

    def leaf(n: Expr) -> str | None:
        if n.op == "param":
            return frame.words.param(n)
        return "entry" if n.op in READS else None

    for j, function in enumerate(functions):
        emitter = Emitter(leaf)
        emitter.tables = constants
        value = emitter.value(function)
        table = f"(({storage}*)({frame.workspace(j * table_bytes(entries, size))}))"
        narrow = f"Narrow<{storage}, {COMPUTE_TYPE[function.kind]}>::to({value})"
        lines += ["{", *emitter.lines, f"{table}[number] = {narrow};", "}"]
    source = frame.kernel([*lines, "}"], _THREADS, table_definitions(constants) + _FETCH)
    return Launch(source, (blocks, 1, 1), _THREADS)


def _fetched(frame: Frame, blocks: int) -> list[str]:
    """Statements by which so many blocks bring the first bytes of inputs that lie in one piece to the cache."""
    lines, extents = [], frame.nest.outer
    for i, operand in enumerate(frame.operands[: frame.inputs]):
        size = operand.kind.itemsize
        whole = operand.strides == (1,) and not operand.general and not operand.gathered
        if whole and piece(operand, _BYTES // size, 0, extents) * size == _BYTES:
            each = frame.words.unsigned(min(_AHEAD, extents[0] * size // blocks // _BYTES * _BYTES))
            lines.append(f"fetch((const char*)p{i} + (i64)blockIdx.x * {each}, {each});")
    return [*frame.pointers(), "if (threadIdx.x == 0) {", *lines, "}"] if lines else []


def walk(frame: Frame, target: Target, body: Body, nbytes: int, *, threads: int, held: int, names: Sequence[str] = ()) -> Launch:
    """Computes runs with so many bytes of tables: each of the `held` blocks of a multiprocessor copies them, takes one share of
    the runs after another, and after `COPIED` finds them at `tables`, which `names` may give parts of a name."""
    lines = [
        *frame.pointers(),
        f"extern __shared__ Vec<unsigned, {_BYTES // 4}> tables[];",
        f"const auto* const filled = (const Vec<unsigned, {_BYTES // 4}>*)({frame.workspace()});",
        f"for (int i = threadIdx.x; i < {nbytes // _BYTES}; i += {threads}) copy_async(tables + i, filled + i);",
        "bool copying = true;",
        *names,
        f"for (unsigned block = blockIdx.x; block < {frame.words.unsigned(body.blocks)}; block += gridDim.x) {{",
        *body.lines,
        "}",
    ]
    source = frame.kernel(lines, threads, _COPY + body.definitions, blocks=held)
    return Launch(source, (min(body.blocks, held * target.multiprocessors), 1, 1), threads, nbytes)
