"""One reduction for each of many tensors as a problem: a sum, maximum or minimum of a formula over all elements of each.

Each item is contiguous, so that it is a row of elements in their logical order, and is reduced in the canonical order
(`baracuda.formula.order`): segments of 1024 elements, 128 lanes in a segment, adjacent pairs of segments. A block of work takes
64 segments of one item, whose result is a whole subtree of that; the results of an item's blocks, in the workspace, are combined
in adjacent pairs in turn, one without a partner unchanged. So an item's bits are those of the same reduction of it alone. An item
without elements has a number of its own.

Items are a table as in `baracuda.lowering.lists.problem`; one more number says which element of the result each has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from baracuda.formula.order import SEGMENT
from baracuda.lowering.lists.problem import beginnings, room_of
from baracuda.lowering.nest.problem import Nest

#: Segments that a block of work has: a power of two.
SEGMENTS = 64
#: Elements of them.
STEP = SEGMENTS * SEGMENT


@dataclass(frozen=True)
class ListSums:
    """Of each of `sizes` numbers of elements what `nest`, a row with one reduction of one tensor, makes of them, as the elements
    `slots` of the result; `nothing` for no elements."""

    nest: Nest
    sizes: tuple[int, ...]
    slots: tuple[int, ...]
    nothing: float

    @property
    def room(self) -> int:
        """How many items there is room for in its code."""
        return room_of(len(self.sizes), (False,))

    @property
    def blocks(self) -> int:
        """How many blocks of work there are."""
        return sum(-(-n // STEP) for n in self.sizes)


def words_of(sizes: Sequence[int], slots: Sequence[int], room: int) -> list[int]:
    """The table: where the blocks of each item begin, how many elements it has, where its result goes."""
    missing = [0] * (room - len(sizes))
    return [*beginnings(sizes, STEP, room)[:room], *sizes, *missing, *slots, *missing]
