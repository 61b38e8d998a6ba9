"""The backends of sampling."""

from __future__ import annotations

from collections.abc import Callable

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Layout
from baracuda.lowering.executables import EmptyExecutable, executable
from baracuda.lowering.generated import GeneratedImplementation
from baracuda.lowering.sampling.problem import NAMES, OPERANDS, K, Sampling
from baracuda.runtime.program import Parameter

F32, S64 = ElementKind.F32, ElementKind.S64


class SamplingImplementation(GeneratedImplementation):
    """Kernels of one problem on one device; `describe` gives the problem for a layout of the plan's tensors."""

    def __init__(self, device: Device, describe: Callable[[Layout], Sampling]) -> None:
        super().__init__(device, ElementKind.F32)
        self.describe = describe

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        problem = self.describe(layout)
        if not problem.rows:
            return EmptyExecutable()
        params = [Parameter(S64 if o == K else F32, 0, NAMES[o]) for o in problem.numbers]
        return executable(self.device, problem, params, OPERANDS, way=self.way, compiled_only=compiled_only)
