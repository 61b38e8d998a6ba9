"""Products with packed weights on CUDA: the choice of a kernel."""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.packed_product.cuda.thin import lower_thin
from baracuda.lowering.packed_product.cuda.tiles import lower_tiles
from baracuda.lowering.packed_product.problem import PackedProduct
from baracuda.runtime.program import Lowered

#: Rows of x up to which what counts is how fast the codes arrive.
THIN = 32


def ways(problem: PackedProduct, target: Target) -> Iterator[Lowered]:
    """The programs of a product, the most promising first."""
    if problem.product.m > THIN:
        yield lower_tiles(problem, target)
    yield lower_thin(problem, target)
