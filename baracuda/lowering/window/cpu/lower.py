"""Folds over windows on the CPU: rows of outputs along one axis, vectors of neighbours in each, threads over the rest."""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.lowering.sort.cpu.code import Integers
from baracuda.lowering.window.cpu.rows import WindowRows
from baracuda.lowering.window.problem import Placed, Strided, Window
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.program import Lowered

#: An axis with fewer outputs that have the same taps is not worth vectors when there is another.
_SHORT = 8


def ways(problem: Window, target: CpuTarget) -> Iterator[Lowered]:
    """The program of a normalised problem."""
    yield lower(problem, target)


def lower(problem: Window, target: CpuTarget | None = None) -> Lowered:
    """The program of a normalised problem."""
    integers = Integers(len(problem.operands), len(problem.graph.params))
    axis = vector_axis(problem)
    rows = WindowRows(problem, integers, target or host(), axis)
    step = rows.step()
    name = "windows" if axis is None else "windows, vectors"
    return Lowered((step,), tuple(integers.values), 0, name)


def vector_axis(problem: Window) -> int | None:
    """The axis that vectors lie along: the one with neighbours in memory, unless it is short or its windows are uneven and
    another one is not."""
    written = problem.operands[len(problem.graph.inputs)]

    def worth(axis: int) -> tuple[bool, bool, int]:
        of, unit = problem.axes[axis], written.steps(axis) == 1
        classes = of.rule.classes if isinstance(of.rule, Strided) else 1
        return of.extent >= _SHORT * classes, unit, of.extent

    usable = [a for a, of in enumerate(problem.axes) if of.rule is None or isinstance(of.rule, Strided)]
    uneven = [problem.number(of.rule.starts) for of in problem.axes if isinstance(of.rule, Placed)]
    usable = [a for a in usable if problem.axes[a].extent > 1 and all(problem.operands[i].steps(a) == 0 for i in uneven)]
    return max(usable, key=worth, default=None)
