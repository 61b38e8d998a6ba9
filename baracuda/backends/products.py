"""What the libraries' matrix products share: which problems they take, and the kernel for the rest of the epilogue."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.implementation import Executable, Layout, Scalars
from baracuda.core.layout import contiguous_strides
from baracuda.core.sku import ArchSku
from baracuda.core.spec import TensorSpec
from baracuda.lowering.executables import EmptyExecutable, given_parameters
from baracuda.lowering.generated import CachingImplementation, is_general
from baracuda.lowering.matmul.implementation import LabelledMatmul, MatmulImplementation
from baracuda.lowering.matmul.problem import PRODUCT, MatmulProblem, merged
from baracuda.lowering.nest.build import build
from baracuda.lowering.nest.multi_kernel import MultiKernelExecutable, TensorOffset
from baracuda.lowering.nest.problem import Operand, Problem, normalise


@dataclass(frozen=True)
class Matrix:
    """A matrix as libraries see it, columns one behind the other: `rows` x `cols`, a column every `leading` elements, read
    as its transpose where `transposed` is set. Batches are `batch_stride` elements apart."""

    kind: ElementKind
    rows: int
    cols: int
    leading: int
    transposed: bool
    batch_stride: int


def matrix(kind: ElementKind, rows: int, cols: int, strides: Sequence[int]) -> Matrix | None:
    """The logical matrix of these extents, strides over (batch,) rows and columns; None where no library reads it."""
    row, col = strides[-2:]
    batch = strides[0] if len(strides) > 2 else 0
    if rows == 1 and col > 0:
        return Matrix(kind, 1, cols, col, False, batch)
    if cols == 1 and row > 1:
        return Matrix(kind, 1, rows, row, True, batch)
    if (row == 1 or rows == 1) and (col >= rows or cols == 1):
        return Matrix(kind, rows, cols, max(col, rows) if cols > 1 else rows, False, batch)
    if col == 1 and row >= cols:
        return Matrix(kind, cols, rows, row, True, batch)
    return None


@dataclass(frozen=True)
class LibraryMatmulProblem:
    """result = alpha * (left @ right) + beta * added, columns one behind the other, `batch` times.

    `swapped` says that left is the plan's b: a row-major result is the transpose of a column-major one.
    """

    left: Matrix
    right: Matrix
    result: Matrix
    k: int
    batch: int
    swapped: bool


def library_problem(c: MatmulProblem, result: Operand) -> LibraryMatmulProblem:
    """The product of a contraction, stored as `result` over (*batch, m, n); raises `UnsupportedError` where some tensor does
    not lie as libraries want it."""
    if len(c.batch) > 1:
        raise UnsupportedError(f"batches {c.batch} that do not lie one behind the other in memory; expected one stride for all")
    if len(c.a) > 1 and (any(s % 2 for s in (*c.a[0].strides, *c.b[0].strides))):
        raise UnsupportedError("the parts of complex numbers apart; expected them side by side")
    scale = len(c.a)  # strides of complex operands count their parts
    a, b = ([s // scale for s in o[0].strides] for o in (c.a, c.b))
    y = [s // scale for s in result.strides]
    kinds = [_whole(o[0].kind, scale) for o in (c.a, c.b, (result,))]
    swapped = y[-1] == 1 or c.n == 1
    if swapped:  # y transposed = b transposed @ a transposed
        exchanged = [[*s[:-2], s[-1], s[-2]] for s in (b, a, y)]
        matrices = (
            matrix(kinds[1], c.n, c.k, exchanged[0]),
            matrix(kinds[0], c.k, c.m, exchanged[1]),
            matrix(kinds[2], c.n, c.m, exchanged[2]),
        )
    else:
        matrices = matrix(kinds[0], c.m, c.k, a), matrix(kinds[1], c.k, c.n, b), matrix(kinds[2], c.m, c.n, y)
    left, right, stored = matrices
    if left is None or right is None or stored is None or stored.transposed:
        raise UnsupportedError(
            f"strides {c.a[0].strides} of a, {c.b[0].strides} of b and {result.strides} of the result; expected the last or the "
            "second to last of each to be 1, and the other to reach beyond a row"
        )
    return LibraryMatmulProblem(left, right, stored, c.k, c.batch[0] if c.batch else 1, swapped)


def _whole(kind: ElementKind, parts: int) -> ElementKind:
    return {ElementKind.F32: ElementKind.C64, ElementKind.F64: ElementKind.C128}[kind] if parts > 1 else kind


class UnsupportedLayout:
    """The executable of a layout that a library does not take."""

    workspace_bytes, schedule = 0, "refused"

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def call(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars = None) -> None:
        """Raise `UnsupportedError`."""
        raise UnsupportedError(self.reason)

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        raise UnsupportedError(self.reason)


class LibraryMatmul(CachingImplementation):
    """A library's matrix product, followed by a generated kernel for what of the epilogue the library does not do."""

    def __init__(self, device: Device, problem: LabelledMatmul, specs: Sequence[TensorSpec], descriptor: Any) -> None:
        super().__init__(device)
        self.problem, self.specs, self.descriptor = problem, specs, descriptor
        self._formula = MatmulImplementation(device, problem, specs, descriptor)
        self.arch: ArchSku = self._formula.arch

    # --- what a library provides --------------------------------------------------------------------------------------

    @abstractmethod
    def product(self, problem: LibraryMatmulProblem) -> Executable:
        """The plain product: takes the addresses of a, b and the result."""

    def fused(self, c: MatmulProblem, problem: LibraryMatmulProblem) -> tuple[Executable, tuple[str, ...]] | None:
        """The product with the whole epilogue, and the names of the tensors whose addresses it takes; None where the library
        does not do it."""
        return None

    # --- executables --------------------------------------------------------------------------------------------------

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        if is_general(layout):
            return UnsupportedLayout(
                f"{self.backend} takes no arbitrary strides; expected the layout that the plan was selected for"
            )
        c = merged(self._formula.matmul_problem(layout))
        if not (c.m and c.n and all(c.batch)):
            return EmptyExecutable()
        if not c.k:
            raise UnsupportedError(f"{self.backend}: a product over no elements; the formula's plan gives zeros")
        index = {s.name: i for i, s in enumerate(self.specs)}
        first = len([p for p in c.epilogue.inputs if not p.name.startswith(PRODUCT)])
        y = c.operands[first]
        if len(c.epilogue.outputs) == len(c.a) and self._stores(y.kind):
            problem = library_problem(c, y)
            if self._plain():
                return MultiKernelExecutable([(self.product(problem), [TensorOffset(index[n], 0) for n in ("a", "b", "y")])], 0)
            fused = self.fused(c, problem)
            if fused is not None:
                return MultiKernelExecutable([(fused[0], [TensorOffset(index[n], 0) for n in fused[1]])], 0)
        return self._composed(c, index, compiled_only)

    def _plain(self) -> bool:
        """Whether the epilogue only stores the product."""
        d = self.descriptor
        return not d.epilogue and d.alpha == 1 and not d.saves

    def _stores(self, kind: ElementKind) -> bool:
        """Whether the library rounds to this kind itself."""
        return True

    def _composed(self, c: MatmulProblem, index: dict[str, int], compiled_only: bool) -> Executable | None:
        """The product into the workspace, in the accumulator's kind, then the epilogue over it."""
        if len(c.a) > 1:
            raise UnsupportedError(f"{self.backend}: an epilogue of complex numbers; the formula's plan has it")
        shape = (*c.batch, c.m, c.n)
        temporary = Operand(c.accumulator, contiguous_strides(shape), 64)
        product = self.product(library_problem(c, temporary))
        problem = Problem(c.epilogue, shape, (False,) * len(shape), (temporary, *c.operands))
        nest = normalise(problem)
        params = given_parameters(nest.graph.params, self.problem.parameters)
        epilogue = build(self.device, nest, params, compiled_only=compiled_only)
        if epilogue is None:
            return None
        ports = (*nest.graph.inputs, *(p for p, _ in nest.graph.outputs))
        places = [TensorOffset(None if p.name == PRODUCT else index[p.name], 0) for p in ports]
        nbytes = -(-prod(shape) * c.accumulator.itemsize // 256) * 256
        factors = [TensorOffset(index["a"], 0), TensorOffset(index["b"], 0), TensorOffset(None, 0)]
        return MultiKernelExecutable([(product, factors), (epilogue, places)], nbytes)
