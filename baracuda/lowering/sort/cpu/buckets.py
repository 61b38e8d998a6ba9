"""Few long rows in order on a CPU with vectors of 512 bits, by threads together: words in tiles, each cut into buckets where it
lies in the cache; then bucket by bucket, collected from all tiles, in order by quicksort."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from baracuda.codegen.llvm.ir import Value, i64
from baracuda.core.layout import round_up
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.lowering.sort.cpu.code import Integers, StepBuilder
from baracuda.lowering.sort.cpu.quicksort import Quicksort
from baracuda.lowering.sort.cpu.rows import row_iterator
from baracuda.lowering.sort.cpu.words import RowWords, WordType
from baracuda.lowering.sort.problem import Sort, X
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

#: How often a tile is cut in two, an even number, words of a tile, and vectors of the sample that says where.
_CUTS, _TILE, _SAMPLE = 4, 1 << 14, 16
_BUCKETS = 1 << _CUTS
#: Numbers that a tile leaves: where its buckets begin and the last ends, its NaN and its negative zeros.
_LEFT = _BUCKETS + 3


class Buckets:
    """The steps of a problem. In the workspace are the words of all rows twice, what the tiles leave, and for each row the words
    that buckets begin with."""

    def __init__(self, sort: Sort, integers: Integers, target: CpuTarget) -> None:
        self.sort, self.integers, self.target = sort, integers, target
        self.word = WordType.of(sort)
        self.tiles = -(-sort.length // _TILE)
        self.array = round_up(sort.rows * sort.length * self.word.size, 64) + 64
        self.left = 2 * self.array
        self.cuts = self.left + round_up(4 * sort.rows * self.tiles * _LEFT, 64)
        self.nbytes = self.cuts + sort.rows * _SAMPLE * 64

    def steps(self) -> list[Launch]:
        launches = [self._sampled(), self._parted(), self._collected(), self._ordered()]
        return [*launches, self._again()] if not self.sort.indexed and self.sort.kind.is_float else launches

    @contextmanager
    def _units(self, each: int) -> Iterator[tuple[StepBuilder, RowWords, StridedIterator, Value, Value]]:
        """Code for units of rows * each: the words of rows, what walks them, the unit's row and its number in there."""
        code = StepBuilder(self.integers, self.target)
        b = code.b
        iterator, along = row_iterator(code, self.sort)
        row, size = RowWords(code, self.sort, along), code.integer(each)
        with b.loop(code.begin, code.end) as unit:
            number = b.div(unit, size)
            iterator.start(number)
            yield code, row, iterator, number, b.rem(unit, size)

    def _words(self, code: StepBuilder, row: RowWords, number: Value, which: int) -> Value:
        """The words of a row, the first or the second time."""
        b = code.b
        return b.at(code.scratch(which * self.array), b.mul(b.mul(number, row.n), self.word.size))

    def _of_tile(self, code: StepBuilder, number: Value, tile: Value) -> Value:
        """The numbers that a tile leaves."""
        b = code.b
        unit = b.add(b.mul(number, code.integer(self.tiles)), tile)
        return b.at(code.scratch(self.left), b.mul(unit, 4 * _LEFT))

    def _cut_words(self, code: StepBuilder, number: Value) -> Value:
        return code.b.at(code.scratch(self.cuts), code.b.mul(number, _SAMPLE * 64))

    def _sampled(self) -> Launch:
        """Words from all over a row, in order."""
        size, count = self.word.size, _SAMPLE * self.word.lanes
        with self._units(1) as (code, row, iterator, number, _):
            b = code.b
            sample, place = self._cut_words(code, number), b.array("i8", size)
            x = iterator.pointers()[X]
            step = b.div(row.n, count)
            with b.loop(0, count) as i:
                at = b.mul(i, step)
                row.read(x, b.at(place, b.sub(i64(0), b.mul(at, size))), at, b.add(at, i64(1)))
                b.store(b.load(self.word.type, place, size), b.at(sample, b.mul(i, size)), size)
            Quicksort(b, self.word, sample, sample).leaf_in_order(sample, i64(0), i64(count))
        return code.step("sample", self.sort.rows, 3.0 * count)

    def _parted(self) -> Launch:
        """The words of tiles, in their places, cut into buckets."""
        size, each = self.word.size, _SAMPLE * self.word.lanes // _BUCKETS
        with self._units(self.tiles) as (code, row, iterator, number, tile):
            b = code.b
            cuts, left = self._cut_words(code, number), self._of_tile(code, number, tile)
            low = b.mul(tile, _TILE)
            high = b.min(b.add(low, _TILE), row.n)
            arrays = [self._words(code, row, number, which) for which in (0, 1)]
            row.read(iterator.pointers()[X], arrays[0], low, high)
            code.set_u32(left, i64(0), low)
            code.set_u32(left, i64(_BUCKETS), high)
            code.set_u32(left, i64(_BUCKETS + 1), row.nans.get())
            code.set_u32(left, i64(_BUCKETS + 2), row.negative.get())
            for cut in range(_CUTS):
                sort = Quicksort(b, self.word, arrays[0], arrays[1])
                width = _BUCKETS >> cut
                with b.loop(0, _BUCKETS, width) as k:
                    middle = b.add(k, width // 2)
                    pivot = b.load(self.word.type, b.at(cuts, b.mul(middle, each * size)), size)
                    ends = code.u32(left, k), code.u32(left, b.add(k, width))
                    code.set_u32(left, middle, sort.cut(arrays[cut % 2], arrays[1 - cut % 2], *ends, pivot, "ult"))
        return code.step("parts", self.sort.rows * self.tiles, _TILE * (1.0 + 0.2 * _CUTS))

    def _start(self, code: StepBuilder, number: Value, bucket: Value) -> Value:
        """The place in the row where a bucket begins."""
        b = code.b
        start = b.variable(i64(0))
        with b.loop(0, code.integer(self.tiles)) as tile:
            before = b.sub(code.u32(self._of_tile(code, number, tile), bucket), b.mul(tile, _TILE))
            start.set(b.add(start.get(), before))
        return start.get()

    def _collected(self) -> Launch:
        """Each bucket's words, one tile's after another's."""
        size = self.word.size
        with self._units(_BUCKETS) as (code, row, _, number, bucket):
            b = code.b
            source, target = (self._words(code, row, number, which) for which in (0, 1))
            to = b.variable(self._start(code, number, bucket))
            with b.loop(0, code.integer(self.tiles)) as tile:
                left = self._of_tile(code, number, tile)
                first, last = code.u32(left, bucket), code.u32(left, b.add(bucket, i64(1)))
                count = b.sub(last, first)
                pointers = b.at(target, b.mul(to.get(), size)), b.at(source, b.mul(first, size))
                b.call("void", "llvm.memcpy.p0.p0.i64", *pointers, b.mul(count, size), Value("i1", "false"))
                to.set(b.add(to.get(), count))
        return code.step("collected", self.sort.rows * _BUCKETS, self.sort.length / _BUCKETS * 0.5)

    def _ordered(self) -> Launch:
        """Each bucket in order, and what is wanted of it."""
        size, length = self.word.size, self.sort.length / _BUCKETS
        with self._units(_BUCKETS) as (code, row, iterator, number, bucket):
            b = code.b
            low, high = (self._start(code, number, k) for k in (bucket, b.add(bucket, i64(1))))
            words, other = (self._words(code, row, number, which) for which in (1, 0))
            at = b.mul(low, size)
            wanted = None if self.sort.ranks is not None else (b.sub(row.first, low), b.sub(row.last, low))
            Quicksort(b, self.word, b.at(words, at), b.at(other, at), wanted).run(b.sub(high, low))
            row.write(iterator.pointers(), words, low, high)
        return code.step("buckets", self.sort.rows * _BUCKETS, length * (2.0 + 0.3 * int(length).bit_length()))

    def _again(self) -> Launch:
        with self._units(1) as (code, row, iterator, number, _):
            b = code.b
            counts = [b.variable(i64(0)) for _ in range(2)]
            with b.loop(0, code.integer(self.tiles)) as tile:
                left = self._of_tile(code, number, tile)
                for k, count in enumerate(counts):
                    count.set(b.add(count.get(), code.u32(left, i64(_BUCKETS + 1 + k))))
            row.again(iterator.pointers(), counts[0].get(), counts[1].get())
        return code.step("again", self.sort.rows, 1.0 * self.tiles)
