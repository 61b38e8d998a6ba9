"""A matrix product as the CPU's kernels see it: one space of axes for all operands, and which of them play which part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from baracuda.codegen.llvm.ir import Value
from baracuda.core.elements import ElementKind
from baracuda.core.layout import round_up
from baracuda.lowering.matmul.cpu.read import Reader
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cpu.kernel import Kernel, Words
from baracuda.lowering.nest.problem import Nest, Operand
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

#: What parts of the workspace start at a multiple of, in bytes.
LINE = 64


@dataclass(frozen=True)
class OrientedMatmul:
    """A contraction over the axes (*batch, m, n, k), in which `rows` are walked and vectors run along `columns`.

    Attributes
    ----------
    nest
        The epilogue's graph over those axes, with the strides of every operand along them.
    kind
        The accumulator's.
    left, right, others
        The numbers of the operands: the parts of the factor that varies along the rows, those of the one that varies along
        the columns, and the epilogue's.
    rows, columns
        The numbers of these axes. Where rows are n, `swapped` says so: the factors change sides.
    """

    nest: Nest
    kind: ElementKind
    left: tuple[int, ...]
    right: tuple[int, ...]
    others: tuple[int, ...]
    rows: int
    columns: int

    @staticmethod
    def of(c: MatmulProblem, swap: bool) -> OrientedMatmul:
        rank, parts = len(c.batch), len(c.a)
        a = tuple(replace(o, strides=(*o.strides[:rank], o.strides[rank], 0, o.strides[rank + 1])) for o in c.a)
        b = tuple(replace(o, strides=(*o.strides[:rank], 0, o.strides[rank + 1], o.strides[rank])) for o in c.b)
        others = tuple(replace(o, strides=(*o.strides, 0)) for o in c.operands)
        nest = Nest(c.epilogue, (*c.batch, c.m, c.n, c.k), (), (*a, *b, *others))
        first, second = tuple(range(parts)), tuple(range(parts, 2 * parts))
        left, right = (second, first) if swap else (first, second)
        rows, columns = (rank + 1, rank) if swap else (rank, rank + 1)
        return OrientedMatmul(nest, c.accumulator, left, right, tuple(range(2 * parts, 2 * parts + len(others))), rows, columns)

    @property
    def swapped(self) -> bool:
        return self.rows > self.columns

    @property
    def parts(self) -> int:
        return len(self.left)

    @property
    def batch(self) -> range:
        """The numbers of the batch axes."""
        return range(len(self.nest.outer) - 3)

    @property
    def depth(self) -> int:
        """The number of the axis that is summed."""
        return len(self.nest.outer) - 1

    def extent(self, axis: int) -> int:
        return self.nest.outer[axis]

    @property
    def batches(self) -> int:
        return prod(self.nest.outer[a] for a in self.batch)

    def operand(self, i: int) -> Operand:
        return self.nest.operands[i]

    def varying(self, operands: tuple[int, ...]) -> tuple[bool, ...]:
        """For each batch axis, whether some of the operands vary along it, or code may not ask."""
        return tuple(any(self.operand(i).steps(a) != 0 for i in operands) for a in self.batch)

    def reader(self, kernel: Kernel, i: int) -> Reader:
        """Reads an operand, lanes along its own axis."""
        axis = self.rows if i in self.left else self.columns
        lane, k = kernel.byte_strides(i, (axis, self.depth))
        return Reader.of(kernel.b, self.operand(i), (axis, self.depth), (lane, k))

    def kernel(self, words: Words, target: CpuTarget) -> Kernel:
        return Kernel(self.nest, words, target)


@dataclass(frozen=True)
class Steps:
    """Steps of a program, the bytes of workspace they take, and a name for people."""

    steps: tuple[Launch, ...]
    nbytes: int
    schedule: str


def aligned(nbytes: int) -> int:
    return round_up(nbytes, LINE)


def split_evenly(extent: int, most: int, multiple: int) -> int:
    """The size of equal blocks of an extent, at most `most` and a multiple of `multiple`."""
    blocks = -(-max(extent, 1) // most)
    return -(-max(extent, 1) // (blocks * multiple)) * multiple


def aligned_workspace(kernel: Kernel) -> Value:
    """The workspace from its first cache line on: `LINE` bytes more than what is used must be asked for."""
    b = kernel.b
    pointer = kernel.workspace
    with b.at_entry():
        address = b.emit("i64", f"ptrtoint ptr {pointer.name} to i64")
        return b.at(pointer, b.and_(b.sub(0, address), LINE - 1))
