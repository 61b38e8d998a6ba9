"""Convolutions on tensor cores of elements that these take as they are: the choice of a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from baracuda.core.elements import ElementKind
from baracuda.lowering.convolution.cuda.lines.warpgroups import lower_warpgroups
from baracuda.lowering.convolution.cuda.windows import rows_of
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.matmul.cuda.tensor_cores.warpgroups import TILES
from baracuda.lowering.matmul.problem import TENSOR_CORE_MATH
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.runtime.program import Lowered

#: Tiles that autotuning tries.
_TRIED = 2


def takes_lines(p: ConvolutionProblem) -> bool:
    """Whether tensor cores multiply the elements of a convolution as they are: floats of 16 bits where `math` asks for that, and
    integers of 8 bits, whose sums are the same in every order; of these such as have a known layout: a plan's kernels for any
    strides should not cost it a workspace."""
    kinds = (p.x.kind, p.w.kind)
    if p.math is not None:
        return all(TENSOR_CORE_MATH.get(kind) is p.math for kind in kinds)
    whole = all(kind in (ElementKind.S8, ElementKind.U8) for kind in kinds) and p.accumulator is ElementKind.S32
    return whole and not p.general


def line_ways(p: ConvolutionProblem, target: Target) -> Iterator[Lowered]:
    """The kernels of such a convolution, the most promising first; none but on sm_90. Raises `UnsupportedError` as `line_windows`
    does."""
    if target.arch == "sm_90":
        c = rows_of(p).product
        if p.segments > 1:  # parts are tiles of their own
            c = replace(c, batch=(*c.batch, p.segments), k=p.segment * p.channels)
        for tile in sorted(TILES, key=lambda t: t.cost(c, target.multiprocessors))[:_TRIED]:
            yield lower_warpgroups(p, tile, target)
