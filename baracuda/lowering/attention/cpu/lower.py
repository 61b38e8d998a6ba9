"""Attention on the CPU: a problem in, a program out.

Every sum is taken in the order that `baracuda.lowering.attention.problem` fixes. The matrix of scores never leaves the cache: a
block of queries meets one tile of keys after another.
"""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.core.errors import UnsupportedError
from baracuda.lowering.attention.cpu.backward import Backward
from baracuda.lowering.attention.cpu.forward import Forward
from baracuda.lowering.attention.cpu.integers.backward import IntegerBackward
from baracuda.lowering.attention.cpu.integers.forward import IntegerForward
from baracuda.lowering.attention.cpu.work import nest_of
from baracuda.lowering.attention.fold import folded
from baracuda.lowering.attention.problem import Attention
from baracuda.lowering.nest.cpu.kernel import Words
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.program import Lowered

_LONGEST = 1 << 29


def ways(problem: Attention, target: CpuTarget) -> Iterator[Lowered]:
    """The program of an attention."""
    yield lower(problem, target)


def lower(problem: Attention, target: CpuTarget | None = None) -> Lowered:
    """The program, whose workspace is scratch memory for each part of the work."""
    if max(problem.queries, problem.keys) > _LONGEST:
        raise UnsupportedError(f"{problem.queries} queries and {problem.keys} keys; expected at most {_LONGEST} of each")
    if problem.math is not None and not problem.bits:
        raise UnsupportedError(f"attention in {problem.math} is of tensor cores, which a CPU has none of")
    problem = folded(problem)
    own = Words(nest_of(problem))
    kernel: type[Forward] | type[Backward] = IntegerForward if problem.bits else Forward
    if problem.slope is not None:
        kernel = IntegerBackward if problem.bits else Backward
    lowered_kernel = kernel(problem, own, target or host())
    steps, workspace_bytes = lowered_kernel.steps()
    return Lowered(steps, tuple(own.integers), workspace_bytes, lowered_kernel.schedule)
