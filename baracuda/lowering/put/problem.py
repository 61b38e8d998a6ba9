"""Puts as a problem: y[d] = x[p] for the last position p, in logical order, whose key is d. All else of y stays as it is.

The last position of a destination is the largest of their numbers, which integer maxima find exactly, in whatever order
threads come: every destination that is written has a number of 32 bits in the workspace, which begins at 0; each position
puts the maximum of it and its own number plus 1 there; and those whose number it then is are written. So the workspace is read
and written where keys lead to, and nowhere else, however many destinations there are. Whoever goes through positions in order
needs none of that.

Where `reading` is set it is the other way around, which is the gradient by x: x[p] = y[d] for the last position of d, and 0 for
the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from baracuda.core.elements import Category, ElementKind
from baracuda.core.layout import round_up
from baracuda.lowering.scatter.problem import Keys, Scatter, TensorLayout, normalise

#: What the workspace is a multiple of.
_ALIGNMENT = 256
#: The order of the operands.
INDEX, X, Y = range(3)
OPERANDS = 3

_BITS = {8: ElementKind.U8, 16: ElementKind.U16, 32: ElementKind.U32, 64: ElementKind.U64}


def moved_as(kind: ElementKind) -> ElementKind:
    """The element in whose guise one of `kind` is moved: whole numbers of as many bits; complex ones of 128 stay so."""
    return _BITS.get(kind.bits, kind)


@dataclass(frozen=True)
class Put:
    """The problem, over the positions of `keys`, the destinations and the inner axes that both have.

    Attributes
    ----------
    walk
        Where keys, x and y lie: a combination by destination of them, without anything else of it.
    reading
        Whether x is written and y read.
    once
        Whether no two positions have one key, so that each is the last of its destination.
    """

    walk: Scatter
    reading: bool = False
    once: bool = False

    @property
    def keys(self) -> Keys:
        return self.walk.keys

    @property
    def x(self) -> TensorLayout:
        assert self.walk.x is not None
        return self.walk.x

    @property
    def workspace_bytes(self) -> int:
        """A number for each destination."""
        return 0 if self.once else round_up(4 * self.keys.count, _ALIGNMENT)


def put(
    keys: Keys,
    destinations: tuple[int, ...],
    inner: tuple[int, ...],
    x: TensorLayout,
    y: TensorLayout,
    *,
    reading: bool = False,
    once: bool = False,
) -> Put:
    """The normalised problem: as few axes as its layouts allow, numbers that stand for elements of any kind."""
    kind = moved_as(y.kind)
    x, y = replace(x, kind=kind), replace(y, kind=kind)
    walk = normalise(Scatter("sum", False, keys, destinations, inner, x, None, None, None, y))
    assert kind.category is not Category.COMPLEX or walk.y.kind is ElementKind.F64
    return Put(walk, reading, once)
