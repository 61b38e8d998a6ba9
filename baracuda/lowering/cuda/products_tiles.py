"""How a matrix product is cut up among blocks and threads. Nothing here changes a bit."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from baracuda.lowering.contraction import Contraction

#: Rows up to which a product is a thin one: what counts is the speed at which the wide factor arrives.
THIN = 16


@dataclass(frozen=True)
class Tile:
    """What a block and a thread take.

    Attributes
    ----------
    bm, bn, bk : int
        Rows, columns and steps of k that a block has in shared memory at a time.
    tm, tn : int
        Rows and columns of a thread.
    stages : int
        Tiles in shared memory: one that is multiplied, the others on their way.
    resident : int
        Blocks that a multiprocessor should hold: bounds the registers of a thread.
    depth : int
        Steps of k whose elements a thread has in registers at once, twice.
    lanes : int
        Threads of a warp that lie side by side along the columns.
    staged : bool
        Whether a factor that is transposed on its way goes through registers, in pieces of 16 bytes, rather than by
        asynchronous copies of single elements.
    thin : bool
        Whether the columns' factor stays in shared memory as it is stored, and every warp of a block of `thin_threads` loads,
        also those that have no rows.
    group : int
        Rows of tiles that blocks go down before they take the next column of tiles, so that they share what is in L2.
    speed : float
        Share of the peak that large products reach; measured on an H200.
    """

    bm: int
    bn: int
    bk: int
    tm: int
    tn: int
    stages: int
    resident: int = 1
    depth: int = 1
    lanes: int = 8
    staged: bool = False
    thin: bool = False
    group: int = 8
    speed: float = 0.5

    @property
    def workers(self) -> int:
        """Threads that multiply."""
        return self.bm // self.tm * (self.bn // self.tn)

    @property
    def threads(self) -> int:
        return max(self.workers, 128) if self.thin else self.workers

    def __str__(self) -> str:
        flags = "thin" * self.thin + "staged" * self.staged
        return f"{self.bm}x{self.bn}x{self.bk} {self.tm}x{self.tn} stages{self.stages} {flags}".rstrip()


#: By bytes of an accumulator (its two parts where it is complex), the largest tile first.
TILES = {
    4: (
        Tile(256, 128, 8, 16, 8, 4, speed=0.85, staged=True),
        Tile(128, 128, 16, 8, 8, 3, resident=2, speed=0.85),
        Tile(128, 64, 16, 8, 8, 3, resident=2, speed=0.75),
        Tile(64, 64, 16, 8, 4, 3, resident=3, speed=0.65),
        Tile(64, 32, 16, 4, 4, 4, depth=2, resident=3, speed=0.5),
        Tile(32, 32, 32, 2, 4, 4, depth=4, speed=0.35),
    ),
    8: (
        Tile(128, 64, 8, 8, 8, 3, speed=0.85),
        Tile(64, 64, 8, 8, 4, 3, resident=2, speed=0.8),
        Tile(32, 32, 16, 4, 4, 3, speed=0.6),
    ),
    16: (Tile(64, 32, 8, 4, 4, 3, speed=0.8), Tile(32, 16, 16, 2, 4, 3, lanes=4, speed=0.5)),
}
#: Warps that keep a multiprocessor's arithmetic busy.
BUSY_WARPS = 8


def thin_tile(rows: int, columns: int, itemsize: int) -> Tile:
    """The tile of a thin product; the wide factor's elements have `itemsize` bytes."""
    bm = 1 << max(rows - 1, 0).bit_length()
    tm = max(1, bm * columns // 128)
    return Tile(bm, columns, 128, tm, 1, 4 if itemsize > 2 else 6, depth=8, lanes=columns, thin=True)


def cost(tile: Tile, c: Contraction, multiprocessors: int) -> float:
    """How long the busiest multiprocessor takes, in no particular unit."""
    blocks = prod(c.batch) * -(-c.m // tile.bm) * -(-c.n // tile.bn)
    each = -(-blocks // multiprocessors)
    busy = min(1.0, min(each, tile.resident) * tile.threads / 32 / BUSY_WARPS)
    return each * tile.bm * tile.bn / (tile.speed * busy)


def tiles(c: Contraction, multiprocessors: int) -> list[Tile]:
    """The tiles that a product may take, the most promising first."""
    size = c.accumulator.itemsize * len(c.a)
    return sorted(TILES[size], key=lambda t: cost(t, c, multiprocessors))
