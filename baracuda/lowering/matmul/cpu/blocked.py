"""Matrix products of some size: one factor packed in panels by a step of its own, the other block by block on the way."""

from __future__ import annotations

from dataclasses import replace

from baracuda.codegen.llvm.ir import i64
from baracuda.lowering.matmul.cpu.plan import LINE, OrientedMatmul, Steps, aligned, aligned_workspace, split_evenly
from baracuda.lowering.matmul.cpu.read import pack
from baracuda.lowering.matmul.cpu.tile import Epilogue, Tile, micro
from baracuda.lowering.nest.cpu.kernel import Kernel, Words
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.pool import get_num_threads
from baracuda.runtime.program import Launch, Prepared

#: Steps of k that are packed by one unit of work.
_CHUNK = 256
#: Bytes of a block of the left factor, which shares the second level of the cache with a panel of the right one, and the
#: most steps of k in it. It is a local array: a thread's stack must hold it.
_BLOCK_BYTES, _DEPTH = 192 << 10, 1024
#: Columns that one unit of work does with one block of the left factor: packing it is a small part of the work.
_COLUMNS = 768
#: Units of work that each thread should have, so that none waits long for another.
_UNITS = 4


def blocked(product: OrientedMatmul, words: Words, target: CpuTarget) -> Steps:
    """Two steps: pack the right factor, then compute blocks."""
    tile = Tile.of(product.kind, product.parts, target)
    held = words.add(0)
    packing, nbytes = _pack_right(product, tile, product.kernel(words, target), held)
    blocks, more = _blocks(product, tile, product.kernel(words, target), nbytes, held)
    if product.parts == 1:
        packing = replace(packing, prepared=Prepared(product.right[0], nbytes, held - words.first))
    return Steps((packing, blocks), nbytes + more + LINE, "blocked")


def _panel_bytes(product: OrientedMatmul, tile: Tile) -> int:
    """A panel: all steps of k, and the zeros that packing may write beyond them, of a tile's columns."""
    depth = -(-product.extent(product.depth) // tile.lanes) * tile.lanes
    return depth * tile.parts * tile.columns * tile.kind.itemsize


def _panels(product: OrientedMatmul, tile: Tile) -> int:
    return -(-product.extent(product.columns) // tile.columns)


def _packed_strides(product: OrientedMatmul, tile: Tile) -> tuple[list[int], int]:
    """Byte strides of the packed factor along the batch axes, and its size: batches that share a factor share its panels."""
    strides: list[int] = []
    size = _panels(product, tile) * _panel_bytes(product, tile)
    for axis, varies in reversed(list(zip(product.batch, product.varying(product.right), strict=True))):
        strides.insert(0, size if varies else 0)
        size *= product.extent(axis) if varies else 1
    return strides, size


def _pack_right(product: OrientedMatmul, tile: Tile, kernel: Kernel, held: int) -> tuple[Launch, int]:
    b = kernel.b
    batch = [a for a, varies in zip(product.batch, product.varying(product.right), strict=True) if varies]
    strides, size = _packed_strides(product, tile)
    packed = [s for s, varies in zip(strides, product.varying(product.right), strict=True) if varies]
    panels, panel = _panels(product, tile), _panel_bytes(product, tile)
    depth = product.extent(product.depth)
    chunks = max(1, -(-depth // _CHUNK))
    itemsize = tile.kind.itemsize
    pitch = tile.parts * tile.columns * itemsize
    readers = {i: product.reader(kernel, i) for i in product.right}
    panel_bytes = kernel.integer(panel)
    with b.at_entry():
        wide = {i: (b.mul(r.lane_stride, tile.columns), b.mul(r.k_stride, _CHUNK)) for i, r in readers.items()}
    target = len(product.nest.operands)
    iterator = StridedIterator(
        b,
        kernel.integers([*(product.extent(a) for a in batch), panels, chunks]),
        {i: [*kernel.byte_strides(i, batch), *wide[i]] for i in readers}
        | {target: [*kernel.integers(packed), panel_bytes, i64(_CHUNK * pitch)]},
        {i: kernel.operand(i) for i in readers} | {target: kernel.prepared(held, aligned_workspace(kernel))},
    )
    columns, steps = kernel.integer(product.extent(product.columns)), kernel.integer(depth)
    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        pointers, indices = iterator.pointers(), iterator.indices()
        left = b.sub(columns, b.mul(indices[-2], tile.columns))
        count = b.min(_CHUNK, b.sub(steps, b.mul(indices[-1], _CHUNK)))
        for p, (i, reader) in enumerate(readers.items()):
            with b.loop(0, b.min(left, i64(tile.columns)), tile.lanes) as column:
                source = reader.at(pointers[i], column, 0)
                goal = b.at(pointers[target], b.mul(b.add(column, p * tile.columns), itemsize))
                pack(reader, source, tile.lanes, b.sub(left, column), count, goal, pitch)
        iterator.advance()
    units = panels * chunks
    for a in batch:
        units *= product.extent(a)
    return kernel.step(units, _CHUNK * tile.columns * tile.parts * 0.3), aligned(size)


def _block_sizes(product: OrientedMatmul, tile: Tile) -> tuple[int, int, int]:
    """Rows, columns and steps of k of a block."""
    depth = split_evenly(product.extent(product.depth), _DEPTH, tile.rows)
    most = max(tile.rows, _BLOCK_BYTES // (depth * tile.parts * tile.kind.itemsize) // tile.rows * tile.rows)
    m, n = product.extent(product.rows), product.extent(product.columns)
    rows, columns = split_evenly(m, most, tile.rows), split_evenly(n, _COLUMNS, tile.columns)
    wanted = _UNITS * get_num_threads()
    while product.batches * -(-m // rows) * -(-n // columns) < wanted:
        if columns > 4 * tile.columns:
            columns = split_evenly(n, columns // 2, tile.columns)
        elif rows > 4 * tile.rows:
            rows = split_evenly(m, rows // 2, tile.rows)
        else:
            break
    return rows, columns, depth


def _blocks(product: OrientedMatmul, tile: Tile, kernel: Kernel, start: int, held: int) -> tuple[Launch, int]:
    b, itemsize = kernel.b, tile.kind.itemsize
    m, n, k = (product.extent(a) for a in (product.rows, product.columns, product.depth))
    rows, columns, depth = _block_sizes(product, tile)
    counts = (-(-m // rows), -(-n // columns))
    depths = max(1, -(-k // depth))
    units = product.batches * counts[0] * counts[1]
    # Sums wait in the workspace where k takes several blocks, and the tiles of a block lie one behind the other.
    waiting = aligned(-(-rows // tile.rows) * -(-columns // tile.columns) * tile.nbytes) if depths > 1 else 0
    packed_strides, _ = _packed_strides(product, tile)
    panel_bytes = kernel.integer(_panel_bytes(product, tile))
    readers = {i: product.reader(kernel, i) for i in product.left}
    epilogue = Epilogue(kernel, tile.kind, product.others, (product.rows, product.columns))
    block_rows, block_columns, block_depth = kernel.integers([rows, columns, depth])
    block_panels = kernel.integer(columns // tile.columns)
    operands = len(product.nest.operands)
    packed, sums = operands, operands + 1
    batch = list(product.batch)
    with b.at_entry():
        strides = {i: [*kernel.byte_strides(i, batch), b.mul(r.lane_stride, block_rows), i64(0)] for i, r in readers.items()}
        strides |= {
            i: [*kernel.byte_strides(i, batch), b.mul(r, block_rows), b.mul(c, block_columns)]
            for i, (r, c) in epilogue.strides.items()
        }
        workspace = aligned_workspace(kernel)
        strides[packed] = [*kernel.integers(packed_strides), i64(0), b.mul(panel_bytes, block_panels)]
        unit_bytes = [waiting * counts[1], waiting]
        for a in reversed(batch):
            unit_bytes.insert(0, unit_bytes[0] * (counts[0] if a == batch[-1] else product.extent(a + 1)))
        strides[sums] = kernel.integers(unit_bytes)
        bases = {i: kernel.operand(i) for i in (*readers, *product.others)}
        bases |= {packed: kernel.prepared(held, workspace), sums: b.at(workspace, kernel.integer(start))}
    iterator = StridedIterator(b, kernel.integers([*(product.extent(a) for a in batch), *counts]), strides, bases)
    extents, blocks = kernel.integers([m, n, k]), kernel.integer(depths)
    one = b.compare("icmp eq", blocks, 1)
    local = b.array("i8", tile.nbytes)
    block = b.array("i8", _stack_bytes(tile))
    pitch = tile.parts * tile.rows * itemsize
    with b.at_entry():
        tile_pitch = b.mul(b.mul(b.div(b.add(block_depth, tile.rows - 1), tile.rows), tile.rows), pitch)
    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        at, indices = iterator.pointers(), iterator.indices()
        rows_left = b.min(block_rows, b.sub(extents[0], b.mul(indices[-2], block_rows)))
        columns_left = b.min(block_columns, b.sub(extents[1], b.mul(indices[-1], block_columns)))
        with b.loop(0, blocks) as number:
            first = b.mul(number, block_depth)
            count = b.min(block_depth, b.sub(extents[2], first))
            last = b.equal(b.add(number, 1), blocks)
            with b.loop(0, rows_left, tile.rows) as row:
                to = b.at(block, b.mul(b.div(row, tile.rows), tile_pitch))
                for p, (i, reader) in enumerate(readers.items()):
                    source = reader.at(at[i], row, first)
                    pack(reader, source, tile.rows, b.sub(rows_left, row), count, b.at(to, p * tile.rows * itemsize), pitch)
            waits = b.variable(at[sums])
            right = b.at(at[packed], b.mul(first, tile.parts * tile.columns * itemsize))
            with b.loop(0, columns_left, tile.columns) as column:
                panel = b.at(right, b.mul(b.div(column, tile.columns), panel_bytes))
                width = b.min(tile.columns, b.sub(columns_left, column))
                with b.loop(0, rows_left, tile.rows) as row:
                    where = b.select(one, local, waits.get())
                    left = b.at(block, b.mul(b.div(row, tile.rows), tile_pitch))
                    for v in range(tile.vectors, 0, -1):
                        fits = b.compare("icmp sgt", width, (v - 1) * tile.lanes)
                        if v < tile.vectors:
                            fits = b.op("and", fits, b.compare("icmp sle", width, v * tile.lanes))
                        with b.if_(fits):
                            micro(b, tile, v, product.swapped, count, left, panel, where, b.equal(number, 0))
                    with b.if_(last):
                        block_pointers = {
                            i: b.at(b.at(at[i], b.mul(r, row)), b.mul(c, column)) for i, (r, c) in epilogue.strides.items()
                        }
                        part_sums = [b.at(where, tile.offset(p, 0, 0)) for p in range(tile.parts)]
                        height = b.min(tile.rows, b.sub(rows_left, row))
                        epilogue.rows(part_sums, tile.columns * itemsize, tile.columns, height, width, block_pointers)
                    waits.set(b.at(waits.get(), tile.nbytes))
        iterator.advance()
    cost = rows * columns * max(k, 4) * 0.3 / tile.lanes * tile.parts**2 + 100
    return kernel.step(units, cost), waiting * units


def _stack_bytes(tile: Tile) -> int:
    """The size of a block of the left factor at most: the bytes it is meant to have, or one tile's rows at full depth."""
    return max(_BLOCK_BYTES, (_DEPTH + tile.rows) * tile.parts * tile.rows * tile.kind.itemsize)
