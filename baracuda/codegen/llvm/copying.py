"""Moving elements as they are stored, without looking at their value."""

from __future__ import annotations

from baracuda.codegen.llvm.ir import Builder, Value, i64, vector
from baracuda.codegen.llvm.memory import stored_type
from baracuda.core.elements import ElementKind

_TOGETHER = 4


def copy_run(
    b: Builder,
    kind: ElementKind,
    lanes: int,
    count: Value,
    target: Value,
    target_stride: Value | None,
    source: Value,
    source_stride: Value | None,
) -> None:
    """`count` elements from one address to another; a stride is in bytes, None where the elements are neighbours."""
    type_, size = stored_type(kind), kind.itemsize
    end = i64(0)
    if target_stride is None and source_stride is None:
        end = b.and_(count, -lanes)
        with b.loop(0, end, lanes) as i:
            offset = b.mul(i, size)
            b.store(b.load(vector(type_, lanes), b.at(source, offset), size), b.at(target, offset), size)

    def address(base: Value, stride: Value | None, i: Value) -> Value:
        return b.at(base, b.mul(i, size if stride is None else stride))

    def some(i: Value, n: int) -> None:
        indices = [b.add(i, k) for k in range(n)]
        values = [b.load(type_, address(source, source_stride, k), size) for k in indices]
        for k, v in zip(indices, values, strict=True):
            b.store(v, address(target, target_stride, k), size)

    if target_stride is not None or source_stride is not None:
        end = b.and_(count, -_TOGETHER)
        with b.loop(0, end, _TOGETHER) as i:
            some(i, _TOGETHER)
    with b.loop(end, count) as i:
        some(i, 1)


def repeat(b: Builder, kind: ElementKind, lanes: int, count: Value, target: Value, source: Value) -> None:
    """One element `count` times, in whole vectors: the last may reach beyond."""
    type_, size = stored_type(kind), kind.itemsize
    values = b.splat(b.load(type_, source, size), lanes)
    with b.loop(0, count, lanes) as i:
        b.store(values, b.at(target, b.mul(i, size)), size)
