"""The backends of movement."""

from __future__ import annotations

from collections.abc import Callable

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Layout
from baracuda.lowering.executables import executable, picker
from baracuda.lowering.generated import GeneratedImplementation
from baracuda.lowering.movement.problem import Movement, normalise


class MovementImplementation(GeneratedImplementation):
    """Kernels of a batch of copies on one device; `describe` gives the problem for a layout of the plan's tensors, which are the
    sources and then the target."""

    def __init__(self, device: Device, describe: Callable[[Layout], Movement]) -> None:
        super().__init__(device, ElementKind.U32)
        self.describe = describe

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        movement = normalise(self.describe(layout))
        count, room = len(movement.pieces), movement.room
        order = [*range(count), *[0] * (room - count), count]  # a piece that is not there copies nothing of the first one
        pick = picker([(i, 0) for i in order]) if room > count else None
        return executable(self.device, movement, [], room + 1, way=self.way, pick=pick, compiled_only=compiled_only)
