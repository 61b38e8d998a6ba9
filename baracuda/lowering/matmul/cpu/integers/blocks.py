"""One block of a factor: the elements of some rows or columns over `BLOCK` steps of k, made integers, with their scales."""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Builder, Value, constant, i64, intrinsic, vector
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.matmul.cpu.read import Reader, pack

_ABSOLUTE, _INFINITY = 0x7FFFFFFF, 0x7F800000
#: What an f64's bits grow by so that its exponent is one higher where the significand is above 127/64; and 1022.
_ABOVE, _BIAS = (1 << 52) - 1 - (63 << 46), 1022


@dataclass(frozen=True)
class Integers:
    """The integers of a block, made as they are read, and the f32 scales of its lanes: NaN where an element is not finite, so
    that it does not matter what the integers are."""

    b: Builder
    elements: Value
    lanes: int
    factors: tuple[Value, Value]
    scale: Value

    def at(self, k: Value) -> Value:
        """Those of one step of k, as f32."""
        b, type_ = self.b, vector("float", self.lanes)
        x = b.load(type_, b.at(self.elements, b.mul(k, 4 * self.lanes)), 4 * self.lanes)
        for factor in self.factors:
            x = b.op("fmul", x, factor)
        return b.call(type_, intrinsic("roundeven", type_), x)


def integers(
    b: Builder, reader: Reader, lanes: int, bits: int, source: Value, remaining: Value, count: Value, until: Value
) -> Integers:
    """The integers of `count` steps from `source` on, zeros from there `until`; lanes from `remaining` on are anything."""
    size = 4 * lanes
    elements = b.array("float", BLOCK * lanes)
    count = b.select(b.compare("icmp sgt", remaining, 0), count, i64(0))
    pack(reader, source, lanes, remaining, count, elements, size)
    with b.loop(count, until) as k:
        b.store(Value(vector("float", lanes), "zeroinitializer"), b.at(elements, b.mul(k, size)), size)
    largest = _largest(b, elements, lanes, until)
    up, scale = _scales(b, largest, bits)
    return Integers(b, elements, lanes, up, scale)


def _largest(b: Builder, elements: Value, lanes: int, count: Value) -> Value:
    """The bits of the largest magnitude of each lane, where those of a NaN are largest of all; `count` is even."""
    type_ = vector("i32", lanes)
    held = [b.variable(Value(type_, "zeroinitializer")) for _ in range(2)]
    with b.loop(0, count, len(held)) as k:
        for i, largest in enumerate(held):
            bits = b.load(type_, b.at(elements, b.mul(b.add(k, i), 4 * lanes)), 4 * lanes)
            bits = b.and_(bits, constant("i32", _ABSOLUTE, lanes))
            largest.set(b.call(type_, intrinsic("umax", type_), largest.get(), bits))
    return b.call(type_, intrinsic("umax", type_), held[0].get(), held[1].get())


def _scales(b: Builder, largest: Value, bits: int) -> tuple[tuple[Value, Value], Value]:
    """Two factors, which together are 2**(bits - E), and 2**(E - bits): NaN where the largest magnitude is not finite."""
    lanes = largest.lanes
    wide, narrow = vector("i64", lanes), vector("i32", lanes)
    magnitude = b.convert("fpext", b.convert("bitcast", largest, vector("float", lanes)), vector("double", lanes))
    above = b.add(b.convert("bitcast", magnitude, wide), constant("i64", _ABOVE, lanes))
    exponent = b.sub(b.shr(above, constant("i64", 52, lanes)), constant("i64", _BIAS, lanes))
    exponent = b.convert("trunc", exponent, narrow)
    exponent = b.call(narrow, intrinsic("smax", narrow), exponent, constant("i32", bits - 149, lanes))
    up = b.sub(constant("i32", bits, lanes), exponent)
    first = b.call(narrow, intrinsic("smin", narrow), up, constant("i32", 127, lanes))
    scale = _power_of_scale(b, b.sub(exponent, constant("i32", bits, lanes)))
    unusual = b.compare("icmp uge", largest, constant("i32", _INFINITY, lanes))
    scale = b.select(unusual, constant("float", 0x7FC00000, lanes), scale)
    return (_power(b, first), _power(b, b.sub(up, first))), scale


def _power(b: Builder, exponent: Value) -> Value:
    """2**exponent, which is a normal f32."""
    lanes = exponent.lanes
    bits = b.shl(b.add(exponent, constant("i32", 127, lanes)), constant("i32", 23, lanes))
    return b.convert("bitcast", bits, vector("float", lanes))


def _power_of_scale(b: Builder, exponent: Value) -> Value:
    """2**exponent, which is an f32, perhaps subnormal."""
    lanes = exponent.lanes
    least = constant("i32", -126 & 0xFFFFFFFF, lanes)
    normal = b.call(exponent.type, intrinsic("smax", exponent.type), exponent, least)
    rest = b.sub(exponent, normal)  # 0, or as far as -23
    return b.op("fmul", _power(b, normal), _power(b, rest))
