"""How the rows and lanes of a recurrent network are divided among the blocks of a GPU."""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.core.layout import round_up
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.recurrent.problem import Phase, Recurrent

#: Lanes of a tile, and stages of its chunks.
LANES, STAGES = 8, 3
#: Rows of a tile as groups of threads and rows of each thread.
_ROWS = ((4, 1), (8, 1), (16, 1), (16, 2), (32, 2), (32, 4), (64, 4))
_CHUNKS = (64, 32, 16, 8)
_STAGED = 80 * 1024


@dataclass(frozen=True)
class Tiling:
    """The tiles: groups of threads along rows, rows of a thread, k of a chunk, and whether weights stay in shared memory."""

    groups: int
    each: int
    chunk: int
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
    chunk = _chunk(staged, left - weights)
    if blocks <= target.multiprocessors and weights < left and chunk:
        return Tiling(groups, each, chunk, True)
    streamed = max(((parts_of(p) * rows + LANES * padded(p.products)) * size for p in folded), default=0)
    return Tiling(groups, each, _chunk(streamed, left) or _CHUNKS[-1], False)


def _chunk(per_k: int, room: int) -> int:
    return next((c for c in _CHUNKS if STAGES * c * per_k <= min(room, _STAGED)), 0)
