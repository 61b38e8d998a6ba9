"""How attention is cut up among blocks and threads. Nothing here changes a bit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from baracuda.lowering.attention.problem import KEYS

#: Bytes of a piece: what a thread moves between shared memory and registers at a time.
PIECE = 16
#: Columns of a tile that a thread takes, and threads that lie side by side along the columns and along the rows.
COLUMNS, ACROSS, DOWN = 8, 8, 4
#: Registers that a thread may have for the sums of one product, in units of 4 bytes.
_SUMS = 64
#: Bytes of a row that a chunk may have.
_STEPS = (128, 64, 32)


@dataclass(frozen=True)
class Tile:
    """What a block and a thread take.

    Attributes
    ----------
    rows : int
        Rows of a thread. A warp has `DOWN` times as many, and one tile of `KEYS` columns.
    down, across : int
        Warps along the rows and along the columns: a block meets `across` tiles at a time.
    step : int
        Bytes of a row that are in shared memory at a time.
    stages : int
        Chunks in shared memory: one that is multiplied, the others on their way.
    """

    rows: int
    down: int
    across: int
    step: int
    stages: int = 2

    @property
    def threads(self) -> int:
        return 32 * self.down * self.across

    @property
    def block_rows(self) -> int:
        return DOWN * self.rows * self.down

    @property
    def columns(self) -> int:
        """Columns that a block meets at a time."""
        return KEYS * self.across

    def __str__(self) -> str:
        return f"{self.block_rows}x{self.columns} rows{self.rows} step{self.step} stages{self.stages}"


def odd_pitch(elements: int, size: int) -> int:
    """Elements from line to line, in an odd number of pieces: neighbouring lines begin in different banks."""
    pieces = -(-elements * size // PIECE)
    return (pieces | 1) * PIECE // size


@dataclass(frozen=True)
class Depth:
    """How a row of `extent` elements is cut into chunks: `whole` ones of `step` elements, and one of `rest`."""

    extent: int
    step: int

    @property
    def whole(self) -> int:
        return self.extent // self.step

    @property
    def rest(self) -> int:
        return self.extent % self.step

    @property
    def chunks(self) -> int:
        """A row of no elements has an empty chunk."""
        return max(1, self.whole + (self.rest > 0))

    @staticmethod
    def of(extent: int, most: int) -> Depth:
        """Chunks of at most so many elements, all of one size where a multiple of 4 divides the extent."""
        count = max(1, -(-extent // most))
        for step in range(most, most // 2 - 1, -4):
            if extent % step == 0 and extent:
                return Depth(extent, step)
        return Depth(extent, -(-extent // (4 * count)) * 4 or 4)


@dataclass(frozen=True)
class Width:
    """How the `extent` columns of a result lie among warps and threads: each thread has `count` of them, in runs of `run`."""

    extent: int
    count: int
    run: int

    @property
    def of_warp(self) -> int:
        return ACROSS * self.count

    @staticmethod
    def of(extent: int, across: int, size: int) -> Width:
        count = max(1, -(-extent // (across * ACROSS)))
        count += count > 1 and count % 2
        run = next(r for r in (4, 2, 1) if count % r == 0 and r * size <= PIECE)
        return Width(extent, count, run)


def tiles(width: int, size: int, units: int, rows: int) -> Iterator[Tile]:
    """The tiles for results `width` columns wide, of `size` bytes, the one with most rows first; `units` tiles of columns are
    there to be met, and `rows` rows."""
    for each, down in ((8, 2), (4, 2), (4, 1), (2, 1), (1, 1)) if size == 4 else ((4, 4), (4, 2), (4, 1), (2, 1), (1, 1)):
        if DOWN * each * down // 2 >= max(rows, DOWN):
            continue  # half the rows would do
        needed = max(1, -(-width * each * size // (_SUMS * 4 * ACROSS)))
        useful = max(needed, min(units, -(-width // ACROSS)))
        # A warp alone waits for every load: small blocks get more warps than their results need.
        for across in sorted({needed, *(min(useful, n // down) for n in (4, 8) if each < 8)}):
            if needed <= across <= 8 // down:
                yield from (Tile(each, down, across, step) for step in _STEPS)


def cost(tile: Tile, resident: int, rows: int, blocks: int, multiprocessors: int) -> float:
    """How long the busiest multiprocessor takes, in no particular unit; heads of `rows` rows are cut into `blocks` blocks in all,
    and a multiprocessor holds `resident` of them."""
    each = -(-blocks // multiprocessors)
    speed = {8: 1.0, 4: 0.7, 2: 0.45, 1: 0.25}[tile.rows] * {128: 1.0, 64: 0.95, 32: 0.8}[tile.step]
    busy = min(1.0, min(each, resident) * tile.threads / 256)
    time: float = each * min(tile.block_rows, rows) / (speed * busy**0.5)
    return time
