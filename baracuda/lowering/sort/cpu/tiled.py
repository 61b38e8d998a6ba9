"""Few long rows in order on the CPU: radix, least significant digit first, each pass in tiles that threads share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from baracuda.codegen.llvm.ir import Value, i64
from baracuda.core.layout import round_up
from baracuda.lowering.sort.cpu.code import Integers, StepBuilder
from baracuda.lowering.sort.cpu.keys import KeyCode, Words
from baracuda.lowering.sort.cpu.rows import row_iterator
from baracuda.lowering.sort.problem import INDICES, RANKS, VALUES, Sort, X
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

_BITS = 11
#: Elements of a tile, of rows shorter than _LONG and of others.
_TILES, _LONG = (1 << 14, 1 << 16), 1 << 20


class Tiled:
    """The steps of a problem: for each digit a count, its running sum over tiles, and the move; then the results.

    In the workspace are elements twice, twice where in the row each is, and the counts of every tile.
    """

    def __init__(self, sort: Sort, integers: Integers, target: CpuTarget) -> None:
        self.sort, self.integers, self.target = sort, integers, target
        self.tile = _TILES[sort.length >= _LONG]
        self.tiles = -(-sort.length // self.tile)
        self.digits = sort.digits(_BITS)
        n = sort.rows * sort.length
        self.numbers = round_up(4 * n, 64) if sort.indexed else 0
        self.elements = round_up(n * sort.kind.itemsize, 64)
        self.counts = 2 * (self.elements + self.numbers)
        self.nbytes = self.counts + 4 * sort.rows * self.tiles * (1 << max(bits for *_, bits in self.digits))

    def _code(self) -> StepBuilder:
        return StepBuilder(self.integers, self.target)

    def steps(self) -> list[Launch]:
        launches: list[Launch] = []
        for i, digit in enumerate(self.digits):
            source, into = (None if i == 0 else (i + 1) % 2), i % 2
            launches += [self._count(source, digit), self._running_sum(digit), self._move(source, into, digit)]
        return [*launches, self._results((len(self.digits) - 1) % 2)]

    def _arrays(self, code: StepBuilder, which: int) -> tuple[Value, Value]:
        """Elements and where in the row they are."""
        numbers = 2 * self.elements + which * self.numbers
        return code.scratch(which * self.elements), code.scratch(numbers if self.sort.indexed else 0)

    @contextmanager
    def _of_tiles(
        self, code: StepBuilder, keys: KeyCode, source: int | None, digit: tuple[int, int, int]
    ) -> Iterator[tuple[Value, Value, Words, Value, Value]]:
        """For each element of the units' tiles: the number of its row's first element, where in the row it is, its bits, its
        digit and the counts of its tile."""
        b, sort = code.b, self.sort
        n, tiles, size = code.integer(sort.length), code.integer(self.tiles), code.integer(4 << digit[2])
        counts = code.scratch(self.counts)
        iterator, along = row_iterator(code, sort) if source is None else (None, {})
        arrays = None if source is None else self._arrays(code, source)
        with b.loop(code.begin, code.end) as unit:
            row, tile = b.div(unit, tiles), b.rem(unit, tiles)
            base = b.mul(row, n)
            own = b.at(counts, b.mul(unit, size))
            first = b.mul(tile, self.tile)
            start = i64(0)
            if iterator is not None:
                iterator.start(row)
                start = iterator.pointers()[X]
            with b.loop(first, b.min(b.add(first, self.tile), n)) as i:
                if arrays is None:
                    words, at = keys.load(b.at(start, b.mul(i, along[X]))), i
                else:
                    place = b.add(base, i)
                    words = keys.load(b.at(arrays[0], b.mul(place, sort.kind.itemsize)))
                    at = code.u32(arrays[1], place) if sort.indexed else i
                yield base, at, words, keys.digit(keys.keys(words), *digit), own

    def _count(self, source: int | None, digit: tuple[int, int, int]) -> Launch:
        code = self._code()
        b, keys = code.b, KeyCode(code.b, self.sort)
        counts, each = code.scratch(self.counts), code.integer(1 << digit[2])
        with b.loop(b.mul(code.begin, each), b.mul(code.end, each)) as i:
            code.set_u32(counts, i, i64(0))
        with self._of_tiles(code, keys, source, digit) as (_, _, _, at, own):
            code.set_u32(own, at, b.add(code.u32(own, at), i64(1)))
        return code.step("count", self.sort.rows * self.tiles, self.tile * 1.0)

    def _running_sum(self, digit: tuple[int, int, int]) -> Launch:
        """The counts of smaller digits, and of the same digit in tiles before: where a tile's elements of a digit go."""
        code = self._code()
        b = code.b
        each, tiles = code.integer(1 << digit[2]), code.integer(self.tiles)
        with b.loop(code.begin, code.end) as row:
            counts = b.at(code.scratch(self.counts), b.mul(b.mul(row, b.mul(each, tiles)), 4))
            total = b.variable(i64(0))
            with b.loop(0, each) as d, b.loop(0, tiles) as tile:
                at = b.add(b.mul(tile, each), d)
                count = code.u32(counts, at)
                code.set_u32(counts, at, total.get())
                total.set(b.add(total.get(), count))
        return code.step("running sum", self.sort.rows, float(self.tiles << digit[2]))

    def _move(self, source: int | None, into: int, digit: tuple[int, int, int]) -> Launch:
        code = self._code()
        b, keys = code.b, KeyCode(code.b, self.sort)
        elements, numbers = self._arrays(code, into)
        with self._of_tiles(code, keys, source, digit) as (base, at, words, d, own):
            place = code.u32(own, d)
            code.set_u32(own, d, b.add(place, i64(1)))
            to = b.add(base, place)
            keys.store(words, b.at(elements, b.mul(to, self.sort.kind.itemsize)))
            if self.sort.indexed:
                code.set_u32(numbers, to, at)
        return code.step("move", self.sort.rows * self.tiles, self.tile * 2.0)

    def _results(self, which: int) -> Launch:
        code = self._code()
        b, sort, keys = code.b, self.sort, KeyCode(code.b, self.sort)
        n, tiles = code.integer(sort.length), code.integer(self.tiles)
        first, last = code.integer(sort.first), code.integer(sort.first + sort.count)
        elements, numbers = self._arrays(code, which)
        iterator, along = row_iterator(code, sort)
        with b.loop(code.begin, code.end) as unit:
            row, tile = b.div(unit, tiles), b.rem(unit, tiles)
            base, start = b.mul(row, n), b.mul(tile, self.tile)
            iterator.start(row)
            pointers = iterator.pointers()
            stop = b.min(b.add(start, self.tile), n)
            with b.loop(code.maximum(start, first), b.min(stop, last)) as i:
                place, to = b.add(base, i), b.sub(i, first)
                if sort.values is not None:
                    words = keys.load(b.at(elements, b.mul(place, sort.kind.itemsize)))
                    keys.store(words, b.at(pointers[VALUES], b.mul(to, along[VALUES])))
                if sort.indices is not None:
                    at = b.at(pointers[INDICES], b.mul(to, along[INDICES]))
                    b.store(b.convert("trunc", code.u32(numbers, place), f"i{sort.indices.kind.bits}"), at, 4)
            if sort.ranks is not None:
                with b.loop(start, stop) as i:
                    to = b.at(pointers[RANKS], b.mul(code.u32(numbers, b.add(base, i)), along[RANKS]))
                    b.store(b.convert("trunc", i, f"i{sort.ranks.kind.bits}"), to, 4)
        return code.step("results", sort.rows * self.tiles, self.tile * 1.0)
