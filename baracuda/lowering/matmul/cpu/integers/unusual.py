"""Sums of products with elements that are not finite: the contract's rule, where a finished sum is NaN."""

from __future__ import annotations

from typing import Protocol

from baracuda.codegen.llvm.ir import Builder, Value, constant, i64, intrinsic, vector
from baracuda.codegen.llvm.lanes import first_lanes
from baracuda.lowering.matmul.cpu.read import Reader


class SumsInMemory(Protocol):
    """Sums of so many rows, as many columns apart, and how many columns are looked at together."""

    @property
    def rows(self) -> int: ...

    @property
    def columns(self) -> int: ...

    def lanes(self, right: bool) -> int: ...


def settle(
    b: Builder,
    tile: SumsInMemory,
    readers: tuple[Reader, Reader],
    sources: tuple[Value, Value],
    depth: Value,
    sums: Value,
    extents: tuple[Value, Value],
) -> None:
    """Put right those sums of a tile that are NaN, of which there are so many rows and columns.

    A scale is NaN where an element is not finite, so each sum that the rule is about is NaN; others are where finite sums
    overflowed in both directions, and stay. The factors are read once more, all of k for a few columns, up to where nothing
    can change any more.
    """
    height, width = extents
    lanes = tile.lanes(True)
    type_ = vector("float", lanes)
    zero, size = Value(type_, "zeroinitializer"), 4 * lanes
    totals, met = b.array("float", tile.rows * lanes), b.array("i32", tile.rows * lanes)
    with b.loop(0, width, lanes) as column:
        remaining = b.sub(width, column)
        exist = first_lanes(b, lanes, remaining)
        open_ = b.variable(Value(exist.type, "zeroinitializer"))

        def undecided(row: Value, column: Value = column, exist: Value = exist) -> Value:
            s = b.load(type_, _at(b, sums, b.add(b.mul(row, tile.columns), column)), size)
            return b.op("and", b.compare("fcmp uno", s, s), exist)

        with b.loop(0, height) as row:
            open_.set(b.op("or", open_.get(), undecided(row)))
        with b.if_(b.any(open_.get()), seldom=True):
            with b.loop(0, height) as row:
                b.store(zero, b.at(totals, b.mul(row, size)), size)
                b.store(Value(vector("i32", lanes), "zeroinitializer"), b.at(met, b.mul(row, size)), size)
            k = b.variable(i64(0))
            with b.while_(lambda k=k, open_=open_: b.op("and", b.less(k.get(), depth), b.any(open_.get()))):  # type: ignore[misc]
                y = readers[1].one(readers[1].at(sources[1], column, k.get()), lanes, remaining)
                odd_y, changed = _not_finite(b, y), b.variable(Value("i1", "false"))
                with b.loop(0, height) as row:
                    x = b.splat(readers[0].scalar(readers[0].at(sources[0], row, k.get())), lanes)
                    odd = b.op("or", _not_finite(b, x), odd_y)
                    with b.if_(b.any(odd), seldom=True):
                        total, seen = b.at(totals, b.mul(row, size)), b.at(met, b.mul(row, size))
                        term = b.select(odd, b.op("fmul", x, y), zero)
                        b.store(b.op("fadd", b.load(type_, total, size), term), total, size)
                        met_now = b.convert("sext", odd, vector("i32", lanes))
                        b.store(b.or_(b.load(met_now.type, seen, size), met_now), seen, size)
                        changed.set(Value("i1", "true"))
                with b.if_(changed.get(), seldom=True):
                    open_.set(Value(exist.type, "zeroinitializer"))
                    with b.loop(0, height) as row:
                        total = b.load(type_, b.at(totals, b.mul(row, size)), size)
                        finite = b.op("and", undecided(row), b.compare("fcmp ord", total, zero))
                        open_.set(b.op("or", open_.get(), finite))
                k.set(b.add(k.get(), 1))
            with b.loop(0, height) as row:
                seen = b.load(vector("i32", lanes), b.at(met, b.mul(row, size)), size)
                ruled = b.op("and", undecided(row), b.compare("icmp ne", seen, constant("i32", 0, lanes)))
                at = _at(b, sums, b.add(b.mul(row, tile.columns), column))
                total = b.load(type_, b.at(totals, b.mul(row, size)), size)
                b.store(b.select(ruled, total, b.load(type_, at, size)), at, size)


def _at(b: Builder, sums: Value, index: Value) -> Value:
    return b.at(sums, b.mul(index, 4))


def _not_finite(b: Builder, x: Value) -> Value:
    size = b.call(x.type, intrinsic("fabs", x.type), x)
    return b.compare("fcmp ueq", size, constant("float", 0x7F800000, x.lanes))
