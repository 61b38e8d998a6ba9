"""Windows as a problem: every element of the output is made of those of the input that a window shows.

An output has a coordinate o along each axis, and so has the input, i. A plain axis shows i = o. Along the others there is a rule:

Strided   i = (o * stride + t * dilation - pad) / base for the taps t = 0 ... size - 1, as far as that is a whole number from 0 to
          source - 1; all other taps are absent (padding is nothing, and so are the holes of an input that is dilated by `base`).
Shared    i from floor(o * source / extent) to below ceil((o + 1) * source / extent): adaptive windows, which overlap by one
          element at most.
Placed    i from starts[...] to below starts[...] + size, where starts is a tensor that is read at the output, and is kept within
          0 ... source - size.

Whichever it is, the taps that are there have rising i in equal steps.

The order of operations: for one element of the output, the taps that are there are taken in rising order, the last axis that has
a rule fastest; each is an element's *state*, a formula over what is read there and over both coordinates; the running state
begins with the identity of the operation and becomes operation(running state, state of the tap). What is written is a formula of
the last running states, and of what is read at the output. So an output's bits depend on its own window alone.

The other way around, which is the gradient: the windows o that show an input i are themselves a window of i. That of
Strided(size, stride, dilation, pad, base) is Strided(size, base, dilation, (size - 1) * dilation - pad, stride), and that of
Shared is Shared with the extents exchanged (o * n / m < i + 1 and (o + 1) * n / m > i, solved for o). So a gradient is a fold
over windows in rising order, and nobody adds atomically.

In the graph a fold is a node of op "scan", which stands for its last running state; an input with the axes FULL is read at the
tap, one with OUTER at the output. Of R axes, `coord(a)` is the output's coordinate along axis a and `coord(R + a)` the tap's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import gcd, prod
from typing import TypeAlias

from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.formula.expr import Axes, Expr, coord, rebuild
from baracuda.formula.graph import Graph
from baracuda.formula.scans import Combine
from baracuda.formula.small_floats import stored_as_integers
from baracuda.lowering.nest.problem import Operand

#: Coordinates, and what leads to them, are below.
LIMIT = 1 << 31


@dataclass(frozen=True)
class Strided:
    """i = (o * stride + t * dilation - pad) / base for t below `size`, where that is whole and within the input."""

    size: int
    stride: int = 1
    dilation: int = 1
    pad: int = 0
    base: int = 1

    @property
    def tap_step(self) -> int:
        """From one tap that is there to the next."""
        return self.base // gcd(self.dilation, self.base)

    @property
    def step(self) -> int:
        """How far these are apart in the input."""
        return self.dilation // gcd(self.dilation, self.base)

    @property
    def classes(self) -> int:
        """Outputs so many apart have the same taps, inside the input."""
        return self.base // gcd(self.stride, self.base)

    @property
    def advance(self) -> int:
        """How far their windows are apart in the input."""
        return self.stride // gcd(self.stride, self.base)


@dataclass(frozen=True)
class Shared:
    """i from floor(o * source / extent) to below ceil((o + 1) * source / extent)."""


@dataclass(frozen=True)
class Placed:
    """i from starts to below starts + size; `starts` is the name of an input that is read at the output."""

    size: int
    starts: str


Rule: TypeAlias = Strided | Shared | Placed


@dataclass(frozen=True)
class Axis:
    """An axis of a problem: how many elements the output and the input have along it, and the rule; None: i = o."""

    extent: int
    source: int
    rule: Rule | None = None

    @property
    def inverse(self) -> Axis:
        """The windows that show an element, along this axis."""
        rule = self.rule
        if isinstance(rule, Strided):
            behind = (rule.size - 1) * rule.dilation - rule.pad
            rule = Strided(rule.size, rule.base, rule.dilation, behind, rule.stride)
        elif isinstance(rule, Placed):
            raise UnsupportedError("the windows of a tensor of starts have no inverse; expected strided or shared ones")
        return Axis(self.source, self.extent, rule)

    def check(self, name: str) -> None:
        """Raise the named error of what is wrong."""
        rule = self.rule
        if rule is None and self.extent != self.source:
            raise InvalidProblemError(
                f"{name}: {self.extent} outputs of {self.source}; expected as many where there is no window"
            )
        reaching = [self.extent, self.source]
        if isinstance(rule, Strided):
            if min(rule.stride, rule.dilation, rule.base) < 1 or rule.size < 0:
                raise InvalidProblemError(f"{name}: {rule}; expected a stride, a dilation and a base of 1 or more")
            reach = abs(rule.pad) + rule.size * rule.dilation + self.extent * rule.stride
            reaching.append(reach + self.source * rule.base)
        elif isinstance(rule, Placed) and not 1 <= rule.size <= self.source:
            raise InvalidProblemError(f"{name}: windows of {rule.size}; expected 1 to {self.source}")
        elif isinstance(rule, Shared) and self.source == 0 and self.extent:
            raise InvalidProblemError(
                f"{name}: {self.extent} windows that share an axis of extent 0; expected one element or more"
            )
        if rule is not None and max(reaching) >= LIMIT:
            raise UnsupportedError(f"{name}: a window that reaches {max(reaching)}; expected less than 2**31")


@dataclass(frozen=True)
class Window:
    """The problem: a graph, the axes, and the operands in the order of its inputs and outputs. An input's strides are along the
    axes of what is read: those of the input where it is read at the tap."""

    graph: Graph
    axes: tuple[Axis, ...]
    operands: tuple[Operand, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the output."""
        return tuple(a.extent for a in self.axes)

    @property
    def windowed(self) -> tuple[int, ...]:
        """The axes that have a rule, in the order of the taps."""
        return tuple(a for a, axis in enumerate(self.axes) if axis.rule is not None)

    @property
    def folds(self) -> list[Fold]:
        """What is folded, each with the nodes that stand for its components."""
        found: dict[tuple[Combine, tuple[Expr, ...]], dict[int, Expr]] = {}
        for n in self.graph.nodes:
            if n.op == "scan":
                found.setdefault((n.attr.combine, n.args), {})[n.attr.component] = n
        return [Fold(combine, args, nodes) for (combine, args), nodes in found.items()]

    @property
    def taps(self) -> list[int]:
        """The operands that are read at taps."""
        return [i for i, p in enumerate(self.graph.inputs) if p.axes is Axes.FULL]

    @property
    def points(self) -> list[int]:
        """The operands that lie along the outputs, which are written or read there."""
        return [i for i in range(len(self.operands)) if i not in self.taps]

    @property
    def walk(self) -> list[int]:
        """The axes in the order in which outputs lie in memory, the nearest neighbours last."""
        first = self.operands[len(self.graph.inputs)]
        if first.general:
            return list(range(len(self.axes)))
        return sorted(range(len(self.axes)), key=lambda a: -abs(first.strides[a]) if self.axes[a].extent > 1 else -(LIMIT**2))

    @property
    def starts(self) -> list[int]:
        """The operands that say where windows begin."""
        return [self.number(a.rule.starts) for a in self.axes if isinstance(a.rule, Placed)]

    def number(self, name: str) -> int:
        """The operand of an input."""
        return next(i for i, p in enumerate(self.graph.inputs) if p.name == name)

    @property
    def tap_count(self) -> float:
        """About how many taps a window has."""
        count = 1.0
        for axis in self.axes:
            if isinstance(axis.rule, Strided):
                count *= max(1.0, axis.rule.size / axis.rule.tap_step)
            elif isinstance(axis.rule, Shared):
                count *= axis.source / max(1, axis.extent) + 1
            elif isinstance(axis.rule, Placed):
                count *= axis.rule.size
        return count


@dataclass(frozen=True)
class Fold:
    """An operation on states, the formulas of a tap's state, and by component the node that stands for the result."""

    combine: Combine
    args: tuple[Expr, ...]
    nodes: dict[int, Expr]


def _without_small_floats(problem: Window) -> Window:
    graph = stored_as_integers(problem.graph)
    if graph is problem.graph:
        return problem
    ports = (*graph.inputs, *(p for p, _ in graph.outputs))
    return replace(
        problem, graph=graph, operands=tuple(replace(o, kind=p.kind) for o, p in zip(problem.operands, ports, strict=True))
    )


def _is_plain(axis: Axis) -> bool:
    return axis.rule is None or (axis.rule == Strided(1) and axis.extent <= axis.source)


def normalise(problem: Window) -> Window:
    """The same problem over as few plain axes as the strides allow, which come first, from far apart to near; the others stay in
    their order. An axis whose coordinates the formula reads stays as it is."""
    problem = _without_small_floats(problem)
    rank, operands = len(problem.axes), problem.operands
    used = {n.attr % rank for n in problem.graph.nodes if n.op == "coord"}
    axes = list(problem.axes)
    if any(a.source == 0 for a in axes):  # nothing is read
        axes = [replace(a, rule=Strided(0)) if a.rule is not None else a for a in axes]
    axes = [replace(a, source=a.extent, rule=None) if _is_plain(a) else a for a in axes]
    general = any(o.general for o in operands)
    plain = [a for a in range(rank) if axes[a].rule is None and (axes[a].extent != 1 or a in used)]
    first = len(problem.graph.inputs)
    if not general:
        plain.sort(key=lambda a: tuple(-abs(o.strides[a]) for o in (*operands[first:], *operands[:first])))
    groups: list[list[int]] = []
    for a in plain:
        last = groups[-1][-1] if groups else None
        together = last is not None and not general and not {a, last} & used
        if together and all(o.strides[last] == o.strides[a] * axes[a].extent for o in operands):  # type: ignore[index]
            groups[-1].append(a)
        else:
            groups.append([a])
    windowed = [a for a in range(rank) if axes[a].rule is not None]
    order = [*groups, *([a] for a in windowed)]
    place = {a: k for k, group in enumerate(order) for a in group}

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op != "coord":
            return rebuild(n, args)
        which, axis = divmod(n.attr, rank)
        return coord(which * len(order) + place[axis])

    merged = []
    for group in order:
        extent = prod(axes[a].extent for a in group)
        rule = axes[group[-1]].rule
        merged.append(Axis(extent, extent, None) if rule is None else axes[group[-1]])
    laid = tuple(replace(o, strides=tuple(o.strides[g[-1]] for g in order)) for o in operands)
    return Window(problem.graph.map(rewrite) if used else problem.graph, tuple(merged), laid)


def covering(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """The axes of the problem that goes the other way around."""
    return tuple(a.inverse for a in axes)
