"""Vectors of elements that need not be neighbours: along any axis of a nest."""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.lowering.cpu.ir import Builder, Value, intrinsic, vector
from baracuda.lowering.cpu.memory import load, narrow, store, stored_type, widen


def load_lanes(b: Builder, kind: ElementKind, pointer: Value, lanes: int, stride: Value | None, left: Value | None) -> Value:
    """`lanes` elements, a byte stride apart (None: neighbours), of which only the first `left` exist (None: all)."""
    if stride is None:
        return load(b, kind, pointer, lanes, None if left is None else first_lanes(b, lanes, left))
    type_, size = stored_type(kind), kind.itemsize
    raw = Value(vector(type_, lanes), "zeroinitializer")
    for lane in range(lanes):
        # a lane that does not exist reads the first element instead, which does
        index = b.mul(stride, lane) if left is None else b.mul(stride, _clamped(b, lane, left))
        element = b.load(type_, b.at(pointer, index), size)
        raw = b.emit(raw.type, f"insertelement {raw.type} {raw.name}, {type_} {element.name}, i64 {lane}")
    return widen(b, kind, raw)


def store_lanes(
    b: Builder,
    kind: ElementKind,
    value: Value,
    pointer: Value,
    stride: Value | None,
    left: Value | None,
    *,
    streaming: bool = False,
) -> None:
    """The opposite of `load_lanes`."""
    if stride is None:
        store(b, kind, value, pointer, None if left is None else first_lanes(b, value.lanes, left), streaming=streaming)
        return
    raw = narrow(b, kind, value)
    for lane in range(raw.lanes):
        element = b.extract(raw, lane)
        to = b.at(pointer, b.mul(stride, lane))
        if left is None:
            b.store(element, to, kind.itemsize)
        else:
            with b.if_(b.less(lane, left)):
                b.store(element, to, kind.itemsize)


def load_at(b: Builder, kind: ElementKind, pointer: Value, offsets: Value) -> Value:
    """The elements at some offsets, counted in elements (i64); whether a gather or a load each reads them is LLVM's choice, but
    there is no gather of less than 32 bits."""
    type_, size = stored_type(kind), kind.itemsize
    if offsets.lanes == 1:
        return load(b, kind, b.at(pointer, b.mul(offsets, size)), 1)
    if size >= 4:
        many = vector(type_, offsets.lanes)
        at = b.emit(vector("ptr", offsets.lanes), f"getelementptr {type_}, ptr {pointer.name}, {offsets.type} {offsets.name}")
        every = Value(vector("i1", offsets.lanes), "splat (i1 true)")
        name = intrinsic("masked.gather", many, at.type)
        return widen(b, kind, b.call(many, name, at, Value("i32", str(size)), every, Value(many, "zeroinitializer")))
    raw = Value(vector(type_, offsets.lanes), "zeroinitializer")
    for lane in range(offsets.lanes):
        element = b.load(type_, b.at(pointer, b.mul(b.extract(offsets, lane), size)), size)
        raw = b.emit(raw.type, f"insertelement {raw.type} {raw.name}, {type_} {element.name}, i64 {lane}")
    return widen(b, kind, raw)


def first_lanes(b: Builder, lanes: int, left: Value) -> Value:
    """The mask of the first `left` lanes."""
    return b.compare("icmp slt", b.iota(lanes), b.splat(b.convert("trunc", left, "i32"), lanes))


def _clamped(b: Builder, lane: int, left: Value) -> Value:
    exists = b.less(lane, left)
    return b.emit("i64", f"select i1 {exists.name}, i64 {lane}, i64 0")
