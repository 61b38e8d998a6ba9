"""What neighbours share that are counted by blocks: the words of a counter, say, of which four elements have one each."""

from __future__ import annotations

from collections.abc import Callable

from baracuda.formula.expr import READS, Expr
from baracuda.formula.graph import Graph


def shared_by_blocks(graph: Graph, last: int, width: int, steps: Callable[[Expr], bool]) -> tuple[int, list[Expr]]:
    """How many neighbours, at most `width`, share what follows from their number along axis `last` by a shift, and the largest
    nodes that they share; none where nothing is shared by two or more. `steps` says whether an input has an element for each."""
    shifts = {n: int(n.args[1].value) for n in graph.nodes if _is_shifted(n, last)}
    block = min(width, 1 << max(shifts.values(), default=0))
    if block < 2 or width % block:
        return width, []
    fixed: dict[Expr, bool] = {}  # of what all of a block share, whether it follows from a shift
    found: dict[Expr, None] = {}
    for n in graph.nodes:
        if 1 << shifts.get(n, 0) >= block:
            fixed[n] = True
        elif n.op in READS:
            if n.op == "input" and not steps(n):
                fixed[n] = False
        elif (n.op == "coord" and n.attr != last) or n.op in ("const", "param"):
            fixed[n] = False
        elif n.args and all(a in fixed for a in n.args):
            fixed[n] = any(fixed[a] for a in n.args)
        else:
            found |= dict.fromkeys(a for a in n.args if fixed.get(a))
    return block, list(found | dict.fromkeys(e for _, e in graph.outputs if fixed.get(e)))


def _is_shifted(n: Expr, last: int) -> bool:
    """Whether a node is the coordinate of the last axis shifted right."""
    if n.op != "shr" or n.args[1].op != "const":
        return False
    x = n.args[0]
    x = x.args[0] if x.op == "cast" and x.kind.bits == 32 else x
    return x.op == "coord" and bool(x.attr == last)
