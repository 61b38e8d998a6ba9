"""Nests that reduce both ways, cut into parts that reduce one way each.

A reduction that lies below one of the other direction (a mean over rows of what each row reduces to, a row's reduction of
what was normalised by columns) is computed first and kept in the workspace, in its compute kind; the part above it reads it
like an input. Every part is a nest of its own, and every reduction keeps its canonical order: its elements are the same
ones, numbered in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from baracuda.core.axes import Axes
from baracuda.core.layout import contiguous_strides, round_up
from baracuda.formula.expr import READS, Expr, coord, input_, rebuild, topological
from baracuda.formula.graph import Graph, Port, substitute
from baracuda.lowering.nest.problem import Nest, Operand, Problem, normalise
from baracuda.lowering.nest.sequence import directions

#: What the start of each kept array is a multiple of, in bytes.
_ALIGNMENT = 64


@dataclass(frozen=True)
class OperandAddress:
    """Where an operand's address comes from: a word of the program, and bytes to add to it."""

    word: int
    offset: int = 0


@dataclass(frozen=True)
class NestPiece:
    """A nest whose operands are tensors of the whole or arrays in the workspace."""

    nest: Nest
    places: tuple[OperandAddress, ...]


def split(nest: Nest) -> tuple[list[NestPiece], int]:
    """The parts of a nest, in the order they run in, and how many bytes at the start of the workspace they share."""
    return _Splitter(nest).split()


class _Splitter:
    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        ports = (*nest.graph.inputs, *(p for p, _ in nest.graph.outputs))
        self.index = {p.name: i for i, p in enumerate(ports)}
        #: The arrays in the workspace, with the byte each starts at.
        self.saved: dict[str, tuple[Port, int]] = {}
        self.bytes_saved = 0
        self.parts: list[NestPiece] = []
        self.replaced: dict[Expr, Expr] = {}

    def split(self) -> tuple[list[NestPiece], int]:
        while below := self._below():
            self._save(below)
        while alone := self._single_numbers():
            self._save(alone)
        across, along = self._outputs()
        if any(p.axes is Axes.FULL for p, _ in along):
            # In place, an output with an element for each point overwrites what others read: all of these in one part.
            roots = [e for p, e in across if p.axes is Axes.FULL]
            self._save([n for n in topological(roots) if n.op == "reduce"])
            across, along = self._outputs()
        for axes in Axes.INNER, Axes.NONE, Axes.OUTER:
            self._part([(p, e) for p, e in across if p.axes is axes])
        self._part([(p, e) for p, e in along if p.axes not in (Axes.FULL, Axes.OUTER)])
        self._part([(p, e) for p, e in along if p.axes in (Axes.FULL, Axes.OUTER)])
        self._part([(p, e) for p, e in across if p.axes is Axes.FULL])
        return self.parts, self.bytes_saved

    def _outputs(self) -> tuple[list[tuple[Port, Expr]], list[tuple[Port, Expr]]]:
        """The outputs with reductions over the outer axes, and the others; none has both kinds left."""
        outputs = [(p, substitute(e, self.replaced)) for p, e in self.nest.graph.outputs]
        across = [(p, e) for p, e in outputs if directions(e) is Axes.OUTER]
        return across, [(p, e) for p, e in outputs if directions(e) is not Axes.OUTER]

    def _below(self) -> list[Expr]:
        """Reductions of one direction, over nothing of the other, in an output that has both."""
        candidates: dict[Expr, None] = {}
        for _, expr in self.nest.graph.outputs:
            root = substitute(expr, self.replaced)
            if directions(root) is Axes.FULL:
                candidates |= dict.fromkeys(n for n in topological([root]) if n.op == "reduce" and directions(n) is not Axes.FULL)
        for direction in (Axes.INNER, Axes.OUTER):
            chosen = [n for n in candidates if n.attr[1] is direction]
            if chosen:
                return chosen
        return []

    def _single_numbers(self) -> list[Expr]:
        """Reductions to a single number in outputs with an element for each point, which would compute it once a row; over
        nothing of their own sort."""
        roots = [substitute(e, self.replaced) for p, e in self.nest.graph.outputs if p.axes is Axes.FULL]
        outer_free = [n for n in topological(roots) if n.op == "reduce" and self._axes(n) is Axes.NONE]
        return [n for n in outer_free if not any(m in outer_free for m in topological(n.args))]

    def _save(self, reductions: list[Expr]) -> None:
        """Compute reductions into the workspace and read them from there from now on."""
        outputs, saved_inputs = [], {}
        for n in reductions:
            port = Port(f"#{len(self.saved)}", n.kind, self._axes(n))
            extents = {Axes.OUTER: self.nest.rows, Axes.INNER: self.nest.row_length, Axes.NONE: 1}
            self.saved[port.name] = (port, self.bytes_saved)
            self.bytes_saved += round_up(n.kind.itemsize * extents[port.axes], _ALIGNMENT)
            outputs.append((port, n))
            saved_inputs[n] = input_(port.name, port.kind, port.axes)
        for axes in Axes.OUTER, Axes.INNER, Axes.NONE:
            self._part([(p, e) for p, e in outputs if p.axes is axes])
        self.replaced = {n: substitute(e, saved_inputs) for n, e in self.replaced.items()} | saved_inputs
        for n in self.nest.graph.nodes:  # what was written over the originals is now written over what replaced them
            if n.op == "reduce" and n not in self.replaced and (rewritten := substitute(n, self.replaced)) in saved_inputs:
                self.replaced[n] = saved_inputs[rewritten]

    def _axes(self, n: Expr) -> Axes:
        return Graph((), ((Port("", n.kind), n),), self.nest.graph.inner_axes).axes[n]

    def _part(self, outputs: list[tuple[Port, Expr]]) -> None:
        """Add a part that reduces one way and computes the outputs given, over the axes that they need."""
        if not outputs:
            return
        if not any(directions(e) for _, e in outputs) and len({p.axes for p, _ in outputs}) > 1:
            for axes in Axes.NONE, Axes.INNER, Axes.OUTER, Axes.FULL:  # a pointwise nest visits each output's elements once
                self._part([(p, e) for p, e in outputs if p.axes is axes])
            return
        nest = self.nest
        read_names = {n.attr[0] for n in topological(e for _, e in outputs) if n.op in READS}
        saved = tuple(port for port, _ in self.saved.values() if port.name in read_names)
        inputs = tuple(p for p in nest.graph.inputs if p.name in read_names) + saved
        graph = Graph(inputs, tuple(outputs), nest.graph.inner_axes)
        flags = (False,) * len(nest.outer) + (True,) * len(nest.inner)
        used = Axes.NONE
        for port, _ in outputs:
            used |= port.axes
        for n in graph.nodes:
            used |= graph.axes[n] | (n.attr[1] if n.op == "reduce" else Axes.NONE)
        used_axes = [a for a in range(len(flags)) if used & (Axes.INNER if flags[a] else Axes.OUTER)]
        ports = (*inputs, *(p for p, _ in outputs))
        extents = (*nest.outer, *nest.inner)
        graph = graph.map(lambda n, args: coord(used_axes.index(n.attr)) if n.op == "coord" else rebuild(n, args))
        problem = Problem(
            replace(graph, inner_axes=tuple(flags[a] for a in used_axes) if graph.inner_axes else ()),
            tuple(extents[a] for a in used_axes),
            tuple(flags[a] for a in used_axes),
            tuple(replace(o, strides=tuple(o.strides[a] for a in used_axes)) for o in map(self._operand, ports)),
        )
        self.parts.append(NestPiece(normalise(problem), tuple(map(self._place, ports))))

    def _operand(self, port: Port) -> Operand:
        if port.name not in self.saved:
            return self.nest.operands[self.index[port.name]]
        outer, inner = self.nest.outer, self.nest.inner
        strides = {
            Axes.OUTER: (*contiguous_strides(outer), *(0 for _ in inner)),
            Axes.INNER: (*(0 for _ in outer), *contiguous_strides(inner)),
            Axes.NONE: (0,) * (len(outer) + len(inner)),
        }
        return Operand(port.kind, strides[port.axes], 16, any(o.general for o in self.nest.operands))

    def _place(self, port: Port) -> OperandAddress:
        if port.name in self.saved:
            return OperandAddress(len(self.nest.operands), self.saved[port.name][1])
        return OperandAddress(self.index[port.name])
