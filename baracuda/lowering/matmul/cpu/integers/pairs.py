"""Products of 8-bit integers on vectors: two steps of k side by side in a word, as 16-bit integers, whose products an instruction
multiplies and adds in s32, which wraps. Both factors are packed in panels, over all of k."""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Builder, Value, constant, i64, vector
from baracuda.core.elements import ElementKind
from baracuda.lowering.matmul.cpu.integers.halves import add_products
from baracuda.lowering.matmul.cpu.integers.packed_factor import PackedFactor
from baracuda.lowering.matmul.cpu.plan import LINE, OrientedMatmul, Steps, split_evenly
from baracuda.lowering.matmul.cpu.read import pack
from baracuda.lowering.matmul.cpu.tile import Epilogue
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cpu.kernel import Kernel, Words
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.pool import get_num_threads
from baracuda.runtime.program import Launch

#: Rows below which the large factor is read where it lies; steps of k that a unit of packing takes.
_FEWEST, _CHUNK = 17, 256
#: Bytes of the rows of a unit of work, its rows and columns at most, and units that each thread should have.
_ROW_BYTES, _MOST_ROWS, _MOST_COLUMNS, _UNITS = 512 << 10, 256, 768, 4
#: What multiplies pairs of 16-bit integers and adds both products, by the bits of a vector, where nothing adds to sums as well.
_MULTIPLY = {512: "llvm.x86.avx512.pmaddw.d.512", 256: "llvm.x86.avx2.pmadd.wd"}


def takes_pairs(c: MatmulProblem, target: CpuTarget) -> bool:
    """Whether a product is one of 8-bit integers with some rows, for which a target has such instructions."""
    bytes_ = len(c.a) == 1 and all(o.kind in (ElementKind.S8, ElementKind.U8) for o in (*c.a, *c.b))
    known = c.accumulator is ElementKind.S32 and c.k > 0 and min(c.m, c.n) >= _FEWEST
    return bytes_ and known and target.vector_bits in _MULTIPLY and target.triple.startswith("x86_64")


@dataclass(frozen=True)
class _Panels(PackedFactor):
    """A factor in panels of `width` rows or columns."""

    lanes: int
    width: int

    @property
    def panels(self) -> int:
        return -(-self.extent // self.width)

    @property
    def panel_bytes(self) -> int:
        return -(-self.product.extent(self.product.depth) // 2) * self.width * 4

    @property
    def batch_bytes(self) -> int:
        return self.panels * self.panel_bytes

    def step(self, kernel: Kernel) -> Launch:
        """Makes the panels; a unit is some steps of k of one."""
        b, product, lanes = kernel.b, self.product, self.lanes
        batch = [a for a, varies in zip(product.batch, self.varying, strict=True) if varies]
        packed = [s for s, varies in zip(self.strides, self.varying, strict=True) if varies]
        reader, target = product.reader(kernel, self.operand), len(product.nest.operands)
        depth = product.extent(product.depth)
        chunks = -(-depth // _CHUNK)
        with b.at_entry():
            wide = [b.mul(reader.lane_stride, self.width), b.mul(reader.k_stride, _CHUNK)]
        iterator = StridedIterator(
            b,
            kernel.integers([*(product.extent(a) for a in batch), self.panels, chunks]),
            {
                self.operand: [*kernel.byte_strides(self.operand, batch), *wide],
                target: [*kernel.integers(packed), kernel.integer(self.panel_bytes), i64(_CHUNK // 2 * self.width * 4)],
            },
            {self.operand: kernel.operand(self.operand), target: self.place(kernel)},
        )
        extent, steps = kernel.integers([self.extent, depth])
        size = 4 * lanes
        elements = b.array("i32", (_CHUNK + lanes) * lanes)
        low = constant("i32", 0xFFFF, lanes)
        iterator.start(kernel.begin)
        with b.loop(kernel.begin, kernel.end):
            at, indices = iterator.pointers(), iterator.indices()
            remaining = b.sub(extent, b.mul(indices[-2], self.width))
            count = b.min(_CHUNK, b.sub(steps, b.mul(indices[-1], _CHUNK)))
            with b.loop(0, b.min(remaining, i64(self.width)), lanes) as lane:
                pack(reader, reader.at(at[self.operand], lane, 0), lanes, b.sub(remaining, lane), count, elements, size)
                b.store(Value(low.type, "zeroinitializer"), b.at(elements, b.mul(count, size)), size)
                to = b.at(at[target], b.mul(lane, 4))
                with b.loop(0, count, 2) as k:
                    here = b.at(elements, b.mul(k, size))
                    x, y = (b.load(low.type, b.at(here, i * size), size) for i in (0, 1))
                    word = b.or_(b.and_(x, low), b.shl(y, constant("i32", 16, lanes)))
                    b.store(word, b.at(to, b.mul(k, self.width * 2)), 4)
            iterator.advance()
        units = self.panels * chunks
        for a in batch:
            units *= product.extent(a)
        return kernel.step(units, min(depth, _CHUNK) * self.width * 0.2 + 20)


def pair_product(product: OrientedMatmul, words: Words, target: CpuTarget) -> Steps:
    """Three steps: the panels of both factors, then the products."""
    lanes, tall = target.vector_bits // 32, 8 if target.vector_bits == 512 else 4
    left = _Panels(product, False, 0, tall, tall)
    right = _Panels(product, True, left.nbytes, lanes, 3 * lanes)
    steps = [p.step(product.kernel(words, target)) for p in (left, right)]
    steps.append(_products(left, right, product.kernel(words, target)))
    return Steps(tuple(steps), left.nbytes + right.nbytes + LINE, "pairs")


def _added(b: Builder, target: CpuTarget, sums: Value, x: Value, y: Value) -> Value:
    """The sums with the products of pairs."""
    vnni = "+avx512vnni" if target.vector_bits == 512 else "+avxvnni"
    if vnni in target.features.split(","):
        return add_products(b, sums, x, y)
    halves = vector("i16", 2 * sums.lanes)
    pairs = [b.convert("bitcast", v, halves) for v in (x, y)]
    return b.add(sums, b.call(sums.type, _MULTIPLY[target.vector_bits], *pairs))


def _products(left: _Panels, right: _Panels, kernel: Kernel) -> Launch:
    b, product = kernel.b, left.product
    m, n, k = (product.extent(a) for a in (product.rows, product.columns, product.depth))
    rows = split_evenly(m, max(left.width, min(_MOST_ROWS, _ROW_BYTES // (2 * k) // left.width * left.width)), left.width)
    columns = split_evenly(n, _MOST_COLUMNS, right.width)
    wanted = _UNITS * get_num_threads()
    while product.batches * -(-m // rows) * -(-n // columns) < wanted and (columns > right.width or rows > left.width):
        if columns > right.width and (columns > rows or rows == left.width):
            columns = split_evenly(n, columns // 2, right.width)
        else:
            rows = split_evenly(m, rows // 2, left.width)
    counts = (-(-m // rows), -(-n // columns))
    epilogue = Epilogue(kernel, ElementKind.S32, product.others, (product.rows, product.columns))
    unit_rows, unit_columns, rows_bytes, columns_bytes = kernel.integers(
        [rows, columns, rows // left.width * left.panel_bytes, columns // right.width * right.panel_bytes]
    )
    left_panel, right_panel = kernel.integers([left.panel_bytes, right.panel_bytes])
    batch = list(product.batch)
    first, second = len(product.nest.operands), len(product.nest.operands) + 1
    with b.at_entry():
        strides = {
            first: [*kernel.integers(left.strides), rows_bytes, i64(0)],
            second: [*kernel.integers(right.strides), i64(0), columns_bytes],
        }
        strides |= {
            i: [*kernel.byte_strides(i, batch), b.mul(r, unit_rows), b.mul(c, unit_columns)]
            for i, (r, c) in epilogue.strides.items()
        }
        bases = {i: kernel.operand(i) for i in product.others} | {first: left.place(kernel), second: right.place(kernel)}
    iterator = StridedIterator(b, kernel.integers([*(product.extent(a) for a in batch), *counts]), strides, bases)
    extents, pairs = kernel.integers([m, n]), kernel.integer(-(-k // 2))
    lanes, type_ = right.lanes, vector("i32", right.lanes)
    sums = b.array("i32", left.width * right.width)
    places = [(r, v) for r in range(left.width) for v in range(3)]
    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        at, indices = iterator.pointers(), iterator.indices()
        rows_left = b.min(unit_rows, b.sub(extents[0], b.mul(indices[-2], unit_rows)))
        columns_left = b.min(unit_columns, b.sub(extents[1], b.mul(indices[-1], unit_columns)))
        with b.loop(0, columns_left, right.width) as column, b.loop(0, rows_left, left.width) as row:
            own_left = b.variable(b.at(at[first], b.mul(b.div(row, left.width), left_panel)))
            own_right = b.variable(b.at(at[second], b.mul(b.div(column, right.width), right_panel)))
            held = {place: b.variable(Value(type_, "zeroinitializer")) for place in places}
            with b.loop(0, pairs):
                x, y = own_left.get(), own_right.get()
                ys = [b.load(type_, b.at(y, 4 * v * lanes), 4) for v in range(3)]
                for r in range(left.width):
                    pair = b.splat(b.load("i32", b.at(x, 4 * r), 4), lanes)
                    for v in range(3):
                        held[r, v].set(_added(b, kernel.target, held[r, v].get(), pair, ys[v]))
                own_left.set(b.at(x, 4 * left.width))
                own_right.set(b.at(y, 4 * right.width))
            for (r, v), variable in held.items():
                b.store(variable.get(), b.at(sums, 4 * (r * right.width + v * lanes)), 4 * lanes)
            high, wide = b.min(left.width, b.sub(rows_left, row)), b.min(right.width, b.sub(columns_left, column))
            operands = {i: b.at(b.at(at[i], b.mul(r, row)), b.mul(c, column)) for i, (r, c) in epilogue.strides.items()}
            epilogue.rows([sums], 4 * right.width, right.width, high, wide, operands)
        iterator.advance()
    return kernel.step(product.batches * counts[0] * counts[1], rows * columns * k * 0.2 / lanes + 100)
