"""Integer products on a CUDA device: the choice of a kernel."""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.lowering.matmul.cuda.integers.thin import THIN, lower_thin_integers
from baracuda.lowering.matmul.cuda.integers.warpgroups import lower_warpgroups
from baracuda.lowering.matmul.cuda.integers.warps import lower_warps
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.runtime.program import Lowered

#: The architectures with fast f64, on tensor cores too, and the rows up to which it is faster than three digits; two are faster.
FAST_DOUBLES, DOUBLES = ("sm_80", "sm_90", "sm_100"), 16


def padded(m: int, n: int) -> int:
    """Sums of all tiles of 128 by 64."""
    return -(-m // 128) * 128 * -(-n // 64) * 64


def integer_variants(c: MatmulProblem, flipped: MatmulProblem, target: Target) -> Iterator[Lowered]:
    """The kernels of an integer product, given also with its factors exchanged, the most promising first."""
    for way, turned in ((c, False), (flipped, True)) if c.m <= c.n else ((flipped, True), (c, False)):
        if way.m <= THIN:
            fast = way.bits == 23 and way.m <= DOUBLES and target.arch in FAST_DOUBLES
            for doubles in (True, False) if fast else (False,):
                lowered = lower_thin_integers(way, target, exchanged=turned, doubles=doubles)
                if lowered is not None:
                    yield lowered
    exchanged = padded(c.n, c.m) < padded(c.m, c.n)
    if target.arch == "sm_90":
        yield lower_warpgroups(flipped if exchanged else c, target, exchanged=exchanged)
    first, rank = c.operands[-len(c.epilogue.outputs)], len(c.batch)
    exchanged = first.steps(rank) == 1 != first.steps(rank + 1)  # so that the results are written along their lines
    yield lower_warps(flipped if exchanged else c, target, exchanged=exchanged)
