"""A reduction for each of many tensors on the CPU: blocks of segments, then the blocks of each item."""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.codegen.llvm.ir import constant, i64
from baracuda.codegen.llvm.memory import store
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.codegen.llvm.tree import VectorStack
from baracuda.formula.expr import const
from baracuda.formula.order import SEGMENT
from baracuda.lowering.list_sums.problem import STEP, ListSums, words_of
from baracuda.lowering.lists.cpu.lower import ListWords, found, word_at
from baracuda.lowering.nest.cpu.analysis import RowAnalysis
from baracuda.lowering.nest.cpu.kernel import Kernel, element_ns
from baracuda.lowering.reduction.cpu.rows import RowPasses
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Lowered


def ways(problem: ListSums, target: CpuTarget) -> Iterator[Lowered]:
    """The program of a problem; its last address is that of the result."""
    nest, room = problem.nest, problem.room
    words = ListWords(nest, addresses=room + 1)
    first = words.first
    for value in words_of(problem.sizes, problem.slots, room):
        words.add(value)
    kernel = Kernel(nest, words, target)
    b = kernel.b
    analysis = RowAnalysis(nest)
    passes = RowPasses(kernel, analysis, keep=False)
    ((n,),) = analysis.reductions
    source, size = nest.graph.inputs[0].kind, n.kind.itemsize
    partials = kernel.workspace
    with b.loop(kernel.begin, kernel.end) as unit:
        item = found(b, unit, first, room)
        done = b.mul(b.sub(unit, word_at(b, "i64", b.add(item, first))), STEP)
        left = b.min(b.sub(word_at(b, "i64", b.add(item, first + room)), done), i64(STEP))
        pointer = b.at(word_at(b, "ptr", item), b.mul(done, source.itemsize))
        passes.segments.length = left
        passes.begin({0: pointer, 1: pointer}, [])
        ((total,),) = passes.reduce(0, i64(0), b.div(b.add(left, SEGMENT - 1), SEGMENT)).values()
        store(b, n.kind, total, b.at(partials, b.mul(unit, size)))
    mean = sum(problem.sizes) / max(problem.blocks, 1)
    parts = kernel.step(problem.blocks, element_ns(nest, nest.graph.nodes) * mean + 20)

    kernel = Kernel(nest, words, target)
    b, partials = kernel.b, kernel.workspace
    to, type_ = word_at(b, "ptr", i64(room)), compute_type(n.kind)
    nothing = constant(type_, const(problem.nothing, n.kind).attr)
    with b.loop(kernel.begin, kernel.end) as item:
        start = word_at(b, "i64", b.add(item, first))
        elements = word_at(b, "i64", b.add(item, first + room))
        blocks = b.div(b.add(elements, STEP - 1), STEP)
        slot = b.at(to, b.mul(word_at(b, "i64", b.add(item, first + 2 * room)), size))
        some = b.compare("icmp sgt", blocks, 0)
        with b.if_(some):
            stack = VectorStack(b, n, 1, 1)
            with b.loop(start, b.add(start, blocks)) as at:
                stack.push([b.load(type_, b.at(partials, b.mul(at, size)), size)])
            store(b, n.kind, stack.result(1)[0], slot)
        with b.else_(some):
            store(b, n.kind, nothing, slot)
    whole = kernel.step(len(problem.sizes), 30)
    yield Lowered((parts, whole), tuple(words.integers), max(problem.blocks, 1) * size, f"{len(problem.sizes)} items")
