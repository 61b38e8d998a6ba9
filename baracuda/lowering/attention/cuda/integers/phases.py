"""What happens in a tile: phases that multiply digits, work between them, and how either kind of tensor cores does it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from baracuda.lowering.attention.cuda.integers.digits import RowFactor
from baracuda.lowering.attention.cuda.place import Place

#: Threads of a block: four warps of 16 rows.
THREADS = 128


@dataclass(frozen=True)
class Phase:
    """Digits of a tile's columns: by rows, for dot products with the block's rows of `left`, or turned (None)."""

    right: RowFactor
    left: RowFactor | None = None

    @property
    def chunks(self) -> int:
        return self.right.blocks if self.left else 1

    @property
    def nbytes(self) -> int:
        return self.right.block_bytes if self.left else self.right.part_bytes

    @property
    def start(self) -> int:
        """Where the first digits are in the workspace."""
        return self.right.start if self.left else self.right.turned_start

    @property
    def record_bytes(self) -> int:
        """Of all chunks or parts of a tile."""
        return self.nbytes * (self.right.blocks if self.left else self.right.parts)


@dataclass(frozen=True)
class Phases:
    """The phases of a tile: dot products x of its pairs, gradients dp of the probabilities, and sums of x times rows."""

    scores: Phase
    slopes: Phase | None = None
    into: Phase | None = None

    @property
    def all(self) -> list[Phase]:
        return [p for p in (self.scores, self.slopes, self.into) if p is not None]

    @property
    def lefts(self) -> list[RowFactor]:
        return [p.left for p in self.all if p.left is not None]


@dataclass(frozen=True)
class Work:
    """What a kernel does between the phases of a tile: `head` where a head begins, `early` with x, `late` with x and dp, and
    `between` before sums grow."""

    head: Sequence[str] = ()
    early: Sequence[str] = ()
    late: Sequence[str] = ()
    between: Sequence[str] = ()


@dataclass(frozen=True)
class Room:
    """What blocks may take: bytes of shared memory of a multiprocessor, which should hold so many. `warpgroups`: they multiply by
    warpgroup instructions."""

    limit: int
    blocks: int
    warpgroups: bool = False


class Tiles(ABC):
    """How the tiles of a kernel are multiplied.

    Attributes
    ----------
    alignment, shared
        Of the block's shared memory, in bytes.
    resident
        Blocks that a multiprocessor should hold.
    tables
        The C++ that only these tiles need.
    """

    alignment: int
    shared: int
    resident: int
    tables: str

    def __init__(self, place: Place, phases: Phases) -> None:
        self.place, self.words, self.by_keys, self.phases = place, place.words, place.by_keys, phases

    @abstractmethod
    def define(self) -> list[str]:
        """Sends the digits of the rows, then the first ones of columns, on their way."""

    def begin(self) -> list[str]:
        """What stands at the beginning of each tile."""
        return []

    @abstractmethod
    def dots(self, p: Phase, into: str, work: Sequence[str] = ()) -> list[str]:
        """Declares the dot products of a phase. `work` needs none of them."""

    @abstractmethod
    def add_rows(self, p: Phase, between: Sequence[str]) -> list[str]:
        """`sum` goes on with the weights x, of which each is multiplied by the scale of its row, times the rows of a phase.
        `between` is done before the sums grow."""

    def loop(self, work: Work) -> list[str]:
        """All tiles of the block."""
        phases = self.phases
        heads = ["#pragma unroll 1", "for (int c1 = first_head; stop > start && c1 < first_head + group; ++c1) {"]
        return [
            *(heads if self.by_keys else []),
            *work.head,
            "#pragma unroll 1",
            "for (int tile = start; tile < stop; ++tile) {",
            *self.begin(),
            *self.dots(phases.scores, "x"),
            *(self.dots(phases.slopes, "dp", work.early) if phases.slopes else work.early),
            *work.late,
            *(self.add_rows(phases.into, work.between) if phases.into else []),
            "}}" if self.by_keys else "}",
        ]
