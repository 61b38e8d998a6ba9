"""Convolutions on the CPU: the choice of a schedule."""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.core.errors import UnsupportedError
from baracuda.lowering.convolution.cpu.depthwise import depthwise
from baracuda.lowering.convolution.cpu.depthwise import takes as is_single
from baracuda.lowering.convolution.cpu.direct import direct
from baracuda.lowering.convolution.cpu.segments import in_segments
from baracuda.lowering.convolution.cpu.segments import takes as takes_segments
from baracuda.lowering.convolution.cpu.tiles import takes, tiled
from baracuda.lowering.convolution.pointwise import as_product
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.matmul.cpu.lower import ways as ways_of_product
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Lowered


def ways(problem: ConvolutionProblem, target: CpuTarget) -> Iterator[Lowered]:
    """The programs of a convolution, the most promising first."""
    if problem.math is not None and not problem.bits:
        raise UnsupportedError(f"a convolution in {problem.math} on a CPU; expected chains, or integers of 23 or 15 bits")
    product = as_product(problem)
    if product is not None:
        yield from ways_of_product(product, target)
        return
    if is_single(problem):
        yield depthwise(problem, target)
    if takes_segments(problem):
        yield in_segments(problem, target)
    if takes(problem):
        yield tiled(problem, target)
    yield direct(problem, target)
