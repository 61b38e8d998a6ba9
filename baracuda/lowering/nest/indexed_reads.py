"""Indexed reads in a nest: indices become an offset in elements from where an operand's own strides lead.

A schedule then loads element `offset` of an operand as it walks it. Where the offset is the same along an axis, that operand
is walked along it like any other; where it differs from element to element, every element has an address of its own, so the
operand's strides along such an axis become part of the offset.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import Axes, Expr, cast, coord, node, rebuild, topological
from baracuda.formula.gathers import GatherAxis, gathers, offset_of

if TYPE_CHECKING:
    from baracuda.lowering.nest.problem import Nest, Operand, Problem


def with_offsets(problem: Problem) -> Problem:
    """The problem with an offset in place of the indices of each read."""
    operands = _read_at_indices(problem)
    if all(n.attr.dims == () for n in gathers(problem.graph)):
        return problem

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op != "gather" or n.attr.dims == ():
            return rebuild(n, args)
        source = n.attr
        if any(m.op in ("reduce", "scan") for m in topological(args)):
            raise UnsupportedError(f"{source.name}: an index made of a reduction or a scan; compute the index first")
        offset = offset_of(source.name, source, args, len(operands[source.name].gathered))
        return node("gather", (offset,), n.kind, source._replace(dims=(), wrap=False, flat=False))

    return replace(problem, graph=problem.graph.map(rewrite))


def _read_at_indices(problem: Problem | Nest) -> dict[str, Operand]:
    names = {n.attr.name for n in gathers(problem.graph)}
    inputs = zip(problem.graph.inputs, problem.operands, strict=False)
    return {p.name: o for p, o in inputs if p.name in names}


def moving_axes(nest: Nest) -> dict[Expr, frozenset[int]]:
    """The axes of a nest along which each node may differ, by the classes and the strides of what it reads."""
    outer = frozenset(range(len(nest.outer)))
    inner = frozenset(range(len(outer), len(outer) + len(nest.inner)))
    operands = {p.name: o for p, o in zip(nest.graph.inputs, nest.operands, strict=False)}
    along_rows = any(n.op in ("reduce", "scan") for n in nest.graph.nodes)
    axes_of: dict[Expr, frozenset[int]] = {}
    for n in nest.graph.nodes:
        axes = frozenset[int]().union(*(axes_of[a] for a in n.args))
        if n.op in ("input", "gather"):
            own: Axes = n.attr[2] if along_rows else Axes.FULL  # without rows there are no classes
            among = (outer if own & Axes.OUTER else frozenset()) | (inner if own & Axes.INNER else frozenset())
            axes |= {a for a in among if operands[n.attr[0]].steps(a) != 0}
        elif n.op == "coord":
            axes = frozenset([n.attr % len(outer | inner)])
        elif n.op in ("position", "scan"):
            axes |= inner
        elif n.op == "reduce":
            axes -= (inner if n.attr[1] & Axes.INNER else frozenset()) | (outer if n.attr[1] & Axes.OUTER else frozenset())
        axes_of[n] = axes
    return axes_of


def with_coordinates(nest: Nest) -> Nest:
    """The nest with offsets that count along the axes where they differ and their operands have a stride.

    The inner axes of a row are one direction here; so are all axes where a nest reduces both ways and is taken apart.
    """
    reads = gathers(nest.graph)
    if not reads:
        return nest
    graph, outer, extents = nest.graph, len(nest.outer), (*nest.outer, *nest.inner)
    inner = set(range(outer, len(extents)))
    directions = Axes.NONE
    for n in graph.nodes:
        directions |= n.attr[1] if n.op == "reduce" else Axes.NONE
    moving, number = moving_axes(nest), {p.name: i for i, p in enumerate(graph.inputs)}
    operands, terms = list(nest.operands), dict[Expr, Expr]()
    for n in reads:
        axes, i = set(moving[n.args[0]]), number[n.attr.name]
        if axes & inner or (inner and graph.axes[n.args[0]] & Axes.INNER):
            axes |= inner
        if axes and directions is Axes.FULL:
            own = n.attr.axes
            axes = {a for a in range(len(extents)) if own & (Axes.INNER if a in inner else Axes.OUTER)}
        operand, offset = operands[i], n.args[0]
        axes = set() if operand.resolved else axes
        for a in sorted(a for a in axes if operand.steps(a) != 0 and extents[a] != 1):
            if extents[a] >= 1 << 31:
                raise UnsupportedError(f"{n.attr.name}: an axis of {extents[a]} elements beside an index; expected below 2**31")
            extent = GatherAxis(n.attr.name, len(operand.gathered))
            offset = offset + extent.offset(extent.clamped(cast(coord(a), ElementKind.S64)))
            strides = tuple(0 if b == a else s for b, s in enumerate(operand.strides))
            operand = replace(operand, strides=strides, gathered=(*operand.gathered, (operand.strides[a], extents[a])))
        operands[i], terms[n] = replace(operand, resolved=directions is Axes.FULL), offset
    if all(terms[n] is n.args[0] for n in reads):
        return replace(nest, operands=tuple(operands))

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op != "gather":
            return rebuild(n, args)
        added = _rebased(terms[n], n.args[0], args[0])
        return node("gather", (added,), n.kind, n.attr)

    flags = (False,) * outer + (True,) * len(nest.inner)
    return replace(nest, graph=replace(graph.map(rewrite), inner_axes=flags), operands=tuple(operands))


def _rebased(offset: Expr, old: Expr, new: Expr) -> Expr:
    """The sum `offset`, which begins with `old`, beginning with `new`."""
    return new if offset is old else rebuild(offset, (_rebased(offset.args[0], old, new), *offset.args[1:]))


def runs_of_gathers(nest: Nest) -> frozenset[int]:
    """The outer axes that run along the neighbours of elements which an index picks along the rows: bags of gathered rows."""
    run_axes: set[int] = set()
    if not nest.inner or not gathers(nest.graph):
        return frozenset()
    moving, operands = moving_axes(nest), _read_at_indices(nest)
    inner = range(len(nest.outer), len(nest.outer) + len(nest.inner))
    for n in gathers(nest.graph):
        axes = moving[n.args[0]]
        if axes.intersection(inner):
            steps = operands[n.attr.name].steps
            run_axes |= {a for a, extent in enumerate(nest.outer) if steps(a) == 1 and a not in axes and extent >= 8}
    return frozenset(run_axes)


def plane_axis(nest: Nest) -> int | None:
    """The longest outer axis along which no index moves, where one moves along the last."""
    last = len(nest.outer) - 1
    reads = gathers(nest.graph)
    if last < 1 or not reads:
        return None
    moving = moving_axes(nest)
    indices = [moving[n.args[0]] for n in reads]
    if not any(last in axes for axes in indices):
        return None
    free = [a for a in range(last) if nest.outer[a] >= 4 and not any(a in axes for axes in indices)]
    return max(free, key=lambda a: nest.outer[a], default=None)
