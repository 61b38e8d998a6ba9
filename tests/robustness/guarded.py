"""Host memory that ends, or begins, at a page nobody may touch: a read or a write outside of a tensor ends the process.

The bytes of the page that a tensor leaves over hold a pattern, so that a write there is seen as well.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_PAGE = mmap.PAGESIZE
#: Pages of the slots that are reused, and how many slots are mapped at once.
_SIZES = ((4, 64), (64, 8))
#: The largest block that is guarded, in bytes.
LARGEST = _SIZES[-1][0] * _PAGE
_libc = ctypes.CDLL(None, use_errno=True)


class Slot:
    """Pages between two that are protected."""

    def __init__(self, address: int, size: int) -> None:
        self.address, self.size = address, size
        self.memory: Array = np.ndarray((size,), np.uint8, (ctypes.c_char * size).from_address(address))


class Arena:
    """Slots, taken and given back."""

    def __init__(self) -> None:
        self._free: dict[int, list[Slot]] = {pages: [] for pages, _ in _SIZES}
        self._mappings: list[mmap.mmap] = []

    def take(self, nbytes: int) -> Slot:
        """A slot of at least `nbytes` bytes, which are at most `LARGEST`."""
        pages, count = next((p, c) for p, c in _SIZES if p * _PAGE >= nbytes)
        if not self._free[pages]:
            self._map(pages, count)
        return self._free[pages].pop()

    def give_back(self, slot: Slot) -> None:
        """Let a slot be used again."""
        self._free[slot.size // _PAGE].append(slot)

    def _map(self, pages: int, count: int) -> None:
        mapping = mmap.mmap(-1, (count * (pages + 1) + 1) * _PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._mappings.append(mapping)
        start = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
        for i in range(count + 1):
            guard = start + i * (pages + 1) * _PAGE
            if _libc.mprotect(
                ctypes.c_void_p(guard), ctypes.c_size_t(_PAGE), mmap.PROT_NONE if hasattr(mmap, "PROT_NONE") else 0
            ):
                raise OSError(ctypes.get_errno(), "mprotect")
            if i < count:
                self._free[pages].append(Slot(guard + _PAGE, pages * _PAGE))


_ARENA = Arena()


@cache
def _lease_type(nbytes: int) -> Callable[[Slot, int], Any]:
    """A constructor of buffers that give their slot back when nothing shares their memory any more."""
    element: Any = ctypes.c_char * nbytes

    class Lease(element):  # type: ignore[misc]
        slot: Slot

        def __del__(self) -> None:
            _ARENA.give_back(self.slot)

    def lease(slot: Slot, address: int) -> Any:
        leased = Lease.from_address(address)
        leased.slot = slot
        return leased

    return lease


class Block:
    """Bytes flush against a protected page: that after them, or with `low` that before them."""

    def __init__(self, nbytes: int, *, low: bool, fill: int) -> None:
        slot = _ARENA.take(nbytes)
        slot.memory[:] = fill
        self.nbytes, self.fill = nbytes, fill
        self._slot, self._start = slot, 0 if low else slot.size - nbytes
        self.buffer = _lease_type(nbytes)(slot, slot.address + self._start)

    def array(self, shape: Sequence[int], dtype: Any, offset: int = 0, strides: Sequence[int] | None = None) -> Array:
        """An array in this block."""
        return np.ndarray(tuple(shape), dtype, self.buffer, offset, None if strides is None else tuple(strides))

    def contents(self) -> bytes:
        """Every byte between the protected pages."""
        return self._slot.memory.tobytes()

    def around(self, contents: bytes) -> bytes:
        """Of what `contents` gave, the bytes beside this block."""
        return contents[: self._start] + contents[self._start + self.nbytes :]


def empty(shape: Sequence[int], dtype: Any, *, low: bool, fill: int) -> Array:
    """A new array full of a byte, flush against a protected page."""
    nbytes = np.dtype(dtype).itemsize * prod(shape)
    return Block(nbytes, low=low, fill=fill).array(shape, dtype)


def _reach(array: Array) -> tuple[int, int]:
    """The first and the last byte of an array's elements, counted from its first element, the latter exclusive."""
    if not array.size:
        return 0, 0
    steps = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
    return sum(s for s in steps if s < 0), sum(s for s in steps if s > 0) + array.itemsize


def moved(array: Array, *, low: bool, fill: int) -> tuple[Array, Block]:
    """A copy of an array with its strides, in a block of exactly the bytes that it reaches."""
    first, last = _reach(array)
    beside = int(not array.flags.aligned)  # what is not aligned stays so, with a byte between it and the protected page
    block = Block(last - first + beside, low=low, fill=fill)
    copy = block.array(array.shape, array.dtype, (beside if low else 0) - first, array.strides)
    copy[...] = array
    return copy, block
