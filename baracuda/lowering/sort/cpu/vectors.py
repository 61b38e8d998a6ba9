"""Rows in order on a CPU with vectors of 512 bits, one after another on each thread."""

from __future__ import annotations

from baracuda.codegen.llvm.ir import i64
from baracuda.core.layout import round_up
from baracuda.lowering.sort.cpu.code import Integers, StepBuilder
from baracuda.lowering.sort.cpu.quicksort import Quicksort
from baracuda.lowering.sort.cpu.rows import row_iterator
from baracuda.lowering.sort.cpu.words import RowWords, WordType
from baracuda.lowering.sort.problem import Sort, X
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

#: Memory that all threads have together, at least and at most so many.
_MEMORY, _LEAST_SLOTS, _MOST_SLOTS = 1 << 26, 4, 64


class VectorRows:
    """The step that orders rows. Each of `slots` units of work takes its share of them, in two arrays of words of its own."""

    def __init__(self, sort: Sort, integers: Integers, target: CpuTarget) -> None:
        self.sort, self.integers, self.target = sort, integers, target
        self.array = round_up(sort.length * WordType.of(sort).size, 64)
        self.slots = min(sort.rows, max(_LEAST_SLOTS, min(_MOST_SLOTS, _MEMORY // max(2 * self.array, 1))))
        self.nbytes = self.slots * 2 * self.array

    def step(self) -> Launch:
        code = StepBuilder(self.integers, self.target)
        b, sort = code.b, self.sort
        rows, slots = code.integer(sort.rows), code.integer(self.slots)
        iterator, along = row_iterator(code, sort)
        scratch, size = code.scratch(0), code.integer(self.array)
        row = RowWords(code, sort, along)
        # only parts with a place that is wanted are put in order
        wanted = None if sort.ranks is not None else (row.first, row.last)
        with b.loop(code.begin, code.end) as slot:
            words = b.at(scratch, b.mul(slot, b.mul(size, 2)))
            first, last = (b.div(b.mul(s, rows), slots) for s in (slot, b.add(slot, i64(1))))
            iterator.start(first)
            with b.loop(first, last):
                pointers = iterator.pointers()
                row.read(pointers[X], words, i64(0), row.n)
                Quicksort(b, row.word, words, b.at(words, size), wanted).run(row.n)
                row.write(pointers, words, i64(0), row.n)
                if row.has_twins:
                    row.again(pointers, row.nans.get(), row.negative.get())
                iterator.advance()
        per_row = sort.length * (2.0 + 0.3 * max(sort.length, 2).bit_length())
        return code.step("vectors", self.slots, sort.rows / max(self.slots, 1) * per_row)
