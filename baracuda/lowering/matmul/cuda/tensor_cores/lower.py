"""Products on tensor cores of elements that these take as they are: the choice of a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from baracuda.core.elements import ElementKind
from baracuda.lowering.matmul.cuda.tensor_cores.lines import lines_factors
from baracuda.lowering.matmul.cuda.tensor_cores.thin import THIN, lower_thin
from baracuda.lowering.matmul.cuda.tensor_cores.warpgroups import ROWS, lower_warpgroups, warpgroup_choices
from baracuda.lowering.matmul.cuda.tensor_cores.warps import lower_warps, warp_tiles
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.runtime.program import Lowered

#: Tiles of a kind that autotuning tries.
_TRIED = 2
#: Rows up to which warps that have the wide factor in registers are as fast as warpgroups, however wide it is (H200, 8192x8192: 8
#: rows 19 us by either, 16 rows 22 and 20, 32 rows 24 and 21; but 16 rows by 1024x8192 8 and 15).
_FEWEST = 8
#: Products up to which warps are faster than warpgroups, which start more slowly (H200: 128 cubed 2.3 us and 2.8, 512 cubed 3.7
#: and 3.8, 1024 cubed 7.1 and 5.8).
_SMALL = 1 << 27


def takes_integers(c: MatmulProblem) -> bool:
    """Whether a product is one of 8-bit integers that has sums, and whose layout is known: a plan's kernels for any strides
    should not cost it a workspace."""
    factors = (*c.a, *c.b)
    whole = len(factors) == 2 and all(f.kind in (ElementKind.S8, ElementKind.U8) and not f.general for f in factors)
    return whole and c.accumulator is ElementKind.S32 and c.math is None and c.k > 0


def by_warpgroups(c: MatmulProblem, flipped: MatmulProblem, target: Target) -> Iterator[Lowered]:
    """The kernels of Hopper's warpgroups for a product, given also with its factors exchanged, the most promising first; none on
    another architecture, or where a factor cannot have lines."""
    if target.arch == "sm_90":
        for way, exchanged, tile in warpgroup_choices(c, flipped, target)[:_TRIED]:
            lowered = lower_warpgroups(way, tile, target, exchanged=exchanged)
            if lowered is not None:
                yield lowered


def fills(c: MatmulProblem, target: Target) -> bool:
    """Whether a product of few rows has work for the warpgroups of most multiprocessors."""
    return prod(c.batch) * max(c.m, c.n) >= ROWS * target.multiprocessors * 3 // 4


def _by_warps(c: MatmulProblem, flipped: MatmulProblem, target: Target) -> Iterator[Lowered]:
    first, rank = c.operands[-len(c.epilogue.outputs)], len(c.batch)
    exchanged = first.steps(rank) == 1 != first.steps(rank + 1)  # so that the results are written along their lines
    way = flipped if exchanged else c
    for tile in warp_tiles(way, target)[:_TRIED]:
        lowered = lower_warps(way, tile, exchanged=exchanged)
        if lowered is not None:
            yield lowered


def _thin(c: MatmulProblem, flipped: MatmulProblem, target: Target) -> Iterator[Lowered]:
    for way, exchanged in ((c, False), (flipped, True)) if c.m <= c.n else ((flipped, True), (c, False)):
        if way.m <= THIN:
            lowered = lower_thin(way, target, exchanged=exchanged)
            if lowered is not None:
                yield lowered


def integer_variants(c: MatmulProblem, flipped: MatmulProblem, target: Target) -> Iterator[Lowered]:
    """The kernels of a product of 8-bit integers, given also with its factors exchanged, the most promising first."""
    kinds = [_thin, by_warpgroups, _by_warps]
    factors = lines_factors(c, exchanged=False)
    in_lines = factors is not None and all(f.start is None for f in factors)
    if prod(c.batch) * c.m * c.n * c.k <= _SMALL:
        kinds = [_thin, _by_warps, by_warpgroups]
    elif in_lines and min(c.m, c.n) > _FEWEST and fills(c, target):
        kinds = [by_warpgroups, _thin, _by_warps]
    for kind in kinds:
        yield from kind(c, flipped, target)
