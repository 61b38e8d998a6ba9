"""Tables of a function's values: one launch computes them into the workspace, and each block of the next copies them to its
shared memory."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.formula.expr import READS, Expr
from baracuda.lowering.cuda.emit import Emitter, table_definitions
from baracuda.lowering.cuda.kernel import Frame, Launch, Target
from baracuda.lowering.cuda.pointwise import Body
from baracuda.lowering.cuda.prelude import COMPUTE_TYPE

#: Threads of a block that computes entries.
_THREADS = 128
#: What blocks copy at once.
_BYTES = 16


def table_bytes(entries: int, size: int) -> int:
    """The bytes of a table, which a copy takes whole pieces of."""
    return -(-entries * size // _BYTES) * _BYTES


def fill(frame: Frame, entries: int, entry: Sequence[str], functions: Sequence[Expr], storage: str, size: int) -> Launch:
    """Computes functions of one input for each entry of their tables, which lie one behind another in the workspace.

    `entry` declares the input's value `entry`, given its `number`; `storage` is the type of the results and `size` its bytes.
    """
    constants: dict[Expr, str] = {}
    lines = [
        f"const int number = blockIdx.x * {_THREADS} + threadIdx.x;",
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
    source = frame.kernel([*lines, "}"], _THREADS, table_definitions(constants))
    return Launch(source, (-(-entries // _THREADS), 1, 1), _THREADS)


def walk(frame: Frame, target: Target, body: Body, nbytes: int, *, threads: int, held: int, names: Sequence[str] = ()) -> Launch:
    """Computes runs with so many bytes of tables: each of the `held` blocks of a multiprocessor copies them, takes one share of
    the runs after another, and finds them at `tables`, which `names` may give parts of a name."""
    lines = [
        *frame.pointers(),
        f"extern __shared__ Vec<unsigned, {_BYTES // 4}> tables[];",
        f"const auto* const filled = (const Vec<unsigned, {_BYTES // 4}>*)({frame.workspace()});",
        f"for (int i = threadIdx.x; i < {nbytes // _BYTES}; i += {threads}) tables[i] = filled[i];",
        "__syncthreads();",
        *names,
        f"for (unsigned block = blockIdx.x; block < {frame.words.unsigned(body.blocks)}; block += gridDim.x) {{",
        *body.lines,
        "}",
    ]
    source = frame.kernel(lines, threads, body.definitions, blocks=held)
    return Launch(source, (min(body.blocks, held * target.multiprocessors), 1, 1), threads, nbytes)
