"""Exact sums on Intel's matrix registers (AMX), of digits of 8 bits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from baracuda.codegen.llvm.ir import Int, Value
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.attention.cpu.integers.products import IntegerProducts, Use
from baracuda.lowering.attention.cpu.integers.quantizer import Reading
from baracuda.lowering.attention.cpu.work import AttentionKernel
from baracuda.lowering.matmul.cpu.integers.blocks import rounded
from baracuda.lowering.matmul.cpu.integers.digits import DigitTile

#: Rows or columns of a matrix register, which are the lanes of a vector of s32, and the steps of k in it.
_ROWS, _STEPS = 16, 64


class DigitProducts(IntegerProducts):
    """Digits in matrix registers, as a product of matrices has them: each 16 rows or columns of a matrix are a panel, block
    after block."""

    name, lanes = "8-bit digits", _ROWS

    def __init__(self, work: AttentionKernel, bits: int) -> None:
        super().__init__(work, bits)
        self.tiles = {steps: DigitTile(bits, steps, _ROWS, False) for steps in (_STEPS, BLOCK)}

    @contextmanager
    def ready(self) -> Iterator[None]:
        first, second = self.tiles.values()
        with first.ready(self.b):
            second.share(first)
            yield

    def _tile(self, depth: int) -> DigitTile:
        return self.tiles[_STEPS if depth <= _STEPS else BLOCK]

    def _panel(self, depth: int) -> int:
        """The size of a panel."""
        return max(1, -(-depth // BLOCK)) * self._tile(depth).data_bytes(False)

    def nbytes(self, rows: int, depth: int) -> int:
        return -(-rows // _ROWS) * self._panel(depth)

    def keep_left(self, read: Reading, rows: Int, depth: int, to: Value) -> None:
        b = self.b
        with b.loop(0, rows) as row:
            panel = b.at(to, b.add(b.mul(b.div(row, _ROWS), self._panel(depth)), b.mul(b.rem(row, _ROWS), _STEPS)))
            for first in self._chunks(depth):
                steps = [self.existing(read(row, k), depth - k) for k in range(first, min(first + _STEPS, depth), _ROWS)]
                self._keep(steps, depth, first, panel)

    def keep_right(self, read: Reading, depth: int, columns: Int, to: Value, there: Value | None = None) -> None:
        b = self.b
        with b.loop(0, columns, _ROWS) as column, b.loop(0, _ROWS) as word:
            panel = b.at(to, b.add(b.mul(b.div(column, _ROWS), self._panel(depth)), b.mul(word, _STEPS)))
            for first in self._chunks(depth):
                steps = [read(b.add(word, k), column) for k in range(first, min(first + _STEPS, depth), _ROWS)]
                self._keep(steps, depth, first, panel)

    def _chunks(self, depth: int) -> range:
        """Where the steps of each register begin, those of zeros included."""
        return range(0, max(1, -(-depth // BLOCK)) * self._tile(depth).step, _STEPS)

    def _keep(self, steps: list[Value], depth: int, first: int, panel: Value) -> None:
        b, tile = self.b, self._tile(depth)
        whole = [rounded(b, x) for x in steps]
        whole += [Value(f"<{_ROWS} x i32>", "zeroinitializer")] * (_STEPS // _ROWS - len(whole))
        at = first // BLOCK * tile.data_bytes(False)
        for digit, word in enumerate(tile.words(b, whole)):
            b.store(word, b.at(panel, at + tile.register(first % BLOCK // _STEPS, digit)), _STEPS)

    def sums(self, left: Value, right: Value, depth: int, block: tuple[Int, Int], extents: tuple[Int, Int], use: Use) -> None:
        b, tile, panel, (rows, columns) = self.b, self._tile(depth), self._panel(depth), extents
        if isinstance(block[0], Value):
            at = b.mul(b.div(block[0], BLOCK), tile.data_bytes(False))
            left, right = b.at(left, at), b.at(right, at)
        with b.loop(0, columns, _ROWS) as column, b.loop(0, rows, _ROWS) as row:
            places = (b.at(side, b.mul(b.div(i, _ROWS), panel)) for side, i in ((left, row), (right, column)))
            for r, nearest in enumerate(tile.exact(b, *places)):
                use(b.add(row, r), column, nearest)
