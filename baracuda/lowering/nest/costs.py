"""What primitives cost, roughly: for deciding what to keep and what to compute again, and how much work a thread should have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from baracuda.formula.expr import Expr


class Cost(NamedTuple):
    """Of one primitive, in additions: of a vector on the CPU, of a thread on a GPU."""

    vector: int
    thread: int


_ONE = Cost(1, 1)
#: What is not listed costs one addition. A maximum that keeps NaN is one instruction on a GPU and three on x86, where an entry of
#: a table is loaded for each lane by itself. The CPU counts a `gather` with its address, the GPU with its latency.
COSTS = {
    "const": Cost(0, 0),
    "coord": Cost(0, 1),
    "div": Cost(8, 8),
    "gather": Cost(1, 4),
    "gcd": Cost(300, 300),
    "idiv": Cost(20, 20),
    "input": Cost(0, 0),
    "irem": Cost(20, 20),
    "lookup": Cost(12, 3),
    "max": Cost(3, 1),
    "min": Cost(3, 1),
    "mulhi": Cost(4, 1),
    "param": Cost(0, 0),
    "position": Cost(0, 1),
    "rare": Cost(1, 2),
    "sqrt": Cost(10, 8),
    "stored_bf16": Cost(7, 2),
    "stored_f16": Cost(2, 4),
}
#: A value that costs about this to compute again for each element, or more, is kept from one pass over a row to the next.
RECOMPUTE = 6


#: Turns that an element of a loop takes, roughly.
_TURNS = 2


def vector_cost(n: Expr) -> int:
    """What a primitive costs on the CPU."""
    if n.op == "loop":
        return _TURNS * sum(map(vector_cost, n.attr.loop.nodes))
    return COSTS.get(n.op, _ONE).vector


def thread_cost(n: Expr) -> int:
    """What a primitive costs on a GPU."""
    if n.op == "loop":
        return _TURNS * sum(map(thread_cost, n.attr.loop.nodes))
    return COSTS.get(n.op, _ONE).thread


def usual(roots: Iterable[Expr]) -> set[Expr]:
    """The nodes that expressions need, rare branches left out."""
    seen, stack = set[Expr](), list(roots)
    while stack:
        n = stack.pop()
        if n not in seen:
            seen.add(n)
            stack += [n.args[0], n.args[2]] if n.op == "rare" else n.args
    return seen


def usual_cost(*roots: Expr) -> int:
    """What expressions cost together on a GPU, rare branches left out."""
    return sum(map(thread_cost, usual(roots)))
