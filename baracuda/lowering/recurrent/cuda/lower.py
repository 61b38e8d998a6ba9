"""Recurrent networks on a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.recurrence.problem import ArrayLayout
from baracuda.lowering.recurrent.cuda.integers import IntegerSteps
from baracuda.lowering.recurrent.cuda.steps import Steps
from baracuda.lowering.recurrent.problem import Recurrent, RecurrentProblem
from baracuda.runtime.program import Lowered


def ways(problem: RecurrentProblem, target: Target) -> Iterator[Lowered]:
    """The program of a problem."""
    yield lower(problem.stage, problem.arrays, target)


def lower(problem: Recurrent, arrays: Mapping[str, ArrayLayout], target: Target | None = None) -> Lowered:
    """The program of a problem in primitives."""
    steps = IntegerSteps if problem.bits else Steps
    return steps(problem, arrays, target or Target("sm_80")).lowered()
