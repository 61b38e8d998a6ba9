"""Nests that reduce both ways, cut into parts that reduce one way each.

A reduction that lies below one of the other direction is computed first and kept in the workspace; the part above it reads
it like an input. Every part reads its operands from memory again.
"""

from __future__ import annotations

from dataclasses import replace

from baracuda.core.axes import Axes
from baracuda.formula.expr import Expr, coord, input_, rebuild, topological
from baracuda.formula.graph import Graph, Port, substitute
from baracuda.lowering.composite import directions
from baracuda.lowering.cuda.choose import lower_outer_only
from baracuda.lowering.cuda.kernel import Frame, Lowered, Target, Words
from baracuda.lowering.problem import Nest, Operand, Problem, normalise


def _contiguous(extents: tuple[int, ...]) -> list[int]:
    strides, step = [], 1
    for n in reversed(extents):
        strides.append(step)
        step *= n
    return strides[::-1]


class Parts:
    """The parts of one nest, sharing its words."""

    def __init__(self, nest: Nest, target: Target) -> None:
        self.nest, self.target = nest, target
        graph = nest.graph
        ports = (*graph.inputs, *(p for p, _ in graph.outputs))
        self.words = Words(len(ports), graph.params)
        self.index = {p.name: i for i, p in enumerate(ports)}
        self.saved: dict[str, tuple[Port, int]] = {}
        self.bytes_saved = 0
        self.programs: list[Lowered] = []
        self.replaced: dict[Expr, Expr] = {}

    def lower(self) -> Lowered:
        while below := self._below():
            self._save(below)
        outputs = [(p, substitute(e, self.replaced)) for p, e in self.nest.graph.outputs]
        across = [(p, e) for p, e in outputs if directions(e) is Axes.OUTER]
        along = [(p, e) for p, e in outputs if directions(e) is not Axes.OUTER]
        for axes in Axes.INNER, Axes.NONE, Axes.OUTER, Axes.FULL:
            self._part([(p, e) for p, e in across if p.axes is axes])
        self._part([(p, e) for p, e in along if p.axes not in (Axes.FULL, Axes.OUTER)])
        # Last, because in place these overwrite what the others read.
        self._part([(p, e) for p, e in along if p.axes in (Axes.FULL, Axes.OUTER)])
        launches = tuple(launch for program in self.programs for launch in program.launches)
        workspace = self.bytes_saved + max(program.workspace_bytes for program in self.programs)
        return Lowered(launches, tuple(self.words.values), workspace, f"{len(self.programs)} parts")

    def _below(self) -> list[Expr]:
        """Reductions of one direction, over nothing of the other, in an output that has both."""
        found: dict[Expr, None] = {}
        for _, expr in self.nest.graph.outputs:
            root = substitute(expr, self.replaced)
            if directions(root) is Axes.FULL:
                found |= dict.fromkeys(n for n in topological([root]) if n.op == "reduce" and directions(n) is not Axes.FULL)
        for direction in (Axes.INNER, Axes.OUTER):
            chosen = [n for n in found if n.attr[1] is direction]
            if chosen:
                return chosen
        return []

    def _save(self, reductions: list[Expr]) -> None:
        """Compute reductions into the workspace and read them from there from now on."""
        outputs, made = [], {}
        for n in reductions:
            port = Port(f"#{len(self.saved)}", n.kind, self._axes(n))
            extents = {Axes.OUTER: self.nest.rows, Axes.INNER: self.nest.row_length, Axes.NONE: 1}
            self.saved[port.name] = (port, self.bytes_saved)
            self.bytes_saved += -(-8 * extents[port.axes] // 16) * 16
            outputs.append((port, n))
            made[n] = input_(port.name, port.kind, port.axes)
        for axes in Axes.OUTER, Axes.INNER, Axes.NONE:
            self._part([(p, e) for p, e in outputs if p.axes is axes])
        self.replaced = {n: substitute(e, made) for n, e in self.replaced.items()} | made
        for n in self.nest.graph.nodes:  # what was written over the originals is now written over what replaced them
            if n.op == "reduce" and n not in self.replaced and (found := substitute(n, self.replaced)) in made:
                self.replaced[n] = made[found]

    def _axes(self, n: Expr) -> Axes:
        return Graph((), ((Port("", n.kind), n),), self.nest.graph.inner_axes).axes[n]

    def _part(self, outputs: list[tuple[Port, Expr]]) -> None:
        """Lower a part that reduces one way and computes the outputs given."""
        if not outputs:
            return
        nest = self.nest
        read = {n.attr[0] for n in topological(e for _, e in outputs) if n.op == "input"}
        saved = tuple(port for port, _ in self.saved.values() if port.name in read)
        inputs = tuple(p for p in nest.graph.inputs if p.name in read) + saved
        graph = Graph(inputs, tuple(outputs), nest.graph.inner_axes)
        rank = len(nest.outer)
        flags = (False,) * rank + (True,) * len(nest.inner)
        used = Axes.NONE
        for n in graph.nodes:
            used |= graph.axes[n]
        kept = [a for a in range(len(flags)) if used & (Axes.INNER if flags[a] else Axes.OUTER)]
        ports = (*inputs, *(p for p, _ in outputs))
        operands = [self._operand(p) for p in ports]
        extents = (*nest.outer, *nest.inner)
        graph = graph.map(lambda n, args: coord(kept.index(n.attr)) if n.op == "coord" else rebuild(n, args))
        problem = Problem(
            replace(graph, inner_axes=tuple(flags[a] for a in kept) if graph.inner_axes else ()),
            tuple(extents[a] for a in kept),
            tuple(flags[a] for a in kept),
            tuple(Operand(o.kind, tuple(o.strides[a] for a in kept), o.alignment, o.general) for o in operands),
        )
        frame = Frame(normalise(problem), self.target.tuning, self.words, [self._address(p) for p in ports], self.bytes_saved)
        self.programs.append(lower_outer_only(frame, self.target))

    def _operand(self, port: Port) -> Operand:
        if port.name not in self.saved:
            return self.nest.operands[self.index[port.name]]
        outer, inner = self.nest.outer, self.nest.inner
        strides = _contiguous(outer) + [0] * len(inner) if port.axes is Axes.OUTER else [0] * len(outer) + _contiguous(inner)
        strides = strides if port.axes is not Axes.NONE else [0] * len(strides)
        return Operand(port.kind, tuple(strides), 16, any(o.general for o in self.nest.operands))

    def _address(self, port: Port) -> str:
        if port.name not in self.saved:
            return f"W.w[{self.index[port.name]}]"
        return f"W.w[{self.words.operands}] + {self.words.signed(self.saved[port.name][1])}"
