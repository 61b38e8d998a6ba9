"""Devices that are not there: code is made for them, and none of it runs.

An offline device is a CUDA device with an ordinal that no real one has. Plans are selected on it and kernels are made for it as
for any other, functions take and return arrays that seem to lie on it, and whoever wants to know what would be launched has it
said by `core.run_hooks`. Reading an array gives zeros.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from baracuda.core import locks
from baracuda.core.device import Device, DeviceKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.implementation import Scalars
from baracuda.core.layout import round_up

#: The first ordinal of devices that are not there.
FIRST = 1 << 16
#: Multiprocessors of the largest device of an architecture: A100, A40, L40S, H100 and H200, B200, RTX 5090.
MULTIPROCESSORS = {(8, 0): 108, (8, 6): 84, (8, 9): 142, (9, 0): 132, (10, 0): 148, (12, 0): 170}

_ARCHITECTURES: dict[int, tuple[int, int, int]] = {}
_TARGET = re.compile(r"sm_(\d+)(\d)(?::(\d+))?")
_free = [1 << 40]
_lock = locks.lock()


@cache
def offline_device(target: str) -> Device:
    """The device that a target would be: "sm_90", or "sm_90:78" for one with 78 multiprocessors.

    Raises
    ------
    UnsupportedError
        It is no target, or nobody knows how many multiprocessors it has.
    """
    match = _TARGET.fullmatch(target)
    if match is None:
        raise UnsupportedError(f"target: {target!r}; expected an architecture such as sm_90, or sm_90:78 for 78 multiprocessors")
    major, minor = int(match[1]), int(match[2])
    multiprocessors = int(match[3] or MULTIPROCESSORS.get((major, minor), 0))
    if not multiprocessors:
        raise UnsupportedError(f"target: {target!r}; expected its multiprocessors too, such as {target}:132")
    index = FIRST + len(_ARCHITECTURES)
    _ARCHITECTURES[index] = major, minor, multiprocessors
    return Device.cuda(index)


def is_offline(device: Device) -> bool:
    """Whether a device is not there."""
    return device.kind is DeviceKind.CUDA and device.index >= FIRST


def architecture(index: int) -> tuple[int, int, int]:
    """Compute capability (major, minor) and number of multiprocessors of an offline device."""
    return _ARCHITECTURES[index]


def address(nbytes: int) -> int:
    """An address on an offline device, with so much room behind it."""
    with _lock:
        pointer, _free[0] = _free[0], round_up(_free[0] + nbytes, 1 << 12)
    return pointer


class OfflineProgram:
    """A program for a device that is not there."""

    def __init__(self, arch: str) -> None:
        self.reason = f"a program for {arch} without a device; select the plan on a device that is there"

    def call(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars = None) -> None:
        """Raise `UnsupportedError`."""
        raise UnsupportedError(self.reason)

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        raise UnsupportedError(self.reason)
