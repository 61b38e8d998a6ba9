"""Many small products: each one whole by one thread, with nothing packed but the left factor, row after row."""

from __future__ import annotations

from math import prod

from baracuda.codegen.llvm.ir import Value, i64
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.lowering.matmul.cpu.plan import OrientedMatmul, Steps
from baracuda.lowering.matmul.cpu.read import Reader
from baracuda.lowering.matmul.cpu.tile import Epilogue, Tile, chain
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cpu.kernel import Words
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.runtime.jit import CpuTarget

#: Extents up to which a product is small, and how many there are at least; rows whose sums are in registers at once.
SMALL, MANY, _ROWS = 32, 16, 8


def is_small(c: MatmulProblem) -> bool:
    """Whether a product is one of many small ones, of real numbers, whose columns are neighbours."""
    known = len(c.a) == 1 and c.k > 0 and not any(o.general for o in c.tensors)
    return known and max(c.m, c.n, c.k) <= SMALL and prod(c.batch) >= MANY


def small_products(product: OrientedMatmul, words: Words, target: CpuTarget) -> Steps:
    """One step, whose units are products."""
    kernel = product.kernel(words, target)
    b, lanes = kernel.b, target.vector_bits // product.kind.bits
    tile = Tile(product.kind, 1, _ROWS, 1, lanes)
    (left,), (right,) = product.left, product.right
    size, element = tile.kind.itemsize, compute_type(tile.kind)
    batch = list(product.batch)
    k_stride, row_stride = kernel.byte_strides(left, (product.depth, product.rows))
    along_k = Reader.of(b, product.operand(left), (product.depth, product.rows), (k_stride, row_stride))
    of_columns = product.reader(kernel, right)
    epilogue = Epilogue(kernel, tile.kind, product.others, (product.rows, product.columns))
    operands = (left, right, *product.others)
    iterator = StridedIterator(
        b,
        kernel.integers([product.extent(a) for a in batch]),
        {i: kernel.byte_strides(i, batch) for i in operands},
        {i: kernel.operand(i) for i in operands},
    )
    rows, columns, depth = kernel.integers([product.extent(a) for a in (product.rows, product.columns, product.depth)])
    pitch = (SMALL + lanes) * size
    widened, sums = (b.array(element, (SMALL + _ROWS) * (SMALL + lanes)) for _ in range(2))
    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        at = iterator.pointers()
        with b.loop(0, rows) as row, b.loop(0, depth, lanes) as k:
            source, to = along_k.at(at[left], k, row), b.at(widened, b.add(b.mul(row, pitch), b.mul(k, size)))
            remaining = b.sub(depth, k)
            whole = b.compare("icmp sge", remaining, lanes)
            with b.if_(whole):
                b.store(along_k.one(source, lanes, None), to, size)
            with b.else_(whole):
                b.store(along_k.one(source, lanes, remaining), to, size)

        def chains(column: Value, remaining: Value | None, at: dict[int, Value] = at) -> None:
            with b.loop(0, rows, _ROWS) as row:
                held = [b.variable(tile.zero) for _ in range(_ROWS)]
                first = b.at(widened, b.mul(row, pitch))
                with b.loop(0, depth) as k:
                    y = of_columns.one(of_columns.at(at[right], column, k), lanes, remaining)
                    here = b.at(first, b.mul(k, size))
                    for i, variable in enumerate(held):
                        x = b.splat(b.load(element, b.at(here, i * pitch), size), lanes)
                        variable.set(chain(b, tile.kind, [variable.get()], [x], [y], product.swapped)[0])
                for i, variable in enumerate(held):
                    b.store(variable.get(), b.at(sums, b.add(b.mul(b.add(row, i), pitch), b.mul(column, size))), size)

        end = b.mul(b.div(columns, lanes), lanes)
        with b.loop(i64(0), end, lanes) as column:
            chains(column, None)
        with b.loop(end, columns, lanes) as column:
            chains(column, b.sub(columns, column))
        epilogue.rows([sums], pitch, SMALL, rows, columns, {i: at[i] for i in epilogue.strides})
        iterator.advance()
    cost = prod(product.extent(a) for a in (product.rows, product.columns, product.depth)) * 0.3 / lanes + 30
    return Steps((kernel.step(product.batches, cost),), 0, "small")
