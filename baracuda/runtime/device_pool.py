"""Device memory that is kept for the next tensor of its size instead of being given back to the driver.

All work on such memory is on the device's default stream, so that a block may be used again as soon as nobody holds it: what
was launched before on it comes before what is launched next.
"""

from __future__ import annotations

import threading
from collections import defaultdict

from baracuda.core.device import Device
from baracuda.core.errors import BackendError
from baracuda.runtime.cuda import check
from baracuda.runtime.device_memory import current

#: Sizes are rounded up to an eighth of the power of two below, and to this many bytes at least.
_LEAST = 512

_kept: dict[tuple[Device, int], list[int]] = defaultdict(list)
_lock = threading.Lock()


def _rounded(nbytes: int) -> int:
    step = max(_LEAST, 1 << max(nbytes.bit_length() - 4, 0))
    return -(-max(nbytes, 1) // step) * step


class Block:
    """Device memory of at least `nbytes` bytes, kept for others when the object is collected."""

    __slots__ = ("device", "nbytes", "pointer")

    def __init__(self, nbytes: int, device: Device) -> None:
        self.device, self.nbytes, self.pointer = device, _rounded(nbytes), 0
        kept = _kept[device, self.nbytes]
        try:
            self.pointer = kept.pop()
        except IndexError:
            self.pointer = _allocate(self.nbytes, device)

    def __del__(self) -> None:
        if self.pointer:
            _kept[self.device, self.nbytes].append(self.pointer)


def _allocate(nbytes: int, device: Device) -> int:
    with current(device) as driver:
        try:
            return int(check(driver.cuMemAlloc(nbytes), "cuMemAlloc"))
        except BackendError:
            trim(device)
            return int(check(driver.cuMemAlloc(nbytes), "cuMemAlloc"))


def trim(device: Device) -> None:
    """Give memory that nobody uses back to the driver, which waits for the device."""
    with _lock, current(device) as driver:
        for (where, _), pointers in list(_kept.items()):
            while where is device and pointers:
                check(driver.cuMemFree(pointers.pop()), "cuMemFree")
