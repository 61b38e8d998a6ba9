"""Integer products of few rows: the records of the rows, then strips of columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

from baracuda.codegen.llvm.ir import Builder, Value, i64
from baracuda.core.elements import ElementKind
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.matmul.cpu.integers.few_rows import FewRows
from baracuda.lowering.matmul.cpu.integers.few_rows_across import FewRowsAcross
from baracuda.lowering.matmul.cpu.integers.unusual import settle
from baracuda.lowering.matmul.cpu.plan import LINE, OrientedMatmul, Steps, aligned_workspace
from baracuda.lowering.matmul.cpu.read import Reader
from baracuda.lowering.matmul.cpu.tile import Epilogue
from baracuda.lowering.nest.cpu.kernel import Kernel, Words
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.pool import get_num_threads
from baracuda.runtime.program import Launch

#: Rows of more than these are worth the making of digits, or halves.
MOST_FEW_ROWS = 4
#: Columns of a strip at most, and how many strips each thread should have.
_COLUMNS, _UNITS = 512, 4
#: Bytes from one row's sums to the next one's.
_PITCH = 4 * _COLUMNS


@dataclass(frozen=True)
class SumsOfRows:
    """How the sums of a strip lie, as `settle` wants to know."""

    rows: int
    columns: int
    width: int

    def lanes(self, right: bool) -> int:
        return self.width


def few_rows(product: OrientedMatmul, words: Words, target: CpuTarget, *, bits: int) -> Steps | None:
    """Two steps; None where another way is faster, or the wide factor does not lie along k."""
    rows, (right,) = product.extent(product.rows), product.right
    operand = product.operand(right)
    steps = operand.steps(product.depth), operand.steps(product.columns)
    if rows > MOST_FEW_ROWS or (steps[0] == 1) == (steps[1] == 1):
        return None
    few = (FewRows if steps[0] == 1 else FewRowsAcross)(target.vector_bits, operand.kind, bits, 1 << (rows - 1).bit_length())
    first = _write_rows(few, product, product.kernel(words, target))
    second = _strips(few, product, product.kernel(words, target))
    nbytes = _record_strides(few, product)[1]
    return Steps((first, second), nbytes + LINE, "integers of few rows in f64")


def _record_strides(few: FewRows, product: OrientedMatmul) -> tuple[list[int], int]:
    """Byte strides of the records along the batch axes, from block to block and from row to row; and their size."""
    blocks = -(-product.extent(product.depth) // BLOCK)
    strides, size = [few.rows * few.record_bytes, few.record_bytes], few.rows * few.record_bytes * blocks
    for axis in reversed(product.batch):
        strides.insert(0, size)
        size *= product.extent(axis)
    return strides, size


def _write_rows(few: FewRows, product: OrientedMatmul, kernel: Kernel) -> Launch:
    b, (operand,), target = kernel.b, product.left, len(product.nest.operands)
    k_stride, row_stride = kernel.byte_strides(operand, (product.depth, product.rows))
    reader = replace(
        product.reader(kernel, operand),
        lane_step=product.operand(operand).steps(product.depth),
        k_step=product.operand(operand).steps(product.rows),
        lane_stride=k_stride,
        k_stride=row_stride,
    )
    strides, _ = _record_strides(few, product)
    blocks = -(-product.extent(product.depth) // BLOCK)
    with b.at_entry():
        wide = b.mul(k_stride, BLOCK)
    iterator = StridedIterator(
        b,
        kernel.integers([*(product.extent(a) for a in product.batch), blocks, few.rows]),
        {
            operand: [*kernel.byte_strides(operand, list(product.batch)), wide, i64(0)],
            target: kernel.integers(strides),
        },
        {operand: kernel.operand(operand), target: aligned_workspace(kernel)},
    )
    depth, rows = kernel.integers([product.extent(product.depth), product.extent(product.rows)])
    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        at, indices = iterator.pointers(), iterator.indices()
        row = b.min(indices[-1], b.sub(rows, 1))  # those that do not exist are the last once more
        count = b.min(BLOCK, b.sub(depth, b.mul(indices[-2], BLOCK)))
        few.write_row(b, reader, reader.at(at[operand], 0, row), count, at[target])
        iterator.advance()
    return kernel.step(product.batches * blocks * few.rows, 200)


def _columns(few: FewRows, product: OrientedMatmul) -> int:
    """The columns of a strip."""
    n = product.extent(product.columns)
    least = few.columns_together if isinstance(few, FewRowsAcross) else few.lanes
    most = _COLUMNS
    while most > least and product.batches * -(-n // most) < _UNITS * get_num_threads():
        most //= 2
    return max(most, least)


def _along_k(
    b: Builder,
    few: FewRows,
    reader: Reader,
    source: Value,
    extents: tuple[Value, Value],
    records: tuple[Value, Value],
    sums: Value,
) -> None:
    """The sums of a strip of a factor along k, of which there are extents[0] columns and extents[1] steps."""
    columns, depth = extents
    lanes, element = few.lanes, few.kind.itemsize
    copied, starts = b.array("i8", lanes * BLOCK * element), b.array("ptr", lanes)
    whole = b.div(depth, BLOCK)
    with b.loop(0, columns, lanes) as column:
        last = b.sub(columns, 1)
        with b.loop(0, lanes) as i:
            b.store(reader.at(source, b.min(b.add(column, i), last), 0), b.at(starts, b.mul(i, 8)), 8)
        to = [b.at(sums, b.add(b.mul(column, 4), r * _PITCH)) for r in range(few.rows)]
        with b.loop(0, whole) as block:
            few.columns(b, reader, starts, b.mul(block, BLOCK * element), b.at(records[0], b.mul(block, records[1])), to)
        count = b.sub(depth, b.mul(whole, BLOCK))
        with b.if_(b.compare("icmp sgt", count, 0)):
            with b.loop(0, lanes) as i:
                start, to_ = b.at(starts, b.mul(i, 8)), b.at(copied, b.mul(i, BLOCK * element))
                few.copy_column(b, reader, b.at(b.load("ptr", start, 8), b.mul(whole, BLOCK * element)), count, to_)
                b.store(to_, start, 8)
            few.columns(b, reader, starts, i64(0), b.at(records[0], b.mul(whole, records[1])), to)


def _across(
    b: Builder,
    few: FewRowsAcross,
    reader: Reader,
    source: Value,
    extents: tuple[Value, Value],
    records: tuple[Value, Value],
    sums: Value,
) -> None:
    """The same of a factor along its columns."""
    columns, depth = extents
    line = few.columns_together * few.kind.itemsize
    copied, maxima = b.array("i8", BLOCK * line), b.array("i8", line)
    with b.loop(0, columns, few.columns_together) as column, b.loop(0, depth, BLOCK) as k:
        count, start = b.min(BLOCK, b.sub(depth, k)), reader.at(source, column, k)
        few.copied(b, reader, start, b.sub(columns, column), count, copied, maxima)
        to = [b.at(sums, b.add(b.mul(column, 4), r * _PITCH)) for r in range(few.rows)]
        of_rows = b.at(records[0], b.mul(b.div(k, BLOCK), records[1]))
        few.across(b, reader, copied, maxima, of_rows, to, reader.at(start, 0, BLOCK))


def _strips(few: FewRows, product: OrientedMatmul, kernel: Kernel) -> Launch:
    b, (operand,), (left,) = kernel.b, product.right, product.left
    lanes, batch = few.lanes, list(product.batch)
    n, k = product.extent(product.columns), product.extent(product.depth)
    width = _columns(few, product)
    counts = -(-n // width)
    reader, of_rows = product.reader(kernel, operand), product.reader(kernel, left)
    epilogue = Epilogue(kernel, ElementKind.F32, product.others, (product.rows, product.columns))
    strip = kernel.integer(width)
    records = len(product.nest.operands)
    record_strides, _ = _record_strides(few, product)
    with b.at_entry():
        strides = {operand: [*kernel.byte_strides(operand, batch), b.mul(reader.lane_stride, strip)]}
        strides[left] = [*kernel.byte_strides(left, batch), i64(0)]
        strides |= {i: [*kernel.byte_strides(i, batch), b.mul(c, strip)] for i, (_, c) in epilogue.strides.items()}
        strides[records] = [*kernel.integers(record_strides[:-2]), i64(0)]
    bases = {i: kernel.operand(i) for i in (operand, left, *product.others)} | {records: aligned_workspace(kernel)}
    iterator = StridedIterator(b, kernel.integers([*(product.extent(a) for a in batch), counts]), strides, bases)
    rows, columns, depth = kernel.integers([product.extent(a) for a in (product.rows, product.columns, product.depth)])
    block_bytes = kernel.integer(record_strides[-2])
    sums = b.array("float", few.rows * _COLUMNS)
    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        at, indices = iterator.pointers(), iterator.indices()
        columns_left = b.min(strip, b.sub(columns, b.mul(indices[-1], strip)))
        with b.loop(0, few.rows * _PITCH, 64) as i:
            b.store(Value("<16 x float>", "zeroinitializer"), b.at(sums, i), 64)
        if isinstance(few, FewRowsAcross):
            _across(b, few, reader, at[operand], (columns_left, depth), (at[records], block_bytes), sums)
        else:
            _along_k(b, few, reader, at[operand], (columns_left, depth), (at[records], block_bytes), sums)
        tile = SumsOfRows(few.rows, _COLUMNS, lanes)
        settle(b, tile, (of_rows, reader), (at[left], at[operand]), depth, sums, (rows, columns_left))
        epilogue.rows([sums], _PITCH, _COLUMNS, rows, columns_left, {i: at[i] for i in epilogue.strides})
        iterator.advance()
    return kernel.step(product.batches * counts, width * max(k, 4) * (0.05 + 0.015 * few.rows) + 100)
