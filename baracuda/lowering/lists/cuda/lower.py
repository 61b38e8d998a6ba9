"""A formula over lists of tensors on CUDA: one launch, a block for some elements of one item."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from baracuda.core.errors import UnsupportedError
from baracuda.lowering.elementwise.cuda.pointwise import PointwiseKernel, runs_body
from baracuda.lowering.lists.problem import ListProblem, beginnings
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Frame, Target, Words
from baracuda.runtime.program import Constant, KernelSource, Launch, Lowered

#: Shares of a block of the pointwise schedule that one block takes.
_SHARES = 4


def ways(problem: ListProblem, target: Target) -> Iterator[Lowered]:
    """The launch of a problem."""
    starts, sizes = problem.starts, problem.sizes
    words = Words(starts[-1], problem.nest.graph.params)
    addresses = [f"W.w[{starts[at]}{'' if problem.shared[at] else ' + low'}]" for at in problem.lists]
    frame = Frame(problem.nest, target.tuning, words, addresses)
    kernel = PointwiseKernel(frame)
    threads = target.tuning.run_threads
    table = words.word(0)
    body = runs_body(kernel, threads, length="size")
    step = _SHARES * body.share
    begins = beginnings(sizes, step, problem.room)
    if max(sizes) >= INDEX_LIMIT * kernel.width or begins[-1] >= INDEX_LIMIT:
        raise UnsupportedError(f"an item of {max(sizes)} elements; expected fewer than {INDEX_LIMIT}")
    lines = [
        f"const unsigned* const starts = (const unsigned*)({table});",
        *search(problem.room),
        f"const i64 size = ((const i64*)(starts + {problem.room}))[low];",
        *frame.pointers(),
        f"const unsigned first_block = (blockIdx.x - starts[low]) * {_SHARES}u;",
        "#pragma unroll 1",
        f"for (unsigned block = first_block; block < first_block + {_SHARES}u; ++block) {{",
        f"if ((i64)block * {body.share} >= size) break;",
        *body.lines,
        "}",
    ]
    source = frame.kernel(lines, threads, body.definitions)
    constant = Constant(words.values.index(0), ("lists", step, problem.room, sizes), table_of)
    launch = Launch(KernelSource(source), (max(begins[len(sizes)], 1), 1, 1), threads)
    yield Lowered((launch,), tuple(words.values), 0, f"{len(sizes)} items, {step} elements a block", (constant,))


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
    """Where the work of each item begins, in 32 bits, and how many elements it has, in 64."""
    _, step, room, sizes = name
    assert isinstance(step, int)
    assert isinstance(room, int)
    assert isinstance(sizes, tuple)
    return packed_table(sizes, step, room)


def packed_table(sizes: Sequence[int], step: int, room: int) -> np.ndarray[Any, Any]:
    begins = np.array(beginnings(sizes, step, room)[:room], np.uint32)
    counts = np.array([*sizes, *[0] * (room - len(sizes))], np.int64)
    return np.concatenate([begins.view(np.uint8), counts.view(np.uint8)])
