"""Addresses of a recorded program in which every piece of memory has its own, also where one was allocated in another's place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from baracuda.core.call_recorder import NOWHERE, AddressSource
from baracuda.core.layout import round_up
from baracuda.core.program_recorder import ProgramRecorder

#: Where the first piece of memory that was allocated is said to lie: where nothing else is.
_FIRST = NOWHERE >> 1
#: What the distance between two of them is a multiple of.
_PAGE = 4096


class Addresses:
    """The addresses of a program's memory: real ones of its arguments and of what it holds, made-up ones of what it allocated.

    Parameters
    ----------
    recorder
        What has seen the program.
    results
        The sources among what was allocated that the program returns.
    """

    def __init__(self, recorder: ProgramRecorder, results: frozenset[int]) -> None:
        self._arguments, self._allocated, self._results = recorder.extents[: recorder.tensors], recorder.allocated, results
        self._starts: list[int] = []
        self._blocks = _Blocks((low, high) for _, low, high in (*self._arguments, *recorder.held))
        self._grow()

    def _grow(self) -> None:
        """Give addresses to what was allocated since."""
        while len(self._starts) < len(self._allocated):
            before = self._allocated[len(self._starts) - 1].nbytes if self._starts else 0
            self._starts.append(round_up((self._starts[-1] if self._starts else _FIRST) + before + 1, _PAGE))

    def of(self, place: AddressSource) -> int:
        """The address of a place."""
        self._grow()
        if place.source == 0:
            return place.offset
        number = place.source - len(self._arguments) - 1
        start = self._starts[number] if number >= 0 else self._arguments[place.source - 1][0]
        return start + place.offset

    def place(self, address: int) -> AddressSource:
        """The place of an address."""
        if address >= _FIRST:
            number = bisect_right(self._starts, address) - 1
            return AddressSource(len(self._arguments) + 1 + number, address - self._starts[number])
        for i, (first, low, high) in enumerate(self._arguments):
            if low <= address < high:
                return AddressSource(i + 1, address - first)
        return AddressSource(0, address)

    def block(self, address: int) -> int:
        """A number for the piece of memory that an address lies in: no two have a byte in common."""
        if address < _FIRST:
            return self._blocks(address)
        return -2 - bisect_right(self._starts, address)

    def is_foreign(self, block: int) -> bool:
        """Whether a piece of memory is not the program's own."""
        return block >= -1

    def lasts(self, address: int) -> bool:
        """Whether somebody may read what is written there after the program has run."""
        return address < _FIRST or self.place(address).source in self._results


class _Blocks:
    """Ranges of memory, those that overlap as one."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        merged: list[list[int]] = []
        for low, high in sorted(ranges):
            if merged and low < merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], high)
            else:
                merged.append([low, max(high, low + 1)])
        self._starts, self._ends = [b[0] for b in merged], [b[1] for b in merged]

    def __call__(self, address: int) -> int:
        """The number of the range that an address lies in, -1 for one that lies in none."""
        i = bisect_right(self._starts, address) - 1
        return i if i >= 0 and address < self._ends[i] else -1
