"""Products with few rows: the large factor is read once, where it lies, and every vector of it is used for all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baracuda.codegen.llvm.ir import Value, i64
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.lowering.matmul.cpu.plan import LINE, OrientedMatmul, Steps, aligned, aligned_workspace
from baracuda.lowering.matmul.cpu.read import Reader
from baracuda.lowering.matmul.cpu.tile import Epilogue, Tile, chain
from baracuda.lowering.nest.cpu.kernel import Kernel, Words
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.pool import get_num_threads
from baracuda.runtime.program import Launch

#: More rows than this are worth packing the large factor for.
MOST_ROWS = 16
#: Bytes of the sums of a strip, a local array that stays in the first level of the cache, and its columns at most.
_SUM_BYTES, _COLUMNS = 16 << 10, 4096
#: Vectors of the large factor held at a time where they are read along its columns.
_TOGETHER = 8
#: Strips that each thread should have, so that none waits long for another.
_UNITS = 2


def strips(product: OrientedMatmul, words: Words, target: CpuTarget) -> Steps:
    """Two steps: convert the small factor, then compute strips of columns."""
    lanes = target.vector_bits // product.kind.bits
    tile = Tile(product.kind, product.parts, 1, 1, lanes)
    packing, nbytes = _pack_left(product, tile, product.kernel(words, target))
    step = _strips(product, tile, product.kernel(words, target))
    return Steps((packing, step), nbytes + LINE, "strips")


def _left_strides(product: OrientedMatmul, tile: Tile) -> tuple[list[int], int]:
    """Byte strides of the converted small factor along the batch axes, its rows and its parts, and its size."""
    part = aligned((product.extent(product.depth) + tile.lanes) * tile.kind.itemsize)
    strides, size = [part * tile.parts, part], part * tile.parts * product.extent(product.rows)
    for axis in reversed(product.batch):
        strides.insert(0, size)
        size *= product.extent(axis)
    return strides, size


def _pack_left(product: OrientedMatmul, tile: Tile, kernel: Kernel) -> tuple[Launch, int]:
    """Each unit is a row: its elements one k behind the other, in the accumulator's kind."""
    b, itemsize = kernel.b, tile.kind.itemsize
    axes = [*product.batch, product.rows]
    strides, size = _left_strides(product, tile)
    target = len(product.nest.operands)
    readers = {}
    for i in product.left:  # vectors run along k here
        lane, other = kernel.byte_strides(i, (product.depth, product.rows))
        readers[i] = Reader.of(b, product.operand(i), (product.depth, product.rows), (lane, other))
    iterator = StridedIterator(
        b,
        kernel.integers([product.extent(a) for a in axes]),
        {i: kernel.byte_strides(i, axes) for i in readers} | {target: kernel.integers(strides[:-1])},
        {i: kernel.operand(i) for i in readers} | {target: aligned_workspace(kernel)},
    )
    depth, part_pitch = kernel.integers([product.extent(product.depth), strides[-1]])
    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        pointers = iterator.pointers()
        with b.loop(0, depth, tile.lanes) as k:
            remaining = b.sub(depth, k)
            whole = b.compare("icmp sge", remaining, tile.lanes)
            for p, (i, reader) in enumerate(readers.items()):
                source = reader.at(pointers[i], k, 0)
                goal = b.at(b.at(pointers[target], b.mul(part_pitch, p)), b.mul(k, itemsize))
                with b.if_(whole):
                    b.store(reader.one(source, tile.lanes, None), goal, itemsize)
                with b.else_(whole):
                    b.store(reader.one(source, tile.lanes, remaining), goal, itemsize)
        iterator.advance()
    units = product.batches * product.extent(product.rows)
    return kernel.step(units, 0.2 * product.extent(product.depth) * tile.parts + 5), aligned(size)


def _columns(product: OrientedMatmul, tile: Tile) -> int:
    """The columns of a strip: as many as their sums' bytes allow, but enough strips for all threads."""
    n, rows = product.extent(product.columns), product.extent(product.rows)
    most = max(tile.lanes, min(_COLUMNS, _SUM_BYTES // (rows * tile.parts * tile.kind.itemsize)) // tile.lanes * tile.lanes)
    wanted = _UNITS * get_num_threads()
    while most > 4 * tile.lanes and product.batches * -(-n // most) < wanted:
        most = max(4 * tile.lanes, most // 2 // tile.lanes * tile.lanes)
    return min(most, -(-n // tile.lanes) * tile.lanes)


def _strips(product: OrientedMatmul, tile: Tile, kernel: Kernel) -> Launch:
    b, itemsize, lanes, parts = kernel.b, tile.kind.itemsize, tile.lanes, tile.parts
    width = _columns(product, tile)
    counts = -(-product.extent(product.columns) // width)
    batch = list(product.batch)
    readers = {i: product.reader(kernel, i) for i in product.right}
    epilogue = Epilogue(kernel, tile.kind, product.others, (product.rows, product.columns))
    wide = kernel.integer(width)
    converted = len(product.nest.operands)
    left_strides, _ = _left_strides(product, tile)
    with b.at_entry():
        strides = {i: [*kernel.byte_strides(i, batch), b.mul(r.lane_stride, wide)] for i, r in readers.items()}
        strides |= {i: [*kernel.byte_strides(i, batch), b.mul(c, wide)] for i, (_, c) in epilogue.strides.items()}
    strides[converted] = [*kernel.integers(left_strides[:-2]), i64(0)]
    bases = {i: kernel.operand(i) for i in (*readers, *product.others)} | {converted: aligned_workspace(kernel)}
    iterator = StridedIterator(b, kernel.integers([*(product.extent(a) for a in batch), counts]), strides, bases)
    rows, columns, depth = kernel.integers([product.extent(a) for a in (product.rows, product.columns, product.depth)])
    sums = b.array(compute_type(tile.kind), max(_SUM_BYTES // itemsize, MOST_ROWS * lanes * parts))
    with b.at_entry():
        pitch = b.mul(wide, itemsize)  # of a row of sums; the rows of one part follow one another
        part_pitch = b.mul(pitch, rows)
    left_row, left_part = kernel.integers(left_strides[-2:])
    strip = _Strip(kernel, product, tile, readers, rows, (sums, part_pitch, pitch), (converted, left_row, left_part))
    along_k = next(iter(readers.values())).along_k
    together = lanes if along_k else _TOGETHER
    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        at, indices = iterator.pointers(), iterator.indices()
        strip_width = b.min(wide, b.sub(columns, b.mul(indices[-1], wide)))
        many = b.mul(b.div(depth, together), together)
        with b.loop(0, b.mul(part_pitch, parts), lanes * itemsize) as i:
            b.store(tile.zero, b.at(sums, i), lanes * itemsize)
        if along_k:
            with b.loop(0, strip_width, lanes) as column:
                vector_end = b.select(b.compare("icmp sge", b.sub(strip_width, column), lanes), many, i64(0))
                with b.loop(0, vector_end, together) as k:
                    strip.group(at, k, column, together)
                with b.loop(vector_end, depth) as k:
                    strip.single(at, k, column, b.sub(strip_width, column))
        else:
            whole = b.and_(strip_width, -lanes)
            with b.loop(0, many, together) as k, b.loop(0, whole, lanes) as column:
                strip.group(at, k, column, together)
            with b.loop(many, depth) as k, b.loop(0, whole, lanes) as column:
                strip.single(at, k, column, None)
            with b.loop(0, depth) as k, b.loop(whole, strip_width, lanes) as column:
                strip.single(at, k, column, b.sub(strip_width, column))
        addresses = [b.at(sums, b.mul(part_pitch, p)) for p in range(parts)]
        epilogue.rows(addresses, pitch, 4 * lanes, rows, strip_width, {i: at[i] for i in epilogue.strides})
        iterator.advance()
    cost = width * product.extent(product.depth) * (product.extent(product.rows) * 0.3 / lanes + itemsize * 0.05) + 50
    return kernel.step(product.batches * counts, cost)


class _Strip:
    """The steps of k over a strip: vectors of the large factor, used for every row while they are in registers."""

    def __init__(
        self,
        kernel: Kernel,
        product: OrientedMatmul,
        tile: Tile,
        readers: Mapping[int, Reader],
        rows: Value,
        sums: tuple[Value, Value, Value],
        left: tuple[int, Value, Value],
    ) -> None:
        self.b, self.product, self.tile, self.readers, self.rows = kernel.b, product, tile, readers, rows
        self.sums, self.part_pitch, self.pitch = sums
        self.left, self.left_pitch, self.left_part = left

    def group(self, at: Mapping[int, Value], k: Value, column: Value, count: int) -> None:
        """`count` steps of k for a vector of columns, all of which exist."""
        vectors = []
        for i, reader in self.readers.items():
            source = reader.at(at[i], column, k)
            if reader.along_k:
                vectors.append(reader.square(source, count))
            else:
                vectors.append([reader.one(reader.at(source, 0, g), self.tile.lanes, None) for g in range(count)])
        self._use([list(v) for v in zip(*vectors, strict=True)], at, k, column)

    def single(self, at: Mapping[int, Value], k: Value, column: Value, remaining: Value | None) -> None:
        """One step of k for the first `left` columns of a vector, all of them for None."""
        vectors = [r.one(r.at(at[i], column, k), self.tile.lanes, remaining) for i, r in self.readers.items()]
        self._use([vectors], at, k, column)

    def _use(self, right: Sequence[Sequence[Value]], at: Mapping[int, Value], k: Value, column: Value) -> None:
        b, tile = self.b, self.tile
        itemsize, parts = tile.kind.itemsize, range(tile.parts)
        element = compute_type(tile.kind)
        with b.loop(0, self.rows) as row:
            factor = b.at(b.at(at[self.left], b.mul(row, self.left_pitch)), b.mul(k, itemsize))
            place = b.at(b.at(self.sums, b.mul(row, self.pitch)), b.mul(column, itemsize))
            places = [b.at(place, b.mul(self.part_pitch, p)) for p in parts]
            sums = [b.load(tile.type, at_, tile.lanes * itemsize) for at_ in places]
            for g, ys in enumerate(right):
                scalars = [b.load(element, b.at(b.at(factor, b.mul(self.left_part, p)), g * itemsize), itemsize) for p in parts]
                xs = [b.splat(x, tile.lanes) for x in scalars]
                sums = chain(b, tile.kind, sums, xs, ys, self.product.swapped)
            for at_, value in zip(places, sums, strict=True):
                b.store(value, at_, tile.lanes * itemsize)
