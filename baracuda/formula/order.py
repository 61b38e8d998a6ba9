"""The canonical order of reductions and scans: contract rules 4 and 5, and the constants they are made of.

**Reductions.** A sum of n elements, numbered 0 to n-1 along the reduced axes in logical order (last axis fastest), is taken so:

1. the elements are cut into contiguous *segments* of `SEGMENT`;
2. in a segment, element j goes to *lane* j mod `LANES`; a lane adds its elements in rising order, starting from its first;
3. lanes are combined in adjacent pairs (0 with 1, 2 with 3, ...), the results again in adjacent pairs, until one is left;
4. the segments' results are combined in adjacent pairs in the same way; one without a partner goes up unchanged.

Missing elements are the operation's identity, and the identity of addition is -0.0 (x + -0.0 is x for every x), so padding
a row changes no bit. The order depends only on n: not on which axes are reduced, on strides, or on the device. So a
softmax over axis 0 has the bits of the softmax over the last axis of the transpose.

A product is taken in the same order. Maximum and minimum (IEEE 754-2019: NaN wins, +0 is above -0), the bitwise operations
and everything on integers do not depend on order.

**Scans.** The running combination under an associative operation (+) of n elements, numbered from 0 in the direction of the
scan, is taken so:

1. the elements are cut into contiguous *chunks* of `SCAN_CHUNK`, *blocks* of `SCAN_BLOCK`, *tiles* of `SCAN_TILE` and *spans*
   of `SCAN_SPAN` tiles;
2. a chunk is combined in rising order, starting from its first element, which gives L for each element;
3. the totals s_0 ... s_31 of a block's chunks are combined in five steps d = 1, 2, 4, 8, 16: s_j becomes s_(j-d) (+) s_j for
   all j >= d at once (Kogge and Stone); then P is s_(j-1), all of the block before chunk j;
4. the totals of the blocks of a tile, of the tiles of a span and of the spans of a row are combined in rising order, each
   from the first one of what it lies in: B, T and S are all of the tile before the block, all of the span before the tile,
   and all of the row before the span;
5. the result is (((S (+) T) (+) B) (+) P) (+) L. What there is not, because the element lies in the first chunk, block, tile
   or span, is left out. In an exclusive scan L is that of the element before in the chunk; where there is nothing at all, the
   result is what the scan begins with.

Again the order depends on n and the direction alone.

**Pooled sums.** Where all that comes out of rows of `POOLED_LENGTH` elements or more is made of reductions of their elements and
of sums about a centre that such reductions give (a variance, log(sum(exp))), a row is cut into the blocks of `pool_block`. Each
is reduced as a row of its own, about its own centre, in the order above; then each reduction is taken over the blocks' results,
in that order again, with the sums moved to the centre of the whole (`baracuda.formula.pooling`). The blocks depend on the extents
of the reduced axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from baracuda.core.elements import Category, ElementKind

#: Elements to a segment.
SEGMENT = 1024
#: Lanes to a segment; each adds SEGMENT / LANES elements one after another.
LANES = 128
#: Elements one lane adds in a full segment.
CHAIN = SEGMENT // LANES

#: Elements to a chunk, a block and a tile of a scan, and tiles to a span.
SCAN_CHUNK, SCAN_BLOCK, SCAN_TILE, SCAN_SPAN = 8, 256, 4096, 64

#: The elements of the shortest row that pooled sums cut into blocks, and about how many a block has: of very long rows more.
POOLED_LENGTH, POOLED_BLOCK = 16384, 1024
#: The elements of the longest row whose blocks have `POOLED_BLOCK`; those of longer ones have twice as many.
POOLED_LONG = 1 << 24

#: The primitive that combines two values.
COMBINE = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "and": "and", "or": "or", "xor": "xor"}


def identity(op: str, kind: ElementKind) -> float:
    """What a missing element counts as: combined with x, it gives x, bit for bit."""
    if kind.is_float:
        return {"sum": -0.0, "prod": 1.0, "max": float("-inf"), "min": float("inf")}[op]
    signed = kind.category is Category.SIGNED
    low, high = (-(1 << (kind.bits - 1)), (1 << (kind.bits - 1)) - 1) if signed else (0, (1 << kind.bits) - 1)
    return {"sum": 0, "prod": 1, "max": low, "min": high, "and": -1 if signed else high, "or": 0, "xor": 0}[op]


def empty(op: str, kind: ElementKind) -> float:
    """The result over no elements at all: the identity, but +0.0 for a sum."""
    return 0.0 if kind.is_float and op == "sum" else identity(op, kind)


def segments(n: int) -> int:
    """How many segments a row of n elements has."""
    return -(-n // SEGMENT)


def pool_block(extents: Sequence[int]) -> tuple[int, int]:
    """The axis that pooled sums cut and the elements of that axis to a block: a block is these, with all of the axes behind.

    It has half to twice the elements wanted, as near to them as blocks of one length allow, a multiple of 8 if any is; where no
    length divides the axis, at most those wanted, and the last block of the axis has fewer.
    """
    wanted = POOLED_BLOCK if prod(extents) <= POOLED_LONG else 2 * POOLED_BLOCK
    axis, behind = len(extents) - 1, 1
    while axis and behind * extents[axis] < wanted:
        behind *= extents[axis]
        axis -= 1
    fitting = [n for n in range(1, min(extents[axis], 2 * wanted // behind) + 1) if not extents[axis] % n]
    fitting = [n for n in fitting if 2 * n * behind >= wanted]
    if not fitting:
        return axis, max(1, min(extents[axis], wanted // behind))

    def misfit(n: int) -> tuple[bool, float]:
        size = n * behind
        return size % 8 != 0, max(size / wanted, wanted / size)

    return axis, min(fitting, key=misfit)
