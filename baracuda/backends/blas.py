"""Matrix products on the CPU by the BLAS that NumPy carries."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from baracuda.backends.products import LibraryMatmul, LibraryMatmulProblem, Matrix
from baracuda.core.call_recorder import Launcher
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Scalars
from baracuda.core.sku import BackendKind, MathPrecision, PrecisionGuarantee
from baracuda.core.spec import TensorSpec
from baracuda.lowering.matmul.implementation import LabelledMatmul

_MATH = {
    ElementKind.F32: MathPrecision.F32, ElementKind.C64: MathPrecision.F32, ElementKind.F64: MathPrecision.F64,
    ElementKind.C128: MathPrecision.F64,
}  # fmt: skip


def refusal(device: Device, descriptor: Any) -> str | None:
    """Why BLAS does not compute a descriptor's product on a device; None where it may."""
    if device.kind is not DeviceKind.CPU:
        return f"the stream is on {device}"
    for kind in (descriptor.a_element, descriptor.b_element):
        if kind not in _MATH:
            return f"BLAS has no products of {kind}"
    if descriptor.conjugate_a or descriptor.conjugate_b:
        return "conjugated factors"
    return None


def _view(m: Matrix, batch: int, address: int) -> np.ndarray[Any, Any]:
    """The logical matrices at an address, as an array over (batch, rows, columns)."""
    size, dtype = m.kind.itemsize, m.kind.numpy
    extent = ((batch - 1) * m.batch_stride + (m.cols - 1) * m.leading + m.rows) * size
    memory = (ctypes.c_char * extent).from_address(address)
    strides = (m.batch_stride * size, size, m.leading * size)
    stored = np.ndarray((batch, m.rows, m.cols), dtype, memoryview(memory), 0, strides)
    return stored.transpose(0, 2, 1) if m.transposed else stored


class BlasCall(Launcher):
    """One product; takes the addresses of a, b and the result."""

    workspace_bytes, schedule = 0, "blas"

    def __init__(self, problem: LibraryMatmulProblem) -> None:
        self.problem = problem

    def launch(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars) -> None:
        self.bind(pointers, workspace, stream)()

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        p = self.problem
        left, right = (pointers[1], pointers[0]) if p.swapped else (pointers[0], pointers[1])
        a, b, y = _view(p.left, p.batch, left), _view(p.right, p.batch, right), _view(p.result, p.batch, pointers[2])
        # A product of the transposes into the transposed result: rows that lie one behind the other are what NumPy hands on.
        a, b, y = b.transpose(0, 2, 1), a.transpose(0, 2, 1), y.transpose(0, 2, 1)

        def bound() -> None:
            np.matmul(a, b, out=y)

        return bound


class BlasMatmul(LibraryMatmul):
    """NumPy's BLAS. Its bits depend on the processor, on the number of threads and on the number of rows."""

    backend = BackendKind.BLAS

    def __init__(self, device: Device, problem: LabelledMatmul, specs: Sequence[TensorSpec], descriptor: Any) -> None:
        super().__init__(device, problem, specs, descriptor)
        self.guarantee = PrecisionGuarantee(_MATH[descriptor.a_element], problem.accumulator, True, False, False, False)

    def product(self, problem: LibraryMatmulProblem) -> Executable:
        return BlasCall(problem)
