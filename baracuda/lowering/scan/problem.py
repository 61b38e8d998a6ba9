"""The scans of a graph, as every backend sees them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import Expr, topological
from baracuda.formula.graph import Graph
from baracuda.formula.scans import Combine
from baracuda.lowering.nest.problem import Nest, scans


@dataclass(frozen=True)
class ScanGroup:
    """Nodes that are one scan: components of one running state, with or without the element itself."""

    combine: Combine
    operands: tuple[Expr, ...]
    reverse: bool
    nodes: tuple[Expr, ...]

    @property
    def kinds(self) -> list[ElementKind]:
        return [x.kind for x in self.operands]

    @property
    def exclusive(self) -> list[Expr]:
        """The nodes that do not include the element itself."""
        return [n for n in self.nodes if n.attr.exclusive]


def grouped(nodes: Iterable[Expr]) -> list[ScanGroup]:
    """Scan nodes, by the scan that they belong to."""
    groups: dict[tuple[Combine, tuple[Expr, ...], bool], list[Expr]] = {}
    for n in nodes:
        groups.setdefault((n.attr.combine, n.args, n.attr.reverse), []).append(n)
    return [ScanGroup(*key, tuple(members)) for key, members in groups.items()]


def scan_groups(graph: Graph) -> list[ScanGroup]:
    """The scans of a graph that one kernel can compute.

    Raises `UnsupportedError` where a scan reads another, where they run in both directions, or where something is reduced:
    `baracuda.lowering.nest.multi_kernel` cuts such graphs up.
    """
    nodes = scans(graph)
    if any(n.op == "reduce" for n in graph.nodes):
        raise UnsupportedError("a scan beside a reduction; expected them in kernels of their own")
    if any(m.op == "scan" for m in topological(a for n in nodes for a in n.args)):
        raise UnsupportedError("a scan of a scan; expected them in kernels of their own")
    groups = grouped(nodes)
    if len({g.reverse for g in groups}) > 1:
        raise UnsupportedError("scans in both directions; expected them in kernels of their own")
    return groups


def widest_bits(nest: Nest, groups: list[ScanGroup]) -> int:
    """Bits of the widest value in the formula or in what its scans combine by."""
    nodes = [*nest.graph.nodes, *(n for g in groups for n in g.combine.nodes)]
    return max(n.kind.bits for n in nodes)
