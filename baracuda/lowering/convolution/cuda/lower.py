"""Convolutions on a CUDA device: the choice of a schedule."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from baracuda.core.errors import UnsupportedError
from baracuda.lowering.convolution.cuda.depthwise import depthwise
from baracuda.lowering.convolution.cuda.direct import direct
from baracuda.lowering.convolution.cuda.product import products
from baracuda.lowering.convolution.pointwise import as_product
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.matmul.cuda.lower import ways as ways_of_product
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target
from baracuda.runtime.program import Lowered


def ways(problem: ConvolutionProblem, target: Target) -> Iterator[Lowered]:
    """The programs of a convolution, the most promising first."""
    p = problem
    if p.math is not None and not p.bits:
        raise UnsupportedError(f"a convolution in {p.math}; expected chains, or integers of 23 or 15 bits")
    counts = (p.batch * p.groups, prod(p.outputs), p.columns, p.channels, prod(p.taps))
    if max(counts) >= INDEX_LIMIT:
        raise UnsupportedError(f"a convolution of {counts}; expected each below {INDEX_LIMIT}")
    product = as_product(problem)
    if product is not None:
        yield from ways_of_product(product, target)
        return
    single = depthwise(p)
    if single is not None:
        yield single
    yield from products(p, target)
    yield direct(p, target)
