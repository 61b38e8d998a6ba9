"""Marks in the order of work of a CUDA device, and the time between two of them."""

from __future__ import annotations

import weakref
from typing import Any

from baracuda.core.device import Device
from baracuda.runtime.cuda import check
from baracuda.runtime.device_memory import current


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
