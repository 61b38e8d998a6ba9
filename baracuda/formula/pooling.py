"""Sums of what depends on another reduction of their row, in one pass: the node `pooled`.

A variance sums squares of deviations from the mean, log(sum(exp)) exponentials of differences from the largest element: as
they stand, two passes over a row, and over memory where nothing holds the row between them. But the sum of a long row is also
that of its blocks, each about its own centre, once each is moved to the centre of the whole:

    sum (x - mean)**2 = sum over blocks of (their sum (x - own mean)**2 + count * (own mean - mean)**2)   (Chan et al. 1979)
    sum exp(x - max)  = sum over blocks of (their sum exp(x - own max)) * exp(own max - max)

`pooled` marks such a sum with the rule that moves a block's. Where `pools` holds, `baracuda.lowering.nest.two_level_reduction`
cuts rows into the blocks of `order.pool_block` and this is the canonical order; elsewhere `unpooled` leaves the sum itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from baracuda.core.errors import InvalidProblemError
from baracuda.formula.expr import Axes, Expr, compare, node, rebuild, reduce, select, topological
from baracuda.formula.graph import Graph, Port, substitute
from baracuda.formula.order import POOLED_LENGTH

#: (a block's sum, the block's scalars, the row's scalars) -> what the block counts in the row's sum.
Rule = Callable[[Expr, Sequence[Expr], Sequence[Expr]], Expr]


def pooled(total: Expr, rule: Rule, *scalars: Expr) -> Expr:
    """The sum `total` of a row, of terms that depend on `scalars` of the row.

    Parameters
    ----------
    total : Expr
        A sum along the row whose terms read no reduction but those in `scalars`.
    rule : callable
        From a block's own sum, the scalars of the block and those of the whole row, the block's part of the row's sum.
    scalars : Expr
        Values of a row, made of reductions of elements: of a block they are the same reductions of the block's.

    Raises `InvalidProblemError` where `total` is no sum along the row.
    """
    if total.op != "reduce" or total.attr != ("sum", Axes.INNER):
        raise InvalidProblemError(f"pooled: {total!r}; expected a sum along the row")
    own = tuple(node("state", (), s.kind, ("own", i)) for i, s in enumerate(scalars))
    whole = tuple(node("state", (), s.kind, ("whole", i)) for i, s in enumerate(scalars))
    return node("pooled", (total, rule(node("state", (), total.kind, ("part", 0)), own, whole), *scalars), total.kind)


def pooled_squares(squares: Expr, count: Expr, *mean: Expr) -> Expr:
    """The sum along the row of `squares`, which are |x - mean|**2 of the `count` elements that the mean is of, 0 of others.

    A complex mean is given by its parts.
    """

    def recentred(part: Expr, own: Sequence[Expr], whole: Sequence[Expr]) -> Expr:
        shift = [a - b for a, b in zip(own[1:], whole[1:], strict=True)]
        square = shift[0] * shift[0]
        for d in shift[1:]:
            square = square + d * d
        return select(compare("eq", own[0], 0.0), part, part + own[0] * square)  # of no elements there is no mean

    return pooled(reduce("sum", squares), recentred, count, *mean)


def moved(n: Expr, part: Expr, own: Sequence[Expr], whole: Sequence[Expr]) -> Expr:
    """The rule of a pooled sum on a block's sum and scalars and the row's scalars."""
    operands: dict[str, Sequence[Expr]] = {"part": (part,), "own": own, "whole": whole}
    table = {m: operands[m.attr[0]][m.attr[1]] for m in topological([n.args[1]]) if m.op == "state"}
    return substitute(n.args[1], table)


def pools(graph: Graph, shape: Sequence[int], inner: Sequence[bool]) -> bool:
    """Whether the rows of a graph are cut into blocks: where they are long, and nothing but values of whole rows come out,
    made of pooled sums and reductions of elements."""
    if not any(n.op == "pooled" for n in graph.nodes):
        return False
    if prod(n for n, i in zip(shape, inner, strict=True) if i) < POOLED_LENGTH:
        return False
    if any(p.axes & Axes.INNER for p, _ in graph.outputs) or any(n.op in ("scan", "gather") for n in graph.nodes):
        return False
    return all(n.attr[1] is Axes.INNER for n in graph.nodes if n.op == "reduce") and _in_one_pass(graph)


def _in_one_pass(graph: Graph) -> bool:
    """Whether every reduction is of elements alone, or is pooled over such."""
    plain: set[Expr] = set()
    sums = {n.args[0]: n for n in graph.nodes if n.op == "pooled"}
    for n in graph.nodes:
        if n.op == "reduce":
            below = {m for m in topological(n.args) if m.op in ("reduce", "pooled")}
            known = {m for m in topological(sums[n].args[2:]) if m.op == "reduce"} if n in sums else set()
            if not below <= known & plain:
                return False
            if not below:
                plain.add(n)
    return True


def unpooled(graph: Graph) -> Graph:
    """The graph with plain sums in the place of pooled ones."""
    if not any(n.op == "pooled" for n in graph.nodes):
        return graph
    return graph.map(lambda n, args: args[0] if n.op == "pooled" else rebuild(n, args))


def resolve_pooling(graph: Graph, shape: Sequence[int], inner: Sequence[bool]) -> Graph:
    """The graph with pooled sums only where its rows are cut into blocks."""
    return graph if pools(graph, shape, inner) else unpooled(graph)


def block_outputs(graph: Graph) -> Mapping[Expr, Port]:
    """What a block gives to the whole row, each under a name for it: its reductions of elements and its pooled sums."""
    return {n: Port(f"#{i}", n.kind, Axes.OUTER) for i, n in enumerate(n for n in graph.nodes if n.op == "reduce")}
