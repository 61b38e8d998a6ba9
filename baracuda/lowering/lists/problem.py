"""A formula over lists of tensors as a problem: item i of each list together, element by element.

There is no order: an element's bits are those that the formula gives for it alone, whatever list it stands in. Items are dense,
all tensors of one item in the same order of memory, so that an item is a number of elements, and each operand one address for
each item, or a single one, of a single element, that all items share. Which formula it is, is a nest of one axis, whose extent
means nothing.

What the items are is a table among the words of the launch: their addresses, an operand's one behind the other; how many elements
each has, and where its work begins. These two lie, where there are many items on a GPU, in memory of their own, since there is an
end to the words of a launch. Code depends on the formula and on how many items there is room for, never on sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from baracuda.lowering.nest.problem import Nest

#: How many items a program has room for; the largest that the words of a launch allow, at most.
ROOM = (8, 64, 256, 1024, 4096)
#: Words of a launch for addresses: 32 KiB less 4 bytes is what a GPU takes, and some are other words.
MOST_WORDS = 4048
#: Items whose table lies among the words of a launch on a GPU, at most.
FEW = 256
#: Extent of the nest.
EXTENT = 1 << 12


@dataclass(frozen=True)
class ListProblem:
    """`nest` for each of `sizes` numbers of elements. Operand i has the addresses of list lists[i], which has one for each item,
    or where it is `shared` one for all; what is written in place has those of what is read there."""

    nest: Nest
    lists: tuple[int, ...]
    shared: tuple[bool, ...]
    sizes: tuple[int, ...]

    @property
    def room(self) -> int:
        """How many items there is room for in its code."""
        return room_of(len(self.sizes), self.shared)

    @property
    def starts(self) -> list[int]:
        """The number among all addresses of the first one of each list, and how many addresses there are."""
        return [0, *accumulate(1 if shared else self.room for shared in self.shared)]

    def varies(self, operand: int) -> bool:
        """Whether an operand has an element for each of an item's."""
        return any(self.nest.operands[operand].strides)


def most_items(shared: Sequence[bool]) -> int:
    """How many items a program has at most."""
    each = max(len(shared) - sum(shared), 1)
    return min(ROOM[-1], (MOST_WORDS - sum(shared)) // each)


def room_of(count: int, shared: Sequence[bool]) -> int:
    """How many items there is room for in the code for so many."""
    return min(next(n for n in ROOM if n >= count), most_items(shared))


def beginnings(sizes: Sequence[int], step: int, room: int) -> list[int]:
    """The number of the piece of work that each item begins with, where one has `step` elements; that of all behind the last."""
    found = list(accumulate((-(-n // step) for n in sizes), initial=0))
    return [*found, *[found[-1]] * (room - len(sizes))]
