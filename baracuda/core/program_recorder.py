"""What a whole program launches, seen while it runs: a recorder of many tensors that holds none longer than the program does.

Memory that the program lets go may be given out again while it is recorded, so that an address means what was allocated there
last. Whether memory is still held is asked of whoever owns it; where that cannot be told, the recorder holds it itself.

Tensors that a program reads besides its arguments are *held*: they stay where they are, so that an address in one of them is
source 0, nothing, and the address itself as the offset.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

from baracuda.core.call_recorder import AddressSource, Allocated, CallRecorder, DeviceCheck
from baracuda.core.device import Device
from baracuda.core.layout import reach
from baracuda.core.tensor import tensor_ref

#: First byte, the byte behind the last one, and the first element of a tensor.
Extent = tuple[int, int, int]


class _Extents:
    """Tensors that there are from the beginning, which may overlap: which of them an address lies in."""

    def __init__(self, extents: Iterable[tuple[int, int, int]]) -> None:
        """`extents`: of each the first element, and where its memory begins and ends."""
        self.first = [e[0] for e in extents]
        self._exact = {first: i for i, first in reversed(list(enumerate(self.first)))}
        rows = sorted((low, high, i) for i, (_, low, high) in enumerate(extents) if low < high)
        self._lows, self._rows = [r[0] for r in rows], rows
        self._ends = list(accumulate((r[1] for r in rows), max))

    def __call__(self, pointer: int, end: bool = False) -> int | None:
        """The tensor that an address lies in, or, where that is asked for, behind the last byte of."""
        known = self._exact.get(pointer)
        if known is not None:
            return known
        i = bisect_right(self._lows, pointer) - 1
        while i >= 0 and self._ends[i] + end > pointer:
            if self._rows[i][1] + end > pointer:
                return self._rows[i][2]
            i -= 1
        return None

    def overlap(self, low: int, high: int) -> bool:
        """Whether some bytes are among theirs."""
        i = bisect_left(self._lows, high) - 1
        return low < high and i >= 0 and self._ends[i] > low


class ProgramRecorder(CallRecorder):
    """Sees one call of a program.

    Parameters
    ----------
    extents
        As of `CallRecorder`: of the program's arguments.
    held
        The same of tensors that stay where they are.
    is_held
        Gives, of an allocation, a function that says whether its memory is still held, or None where the recorder is to hold it.
    plans
        As of `CallRecorder`.
    """

    def __init__(
        self,
        extents: Sequence[tuple[int, int, int]],
        held: Sequence[tuple[int, int, int]] = (),
        is_held: Callable[[Any], Callable[[], bool] | None] = lambda tensor: None,
        *,
        plans: bool = False,
    ) -> None:
        super().__init__(extents, plans=plans)
        self.tensors, self.held = len(self.extents), tuple(held)
        self._arguments, self._held, self._is_held = _Extents(self.extents), _Extents(held), is_held
        self._lows: list[int] = []  # where memory begins that was allocated, and what is known of it
        self._live: dict[int, tuple[int, int, Callable[[], bool] | None]] = {}  # end, number, whether held
        self._empty: dict[int, int] = {}  # allocations of no bytes
        #: The device of each allocation, where it is of a tensor.
        self.devices: list[Device | None] = []
        #: Tensors that `hold` was told of, with where their memory begins and ends.
        self.made: list[tuple[int, int, Any]] = []
        #: Whether values may be read on the host where they are the same in each call, and whether any was.
        self.may_read, self.reads = True, False
        #: Whether a held tensor is written, and how many steps there were before the first write to one or to an argument.
        self.writes_held = False
        self.first_write: int | None = None
        for _, low, high in self.extents:
            if self._held.overlap(low, high):
                self.refuse("an argument lies in the memory of a tensor that is held")

    def hold(self, tensor: Any) -> None:
        """A tensor that stays where it is from now on."""
        ref = tensor_ref(tensor)
        lowest, highest = reach(ref.shape, ref.strides)
        if 0 not in ref.shape:
            size = ref.kind.itemsize
            self.made.append((ref.pointer + lowest * size, ref.pointer + (highest + 1) * size, tensor))

    def is_made(self, tensor: Any) -> bool:
        return any(held is tensor for _, _, held in self.made)

    def allocate(self, allocation: Allocated) -> None:
        """Memory that was made for the call; what was at this address before is there no longer."""
        number, low, high = len(self.allocated), allocation.pointer, allocation.pointer + allocation.nbytes
        asks = self._is_held(allocation.tensor) if allocation.nbytes else None
        self.devices.append(None if allocation.tensor is None else tensor_ref(allocation.tensor).device)
        self.allocated.append(allocation if asks is None else allocation._replace(tensor=None, like=None))
        self.extents.append((low, low, high))
        if not allocation.nbytes:
            self._empty[low] = number
            return
        at = bisect_right(self._lows, low)
        if at and self._live[self._lows[at - 1]][0] > low:
            at -= 1
        while at < len(self._lows) and self._lows[at] < high:
            del self._live[self._lows.pop(at)]
        insort(self._lows, low)
        self._live[low] = high, number, asks

    def place(self, pointer: int) -> AddressSource | None:
        """Where an address points; None where that is not known."""
        if not pointer:
            return AddressSource(0, 0)
        return self._place(pointer, False) or self._emptied(pointer) or self._place(pointer, True)

    def _place(self, pointer: int, end: bool) -> AddressSource | None:
        argument = self._arguments(pointer, end)
        if argument is not None:
            return AddressSource(argument + 1, pointer - self._arguments.first[argument])
        at = bisect_right(self._lows, pointer - end) - 1
        if at >= 0:
            low = self._lows[at]
            high, number, asks = self._live[low]
            if pointer < high + end and (asks is None or asks()):
                return AddressSource(self.tensors + 1 + number, pointer - low)
        if self._held(pointer, end) is not None or any(low <= pointer < high for low, high, _ in self.made):
            return AddressSource(0, pointer)
        return None

    def _emptied(self, pointer: int) -> AddressSource | None:
        number = self._empty.get(pointer)
        return None if number is None else AddressSource(self.tensors + 1 + number, 0)

    def writes(self, pointers: Iterable[int]) -> None:
        for pointer in pointers:
            place = self.place(pointer)
            if place is not None:
                self.written.add(place.source)
                self.writes_held = self.writes_held or (place.source == 0 and place.offset != 0)
                if self.first_write is None and place.source <= self.tensors and pointer:
                    self.first_write = len(self.steps)

    def expect_value(self, pointer: int, value: bytes) -> None:
        """As of `CallRecorder`: a call goes on where the value is the same. Once an argument is written it cannot: the function
        would then be run anew, and write again."""
        place = self.place(pointer)
        if not self.may_read:
            self.refuse("values that it reads on the host change from call to call")
        elif place is None or self.first_write is not None or len(value) > 8:
            self.refuse("it reads values on the host")
        else:
            self.reads = True
            self.steps.append(DeviceCheck(place, value, decides=True))
