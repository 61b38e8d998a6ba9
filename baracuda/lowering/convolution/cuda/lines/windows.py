"""Lines of channels of a convolution's factors, and the windows that meet them.

Channels that lie side by side, in lines that begin at multiples of 16 bytes, are read where they are. A pass of its own writes
the lines of other factors into the workspace, filled with zeros up to a multiple of 16 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from baracuda.core.errors import UnsupportedError
from baracuda.core.layout import contiguous_strides, round_up
from baracuda.lowering.convolution.cuda.lines.prelude import WRITE_CHANNELS
from baracuda.lowering.convolution.cuda.windows import MOST, Windows, check_windows, positions, rows_of, weights
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.nest.cuda.kernel import Words, offset, translation_unit, unravel
from baracuda.lowering.nest.problem import Operand
from baracuda.runtime.program import KernelSource, Launch

#: Bytes that one access moves.
PIECE = 16
#: Rows and channels that a block of the pass takes, and its threads.
_TILE, _THREADS = 64, 256


@dataclass(frozen=True)
class ChannelLines:
    """A factor in lines of channels.

    Attributes
    ----------
    number
        Its number among the program's addresses.
    operand
        Its layout over (*batch, row, channel).
    batch, rows, channels
        Extents.
    start
        Where its lines begin in the workspace; None: they are read where the factor lies.
    """

    number: int
    operand: Operand
    batch: tuple[int, ...]
    rows: int
    channels: int
    start: int | None

    @property
    def line(self) -> int:
        """Elements of a line in the workspace."""
        return round_up(self.channels * self.operand.kind.itemsize, PIECE) // self.operand.kind.itemsize

    @property
    def end(self) -> int:
        if self.start is None:
            return 0
        return round_up(self.start + prod(self.batch) * self.rows * self.line * self.operand.kind.itemsize, 1024)

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes along (*batch, row)."""
        size = self.operand.kind.itemsize
        if self.start is None:
            return tuple(s * size for s in self.operand.strides[:-1])
        return tuple(s * size for s in contiguous_strides((*self.batch, self.rows, self.line))[:-1])

    def address(self, words: Words) -> str:
        """The C++ address of the first line."""
        own = f"W.w[{self.number}]" if self.start is None else f"W.w[{words.operands}] + {words.word(self.start)}"
        return f"(const unsigned char*)({own})"


def _in_place(o: Operand, extents: tuple[int, ...]) -> bool:
    """Whether the lines of an operand over (*batch, row, channel) are read where they are."""
    size = o.kind.itemsize
    steps = [s * size for s, n in zip(o.strides, extents, strict=False) if n > 1]
    side_by_side = o.steps(len(extents)) == 1 and o.alignment % PIECE == 0
    return side_by_side and all(s >= 0 and s % PIECE == 0 for s in steps)


@dataclass(frozen=True)
class LineWindows(Windows):
    """A convolution by lines of channels."""

    x: ChannelLines
    w: ChannelLines

    @property
    def bytes(self) -> int:
        """Of the channels of a tap."""
        return self.problem.channels * self.problem.x.kind.itemsize


def line_windows(p: ConvolutionProblem) -> LineWindows:
    """The windows of a convolution by lines of channels. Raises `UnsupportedError` as `check_windows` does."""
    check_windows(p)
    at, size = positions(p), p.x.kind.itemsize
    there = _in_place(at.operand, (*at.batch, at.rows))
    x = ChannelLines(0, at.operand, at.batch, at.rows, p.channels, None if there else 0)
    operand, taps = weights(p)
    w_there = _in_place(operand, (*taps, p.columns))
    w = ChannelLines(1, operand, taps, p.columns, p.channels, None if w_there else x.end)
    if there:
        extents = (p.batch, p.groups, *p.inputs)
        lines = tuple(s * size // PIECE if n > 1 else 0 for s, n in zip(p.x.strides, extents, strict=False))
        if sum(s * (n - 1) for s, n in zip(lines, extents, strict=True)) >= MOST:
            raise UnsupportedError(f"x of {extents}; expected fewer than {MOST} pieces of {PIECE} bytes")
    else:
        lines = tuple(n * (x.line * size // PIECE) for n in at.lines(at.rows)[0])
        if at.lines(at.rows)[1] * (x.line * size // PIECE) >= MOST:
            raise UnsupportedError(f"x of {p.inputs}; expected fewer than {MOST} pieces of {PIECE} bytes")
    return LineWindows(**vars(rows_of(p)), problem=p, lines=lines, x=x, w=w)


def channel_launches(factors: tuple[ChannelLines, ...], words: Words) -> tuple[Launch, ...]:
    """The launches that write the lines of those factors that are not read in place."""
    return tuple(_launch(f, words) for f in factors if f.start is not None)


def _launch(f: ChannelLines, words: Words) -> Launch:
    rank, o = len(f.batch), f.operand
    element = {1: "unsigned char", 2: "unsigned short"}[o.kind.itemsize]
    along, across = -(-f.rows // _TILE), -(-f.channels // _TILE)
    strides = [words.signed(o.strides[i]) for i in range(rank)]
    row_stride, channel_stride = ("(i64)1" if o.steps(rank + i) == 1 else words.signed(o.strides[rank + i]) for i in (0, 1))
    by_rows, line = o.steps(rank + 1) != 1, words.signed(f.line)
    body = [
        f"const unsigned tile = divide(blockIdx.x, {words.divisor(across)});",
        f"const unsigned turn = blockIdx.x - tile * {words.unsigned(across)};",
        f"const unsigned matrix = divide(tile, {words.divisor(along)});",
        *unravel("matrix", f.batch, words, "c", wide=False),
        f"const i64 row = (i64)(tile - matrix * {words.unsigned(along)}) * {_TILE}, channel = (i64)turn * {_TILE};",
        f"const i64 rows = {words.signed(f.rows)};",
        f"write_channels<{str(by_rows).lower()}>((const {element}*)W.w[{f.number}]"
        f" + ({offset(strides, 'c')} + row * {row_stride} + channel * {channel_stride}), {row_stride}, {channel_stride}, "
        f"rows - row, {words.signed(f.channels)} - channel, ({element}*)(W.w[{words.operands}] + {words.word(f.start or 0)})"
        f" + ((matrix * rows + row) * {line} + channel), {line}, {line} - channel);",
    ]
    grid = prod(f.batch) * along * across
    return Launch(KernelSource(translation_unit(words, body, _THREADS, WRITE_CHANNELS)), (grid, 1, 1), _THREADS)
