"""How a matrix product is cut up among blocks and threads. Nothing here changes a bit."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Protocol

from baracuda.lowering.matmul.cuda.epilogue import SumsTile
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.problem import Operand

#: Rows up to which a product is a thin one: what counts is the speed at which the wide factor arrives.
THIN = 16
#: Arithmetic units of a multiprocessor that a warp is bound to one of.
SCHEDULERS = 4
#: Bytes of a line of the wide factor's tile along k, and steps of k that a thin tile takes at most.
_THIN_LINE, _THIN_STEPS = 512, 256


class BlockTile(SumsTile, Protocol):
    """What a block takes, whoever multiplies; `bk` steps of k at a time. Blocks go down `group` rows of tiles."""

    @property
    def bk(self) -> int: ...

    @property
    def group(self) -> int: ...


@dataclass(frozen=True)
class ThinTile:
    """What a block of a thin product takes.

    Attributes
    ----------
    bm, bn, bk : int
        Rows (a power of two), columns and steps of k of a stage.
    tm : int
        Rows of a thread, which has one column.
    stages : int
        Stages in shared memory.
    depth, span : int
        Steps of k whose elements a thread has in registers at once, twice; and steps that are unrolled.
    wide_threads, feeders : int
        Threads that bring the wide factor, and warps that bring the thin one: no more than stages, because a barrier tells a
        phase from the next but not from the one after it.
    """

    bm: int
    bn: int
    bk: int
    tm: int
    stages: int
    depth: int
    span: int = 64
    wide_threads: int = 128
    feeders: int = 4

    #: A column of tiles is one tile.
    group = 1

    @property
    def workers(self) -> int:
        """Threads that multiply."""
        return self.bm // self.tm * self.bn

    @property
    def warps(self) -> int:
        """Warps that multiply."""
        return -(-self.workers // 32)

    @property
    def threads(self) -> int:
        return 32 * (self.warps + self.feeders) + self.wide_threads

    def __str__(self) -> str:
        return f"{self.bm}x{self.bn}x{self.bk} {self.tm}x1 stages{self.stages} thin"


def thin_tile(c: MatmulProblem, columns: int, shared: int) -> ThinTile:
    """The tile of a thin product, in blocks of some columns that have `shared` bytes of shared memory."""
    size, wide = c.accumulator.itemsize, c.b[0].kind.itemsize
    bm = 1 << max(c.m - 1, 0).bit_length()
    tm = max(1, bm * columns // 128)
    bk = min(_THIN_STEPS, _THIN_LINE // wide)
    stage = (bk * wide + 16) * columns + (bk * size + 16) * bm
    stages = min(8, (shared // 2 - 2048) // stage)  # two blocks of a multiprocessor, where they leave enough
    if stages < 4:
        stages = max(2, min(6, (shared - 2048) // stage))
    return ThinTile(bm, columns, bk, tm, stages, (16 if tm < 4 else 8) * 4 // size, feeders=min(4, stages))


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
    lines : bool
        Whether a factor whose neighbours lie along k is not transposed but has lines of k in shared memory too.
    group : int
        Rows of tiles that blocks go down before they take the next column of tiles, so that they share what is in L2.
    speed : tuple of float
        TFLOP/s of an H200 whose schedulers are full of warps where neither factor's neighbours lie along k, where only a's do,
        only b's, and both.
    alone : float
        Share of that which one warp for each scheduler reaches.
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
    lines: bool = False
    group: int = 8
    speed: tuple[float, float, float, float] = (40.0, 40.0, 40.0, 40.0)
    alone: float = 0.8

    @property
    def threads(self) -> int:
        return self.bm // self.tm * (self.bn // self.tn)

    def __str__(self) -> str:
        flags = " ".join(["staged"] * self.staged + ["lines"] * self.lines)
        return f"{self.bm}x{self.bn}x{self.bk} {self.tm}x{self.tn} stages{self.stages} {flags}".rstrip()


def crosses(operand: Operand, c: MatmulProblem, *, left: bool) -> bool:
    """Whether a factor's neighbours lie along k, so that a tile with lines of rows has to turn it on its way."""
    return operand.steps(len(c.batch) + left) == 1 != operand.steps(len(c.batch) + (not left))


#: The speeds of tiles with lines of k are not measured but estimated, from the instructions of their loops.
_LINES = ((40.0, 44.0, 44.0, 45.0), (38.0, 41.0, 41.0, 42.0), (36.0, 39.0, 39.0, 40.0), (31.0, 35.0, 35.0, 36.0))
#: By bytes of an accumulator (its two parts where it is complex). `speed` and `alone` are fitted to sweeps on an H200 of
#: 2026-11-21: f32 at 4096x4096x4096 in four layouts, at 8192x8192x8192 and at 12 shapes of 64 to 8192 rows, 32 to 4096 columns
#: and 32 to 4096 steps; f64 at 4096x4096x4096; complex ones are estimated. Of the measured f32 tiles `cost` takes the fastest,
#: but at 512x4096x4096 (3.4% behind). At 4096x4096x4096 they reach, in the order of `speed`, 50.7, 47.5, 48.4 and
#: 48.4 TFLOP/s, where cuBLAS has 47.9, 47.2, 45.6 and 46.4; f64 reaches 24.7.
TILES = {
    4: (
        Tile(128, 256, 16, 8, 16, 3, lanes=4, speed=(53.2, 51.4, 50.4, 47.9)),
        Tile(128, 256, 8, 8, 16, 4, lanes=4, staged=True, speed=(50.4, 50.3, 49.0, 52.4)),
        Tile(256, 128, 16, 16, 8, 3, speed=(53.0, 49.4, 52.3, 49.6)),
        Tile(128, 128, 32, 8, 8, 2, resident=2, speed=(52.7, 47.4, 47.5, 47.1)),
        Tile(128, 128, 16, 8, 8, 3, resident=2, speed=(49.2, 48.8, 47.6, 42.6), alone=0.81),
        Tile(128, 128, 8, 16, 8, 4, resident=2, speed=(50.4, 48.7, 49.2, 46.9), alone=0.89),
        Tile(128, 64, 16, 8, 8, 3, resident=2, speed=(50.0, 47.2, 48.6, 44.3), alone=0.89),
        Tile(64, 128, 16, 8, 8, 3, resident=2, speed=(50.0, 47.2, 48.0, 44.7), alone=0.9),
        Tile(64, 64, 16, 8, 8, 3, resident=4, speed=(49.0, 46.0, 47.0, 44.2), alone=0.92),
        Tile(64, 64, 16, 8, 4, 3, resident=3, speed=(42.5, 41.4, 41.0, 39.8), alone=0.8),
        Tile(64, 64, 32, 8, 4, 3, resident=2, speed=(43.0, 42.0, 41.0, 39.0), alone=0.83),
        Tile(128, 128, 16, 8, 8, 4, depth=4, lines=True, speed=_LINES[0], alone=0.9),
        Tile(64, 64, 32, 8, 4, 3, resident=2, depth=4, lines=True, speed=_LINES[1], alone=0.88),
        Tile(128, 32, 32, 8, 4, 3, resident=2, depth=4, lines=True, speed=_LINES[1], alone=0.88),
        Tile(64, 48, 32, 4, 6, 3, resident=2, depth=4, lines=True, speed=_LINES[2], alone=0.88),
        Tile(64, 32, 32, 4, 4, 3, resident=3, depth=4, lines=True, speed=_LINES[3], alone=0.88),
        Tile(64, 32, 32, 4, 4, 3, resident=3, depth=2, speed=(31.0, 30.0, 30.0, 29.8), alone=0.83),
        Tile(32, 32, 32, 4, 4, 4, resident=4, depth=2, speed=(32.5, 31.9, 31.0, 29.4), alone=0.8),
        Tile(32, 32, 32, 2, 4, 4, resident=2, depth=4, speed=(28.0, 27.4, 25.0, 22.6), alone=0.86),
        Tile(16, 32, 32, 2, 2, 4, resident=3, depth=4, speed=(22.0, 21.6, 18.0, 15.4), alone=0.85),
    ),
    8: (
        Tile(64, 64, 16, 8, 8, 3, resident=4, speed=(25.5, 25.5, 25.5, 25.5), alone=0.95),
        Tile(128, 64, 8, 8, 8, 3, resident=2, speed=(24.9, 24.9, 24.9, 24.9), alone=0.95),
        Tile(64, 64, 8, 8, 4, 3, resident=2, speed=(23.2, 23.2, 23.2, 23.2), alone=0.95),
        Tile(32, 32, 16, 4, 4, 3, resident=4, speed=(21.1, 21.1, 21.1, 21.1), alone=0.95),
    ),
    16: (
        Tile(64, 32, 8, 4, 4, 3, speed=(20.0, 20.0, 20.0, 20.0)),
        Tile(32, 16, 16, 2, 4, 3, lanes=4, speed=(15.0, 15.0, 15.0, 15.0)),
    ),
}
#: What else a block costs, fitted to the same sweeps, whose times the model meets within 4% (root of the mean square):
#: microseconds until the first one multiplies and for each sum of a thread, and steps of k that its results are worth.
_START, _FINISH, _RESULTS = 2.5, 0.01, 22
#: Multiprocessors of the device that the speeds were measured on.
_MEASURED_ON = 132


def _rate(tile: Tile, blocks: int, speed: float) -> float:
    """Millions of links a second that so many blocks of a multiprocessor achieve. A warp stays with one scheduler, so the one
    that has most of them counts, and a scheduler with few of them waits more."""
    warps = blocks * tile.threads // 32
    each = -(-warps // SCHEDULERS)
    return speed * 1e6 / (2 * _MEASURED_ON) * (1 - (1 - tile.alone) ** each) * warps / (SCHEDULERS * each)


def cost(tile: Tile, c: MatmulProblem, multiprocessors: int) -> float:
    """Microseconds that the product should take on a device of so many of an H200's multiprocessors: the busiest one takes its
    blocks in rounds of those that it holds at once."""
    blocks = prod(c.batch) * -(-c.m // tile.bm) * -(-c.n // tile.bn)
    crossing = [any(crosses(o, c, left=left) for o in f) for f, left in ((c.a, True), (c.b, False))]
    speed = tile.speed[crossing[0] + 2 * crossing[1]]
    rounds, last = divmod(-(-blocks // multiprocessors), tile.resident)
    links = tile.bm * tile.bn * (c.k + _RESULTS) * len(c.a) ** 2
    time = _START
    for count, held in ((rounds, tile.resident), (1, last)):
        if count and held:
            time += count * (_FINISH * tile.tm * tile.tn + held * links / _rate(tile, held, speed))
    return time


def tiles(c: MatmulProblem, multiprocessors: int) -> list[Tile]:
    """The tiles that a product may take, the most promising first."""
    size = c.accumulator.itemsize * len(c.a)
    return sorted(TILES[size], key=lambda t: cost(t, c, multiprocessors))
