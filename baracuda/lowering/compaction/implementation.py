"""The backends of compactions."""

from __future__ import annotations

from collections.abc import Callable

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Layout
from baracuda.lowering.compaction.problem import Compaction, Marks
from baracuda.lowering.executables import EmptyExecutable, executable
from baracuda.lowering.generated import GeneratedImplementation


class CompactionImplementation(GeneratedImplementation):
    """Kernels of one of the two problems; `describe` gives it for a layout of the plan's tensors, None where there is nothing
    to do."""

    def __init__(self, device: Device, describe: Callable[[Layout], Compaction | Marks | None], operands: int) -> None:
        super().__init__(device, ElementKind.S32)
        self.describe, self.operands = describe, operands

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        problem = self.describe(layout)
        if problem is None:
            return EmptyExecutable()
        return executable(self.device, problem, [], self.operands, way=self.way, compiled_only=compiled_only)
