"""How the rows and lanes of a recurrent network are divided among the blocks of a GPU."""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.core.layout import round_up
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.recurrent.problem import Phase, Recurrent

#: Lanes of a tile.
LANES = 8
#: Rows of a tile as groups of threads and rows of each thread.
_ROWS = ((4, 1), (8, 1), (16, 1), (16, 2), (32, 2), (32, 4), (64, 4))
#: k of a chunk, and how many chunks are under way at most: some 100 KB of them hide the way from the second cache.
_CHUNKS, _STAGES = (64, 32, 16, 8), 9


@dataclass(frozen=True)
class Tiling:
    """The tiles: groups of threads along rows, rows of a thread, k of a chunk, how many chunks have room, and whether weights
    stay in shared memory."""

    groups: int
    each: int
    chunk: int
    stages: int
    resident: bool

    @property
    def rows(self) -> int:
        return self.groups * self.each

    @property
    def threads(self) -> int:
        return self.groups * LANES


def tiles_of(lanes: int) -> int:
    return -(-lanes // LANES)


def padded(products: int) -> int:
    """A power of two, for loads of all products of a lane at once."""
    return 1 << (products - 1).bit_length()


def parts_of(phase: Phase) -> int:
    """Components of the message that a phase reads."""
    return phase.products if phase.paired else 1


def tiling(problem: Recurrent, target: Target) -> Tiling:
    size = problem.math.itemsize
    lanes = max(tiles_of(p.lanes) for p in problem.phases)
    options = _ROWS if size == 4 else _ROWS[:-1]
    at = next((i for i, (g, e) in enumerate(options) if g * e >= problem.batch), len(options) - 1)
    while at > 0 and 2 * lanes * -(-problem.batch // (options[at][0] * options[at][1])) <= target.multiprocessors:
        at -= 1
    groups, each = options[at]
    rows = groups * each
    folded = [p for p in problem.phases if p.weight]
    blocks = lanes * -(-problem.batch // rows)
    weights = sum(round_up(p.depth * LANES * padded(p.products) * size, 128) for p in folded)
    staged = max((parts_of(p) * rows * size for p in folded), default=0)
    left = target.shared_bytes - 1024
    depth = max((p.depth for p in folded), default=1)
    if blocks <= target.multiprocessors and (chunks := _chunks(staged, left - weights, depth)):
        return Tiling(groups, each, *chunks, True)
    streamed = max(((parts_of(p) * rows + LANES * padded(p.products)) * size for p in folded), default=0)
    return Tiling(groups, each, *(_chunks(streamed, left, depth) or (_CHUNKS[-1], 2)), False)


def _chunks(per_k: int, room: int, depth: int) -> tuple[int, int] | None:
    """k of a chunk, and how many chunks there is room for: four or more if possible, no more than depth has."""
    for least in (4, 2):
        for chunk in _CHUNKS:
            stages = min(_STAGES, room // round_up(max(1, chunk * per_k), 128), max(2, -(-depth // chunk) + 1))
            if stages >= min(least, -(-depth // chunk) + 1) and stages >= 2:
                return chunk, stages
    return None
