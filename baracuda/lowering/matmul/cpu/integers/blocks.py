"""One block of a factor: the elements of some rows or columns over `BLOCK` steps of k, made integers, with their scales."""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Builder, Value, constant, i64, intrinsic, vector
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.matmul.cpu.read import Reader, pack

_ABSOLUTE, _INFINITY = 0x7FFFFFFF, 0x7F800000
#: What an f64's bits grow by so that its exponent is one higher where the significand is above 127/64; and 1022.
_ABOVE, _BIAS = (1 << 52) - 1 - (63 << 46), 1022
#: Steps of k that are asked for ahead of those that are read.
_AHEAD = 12


@dataclass(frozen=True)
class Scales:
    """Of some rows or columns: two factors, which together are 2**(bits - E), and the f32 scale 2**(E - bits). It is NaN where
    an element is not finite, so that it does not matter what the integers are."""

    factors: tuple[Value, Value]
    scale: Value


@dataclass(frozen=True)
class Integers:
    """The integers of a block whose elements wait in memory, vector after vector, made as they are read."""

    b: Builder
    elements: Value
    lanes: int
    scales: Scales

    def at(self, k: Value) -> Value:
        """Those of one step of k, as f32."""
        b, type_ = self.b, vector("float", self.lanes)
        x = scaled(b, b.load(type_, b.at(self.elements, b.mul(k, 4 * self.lanes)), 4 * self.lanes), self.scales.factors)
        return b.call(type_, intrinsic("roundeven", type_), x)

    def whole(self, k: Value) -> Value:
        """Those of one step of k, as s32."""
        b, type_ = self.b, vector("float", self.lanes)
        x = b.load(type_, b.at(self.elements, b.mul(k, 4 * self.lanes)), 4 * self.lanes)
        return rounded(b, scaled(b, x, self.scales.factors))


def scaled(b: Builder, x: Value, factors: tuple[Value, Value]) -> Value:
    """x times both factors, which is exact but where it rounds to 0."""
    return b.op("fmul", b.op("fmul", x, factors[0]), factors[1])


def rounded(b: Builder, x: Value) -> Value:
    """The nearest s32, ties to even."""
    type_ = vector("i32", x.lanes)
    return b.call(type_, intrinsic("lrint", type_, x.type), x)


def integers(
    b: Builder, reader: Reader, lanes: int, groups: int, bits: int, source: Value, extents: tuple[Value, Value], until: Value
) -> list[Integers]:
    """The integers of `groups` times `lanes` rows or columns from `source` on, of which there are extents[0], over extents[1]
    steps, with zeros from there `until`. What those are that do not exist does not matter."""
    elements = b.array("float", groups * BLOCK * lanes)
    remaining, count = extents
    size = 4 * lanes
    places = [b.at(elements, group * BLOCK * size) for group in range(groups)]
    if reader.lane_step == 1:
        most = _copy_rows(b, reader, lanes, source, remaining, count, places)
        _clear(b, places, lanes, count, until)
    else:
        most = []
        for group, at in enumerate(places):
            left = b.sub(remaining, group * lanes)
            end = b.select(b.compare("icmp sgt", left, 0), count, i64(0))
            pack(reader, reader.at(source, group * lanes, 0), lanes, left, end, at, size)
            _clear(b, [at], lanes, end, until)
            most.append(_largest(b, at, lanes, until))
    return [Integers(b, at, lanes, scales(b, largest, bits)) for at, largest in zip(places, most, strict=True)]


def _clear(b: Builder, places: list[Value], lanes: int, start: Value, stop: Value) -> None:
    """Zeros for some steps of k."""
    with b.loop(start, stop) as k:
        for at in places:
            b.store(Value(vector("float", lanes), "zeroinitializer"), b.at(at, b.mul(k, 4 * lanes)), 4 * lanes)


def _copy_rows(
    b: Builder, reader: Reader, lanes: int, source: Value, remaining: Value, count: Value, places: list[Value]
) -> list[Value]:
    """Elements that are neighbours: for each step of k all vectors, which lie one behind the other. Gives the largest
    magnitudes of each."""
    whole = b.compare("icmp sge", remaining, lanes * len(places))
    end = b.select(whole, count, i64(0))
    line = max(1, 64 // (lanes * reader.stored.itemsize))
    most = [b.variable(Value(vector("i32", lanes), "zeroinitializer")) for _ in places]

    def copy(k: Value, left: Value | None) -> None:
        for group, (at, largest) in enumerate(zip(places, most, strict=True)):
            from_ = reader.at(source, group * lanes, k)
            if left is None and group % line == 0:
                b.prefetch(b.at(from_, b.mul(reader.k_stride, _AHEAD)))
            x = reader.one(from_, lanes, left if left is None else b.sub(left, group * lanes))
            b.store(x, b.at(at, b.mul(k, 4 * lanes)), 4 * lanes)
            largest.set(larger(b, largest.get(), magnitude(b, x)))

    with b.loop(0, end) as k:
        copy(k, None)
    with b.loop(end, count) as k:
        copy(k, remaining)
    return [largest.get() for largest in most]


def magnitude(b: Builder, x: Value) -> Value:
    """The bits of |x|, which are ordered as it is, and those of a NaN above all."""
    return b.and_(b.convert("bitcast", x, vector("i32", x.lanes)), constant("i32", _ABSOLUTE, x.lanes))


def larger(b: Builder, x: Value, y: Value) -> Value:
    """The larger of two magnitudes, lane by lane."""
    return b.call(x.type, intrinsic("umax", x.type), x, y)


def _largest(b: Builder, elements: Value, lanes: int, count: Value) -> Value:
    """The largest magnitude of each lane; `count` is even."""
    held = [b.variable(Value(vector("i32", lanes), "zeroinitializer")) for _ in range(2)]
    with b.loop(0, count, len(held)) as k:
        for i, largest in enumerate(held):
            x = b.load(vector("float", lanes), b.at(elements, b.mul(b.add(k, i), 4 * lanes)), 4 * lanes)
            largest.set(larger(b, largest.get(), magnitude(b, x)))
    return larger(b, held[0].get(), held[1].get())


def scales(b: Builder, largest: Value, bits: int) -> Scales:
    """The scales of rows or columns by their largest magnitudes."""
    lanes = largest.lanes
    wide, narrow = vector("i64", lanes), vector("i32", lanes)
    size = b.convert("fpext", b.convert("bitcast", largest, vector("float", lanes)), vector("double", lanes))
    above = b.add(b.convert("bitcast", size, wide), constant("i64", _ABOVE, lanes))
    exponent = b.sub(b.shr(above, constant("i64", 52, lanes)), constant("i64", _BIAS, lanes))
    exponent = b.convert("trunc", exponent, narrow)
    exponent = b.call(narrow, intrinsic("smax", narrow), exponent, constant("i32", bits - 149, lanes))
    up = b.sub(constant("i32", bits, lanes), exponent)
    first = b.call(narrow, intrinsic("smin", narrow), up, constant("i32", 127, lanes))
    scale = _power_of_scale(b, b.sub(exponent, constant("i32", bits, lanes)))
    unusual = b.compare("icmp uge", largest, constant("i32", _INFINITY, lanes))
    scale = b.select(unusual, constant("float", 0x7FC00000, lanes), scale)
    return Scales((_power(b, first), _power(b, b.sub(up, first))), scale)


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
