"""Rewriting mathematical functions into primitives.

The definitions are registered by the modules of `baracuda.formula.elementary`, one for each function and compute kind. They
decide the bits: both devices lower the very nodes they return.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.elementary import REGISTERED
from baracuda.formula.expr import PRIMITIVES, Expr, cast, compare, node, rebuild, reduce, topological
from baracuda.formula.graph import Graph, Port

if TYPE_CHECKING:
    from baracuda.formula.loops import Loop
    from baracuda.formula.scans import Combine

Definition = Callable[..., Expr]
_Part = TypeVar("_Part", "Combine", "Loop")
_definitions: dict[tuple[str, ElementKind], Definition] = {}


def elementary(op: str, *kinds: ElementKind) -> Callable[[Definition], Definition]:
    """Register the definition, by primitives or by other elementary functions, of `op` on `kinds`."""

    def register(define: Definition) -> Definition:
        for kind in kinds:
            _definitions[op, kind] = define
        return define

    return register


_MODULES = {op: module for module, ops in REGISTERED.items() for op in ops.split()}


def definition(op: str, kind: ElementKind) -> Definition | None:
    """The definition of a function on a kind; None where there is none."""
    if (op, kind) not in _definitions and op in _MODULES:
        _register(_MODULES[op])
    return _definitions.get((op, kind))


def definitions() -> dict[tuple[str, ElementKind], Definition]:
    """Every definition that there is, but for those of complex functions that nobody has used."""
    for module in REGISTERED:
        _register(module)
    return dict(_definitions)


def _register(module: str) -> None:
    import_module(f"baracuda.formula.elementary.{module}")


def expand_node(n: Expr, args: tuple[Expr, ...], native: frozenset[str] = frozenset()) -> Expr:
    """One node over operands that are already primitive; functions of `native` stay as they are."""
    if n.op in native:
        return rebuild(n, args)
    if n.op == "reduce" and n.kind is ElementKind.BOOL:  # as 0 and 1: partial results go through memory
        return compare("ne", reduce(n.attr[0], cast(args[0], ElementKind.U32), n.attr[1]), 0)
    if n.op == "detach":
        return args[0]
    if n.op == "scan":
        return node("scan", args, n.kind, replace(n.attr, combine=_expanded(n.attr.combine)))
    if n.op == "loop":
        return node("loop", args, n.kind, replace(n.attr, loop=_expanded(n.attr.loop)))
    if n.op in PRIMITIVES:
        return rebuild(n, args)
    define = definition(n.op, n.kind)
    if define is None:
        raise UnsupportedError(f"{n.op} has no definition on {n.kind}")
    if len(args) == 1:
        from baracuda.formula.elementary.softened import softened

        define = softened(n, args[0]) or define
    expanded: dict[Expr, Expr] = {a: a for a in args}
    result = define(*args)
    for inner in topological([result]):
        if inner not in expanded:
            expanded[inner] = expand_node(inner, tuple(expanded[a] for a in inner.args), native)
    return expanded[result]


@lru_cache(maxsize=1024)
def _expanded(part: _Part) -> _Part:
    """The operation of a scan, or the turns of a loop, in primitives only."""
    return part.map(expand_node)


def _rounded_by_the_store(graph: Graph) -> Graph:
    """The graph without the roundings of f32 values to the kind that they are then stored in."""

    def stored(p: Port, e: Expr) -> Expr:
        rounded = e.op in (f"round_to_{p.kind.label}", f"stored_{p.kind.label}") and e.args[0].kind is ElementKind.F32
        return e.args[0] if rounded else e

    return replace(graph, outputs=tuple((p, stored(p, e)) for p, e in graph.outputs))


@cache
def expand(graph: Graph, native: frozenset[str] = frozenset()) -> Graph:
    """The graph in primitives, and in the functions that a device has an instruction of."""
    return _rounded_by_the_store(graph).map(partial(expand_node, native=native))
