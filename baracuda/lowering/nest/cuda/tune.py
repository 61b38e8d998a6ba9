"""Choosing a tuning by measuring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from baracuda.core.device import Device
from baracuda.core.layout import reach
from baracuda.lowering.nest.problem import Nest, Operand
from baracuda.runtime.cuda import CudaCall
from baracuda.runtime.device_memory import DeviceMemory, elapsed

#: Launches before the measured ones, and measured ones.
_WARM, _MEASURED = 2, 7


@dataclass(frozen=True)
class Variant:
    """A program under one tuning."""

    call: CudaCall
    workspace_bytes: int


def fastest(nest: Nest, variants: list[Variant], index: int) -> int:
    """The number of the variant of a nest with the least median time. Errors as for `fastest_on`."""
    return fastest_on([((*nest.outer, *nest.inner), o) for o in nest.operands], variants, index)


def fastest_on(operands: Sequence[tuple[tuple[int, ...], Operand]], variants: list[Variant], index: int) -> int:
    """The number of the variant with the least median time, on scratch memory for operands over the extents given.

    Raises `BackendError` where the device has no memory left for that.
    """
    device = Device.cuda(index)
    pointers, held = [], []
    for extents, operand in operands:
        gathered = operand.gathered
        lowest, highest = reach((*extents, *(n for _, n in gathered)), (*operand.strides, *(s for s, _ in gathered)))
        memory = DeviceMemory((highest - lowest + 1) * operand.kind.itemsize, device)
        held.append(memory)
        pointers.append(memory.pointer - lowest * operand.kind.itemsize)
    scratch = DeviceMemory(max(v.workspace_bytes for v in variants), device)
    launches: list[Callable[[], None]] = [v.call.bind(pointers, scratch.pointer, 0) for v in variants]
    times: list[list[float]] = [[] for _ in launches]
    for turn in range(_WARM + _MEASURED):
        for i, launch in enumerate(launches):  # in turn, so that a change of clocks meets all of them
            taken = elapsed(launch, device)
            if turn >= _WARM:
                times[i].append(taken)
    return min(range(len(launches)), key=lambda i: median(times[i]))
