"""The digits of x for a product with packed weights, which a pass of its own writes into the workspace:

    digits   [row][span of 128 steps of k][digit, the most significant first][128 bytes, in the order of the codes]
    scales   [row][block], f32
    totals   [row][block], the sum of a block's integers, s32

Steps of k that do not exist are zeros. A row of a block with an element that is not finite has the scale NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.core.layout import round_up
from baracuda.lowering.matmul.cuda.factors import STORAGE
from baracuda.lowering.matmul.cuda.integers.prelude import SCALE
from baracuda.lowering.nest.cuda.kernel import Words, piece, translation_unit
from baracuda.lowering.packed_product.cuda.prelude import definitions
from baracuda.lowering.packed_product.problem import LONGEST, PackedProduct
from baracuda.runtime.program import KernelSource, Launch

#: Warps of a block that writes digits.
_WARPS = 4


@dataclass(frozen=True)
class Digits:
    """Where the digits of x are in the workspace."""

    problem: PackedProduct

    @property
    def spans(self) -> int:
        return -(-self.problem.product.k // LONGEST)

    @property
    def per_span(self) -> int:
        """Blocks of a span."""
        return LONGEST // self.problem.block

    @property
    def records(self) -> int:
        return self.problem.product.m * self.spans

    @property
    def scales_start(self) -> int:
        return 2 * LONGEST * self.records

    @property
    def totals_start(self) -> int:
        return round_up(self.scales_start + 4 * self.per_span * self.records, 16)

    @property
    def end(self) -> int:
        return round_up(self.totals_start + 4 * self.per_span * self.records, 1024)

    def pointers(self, words: Words) -> list[str]:
        """Declares them."""
        return [
            f"unsigned char* const digits = (unsigned char*)W.w[{words.operands}];",
            f"float* const scales = (float*)(digits + {words.word(self.scales_start)});",
            f"int* const totals = (int*)(digits + {words.word(self.totals_start)});",
        ]


def x_piece(problem: PackedProduct) -> int:
    """How many neighbours of x, at most 4, may be loaded at once."""
    (x,) = problem.product.a
    if x.steps(1) != 1:
        return 1
    return piece(x, 4, 1, (problem.product.m, problem.product.k))


def digits_launch(digits: Digits, words: Words) -> Launch:
    """The kernel that writes them."""
    problem = digits.problem
    (x,) = problem.product.a
    kind = STORAGE[x.kind]
    body = [
        f"const i64 record = (i64)blockIdx.x * {_WARPS} + threadIdx.x / 32;",
        f"if (record >= {words.signed(digits.records)}) return;",
        f"const i64 spans = {words.signed(digits.spans)}, row = record / spans, k0 = (record - row * spans) * {LONGEST};",
        *digits.pointers(words),
        f"const i64 step = {'1' if x.steps(1) == 1 else words.signed(x.strides[1])};",
        f"const i64 left = {words.signed(problem.product.k)} - k0;",
        "float held[4];",
        f"load_elements<{x_piece(problem)}>(held, (const {kind}*)W.w[0] + row * {words.signed(x.strides[0])} + k0 * step, step,"
        f" left < {LONGEST} ? (int)left : {LONGEST}, threadIdx.x % 32);",
        f"write_digits<{problem.block}, false>(held, digits + record * {2 * LONGEST}, scales + record * {digits.per_span},"
        f" totals + record * {digits.per_span}, 1, threadIdx.x % 32);",
    ]
    source = translation_unit(words, body, 32 * _WARPS, SCALE + definitions(problem.coding))
    return Launch(KernelSource(source), (max(1, -(-digits.records // _WARPS)), 1, 1), 32 * _WARPS)
