"""Matrix products by cuBLASLt with the bits of the generated kernel for tensor cores, whatever the number of rows.

Its algorithms that do not split k take each sum as one chain of the tensor cores, as our kernel does
(`baracuda.lowering.matmul.cuda.tensor_core_chain`); but that is nowhere promised. So when a plan is made, an algorithm is tried
on random factors of the plan's k and layout, with at most so many rows and columns that some of its tiles are filled, and is
taken only where every bit is that of our kernel. Where none is, and for few rows, our kernel serves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from baracuda.backends.cublaslt import WHOLE_ALIGNMENT, Algorithm, CublasLtMatmul, LtCall
from baracuda.backends.products import LibraryMatmulProblem, Matrix
from baracuda.core import locks
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import BackendError, UnsupportedError
from baracuda.core.implementation import Executable, Layout
from baracuda.core.spec import TensorSpec
from baracuda.formula.expr import input_
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.executables import executable, load
from baracuda.lowering.matmul.implementation import LabelledMatmul, guarantee_of
from baracuda.lowering.matmul.problem import PRODUCT, TENSOR_CORE_MATH, MatmulProblem
from baracuda.lowering.nest.problem import Operand
from baracuda.runtime.cuda import check
from baracuda.runtime.device_memory import DeviceMemory, current
from baracuda.runtime.streams import CudaStream, beside_captures

#: Rows and columns from which the library's algorithms that do not split k are tried: below, our kernel is faster.
_LEAST_EDGE = 17
#: Rows and columns of a trial at most, which are several of the largest tiles; elements of a factor at most, but for 128 rows.
_EDGE, _MOST_ELEMENTS, _LEAST_ROWS = 1024, 1 << 25, 128
#: Random numbers that a factor consists of, again and again: so many that no two rows of a factor are the same.
_PERIOD = 1_000_003
#: Outcomes of trials that are remembered.
_MOST_OUTCOMES = 1024

#: Whether an algorithm had our kernel's bits, by device, algorithm and the problem that it was tried on.
_outcomes: dict[tuple[int, bytes, LibraryMatmulProblem], bool] = {}
_lock = locks.reentrant_lock()


class PinnedCublasLtMatmul(CublasLtMatmul):
    """cuBLASLt's matrix product of 16-bit floats, each sum one chain of the tensor cores.

    What of an epilogue is more than a rounding, a generated kernel does: its formula, and not the library's.
    """

    def __init__(self, device: Device, problem: LabelledMatmul, specs: Sequence[TensorSpec], descriptor: Any) -> None:
        super().__init__(device, problem, specs, descriptor)
        self.guarantee = guarantee_of(self.guarantee.math, problem.accumulator)

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        for spec, operand in zip(self.specs, layout, strict=True):
            if (
                operand is not None
                and spec.name in ("a", "b", "y")
                and operand.alignment < WHOLE_ALIGNMENT
                and not operand.general
            ):
                raise UnsupportedError(
                    f"{spec.name}: an address that is a multiple of {operand.alignment}; expected {WHOLE_ALIGNMENT}"
                )
        return super().make(layout, compiled_only, autotune)

    def _stores(self, kind: ElementKind) -> bool:
        return kind in (self.descriptor.a_element, ElementKind.F32)

    def fused(self, c: MatmulProblem, problem: LibraryMatmulProblem) -> None:
        return None

    def product(self, problem: LibraryMatmulProblem) -> Executable:
        if min(problem.result.rows, problem.result.cols) < _LEAST_EDGE:
            raise UnsupportedError(f"fewer than {_LEAST_EDGE} rows or columns, where cuBLASLt is at its best splitting k")
        with beside_captures(self.device):
            call = LtCall(self.device.index, problem, self.problem.accumulator, whole=True)
        for algorithm in call.algorithms:
            if _has_our_bits(self.device, algorithm, sample_of(problem)):
                call.use(algorithm)
                return call
        raise UnsupportedError(
            f"none of cuBLASLt's {len(call.algorithms)} algorithms without split k has the bits of the tensor cores' chain for "
            f"{problem}"
        )


def sample_of(problem: LibraryMatmulProblem) -> LibraryMatmulProblem:
    """What stands for the problem in trials: one with as many rows, columns and batches as some power of two, but not too many,
    which lie as the problem's do."""
    most = min(_EDGE, max(_LEAST_ROWS, _MOST_ELEMENTS // problem.k))

    def edge(extent: int) -> int:
        return min(most, 1 << (extent - 1).bit_length())

    def cut(m: Matrix, k_along: str) -> Matrix:
        rows = m.rows if k_along == "rows" else edge(m.rows)
        cols = m.cols if k_along == "cols" else edge(m.cols)
        leading = -(-rows // 64) * 64 + m.leading % 64
        each = -(-leading * cols // 64) * 64 + m.batch_stride % 64 if m.batch_stride else 0
        return replace(m, rows=rows, cols=cols, leading=leading, batch_stride=each)

    return replace(
        problem,
        left=cut(problem.left, "rows" if problem.left.transposed else "cols"),
        right=cut(problem.right, "cols" if problem.right.transposed else "rows"),
        result=cut(problem.result, ""),
        batch=min(problem.batch, 2),
    )


def _has_our_bits(device: Device, algorithm: Algorithm, sample: LibraryMatmulProblem) -> bool:
    """Whether an algorithm gives what our kernel does."""
    key = device.index, algorithm.chosen.tobytes(), sample
    with _lock:
        if key not in _outcomes:
            outcome = _tried(device, algorithm, sample)
            if len(_outcomes) >= _MOST_OUTCOMES:
                _outcomes.clear()
            _outcomes[key] = outcome
        return _outcomes[key]


def _tried(device: Device, algorithm: Algorithm, sample: LibraryMatmulProblem) -> bool:
    """The trial, on scratch memory and a stream of its own, which are given back beside whatever is being captured."""
    with beside_captures(device):
        return _compared(device, algorithm, sample)


def _compared(device: Device, algorithm: Algorithm, sample: LibraryMatmulProblem) -> bool:
    stream = CudaStream(device)
    handle = stream.stream.handle
    blocks = [_Block(m, sample.batch, device) for m in (sample.left, sample.right, sample.result, sample.result)]
    for seed, block in enumerate(blocks):
        block.write(_random(block.count, block.kind, seed) if seed < 2 else np.zeros(block.count, block.kind.numpy), handle)
    left, right, own, theirs = (b.memory.pointer for b in blocks)
    _our_kernel(device, sample).call((left, right, own), 0, handle)
    library = LtCall(device.index, sample, ElementKind.F32, algorithm=algorithm)
    workspace = DeviceMemory(library.workspace_bytes, device)
    try:
        library.call((right, left, theirs) if sample.swapped else (left, right, theirs), workspace.pointer, handle)
    except BackendError:  # it does not take the sample
        stream.synchronize()
        return False
    first, second = (block.read(handle) for block in blocks[2:])
    return bool(np.array_equal(first, second))


class _Block:
    """A matrix of a trial in device memory."""

    def __init__(self, m: Matrix, batch: int, device: Device) -> None:
        self.kind, self.count = m.kind, m.leading * m.cols + (batch - 1) * m.batch_stride
        self.device, self.memory = device, DeviceMemory(self.count * m.kind.itemsize, device)

    def write(self, values: np.ndarray[Any, Any], stream: int) -> None:
        with current(self.device) as driver:
            copied = driver.cuMemcpyHtoDAsync(self.memory.pointer, values.ctypes.data, values.nbytes, stream)
            check(copied, "cuMemcpyHtoDAsync")
            check(driver.cuStreamSynchronize(stream), "cuStreamSynchronize")

    def read(self, stream: int) -> np.ndarray[Any, Any]:
        values = np.empty(self.memory.nbytes, np.uint8)
        with current(self.device) as driver:
            check(driver.cuMemcpyDtoHAsync(values.ctypes.data, self.memory.pointer, values.nbytes, stream), "cuMemcpyDtoHAsync")
            check(driver.cuStreamSynchronize(stream), "cuStreamSynchronize")
        return values


def _random(count: int, kind: ElementKind, seed: int) -> np.ndarray[Any, Any]:
    return np.resize(_drawn(kind, seed).view(np.uint16), count)


@lru_cache(maxsize=4)
def _drawn(kind: ElementKind, seed: int) -> np.ndarray[Any, Any]:
    """Numbers of several magnitudes, so that the order in which products are added shows."""
    rng = np.random.default_rng(seed)
    return np.ldexp(rng.standard_normal(_PERIOD, np.float32), rng.integers(-3, 3, _PERIOD)).astype(kind.numpy)


def _our_kernel(device: Device, sample: LibraryMatmulProblem) -> Any:
    """The generated kernel of a sample, loaded; it takes the addresses of left, right and the result."""
    kind, element = sample.result.kind, sample.left.kind
    graph = Graph((Port(PRODUCT, ElementKind.F32),), ((Port("y", kind), input_(PRODUCT, ElementKind.F32)),))
    operands = [Operand(m.kind, _strides(m, sample.batch), 64) for m in (sample.left, sample.right, sample.result)]
    (m, _), (_, n) = _extents(sample.left), _extents(sample.right)
    problem = MatmulProblem(
        batch=(sample.batch,) if sample.batch > 1 else (), m=m, n=n, k=sample.k, a=(operands[0],), b=(operands[1],),
        accumulator=ElementKind.F32, epilogue=graph, operands=(operands[2],), math=TENSOR_CORE_MATH[element],
    )  # fmt: skip
    kernel = executable(device, problem, (), len(operands))
    assert kernel is not None
    load([kernel])
    return kernel


def _extents(m: Matrix) -> tuple[int, int]:
    return (m.cols, m.rows) if m.transposed else (m.rows, m.cols)


def _strides(m: Matrix, batch: int) -> tuple[int, ...]:
    steps = (m.leading, 1) if m.transposed else (1, m.leading)
    return (m.batch_stride, *steps) if batch > 1 else steps
