"""Problems with scans that no single kernel computes, cut into stages that one does each.

A kernel takes scans in one direction whose operands are pointwise. So reductions that such an operand, or what is made of a
scan, reads are computed first; scans that another scan or a reduction reads, and scans in the other direction, are written
out. Both lie in the workspace, in the kind they are computed in, and later stages read them like inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from baracuda.core.implementation import Executable, Scalars
from baracuda.core.layout import contiguous_strides, round_up
from baracuda.formula.expr import READS, Axes, Expr, coord, input_, rebuild, topological
from baracuda.formula.graph import Graph, Port, substitute
from baracuda.lowering.executables import CompositeExecutable
from baracuda.lowering.nest.problem import Operand, Problem, scans

#: Temporaries begin at multiples of this many bytes.
ALIGNMENT = 64


@dataclass(frozen=True)
class KernelStages:
    """The stages of a problem, in order, and the bytes of the workspace that each temporary begins at, by its name; for each
    stage, how many bytes behind its start an operand is met, where it is not there."""

    problems: tuple[Problem, ...]
    temporaries: Mapping[str, int]
    nbytes: int
    starts: tuple[Mapping[str, int], ...] = ()


def cut(problem: Problem) -> KernelStages | None:
    """The stages of a problem; None where it has no scans or one kernel computes them."""
    length = prod(n for n, i in zip(problem.shape, problem.inner, strict=True) if i)
    if not scans(problem.graph) or not prod(problem.shape) or length == 1:
        return None
    stages = _Cutter(problem).run()
    return None if len(stages.problems) == 1 and not stages.nbytes else stages


def _has(op: str, roots: Iterable[Expr]) -> bool:
    return any(n.op == op for n in topological(roots))


def _outermost(roots: Iterable[Expr], stop: Callable[[Expr], bool]) -> list[Expr]:
    """The nodes that `stop` holds for and that the roots reach through none of their kind."""
    surface: dict[Expr, None] = {}
    seen: set[Expr] = set()
    stack = list(roots)
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        if stop(n):
            surface[n] = None
        else:
            stack += n.args
    return list(surface)


class _Cutter:
    """A problem on its way into stages; `outputs` are what is left to compute of each."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        graph = problem.graph
        self.outputs = list(graph.outputs)
        ports = (*graph.inputs, *(p for p, _ in graph.outputs))
        self.operands = dict(zip((p.name for p in ports), problem.operands, strict=True))
        self.inputs = list(graph.inputs)
        self.general = any(o.general for o in problem.operands)
        self.temporaries: dict[str, int] = {}
        self.nbytes = 0
        self.stages: list[Problem] = []

    def run(self) -> KernelStages:
        while first := self._gathers() or self._reductions() or self._scans():
            self._write_out(first)
        for axes in (Axes.NONE, Axes.INNER, Axes.OUTER, Axes.FULL):  # the full ones last: in place they overwrite inputs
            self._stage([(p, e) for p, e in self.outputs if p.axes is axes])
        return KernelStages(tuple(self.stages), self.temporaries, self.nbytes)

    def _gathers(self) -> list[Expr]:
        """Indexed reads: no kernel that scans makes them."""
        reads = _outermost((e for _, e in self.outputs if _has("scan", [e])), lambda n: n.op == "gather")
        return [n for n in reads if self._axes(n) is self._axes(reads[0])]

    def _reductions(self) -> list[Expr]:
        """Reductions over no scan in full outputs that scan."""
        full = [e for p, e in self.outputs if p.axes is Axes.FULL]
        scanning = full if _has("scan", full) else [e for _, e in self.outputs if _has("scan", [e])]
        reductions = _outermost(scanning, lambda n: n.op == "reduce" and not _has("scan", n.args))
        return [n for n in reductions if self._axes(n) is self._axes(reductions[0])]

    def _scans(self) -> list[Expr]:
        """Scans of nothing reduced or scanned that another scan or a reduction reads, or else that run against others."""
        roots = [e for _, e in self.outputs]

        def is_bare_scan(n: Expr) -> bool:
            return n.op == "scan" and not (_has("scan", n.args) or _has("reduce", n.args))

        barriers = [n for n in topological(roots) if n.op in ("scan", "reduce")]
        innermost = _outermost((a for n in barriers for a in n.args), is_bare_scan)
        if not innermost:
            outermost = [n for n in topological(roots) if n.op == "scan"]
            innermost = [n for n in outermost if n.attr.reverse is not outermost[-1].attr.reverse]
        return [n for n in innermost if n.attr.reverse is innermost[0].attr.reverse]

    def _axes(self, n: Expr) -> Axes:
        return Graph((), ((Port("", n.kind), n),), self.problem.graph.inner_axes).axes[n]

    def _write_out(self, nodes: Sequence[Expr]) -> None:
        """A stage that computes nodes into temporaries, which are read in their place from then on."""
        outputs, table = [], {}
        for n in nodes:
            axes = Axes.FULL if n.op == "scan" else self._axes(n)
            port = Port(f"#{len(self.temporaries)}", n.kind, axes)
            self.temporaries[port.name] = self.nbytes
            outputs.append((port, n))
            table[n] = input_(port.name, port.kind, axes)
            extents = [
                n if axes & (Axes.INNER if i else Axes.OUTER) else 1
                for n, i in zip(self.problem.shape, self.problem.inner, strict=True)
            ]
            strides = [s if n != 1 else 0 for s, n in zip(contiguous_strides(extents), extents, strict=True)]
            self.operands[port.name] = Operand(port.kind, tuple(strides), ALIGNMENT, self.general)
            self.nbytes += round_up(prod(extents) * port.kind.itemsize, ALIGNMENT)
        self._stage(outputs)
        self.inputs += [port for port, _ in outputs]
        self.outputs = [(p, substitute(e, table)) for p, e in self.outputs]

    def _stage(self, outputs: Sequence[tuple[Port, Expr]]) -> None:
        """Add a stage over the axes that its outputs, or what they read, vary along."""
        if not outputs:
            return
        problem = self.problem
        read_names = {n.attr[0] for n in topological(e for _, e in outputs) if n.op in READS}
        inputs = tuple(p for p in self.inputs if p.name in read_names)
        graph = Graph(inputs, tuple(outputs), problem.graph.inner_axes)
        used = Axes.NONE
        for axes in (*graph.axes.values(), *(p.axes for p, _ in outputs)):
            used |= axes
        used_axes = [a for a, i in enumerate(problem.inner) if used & (Axes.INNER if i else Axes.OUTER)]
        rank = len(problem.shape)
        graph = graph.map(lambda n, args: coord(used_axes.index(n.attr % rank)) if n.op == "coord" else rebuild(n, args))
        inner = tuple(problem.inner[a] for a in used_axes)
        operands = (self.operands[p.name] for p in (*inputs, *(p for p, _ in outputs)))
        self.stages.append(
            Problem(
                replace(graph, inner_axes=inner if graph.inner_axes else ()),
                tuple(problem.shape[a] for a in used_axes),
                inner,
                tuple(replace(o, strides=tuple(o.strides[a] for a in used_axes)) for o in operands),
            )
        )


@dataclass(frozen=True)
class TensorOffset:
    """Where an operand of a stage is: a byte of one of the plan's tensors, or of the workspace (tensor None)."""

    tensor: int | None
    start: int


class MultiKernelExecutable(CompositeExecutable):
    """Executables of stages, run one after another; each takes addresses in the order of its places."""

    def __init__(self, steps: Sequence[tuple[Executable, Sequence[TensorOffset]]], nbytes: int) -> None:
        self.parts, self.nbytes = tuple(part for part, _ in steps), nbytes
        self._places = tuple(places for _, places in steps)
        self.workspace_bytes = nbytes + max(part.workspace_bytes for part in self.parts)
        self.schedule = " + ".join(part.schedule for part in self.parts)

    def _addresses(self, places: Sequence[TensorOffset], pointers: Sequence[int], workspace: int) -> list[int]:
        return [(workspace if p.tensor is None else pointers[p.tensor]) + p.start for p in places]

    def call(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars = None) -> None:
        for part, places in zip(self.parts, self._places, strict=True):
            part.call(self._addresses(places, pointers, workspace), workspace + self.nbytes, stream, scalars)

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        launches = [
            part.bind(self._addresses(places, pointers, workspace), workspace + self.nbytes, stream)
            for part, places in zip(self.parts, self._places, strict=True)
        ]

        def bound() -> None:
            for launch in launches:
                launch()

        return bound
