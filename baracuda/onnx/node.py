"""A node of a graph as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False)
class Node:
    """One call of an operator: names of values in and out ("" for one that is left out), and attributes as Python has them.

    A graph among the attributes is a `Subgraph`; `proto` is the node as the file has it.
    """

    name: str
    domain: str
    operator: str
    version: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    proto: Any

    def __str__(self) -> str:
        of = f"{self.domain}.{self.operator}" if self.domain else self.operator
        return f"node {self.name!r} ({of}, version {self.version})" if self.name else f"a node {of} of version {self.version}"


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes in order, the values that come in and go out, and those that are constant.

    `captured` names the values of the graphs around this one that it reads.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    constants: Mapping[str, Any]
    captured: frozenset[str]
    kinds: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Subgraph:
    """A graph that a node runs: If's branches, the body of Loop and Scan."""

    graph: Graph
    compiled: list[Callable[..., Any]] = field(default_factory=list)
