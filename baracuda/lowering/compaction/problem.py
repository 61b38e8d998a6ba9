"""Compactions as problems, in two halves, so that the caller may read in between how many elements are marked.

`Marks` are a bit for each element of a tensor, in logical order, set where it is not zero (a NaN is not), and for each block of
`BLOCK` elements how many are set before it; behind the last block stands how many are set in all.

A `Compaction` goes through the elements that are set. The r-th of them, counted from 0, has *rank* r, which is exact whatever
computes it: integers are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import prod

from baracuda.core.elements import Category, ElementKind
from baracuda.lowering.put.problem import moved_as

#: Elements to a block, and to a word of bits.
BLOCK, WORD = 8192, 64
#: The order of the operands: of marks, and of compactions.
MARKED, MARKS_BITS, MARKS_OFFSETS = range(3)
BITS, OFFSETS, X, BASE, Y = range(5)
MARKS_OPERANDS, OPERANDS = 3, 5


def words_of(count: int) -> int:
    """Words of bits for so many elements."""
    return -(-count // WORD)


def blocks_of(count: int) -> int:
    """Blocks of so many elements."""
    return -(-count // BLOCK)


@dataclass(frozen=True)
class Marks:
    """The marks of `count` elements along one axis.

    Attributes
    ----------
    stride
        The step from one to the next; None: 1, of a kernel that relies on it.
    kind
        The whole number of as many bits that an element is read as.
    significant
        Its bits of which one is set where the element is not zero.
    """

    kind: ElementKind
    significant: int
    count: int
    alignment: int
    stride: int | None = None


def marks(kind: ElementKind, count: int, alignment: int, stride: int | None) -> Marks:
    """The marks of elements of a kind that is not complex."""
    every = (1 << kind.bits) - 1
    significant = every >> 1 if kind.category is Category.FLOAT else every
    return Marks(moved_as(kind), significant, count, alignment, stride)


class Mode(Enum):
    """What is done with the elements that are set.

    NUMBERS: y[r] is where the element of rank r is: one coordinate for each axis.
    PACKED: y[r] = x[i] for the element i of rank r.
    SPREAD: y[i] = x[r] for the element i of rank r, and base[i], or 0, for elements that are not set.

    Of ranks from `size` on nothing is written by the first two; the third takes the last x there is, or with `cyclic`
    begins anew.
    """

    NUMBERS = "numbers"
    PACKED = "packed"
    SPREAD = "spread"

    __hash__ = object.__hash__


@dataclass(frozen=True)
class Compaction:
    """The problem, over elements of `shape`.

    Attributes
    ----------
    kind
        That of y, as `moved_as` says.
    x, base, y
        Strides: over `shape`, or over ranks in front (and coordinates behind) where the mode says so.
    size
        How many ranks y has, or x in SPREAD.
    general
        Whether code may not depend on strides.
    """

    mode: Mode
    kind: ElementKind
    shape: tuple[int, ...]
    size: int
    x: tuple[int, ...] | None
    base: tuple[int, ...] | None
    y: tuple[int, ...]
    cyclic: bool = False
    general: bool = False

    @property
    def count(self) -> int:
        return prod(self.shape)

    @property
    def walked(self) -> tuple[tuple[int, ...], ...]:
        """The strides that are over the elements."""
        by_mode = {Mode.NUMBERS: (), Mode.PACKED: (self.x,), Mode.SPREAD: (self.base, self.y)}
        return tuple(s for s in by_mode[self.mode] if s is not None)


def normalise(problem: Compaction) -> Compaction:
    """The same problem with as few axes as its strides allow; coordinates are those of the axes that there are."""
    if problem.mode is Mode.NUMBERS or problem.general:
        return problem
    groups: list[tuple[int, int]] = []
    for axis, n in enumerate(problem.shape):
        if n == 1:
            continue
        if groups and all(s[groups[-1][1]] == s[axis] * n for s in problem.walked):
            groups[-1] = groups[-1][0] * n, axis
        else:
            groups.append((n, axis))

    def merged(strides: Sequence[int] | None) -> tuple[int, ...] | None:
        return None if strides is None else tuple(strides[a] for _, a in groups) or (0,)

    shape = tuple(n for n, _ in groups) or (1,)
    if problem.mode is Mode.PACKED:
        return replace(problem, shape=shape, x=merged(problem.x))
    y = merged(problem.y)
    assert y is not None
    return replace(problem, shape=shape, base=merged(problem.base), y=y)
