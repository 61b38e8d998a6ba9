"""Tiles of operands whose neighbours in memory lie along another axis than the one that is vectorised."""

from __future__ import annotations

from baracuda.codegen.llvm.copying import copy_run
from baracuda.codegen.llvm.ir import Builder, Value, vector
from baracuda.codegen.llvm.memory import stored_type
from baracuda.core.elements import ElementKind


def transposed(b: Builder, rows: list[Value]) -> list[Value]:
    """The columns of a square of vectors: butterflies that exchange ever larger blocks across the diagonal."""
    n = len(rows)
    rows = list(rows)
    step = 1
    while step < n:
        low = [lane if lane & step == 0 else n + lane - step for lane in range(n)]
        high = [lane + step if lane & step == 0 else n + lane for lane in range(n)]
        for i in range(n):
            if i & step == 0:
                x, y = rows[i], rows[i + step]
                rows[i], rows[i + step] = b.shuffle(x, y, low), b.shuffle(x, y, high)
        step *= 2
    return rows


def transpose_tile(
    b: Builder,
    kind: ElementKind,
    vector_bits: int,
    extents: tuple[Value, Value],
    source: Value,
    source_stride: Value,
    target: Value,
    target_stride: Value,
) -> None:
    """target[j, i] = source[i, j] for i, j below the extents; each is contiguous along its last index.

    The strides, in bytes, are those of the first index.
    """
    type_, size = stored_type(kind), kind.itemsize
    n = max(2, min(16, vector_bits // kind.bits))
    whole_i, whole_j = (b.and_(e, -n) for e in extents)
    with b.loop(0, whole_i, n) as i:
        with b.loop(0, whole_j, n) as j:
            start = b.at(b.at(source, b.mul(i, source_stride)), b.mul(j, size))
            rows = [b.load(vector(type_, n), b.at(start, b.mul(source_stride, k)), size) for k in range(n)]
            for k in range(n, 2 * n):  # the next rows: each begins in another page, which no hardware foresees
                b.prefetch(b.at(start, b.mul(source_stride, k)))
            start = b.at(b.at(target, b.mul(j, target_stride)), b.mul(i, size))
            for k, row in enumerate(transposed(b, rows)):
                b.store(row, b.at(start, b.mul(target_stride, k)), size)
        with b.loop(whole_j, extents[1]) as j:
            from_ = b.at(b.at(source, b.mul(i, source_stride)), b.mul(j, size))
            to = b.at(b.at(target, b.mul(j, target_stride)), b.mul(i, size))
            with b.loop(0, n) as r:
                b.store(b.load(type_, b.at(from_, b.mul(r, source_stride)), size), b.at(to, b.mul(r, size)), size)
    with b.loop(whole_i, extents[0]) as i:
        from_ = b.at(source, b.mul(i, source_stride))
        copy_run(b, kind, 1, extents[1], b.at(target, b.mul(i, size)), target_stride, from_, None)
