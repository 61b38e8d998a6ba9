"""Sorting networks over the lanes of some vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from baracuda.codegen.llvm.ir import Builder, Value, intrinsic


def network(b: Builder, vectors: Sequence[Value]) -> list[Value]:
    """The unsigned words of vectors in order, one vector's lanes after another's. Vectors and lanes are powers of two.

    Columns, the words of one lane, are put in order first, by steps that move nothing between lanes; then runs of columns are
    merged (Batcher's bitonic merge), of whose steps most are still such; last, columns become rows.
    """
    return _Network(b, vectors).ordered()


def _comparators(n: int) -> Iterator[tuple[int, int]]:
    """What Batcher's odd-even merge sort compares, of a power of two of words."""
    p = 1
    while p < n:
        k = p
        while k:
            for j in range(k % p, n - k, 2 * k):
                for i in range(min(k, n - j - k)):
                    if (i + j) // (2 * p) == (i + j + k) // (2 * p):
                        yield i + j, i + j + k
            k //= 2
        p *= 2


class _Network:
    def __init__(self, b: Builder, vectors: Sequence[Value]) -> None:
        self.b, self.words, self.lanes = b, list(vectors), vectors[0].lanes

    def ordered(self) -> list[Value]:
        count = len(self.words)
        for low, high in _comparators(count):
            self._exchange(low, high)
        run = 2
        while run <= self.lanes:
            self._first_of_merge(run)
            distance = run // 4
            while distance:
                for v in range(count):
                    self._exchange_lanes(v, distance, distance)
                distance //= 2
            distance = count // 2
            while distance:
                for v in range(count):
                    if not v & distance:
                        self._exchange(v, v + distance)
                distance //= 2
            run *= 2
        while count > 1:  # each time the words of both halves alternate
            self.words = [
                self.b.shuffle(self.words[v], self.words[v + len(self.words) // 2], lanes)
                for v in range(len(self.words) // 2)
                for lanes in self._alternating()
            ]
            count //= 2
        return self.words

    def _alternating(self) -> tuple[list[int], list[int]]:
        every = [lane + second for lane in range(self.lanes) for second in (0, self.lanes)]
        return every[: self.lanes], every[self.lanes :]

    def _extremes(self, x: Value, y: Value) -> tuple[Value, Value]:
        # the maximum of 64-bit words would be several instructions, what is left of both without the minimum is one
        low = self.b.call(x.type, intrinsic("umin", x.type), x, y)
        high = self.b.op("xor", self.b.op("xor", x, y), low)
        return low, high

    def _exchange(self, low: int, high: int) -> None:
        self.words[low], self.words[high] = self._extremes(self.words[low], self.words[high])

    def _turned(self, x: Value, turn: int) -> Value:
        """Lane l has the word of lane l ^ turn."""
        return self.b.shuffle(x, None, [lane ^ turn for lane in range(self.lanes)])

    def _chosen(self, bit: int, without: Value, with_: Value) -> Value:
        """The words of lanes whose number is without a bit, and of the others."""
        return self.b.shuffle(without, with_, [lane + self.lanes * bool(lane & bit) for lane in range(self.lanes)])

    def _exchange_lanes(self, v: int, turn: int, bit: int) -> None:
        x = self.words[v]
        self.words[v] = self._chosen(bit, *self._extremes(x, self._turned(x, turn)))

    def _first_of_merge(self, run: int) -> None:
        """The first step of the merge of two runs into one of so many columns: a word and the one as far from the other end."""
        count, turn, bit = len(self.words), run - 1, run // 2
        if count == 1:
            self._exchange_lanes(0, turn, bit)
        for v in range(count // 2):
            w = count - 1 - v
            low, high = self._extremes(self.words[v], self._turned(self.words[w], turn))
            self.words[v] = self._chosen(bit, low, high)
            self.words[w] = self._turned(self._chosen(bit, high, low), turn)
