"""The backends of stable orders."""

from __future__ import annotations

from collections.abc import Callable

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Layout
from baracuda.lowering.executables import EmptyExecutable, executable
from baracuda.lowering.generated import GeneratedImplementation
from baracuda.lowering.sort.problem import OPERANDS, Sort, normalise


class SortImplementation(GeneratedImplementation):
    """Kernels of one problem on one device; `describe` gives the problem for a layout of the plan's tensors, which are x, values,
    indices and ranks."""

    def __init__(self, device: Device, describe: Callable[[Layout], Sort]) -> None:
        super().__init__(device, ElementKind.S32)
        self.describe = describe

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        sort = normalise(self.describe(layout))
        if sort.rows * sort.length == 0 or (sort.count == 0 and sort.ranks is None):
            return EmptyExecutable()
        return executable(self.device, sort, [], OPERANDS, way=self.way, compiled_only=compiled_only)
