"""Convolutions of single channels whose pixels lie side by side, on the CPU: as those whose channels do, between two copies.

Vectors of channels are full where lines of pixels are too short for vectors, and what is copied is a tap's share of the work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

from baracuda.core.device import Device, DeviceKind
from baracuda.core.implementation import Executable, OperandLayout, Scalars
from baracuda.core.layout import round_up
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.executables import CompositeExecutable, Pick
from baracuda.lowering.nest.copies import copier
from baracuda.lowering.nest.problem import Operand

#: From how many channels on; lines of pixels that are shorter, and windows of more taps, are turned.
_CHANNELS, _LINE, _TAPS = 8, 32, 16


def takes(p: ConvolutionProblem, device: Device) -> bool:
    """Whether a problem is one of single channels that do not lie side by side, and small enough along its lines."""
    single = p.channels == 1 and p.columns == 1 and p.groups >= _CHANNELS and p.rank > 0 and min(p.stride) > 0
    plain = single and p.is_plain and not p.bits and not p.segment and not p.general and len(p.epilogue.outputs) == 1
    small = p.rank > 0 and (p.outputs[-1] < _LINE or prod(p.taps) > _TAPS)
    return device.kind is DeviceKind.CPU and plain and small and prod(p.taps) > 1 and p.x_strides()["g"] != 1


def _channels_last(o: Operand, batch: int, channels: int, pixels: tuple[int, ...]) -> tuple[Operand, int]:
    """An operand over (batch, channels, *pixels, and more of one element) with channels side by side, and its bytes."""
    steps = [channels * prod(pixels[a + 1 :]) for a in range(len(pixels))]
    strides = (channels * prod(pixels), 1, *steps)
    rest = (0,) * (len(o.strides) - len(strides))
    nbytes = round_up(batch * channels * prod(pixels) * o.kind.itemsize, 64)
    return Operand(o.kind, (*strides, *rest), 64), nbytes


def turned(
    p: ConvolutionProblem,
    device: Device,
    pick: Pick,
    main_of: Callable[[ConvolutionProblem], Executable | None],
    compiled_only: bool,
) -> Executable | None:
    """The executable; `main_of` makes that of a problem."""
    y = p.operands[-1]
    x_turned, x_bytes = _channels_last(p.x, p.batch, p.groups, p.inputs)
    y_turned, y_bytes = _channels_last(y, p.batch, p.groups, p.outputs)
    main = main_of(replace(p, x=x_turned, operands=(*p.operands[:-1], y_turned)))
    axes = 2 + p.rank
    of_x, of_y = (p.batch, p.groups, *p.inputs), (p.batch, p.groups, *p.outputs)
    from_x = OperandLayout(p.x.strides[:axes], p.x.alignment)
    from_y = OperandLayout(y_turned.strides[:axes], 64)
    before = copier(device, p.x.kind, of_x, from_x, x_turned.strides[:axes], compiled_only=compiled_only)
    after = copier(device, y.kind, of_y, from_y, y.strides[:axes], alignment=y.alignment, compiled_only=compiled_only)
    if main is None or before is None or after is None:
        return None
    return TurnedExecutable(before, main, after, x_bytes, y_bytes, pick)


class TurnedExecutable(CompositeExecutable):
    """A copy of the first tensor, a program, and a copy of what it wrote in place of the last tensor."""

    def __init__(self, before: Executable, main: Executable, after: Executable, x_bytes: int, y_bytes: int, pick: Pick) -> None:
        self.parts = self.before, self.main, self.after = before, main, after
        self.x_bytes, self.copied, self.pick = x_bytes, x_bytes + y_bytes, pick
        self.workspace_bytes = self.copied + main.workspace_bytes
        self.schedule = f"turn + {main.schedule}"

    def _moved(self, pointers: Sequence[int], workspace: int) -> tuple[tuple[int, int], list[int], tuple[int, int]]:
        """The addresses that each part is given."""
        own = list(pointers if self.pick is None else self.pick(pointers))
        x, y = workspace, workspace + self.x_bytes
        return (own[0], x), [x, *own[1:-1], y], (y, own[-1])

    def call(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars = None) -> None:
        before, main, after = self._moved(pointers, workspace)
        self.before.call(before, 0, stream)
        self.main.call(main, workspace + self.copied, stream, scalars)
        self.after.call(after, 0, stream)

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        before, main, after = self._moved(pointers, workspace)
        first = self.before.bind(before, 0, stream)
        second, third = self.main.bind(main, workspace + self.copied, stream), self.after.bind(after, 0, stream)

        def bound() -> None:
            first()
            second()
            third()

        return bound
