"""Host memory for outputs: a pool of large aligned blocks, so that a fresh output costs no page faults.

`empty` gives NumPy arrays. The block under an array goes back to the pool when the array and everything that shares its
memory (views, `torch.from_numpy`) have been collected.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections import deque
from collections.abc import Callable
from functools import cache, lru_cache
from math import prod
from typing import Any

import numpy as np

from baracuda.core import layout_key, locks, workspace
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import OutOfMemoryError
from baracuda.core.layout import round_up

#: Arrays of fewer bytes are NumPy's own: malloc is fast for them and their pages are warm.
SMALLEST_POOLED = 64 * 1024
#: Blocks of at least this many bytes start at a multiple of it, so that the system can back them with huge pages.
HUGE_PAGE = 2 * 1024 * 1024
_PAGE = mmap.PAGESIZE


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # a system without sysconf
        return 16 << 30


def block_size(nbytes: int) -> int:
    """The size of the block that `nbytes` bytes are put in: a quarter of a power of two, at most a quarter more."""
    step = max(1 << max((nbytes - 1).bit_length() - 3, 0), _PAGE if nbytes < HUGE_PAGE else HUGE_PAGE)
    return round_up(nbytes, step)


class _Block:
    """Private anonymous memory, its first aligned address, and how much of it there is from there."""

    __slots__ = ("address", "mapping", "size")

    def __init__(self, size: int) -> None:
        slack = HUGE_PAGE if size >= HUGE_PAGE else 0  # never touched, so it is address space and not memory
        if hasattr(mmap, "MAP_PRIVATE"):
            self.mapping = mmap.mmap(-1, size + slack, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        else:
            self.mapping = mmap.mmap(-1, size + slack)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.mapping))
        self.address = start + (-start % HUGE_PAGE if slack else 0)
        self.size = size
        if slack and hasattr(mmap, "MADV_HUGEPAGE"):
            try:
                self.mapping.madvise(mmap.MADV_HUGEPAGE)
            except OSError:
                return  # a kernel built without huge pages: small ones do


class Pool:
    """Blocks that are free to be used again, at most `limit` bytes of them.

    Safe to use from several threads. A collected array gives its block back from a finaliser, which may run in the middle
    of anything, this class's own methods included; so `give_back` only appends to a queue, which whoever holds the lock, or
    can have it without waiting, then empties.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lock = locks.lock()
        self._returned: deque[_Block] = deque()
        self._free: dict[int, list[_Block]] = {}  # by size; the size used longest ago comes first
        self._cached = 0

    @property
    def cached_bytes(self) -> int:
        """Bytes that wait to be used again."""
        self._collect_returned()
        return self._cached

    def take(self, nbytes: int) -> _Block:
        """A block of at least `nbytes` bytes, warm if there is one."""
        size = block_size(nbytes)
        self._collect_returned()
        block = None
        with self._lock:
            blocks = self._free.get(size)
            if blocks:
                block = blocks.pop()
                self._cached -= size
        self._collect_returned()
        return self._new(size) if block is None else block

    def _new(self, size: int) -> _Block:
        """Memory from the system; where it has none, what waits here goes back to it first."""
        try:
            return _Block(size)
        except (OSError, OverflowError, ValueError):
            self.release_cached()
        try:
            return _Block(size)
        except (OSError, OverflowError, ValueError) as error:
            raise OutOfMemoryError(size, Device.cpu()) from error

    def give_back(self, block: _Block) -> None:
        """Let a block be used again."""
        self._returned.append(block)
        self._collect_returned()

    def release_cached(self) -> int:
        """Give all memory that waits to be used again back to the system; returns how many bytes that was."""
        self._collect_returned()
        with self._lock:
            released, self._cached = self._cached, 0
            free, self._free = self._free, {}
        del free  # unmapped after the lock is free
        self._collect_returned()
        return released

    def recount(self) -> None:
        """In the child of a fork: another thread may have been in the middle of taking or sorting in."""
        self._cached = sum(size * len(blocks) for size, blocks in self._free.items())

    def _collect_returned(self) -> None:
        """Sort returned blocks in. If the lock is taken, its holder does so after letting go of it."""
        while self._returned and self._lock.acquire(blocking=False):
            evicted: list[_Block] = []  # unmapped after the lock is free
            try:
                while self._returned:
                    self._sort_in(self._returned.popleft(), evicted)
            finally:
                self._lock.release()

    def _sort_in(self, block: _Block, evicted: list[_Block]) -> None:
        if block.size > self.limit:
            evicted.append(block)
            return
        while self._cached + block.size > self.limit:
            oldest = next(iter(self._free))
            blocks = self._free[oldest]
            if blocks:
                evicted.append(blocks.pop(0))
                self._cached -= oldest
            else:
                del self._free[oldest]
        blocks = self._free.pop(block.size, [])
        blocks.append(block)
        self._free[block.size] = blocks  # now the last to be evicted
        self._cached += block.size


@lru_cache(maxsize=1024)
def _lease_type(size: int) -> Callable[[Pool, _Block], Any]:
    """A constructor of buffers of `size` bytes that give their block back when collected.

    NumPy keeps the exporter of the buffer that an array is made from as the array's base, and views keep the array, so
    the buffer lives exactly as long as its memory is in use.
    """
    element: Any = ctypes.c_char * size

    class Lease(element):  # type: ignore[misc]
        _pool: Pool
        _block: _Block

        def __del__(self) -> None:
            self._pool.give_back(self._block)

    def lease(pool: Pool, block: _Block) -> Any:
        leased = Lease.from_address(block.address)
        leased._pool, leased._block = pool, block
        return leased

    return lease


#: The pool that `empty` takes blocks from: at most a quarter of the machine's memory and 8 GiB wait in it.
POOL = Pool(min(_physical_memory() // 4, 8 << 30))
locks.in_child(POOL.recount)


@cache
def _dtype(kind: ElementKind) -> tuple[np.dtype[Any], int]:
    return kind.numpy, kind.itemsize


def empty(shape: tuple[int, ...], kind: ElementKind) -> np.ndarray[Any, Any]:
    """A C-contiguous NumPy array with contents that mean nothing.

    Arrays of `SMALLEST_POOLED` bytes and more are aligned to a page, from `HUGE_PAGE` bytes to a huge page, and reuse
    memory.

    Raises
    ------
    UnsupportedError
        The kind is packed; allocate its bytes as U8.
    OutOfMemoryError
        The system has no memory of that size.
    """
    dtype, itemsize = _dtype(kind)
    nbytes = itemsize * prod(shape)
    if nbytes < SMALLEST_POOLED:
        return np.empty(shape, dtype)
    block = POOL.take(nbytes)
    return np.ndarray(shape, dtype, _lease_type(block.size)(POOL, block))


class Lease:
    """Memory of at least some bytes, from the pool; it goes back there when the object is collected.

    Attributes
    ----------
    pointer : int
        Its address.
    """

    __slots__ = ("__weakref__", "_block", "pointer")

    def __init__(self, nbytes: int) -> None:
        self._block = POOL.take(nbytes)
        self.pointer = self._block.address

    def __del__(self) -> None:
        if hasattr(self, "_block"):
            POOL.give_back(self._block)


class SmallMemory:
    """A few bytes of memory, aligned as vectors want them; `pointer` is its address."""

    __slots__ = ("_memory", "pointer")

    def __init__(self, nbytes: int) -> None:
        self._memory = np.empty(nbytes + 64, np.uint8)
        self.pointer = round_up(layout_key.numpy_pointer(self._memory), 64)


def release_cached() -> int:
    """Give the memory that waits to be used again back to the system; returns how many bytes that was."""
    return POOL.release_cached()


def _allocate_workspace(nbytes: int, device: Device) -> np.ndarray[Any, Any]:
    """Host memory for `Workspace.allocate`: pooled where large, and where small aligned by hand."""
    if nbytes >= SMALLEST_POOLED:
        return empty((nbytes,), ElementKind.U8)
    return workspace.allocate_host(nbytes, device)


workspace.ALLOCATORS[DeviceKind.CPU] = _allocate_workspace
