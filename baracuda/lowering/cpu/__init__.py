"""Lowering to CPU machine code: a normalised problem in, a program out."""

from __future__ import annotations

from collections.abc import Callable

from baracuda.formula.expr import Axes
from baracuda.lowering.cpu.kernel import NotCompiled, Words, lanes_of
from baracuda.lowering.cpu.pointwise import lower_pointwise
from baracuda.lowering.cpu.schedules import lower_rows
from baracuda.lowering.cpu.split import lower_split, part_segments
from baracuda.lowering.cpu.sums import lower_sums
from baracuda.lowering.problem import Nest, reduces
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.program import Program


def lower(nest: Nest, target: CpuTarget | None = None, *, compiled_only: bool = False) -> Program | None:
    """The program that computes a nest on the CPU; None where `compiled_only` is set and a kernel is not there yet.

    Code depends on the graph, the number of axes and how each operand moves along the axes that are vectorised; extents
    and strides are read at run time, so that one compiled kernel serves many shapes. Kernels have the signature
    ``void kernel(int64_t *words, int64_t begin, int64_t end)`` over units of work.
    """
    if not (nest.rows and nest.row_length):
        return Program((), (), 0, "empty")
    words = Words(nest, compiled_only)
    try:
        return _schedule(nest, target or host())(nest, words, target or host())
    except NotCompiled:
        return None


def _schedule(nest: Nest, target: CpuTarget) -> Callable[[Nest, Words, CpuTarget], Program]:
    if not reduces(nest.graph, Axes.FULL):
        return lower_pointwise
    if reduces(nest.graph, Axes.OUTER):
        return lower_sums
    if part_segments(nest, lanes_of(nest, target)):
        return lower_split
    return lower_rows
