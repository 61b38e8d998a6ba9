"""How the rows and lanes of a recurrent network in integers are divided among the blocks of a GPU."""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.formula.integer_products import BLOCK, digits
from baracuda.lowering.nest.cuda.clusters import has_clusters
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.recurrent.cuda.tiling import parts_of
from baracuda.lowering.recurrent.problem import Phase, Recurrent

#: Warps of a block, by digits: as many as registers allow.
_WARPS = {2: 16, 3: 8}
#: Lanes of a tile, and its rows that are multiplied at once: a thread has one of each, at most.
_TILES = ((16, 32), (16, 16), (8, 64), (8, 32), (8, 16))
#: Blocks of k in a chunk, and blocks of rows of which digits are made at once, at most: more hide the way from the second
#: cache, but take registers.
_CHUNKS, _BLOCKS = (8, 4, 2, 1), 128
#: Blocks of a cluster: multiprocessors come in pairs, so that as many of them fit as blocks by themselves.
_CLUSTER = 2


@dataclass(frozen=True)
class IntegerTiling:
    """Lanes of a tile, rows that are multiplied at once, how often, blocks of k in a chunk, warps, blocks of threads, and
    whether weights stay in shared memory."""

    lanes: int
    part: int
    each: int
    chunk: int
    warps: int
    grid: int
    resident: bool
    cluster: int = 1

    @property
    def threads(self) -> int:
        return 32 * self.warps

    @property
    def rows(self) -> int:
        return self.part * self.each

    @property
    def octets(self) -> int:
        """Columns of a product in a tile, by eights."""
        return self.lanes // 8

    @property
    def share(self) -> int:
        """Blocks of rows of which a warp makes digits at once."""
        return -(-self.chunk * self.part // (self.warps * self.cluster))


def blocks_of(phase: Phase) -> int:
    return -(-phase.depth // BLOCK)


def eights_together(phase: Phase, octets: int) -> int:
    """Eights of columns that are multiplied by the same message."""
    return octets * (1 if phase.paired else phase.products)


def tiling(problem: Recurrent, target: Target) -> IntegerTiling:
    """The tiles that take the least time, about, of those whose weights stay in shared memory if there are any."""
    folded = [p for p in problem.phases if p.weight]
    count = digits(problem.bits)
    deepest = max(blocks_of(p) for p in folded)
    found: list[tuple[bool, float, IntegerTiling]] = []
    for lanes, part in (t for t in _TILES if t[0] * t[1] <= 32 * _WARPS[count]):
        warps = min(_WARPS[count], lanes * part // 16)
        octets, parts = lanes // 8, -(-problem.batch // part)
        tiles = [-(-p.lanes // lanes) for p in folded]
        most = max(-(-p.lanes // lanes) for p in problem.phases)
        beside = max(1, target.multiprocessors // most)  # blocks with the same lanes
        each = min(4, 1 << (-(-parts // beside) - 1).bit_length())
        of_rows = -(-parts // each)
        grid = min(most * min(of_rows, beside), target.multiprocessors)
        costs = [_step_cost(p, part, octets, count) * each + 1500 for p in folded]
        cost = sum(-(-n * of_rows // grid) * c for c, n in zip(costs, tiles, strict=True))
        weights = sum(blocks_of(p) * octets * p.products * (count * 1024 + 32) for p in folded)
        cluster = _cluster(problem, target, lanes, grid)
        for resident in (True, False):
            if resident and any(grid % n for n in tiles):
                continue
            left = target.shared_bytes - 1024 - weights * resident
            of_block = max(chunk_bytes(p, part, octets, count) for p in folded)
            fitting = [c for c in _CHUNKS if c * of_block <= left and warps <= c * part <= _BLOCKS]
            chunks = [c for c in fitting if c == 1 or c < 2 * deepest]
            if chunks and (not resident or chunks[0] >= min(2, deepest)):
                found.append((not resident, cost, IntegerTiling(lanes, part, each, chunks[0], warps, grid, resident, cluster)))
    return min(found, key=lambda f: f[:2])[2]


def _cluster(problem: Recurrent, target: Target, lanes: int, grid: int) -> int:
    """How many neighbouring blocks make digits for each other: those that have the same rows in every phase."""
    if not has_clusters(target):
        return 1
    tiles = [-(-p.lanes // lanes) for p in problem.phases]
    return next(c for c in (_CLUSTER, 1) if not any(n % c for n in (grid, *tiles)))


def _step_cost(phase: Phase, part: int, octets: int, count: int) -> float:
    """Cycles that some rows of a tile of a phase take: the message's digits and the products."""
    products = part / 16 * octets * phase.products * phase.depth / 32 * count**2 * 2
    return part * phase.depth * parts_of(phase) * 0.1 + products + 500


def chunk_bytes(phase: Phase, part: int, octets: int, count: int) -> int:
    """Of a block of k: the message's digits and scales, these twice, and the sums."""
    return part * (count * 128 + 8) + eights_together(phase, octets) * part * 8 * 4
