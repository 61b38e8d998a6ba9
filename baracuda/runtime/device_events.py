"""Marks in the order of work of a CUDA device, the time between two of them, and how to keep the host out of it."""

from __future__ import annotations

import math
import weakref
from typing import Any

from baracuda.core.device import Device
from baracuda.runtime.cuda import check
from baracuda.runtime.device_memory import DeviceMemory, current

#: Bytes that a head start writes at a time.
_SCRATCH = 256 << 20


class Event:
    """A mark, to be put on a stream; destroyed when the object is collected."""

    def __init__(self, device: Device) -> None:
        self.device = device
        with current(device) as driver:
            self._handle = check(driver.cuEventCreate(0), "cuEventCreate")
        weakref.finalize(self, _destroy, self._handle, device).atexit = False  # the process's end frees everything

    def record(self, stream: int) -> None:
        """Put it behind everything that is on a stream; 0 is the default stream."""
        with current(self.device) as driver:
            check(driver.cuEventRecord(self._handle, stream), "cuEventRecord")

    def seconds_to(self, later: Event) -> float:
        """The seconds from this mark to another one, once the device has come to it."""
        with current(self.device) as driver:
            check(driver.cuEventSynchronize(later._handle), "cuEventSynchronize")
            return float(check(driver.cuEventElapsedTime(self._handle, later._handle), "cuEventElapsedTime")) * 1e-3


def _destroy(handle: Any, device: Device) -> None:
    with current(device) as driver:
        check(driver.cuEventDestroy(handle), "cuEventDestroy")


class HeadStart:
    """Work that keeps a device's default stream busy, so that what is launched behind it does not wait for the host."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._scratch = DeviceMemory(_SCRATCH, device)
        self._write(2)
        first, last = Event(device), Event(device)
        first.record(0)
        self._write(4)
        last.record(0)
        self._seconds = max(first.seconds_to(last) / 4, 1e-6)

    def give(self, seconds: float) -> None:
        """Put work for about so many seconds on the stream."""
        self._write(math.ceil(seconds / self._seconds))

    def _write(self, times: int) -> None:
        with current(self.device) as driver:
            for value in range(times):
                check(driver.cuMemsetD8Async(self._scratch.pointer, value % 256, _SCRATCH, 0), "cuMemsetD8Async")
