"""The factors of a product as tensor cores read them: in lines along k that begin at multiples of 16 bytes.

Most lie so already and are read where they are. A pass of its own writes the lines of other 8-bit integers into the workspace:

    [batch][row][k, filled with zeros up to a multiple of 16]

Bytes of that pass: a factor once read and once written.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from baracuda.core.layout import contiguous_strides, round_up
from baracuda.lowering.matmul.cuda.factors import lines_along_k
from baracuda.lowering.matmul.cuda.tensor_cores.prelude import WRITE_LINES
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Words, offset, piece, translation_unit, unravel
from baracuda.lowering.nest.problem import Operand
from baracuda.runtime.program import KernelSource, Launch

#: Bytes that one access moves.
PIECE = 16
#: Rows and steps of k that a block of the pass takes, and its threads.
_ROWS, _STEPS, _THREADS = 64, 128, 128


@dataclass(frozen=True)
class LinesFactor:
    """A factor in lines along k.

    Attributes
    ----------
    name, number
        What it is called in kernels, and its number among the program's addresses.
    operand
        Its layout over (*batch, row, k).
    batch
        Extents of the batch axes, 1 where it does not vary.
    rows, k
        Extents.
    start
        Where its lines begin in the workspace; None: they are read where the factor lies.
    """

    name: str
    number: int
    operand: Operand
    batch: tuple[int, ...]
    rows: int
    k: int
    start: int | None

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return self.operand.kind.itemsize

    @property
    def line(self) -> int:
        """Bytes of a line in the workspace."""
        return round_up(self.k, PIECE)

    @property
    def end(self) -> int:
        return 0 if self.start is None else self.start + round_up(prod(self.batch) * self.rows * self.line, 1024)

    @property
    def lines(self) -> Operand:
        """The layout of the lines over (*batch, row, k)."""
        if self.start is None:
            return self.operand
        strides = contiguous_strides((*self.batch, self.rows, self.line))
        kept = tuple(s if n > 1 else 0 for s, n in zip(strides, self.batch, strict=False))
        return Operand(self.operand.kind, (*kept, *strides[-2:]), 64)

    def first(self, words: Words, rows: str) -> tuple[str, str]:
        """The C++ address of the line of a row in the batch's coordinates, and the bytes from line to line."""
        rank, own = len(self.batch), self.lines
        base = f"W.w[{self.number}]" if self.start is None else f"W.w[{words.operands}] + {words.word(self.start)}"
        strides = [None if own.steps(i) == 0 else words.signed(own.strides[i] * self.size) for i in range(rank)]
        stride = words.signed(own.strides[rank] * self.size)
        return f"(const unsigned char*)({base}) + ({offset(strides, 'c')} + ({rows}) * {stride})", stride


def lines_factors(c: MatmulProblem, *, exchanged: bool) -> tuple[LinesFactor, LinesFactor] | None:
    """The factors of a product; None where one is not in lines and has no pass. `exchanged` says that they have changed places:
    the program's addresses have b's first."""
    found: list[LinesFactor] = []
    rank, end = len(c.batch), 0
    for left, extent in ((True, c.m), (False, c.n)):
        turned, batch = lines_along_k(c, left=left)
        width = PIECE // turned.kind.itemsize
        there = turned.steps(rank + 1) == 1 and piece(turned, width, rank + 1, (*c.batch, extent, c.k)) == width
        if (not there and width < PIECE) or c.k * turned.kind.itemsize >= INDEX_LIMIT:
            return None
        number = int(left is exchanged)
        found.append(LinesFactor("a" if left else "b", number, turned, batch, extent, c.k, None if there else end))
        end = max(end, found[-1].end)
    return found[0], found[1]


def lines_launches(factors: tuple[LinesFactor, ...], words: Words) -> tuple[Launch, ...]:
    """The launch that writes the lines of those factors that do not have them; none where all do."""
    written = [f for f in factors if f.start is not None]
    body = ["unsigned block = blockIdx.x;"]
    grid = 0
    for f in written:
        rank, o = len(f.batch), f.operand
        across, along = -(-f.k // _STEPS), -(-f.rows // _ROWS)
        blocks = prod(f.batch) * across * along
        grid += blocks
        strides = [None if o.steps(i) == 0 else words.signed(o.strides[i]) for i in range(rank)]
        row_stride, k_stride = ("(i64)1" if o.steps(rank + i) == 1 else words.signed(o.strides[rank + i]) for i in (0, 1))
        by_rows, vector = o.steps(rank + 1) != 1, 4
        if by_rows:
            vector = piece(o, 4, rank, (*f.batch, f.rows, f.k)) if o.steps(rank) == 1 else 1
        line = words.signed(f.line)
        body += [
            f"if (block < {words.unsigned(blocks)}) {{",
            f"const unsigned line = divide(block, {words.divisor(across)}), turn = block - line * {words.unsigned(across)};",
            f"const unsigned matrix = divide(line, {words.divisor(along)}), tile = line - matrix * {words.unsigned(along)};",
            *(unravel("matrix", f.batch, words, "c", wide=False) if rank else ()),
            f"const i64 row = (i64)tile * {_ROWS}, k = (i64)turn * {_STEPS}, rows = {words.signed(f.rows)};",
            f"write_lines<{str(by_rows).lower()}, {vector}>((const unsigned char*)W.w[{f.number}]"
            f" + ({offset(strides, 'c')} + row * {row_stride} + k * {k_stride}), {row_stride}, {k_stride}, rows - row, "
            f"{words.signed(f.k)} - k, k, (unsigned char*)(W.w[{words.operands}] + {words.word(f.start or 0)})"
            f" + ((matrix * rows + row) * {line} + k), {line}, {line} - k);",
            "return;",
            "}",
            f"block -= {words.unsigned(blocks)};",
        ]
    if not written:
        return ()
    return (Launch(KernelSource(translation_unit(words, body, _THREADS, WRITE_LINES)), (grid, 1, 1), _THREADS),)
