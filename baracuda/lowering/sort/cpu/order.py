"""A stable order by key on the CPU: radix, least significant digit first, each pass in tiles that threads share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from baracuda.codegen.llvm.ir import Value, i64
from baracuda.lowering.scatter.problem import Arrays, Keys, passes
from baracuda.lowering.sort.cpu.code import BLOCK, TILE, Integers, KeyReader, StepBuilder
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

#: Bits of a digit at most: its histogram still fits into the first-level cache.
_MOST_BITS = 11


def digits(keys: Keys) -> list[tuple[int, int]]:
    """The digits that the CPU sorts by."""
    return passes(keys.bits, _MOST_BITS)


def tiles(keys: Keys) -> int:
    return -(-keys.positions // TILE)


class RadixSort:
    """The steps that put the sorted entries and the starts of the runs into the workspace."""

    def __init__(self, keys: Keys, index: int, arrays: Arrays, integers: Integers, target: CpuTarget) -> None:
        self.keys, self.index, self.arrays = keys, index, arrays
        self.integers, self.target = integers, target

    def _code(self) -> StepBuilder:
        return StepBuilder(self.integers, self.target)

    def steps(self) -> list[Launch]:
        """Histogram, its running sum, and the move, for each digit; then the starts."""
        launches: list[Launch] = []
        places = digits(self.keys)
        if self.keys.positions:
            for i, (shift, bits) in enumerate(places):
                passes_left = len(places) - 1 - i  # so that the last pass ends in the first array
                source = None if i == 0 else self.arrays.entries[(passes_left + 1) % 2]
                launches += [
                    self._histogram(source, shift, bits),
                    self._running_sum(bits),
                    self._move(source, self.arrays.entries[passes_left % 2], shift, bits),
                ]
        return [*launches, self._starts()]

    @contextmanager
    def _tile_positions(
        self, code: StepBuilder, source: int | None, shift: int, bits: int
    ) -> Iterator[tuple[Value, Value, Value]]:
        """For each position of the units' tiles: its entry, its digit, and the histogram of its tile."""
        b = code.b
        n, mask = code.integer(self.keys.positions), code.integer((1 << bits) - 1)
        counts, size = code.scratch(self.arrays.counts), code.integer(4 << bits)
        places = code.integer(shift if source is None else 32 + shift)
        reader = KeyReader(code, self.keys, self.index) if source is None else None
        entries = None if source is None else code.scratch(source)
        with b.loop(code.begin, code.end) as tile:
            histogram = b.at(counts, b.mul(tile, size))
            first = b.mul(tile, TILE)
            if reader is not None:
                reader.start(first)
            with b.loop(first, b.min(b.add(first, TILE), n)) as p:
                if reader is not None:
                    key = reader.get()
                    yield b.or_(b.shl(key, 32), p), b.and_(b.shr(key, places), mask), histogram
                    reader.advance()
                else:
                    assert entries is not None
                    entry = code.entry(entries, p)
                    yield entry, b.and_(b.shr(entry, places), mask), histogram

    def _histogram(self, source: int | None, shift: int, bits: int) -> Launch:
        code = self._code()
        b = code.b
        counts, each = code.scratch(self.arrays.counts), code.integer(1 << bits)
        with b.loop(b.mul(code.begin, each), b.mul(code.end, each)) as i:
            code.set_u32(counts, i, i64(0))
        with self._tile_positions(code, source, shift, bits) as (_, digit, histogram):
            code.set_u32(histogram, digit, b.add(code.u32(histogram, digit), i64(1)))
        return code.step("histogram", tiles(self.keys), TILE * 1.0)

    def _running_sum(self, bits: int) -> Launch:
        """The counts of smaller digits, and of the same digit in tiles before: where a tile's entries of a digit go."""
        code = self._code()
        b = code.b
        counts, each, rows = code.scratch(self.arrays.counts), code.integer(1 << bits), code.integer(tiles(self.keys))
        total = b.variable(i64(0))
        with b.loop(0, each) as digit, b.loop(0, rows) as tile:
            at = b.add(b.mul(tile, each), digit)
            count = code.u32(counts, at)
            code.set_u32(counts, at, total.get())
            total.set(b.add(total.get(), count))
        return code.step("running sum", 1, 1.0)

    def _move(self, source: int | None, target: int, shift: int, bits: int) -> Launch:
        code = self._code()
        b = code.b
        to = code.scratch(target)
        with self._tile_positions(code, source, shift, bits) as (entry, digit, next_):
            place = code.u32(next_, digit)
            code.set_u32(next_, digit, b.add(place, i64(1)))
            b.store(entry, b.at(to, b.mul(place, 8)), 8)
        return code.step("move", tiles(self.keys), TILE * 2.0)

    def _starts(self) -> Launch:
        """For each key the first place in the sorted entries with that key or a larger one."""
        code = self._code()
        b = code.b
        count = self.keys.count + 1
        entries, starts = code.scratch(self.arrays.entries[0]), code.scratch(self.arrays.starts)
        n, all_ = code.integer(self.keys.positions), code.integer(count)

        def first_of(key: Value) -> Value:
            low, high = b.variable(i64(0)), b.variable(n)
            with b.while_(lambda: b.less(low.get(), high.get())):
                middle = b.shr(b.add(low.get(), high.get()), 1)
                below = b.less(code.key(code.entry(entries, middle)), key)
                low.set(b.select(below, b.add(middle, i64(1)), low.get()))
                high.set(b.select(below, high.get(), middle))
            return low.get()

        with b.loop(code.begin, code.end) as block:
            first = b.mul(block, BLOCK)
            last = b.sub(b.min(b.add(first, BLOCK), all_), i64(1))
            begin = first_of(first)
            with b.loop(first, b.add(last, 1)) as key:
                code.set_u32(starts, key, begin)
            # an entry ends the run of its key as far as is known, so that nothing depends on what the keys are
            with b.loop(begin, first_of(last)) as i:
                code.set_u32(starts, b.add(code.key(code.entry(entries, i)), i64(1)), b.add(i, 1))
            reached = b.variable(begin)
            with b.loop(first, b.add(last, 1)) as key:
                reached.set(code.maximum(reached.get(), code.u32(starts, key)))
                code.set_u32(starts, key, reached.get())
        return code.step("starts", -(-count // BLOCK), BLOCK * (1.0 + self.keys.positions / count))
