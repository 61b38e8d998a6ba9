"""Tables of a function's values, which each block of a launch copies to its shared memory. They are computed once for the life
of the process; those of functions with parameters in each call, by a launch of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from baracuda.codegen.cuda.emit import Emitter, table_definitions
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.core.layout import round_up
from baracuda.formula.expr import READS, Expr, topological
from baracuda.lowering.elementwise.cuda.pointwise import Body
from baracuda.lowering.nest.cuda.kernel import Frame, Target, Words, translation_unit
from baracuda.runtime.program import KernelSource, Launch, Once

#: Threads of a block that computes entries.
_THREADS = 128
#: What blocks copy at once.
_BYTES = 16


def table_bytes(entries: int, size: int) -> int:
    """The bytes of a table, which a copy takes whole pieces of."""
    return round_up(entries * size, _BYTES)


@dataclass(frozen=True)
class StoredTable:
    """The launch that computes tables, the text of their address for the one that copies them, and the bytes of the workspace
    that they take."""

    launch: Launch
    address: str
    workspace: int


def fill(frame: Frame, entries: int, entry: Sequence[str], functions: Sequence[Expr], storage: str, size: int) -> StoredTable:
    """Computes functions of one input for each entry of their tables, which lie one behind another.

    `entry` declares the input's value `entry`, given its `number`; `storage` is the type of the results and `size` its bytes.
    """
    nbytes = len(functions) * table_bytes(entries, size)
    grid = (-(-entries // _THREADS), 1, 1)

    def source(words: Words, address: str) -> str:
        return _source(words, address, entries, entry, functions, storage, size)

    if any(n.op == "param" for n in topological(functions)):
        address = frame.workspace()
        return StoredTable(Launch(KernelSource(source(frame.words, address)), grid, _THREADS), address, nbytes)
    alone = source(Words(0, ()), "W.w[0]")
    address = frame.words.word(0)
    once = Once(nbytes, len(frame.words.values) - 1)
    return StoredTable(Launch(KernelSource(alone), grid, _THREADS, once=once), address, 0)


def _source(
    words: Words, address: str, entries: int, entry: Sequence[str], functions: Sequence[Expr], storage: str, size: int
) -> str:
    constants: dict[Expr, str] = {}
    lines = [
        f"const int number = blockIdx.x * {_THREADS} + threadIdx.x;",
        f"if (number < {entries}) {{",
        *entry,
    ]

    def leaf(n: Expr) -> str | None:
        if n.op == "param":
            return words.param(n)
        return "entry" if n.op in READS else None

    for j, function in enumerate(functions):
        emitter = Emitter(leaf)
        emitter.tables = constants
        value = emitter.value(function)
        table = f"(({storage}*)({address} + {j * table_bytes(entries, size)}))"
        narrow = f"Narrow<{storage}, {COMPUTE_TYPE[function.kind]}>::to({value})"
        lines += ["{", *emitter.lines, f"{table}[number] = {narrow};", "}"]
    return translation_unit(words, [*lines, "}"], _THREADS, table_definitions(constants))


def lookup_launch(
    frame: Frame, target: Target, body: Body, address: str, nbytes: int, *, threads: int, held: int, names: Sequence[str] = ()
) -> Launch:
    """Computes runs with so many bytes of tables at an address: each of the `held` blocks of a multiprocessor copies them, takes
    one share of the runs after another, and finds them at `tables`, which `names` may give parts of a name."""
    lines = [
        *frame.pointers(),
        f"extern __shared__ Vec<unsigned, {_BYTES // 4}> tables[];",
        f"const auto* const filled = (const Vec<unsigned, {_BYTES // 4}>*)({address});",
        f"for (int i = threadIdx.x; i < {nbytes // _BYTES}; i += {threads}) tables[i] = filled[i];",
        "__syncthreads();",
        *names,
        f"for (unsigned block = blockIdx.x; block < {frame.words.unsigned(body.blocks)}; block += gridDim.x) {{",
        *body.lines,
        "}",
    ]
    source = frame.kernel(lines, threads, body.definitions, blocks=held)
    return Launch(KernelSource(source), (min(body.blocks, held * target.multiprocessors), 1, 1), threads, nbytes)
