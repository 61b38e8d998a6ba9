"""How rewrites are tried on the nodes of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from baracuda.onnx.node import Node


class Call(NamedTuple):
    """A node with the function that computes it, and whether that reads values around it."""

    node: Node
    call: Callable[..., Any]
    captures: bool


#: Gives, of a call and the graph's constants, the call to take its place, or None; what it computes once, it adds to them.
Rewrite = Callable[[Call, dict[str, Any]], Call | None]


def rewritten(calls: Iterable[Call], constants: dict[str, Any], rewrites: Sequence[Rewrite]) -> list[Call]:
    """The calls, each by the first rewrite that it is for."""

    def one(call: Call) -> Call:
        return next((found for rewrite in rewrites if (found := rewrite(call, constants)) is not None), call)

    return [one(call) for call in calls]
