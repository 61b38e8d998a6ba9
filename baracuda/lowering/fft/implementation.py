"""The backends of Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Layout
from baracuda.lowering.executables import EmptyExecutable, executable
from baracuda.lowering.fft.problem import OPERANDS, Fourier, normalise
from baracuda.lowering.generated import GeneratedImplementation


class FourierImplementation(GeneratedImplementation):
    """Kernels of one problem on one device; `describe` gives the problem for a layout of the plan's tensors, x and y."""

    def __init__(self, device: Device, describe: Callable[[Layout], Fourier], kind: ElementKind) -> None:
        super().__init__(device, kind)
        self.describe = describe

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        problem = normalise(self.describe(layout))
        if problem.count == 0:
            return EmptyExecutable()
        return executable(self.device, problem, [], OPERANDS, way=self.way, compiled_only=compiled_only)
