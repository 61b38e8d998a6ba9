"""Lowering to CPU machine code: a normalised problem in, kernels and their words out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from baracuda.formula.expr import Axes
from baracuda.lowering.elementwise.cpu.pointwise import lower_pointwise
from baracuda.lowering.elementwise.cpu.table_lookup import lower_table_lookup
from baracuda.lowering.nest.cpu.kernel import Words, lanes_of
from baracuda.lowering.nest.problem import Nest, reduces, scans
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.program import Lowered


def ways(nest: Nest, target: CpuTarget) -> Iterator[Lowered]:
    """The program of a nest."""
    yield lower(nest, target)


def lower(nest: Nest, target: CpuTarget | None = None) -> Lowered:
    """The program that computes a nest on the CPU, by default on this one.

    Code depends on the graph, the number of axes and how each operand moves along the axes that are vectorised; extents
    and strides are read at run time, so that one compiled kernel serves many shapes. Kernels have the signature
    ``void kernel(int64_t *words, int64_t begin, int64_t end)`` over units of work.
    """
    if not (nest.rows and nest.row_length):
        return Lowered((), (), 0, "empty")
    return _schedule(nest, target or host())(nest, Words(nest), target or host())


def _schedule(nest: Nest, target: CpuTarget) -> Callable[[Nest, Words, CpuTarget], Lowered]:
    """What writes the kernels. Schedules are imported where one is taken: the first call of a process waits for it."""
    if scans(nest.graph):
        from baracuda.lowering.scan.cpu.schedules import lower_scans

        return lower_scans
    if not reduces(nest.graph, Axes.FULL):
        return _lower_pointwise
    if reduces(nest.graph, Axes.OUTER):
        from baracuda.lowering.reduction.cpu.sums import in_one_pass, lower_sums

        return lower_sums if in_one_pass(nest.graph) else _lower_parts
    from baracuda.lowering.reduction.cpu.split import lower_split, part_segments

    if part_segments(nest, lanes_of(nest, target)):
        return lower_split
    from baracuda.lowering.reduction.cpu.schedules import lower_rows

    return lower_rows


def _lower_pointwise(nest: Nest, words: Words, target: CpuTarget) -> Lowered:
    return lower_table_lookup(nest, words, target) or lower_pointwise(nest, words, target)


def _lower_parts(nest: Nest, words: Words, target: CpuTarget) -> Lowered:
    """The parts of a nest that reduces both ways, one after another."""
    from baracuda.lowering.nest.fission import split

    pieces, saved = split(nest)
    programs = []
    for part in pieces:
        own = replace(words, places=part.places, start=saved)
        programs.append(_schedule(part.nest, target)(part.nest, own, target))
    launches = tuple(launch for program in programs for launch in program.launches)
    workspace = saved + max(program.workspace_bytes for program in programs)
    return Lowered(launches, tuple(words.integers), workspace, " + ".join(program.schedule for program in programs))
