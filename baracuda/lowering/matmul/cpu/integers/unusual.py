"""Sums of products with elements that are not finite: the contract's rule, where a finished sum is NaN."""

from __future__ import annotations

from baracuda.codegen.llvm.ir import Builder, Value, constant, i64, intrinsic, vector
from baracuda.codegen.llvm.lanes import first_lanes
from baracuda.lowering.matmul.cpu.read import Reader


def settle(
    b: Builder,
    readers: tuple[Reader, Reader],
    sources: tuple[Value, Value],
    depth: Value,
    sums: Value,
    vectors: tuple[int, int],
    extents: tuple[Value, Value],
) -> None:
    """Put right those sums of a tile that are NaN.

    A scale is NaN where an element is not finite, so each sum that the rule is about is NaN; others are where finite sums
    overflowed in both directions, and stay. `vectors` are a row of the tile and how much of it is looked at together.
    """
    pitch, lanes = vectors
    height, width = extents
    type_ = vector("float", lanes)
    with b.loop(0, height) as row, b.loop(0, width, lanes) as column:
        at = b.at(sums, b.mul(b.add(b.mul(row, pitch), column), 4))
        remaining = b.sub(width, column)
        s = b.load(type_, at, 4 * lanes)
        nan = b.op("and", b.compare("fcmp uno", s, s), first_lanes(b, lanes, remaining))
        with b.if_(b.any(nan), seldom=True):
            zero = Value(type_, "zeroinitializer")
            total, unusual = b.variable(zero), b.variable(Value(nan.type, "zeroinitializer"))
            k = b.variable(i64(0))

            def undecided() -> Value:
                some = b.any(b.op("and", nan, b.compare("fcmp ord", total.get(), zero)))
                return b.op("and", b.less(k.get(), depth), some)

            with b.while_(undecided):
                x = b.splat(readers[0].scalar(readers[0].at(sources[0], row, k.get())), lanes)
                y = readers[1].one(readers[1].at(sources[1], column, k.get()), lanes, remaining)
                odd = b.op("or", _not_finite(b, x), _not_finite(b, y))
                total.set(b.op("fadd", total.get(), b.select(odd, b.op("fmul", x, y), zero)))
                unusual.set(b.op("or", unusual.get(), odd))
                k.set(b.add(k.get(), 1))
            ruled = b.op("and", nan, unusual.get())
            b.store(b.select(ruled, total.get(), s), at, 4 * lanes)


def _not_finite(b: Builder, x: Value) -> Value:
    magnitude = b.call(x.type, intrinsic("fabs", x.type), x)
    return b.compare("fcmp ueq", magnitude, constant("float", 0x7F800000, x.lanes))
