"""Two iteration spaces as one: which axis of one is which of the other, told by a tensor that both walk.

An axis is cut into *digits*, as a number is: an axis of 32 elements next to one of 4 in the other space becomes digits of 8 and
4. Two axes that step through the same memory by the same strides are the same digits. What a tensor does not vary along is
matched by its place among such axes: it is the same for any order of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, cast, const, coord, rebuild
from baracuda.frontends.fusing.formula_step import FormulaStep, Operand
from baracuda.frontends.fusing.refusal import Refusal


@dataclass(frozen=True)
class Digits:
    """The axes of two spaces as digits of one: for each axis of either the numbers of its digits, the slowest first, and the
    extent of each digit."""

    first: tuple[tuple[int, ...], ...]
    second: tuple[tuple[int, ...], ...]
    extents: tuple[int, ...]

    def of_both(self) -> frozenset[int]:
        return frozenset(d for a in self.first for d in a) & frozenset(d for a in self.second for d in a)


class _Cutter:
    """Cuts axes of both spaces into digits, the fastest first."""

    def __init__(self, first: FormulaStep, second: FormulaStep) -> None:
        self.digits: tuple[list[list[int]], list[list[int]]] = ([[] for _ in first.shape], [[] for _ in second.shape])
        self.extents: list[int] = []

    def match(self, rows: Sequence[tuple[int, int, int]], others: Sequence[tuple[int, int, int]]) -> bool:
        """Cut axes of the first and of the second space, each (stride, extent, axis), that go together."""
        a, b = list(reversed(rows)), list(reversed(others))
        while a and b:
            (s, n, i), (t, m, j) = a.pop(), b.pop()
            least = min(n, m)
            if s != t or max(n, m) % least:
                return False
            self.digits[0][i].append(len(self.extents))
            self.digits[1][j].append(len(self.extents))
            self.extents.append(least)
            if n > least:
                a.append((s * least, n // least, i))
            if m > least:
                b.append((t * least, m // least, j))
        return not a and not b

    def alone(self, side: int, axes: Sequence[tuple[int, int]]) -> None:
        """Axes, each (extent, axis), that only one space has."""
        for n, i in axes:
            self.digits[side][i].append(len(self.extents))
            self.extents.append(n)

    def cut(self) -> Digits:
        first, second = (tuple(tuple(reversed(ds)) for ds in side) for side in self.digits)
        return Digits(first, second, tuple(self.extents))


def matched(first: FormulaStep, a: Operand, second: FormulaStep, b: Operand) -> Digits | Refusal:
    """The spaces of two steps as one, in which these operands of theirs are the same elements.

    Axes that neither operand varies along are the same where they have as many elements; those that one does not vary along,
    where the other space has none, are that space's alone.
    """
    if not a.same_start(b) or a.gathered or b.gathered:
        return Refusal("they begin at different elements")
    cutter = _Cutter(first, second)

    def walked(step: FormulaStep, o: Operand) -> list[tuple[int, int, int]]:
        axes = [(s, n, i) for i, (s, n) in enumerate(zip(o.strides, step.shape, strict=True)) if s]
        return sorted(axes, key=lambda axis: (abs(axis[0]), axis[1]))

    def left(step: FormulaStep, o: Operand) -> list[tuple[int, int]]:
        """The axes that it does not vary along, the fastest first."""
        return [(n, i) for i, (s, n) in reversed(list(enumerate(zip(o.strides, step.shape, strict=True)))) if not s]

    if not cutter.match(walked(first, a), walked(second, b)):
        return Refusal("the elements that one writes are read in another arrangement, or only some of them")
    over, under = left(first, a), left(second, b)
    if over and under:
        if not cutter.match([(0, n, i) for n, i in over], [(0, n, i) for n, i in under]):
            return Refusal("their rows have different lengths")
    else:
        cutter.alone(0, over)
        cutter.alone(1, under)
    return cutter.cut()


def over_digits(step: FormulaStep, axes: Sequence[Sequence[int]], digits: Digits, order: Sequence[int]) -> FormulaStep:
    """A step over the space of some digits in order, among them all of its own. Its classes of axes and its inner axes are not
    looked at: they are what the merged step says."""
    position = {d: i for i, d in enumerate(order)}

    def operand(o: Operand) -> Operand:
        strides = [0] * len(order)
        for a, own in enumerate(axes):
            step_of_digit = o.strides[a]
            for d in reversed(own):
                strides[position[d]] = step_of_digit
                step_of_digit *= digits.extents[d]
        return replace(o, strides=tuple(strides))

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        return _coordinate(axes[n.attr], digits.extents, position) if n.op == "coord" else rebuild(n, args)

    graph = replace(step.graph.map(rewrite), inner_axes=(False,) * len(order))
    shape = tuple(digits.extents[d] for d in order)
    inputs, outputs = tuple(map(operand, step.inputs)), tuple(map(operand, step.outputs))
    return replace(step, graph=graph, shape=shape, inner=graph.inner_axes, inputs=inputs, outputs=outputs)


def _coordinate(own: Sequence[int], extents: Sequence[int], position: Mapping[int, int]) -> Expr:
    """The index along an axis, by those along its digits."""
    total: Expr | None = None
    for d in own:
        total = coord(position[d]) if total is None else total * extents[d] + coord(position[d])
    return total if total is not None else cast(const(0, ElementKind.S32), ElementKind.S32)
