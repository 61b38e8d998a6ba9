"""Vectors of elements that need not be neighbours: along any axis of a nest."""

from __future__ import annotations

from baracuda.codegen.llvm.ir import Builder, Value, i64, intrinsic, vector
from baracuda.codegen.llvm.memory import load, narrow, store, stored_type, widen
from baracuda.core.elements import ElementKind

#: Bytes of the least that a gather reads.
_GATHERED = 4


def load_lanes(b: Builder, kind: ElementKind, pointer: Value, lanes: int, stride: Value | None, remaining: Value | None) -> Value:
    """`lanes` elements, a byte stride apart (None: neighbours), of which only the first `left` exist (None: all)."""
    if stride is None:
        return load(b, kind, pointer, lanes, None if remaining is None else first_lanes(b, lanes, remaining))
    type_, size = stored_type(kind), kind.itemsize
    raw = Value(vector(type_, lanes), "zeroinitializer")
    for lane in range(lanes):
        # a lane that does not exist reads the first element instead, which does
        index = b.mul(stride, lane) if remaining is None else b.mul(stride, _clamped(b, lane, remaining))
        element = b.load(type_, b.at(pointer, index), size)
        raw = b.emit(raw.type, f"insertelement {raw.type} {raw.name}, {type_} {element.name}, i64 {lane}")
    return widen(b, kind, raw)


def store_lanes(
    b: Builder,
    kind: ElementKind,
    value: Value,
    pointer: Value,
    stride: Value | None,
    remaining: Value | None,
    *,
    streaming: bool = False,
) -> None:
    """The opposite of `load_lanes`."""
    if remaining is not None and remaining.name == "1":  # LLVM makes four bytes of a narrowed vector's one lane that is known
        store(b, kind, b.extract(value, 0), pointer, streaming=streaming)
        return
    if stride is None:
        store(b, kind, value, pointer, None if remaining is None else first_lanes(b, value.lanes, remaining), streaming=streaming)
        return
    raw = narrow(b, kind, value)
    for lane in range(raw.lanes):
        element = b.extract(raw, lane)
        to = b.at(pointer, b.mul(stride, lane))
        if remaining is None:
            b.store(element, to, kind.itemsize)
        else:
            with b.if_(b.less(lane, remaining)):
                b.store(element, to, kind.itemsize)


def load_at(b: Builder, kind: ElementKind, pointer: Value, offsets: Value) -> Value:
    """The elements at some offsets, counted in elements (i64); whether a gather or a load each reads them is LLVM's choice."""
    type_, size, lanes = stored_type(kind), kind.itemsize, offsets.lanes
    if lanes == 1:
        return load(b, kind, b.at(pointer, b.mul(offsets, size)), 1)
    if size >= _GATHERED:
        at = b.emit(vector("ptr", lanes), f"getelementptr {type_}, ptr {pointer.name}, {offsets.type} {offsets.name}")
        return widen(b, kind, _gather(b, type_, size, at))
    # No gather reads less than 32 bits: the aligned word that holds an element lies on its page, whatever is beside it.
    start = b.splat(b.convert("ptrtoint", pointer, "i64"), lanes)
    address = b.op("add", start, b.op("mul", offsets, b.splat(i64(size), lanes)))
    word = b.op("and", address, b.splat(i64(-_GATHERED), lanes))
    held = _gather(b, "i32", _GATHERED, b.convert("inttoptr", word, vector("ptr", lanes)))
    bits = b.op("shl", b.op("and", address, b.splat(i64(_GATHERED - 1), lanes)), b.splat(i64(3), lanes))
    shifted = b.op("lshr", held, b.convert("trunc", bits, held.type))
    return widen(b, kind, b.convert("trunc", shifted, vector(type_, lanes)))


def _gather(b: Builder, type_: str, size: int, at: Value) -> Value:
    many, every = vector(type_, at.lanes), Value(vector("i1", at.lanes), "splat (i1 true)")
    name = intrinsic("masked.gather", many, at.type)
    return b.call(many, name, at, Value("i32", str(size)), every, Value(many, "zeroinitializer"))


def first_lanes(b: Builder, lanes: int, remaining: Value) -> Value:
    """The mask of the first `left` lanes."""
    return b.compare("icmp slt", b.iota(lanes), b.splat(b.convert("trunc", remaining, "i32"), lanes))


def _clamped(b: Builder, lane: int, remaining: Value) -> Value:
    exists = b.less(lane, remaining)
    return b.emit("i64", f"select i1 {exists.name}, i64 {lane}, i64 0")
