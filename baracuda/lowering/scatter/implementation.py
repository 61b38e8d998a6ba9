"""The backends of combinations by destination."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.plan import Executable, Layout
from baracuda.lowering.executables import NothingToDo, executable
from baracuda.lowering.generated import Generated
from baracuda.lowering.scatter.cpu.sums import OPERANDS
from baracuda.lowering.scatter.problem import Scatter, normalise
from baracuda.runtime.program import Lowered, Parameter


class ScatterImplementation(Generated):
    """Kernels of one problem on one device; `describe` gives the problem for a layout of the plan's tensors, which are the
    index, x, rows, weights, base and y."""

    def __init__(self, device: Device, describe: Callable[[Layout], Scatter], kind: ElementKind, alpha: float | None) -> None:
        super().__init__(device, kind.compute)
        self.describe, self.alpha, self.kind = describe, alpha, kind.compute

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        scatter = normalise(self.describe(layout))
        if scatter.keys.count * scatter.columns == 0:
            return NothingToDo()
        ways = choices(self.device, scatter)
        return executable(self.device, ways, self._params(scatter), OPERANDS, compiled_only=compiled_only)

    def _params(self, scatter: Scatter) -> Sequence[Parameter]:
        return [] if self.alpha is None else [Parameter(scatter.compute, self.alpha, "alpha")]


def choices(device: Device, scatter: Scatter) -> list[Lowered]:
    """A normalised problem lowered for a device."""
    if device.kind is DeviceKind.CPU:
        from baracuda.lowering.nest.cpu.targets import target_of as target_on_cpu
        from baracuda.lowering.scatter.cpu.sums import lower_cpu

        return [lower_cpu(scatter, target_on_cpu(device))]
    return [_for_cuda(scatter)]


@lru_cache(maxsize=1024)
def _for_cuda(scatter: Scatter) -> Lowered:
    from baracuda.lowering.scatter.cuda.sums import lower_cuda

    return lower_cuda(scatter)
