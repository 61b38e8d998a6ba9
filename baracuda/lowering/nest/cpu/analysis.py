"""What a row-wise schedule needs to know of a graph: which nodes vary along a row, and in which pass each is computed."""

from __future__ import annotations

from dataclasses import dataclass, field

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import READS, Axes, Expr
from baracuda.formula.gathers import gathers
from baracuda.lowering.nest.costs import RECOMPUTE, vector_cost
from baracuda.lowering.nest.indexed_reads import moving_axes
from baracuda.lowering.nest.problem import Nest


def along(nest: Nest, operand: int, axes: range) -> str:
    """How an operand moves along axes walked in order: "zero", "unit" (as one contiguous axis) or "strided"."""
    strides = nest.operands[operand].strides
    if nest.operands[operand].general:
        return "strided"
    extents = (*nest.outer, *nest.inner)
    if all(strides[a] == 0 for a in axes):
        return "zero"
    expected = 1
    for a in reversed(axes):
        if strides[a] != expected:
            return "strided"
        expected *= extents[a]
    return "unit"


@dataclass
class RowAnalysis:
    """A graph with inner reductions, cut into passes over a row.

    Pass p computes the reductions of stage p + 1; a last pass computes the outputs that vary along the row. `carried` gives
    the nodes that a pass stores for later ones when there is room. `followed` has the indexed reads with one offset for a whole
    row, which are walked like inputs, and the operand of each.
    """

    nest: Nest
    access: dict[int, str] = field(init=False)
    varying: dict[Expr, bool] = field(init=False)
    followed: dict[Expr, int] = field(init=False)
    reductions: list[list[Expr]] = field(init=False)
    across: list[Expr] = field(init=False)
    element_outputs: list[tuple[int, Expr]] = field(init=False)
    row_outputs: list[tuple[int, Expr]] = field(init=False)
    carried: list[list[Expr]] = field(init=False)

    def __post_init__(self) -> None:
        nest, graph = self.nest, self.nest.graph
        inner = range(len(nest.outer), len(nest.outer) + len(nest.inner))
        self.access = {i: along(nest, i, inner) for i in range(len(nest.operands))}
        index = {p.name: i for i, p in enumerate(graph.inputs)}
        moving = moving_axes(nest) if gathers(graph) else {}
        self.followed = {n: index[n.attr.name] for n in gathers(graph) if not moving[n.args[0]].intersection(inner)}
        self.varying = {}
        behind: dict[Expr, bool] = {}
        for n in graph.nodes:
            behind[n] = any(behind[a] or (a.op == "reduce" and a.attr[1] is Axes.OUTER) for a in n.args)
            if n.op in READS:
                scattered = n.op == "gather" and n not in self.followed
                self.varying[n] = scattered or self.access[index[n.attr[0]]] != "zero"
            elif n.op == "coord":
                self.varying[n] = graph.inner_axes[n.attr]
            elif n.op in ("position", "scan"):
                self.varying[n] = True
            elif n.op == "reduce":
                self.varying[n] = False
            else:
                self.varying[n] = any(self.varying[a] for a in n.args)
        stages = [n for n in graph.nodes if n.op == "reduce" and n.attr[1] is Axes.INNER]
        depth = max((graph.stages[n] for n in stages), default=0)
        self.reductions = [[n for n in stages if graph.stages[n] == p + 1] for p in range(depth)]
        self.across = [n for n in graph.nodes if n.op == "reduce" and n.attr[1] is Axes.OUTER]
        first = len(graph.inputs)
        self.element_outputs, self.row_outputs = [], []
        for i, (port, expr) in enumerate(graph.outputs):
            if not (behind[expr] or expr in self.across):
                (self.element_outputs if port.axes & Axes.INNER else self.row_outputs).append((first + i, expr))
        self.carried = self._kept()

    @property
    def passes(self) -> int:
        """Passes that end in reductions along the row."""
        return len(self.reductions)

    def roots(self, p: int) -> list[Expr]:
        """What pass p evaluates at every element."""
        if p < self.passes:
            return [n.args[0] for n in self.reductions[p]]
        return [*(e for _, e in self.element_outputs), *(n.args[0] for n in self.across)]

    def cone(self, roots: list[Expr], stop: set[Expr]) -> list[Expr]:
        """The varying nodes that are emitted for `roots` when the values of `stop` are at hand."""
        reached: dict[Expr, None] = {}
        stack = [r for r in roots if self.varying[r]]
        while stack:
            n = stack.pop()
            if n not in reached:
                reached[n] = None
                if n not in stop:
                    stack += [a for a in n.args if self.varying[a]]
        return list(reached)

    def uniform(self, roots: list[Expr], stop: set[Expr]) -> list[Expr]:
        """The nodes, the same for a whole row, that code for `roots` reads."""
        cone = self.cone(roots, stop)
        uniform_nodes = {r: None for r in roots if not self.varying[r]}
        uniform_nodes |= {a: None for n in cone if n not in stop for a in n.args if not self.varying[a]}
        return [n for n in uniform_nodes if n.op != "const"]

    def _kept(self) -> list[list[Expr]]:
        total = self.passes + bool(self.element_outputs or self.across)
        computed: list[set[Expr]] = []
        by_pass: list[list[Expr]] = [[] for _ in range(total)]
        for p in range(total):
            at_hand = {n for nodes in by_pass for n in nodes}
            wanted: dict[Expr, int] = {}
            stack = [r for r in self.roots(p) if self.varying[r]]
            seen: set[Expr] = set()
            while stack:
                n = stack.pop()
                if n in seen or n in at_hand:
                    continue
                seen.add(n)
                origin = next((q for q in range(p) if n in computed[q]), None)
                storable = n.kind is not ElementKind.BOOL  # a vector of conditions has a bit for each, not a byte
                if origin is not None and storable and sum(map(vector_cost, self.cone([n], at_hand))) >= RECOMPUTE:
                    wanted[n] = origin
                else:
                    stack += [a for a in n.args if self.varying[a]]
            for n, q in wanted.items():
                by_pass[q].append(n)
            at_hand |= set(wanted)
            computed.append(set(self.cone(self.roots(p), at_hand)) - at_hand)
        return by_pass
