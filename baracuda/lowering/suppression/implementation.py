"""The backends of suppression."""

from __future__ import annotations

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Layout
from baracuda.lowering.executables import EmptyExecutable, executable
from baracuda.lowering.generated import GeneratedImplementation
from baracuda.lowering.suppression.problem import OPERANDS, Suppression


class SuppressionImplementation(GeneratedImplementation):
    """Kernels of a problem, whose tensors are contiguous."""

    def __init__(self, device: Device, problem: Suppression) -> None:
        super().__init__(device, ElementKind.S32)
        self.problem = problem

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        if not self.problem.groups * self.problem.count:
            return EmptyExecutable()
        return executable(self.device, self.problem, [], OPERANDS, way=self.way, compiled_only=compiled_only)
