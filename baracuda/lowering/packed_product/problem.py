"""Products with packed weights: the problem that both devices lower.

    y[m, n] = epilogue(sum over k of x[m, k] * w[n, k], ...),    w[n, k] = (code[n, k] - zero_point[n, g]) * scale[n, g],

where g = k // group counts the groups of a row of weights. Integers all the way to a block's end, whose sum has an exact value:

k is cut into blocks from 0: of 32, 64 or 128 steps where groups have as many, of 128 where they are longer, so that none lies in
two groups. In a block, for each row of x, from the block's own elements, widened to f32 (those that are not finite count as 0):

1. E is the smallest whole number with |x| <= 127/128 * 2**E for all of them, and not below 15 - 149;
2. q = x * 2**(15 - E), rounded to the nearest integer, ties to even; S = 2**(E - 15): the steps of
   `baracuda/formula/integer_products.py`, at 15 bits.

A code less its zero point is an integer already; a level of NF4 is one, round(level * 2**14), with its scale times 2**-14,
rounded to f32. P is the exact sum of the block's q * (code - zero_point): it does not exceed 2**31 where codes and zero points
differ by 510 at most (where they do by more, it wraps in 32 bits). Then, blocks in rising order, from s = +0:

3. s = fma(F * S, scale, s), F being P rounded to f32, nearest even. F * S is exact, but where it is beyond the range of f32.

Where a row of x has an element that is not finite, anywhere in k, y is made of the sum of the products x * w with such elements
instead, in rising k, where w = (code - zero_point) * scale, rounded: NaN, or an infinity. Scales that are not finite enter by
step 3.

A last block that is not whole is one with zeros behind its elements, and a last group may be shorter. So the bits of an element
depend on its row of x, its row of weights and the extent of a group, and on nothing else: not on how P is computed. Tensor cores
take q as two digits of 8 bits, a CPU as halves of 32.

**Error.** q is off by at most half a unit of 2**(E - 15), 1.01 * 2**-15 * M / 2 with M the block's largest magnitude, so that

    |y - exact| <= sum over blocks of 0.51 * 2**-15 * M * sum|w| + (blocks + 1) * 2**-24 * sum|x * w|,

the exact product being of x as given with the weights that the codes stand for. Elements of bf16 within 2**7 of the largest in
their block are taken as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from baracuda.core.errors import InvalidProblemError
from baracuda.lowering.matmul.problem import MatmulProblem

#: Steps of k in a block at most, and at least; the bits of an element of x.
LONGEST, SHORTEST, BITS = 128, 32, 15
#: The levels of NF4 (Dettmers et al. 2023), as bitsandbytes has them.
NF4_LEVELS = np.array(
    [
        -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
        -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
        0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
    ],
    np.float32,
)  # fmt: skip
#: What a level of NF4 counts as: 2**-14 of its scale.
NF4_UNIT = 2.0**-14
#: Those levels as integers.
NF4_INTEGERS = tuple(int(n) for n in np.rint(NF4_LEVELS.astype(np.float64) / NF4_UNIT))


class Coding(Enum):
    """How weights are coded. Codes of 4 and of 2 bits share a byte, the first one in the lowest bits, but for NF4, which has it
    in the highest, and for Q4_0 of GGML, which has 16 codes in the low halves of 16 bytes, and the next 16 in the high ones."""

    U4 = "u4"
    S4 = "s4"
    U8 = "u8"
    S8 = "s8"
    TERNARY = "ternary"
    NF4 = "nf4"
    Q4_0 = "q4_0"
    Q8_0 = "q8_0"

    __hash__ = object.__hash__

    @property
    def bits(self) -> int:
        """Bits of a code."""
        return {"u4": 4, "s4": 4, "u8": 8, "s8": 8, "ternary": 2, "nf4": 4, "q4_0": 4, "q8_0": 8}[self.value]

    @property
    def offset(self) -> int:
        """What the integers that kernels make of codes are greater by: bits of a signed code count from its least one, those of
        an unsigned byte as if it had a sign, -1, 0 and 1 are coded as 0, 1 and 2, and Q4_0 has its zero at 8."""
        return {"s4": 8, "q4_0": 8, "u8": -128, "ternary": 1}.get(self.value, 0)

    @property
    def flipped(self) -> int:
        """The bit of a code that is turned over to make that integer of it; 0: none."""
        return {"s4": 0x8, "u8": 0x80}.get(self.value, 0)

    @property
    def levels(self) -> bool:
        """Whether a code is the number of a level."""
        return self is Coding.NF4

    @property
    def per_byte(self) -> int:
        """Codes of a byte."""
        return 8 // self.bits

    @property
    def chunk(self) -> int:
        """How many bytes of a row lie side by side, if not all: GGML keeps the codes of a block beside its scale."""
        return {"q4_0": 16, "q8_0": 32}.get(self.value, 0)

    def row_bytes(self, k: int) -> int:
        """Bytes of k codes."""
        return -(-k // 32) * self.chunk if self.chunk else -(-k // self.per_byte)


def block_of(group: int, k: int) -> int:
    """Steps of k in a block, where a scale counts for `group` of them."""
    if group >= k or group % LONGEST == 0:
        return LONGEST
    if group in (SHORTEST, 64):
        return group
    raise InvalidProblemError(f"group_size: {group}; expected 32, 64, a multiple of {LONGEST}, or the whole of k, {k}")


@dataclass(frozen=True)
class PackedProduct:
    """A product of x with the transpose of packed weights.

    Attributes
    ----------
    coding
        Of the weights.
    group
        Steps of k that a scale counts for, as `block_of` allows.
    product
        Extents, operands and epilogue. `a` is x over (m, k); `b` are the packed weights over (n, bytes), or (n, chunks, bytes),
        the scales, and the integer zero points where there are some, over (n, groups); no batch.
    """

    coding: Coding
    group: int
    product: MatmulProblem

    @property
    def block(self) -> int:
        """Steps of k in a block."""
        return block_of(self.group, self.product.k)

    @property
    def blocks(self) -> int:
        return -(-self.product.k // self.block)

    @property
    def blocks_per_group(self) -> int:
        """Blocks that share a scale; where one scale is all there is, as many as there are."""
        return max(1, self.blocks) if self.group >= self.product.k else self.group // self.block

    @property
    def has_zero_point(self) -> bool:
        return len(self.product.b) > 2

    @property
    def shifts(self) -> bool:
        """Whether something is subtracted from every code."""
        return self.has_zero_point or self.coding.offset != 0
