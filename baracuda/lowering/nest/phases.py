"""Which part of a row-wise graph each pass over a row computes.

A pass ("phase") p takes the reductions whose operands need p reductions before them; the last pass over the row's elements
also writes the outputs that vary along it. Values computed in one phase and used in a later one are kept where computing
them again would cost more than holding them.
"""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.core.lazy import cached_property
from baracuda.formula.expr import READS, Axes, Expr, topological
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.nest.costs import RECOMPUTE, thread_cost


@dataclass(frozen=True)
class Phases:
    """The passes of a graph with inner reductions; values that cost more than `recompute` are kept between them."""

    graph: Graph
    recompute: int = RECOMPUTE

    @cached_property
    def reductions(self) -> list[list[Expr]]:
        """The inner reductions of each phase."""
        stages = self.graph.stages
        row_reductions = [n for n in self.graph.nodes if n.op == "reduce" and n.attr[1] & Axes.INNER]
        count = max((stages[n] for n in row_reductions), default=0)
        return [[n for n in row_reductions if stages[n] == p + 1] for p in range(count)]

    @cached_property
    def columns(self) -> list[Expr]:
        """The reductions over the outer axes."""
        return [n for n in self.graph.nodes if n.op == "reduce" and n.attr[1] & Axes.OUTER]

    @cached_property
    def full_outputs(self) -> list[tuple[int, Port, Expr]]:
        """Outputs with an element for each element of the row: number, port, expression."""
        return [(i, p, e) for i, (p, e) in enumerate(self.graph.outputs) if p.axes == Axes.FULL]

    @cached_property
    def row_outputs(self) -> list[tuple[int, Port, Expr]]:
        """Outputs with one element for each row, or one in all where there is only one row."""
        return [(i, p, e) for i, (p, e) in enumerate(self.graph.outputs) if p.axes in (Axes.OUTER, Axes.NONE)]

    @cached_property
    def column_outputs(self) -> list[tuple[int, Port, Expr]]:
        """Outputs with one element for each inner cell."""
        return [(i, p, e) for i, (p, e) in enumerate(self.graph.outputs) if p.axes == Axes.INNER]

    @cached_property
    def last(self) -> int:
        """The last phase that reads the row's elements; full outputs are written in it, when every input of theirs has
        been read for the last time."""
        stages = self.graph.stages
        ends = [
            len(self.reductions) - 1,
            *(stages[e] for _, _, e in self.full_outputs),
            *(stages[c.args[0]] for c in self.columns),
        ]
        return max(ends)

    def roots(self, phase: int) -> list[Expr]:
        """The element-wise values that a phase must compute."""
        roots = [n.args[0] for n in self.reductions[phase]] if phase < len(self.reductions) else []
        if phase == self.last:
            roots += [e for _, _, e in self.full_outputs] + [c.args[0] for c in self.columns]
        return roots

    def varies(self, n: Expr) -> bool:
        """Whether a node has a value for each element of the row."""
        return bool(self.graph.axes[n] & Axes.INNER)

    def elements(self, phase: int) -> list[Expr]:
        """The nodes that vary along the row and that a phase's roots need, operands first; reductions are leaves."""
        candidates: list[Expr] = []
        seen: set[Expr] = set()

        def visit(n: Expr) -> None:
            for m in topological([n]):
                if m not in seen and self.varies(m):
                    seen.add(m)
                    candidates.append(m)

        blocked = self._below_reductions(phase)
        for root in self.roots(phase):
            visit(root)
        return [n for n in candidates if n not in blocked]

    def _below_reductions(self, phase: int) -> set[Expr]:
        """Nodes reached from a phase's roots only through a reduction."""
        direct: set[Expr] = set()
        stack = list(self.roots(phase))
        while stack:
            n = stack.pop()
            if n in direct:
                continue
            direct.add(n)
            if n.op != "reduce":
                stack.extend(n.args)
        return set(topological(self.roots(phase))) - direct

    def scalars(self, phase: int) -> list[Expr]:
        """The nodes that do not vary along the row and that a phase's element-wise nodes use directly (or that are roots)."""
        inside = set(self.elements(phase))
        scalars = [a for n in self.elements(phase) for a in n.args if a not in inside and a.op != "const"]
        scalars += [r for r in self.roots(phase) if r not in inside]
        return list(dict.fromkeys(scalars))

    @cached_property
    def inputs_read(self) -> list[set[str]]:
        """The names of the inputs varying along the row that each phase reads."""
        return [{n.attr[0] for n in self.elements(p) if n.op in READS} for p in range(self.last + 1)]

    @cached_property
    def carried(self) -> dict[Expr, int]:
        """Values to hold between phases, with the phase that computes each."""
        carried: dict[Expr, int] = {}
        for phase in range(1, self.last + 1):
            need = set(self.elements(phase))
            for earlier in range(phase):
                have = set(self.elements(earlier))
                users = {a for n in need - have for a in n.args} | set(self.roots(phase))
                both = need & have & users
                for n in self.elements(earlier):  # in their order: that of a set would show in the kernel's text
                    if n in both and n not in carried and n.op != "input" and self.cost(n, carried) > self.recompute:
                        carried[n] = earlier
        return carried

    def cost(self, root: Expr, carried: dict[Expr, int]) -> int:
        """What computing a value again for each element would take, given what is kept already."""
        cost, seen, stack = 0, set(), [root]
        while stack:
            n = stack.pop()
            if n in seen or n in carried or not self.varies(n):
                continue
            seen.add(n)
            cost += thread_cost(n)
            stack.extend(n.args)
        return cost
