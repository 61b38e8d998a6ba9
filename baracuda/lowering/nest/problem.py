"""What is lowered: a graph over an iteration space, with the layout of every operand.

`normalise` turns the problem as the user sees it (logical axes, any strides) into the smallest nest of loops that visits
the same elements, so that a contiguous rank-5 tensor and a flat one become the same kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import Axes, Expr, cast, const, coord, input_, node, rebuild
from baracuda.formula.gathers import gathers
from baracuda.formula.graph import Graph, Port
from baracuda.formula.order import empty
from baracuda.formula.small_floats import stored_as_integers
from baracuda.lowering.nest.indexed_reads import with_coordinates, with_offsets


@dataclass(frozen=True)
class Operand:
    """One tensor's layout over the iteration space.

    strides are in elements, one for each axis, 0 where the tensor does not vary; alignment is the largest power of two,
    at most 64, that divides the address of its first element. Where `general` is set, the code must be the same whatever
    the strides are: a kernel asks `steps` for what it may build on. `gathered` has the stride and the extent of each axis
    that a tensor is read at an index of, beside those that follow the iteration space; `resolved` says that its offsets count
    along every axis that they have to, so that a part of the nest leaves them as they are.
    """

    kind: ElementKind
    strides: tuple[int, ...]
    alignment: int = 64
    general: bool = False
    gathered: tuple[tuple[int, int], ...] = ()
    resolved: bool = False

    def steps(self, axis: int) -> int | None:
        """The stride along an axis if code may depend on it (0, 1 or another), None where it may not."""
        return None if self.general else self.strides[axis]


@dataclass(frozen=True)
class Problem:
    """A graph of primitives, the extents of the iteration space, which axes are inner, and the operands in the order
    of graph.inputs followed by graph.outputs."""

    graph: Graph
    shape: tuple[int, ...]
    inner: tuple[bool, ...]
    operands: tuple[Operand, ...]


@dataclass(frozen=True)
class Nest:
    """A normalised problem: `outer` axes then `inner` axes, each in the order of its loops.

    Operand strides run over outer + inner; `coord` nodes number the axes of the nest. Reductions over Axes.OUTER occur
    only beside reductions over Axes.INNER. A pointwise nest has no inner axes, and its outer axes are sorted so that the
    last has the smallest stride of the first output.
    """

    graph: Graph
    outer: tuple[int, ...]
    inner: tuple[int, ...]
    operands: tuple[Operand, ...]

    @property
    def rows(self) -> int:
        return prod(self.outer)

    @property
    def row_length(self) -> int:
        return prod(self.inner)


def reduces(graph: Graph, over: Axes) -> list[Expr]:
    """The reduction nodes that run over some of the given axes."""
    return [n for n in graph.nodes if n.op == "reduce" and n.attr[1] & over]


def scans(graph: Graph) -> list[Expr]:
    """The scan nodes."""
    return [n for n in graph.nodes if n.op == "scan"]


def _without_trivial_scans(problem: Problem) -> Problem:
    """A scan of one element is that element, or what an exclusive scan begins with."""
    if prod(n for n, i in zip(problem.shape, problem.inner, strict=True) if i) != 1 or not scans(problem.graph):
        return problem

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op != "scan":
            return rebuild(n, args)
        component: int = n.attr.component
        source: Sequence[Expr] = n.attr.combine.identity if n.attr.exclusive else args
        return source[component]

    return replace(problem, graph=problem.graph.map(rewrite))


def _without_small_floats(problem: Problem) -> Problem:
    """The same problem with its 8-bit floats stored as bytes."""
    graph = stored_as_integers(problem.graph)
    if graph is problem.graph:
        return problem
    ports = (*graph.inputs, *(p for p, _ in graph.outputs))
    operands = tuple(replace(o, kind=p.kind) for o, p in zip(problem.operands, ports, strict=True))
    return replace(problem, graph=graph, operands=operands)


def _without_empty_rows(problem: Problem) -> Problem:
    """A reduction over no elements is a constant, and so is an element of a row that has none, for there is nothing to read; the
    rest of the graph goes on without them."""
    lengths = {
        Axes.INNER: prod(n for n, i in zip(problem.shape, problem.inner, strict=True) if i),
        Axes.OUTER: prod(n for n, i in zip(problem.shape, problem.inner, strict=True) if not i),
    }

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op == "reduce" and lengths[n.attr[1]] == 0:
            return const(empty(n.attr[0], n.kind), n.kind)
        if n.op == "gather" and n.attr.dims is None and lengths[Axes.INNER] == 0:
            return const(0, n.kind)
        return rebuild(n, args)

    if all(lengths.values()):
        return problem
    return Problem(problem.graph.map(rewrite), problem.shape, problem.inner, problem.operands)


def position_from(axes: Sequence[int], extents: Sequence[int], kind: ElementKind) -> Expr:
    """The number of an element along some axes, the last fastest, by its coordinates."""
    total, step = const(0, kind), 1
    for axis, extent in reversed(list(zip(axes, extents, strict=True))):
        if extent != 1:
            total = cast(coord(axis), kind) * const(step, kind) + total
        step *= extent
    return total


def _with_coordinates(problem: Problem) -> Problem:
    """Positions in a row, told by coordinates: for a nest whose rows are not those that the positions count along."""
    axes = [a for a, i in enumerate(problem.inner) if i]
    extents = [problem.shape[a] for a in axes]

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        return position_from(axes, extents, n.kind) if n.op == "position" else rebuild(n, args)

    return replace(problem, graph=replace(problem.graph.map(rewrite), inner_axes=problem.inner))


def _numbered(problem: Problem) -> Problem:
    """The problem with positions that its nest can tell; raises for a row that is too long for them."""
    kinds = [n.kind for n in problem.graph.nodes if n.op == "position"]
    length = prod(n for n, i in zip(problem.shape, problem.inner, strict=True) if i)
    for kind in kinds:
        limit = 1 << (kind.bits - (kind.category is Category.SIGNED))
        if length > limit:
            raise UnsupportedError(f"a row of {length} elements numbered in {kind}; expected at most {limit}")
    along_rows = length > 1 and (reduces(problem.graph, Axes.INNER) or scans(problem.graph))
    return problem if along_rows or not kinds else _with_coordinates(problem)


def _without_full_reductions(problem: Problem) -> Problem:
    """Reductions over all axes as reductions along a single row."""
    over = {n.attr[1] for n in reduces(problem.graph, Axes.FULL)}
    if Axes.FULL not in over:
        return problem
    every = Axes.NONE
    for n, i in zip(problem.shape, problem.inner, strict=True):
        every |= Axes.NONE if n == 1 else Axes.INNER if i else Axes.OUTER
    if len(over) > 1 or any(p.axes & every not in (Axes.NONE, every) for p, _ in problem.graph.outputs):
        raise UnsupportedError("a reduction over all axes beside values of a row or a column; expected one formula for each")
    problem = _with_coordinates(problem)

    def whole(axes: Axes) -> Axes:
        return Axes.FULL if axes else Axes.NONE

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op == "input":
            name, storage, axes = n.attr
            return input_(name, storage, whole(axes))
        if n.op == "gather":
            return node("gather", args, n.kind, n.attr._replace(axes=whole(n.attr.axes)))
        return node("reduce", args, n.kind, (n.attr[0], Axes.INNER)) if n.op == "reduce" else rebuild(n, args)

    inner = (True,) * len(problem.shape)
    graph = problem.graph.map(rewrite)
    inputs = tuple(replace(p, axes=whole(p.axes)) for p in graph.inputs)
    outputs = tuple((replace(p, axes=whole(p.axes)), e) for p, e in graph.outputs)
    return replace(problem, graph=Graph(inputs, outputs, inner), inner=inner)


def _swapped(problem: Problem) -> Problem:
    """The same problem with inner and outer axes called by each other's name."""
    swap = {Axes.NONE: Axes.NONE, Axes.FULL: Axes.FULL, Axes.INNER: Axes.OUTER, Axes.OUTER: Axes.INNER}

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op == "input":
            name, storage, axes = n.attr
            return input_(name, storage, swap[axes])
        if n.op == "gather":
            return node("gather", args, n.kind, n.attr._replace(axes=swap[n.attr.axes]))
        if n.op == "reduce":
            op, over = n.attr
            return node("reduce", args, n.kind, (op, swap[over]))
        return rebuild(n, args)

    def port(p: Port) -> Port:
        return Port(p.name, p.kind, swap[p.axes])

    mapped = problem.graph.map(rewrite)
    inner = tuple(not i for i in problem.inner)
    graph = Graph(tuple(map(port, mapped.inputs)), tuple((port(p), e) for p, e in mapped.outputs), inner)
    return Problem(graph, problem.shape, inner, problem.operands)


def _pointwise(problem: Problem) -> Problem:
    """A problem that reduces nothing, over the axes that its outputs vary along, all of them outer."""
    used = Axes.NONE
    for port, _ in problem.graph.outputs:
        used |= port.axes
    problem = _over(problem, used)
    return replace(problem, inner=(False,) * len(problem.shape))


def _over(problem: Problem, used: Axes) -> Problem:
    """The problem over some of its axes, which are all that count."""
    rank = len(problem.shape)
    used_axes = [a for a, i in enumerate(problem.inner) if used & (Axes.INNER if i else Axes.OUTER)]
    return problem if len(used_axes) == rank else _along(problem, used_axes)


def _along(problem: Problem, used_axes: list[int]) -> Problem:
    """The problem over the axes of these numbers, which are all that count."""
    rank = len(problem.shape)
    graph = problem.graph.map(lambda n, args: coord(used_axes.index(n.attr % rank)) if n.op == "coord" else rebuild(n, args))
    operands = tuple(replace(o, strides=tuple(o.strides[a] for a in used_axes)) for o in problem.operands)
    inner = tuple(problem.inner[a] for a in used_axes)
    graph = replace(graph, inner_axes=inner if graph.inner_axes else ())
    return Problem(graph, tuple(problem.shape[a] for a in used_axes), inner, operands)


def _with_rows_apart(problem: Problem) -> Problem:
    """A problem that reduces over the rows alone, over the axes that something varies along."""
    used = Axes.OUTER
    for axes in (*problem.graph.axes.values(), *(p.axes for p, _ in problem.graph.outputs)):
        used |= axes
    return _over(problem, used)


def _without_empty_axes(problem: Problem) -> Problem:
    """Of a problem with an empty axis: the outputs that do not vary along it, over the other axes.

    What they read varies along those alone, for reductions over the empty one have become constants.
    """
    empty = [a for a, n in enumerate(problem.shape) if n == 0]
    if not empty:
        return problem
    ports = (*problem.graph.inputs, *(p for p, _ in problem.graph.outputs))
    operands = dict(zip((p.name for p in ports), problem.operands, strict=True))
    written = [
        p.name for p, _ in problem.graph.outputs
        if p.axes is not Axes.FULL and not any(operands[p.name].strides[a] for a in empty)
    ]  # fmt: skip
    if not written:
        return Problem(Graph((), (), ()), (0,), (False,), ())
    graph = problem.graph.select_outputs(frozenset(written))
    ports = (*graph.inputs, *(p for p, _ in graph.outputs))
    kept = replace(problem, graph=graph, operands=tuple(operands[p.name] for p in ports))
    return _along(kept, [a for a in range(len(problem.shape)) if a not in empty])


def normalise(problem: Problem) -> Nest:
    """Drop axes of extent 1, sort outer axes by stride, merge neighbours that every operand walks as one.

    The order of inner axes is logical and stays (it numbers the elements of a reduction), as does the order of outer axes
    where a reduction runs over them. An axis whose coordinate the formula reads is neither dropped nor merged. Where an axis
    is empty, the nest has only the outputs that are written all the same.
    """
    problem = _without_full_reductions(_without_small_floats(problem))
    problem = _without_empty_axes(_without_empty_rows(problem))
    if not problem.graph.outputs:
        return Nest(problem.graph, problem.shape, (), ())
    problem = with_offsets(_numbered(_without_trivial_scans(problem)))
    if not (reduces(problem.graph, Axes.INNER) or scans(problem.graph)):
        if reduces(problem.graph, Axes.OUTER):
            problem = _swapped(_with_rows_apart(problem))
        else:
            problem = _pointwise(problem)
    graph, shape, operands = problem.graph, problem.shape, problem.operands
    rank = len(shape)
    coords = {n.attr % rank for n in graph.nodes if n.op == "coord"}
    axes_left = [a for a in range(rank) if shape[a] != 1 or a in coords]
    outer = [a for a in axes_left if not problem.inner[a]]
    inner = [a for a in axes_left if problem.inner[a]]
    general = any(o.general for o in operands)
    longest = (1 << 31) - 1 if gathers(graph) else None  # offsets may count along an axis
    if not reduces(graph, Axes.OUTER) and not general:
        first_output = len(graph.inputs)
        outputs_first = operands[first_output:] + operands[:first_output]
        by_preference = sorted(
            outputs_first, key=lambda o: not any(o.strides[a] for a in inner)
        )  # elements before results of rows
        outer.sort(key=lambda a: tuple(abs(o.strides[a]) for o in by_preference), reverse=True)

    def merge(axes: list[int]) -> list[list[int]]:
        groups: list[list[int]] = []
        for a in axes:
            last = groups[-1][-1] if groups else None
            if (
                last is not None
                and not general
                and not {a, last} & coords
                and all(o.strides[last] == o.strides[a] * shape[a] for o in operands)
                and (longest is None or prod(shape[b] for b in (*groups[-1], a)) <= longest)
            ):
                groups[-1].append(a)
            else:
                groups.append([a])
        return groups

    groups_outer, groups_inner = merge(outer), merge(inner)
    groups = groups_outer + groups_inner
    position = {axis: i for i, group in enumerate(groups) for axis in group}

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        return coord(position[n.attr % rank]) if n.op == "coord" else rebuild(n, args)

    inner_axes = (False,) * len(groups_outer) + (True,) * len(groups_inner)
    mapped = graph.map(rewrite) if coords else graph
    nest = Nest(
        Graph(mapped.inputs, mapped.outputs, inner_axes if coords else ()),
        tuple(prod(shape[a] for a in g) for g in groups_outer),
        tuple(prod(shape[a] for a in g) for g in groups_inner),
        tuple(replace(o, strides=tuple(o.strides[g[-1]] for g in groups)) for o in operands),
    )
    return with_coordinates(_with_whole_outputs(nest))


def _with_whole_outputs(nest: Nest) -> Nest:
    """Of a single row, what varies along the row has an element for each point: schedules write it as such."""
    graph = nest.graph
    if nest.outer or reduces(graph, Axes.OUTER) or all(p.axes is not Axes.INNER for p, _ in graph.outputs):
        return nest
    outputs = tuple((replace(p, axes=Axes.FULL) if p.axes is Axes.INNER else p, e) for p, e in graph.outputs)
    return replace(nest, graph=replace(graph, outputs=outputs))
