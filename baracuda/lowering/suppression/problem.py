"""Suppression as a problem: of the candidates of a group, in order, one stays unless one before it that stays conflicts with it.

A candidate has a bit for each one of its group, 64 to a word, set where they conflict; only bits of those behind it count. The
result follows from the bits alone, so there is no order to choose: it is what going through the candidates one by one gives.
"""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.core.layout import round_up

#: Bits to a word, and what a row of words is a multiple of.
WORD, _ROW = 64, 8
#: Words of a row that a block of threads holds.
MOST_WORDS = 4096
#: The order of the operands: a row of words for each candidate, and a byte for each, 1 where it stays.
CONFLICTS, KEPT = range(2)
OPERANDS = 2


def words_of(count: int) -> int:
    """Words to a row of so many candidates' bits."""
    return round_up(max(-(-count // WORD), 1), _ROW)


@dataclass(frozen=True)
class Suppression:
    """So many groups of so many candidates each; both tensors are contiguous."""

    groups: int
    count: int

    @property
    def words(self) -> int:
        return words_of(self.count)

    @property
    def nbytes(self) -> int:
        """Bytes of what is removed."""
        return 8 * self.groups * self.words
