"""Convolutions on a CUDA device: the choice of a schedule."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from baracuda.core.errors import UnsupportedError
from baracuda.lowering.convolution.cuda.depthwise import depthwise
from baracuda.lowering.convolution.cuda.digits.lower import digit_ways
from baracuda.lowering.convolution.cuda.direct import direct
from baracuda.lowering.convolution.cuda.doubles import integer_products
from baracuda.lowering.convolution.cuda.lines.lower import line_ways, takes_lines
from baracuda.lowering.convolution.cuda.product import products
from baracuda.lowering.convolution.pointwise import as_product
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.matmul.cuda.lower import ways as ways_of_product
from baracuda.lowering.matmul.problem import TENSOR_CORE_MATH
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target
from baracuda.runtime.program import Lowered

#: Channels and columns from which on tensor cores are tried first.
NARROW = 16


def ways(problem: ConvolutionProblem, target: Target) -> Iterator[Lowered]:
    """The programs of a convolution, the most promising first."""
    p = problem
    counts = (p.batch * p.groups, prod(p.outputs), p.columns, p.channels, prod(p.taps))
    if max(counts) >= INDEX_LIMIT:
        raise UnsupportedError(f"a convolution of {counts}; expected each below {INDEX_LIMIT}")
    product = as_product(problem)
    if product is not None:
        yield from ways_of_product(product, target)
        return
    if p.math in TENSOR_CORE_MATH.values():
        if not takes_lines(p) or target.arch != "sm_90":
            given = f"{p.x.kind} and {p.w.kind} in {p.math} on {target.arch}"
            raise UnsupportedError(f"a convolution of {given}; expected elements of {p.math}, and sm_90")
        yield from line_ways(p, target)
        return
    if p.math is not None and not p.bits:
        raise UnsupportedError(f"a convolution in {p.math}; expected chains, or integers of 23 or 15 bits")
    wide = min(p.channels, p.columns) >= NARROW
    if wide:
        yield from _on_tensor_cores(p, target)
    single = depthwise(p)
    if single is not None:
        yield single
    yield from integer_products(p, target)
    yield from products(p, target)
    yield direct(p, target)
    if not wide:
        yield from _on_tensor_cores(p, target)


def _on_tensor_cores(p: ConvolutionProblem, target: Target) -> Iterator[Lowered]:
    """What there is of them without another order of sums; none where they take no such convolution."""
    if p.bits:
        yield from digit_ways(p, target)
    elif takes_lines(p):
        try:
            yield from line_ways(p, target)
        except UnsupportedError:
            return
