"""Elements of rows side by side on their way from memory, through shared memory.

A thread's chunk is 8 elements that lie a row of memory apart: loads of one element each, of which registers hold few. Here the
threads copy a region, of so many positions by the rows of a block, in pieces of up to 16 bytes that pass no registers, and
several regions are under way at a time (H200, 2026-11-22, 16384 x 16384 f32 along the first axis: cumsum 691 us with the next
block in registers, 595 with four on their way).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from baracuda.core.layout import round_up
from baracuda.formula.order import SCAN_CHUNK
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Frame, offset, piece, unravel
from baracuda.lowering.scan.cuda.rows import ScanKernel

#: Bytes of memory that all lanes of a warp should find in different banks.
_BANKS = 128
#: Bytes of the widest piece and of the narrowest that is copied without registers.
_WIDEST, _NARROWEST = 16, 4


def piece_width(frame: Frame, inputs: Sequence[int], across: int) -> int:
    """Neighbouring rows whose elements are copied at a time, in every input; 0 where one does not lie so."""
    nest = frame.nest
    last = len(nest.outer) - 1
    if not inputs or last < 0 or len(nest.inner) != 1:
        return 0
    width = across
    for i in inputs:
        operand = nest.operands[i]
        if operand.steps(last) != 1 or operand.gathered:
            return 0
        width = min(width, piece(operand, _WIDEST // operand.kind.itemsize, last, (*nest.outer, *nest.inner)))
    while nest.outer[last] % width:
        width //= 2
    return width if all(width * nest.operands[i].kind.itemsize >= _NARROWEST for i in inputs) else 0


@dataclass(frozen=True)
class _Array:
    """Where regions of an input are in shared memory: the first byte, and the bytes of a region."""

    start: int
    nbytes: int


class Staging:
    """Regions of `positions` by `across` rows, `stages` of them at a time, copied by `threads` threads.

    A region's chunks lie one after another, each element by element and an element's rows side by side. Where rows are few,
    chunks are apart, so that the threads of a warp find their elements in different banks.
    """

    def __init__(
        self, kernel: ScanKernel, inputs: Sequence[int], width: int, across: int, threads: int, positions: int, stages: int
    ) -> None:
        self.kernel, self.inputs, self.width = kernel, inputs, width
        self.across, self.threads, self.positions, self.stages = across, threads, positions, stages
        #: Threads that copy one position, and positions that all threads copy at a time.
        self.row_stride = across // width
        self.at_once = min(threads // self.row_stride, positions)
        self.arrays: dict[int, _Array] = {}
        self.nbytes = 0
        for i in inputs:
            size = kernel.nest.operands[i].kind.itemsize
            self.arrays[i] = _Array(self.nbytes, round_up(self._chunk(i) * positions // SCAN_CHUNK * size, _BANKS))
            self.nbytes += self.arrays[i].nbytes * stages

    def _chunk(self, i: int) -> int:
        """Elements from chunk to chunk of a region."""
        size = self.kernel.nest.operands[i].kind.itemsize
        return SCAN_CHUNK * self.across + (self.across if self.across * size < _BANKS else 0)

    def declare(self) -> list[str]:
        """Declares the shared memory, and which piece of a position this thread copies and of which position first."""
        return [
            "extern __shared__ __align__(128) unsigned char staged[];",
            f"const int piece = threadIdx.x % {self.row_stride} * {self.width}, line = threadIdx.x / {self.row_stride};",
        ]

    def enter(self) -> list[str]:
        """Declares from{i}: this thread's piece of the input at the first position in memory, given `first`, the block's first
        row."""
        frame, nest = self.kernel.frame, self.kernel.nest
        wide = nest.rows >= INDEX_LIMIT
        lines = [f"const i64 beside = first + piece; const bool copies = beside < {self.kernel.rows};"]
        lines += unravel("beside" if wide else "(unsigned)beside", nest.outer, frame.words, "c", wide=wide)
        for i in self.inputs:
            lines.append(f"const {frame.storage(i)}* const from{i} = p{i} + ({offset(self.kernel.outer_strides[i], 'c')});")
        return lines

    def copy(self, position: str, stage: str) -> list[str]:
        """Begins to copy the region that begins at a position in the scan to a stage, as one group of copies."""
        kernel, frame = self.kernel, self.kernel.frame
        start = f"{kernel.length} - {self.positions} - ({position})" if kernel.reverse else position
        lines = ["{", f"const {kernel.index} start = {start} + line;"]
        passes = self.positions // self.at_once
        copies = []
        for i in self.inputs:
            array, size, chunk = self.arrays[i], kernel.nest.operands[i].kind.itemsize, self._chunk(i)
            to = f"staged + {array.start} + ({stage}) * {array.nbytes}"
            step = kernel.inner_strides[i][0] or "0"
            lines += [
                f"unsigned char* const to{i} = {to} + (line / {SCAN_CHUNK} * {chunk}"
                f" + line % {SCAN_CHUNK} * {self.across} + piece) * {size};",
                f"const {frame.storage(i)}* const at{i} = from{i} + (i64)start * {step};",
            ]
            distance = f"j * {self.at_once // SCAN_CHUNK * chunk * size}"
            copies.append(f"copy_async<{self.width * size}>(to{i} + {distance}, at{i} + (i64)j * {self.at_once} * {step});")
        inside = f"copies && start + j * {self.at_once} >= 0 && start + j * {self.at_once} < {kernel.length}"
        if self.at_once * self.row_stride < self.threads:
            inside += f" && line < {self.at_once}"
        lines += ["#pragma unroll", f"for (int j = 0; j < {passes}; ++j) if ({inside}) {{", *copies, "}", "}"]
        return [*lines, "commit_copies();"]

    def arrive(self) -> list[str]:
        """Waits for the oldest region under way, of all threads."""
        return [f"wait_copies<{self.stages - 1}>();", "__syncthreads();"]

    def take(self, i: int, chunk: str, stage: str, to: str) -> list[str]:
        """Fills a vector with a chunk of a region, by its number in the scan's direction."""
        array, storage, step = self.arrays[i], self.kernel.frame.storage(i), self._chunk(i)
        number = f"({self.positions // SCAN_CHUNK - 1} - ({chunk}))" if self.kernel.reverse else f"({chunk})"
        start = f"(const {storage}*)(staged + {array.start} + ({stage}) * {array.nbytes}) + {number} * {step} + x"
        each = f"for (int v = 0; v < {SCAN_CHUNK}; ++v) {to}.v[v] = from[v * {self.across}];"
        return ["{", f"const {storage}* const from = {start};", "#pragma unroll", each, "}"]
