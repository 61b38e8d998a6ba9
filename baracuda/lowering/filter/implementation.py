"""The backends of recursive filters."""

from __future__ import annotations

from collections.abc import Callable

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Layout
from baracuda.lowering.executables import EmptyExecutable, executable
from baracuda.lowering.filter.problem import OPERANDS, Filter
from baracuda.lowering.generated import GeneratedImplementation


class FilterImplementation(GeneratedImplementation):
    """Kernels of one problem on one device; `describe` gives the problem for a layout of the plan's tensors, x, a and y."""

    def __init__(self, device: Device, describe: Callable[[Layout], Filter], kind: ElementKind) -> None:
        super().__init__(device, kind)
        self.describe = describe

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        problem = self.describe(layout)
        if problem.count == 0 or problem.length == 0:
            return EmptyExecutable()
        return executable(self.device, problem, [], OPERANDS, way=self.way, compiled_only=compiled_only)
