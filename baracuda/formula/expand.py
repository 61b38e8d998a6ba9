"""Rewriting mathematical functions into primitives.

The definitions are registered by `baracuda.formula.elementary`, one for each function and compute kind. They decide the
bits: both devices lower the very nodes they return.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import PRIMITIVES, Expr, rebuild, topological
from baracuda.formula.graph import Graph

Definition = Callable[..., Expr]
_definitions: dict[tuple[str, ElementKind], Definition] = {}


def elementary(op: str, *kinds: ElementKind) -> Callable[[Definition], Definition]:
    """Register the definition, by primitives or by other elementary functions, of `op` on `kinds`."""

    def register(define: Definition) -> Definition:
        for kind in kinds:
            _definitions[op, kind] = define
        return define

    return register


def definitions() -> dict[tuple[str, ElementKind], Definition]:
    """Every registered definition."""
    import baracuda.formula.elementary  # noqa: F401  (registers on import)

    return dict(_definitions)


def expand_node(n: Expr, args: tuple[Expr, ...]) -> Expr:
    """One node over operands that are already primitive."""
    if n.op in PRIMITIVES:
        return rebuild(n, args)
    define = definitions().get((n.op, n.kind))
    if define is None:
        raise UnsupportedError(f"{n.op} has no definition on {n.kind}")
    if n.op == "exp":
        from baracuda.formula.elementary.softened import exp_of_nonpositive, is_nonpositive

        define = exp_of_nonpositive if is_nonpositive(args[0]) else define
    done: dict[Expr, Expr] = {a: a for a in args}
    result = define(*args)
    for inner in topological([result]):
        if inner not in done:
            done[inner] = expand_node(inner, tuple(done[a] for a in inner.args))
    return done[result]


@cache
def expand(graph: Graph) -> Graph:
    """The graph in primitives only."""
    return graph.map(expand_node)
