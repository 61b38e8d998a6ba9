"""Convolutions in integers on tensor cores: the choice of a kernel."""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.core.errors import UnsupportedError
from baracuda.lowering.convolution.cuda.digits.warpgroups import lower_warpgroups
from baracuda.lowering.convolution.cuda.digits.warps import lower_warps
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.runtime.program import Lowered


def digit_ways(p: ConvolutionProblem, target: Target) -> Iterator[Lowered]:
    """The kernels of a convolution in integers, the most promising first; none where they take no such convolution."""
    try:
        if target.arch == "sm_90":
            yield lower_warpgroups(p, target)
        yield lower_warps(p, target)
    except UnsupportedError:
        return
