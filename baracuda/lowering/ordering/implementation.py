"""The backends of combinations by destination."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.plan import Executable, Implementation, Layout
from baracuda.core.sku import ArchSku, BackendKind, MathPrecision, PrecisionGuarantee
from baracuda.lowering.implementation import FormulaExecutable, NothingToDo
from baracuda.lowering.ordering.cpu_sums import OPERANDS, lower_cpu
from baracuda.lowering.ordering.problem import Scatter, normalise
from baracuda.runtime.cpu import CpuCall
from baracuda.runtime.program import words

_MATH = {ElementKind.F32: MathPrecision.F32, ElementKind.F64: MathPrecision.F64}


class ScatterImplementation(Implementation):
    """Kernels of one problem on one device; `describe` gives the problem for a layout of the plan's tensors, which are the
    index, x, rows, weights, base and y."""

    def __init__(self, device: Device, describe: Callable[[Layout], Scatter], kind: ElementKind, alpha: float | None) -> None:
        self.device, self.describe, self.alpha = device, describe, alpha
        self.kind = kind.compute
        self._made: dict[Layout, Executable] = {}
        self._lock = threading.RLock()
        self.guarantee = PrecisionGuarantee.canonical(_MATH.get(self.kind, MathPrecision.INTEGER), self.kind)
        if device.kind is DeviceKind.CUDA:
            from baracuda.runtime.cuda import architecture

            major, minor, _ = architecture(device.index)
            if (major, minor) < (8, 0):
                raise UnsupportedError(f"{device} has compute capability {major}.{minor}; expected 8.0 or newer")
            self.backend, self.arch = BackendKind.FORMULA_CUDA, ArchSku.cuda(major, minor)
        else:
            self.backend, self.arch = BackendKind.FORMULA_CPU, ArchSku.host()

    def executable(self, layout: Layout, *, compiled_only: bool = False, autotune: bool = False) -> Executable | None:
        with self._lock:
            found = self._made.get(layout)
            if found is None:
                found = self._make(layout, compiled_only)
                if found is not None:
                    if len(self._made) >= 1024:
                        self._made.clear()
                    self._made[layout] = found
            return found

    def _make(self, layout: Layout, compiled_only: bool) -> Executable | None:
        scatter = normalise(self.describe(layout))
        if scatter.keys.count * scatter.columns == 0:
            return NothingToDo()
        params = self._params(scatter)
        if self.device.kind is DeviceKind.CUDA:
            from baracuda.lowering.ordering.cuda_build import build

            made = build(scatter, params, self.device.index, compiled_only=compiled_only)
            return None if made is None else FormulaExecutable(*made, None)
        program = lower_cpu(scatter, compiled_only=compiled_only)
        if program is None:
            return None
        return FormulaExecutable(program, CpuCall(program, words(program, OPERANDS, params)), None)

    def _params(self, scatter: Scatter) -> Sequence[tuple[ElementKind, float]]:
        return [] if self.alpha is None else [(scatter.compute, self.alpha)]
