"""A traced formula: named inputs, parameters and outputs over one DAG."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.lazy import cached_property
from baracuda.formula.expr import READS, Axes, Expr, input_, rebuild, topological


@dataclass(frozen=True)
class Port:
    """An input or output tensor of a graph: its name, what it stores, and the axes it varies along."""

    name: str
    kind: ElementKind
    axes: Axes = Axes.FULL


@dataclass(frozen=True)
class Graph:
    """What a kernel computes, apart from shapes and layouts.

    inner_axes says, for each axis of the iteration space, whether it is inner; it matters only for the axes of `coord`
    nodes and is empty when the formula uses none.
    """

    inputs: tuple[Port, ...]
    outputs: tuple[tuple[Port, Expr], ...]
    inner_axes: tuple[bool, ...] = ()

    @cached_property
    def nodes(self) -> tuple[Expr, ...]:
        """Every node, operands before users."""
        return tuple(topological(expr for _, expr in self.outputs))

    @cached_property
    def params(self) -> tuple[Expr, ...]:
        """The parameter nodes, in order of first use."""
        return tuple(n for n in self.nodes if n.op == "param")

    @cached_property
    def axes(self) -> dict[Expr, Axes]:
        """The axes each node varies along."""
        axes: dict[Expr, Axes] = {}
        for n in self.nodes:
            axes[n] = varies(n, axes, self.inner_axes)
        return axes

    @cached_property
    def stages(self) -> dict[Expr, int]:
        """For each node, how many inner reductions must be complete, one after another, before it can be computed."""
        stages: dict[Expr, int] = {}
        for n in self.nodes:
            stage = max((stages[a] for a in n.args), default=0)
            stages[n] = stage + 1 if n.op == "reduce" and n.attr[1] & Axes.INNER else stage
        return stages

    @cached_property
    def text(self) -> str:
        """A stable listing, one node a line; equal texts mean equal graphs."""
        number: dict[Expr, int] = {}
        lines = [f"in {p.name}:{p.kind}:{p.axes.value}" for p in self.inputs]
        for i, n in enumerate(self.nodes):
            number[n] = i
            args = " ".join(f"%{number[a]}" for a in n.args)
            lines.append(f"%{i} = {n.op} {n.kind} {n.attr!r} {args}".rstrip())
        lines += [f"out {p.name}:{p.kind}:{p.axes.value} = %{number[e]}" for p, e in self.outputs]
        if self.inner_axes:
            lines.append(f"inner {self.inner_axes}")
        return "\n".join(lines)

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and self.text == other.text

    def map(self, rewrite: Callable[[Expr, tuple[Expr, ...]], Expr]) -> Graph:
        """The graph with each node replaced by `rewrite(node, its rewritten operands)`."""
        rewritten: dict[Expr, Expr] = {}
        for n in self.nodes:
            rewritten[n] = rewrite(n, tuple(rewritten[a] for a in n.args))
        return Graph(self.inputs, tuple((p, rewritten[e]) for p, e in self.outputs), self.inner_axes)

    def select_outputs(self, names: frozenset[str]) -> Graph:
        """The graph of some of the outputs, with the inputs they still read."""
        outputs = tuple((p, e) for p, e in self.outputs if p.name in names)
        if not outputs:
            raise InvalidProblemError(f"no output left of {[p.name for p, _ in self.outputs]}")
        read_names = {n.attr[0] for n in topological(e for _, e in outputs) if n.op in READS}
        return Graph(tuple(p for p in self.inputs if p.name in read_names), outputs, self.inner_axes)


def varies(n: Expr, operands: Mapping[Expr, Axes], inner_axes: tuple[bool, ...]) -> Axes:
    """The axes a node varies along, given those of its operands."""
    if n.op == "input":
        axes: Axes = n.attr[2]
        return axes
    if n.op == "coord":
        return Axes.INNER if inner_axes[n.attr] else Axes.OUTER
    if n.op == "position":
        return Axes.INNER
    axes = Axes.INNER if n.op == "scan" else n.attr.axes if n.op == "gather" else Axes.NONE
    for arg in n.args:
        axes |= operands[arg]
    return axes & ~n.attr[1] if n.op == "reduce" else axes


def substitute(root: Expr, table: dict[Expr, Expr]) -> Expr:
    """`root` with some nodes replaced."""
    substituted = dict(table)
    for n in topological([root]):
        if n not in substituted:
            substituted[n] = rebuild(n, tuple(substituted[a] for a in n.args))
    return substituted[root]


def renamed(graph: Graph, names: Mapping[str, str]) -> Graph:
    """The graph with other names for some of its tensors."""
    if not names:
        return graph
    table = {n: input_(names.get(n.attr[0], n.attr[0]), *n.attr[1:]) for n in graph.nodes if n.op == "input"}
    inputs = tuple(replace(p, name=names.get(p.name, p.name)) for p in graph.inputs)
    outputs = ((replace(p, name=names.get(p.name, p.name)), substitute(e, table)) for p, e in graph.outputs)
    return Graph(inputs, tuple(outputs), graph.inner_axes)
