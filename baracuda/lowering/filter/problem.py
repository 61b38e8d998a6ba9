"""Recursive filters as a problem: y_t = x_t - a_1 y_(t-1) - a_2 y_(t-2) - ... - a_p y_(t-p), with zeros before the first element.

*Order.* Elements follow one another, and each is one chain of fused multiply-adds from the oldest on: s = x_t, then
s = fma(-a_k, y_(t-k), s) for k = p, p - 1, ..., 1, where y before the row is +0. Of more than `HELD` coefficients only those of
elements that there are count.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from baracuda.core.elements import ElementKind

#: The order of the operands.
X, A, Y = range(3)
OPERANDS = 3
#: Coefficients up to which the elements before are held in registers.
HELD = 32


@dataclass(frozen=True)
class Rows:
    """How a tensor lies in memory: strides in elements over the rows' axes and along a row."""

    outer: tuple[int, ...]
    along: int


@dataclass(frozen=True)
class Filter:
    """Rows of `length` elements of `kind`, f32 or f64, over axes of extents `outer`, each with `order` coefficients."""

    kind: ElementKind
    outer: tuple[int, ...]
    length: int
    order: int
    x: Rows
    a: Rows
    y: Rows

    @property
    def count(self) -> int:
        return prod(self.outer)

    @property
    def tensors(self) -> tuple[Rows, Rows, Rows]:
        return self.x, self.a, self.y
