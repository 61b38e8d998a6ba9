"""Indexed reads: the node `gather`, an element of a tensor at indices that the formula computes.

A gathered tensor follows the iteration space along some of its axes, as an input does, and is read at an index along the
others. An index is clamped to the extent of its axis, after a negative one was counted from the end where the read asks for
it, so that no index reads outside the tensor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.formula.complex import Complex
from baracuda.formula.expr import READS, Axes, Expr, cast, const, node, param, rebuild, select, topological
from baracuda.formula.graph import Graph, Port

#: Stands between the name of a tensor and the number of one of the reads of it at indices.
MARK = "@"
#: What the name of a parameter begins with that is the extent of a tensor's axis.
TENSOR_EXTENT = "#extent of "


class GatherSource(NamedTuple):
    """What a `gather` node reads, beside its arguments.

    Attributes
    ----------
    name, storage
        The tensor, and the element it stores.
    axes
        The class of the axes along which it follows the iteration space.
    dims
        The tensor's axes that are read at an index, one for each argument; None: those that lie along the rows. Where it is
        empty, the argument is an offset in elements.
    wrap
        Whether a negative index counts from the end.
    flat
        Whether the one argument numbers the elements of all `dims`, the last axis fastest.
    """

    name: str
    storage: ElementKind
    axes: Axes
    dims: tuple[int, ...] | None = None
    wrap: bool = False
    flat: bool = False


@dataclass(frozen=True)
class Table:
    """A tensor that a formula reads at indices along its axes `dims`: two parts of a complex one, else one, as they are
    stored. What is read has kind `kind`; of a real table in a complex formula the imaginary part is 0."""

    parts: tuple[tuple[str, ElementKind], ...]
    axes: Axes
    dims: tuple[int, ...]
    kind: ElementKind
    complex: bool = False


def gather(source: GatherSource, indices: Sequence[Expr]) -> Expr:
    """The element of a tensor at some indices (integers of 32 or 64 bits)."""
    for i in indices:
        if not i.kind.is_integer or i.kind.bits < 32:
            raise InvalidProblemError(f"an index of {source.name} computes in {i.kind}; expected an integer kind")
    expected = 1 if source.flat or source.dims is None else len(source.dims)
    if len(indices) != expected:
        raise InvalidProblemError(f"{source.name}: {len(indices)} indices; expected {expected}")
    return node("gather", tuple(indices), source.storage.compute, source)


def take(table: Table, *indices: Expr, wrap: bool = False, flat: bool = False) -> Expr | Complex:
    """The element of a table at one index for each axis that it is read at.

    An index beyond its axis is clamped; with `wrap` a negative one counts from the end first. With `flat` the one index
    numbers the elements of all those axes, the last axis fastest. The gradient by the table is a sum by destination, which
    no formula gives: `gradient` refuses it.
    """
    reads = [
        cast(gather(GatherSource(name, storage, table.axes, table.dims, wrap, flat), indices), table.kind)
        for name, storage in table.parts
    ]
    if not table.complex:
        return reads[0]
    return Complex(reads[0], reads[1] if len(reads) > 1 else const(0.0, table.kind))


def table_extent(table: Table, number: int, kind: ElementKind) -> Expr:
    """The extent of the axis that the table's index of this number is of, as a scalar of `kind`."""
    return param(f"{TENSOR_EXTENT}{table.parts[0][0]} {table.dims[number]}", kind)


def at_row(x: Expr, index: Expr) -> Expr:
    """The value that `x`, an expression of elements of the row, has at the row's element number `index`, which is clamped.

    A row is one axis here. The inputs that vary along it are read there; what does not vary along it stays as it is.
    """
    rewritten: dict[Expr, Expr] = {}
    for n in topological([x]):
        if n.op == "input" and n.attr[2] & Axes.INNER:
            name, storage, axes = n.attr
            rewritten[n] = gather(GatherSource(name, storage, axes & ~Axes.INNER), [index])
        elif n.op in ("coord", "scan", "gather"):
            raise UnsupportedError(f"{n!r} at an index of the row; expected inputs, reductions and arithmetic")
        elif n.op == "position":
            rewritten[n] = cast(index, n.kind)
        else:
            rewritten[n] = n if n.op == "reduce" else rebuild(n, tuple(rewritten[a] for a in n.args))
    return rewritten[x]


# --- on the way to a kernel -------------------------------------------------------------------------------------------


def gathers(graph: Graph) -> list[Expr]:
    """The gather nodes."""
    return [n for n in graph.nodes if n.op == "gather"]


def separated(graph: Graph) -> Graph:
    """The graph with a port of its own for each read of a tensor at indices, named after the tensor, `MARK` and a number."""
    number: dict[Expr, int] = {}
    ports: list[Port] = []

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op != "gather":
            return rebuild(n, args)
        own = number.setdefault(node(n.op, args, n.kind, n.attr), len(number))
        port = Port(f"{n.attr.name}{MARK}{own}", n.attr.storage, n.attr.axes)
        if own == len(ports):
            ports.append(port)
        return node("gather", args, n.kind, n.attr._replace(name=port.name))

    if not gathers(graph):
        return graph
    rewritten = graph.map(rewrite)
    read_names = {n.attr[0] for n in rewritten.nodes if n.op in READS}
    return replace(rewritten, inputs=(*(p for p in graph.inputs if p.name in read_names), *ports))


def sources(graph: Graph) -> dict[str, GatherSource]:
    """What the gather nodes of a separated graph read, by the name of their port."""
    return {n.attr.name: n.attr for n in gathers(graph)}


@dataclass(frozen=True)
class GatherAxis:
    """The parameters that tell where an axis that is read at an index lies: a nest fills them in."""

    port: str
    number: int

    def parameter(self, what: str) -> Expr:
        return param(f"#{what} {self.port} {self.number}", ElementKind.S64)

    def clamped(self, index: Expr, *, wrap: bool = False) -> Expr:
        """An index (s64) counted from the end where it is negative and `wrap` asks for it, and brought into range."""
        last = self.parameter("last")
        if wrap:
            index = select(index < 0, index + (last + 1), index)
        return node("min", (node("max", (index, const(0, ElementKind.S64)), ElementKind.S64), last), ElementKind.S64)

    def offset(self, index: Expr) -> Expr:
        """What an index that is in range adds to the offset, in elements."""
        return index * self.parameter("stride")


def parameter_value(name: str, gathered: Mapping[str, tuple[tuple[int, int], ...]]) -> float | None:
    """The value of a parameter of an `Extent`, given each port's (stride, extent) pairs; None for another name."""
    what, _, rest = name.partition(" ")
    if what not in ("#last", "#stride"):
        return None
    port, _, number = rest.rpartition(" ")
    stride, extent = gathered[port][int(number)]
    return stride if what == "#stride" else extent - 1


def offset_of(port: str, source: GatherSource, indices: Sequence[Expr], axes: int) -> Expr:
    """The offset in elements that the indices of a read along `axes` axes lead to."""
    wide = [cast(i, ElementKind.S64) for i in indices]
    extents = [GatherAxis(port, k) for k in range(axes)]
    if not source.flat or axes == 1:
        subscripts = [e.clamped(i, wrap=source.wrap) for e, i in zip(extents, wide, strict=True)]
    else:
        subscripts = _unravelled(extents, wide[0], wrap=source.wrap)
    total = extents[0].offset(subscripts[0])
    for e, i in zip(extents[1:], subscripts[1:], strict=True):
        total = total + e.offset(i)
    return total


def _unravelled(extents: Sequence[GatherAxis], index: Expr, *, wrap: bool) -> list[Expr]:
    """The index along each axis of an element numbered along all of them."""
    counts = [e.parameter("last") + 1 for e in extents]
    total = counts[0]
    for n in counts[1:]:
        total = total * n
    if wrap:
        index = select(index < 0, index + total, index)
    index = node("max", (node("min", (index, total - 1), ElementKind.S64), const(0, ElementKind.S64)), ElementKind.S64)
    subscripts: list[Expr] = []
    for n in reversed(counts[1:]):
        subscripts.insert(0, node("irem", (index, n), ElementKind.S64))
        index = node("idiv", (index, n), ElementKind.S64)
    return [index, *subscripts]
