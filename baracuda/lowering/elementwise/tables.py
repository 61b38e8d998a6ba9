"""Functions of one 16-bit value in a formula, of which there are 65,536 values: what can be looked up instead of computed.

Entries are computed by the formula itself, so that the bits are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, topological
from baracuda.formula.graph import Graph, substitute
from baracuda.lowering.nest.costs import usual, usual_cost
from baracuda.lowering.nest.problem import Nest

#: Functions, each with the input that it is of.
Functions = Sequence[tuple[Expr, Expr]]
#: What stands for a function in the graph: given its number and its input.
Entry = Callable[[int, Expr], Expr]


def _sources(graph: Graph) -> dict[Expr, frozenset[Expr] | None]:
    """The inputs that each node depends on; None for more than these and parameters."""
    sources: dict[Expr, frozenset[Expr] | None] = {}
    for n in graph.nodes:
        if n.op == "input":
            sources[n] = frozenset([n])
        elif n.op in ("coord", "position", "gather", "reduce", "scan"):
            sources[n] = None
        else:
            below = [sources[a] for a in n.args]
            sources[n] = None if None in below else frozenset[Expr]().union(*(b for b in below if b is not None))
    return sources


def functions(nest: Nest, kinds: Sequence[ElementKind], axis: int, least: int) -> Functions:
    """The functions in f32 of one input of such kinds that varies along an axis, as large as they come, that cost at least so
    many additions."""
    graph, sources = nest.graph, _sources(nest.graph)
    index = {p.name: i for i, p in enumerate(graph.inputs)}

    def source(n: Expr) -> Expr | None:
        below = sources[n]
        if below is None or len(below) != 1:
            return None
        (x,) = below
        varies = nest.operands[index[x.attr[0]]].steps(axis) != 0
        return x if x.attr[1] in kinds and varies else None

    ends = {e for _, e in graph.outputs}
    for n in graph.nodes:
        if source(n) is None:
            ends.update(n.args)
    candidates = [(n, x) for n in graph.nodes if n in ends and n.kind is ElementKind.F32 and (x := source(n)) is not None]
    return [(n, x) for n, x in candidates if usual_cost(n) >= least]


def with_lookups(graph: Graph, replaced: Functions, entry: Entry) -> Graph:
    """The graph with entries of tables in the place of functions."""
    lookups = {root: entry(j, x) for j, (root, x) in enumerate(replaced)}
    return replace(graph, outputs=tuple((p, substitute(e, lookups)) for p, e in graph.outputs))


def off_rare_branches(graph: Graph, candidates: Functions, entry: Entry) -> Functions:
    """The functions that are not on the slow side of a rare branch, which may be a function of its own and see no table."""
    rewritten = with_lookups(graph, candidates, entry)
    seen = usual(e for _, e in rewritten.outputs)
    for n in rewritten.nodes:
        if n.op == "rare":
            seen -= set(topological([n.args[1]])) - set(topological([n.args[0], n.args[2]]))
    return [(root, x) for j, (root, x) in enumerate(candidates) if entry(j, x) in seen]
