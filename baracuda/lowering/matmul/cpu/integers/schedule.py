"""Integer products: the factors' integers packed in panels by steps of their own, then blocks of tiles.

Where there are few rows the columns' integers are made on the way, by the one unit of work that needs them.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace

from baracuda.codegen.llvm.ir import Builder, Value, i64
from baracuda.core.elements import ElementKind
from baracuda.core.layout import round_up
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.matmul.cpu.integers.blocks import integers
from baracuda.lowering.matmul.cpu.integers.digits import DigitTile
from baracuda.lowering.matmul.cpu.integers.few_rows_schedule import few_rows
from baracuda.lowering.matmul.cpu.integers.packed_factor import PackedFactor
from baracuda.lowering.matmul.cpu.integers.tile import AHEAD, IntegerTile
from baracuda.lowering.matmul.cpu.integers.unusual import settle
from baracuda.lowering.matmul.cpu.integers.ways import tile_of
from baracuda.lowering.matmul.cpu.plan import LINE, OrientedMatmul, Steps, split_evenly
from baracuda.lowering.matmul.cpu.read import Reader
from baracuda.lowering.matmul.cpu.tile import Epilogue
from baracuda.lowering.nest.cpu.kernel import Kernel, Words
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.pool import get_num_threads
from baracuda.runtime.program import Launch

#: Bytes of the sums of a unit of work, a local array; and its rows and columns at most. Where there are no more rows, a column
#: is needed by one unit only.
_SUM_BYTES, _ROWS, _COLUMNS = 128 << 10, 128, 256
#: About how long making an element an integer takes.
_MAKING_NS = 0.35
#: Units of work that each thread should have, so that none waits long for another.
_UNITS = 4


@dataclass(frozen=True)
class _Factor(PackedFactor):
    """One factor's integers: for each block of k panel after panel."""

    tile: IntegerTile

    @property
    def width(self) -> int:
        return self.tile.width(self.right)

    @property
    def panels(self) -> int:
        return round_up(-(-self.extent // self.width), self.together)

    @property
    def blocks(self) -> int:
        return -(-self.product.extent(self.product.depth) // BLOCK)

    @property
    def panel_bytes(self) -> int:
        """A block of a panel."""
        return self.tile.block_bytes(self.right)

    @property
    def block_bytes(self) -> int:
        """A block of all panels."""
        return self.panels * self.panel_bytes

    @property
    def batch_bytes(self) -> int:
        return self.blocks * self.block_bytes

    @property
    def along_k(self) -> bool:
        """Whether vectors run along k where elements are made integers."""
        return isinstance(self.tile, DigitTile) and _along_k(self.product, self.right)

    @property
    def together(self) -> int:
        """Panels that are made at once."""
        axis = self.product.columns if self.right else self.product.rows
        return self.tile.together if self.product.operand(self.operand).steps(axis) == 1 else 1

    def write(self, b: Builder, reader: Reader, source: Value, extents: tuple[Value, Value], until: Value, to: Value) -> None:
        """The integers and scales of a block of `together` panels, of which extents[0] rows or columns and extents[1] steps
        exist."""
        tile = self.tile
        if self.along_k:
            assert isinstance(tile, DigitTile)
            along = replace(
                reader,
                lane_step=reader.k_step,
                k_step=reader.lane_step,
                lane_stride=reader.k_stride,
                k_stride=reader.lane_stride,
            )
            tile.write_along_k(b, along, self.right, source, extents, to)
            return
        lanes = tile.lanes(self.right)
        groups = self.width // lanes
        made = integers(b, reader, lanes, self.together * groups, tile.bits, source, extents, until)
        for number, vectors in enumerate(made):
            block = b.at(to, number // groups * self.panel_bytes)
            tile.write(b, vectors, self.right, number % groups, until, block)
            tile.write_scale(b, vectors, self.right, number % groups, block)

    def step(self, kernel: Kernel) -> Launch:
        """Packs all of it; a unit is a block of a panel."""
        b, product = kernel.b, self.product
        batch = [a for a, varies in zip(product.batch, self.varying, strict=True) if varies]
        packed = [s for s, varies in zip(self.strides, self.varying, strict=True) if varies]
        reader, target = product.reader(kernel, self.operand), len(product.nest.operands)
        with b.at_entry():
            wide = [b.mul(reader.lane_stride, self.width * self.together), b.mul(reader.k_stride, BLOCK)]
        iterator = StridedIterator(
            b,
            kernel.integers([*(product.extent(a) for a in batch), self.panels // self.together, self.blocks]),
            {
                self.operand: [*kernel.byte_strides(self.operand, batch), *wide],
                target: [*kernel.integers(packed), i64(self.together * self.panel_bytes), kernel.integer(self.block_bytes)],
            },
            {self.operand: kernel.operand(self.operand), target: self.place(kernel)},
        )
        extent, depth = kernel.integers([self.extent, product.extent(product.depth)])
        iterator.start(kernel.begin)
        with b.loop(kernel.begin, kernel.end):
            pointers, indices = iterator.pointers(), iterator.indices()
            remaining = b.sub(extent, b.mul(indices[-2], self.together * self.width))
            count, until = block_steps(b, self.tile, depth, indices[-1])
            self.write(b, reader, pointers[self.operand], (remaining, count), until, pointers[target])
            iterator.advance()
        units = self.panels // self.together * self.blocks
        for a in batch:
            units *= product.extent(a)
        return kernel.step(units, BLOCK * self.width * self.together * _MAKING_NS)


def block_steps(b: Builder, tile: IntegerTile, depth: Value, block: Value) -> tuple[Value, Value]:
    """The steps of k in a block, and what they are rounded up to."""
    count = b.min(BLOCK, b.sub(depth, b.mul(block, BLOCK)))
    return count, b.and_(b.add(count, tile.step - 1), -tile.step)


def integer_product(product: OrientedMatmul, words: Words, target: CpuTarget, *, bits: int) -> Steps:
    """Two or three steps: the integers of one factor or of both, then the products."""
    steps_of_few = few_rows(product, words, target, bits=bits)
    if steps_of_few is not None:
        return steps_of_few
    tile = tile_of(target, bits, product.extent(product.rows), product.extent(product.depth), _flips(product))
    few = product.extent(product.rows) <= _ROWS
    left = _Factor(product, False, 0, tile)
    right = _Factor(product, True, left.nbytes, tile)
    factors = (left,) if few else (left, right)
    steps = [f.step(product.kernel(words, target)) for f in factors]
    steps.append(_products(left, right, few, product.kernel(words, target)))
    return Steps(tuple(steps), sum(f.nbytes for f in factors) + LINE, f"integers in {tile.name}{', strips' if few else ''}")


def _along_k(product: OrientedMatmul, right: bool) -> bool:
    """Whether a factor's neighbours in memory follow one another in k."""
    (i,), axis = (product.right, product.columns) if right else (product.left, product.rows)
    return product.operand(i).steps(product.depth) == 1 and product.operand(i).steps(axis) != 1


def _flips(product: OrientedMatmul) -> bool:
    """Whether more elements lie as a tile wants them if the right factor gives it the rows."""
    m, n = product.extent(product.rows), product.extent(product.columns)
    return (m if _along_k(product, False) else -m) < (n if _along_k(product, True) else -n)


def _unit(product: OrientedMatmul, tile: IntegerTile, few: bool) -> tuple[int, int]:
    """Rows and columns of a unit of work."""
    m, n = product.extent(product.rows), product.extent(product.columns)
    rows = split_evenly(m, _ROWS, tile.rows)
    most = max(tile.columns, min(_COLUMNS, _SUM_BYTES // (4 * rows)) // tile.columns * tile.columns)
    columns = split_evenly(n, most, tile.columns)
    wanted = _UNITS * get_num_threads()
    while product.batches * -(-m // rows) * -(-n // columns) < wanted:
        if columns > 4 * tile.columns:
            columns = split_evenly(n, columns // 2, tile.columns)
        elif rows > 4 * tile.rows and not few:
            rows = split_evenly(m, rows // 2, tile.rows)
        else:
            break
    return rows, columns


def _products(left: _Factor, right: _Factor, few: bool, kernel: Kernel) -> Launch:
    b, product, tile = kernel.b, left.product, left.tile
    m, n, k = (product.extent(a) for a in (product.rows, product.columns, product.depth))
    rows, columns = _unit(product, tile, few)
    counts = (-(-m // rows), -(-n // columns))
    of_rows, of_columns = product.reader(kernel, left.operand), product.reader(kernel, right.operand)
    epilogue = Epilogue(kernel, ElementKind.F32, product.others, (product.rows, product.columns))
    unit_rows, unit_columns, row_tiles, column_tiles = kernel.integers(
        [rows, columns, rows // tile.rows, columns // tile.columns]
    )
    batch = list(product.batch)
    first, second = len(product.nest.operands), len(product.nest.operands) + 1
    block_bytes = kernel.integers([left.block_bytes, right.block_bytes])
    panels = left.panel_bytes, right.panel_bytes
    with b.at_entry():
        strides = {
            left.operand: [*kernel.byte_strides(left.operand, batch), b.mul(of_rows.lane_stride, unit_rows), i64(0)],
            right.operand: [*kernel.byte_strides(right.operand, batch), i64(0), b.mul(of_columns.lane_stride, unit_columns)],
            first: [*kernel.integers(left.strides), b.mul(row_tiles, panels[0]), i64(0)],
        }
        strides |= {
            i: [*kernel.byte_strides(i, batch), b.mul(r, unit_rows), b.mul(c, unit_columns)]
            for i, (r, c) in epilogue.strides.items()
        }
        bases = {i: kernel.operand(i) for i in (left.operand, right.operand, *product.others)} | {first: left.place(kernel)}
        if not few:
            strides[second] = [*kernel.integers(right.strides), i64(0), b.mul(column_tiles, panels[1])]
            bases[second] = right.place(kernel)
        tile_column = b.mul(row_tiles, tile.nbytes)
    iterator = StridedIterator(b, kernel.integers([*(product.extent(a) for a in batch), *counts]), strides, bases)
    extents, blocks = kernel.integers([m, n, k]), kernel.integer(left.blocks)
    sums = b.array("i8", max(_SUM_BYTES, _ROWS * tile.columns * 4) + tile.nbytes)
    # The integers made last are read on while the next are made.
    made = [b.variable(b.array("i8", right.together * panels[1] if few else 1)) for _ in range(2)]
    wide = right.together * tile.columns
    with tile.ready(b):
        iterator.start(kernel.begin)
        with b.loop(kernel.begin, kernel.end):
            at, indices = iterator.pointers(), iterator.indices()
            rows_left = b.min(unit_rows, b.sub(extents[0], b.mul(indices[-2], unit_rows)))
            columns_left = b.min(unit_columns, b.sub(extents[1], b.mul(indices[-1], unit_columns)))
            with b.loop(0, b.mul(tile_column, column_tiles), LINE) as i:
                b.store(Value("<16 x float>", "zeroinitializer"), b.at(sums, i), LINE)
            with ExitStack() as loops:  # what lies along k is read along k
                enter = loops.enter_context
                made_from = enter(b.loop(0, columns_left, wide)) if few and right.along_k else None
                block = enter(b.loop(0, blocks))
                made_from = enter(b.loop(0, columns_left, wide)) if made_from is None else made_from
                count, until = block_steps(b, tile, extents[2], block)
                of_left = b.at(at[first], b.mul(block, block_bytes[0]))
                start = b.mul(block, block_bytes[1])
                if few:
                    before, after = made[0].get(), made[1].get()
                    made[0].set(after)
                    made[1].set(before)
                    source = of_columns.at(at[right.operand], made_from, b.mul(block, BLOCK))
                    right.write(b, of_columns, source, (b.sub(columns_left, made_from), count), until, before)
                with b.loop(made_from, b.min(columns_left, b.add(made_from, wide)), tile.columns) as column:
                    panel = b.div(column, tile.columns)
                    first_panel = before if few else b.at(at[second], start)
                    number = b.div(b.sub(column, made_from), tile.columns) if few else panel
                    of_right = b.at(first_panel, b.mul(number, panels[1]))
                    to = b.at(sums, b.mul(panel, tile_column))
                    with b.loop(0, rows_left, tile.rows) as row:
                        number = b.div(row, tile.rows)
                        block_of_rows = b.at(of_left, b.mul(number, panels[0]))
                        ahead = b.at(b.at(of_right, panels[1]), b.mul(number, tile.data_bytes(True) // AHEAD))
                        here = b.at(to, b.mul(number, tile.nbytes))
                        tile.multiply(b, block_of_rows, of_right, until, here, (b.at(block_of_rows, panels[0]), ahead))
            tile.finish(b)
            with b.loop(0, columns_left, tile.columns) as column, b.loop(0, rows_left, tile.rows) as row:
                to = b.at(sums, b.mul(b.div(column, tile.columns), tile_column))
                to = b.at(to, b.mul(b.div(row, tile.rows), tile.nbytes))
                height, width = b.min(tile.rows, b.sub(rows_left, row)), b.min(tile.columns, b.sub(columns_left, column))
                tile.arrange(b, to)
                sources = (of_rows.at(at[left.operand], row, 0), of_columns.at(at[right.operand], column, 0))
                settle(b, tile, (of_rows, of_columns), sources, extents[2], to, (height, width))
                operands = {i: b.at(b.at(at[i], b.mul(r, row)), b.mul(c, column)) for i, (r, c) in epilogue.strides.items()}
                epilogue.rows([to], tile.columns * 4, tile.columns, height, width, operands)
            iterator.advance()
    making = columns * k * _MAKING_NS if few else 0.0
    return kernel.step(product.batches * counts[0] * counts[1], rows * columns * max(k, 4) * tile.step_ns + making + 100)
