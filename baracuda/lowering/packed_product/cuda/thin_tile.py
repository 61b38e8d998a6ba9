"""The tile of products of few rows of x with packed weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.lowering.packed_product.problem import LONGEST, PackedProduct

#: Rows of an instruction, which are rows of weights.
COLUMNS = 16
#: Words from the scales of one block to those of the next in shared memory.
PITCH = COLUMNS + 1
#: Rows of x of a tile at most, warps of a block of threads, and spans of codes that each has on their way at most.
MOST, WARPS, _STAGES = 16, 16, 8
#: Rows of x up to which twice as many warps have enough registers each.
_FEWEST = 2
#: Spans that a warp takes at most where k is a single chunk.
_MOST_TURNS = 32
#: Bytes of a span of a row of x: two digits.
SPAN = 2 * LONGEST


@dataclass(frozen=True)
class ThinTile:
    """What a block of threads takes: `bm` rows of x, and 16 rows of weights for each of its `groups` of `ways` warps. Each of
    these takes `turns` spans of a chunk, and has `stages` spans of codes in shared memory; a span has `per_span` blocks.
    `single`: there is only one chunk."""

    bits: int
    per_span: int
    bm: int
    groups: int
    ways: int
    turns: int
    stages: int = 2
    shifts: bool = False
    single: bool = False

    @property
    def bn(self) -> int:
        return self.groups * COLUMNS

    @property
    def threads(self) -> int:
        return 32 * self.groups * self.ways

    @property
    def column_tiles(self) -> int:
        """Instructions for the digits of all rows of x."""
        return -(-self.bm * self.per_span // 4)

    @property
    def code_bytes(self) -> int:
        """The codes of 16 rows in a span."""
        return COLUMNS * LONGEST * self.bits // 8

    @property
    def spans(self) -> int:
        """Spans of a chunk."""
        return self.ways * self.turns

    @property
    def blocks(self) -> int:
        """Blocks of a chunk."""
        return self.spans * self.per_span

    @property
    def ring_bytes(self) -> int:
        return self.groups * self.ways * self.stages * self.code_bytes

    # What is shared of a chunk, and where: x's digits, S and sums twice, so that one is written while another is read; scales
    # thrice, as they are written before those of the chunk before were read by all. Of a single chunk all is there once.

    @property
    def copies(self) -> int:
        return 1 if self.single else 2

    @property
    def x_bytes(self) -> int:
        return self.bm * self.spans * SPAN

    @property
    def s_at(self) -> int:
        return self.ring_bytes + self.copies * self.x_bytes

    @property
    def s_bytes(self) -> int:
        """Of S and the sums of integers."""
        return 8 * self.bm * self.blocks

    @property
    def exchange_at(self) -> int:
        return self.s_at + self.copies * self.s_bytes

    @property
    def products(self) -> int:
        """F * S of a group."""
        return self.blocks * COLUMNS * self.bm

    @property
    def factors(self) -> int:
        """Scales of a group."""
        return self.blocks * PITCH

    @property
    def factors_at(self) -> int:
        return self.copies * self.products

    @property
    def zeros_at(self) -> int:
        return self.factors_at + (1 if self.single else 3) * self.factors

    @property
    def exchange_words(self) -> int:
        """Of a group: products, scales, zero points."""
        return self.zeros_at + (self.copies * self.factors if self.shifts else 0)

    @property
    def shared(self) -> int:
        return self.exchange_at + self.groups * self.exchange_words * 4

    def __str__(self) -> str:
        return f"thin {self.bm}x{self.bn} ways{self.ways} turns{self.turns} stages{self.stages}"


def thin_tile(p: PackedProduct, target: Target) -> ThinTile:
    """The tile of a product."""
    bm = min(MOST, 1 << (max(p.product.m, 1) - 1).bit_length())
    groups = 4
    while groups > 1 and -(-p.product.n // (groups * COLUMNS)) * -(-p.product.m // bm) < target.multiprocessors * 3 // 4:
        groups //= 2
    ways = WARPS // groups
    tile = ThinTile(p.coding.bits, LONGEST // p.block, bm, groups, ways, 1, shifts=p.has_zero_point)
    room = target.shared_bytes * 31 // 32
    if not is_whole(p):
        while tile.ways > 1 and replace(tile, stages=0).shared > room:
            tile = replace(tile, ways=tile.ways // 2)
        return replace(tile, stages=0)
    for more, stages in ((2, 4), (1, 8), (1, 4)) if bm <= _FEWEST else ((1, 8), (1, 4)):
        turns = 1 << (max(-(-p.product.k // (LONGEST * ways * more)), stages) - 1).bit_length()
        single = replace(tile, ways=ways * more, turns=turns, stages=stages, single=True)
        if turns <= _MOST_TURNS and single.shared <= room:
            return single
    tile = replace(tile, turns=4 if bm <= 4 else 2)
    while tile.turns > 1 and replace(tile, stages=4).shared > room:
        tile = replace(tile, turns=tile.turns // 2)
    while tile.ways > 1 and replace(tile, stages=2).shared > room:
        tile = replace(tile, ways=tile.ways // 2)
    stages = min(_STAGES, (room - replace(tile, stages=0).shared) // (tile.groups * tile.ways * tile.code_bytes))
    return replace(tile, stages=max(tile.turns, stages // tile.turns * tile.turns))


def has_halves(p: PackedProduct) -> bool:
    """Whether two neighbouring bytes of codes may be read at once."""
    weight, last = p.product.b[0], len(p.product.b[0].strides) - 1
    even = p.coding.row_bytes(p.product.k) % 2 == 0
    return weight.steps(last) == 1 and even and not any(n % 2 for n in (weight.alignment, *weight.strides[:-1]))


def byte_steps(p: PackedProduct, words: Words) -> str:
    """The steps between bytes of a row of codes, in C++."""
    along, apart = p.product.b[0].strides[-1], p.product.b[0].strides[1] if p.coding.chunk else 0
    return f"Steps{{{words.signed(along)}, {words.signed(apart)}}}"


def is_whole(p: PackedProduct) -> bool:
    """Whether rows of codes are whole pieces, as threads copy them."""
    if p.coding.chunk:
        return False
    weight, piece = p.product.b[0], min(16, 4 * p.coding.bits)
    apart = weight.alignment, weight.strides[0], p.coding.row_bytes(p.product.k)
    return weight.steps(1) == 1 and not any(n % piece for n in apart)
