"""Choosing among programs by measuring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from baracuda.core.device import Device
from baracuda.core.layout import reach
from baracuda.lowering.nest.problem import Operand
from baracuda.runtime.device_memory import DeviceMemory, elapsed
from baracuda.runtime.toolchain import LoadedProgram

#: Launches before the measured ones, and measured ones.
_WARM, _MEASURED = 2, 7


def fastest(
    operands: Sequence[tuple[tuple[int, ...], Operand]], programs: Sequence[tuple[LoadedProgram, int]], device: Device
) -> int:
    """The number of the program with the least median time, each given with the bytes of workspace that it needs, on scratch
    memory for operands over the extents given.

    Raises `BackendError` where the device has no memory left for that.
    """
    pointers, held = [], []
    for extents, operand in operands:
        gathered = operand.gathered
        lowest, highest = reach((*extents, *(n for _, n in gathered)), (*operand.strides, *(s for s, _ in gathered)))
        memory = DeviceMemory((highest - lowest + 1) * operand.kind.itemsize, device)
        held.append(memory)
        pointers.append(memory.pointer - lowest * operand.kind.itemsize)
    scratch = DeviceMemory(max(nbytes for _, nbytes in programs), device)
    launches: list[Callable[[], None]] = [call.bind(pointers, scratch.pointer, 0) for call, _ in programs]
    times: list[list[float]] = [[] for _ in launches]
    for turn in range(_WARM + _MEASURED):
        for i, launch in enumerate(launches):  # in turn, so that a change of clocks meets all of them
            seconds = elapsed(launch, device)
            if turn >= _WARM:
                times[i].append(seconds)
    return min(range(len(launches)), key=lambda i: median(times[i]))
