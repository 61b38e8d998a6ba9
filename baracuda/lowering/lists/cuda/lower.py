"""A formula over lists of tensors on CUDA: one launch, a block for some elements of one item."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import Axes, Expr
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.elementwise.cuda.pointwise import PointwiseKernel, runs_body
from baracuda.lowering.lists.problem import FEW, ListProblem, beginnings
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Frame, Target, Words
from baracuda.lowering.nest.problem import Operand
from baracuda.runtime.program import Constant, KernelSource, Launch, Lowered

#: Threads of a block, and how many shares of the pointwise schedule it takes. An H200 (2026-11-23) with AdamW of 1,000 tensors of
#: 1,000,000 f32 moves 98% of what a copy does by two shares of 512 threads, 90% by one of 128, 79% by four of 128.
_THREADS, _SHARES = 512, 2
_LONG_THREADS = 128
_FLOATS = (ElementKind.F32, ElementKind.F64)


class ListKernel(PointwiseKernel):
    """The pointwise schedule, with what is the same for a whole item computed once, ahead of its elements."""

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        #: The names of values that are the same for an item.
        self.uniform: dict[Expr, str] = {}

    def leaf(self, n: Expr, transposed: Mapping[int, str]) -> str | None:
        return self.uniform.get(n) or super().leaf(n, transposed)


def uniform_values(kernel: ListKernel) -> tuple[list[str], str]:
    """The statements that compute what is the same for all elements of an item, and the functions that they call; the kernel then
    takes these values by their names."""
    frame, nest = kernel.frame, kernel.frame.nest
    scalars = [i for i in range(frame.inputs) if frame.operands[i].steps(0) == 0]
    names = {frame.ports[i].name for i in scalars}
    same: dict[Expr, bool] = {}
    for n in nest.graph.nodes:
        same[n] = n.op in ("param", "const") or (
            n.attr[0] in names if n.op == "input" else bool(n.args) and all(same[a] for a in n.args)
        )
    wanted: dict[Expr, None] = {}
    roots = {e for _, e in nest.graph.outputs}
    for n in nest.graph.nodes:
        wanted |= {a: None for a in n.args if not same[n] and same[a] and a.args}
    wanted |= {e: None for e in roots if same[e] and e.args}
    found = [n for n in wanted if n.kind in _FLOATS]
    if not found:
        return [], ""
    inputs = tuple(nest.graph.inputs[i] for i in scalars)
    outputs = tuple((Port(f"uniform{j}", n.kind, Axes.NONE), n) for j, n in enumerate(found))
    operands = (*(frame.operands[i] for i in scalars), *(Operand(n.kind, (0,)) for n in found))
    part = Frame(
        replace(nest, graph=Graph(inputs, outputs, ()), operands=operands), frame.tuning, frame.words,
        [*(frame.addresses[i] for i in scalars), *["0"] * len(found)],
    )  # fmt: skip
    once = PointwiseKernel(part)
    once.width, once.prefix, once.tables = 1, "uniform_", kernel.tables
    compute, functions = once.compute({}, "")
    lines = [f"{COMPUTE_TYPE[n.kind]} uniform{j};" for j, n in enumerate(found)]
    reads = [line for i in range(len(scalars)) for line in (once.declare(i), f"in{i}.v[0] = *p{i};")]
    writes = [once.declare(len(scalars) + j) for j in range(len(found))]
    kept = [f"uniform{j} = out{len(scalars) + j}.v[0];" for j in range(len(found))]
    kernel.uniform = {n: f"uniform{j}" for j, n in enumerate(found)}
    return [*lines, "{", *part.pointers(), *reads, *writes, *compute, *kept, "}"], functions


def ways(problem: ListProblem, target: Target) -> Iterator[Lowered]:
    """The launch of a problem."""
    starts, sizes, room = problem.starts, problem.sizes, problem.room
    words = Words(starts[-1], problem.nest.graph.params)
    addresses = [f"W.w[{starts[at]}{'' if problem.shared[at] else ' + low'}]" for at in problem.lists]
    frame = Frame(problem.nest, target.tuning, words, addresses)
    kernel = ListKernel(frame)
    threads = _LONG_THREADS if kernel.is_long else _THREADS
    ahead, functions = uniform_values(kernel)
    body = runs_body(kernel, threads, length="size")
    step = _SHARES * body.share
    begins = beginnings(sizes, step, room)
    if max(sizes) >= INDEX_LIMIT * kernel.width or begins[-1] >= INDEX_LIMIT:
        raise UnsupportedError(f"an item of {max(sizes)} elements; expected fewer than {INDEX_LIMIT}")
    where, constants = placed(words, [*begins[:room], *sizes, *[0] * (room - len(sizes))], room)
    lines = [
        f"const u64* const starts = {where};",
        *search(room),
        f"const i64 size = (i64)starts[{room} + low];",
        *frame.pointers(),
        *ahead,
        f"const unsigned first_block = (blockIdx.x - (unsigned)starts[low]) * {_SHARES}u;",
        "#pragma unroll 1",
        f"for (unsigned block = first_block; block < first_block + {_SHARES}u; ++block) {{",
        f"if ((i64)block * {body.share} >= size) break;",
        *body.lines,
        "}",
    ]
    source = frame.kernel(lines, threads, body.definitions + functions)
    launch = Launch(KernelSource(source), (max(begins[len(sizes)], 1), 1, 1), threads)
    yield Lowered((launch,), tuple(words.values), 0, f"{len(sizes)} items, {step} elements a block", constants)


def placed(words: Words, table: Sequence[int], room: int) -> tuple[str, tuple[Constant, ...]]:
    """Where a kernel finds a table: behind the other words, or, of many items, in memory of its own."""
    if room > FEW:
        where = words.word(0)
        return f"(const u64*)({where})", (Constant(len(words.values) - 1, ("lists", *table), table_of),)
    first = words.count
    for value in table:
        words.word(value)
    return f"W.w + {first}", ()


def search(room: int, starts: str = "starts") -> list[str]:
    """Declares `low`: the last item whose work begins at this block or before it."""
    steps, width = ["unsigned low = 0;"], 1
    while width * 2 < room:
        width *= 2
    while width:
        steps.append(f"if (low + {width} < {room}u && {starts}[low + {width}] <= blockIdx.x) low += {width};")
        width //= 2
    return steps


def table_of(name: tuple[Hashable, ...]) -> np.ndarray[Any, Any]:
    """A table in memory."""
    return np.array(name[1:], np.int64)
