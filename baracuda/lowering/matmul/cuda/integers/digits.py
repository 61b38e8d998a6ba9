"""The digits of a factor: its integers (`baracuda/formula/integer_products.py`) as 8-bit tensor cores read them.

A pass of its own writes them into the workspace, in records of `ROWS` rows by one block of k, so that a record is copied to
shared memory as it lies:

    digits   [batch][row tile][block of k][digit, the most significant first][ROWS rows][128 bytes along k]
    scales   [batch][row tile][block of k][ROWS scales, the least, the greatest, two of padding], f32

In each digit's 8 KiB, the 16-byte piece j of row r lies at piece j ^ (r % 8): the 128-byte swizzle, which tensor cores read, and
`ldmatrix` reads without bank conflicts. Rows and steps of k that do not exist are zeros.

A row of a block with an element that is not finite has the scale NaN, so that its sums become NaN; those are then taken again, by
the contract's rule. A block of zeros has the scale 1, which changes nothing.

Bytes: a factor once, and three or two for each element; a block of threads makes a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from baracuda.core.layout import round_up
from baracuda.formula.integer_products import BLOCK, digits
from baracuda.lowering.matmul.cuda.factors import STORAGE, lines_along_k, small_float_definitions
from baracuda.lowering.matmul.cuda.integers.prelude import DIGITS, SCALE
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Words, offset, piece, translation_unit, unravel
from baracuda.lowering.nest.problem import Operand
from baracuda.runtime.program import KernelSource, Launch

#: Rows of a record, its bytes for each digit, and the f32 of its scales.
ROWS, PLANE, SCALES = 64, 64 * BLOCK, 68
#: Threads of a block that makes a record.
THREADS = 256


@dataclass(frozen=True)
class DigitFactor:
    """A factor whose digits lie in the workspace.

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
    bits
        Of its integers.
    tiles
        Row tiles, with those that only fill the last tile of a product.
    start
        Where its records begin in the workspace.
    """

    name: str
    number: int
    operand: Operand
    batch: tuple[int, ...]
    rows: int
    k: int
    bits: int
    tiles: int
    start: int

    @property
    def blocks(self) -> int:
        return -(-self.k // BLOCK)

    @property
    def record_bytes(self) -> int:
        return digits(self.bits) * PLANE

    @property
    def records(self) -> int:
        return prod(self.batch) * self.tiles * self.blocks

    @property
    def scales_start(self) -> int:
        """Where its scales begin in the workspace."""
        return self.start + self.records * self.record_bytes

    @property
    def end(self) -> int:
        return round_up(self.scales_start + self.records * SCALES * 4, 1024)

    def record_steps(self) -> tuple[int, ...]:
        """Records from one to the next along each batch axis."""
        steps: list[int] = []
        size = self.tiles * self.blocks
        for extent in reversed(self.batch):
            steps.insert(0, size if extent > 1 else 0)
            size *= extent
        return tuple(steps)


def digit_factors(c: MatmulProblem, *, exchanged: bool, left_tile: int, right_tile: int) -> tuple[DigitFactor, DigitFactor]:
    """The factors of a product whose tiles take so many rows and columns, one behind the other in the workspace. `exchanged` says
    that the factors have changed places: the program's addresses have b's first."""
    found: list[DigitFactor] = []
    start = 0
    for left, extent, tile in ((True, c.m, left_tile), (False, c.n, right_tile)):
        turned, batch = lines_along_k(c, left=left)
        tiles = -(-extent // tile) * (tile // ROWS)
        number = int(left is exchanged)
        found.append(DigitFactor("a" if left else "b", number, turned, batch, extent, c.k, c.bits, tiles, start))
        start = found[-1].end
    return found[0], found[1]


def _way(f: DigitFactor) -> tuple[bool, int]:
    """Whether neighbours are read along the rows, rather than along k, and how many at once."""
    rank, size = len(f.batch), f.operand.kind.itemsize
    extents = (*f.batch, f.rows, f.k)
    if f.operand.steps(rank + 1) == 1:
        return False, piece(f.operand, 16 // size, rank + 1, extents)
    along = f.operand.steps(rank) == 1
    return True, piece(f.operand, min(2, 4 // size), rank, extents) if along else 1


def digits_launch(c: MatmulProblem, factors: tuple[DigitFactor, ...], words: Words) -> Launch:
    """The kernel that writes the digits of some factors."""
    body = ["extern __shared__ __align__(1024) unsigned char shared[];", "unsigned record = blockIdx.x;"]
    for i, f in enumerate(factors):
        rank, count = len(f.batch), digits(f.bits)
        along, vector = _way(f)
        strides = [None if f.operand.steps(a) == 0 else words.signed(f.operand.strides[a]) for a in range(rank)]
        row_stride, k_stride = (
            "(i64)1" if f.operand.steps(rank + a) == 1 else words.signed(f.operand.strides[rank + a]) for a in (0, 1)
        )
        blocks, tiles = words.unsigned(f.blocks), words.unsigned(f.tiles)
        body += [
            f"if (record < {words.unsigned(f.records)}) {{" if i + 1 < len(factors) else "{",
            f"const unsigned line = divide(record, {words.divisor(f.blocks)}), block = record - line * {blocks};",
            f"const unsigned matrix = divide(line, {words.divisor(f.tiles)}), tile = line - matrix * {tiles};",
            *(unravel("matrix", f.batch, words, "c", wide=False) if rank else ()),
            f"const i64 row = (i64)tile * {ROWS}, k = (i64)block * {BLOCK};",
            f"const {STORAGE[f.operand.kind]}* const from = (const {STORAGE[f.operand.kind]}*)W.w[{f.number}]"
            f" + ({offset(strides, 'c')} + row * {row_stride} + k * {k_stride});",
            f"unsigned char* const to = (unsigned char*)(W.w[{words.operands}] + {words.word(f.start)});",
            f"float* const scales = (float*)(W.w[{words.operands}] + {words.word(f.scales_start)});",
            f"write_digits<{str(along).lower()}, {vector}, {count}>(from, {row_stride}, {k_stride}, "
            f"{words.signed(f.rows)} - row, {words.signed(f.k)} - k, to + (i64)record * {f.record_bytes}, "
            f"scales + (i64)record * {SCALES}, shared);",
            "return;",
            "}",
        ]
        if i + 1 < len(factors):
            body.append(f"record -= {words.unsigned(f.records)};")
    tables = small_float_definitions(c) + SCALE + DIGITS
    source = translation_unit(words, body, THREADS, tables)
    shared = max(f.record_bytes for f in factors)
    return Launch(KernelSource(source), (sum(f.records for f in factors), 1, 1), THREADS, shared)
