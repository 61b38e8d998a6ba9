"""Checks of values in programs that write to their arguments: once that is done, the function cannot simply be run again."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from baracuda.core.call_recorder import DeviceCheck, Launcher
from baracuda.core.device import Device, DeviceKind
from baracuda.core.implementation import Scalars
from baracuda.frontends.kept import Step
from baracuda.frontends.program_results import Refusal


class CheckFailed(Exception):
    """A boolean that had to be false for the call to go on is not."""


class _Check(Launcher):
    """Reads such a boolean, as a launch."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def launch(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars) -> None:
        if self._device.kind is DeviceKind.CPU:
            value = ctypes.string_at(pointers[0], 1)
        else:
            from baracuda.runtime import device_memory

            value = device_memory.read_bytes(pointers[0], 1, stream, self._device)
        if value != b"\0":
            raise CheckFailed


def failing(launches: list[tuple[Any, ...]], steps: Sequence[Step], first_write: int, device: Device) -> list[tuple[Any, ...]]:
    """The launches, in which checks behind the first write to what is not the program's own raise `CheckFailed`."""
    check = _Check(device)
    if any(isinstance(step, DeviceCheck) and step.decides for step in steps[first_write:]):
        raise Refusal("it reads values on the host")
    return [
        (check, check.native(None), launch[2], None) if isinstance(step, DeviceCheck) and at > first_write else launch
        for at, (launch, step) in enumerate(zip(launches, steps, strict=True))
    ]
