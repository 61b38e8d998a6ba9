"""Where the integers of both factors and their scales lie in the workspace, for every device.

x: the integers over (b, g, *i, c), the scales over (b, g, *i, block). w: the integers over (g, *t, c, n), the scales over
(g, *t, block, n). All are f32: an integer of 23 bits is one exactly, and an element that is not finite is kept as a NaN, so that
a sum it takes part in is one, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from baracuda.core.layout import contiguous_strides, round_up
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.nest.problem import Operand

_ALIGNMENT = 256
#: The weights of a tap have room for a multiple of so many channels; those beyond the last one are 0.
FILLED = 16


@dataclass(frozen=True)
class Quantized:
    """One factor: rows of `channels` elements that are turned into integers a block at a time.

    Attributes
    ----------
    operand
        Its number among the problem's.
    source
        The operand.
    rows
        The extents of the axes that count rows.
    source_rows, integer_rows, scale_rows
        The strides along them, in elements.
    source_channel, integer_channel, scale_block
        The strides along channels, and of a block's scale.
    integers, scales
        The bytes of the workspace where they begin.
    filled
        How many channels there is room for, where those beyond the last one are to be 0.
    """

    operand: int
    source: Operand
    rows: tuple[int, ...]
    source_rows: tuple[int, ...]
    integer_rows: tuple[int, ...]
    scale_rows: tuple[int, ...]
    source_channel: int
    integer_channel: int
    scale_block: int
    integers: int
    scales: int
    filled: int = 0

    @property
    def count(self) -> int:
        return prod(self.rows)


def quantized(p: ConvolutionProblem) -> tuple[Quantized, Quantized, int]:
    """The integers of x and of w, and the bytes that they take."""
    rank, c, blocks, n = p.rank, p.channels, p.blocks, p.columns
    rows = (p.batch, p.groups, *p.inputs)
    outer = contiguous_strides(rows)
    at, places = 0, []
    w_rows = (p.groups, *p.taps, n)
    filled = -(-c // FILLED) * FILLED
    for count in (prod(rows) * c, prod(rows) * blocks, prod(w_rows) * filled, prod(w_rows) * blocks):
        places.append(at)
        at += round_up(4 * count, _ALIGNMENT)
    strides = p.x.strides
    x = Quantized(
        0, p.x, rows, strides[: 2 + rank], tuple(s * c for s in outer), tuple(s * blocks for s in outer), strides[-1], 1, 1,
        places[0], places[1],
    )  # fmt: skip
    names = p.w_strides()
    source = (names["g"], *(names[f"t{a}"] for a in p.spatial), names["n"])
    taps = contiguous_strides((p.groups, *p.taps))
    w = Quantized(
        1, p.w, w_rows, source, (*(s * filled * n for s in taps), 1), (*(s * blocks * n for s in taps), 1), names["c"], n, n,
        places[2], places[3], filled,
    )  # fmt: skip
    return x, w, at


def integer_strides(p: ConvolutionProblem) -> tuple[dict[str, int], dict[str, int], dict[str, int], dict[str, int]]:
    """By the name of an axis the strides of x's integers and scales and of w's; `c` of scales is that of blocks."""
    x, w, _ = quantized(p)
    x_names = ["b", "g", *(f"i{a}" for a in p.spatial)]
    w_names = ["g", *(f"t{a}" for a in p.spatial), "n"]
    return (
        dict(zip(x_names, x.integer_rows, strict=True)) | {"c": x.integer_channel},
        dict(zip(x_names, x.scale_rows, strict=True)) | {"c": x.scale_block},
        dict(zip(w_names, w.integer_rows, strict=True)) | {"c": w.integer_channel},
        dict(zip(w_names, w.scale_rows, strict=True)) | {"c": w.scale_block},
    )
