"""How a product by tensor cores is cut up among blocks and warps. Nothing here changes a bit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Target

#: Rows up to which it is the speed at which the other factor arrives that counts.
FEW_ROWS = 64
#: Bytes of a factor's element.
_SIZE = 2
#: Bytes behind a line of shared memory, so that neighbouring lines begin in different banks.
_PAD = 16
#: Bytes that a block leaves to the system, and the number of stages: more are under way than memory takes to answer.
_RESERVED, _LEAST_STAGES, _MOST_STAGES = 1024, 3, 8
#: The part of the multiprocessors that tiles of few rows should have work for: with fewer blocks, or with smaller tiles, the
#: other factor arrives more slowly (H200, 2026-11-22, bf16, k = n: 32 rows by 8192, tiles of 64 columns 46 us, of 128 59, of 32
#: 67; by 4096, tiles of 32 columns 16 us, of 64 21, of 16 21).
_BUSY = 0.9


@dataclass(frozen=True)
class TensorCoreTile:
    """What a block and a warp take.

    Attributes
    ----------
    bm, bn, bk : int
        Rows, columns and steps of k that a block has in shared memory at a time.
    wm, wn : int
        Rows (of 16) and columns (of 8) of a warp.
    stages : int
        Tiles in shared memory: one that is multiplied, the others on their way.
    resident : int
        Blocks that a multiprocessor should hold: bounds the registers of a thread.
    group : int
        Rows of tiles that blocks go down before they take the next column of tiles, so that they share what is in L2.
    """

    bm: int
    bn: int
    bk: int
    wm: int
    wn: int
    stages: int
    resident: int = 1
    group: int = 8

    @property
    def warps(self) -> int:
        """Warps that multiply; all bring the factors."""
        return self.bm // self.wm * (self.bn // self.wn)

    @property
    def threads(self) -> int:
        return 32 * max(4, self.warps)

    def __str__(self) -> str:
        return f"{self.bm}x{self.bn}x{self.bk} stages{self.stages} tensor cores"


@dataclass(frozen=True)
class _Shape:
    """A tile but for its stages."""

    bm: int
    bn: int
    bk: int
    wm: int
    wn: int

    def blocks(self, c: MatmulProblem) -> int:
        return prod(c.batch) * -(-c.m // self.bm) * -(-c.n // self.bn)

    def staged(self, c: MatmulProblem, target: Target) -> TensorCoreTile:
        """The tile with as many stages as there is room for: for two blocks of a multiprocessor, where there are as many."""
        resident = 1 if self.blocks(c) <= target.multiprocessors else 2
        rows = self.bm + self.bn
        stage = max(rows * (self.bk * _SIZE + _PAD), self.bk * (rows * _SIZE + 2 * _PAD))
        stages = min(_MOST_STAGES, (target.shared_bytes // resident - _RESERVED) // stage)
        if stages < _LEAST_STAGES:
            resident, stages = 1, min(_MOST_STAGES, (target.shared_bytes - _RESERVED) // stage)
        return TensorCoreTile(self.bm, self.bn, self.bk, self.wm, self.wn, stages, resident)


#: By the rows up to which they serve, the tiles of few rows.
_FEW = {
    16: (_Shape(16, 64, 128, 16, 16), _Shape(16, 32, 128, 16, 8), _Shape(16, 16, 128, 16, 8), _Shape(16, 8, 128, 16, 8)),
    32: (_Shape(32, 128, 128, 32, 32), _Shape(32, 64, 128, 32, 16), _Shape(32, 32, 128, 16, 16), _Shape(32, 16, 128, 16, 8)),
    64: (_Shape(64, 128, 64, 32, 32), _Shape(64, 64, 64, 32, 32), _Shape(64, 32, 64, 32, 16), _Shape(64, 16, 64, 16, 16)),
}
#: Those of many, with the share of the largest one's speed that each has.
_MANY = ((_Shape(128, 128, 64, 64, 32), 1.0), (_Shape(128, 64, 64, 64, 32), 0.85), (_Shape(64, 64, 64, 32, 32), 0.7))


def tensor_core_tiles(c: MatmulProblem, target: Target) -> Iterator[TensorCoreTile]:
    """The tiles that a product may take, the most promising first."""
    count = target.multiprocessors
    if c.m <= FEW_ROWS:
        few = next(s for rows, s in _FEW.items() if c.m <= rows)
        busy = {t: t.blocks(c) >= _BUSY * count for t in few}
        # The fewest blocks that keep the device busy, then smaller tiles, then those that do not.
        shapes = sorted(few, key=lambda t: (not busy[t], -t.bn if busy[t] else t.bn))
    else:
        rounds = [(-(-t.blocks(c) // count) * t.bm * t.bn / speed, t) for t, speed in _MANY]
        shapes = [t for _, t in sorted(rounds, key=lambda pair: pair[0])]
    for shape in shapes:
        yield shape.staged(c, target)
