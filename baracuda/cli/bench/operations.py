"""How many operations a formula asks for: its primitives, each times the elements that it has a value for."""

from __future__ import annotations

from math import prod

from baracuda.core.axes import Axes
from baracuda.formula.expand import expand
from baracuda.formula.expr import LEAVES, Expr, topological
from baracuda.formula.graph import Graph

#: Nodes that no instruction stands for, or that only move a value.
_FREE = LEAVES | {"bitcast", "gather", "detach"}


def operations(graph: Graph, shape: tuple[int, ...], inner: tuple[bool, ...]) -> float:
    """Primitives on the common path, without the slow sides of `rare`, over an iteration space. A reduction and a scan count
    one operation for each element that they take."""
    whole = expand(graph)
    rows = prod(n for n, i in zip(shape, inner, strict=True) if not i)
    length = prod(n for n, i in zip(shape, inner, strict=True) if i)
    extent = {Axes.NONE: 1, Axes.INNER: length, Axes.OUTER: rows, Axes.FULL: rows * length}
    total = 0.0
    for n in _common_path(whole):
        if n.op not in _FREE:
            reduced = n.args[0] if n.op in ("reduce", "scan") else n
            total += extent[whole.axes[reduced]]
    return total


def _common_path(graph: Graph) -> list[Expr]:
    """Every node that a value away from the rare cases is made of."""
    seen: dict[Expr, None] = {}
    waiting = [expr for _, expr in graph.outputs]
    while waiting:
        n = waiting.pop()
        if n not in seen:
            seen[n] = None
            waiting += (n.args[0], n.args[2]) if n.op == "rare" else n.args
    return [n for n in topological(expr for _, expr in graph.outputs) if n in seen]
