"""The backends of folds over windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Layout
from baracuda.lowering.executables import EmptyExecutable, executable, given_parameters
from baracuda.lowering.generated import GeneratedImplementation
from baracuda.lowering.window.problem import Window, normalise
from baracuda.runtime.program import Parameter


class WindowImplementation(GeneratedImplementation):
    """Kernels of one problem on one device. `describe` gives the problem in primitives for a layout of the plan's tensors, and
    which of these its operands are; `numbers` are its parameters."""

    def __init__(
        self,
        device: Device,
        describe: Callable[[Layout], tuple[Window, tuple[int, ...]]],
        numbers: Mapping[str, float],
        accumulator: ElementKind,
    ) -> None:
        super().__init__(device, accumulator)
        self.describe, self.numbers = describe, numbers

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        problem, places = self.describe(layout)
        if 0 in problem.shape:
            return EmptyExecutable()
        normal = normalise(problem)
        values = [Parameter(p.kind, p.value) for p in given_parameters(normal.graph.params, self.numbers)]

        def pick(pointers: object) -> list[int]:
            return [pointers[i] for i in places]  # type: ignore[index]

        direct = places == tuple(range(len(layout)))
        return executable(
            self.device, normal, values, len(places), way=self.way, pick=None if direct else pick, compiled_only=compiled_only
        )
