"""Products of 8-bit integers on a CUDA device: the choice of a kernel."""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.core.elements import ElementKind
from baracuda.lowering.matmul.cuda.small_integers.thin import THIN, lower_thin
from baracuda.lowering.matmul.cuda.small_integers.warpgroups import lower_warpgroups, warpgroup_choices
from baracuda.lowering.matmul.cuda.small_integers.warps import lower_warps, warp_tiles
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.runtime.program import Lowered

#: Tiles of a kind that autotuning tries.
_TRIED = 2


def takes(c: MatmulProblem) -> bool:
    """Whether a product is one of 8-bit integers that has sums."""
    kinds = {f.kind for f in (*c.a, *c.b)}
    whole = len(c.a) == len(c.b) == 1 and kinds <= {ElementKind.S8, ElementKind.U8}
    return whole and c.accumulator is ElementKind.S32 and c.math is None and c.k > 0


def small_integer_variants(c: MatmulProblem, flipped: MatmulProblem, target: Target) -> Iterator[Lowered]:
    """The kernels of a product of 8-bit integers on tensor cores, given also with its factors exchanged, the most promising
    first."""
    for way, exchanged in ((c, False), (flipped, True)) if c.m <= c.n else ((flipped, True), (c, False)):
        if way.m <= THIN:
            lowered = lower_thin(way, target, exchanged=exchanged)
            if lowered is not None:
                yield lowered
    if target.arch == "sm_90":
        for way, exchanged, tile in warpgroup_choices(c, flipped, target)[:_TRIED]:
            yield lower_warpgroups(way, tile, target, exchanged=exchanged)
    first, rank = c.operands[-len(c.epilogue.outputs)], len(c.batch)
    exchanged = first.steps(rank) == 1 != first.steps(rank + 1)  # so that the results are written along their lines
    way = flipped if exchanged else c
    for warp_tile in warp_tiles(way, target)[:_TRIED]:
        yield lower_warps(way, warp_tile, exchanged=exchanged)
