"""The stable order of the elements of rows as a problem.

*Order.* An element comes before another one where its value is smaller, and where neither is, where it lies first in its row:
so the result is one, and has the same bits whatever finds it. -0 and +0 are equal. NaN comes after every number (before, with
`nan_first`), and all NaN are equal. Complex numbers compare by their real parts, and where these are equal by their imaginary
parts; those with a NaN come after those without, in NumPy's order: first those with a NaN for an imaginary part alone, by their
real parts, then those with a NaN for a real part alone, by their imaginary parts, then the rest. With `descending` a number
comes before those that are smaller; NaN keeps its end, and equal elements their order.

Elements are ordered by unsigned *keys*: of an element's bits, a map that keeps this order. A complex number has two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import UnsupportedError

#: Places in a row are numbered in 32 bits.
LIMIT = (1 << 31) - 1
#: The order of the operands.
X, VALUES, INDICES, RANKS = range(4)
OPERANDS = 4


@dataclass(frozen=True)
class RowLayout:
    """How a tensor lies in memory: strides in elements over the rows' axes, and that along a row."""

    kind: ElementKind
    outer: tuple[int, ...]
    along: int


@dataclass(frozen=True)
class Sort:
    """Rows in order: of the places `first` to `first + count - 1` of each ordered row the values, and where in the row of x they
    lie; and for each element of x the place that it has in the ordered row.

    Attributes
    ----------
    outer, length
        The extents of the rows' axes, and of a row.
    first, count
        Which places are wanted.
    descending, nan_first
        As above.
    x, values, indices, ranks
        The tensors; the last three may be absent.
    general
        Whether the code must serve any strides.
    """

    outer: tuple[int, ...]
    length: int
    first: int
    count: int
    descending: bool
    nan_first: bool
    x: RowLayout
    values: RowLayout | None
    indices: RowLayout | None
    ranks: RowLayout | None
    general: bool = False

    @property
    def rows(self) -> int:
        return prod(self.outer)

    @property
    def tensors(self) -> dict[int, RowLayout]:
        """Those that are there, by number."""
        every = {X: self.x, VALUES: self.values, INDICES: self.indices, RANKS: self.ranks}
        return {i: t for i, t in every.items() if t is not None}

    @property
    def indexed(self) -> bool:
        """Whether it matters where in its row an element lies."""
        return self.indices is not None or self.ranks is not None

    @property
    def kind(self) -> ElementKind:
        return self.x.kind

    @property
    def complex(self) -> bool:
        return self.kind.category is Category.COMPLEX

    @property
    def part_bits(self) -> int:
        """Bits of an element, or of each of the two parts of a complex one."""
        return self.kind.bits // 2 if self.complex else self.kind.bits

    @property
    def key_bits(self) -> int:
        """Bits of a key."""
        return 1 if self.kind is ElementKind.BOOL else self.part_bits

    @property
    def keys(self) -> int:
        """How many keys an element has, the last of which counts most."""
        return 2 if self.complex else 1

    @property
    def infinity(self) -> int | None:
        """Of a float or a part of a complex number: the largest bit pattern, without the sign, that is no NaN."""
        if self.complex:
            return _LARGEST[ElementKind.F32 if self.part_bits == 32 else ElementKind.F64]
        return _LARGEST.get(self.kind)

    def digits(self, most: int) -> list[tuple[int, int, int]]:
        """The digits that a radix order takes one after another, as (key, shift, bits), each of at most so many bits."""
        count = -(-self.key_bits // most)
        width = -(-self.key_bits // count)
        shifts = range(0, self.key_bits, width)
        return [(key, shift, min(width, self.key_bits - shift)) for key in range(self.keys) for shift in shifts]


_LARGEST = {
    ElementKind.F8E4M3: 0x7E,
    ElementKind.F8E5M2: 0x7C,
    ElementKind.F16: 0x7C00,
    ElementKind.BF16: 0x7F80,
    ElementKind.F32: 0x7F800000,
    ElementKind.F64: 0x7FF0000000000000,
}


def normalise(sort: Sort) -> Sort:
    """The same problem with as few axes of rows as its layouts allow, but one at least."""
    if sort.length > LIMIT:
        raise UnsupportedError(f"rows of {sort.length} elements; expected at most {LIMIT}")
    tensors = sort.tensors
    axes: Sequence[int] = range(len(sort.outer))
    groups: list[tuple[int, int]] = []
    for a in axes:
        n = sort.outer[a]
        if sort.general:
            groups.append((n, a))
        elif n != 1:
            if groups and all(t.outer[groups[-1][1]] == t.outer[a] * n for t in tensors.values()):
                groups[-1] = groups[-1][0] * n, a
            else:
                groups.append((n, a))
    groups = groups or [(1, -1)]

    def merged(t: RowLayout | None) -> RowLayout | None:
        return None if t is None else replace(t, outer=tuple(t.outer[a] if a >= 0 else 0 for _, a in groups))

    x = merged(sort.x)
    assert x is not None
    outer, (values, indices, ranks) = tuple(n for n, _ in groups), map(merged, (sort.values, sort.indices, sort.ranks))
    return replace(sort, outer=outer, x=x, values=values, indices=indices, ranks=ranks)
