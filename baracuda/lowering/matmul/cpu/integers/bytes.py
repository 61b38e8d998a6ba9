"""Products of 8-bit integers on Intel's matrix registers (AMX): bytes as they lie, summed in s32 over all of k, which wraps.

The factor that gives the rows is kept row by row, the other in words of four steps of k, in squares of 16 rows or columns by 64
steps. Where one factor has few columns, and the rows lie along k already, these are read where they lie: the large factor once.
"""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Builder, Value, constant, i64, vector
from baracuda.codegen.llvm.lanes import first_lanes
from baracuda.core.elements import ElementKind
from baracuda.lowering.matmul.cpu.integers.digits import do, number, ready, transpose
from baracuda.lowering.matmul.cpu.integers.packed_factor import PackedFactor
from baracuda.lowering.matmul.cpu.integers.ways import has_matrix_registers
from baracuda.lowering.matmul.cpu.plan import LINE, OrientedMatmul, Steps, split_evenly
from baracuda.lowering.matmul.cpu.read import Reader
from baracuda.lowering.matmul.cpu.tile import Epilogue
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cpu.kernel import Kernel, Words
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.pool import get_num_threads
from baracuda.runtime.program import Launch

#: Rows or columns of a square, its steps of k, and its bytes.
_ROWS, _STEPS, _BYTES = 16, 64, 1024
#: Columns up to which the rows are read where they lie; squares that a unit of packing makes.
FEW, _CHUNK = 32, 32
#: Bytes of the rows of a unit of work, its rows and columns at most, and units that each thread should have.
_ROW_BYTES, _MOST_ROWS, _MOST_COLUMNS, _UNITS = 1 << 20, 256, 512, 4


def takes_bytes(c: MatmulProblem, target: CpuTarget) -> bool:
    """Whether a product is one of 8-bit integers, for which a target has matrix registers."""
    bytes_ = all(o.kind in (ElementKind.S8, ElementKind.U8) for o in (*c.a, *c.b)) and len(c.a) == 1
    return bytes_ and c.accumulator is ElementKind.S32 and c.k > 0 and has_matrix_registers(target)


@dataclass(frozen=True)
class _Squares(PackedFactor):
    """A factor in squares, all those of 16 rows or columns behind one another."""

    @property
    def panels(self) -> int:
        return -(-self.extent // _ROWS)

    @property
    def panel_bytes(self) -> int:
        return -(-self.product.extent(self.product.depth) // _STEPS) * _BYTES

    @property
    def batch_bytes(self) -> int:
        return self.panels * self.panel_bytes

    def step(self, kernel: Kernel) -> Launch:
        """Makes the squares; a unit is some of 16 rows or columns."""
        b, product = kernel.b, self.product
        batch = [a for a, varies in zip(product.batch, self.varying, strict=True) if varies]
        packed = [s for s, varies in zip(self.strides, self.varying, strict=True) if varies]
        reader, target = product.reader(kernel, self.operand), len(product.nest.operands)
        depth = product.extent(product.depth)
        chunks = -(-depth // (_CHUNK * _STEPS))
        panel = kernel.integer(self.panel_bytes)
        with b.at_entry():
            wide = [b.mul(reader.lane_stride, _ROWS), b.mul(reader.k_stride, _CHUNK * _STEPS)]
        iterator = StridedIterator(
            b,
            kernel.integers([*(product.extent(a) for a in batch), self.panels, chunks]),
            {
                self.operand: [*kernel.byte_strides(self.operand, batch), *wide],
                target: [*kernel.integers(packed), panel, i64(_CHUNK * _BYTES)],
            },
            {self.operand: kernel.operand(self.operand), target: self.place(kernel)},
        )
        extent, steps = kernel.integers([self.extent, depth])
        iterator.start(kernel.begin)
        with b.loop(kernel.begin, kernel.end):
            at, indices = iterator.pointers(), iterator.indices()
            remaining = b.sub(extent, b.mul(indices[-2], _ROWS))
            left = b.sub(steps, b.mul(indices[-1], _CHUNK * _STEPS))
            with b.loop(0, b.min(left, i64(_CHUNK * _STEPS)), _STEPS) as k:
                to = b.at(at[target], b.mul(k, _BYTES // _STEPS))
                self._square(b, reader, reader.at(at[self.operand], 0, k), remaining, b.sub(left, k), to)
            iterator.advance()
        units = self.panels * chunks
        for a in batch:
            units *= product.extent(a)
        return kernel.step(units, min(depth, _CHUNK * _STEPS) * _ROWS * 0.1 + 20)

    def _square(self, b: Builder, reader: Reader, source: Value, rows: Value, steps: Value, to: Value) -> None:
        """One square, of which so many rows or columns and steps exist; steps that do not are zeros."""
        along_k = reader.k_step == 1 and reader.lane_step != 1
        (_rows_along_k if along_k else _words)(b, reader, source, rows, steps, to)
        if along_k == self.right:
            transpose(b, to)


def _rows_along_k(b: Builder, reader: Reader, source: Value, rows: Value, steps: Value, to: Value) -> None:
    """Rows of 64 neighbours."""
    type_ = vector("i8", _STEPS)
    whole = b.compare("icmp sge", steps, _STEPS)
    with b.loop(0, b.min(rows, i64(_ROWS))) as row:
        at, here = reader.at(source, row, 0), b.at(to, b.mul(row, _STEPS))
        with b.if_(whole):
            b.store(b.load(type_, at, 1), here, _STEPS)
        with b.else_(whole):
            mask = first_lanes(b, _STEPS, steps)
            nothing = Value(type_, "zeroinitializer")
            b.store(b.call(type_, "llvm.masked.load.v64i8.p0", at, Value("i32", "1"), mask, nothing), here, _STEPS)


def _words(b: Builder, reader: Reader, source: Value, rows: Value, steps: Value, to: Value) -> None:
    """Words of four steps, of 16 rows or columns side by side."""
    whole = b.compare("icmp sge", rows, _ROWS)

    def words(remaining: Value | None) -> None:
        with b.loop(0, _STEPS // 4) as line:
            found = None
            for place in range(4):
                k = b.add(b.mul(line, 4), place)
                exists = b.less(k, steps)
                x = reader.one(reader.at(source, 0, b.select(exists, k, i64(0))), _ROWS, remaining)
                byte = b.and_(x, constant("i32", 0xFF, _ROWS))
                byte = b.select(exists, byte, constant("i32", 0, _ROWS))
                moved = b.shl(byte, constant("i32", 8 * place, _ROWS)) if place else byte
                found = moved if found is None else b.or_(found, moved)
            assert found is not None
            b.store(found, b.at(to, b.mul(line, _STEPS)), _STEPS)

    with b.if_(whole):
        words(None)
    with b.else_(whole):
        words(rows)


def byte_product(c: MatmulProblem, target: CpuTarget) -> tuple[Steps, Words]:
    """The squares of one factor or of both, then the products."""
    product = OrientedMatmul.of(c, c.m < c.n if min(c.m, c.n) <= FEW else False)
    words = Words(product.nest)
    (left,) = product.left
    lies = product.operand(left).steps(product.depth) == 1 and product.extent(product.depth) % _STEPS == 0
    direct = lies and product.extent(product.columns) <= FEW and product.extent(product.rows) % _ROWS == 0
    rows = _Squares(product, False, 0)
    columns = _Squares(product, True, 0 if direct else rows.nbytes)
    made = (columns,) if direct else (rows, columns)
    steps = [squares.step(product.kernel(words, target)) for squares in made]
    steps.append(_products(rows, columns, direct, product.kernel(words, target)))
    return Steps(
        tuple(steps), sum(s.nbytes for s in made) + LINE, f"bytes in matrix registers{', where they lie' * direct}"
    ), words


def _unit(product: OrientedMatmul) -> tuple[int, int]:
    """Rows and columns of a unit of work."""
    m, n, k = (product.extent(a) for a in (product.rows, product.columns, product.depth))
    pair = 2 * _ROWS
    rows = split_evenly(m, max(pair, min(_MOST_ROWS, _ROW_BYTES // k // pair * pair)), pair)
    columns = split_evenly(n, _MOST_COLUMNS, pair)
    wanted = _UNITS * get_num_threads()
    while product.batches * -(-m // rows) * -(-n // columns) < wanted and max(rows, columns) > pair:
        if columns > rows:
            columns = split_evenly(n, columns // 2, pair)
        else:
            rows = split_evenly(m, rows // 2, pair)
    return rows, columns


def _products(left: _Squares, right: _Squares, direct: bool, kernel: Kernel) -> Launch:
    b, product = kernel.b, left.product
    m, n, k = (product.extent(a) for a in (product.rows, product.columns, product.depth))
    rows, columns = _unit(product)
    counts = (-(-m // rows), -(-n // columns))
    result = product.operand(product.others[-1])
    turned = result.steps(product.rows) == 1 != result.steps(product.columns)
    axes = (product.columns, product.rows) if turned else (product.rows, product.columns)
    epilogue = Epilogue(kernel, ElementKind.S32, product.others, axes)
    along = {i: s[::-1] if turned else s for i, s in epilogue.strides.items()}
    unit_rows, unit_columns = kernel.integers([rows, columns])
    panel_bytes = kernel.integer(left.panel_bytes)
    batch = list(product.batch)
    first, second = len(product.nest.operands), len(product.nest.operands) + 1
    reader = product.reader(kernel, left.operand)
    with b.at_entry():
        panels_of_rows, panels_of_columns = (b.mul(b.div(u, _ROWS), panel_bytes) for u in (unit_rows, unit_columns))
        row_bytes = b.mul(reader.lane_stride, _ROWS) if direct else panel_bytes
        strides = {second: [*kernel.integers(right.strides), i64(0), panels_of_columns]}
        bases = {i: kernel.operand(i) for i in product.others} | {second: right.place(kernel)}
        if direct:
            strides[first] = [*kernel.byte_strides(left.operand, batch), b.mul(reader.lane_stride, unit_rows), i64(0)]
            bases[first] = kernel.operand(left.operand)
        else:
            strides[first] = [*kernel.integers(left.strides), panels_of_rows, i64(0)]
            bases[first] = left.place(kernel)
        strides |= {
            i: [*kernel.byte_strides(i, batch), b.mul(r, unit_rows), b.mul(c, unit_columns)] for i, (r, c) in along.items()
        }
    iterator = StridedIterator(b, kernel.integers([*(product.extent(a) for a in batch), *counts]), strides, bases)
    extents, blocks = kernel.integers([m, n]), kernel.integer(-(-k // _STEPS))
    pitch, step = (reader.lane_stride, _STEPS) if direct else (i64(_STEPS), _BYTES)
    kinds = (product.operand(left.operand).kind, product.operand(right.operand).kind)
    multiply = "tdpb" + "".join("s" if kind is ElementKind.S8 else "u" for kind in kinds) + "d"
    sums = b.array("i8", 4 * _BYTES)
    with ready(b):
        iterator.start(kernel.begin)
        with b.loop(kernel.begin, kernel.end):
            at, indices = iterator.pointers(), iterator.indices()
            rows_left = b.min(unit_rows, b.sub(extents[0], b.mul(indices[-2], unit_rows)))
            columns_left = b.min(unit_columns, b.sub(extents[1], b.mul(indices[-1], unit_columns)))
            with b.loop(0, columns_left, 2 * _ROWS) as column, b.loop(0, rows_left, 2 * _ROWS) as row:
                places = []
                for start, remaining, base, size in (
                    (row, rows_left, at[first], row_bytes), (column, columns_left, at[second], panel_bytes),
                ):  # fmt: skip
                    own = b.at(base, b.mul(b.div(start, _ROWS), size))
                    more = b.less(b.add(start, _ROWS), remaining)
                    places += [own, b.at(own, b.select(more, size, i64(0)))]
                for t in range(4):
                    do(b, "tilezero", number(t))
                with b.loop(0, blocks) as block:
                    for t, place in enumerate(places):
                        offset = b.mul(block, step if t < 2 else _BYTES)
                        do(b, "tileloadd64", number(4 + t), b.at(place, offset), pitch if t < 2 else i64(_STEPS))
                    for t in range(4):
                        do(b, multiply, number(t), number(4 + t // 2), number(6 + t % 2))
                for t in range(4):
                    do(b, "tilestored64", number(t), b.at(sums, t * _BYTES), i64(_STEPS))
                with b.loop(0, 4) as quarter:
                    r, s = (
                        b.add(start, b.mul(half, _ROWS))
                        for start, half in ((row, b.div(quarter, 2)), (column, b.rem(quarter, 2)))
                    )
                    high, wide = b.min(_ROWS, b.sub(rows_left, r)), b.min(_ROWS, b.sub(columns_left, s))
                    tile = b.at(sums, b.mul(quarter, _BYTES))
                    exists = b.op("and", b.compare("icmp sgt", high, 0), b.compare("icmp sgt", wide, 0))
                    with b.if_(exists):
                        if turned:
                            transpose(b, tile)
                            high, wide = wide, high
                        operands = {i: b.at(b.at(at[i], b.mul(x, r)), b.mul(y, s)) for i, (x, y) in along.items()}
                        epilogue.rows([tile], _STEPS, _ROWS, high, wide, operands)
            iterator.advance()
    return kernel.step(product.batches * counts[0] * counts[1], rows * columns * max(k, _STEPS) * 0.0006 + 100)
