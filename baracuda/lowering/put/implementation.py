"""The backends of puts."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Layout
from baracuda.lowering.executables import EmptyExecutable, executable
from baracuda.lowering.generated import GeneratedImplementation
from baracuda.lowering.put.problem import INDEX, OPERANDS, Put, X, Y


class PutImplementation(GeneratedImplementation):
    """Kernels of one problem on one device; `describe` gives the problem for a layout of the plan's tensors, index, x and y."""

    def __init__(self, device: Device, describe: Callable[[Layout], Put]) -> None:
        super().__init__(device, ElementKind.S32)
        self.describe = describe

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        problem = self.describe(layout)
        if problem.keys.positions * problem.walk.columns * problem.keys.count == 0:
            return EmptyExecutable()
        pick = itemgetter(INDEX, Y, X) if problem.reading else None  # of what is written the plan's tensors end in
        return executable(self.device, problem, [], OPERANDS, way=self.way, pick=pick, compiled_only=compiled_only)
