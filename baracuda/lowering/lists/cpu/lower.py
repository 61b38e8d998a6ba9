"""A formula over lists of tensors on the CPU: one step, some segments of one item for each unit of work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Builder, Value, i64
from baracuda.formula.order import SEGMENT
from baracuda.lowering.elementwise.cpu.pointwise import as_rows
from baracuda.lowering.lists.problem import ListProblem, beginnings
from baracuda.lowering.nest.cpu.analysis import RowAnalysis
from baracuda.lowering.nest.cpu.kernel import Kernel, Words, element_ns
from baracuda.lowering.reduction.cpu.rows import RowPasses
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Lowered

#: Segments of 1024 elements that make one unit of work.
_CHUNK = 8


@dataclass(frozen=True)
class ListWords(Words):
    """The words of a program of lists, of which so many are addresses."""

    addresses: int = 0

    @property
    def workspace(self) -> int:
        return self.addresses


def ways(problem: ListProblem, target: CpuTarget) -> Iterator[Lowered]:
    """The program of a problem."""
    nest, room, starts = as_rows(problem.nest, 0), problem.room, problem.starts
    words = ListWords(nest, addresses=starts[-1])
    kernel = Kernel(nest, words, target)
    b, step = kernel.b, _CHUNK * SEGMENT
    begins = beginnings(problem.sizes, step, room)
    first = words.first
    for value in (*begins[:room], *problem.sizes, *[0] * (room - len(problem.sizes))):
        words.add(value)
    passes = RowPasses(kernel, RowAnalysis(nest), keep=False)
    with b.loop(kernel.begin, kernel.end) as unit:
        item = found(b, unit, first, room)
        done = b.mul(b.sub(unit, word_at(b, "i64", b.add(item, first))), step)
        left = b.min(b.sub(word_at(b, "i64", b.add(item, first + room)), done), i64(step))
        pointers = {}
        for i, operand in enumerate(nest.operands):
            at = problem.lists[i]
            place = i64(starts[at]) if problem.shared[at] else b.add(item, starts[at])
            offset = b.mul(done, operand.kind.itemsize) if problem.varies(i) else i64(0)
            pointers[i] = b.at(word_at(b, "ptr", place), offset)
        passes.segments.length = left
        passes.begin(pointers, [])
        passes.write_elements(i64(0), i64(_CHUNK))
    passes.streaming.fence()
    units = begins[len(problem.sizes)] if begins else 0
    mean = sum(problem.sizes) / max(units, 1)
    launch = kernel.step(units, element_ns(nest, nest.graph.nodes) * mean + 20)
    yield Lowered((launch,), tuple(words.integers), 0, f"{len(problem.sizes)} items")


def word_at(b: Builder, type_: str, index: Value) -> Value:
    """The word of a number that is known at run time."""
    return b.load(type_, b.at(Value("ptr", "%words"), b.mul(index, 8)), 8)


def found(b: Builder, unit: Value, first: int, room: int) -> Value:
    """The last item whose work begins at this unit or before it."""
    low, width = i64(0), 1
    while width * 2 < room:
        width *= 2
    while width:
        ahead = b.min(b.add(low, width), i64(room - 1))
        low = b.select(b.compare("icmp sle", word_at(b, "i64", b.add(ahead, first)), unit), ahead, low)
        width //= 2
    return low
