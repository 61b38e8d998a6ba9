"""Movement as a problem: a batch of strided copies into one tensor.

Elements are bytes, 1, 2, 4, 8 or 16 of them, and there is no arithmetic, so that there is no order either: each piece is copied
from a tensor of its own to a part of the target, and no two parts have an element in common. Pieces are small; a large one is as
well copied by a nest (`baracuda.lowering.nest`), which knows vectors and tiles.

What the pieces are is a table behind the program's addresses, in its words: code depends on the bytes of an element, on the
number of axes, and on how many pieces there is room for, never on shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from baracuda.core.errors import UnsupportedError

#: Axes that the pieces of a program have, and how many pieces it has room for: as many as the words of a launch hold, 4 KiB.
SHORT, LONG = 2, 4
ROOM = {SHORT: (8, 48), LONG: (8, 32)}
#: Bytes that are copied at once, at most.
MOST_BYTES = 16


@dataclass(frozen=True)
class Piece:
    """One copy: its shape, strides in elements of its source and of the target, the element of the target that it begins at."""

    shape: tuple[int, ...]
    source: tuple[int, ...]
    target: tuple[int, ...]
    offset: int
    alignment: int = 1

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class Movement:
    """Copies of elements of `size` bytes; piece i reads operand i, and the target is the operand after the last one.

    `alignment` is that of the target's address, and of each piece's source; `general` asks for code that takes any.
    """

    size: int
    pieces: tuple[Piece, ...]
    alignment: int = 1
    general: bool = False

    @property
    def rank(self) -> int:
        """How many axes each piece has."""
        return len(self.pieces[0].shape)

    @property
    def room(self) -> int:
        """How many pieces there is room for in its code."""
        return next(n for n in ROOM[self.rank] if n >= len(self.pieces))

    @property
    def inner_is_dense(self) -> bool:
        """Whether neighbours along the last axis are neighbours in memory, in every piece."""
        return not self.general and all(p.source[-1] == p.target[-1] == 1 for p in self.pieces)


def _merged(piece: Piece) -> Piece:
    """A piece with as few axes as it takes, those along which the target steps furthest first."""
    axes = [(n, s, t) for n, s, t in zip(piece.shape, piece.source, piece.target, strict=True) if n != 1]
    axes.sort(key=lambda a: abs(a[2]), reverse=True)
    joined: list[tuple[int, int, int]] = []
    for n, s, t in axes:
        if joined and joined[-1][1] == s * n and joined[-1][2] == t * n:
            joined[-1] = (joined[-1][0] * n, s, t)
        else:
            joined.append((n, s, t))
    shape, source, target = zip(*(joined or [(1, 1, 1)]), strict=True)
    return replace(piece, shape=shape, source=source, target=target)


def _filled(piece: Piece, rank: int) -> Piece:
    """A piece with axes of extent 1 in front."""
    lead = rank - len(piece.shape)
    return replace(piece, shape=(1,) * lead + piece.shape, source=(0,) * lead + piece.source, target=(0,) * lead + piece.target)


def _factor(size: int, alignment: int, pieces: Sequence[Piece]) -> int:
    """How many neighbouring elements can be copied as one."""
    factor = MOST_BYTES // size
    while factor > 1:
        fits = all(
            p.source[-1] == p.target[-1] == 1
            and p.shape[-1] % factor == 0
            and p.offset % factor == 0
            and min(p.alignment, alignment) % (factor * size) == 0
            and not any(s % factor for s in (*p.source[:-1], *p.target[:-1]))
            for p in pieces
        )
        if fits:
            return factor
        factor //= 2
    return 1


def _widened(piece: Piece, factor: int) -> Piece:
    shape = (*piece.shape[:-1], piece.shape[-1] // factor)
    source, target = ((*(s // factor for s in t[:-1]), 1) for t in (piece.source, piece.target))
    return replace(piece, shape=shape, source=source, target=target, offset=piece.offset // factor)


def fits(shape: Sequence[int], source: Sequence[int], target: Sequence[int]) -> int:
    """How many copies like this one a program has room for; 0 where it has too many axes."""
    rank = len(_merged(Piece(tuple(shape), tuple(source), tuple(target), 0)).shape)
    return 0 if rank > LONG else ROOM[LONG if rank > SHORT else SHORT][-1]


def normalise(movement: Movement) -> Movement:
    """The same copies with as few axes, and of as large elements, as they allow.

    Raises `UnsupportedError` where a piece has more axes than programs have.
    """
    pieces = [_merged(p) for p in movement.pieces]
    factor = 1 if movement.general else _factor(movement.size, movement.alignment, pieces)
    if factor > 1:
        pieces = [_widened(p, factor) for p in pieces]
    rank = max(len(p.shape) for p in pieces)
    if rank > LONG:
        raise UnsupportedError(f"a piece of {rank} axes; expected at most {LONG}")
    width = LONG if rank > SHORT else SHORT
    if len(pieces) > ROOM[width][-1]:
        raise UnsupportedError(f"{len(pieces)} pieces; expected at most {ROOM[width][-1]}")
    return replace(movement, size=movement.size * factor, pieces=tuple(_filled(p, width) for p in pieces))


def table(movement: Movement, starts: Sequence[int], last: int) -> list[int]:
    """The table of a program: where the work of each piece begins, that of one that is not there at `last`; then shape, strides
    of the source and of the target, in bytes, and the first byte in the target of each."""
    size, missing = movement.size, movement.room - len(movement.pieces)
    words = [*starts, *[last] * missing]
    for p in movement.pieces:
        words += [*p.shape, *(s * size for s in (*p.source, *p.target, p.offset))]
    return words + [0] * (missing * (3 * movement.rank + 1))
