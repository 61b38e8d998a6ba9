"""Device memory that is kept for the next tensor of its size instead of being given back to the driver.

All work on such memory is on the device's default stream, so that a block may be used again as soon as nobody holds it: what
was launched before on it comes before what is launched next. Who works elsewhere takes memory from a pool of their own.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from baracuda.core import locks
from baracuda.core.device import Device
from baracuda.core.errors import BackendError
from baracuda.core.layout import round_up
from baracuda.runtime.cuda import check
from baracuda.runtime.device_memory import current
from baracuda.runtime.offline import address, is_offline

#: Sizes are rounded up to an eighth of the power of two below, and to this many bytes at least.
_LEAST = 512


class Pool:
    """Blocks that nobody holds, by the ordinal of their device and their size."""

    def __init__(self) -> None:
        self.free_blocks: dict[tuple[int, int], list[int]] = defaultdict(list)

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Have this thread's blocks come from here, and go back here."""
        before, _local.pool = getattr(_local, "pool", _SHARED), self
        try:
            yield
        finally:
            _local.pool = before


_SHARED, _local, _lock = Pool(), threading.local(), locks.lock()


class Block:
    """Device memory of at least `nbytes` bytes, kept for others when the object is collected."""

    __slots__ = ("__weakref__", "_key", "_pool", "nbytes", "pointer")

    def __init__(self, nbytes: int, device: Device) -> None:
        step = max(_LEAST, 1 << max(nbytes.bit_length() - 4, 0))
        self.pointer, self.nbytes = 0, round_up(max(nbytes, 1), step)
        self._pool, self._key = getattr(_local, "pool", _SHARED), (device.index, self.nbytes)
        try:
            self.pointer = self._pool.free_blocks[self._key].pop()
        except IndexError:
            self.pointer = _allocate(self.nbytes, device)

    def __del__(self) -> None:
        if self.pointer:
            self._pool.free_blocks[self._key].append(self.pointer)


def _allocate(nbytes: int, device: Device) -> int:
    if is_offline(device):
        return address(nbytes)
    with current(device) as driver:
        try:
            return int(check(driver.cuMemAlloc(nbytes), "cuMemAlloc"))
        except BackendError:
            trim(device)
            return int(check(driver.cuMemAlloc(nbytes), "cuMemAlloc"))


def trim(device: Device) -> None:
    """Give memory that nobody uses back to the driver, which waits for the device."""
    with _lock, current(device) as driver:
        for (index, _), pointers in list(_SHARED.free_blocks.items()):
            while index == device.index and pointers:
                check(driver.cuMemFree(pointers.pop()), "cuMemFree")
