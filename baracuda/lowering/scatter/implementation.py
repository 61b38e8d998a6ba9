"""The backends of combinations by destination."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Layout
from baracuda.lowering.executables import EmptyExecutable, Pick, executable
from baracuda.lowering.generated import GeneratedImplementation
from baracuda.lowering.scatter.problem import OPERANDS, Scatter, normalise
from baracuda.runtime.program import Parameter


class ScatterImplementation(GeneratedImplementation):
    """Kernels of one problem on one device; `describe` gives the problem for a layout of the plan's tensors, which are the
    index, x, rows, weights, base and y, or whatever `pick` takes these out of."""

    def __init__(
        self,
        device: Device,
        describe: Callable[[Layout], Scatter],
        kind: ElementKind,
        alpha: float | None = None,
        pick: Pick = None,
    ) -> None:
        super().__init__(device, kind.compute)
        self.describe, self.alpha, self.kind, self.pick = describe, alpha, kind.compute, pick

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        scatter = normalise(self.describe(layout))
        if scatter.keys.count * scatter.columns == 0:
            return EmptyExecutable()
        params = self._params(scatter)
        return executable(self.device, scatter, params, OPERANDS, way=self.way, pick=self.pick, compiled_only=compiled_only)

    def _params(self, scatter: Scatter) -> Sequence[Parameter]:
        return [] if self.alpha is None else [Parameter(scatter.compute, self.alpha, "alpha")]
