"""Executables made of others: parts run in turn, and inputs copied to another layout first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from baracuda.core.axes import Axes
from baracuda.core.implementation import Executable, Scalars
from baracuda.formula.expr import Expr, topological
from baracuda.formula.graph import Graph
from baracuda.lowering.executables import CompositeExecutable
from baracuda.lowering.nest.indexed_reads import runs_of_gathers
from baracuda.lowering.nest.problem import Nest, reduces


class ExecutableSequence(CompositeExecutable):
    """Executables of one plan's tensors, run one after another with the same addresses."""

    def __init__(self, executables: Sequence[Executable]) -> None:
        self.parts = tuple(executables)
        self.workspace_bytes = max(p.workspace_bytes for p in executables)
        self.schedule = " + ".join(p.schedule for p in executables)

    def call(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars = None) -> None:
        for part in self.parts:
            part.call(pointers, workspace, stream, scalars)

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        launches = [part.bind(pointers, workspace, stream) for part in self.parts]

        def bound() -> None:
            for launch in launches:
                launch()

        return bound


@dataclass(frozen=True)
class Copy:
    """A tensor to be copied: its number, the workspace byte its copy starts at, and what copies it."""

    tensor: int
    start: int
    executable: Executable


class LayoutCopyExecutable(CompositeExecutable):
    """An executable that reads contiguous copies of some inputs, made in the workspace before it runs."""

    def __init__(self, copies: Sequence[Copy], main: Executable, nbytes: int) -> None:
        self.copies, self.main, self.nbytes = tuple(copies), main, nbytes
        self.parts = (*(copy.executable for copy in copies), main)
        self.workspace_bytes = nbytes + main.workspace_bytes
        self.schedule = f"copy + {main.schedule}"

    def _moved(self, pointers: Sequence[int], workspace: int) -> list[int]:
        addresses = list(pointers)
        for copy in self.copies:
            addresses[copy.tensor] = workspace + copy.start
        return addresses

    def call(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars = None) -> None:
        for copy in self.copies:
            copy.executable.call((pointers[copy.tensor], workspace + copy.start), 0, stream)
        self.main.call(self._moved(pointers, workspace), workspace + self.nbytes, stream, scalars)

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        launches = [c.executable.bind((pointers[c.tensor], workspace + c.start), 0, stream) for c in self.copies]
        launches.append(self.main.bind(self._moved(pointers, workspace), workspace + self.nbytes, stream))

        def bound() -> None:
            for launch in launches:
                launch()

        return bound


def directions(expr: Expr) -> Axes:
    """The directions that the reductions of an expression run in."""
    directions_used = Axes.NONE
    for n in topological([expr]):
        if n.op == "reduce":
            directions_used |= n.attr[1]
    return directions_used


def separable(graph: Graph) -> list[frozenset[str]]:
    """The outputs, by the direction of their reductions; those with an element for each point of the space come last and
    together, because in place they overwrite what the others read."""
    groups: dict[tuple[bool, Axes], set[str]] = {}
    for port, expr in graph.outputs:
        whole = port.axes is Axes.FULL
        groups.setdefault((whole, Axes.FULL if whole else directions(expr)), set()).add(port.name)
    return [frozenset(groups[key]) for key in sorted(groups, key=lambda key: (key[0], key[1].value))]


def side_by_side(nest: Nest) -> bool:
    """Whether most bytes that vary both ways have their unit stride along the last outer axis."""
    if not nest.outer or nest.outer[-1] < 8 or not nest.inner or any(o.general for o in nest.operands):
        return False
    balance, last = 0, len(nest.outer) - 1
    for o in nest.operands:
        if o.strides[-1] and any(o.strides[: last + 1]):
            balance += o.kind.itemsize * ((abs(o.strides[last]) == 1) - (abs(o.strides[-1]) == 1))
    return balance > 0 or last in runs_of_gathers(nest)


def inputs_to_copy(nest: Nest) -> list[int]:
    """Inputs of a row reduction whose neighbours lie along another inner axis than the last."""
    if not reduces(nest.graph, Axes.INNER) or side_by_side(nest) or any(o.general for o in nest.operands):
        return []
    rank, last = len(nest.outer), len(nest.outer) + len(nest.inner) - 1
    out_of_range = []
    for i, o in enumerate(nest.operands[: len(nest.graph.inputs)]):
        if o.gathered:  # a copy of all that an index may name
            continue
        elsewhere = any(abs(o.strides[rank + a]) == 1 and n >= 8 for a, n in enumerate(nest.inner[:-1]))
        if elsewhere and o.strides[last] not in (0, 1):
            out_of_range.append(i)
    return out_of_range
