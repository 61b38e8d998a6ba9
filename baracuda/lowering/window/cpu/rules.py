"""Where the windows of an output lie along an axis, as LLVM IR: the first element, how many, and how far apart."""

from __future__ import annotations

from typing import NamedTuple

from baracuda.codegen.llvm.ir import Builder, Int, Value, i64
from baracuda.lowering.sort.cpu.code import StepBuilder
from baracuda.lowering.window.problem import Axis, Strided


class Taps(NamedTuple):
    """The taps of a window along an axis: i = start + j * step for j below number."""

    start: Value
    number: Value
    step: Value


def maximum(b: Builder, x: Value, y: Int) -> Value:
    return b.select(b.less(x, y), i64(y), x)


def _short(b: Builder, op: str, x: Value, y: Value) -> Value:
    """A division in 32 bits, which is faster and, as coordinates are below 2**31, enough."""
    divided = b.op(op, *(b.convert("trunc", v, "i32") for v in (x, y)))
    return b.convert("sext", divided, "i64")


def sdiv(b: Builder, x: Value, y: Value) -> Value:
    return _short(b, "sdiv", x, y)


def _ceil(b: Builder, x: Value, y: Value) -> Value:
    """x / y rounded up, of numbers of 0 or more."""
    return sdiv(b, b.sub(b.add(x, y), 1), y)


class StridedRule:
    """The numbers of a strided rule, read once."""

    def __init__(self, code: StepBuilder, axis: Axis) -> None:
        rule = axis.rule
        assert isinstance(rule, Strided)
        self.code, self.rule = code, rule
        self.has_base = rule.base > 1
        self.is_dilated = rule.dilation > 1
        self.source, self.size, self.stride = code.numbers([axis.source, rule.size, rule.stride])
        self.dilation, self.pad, self.base = code.numbers([rule.dilation, rule.pad, rule.base])
        self.tap_step, self.step, self.advance = code.numbers([rule.tap_step, rule.step, rule.advance])

    def first(self, least: Value, back: Value) -> tuple[Value, Value]:
        """The first tap from `least` on that is there, where i = (t * dilation - back) / base, with whether there is one."""
        b = self.code.b
        tap, tries = b.variable(least), b.variable(i64(0))
        turned = b.sub(b.mul(self.base, b.add(self._above(back), 1)), back)  # no numerator below 0

        def rest() -> Value:
            return _short(b, "srem", b.add(b.mul(tap.get(), self.dilation), turned), self.base)

        def searching() -> Value:
            return b.and_(b.compare("icmp ne", rest(), 0), b.less(tries.get(), self.tap_step))

        with b.while_(searching):
            tap.set(b.add(tap.get(), 1))
            tries.set(b.add(tries.get(), 1))
        return tap.get(), b.equal(rest(), 0)

    def _above(self, back: Value) -> Value:
        b = self.code.b
        return sdiv(b, maximum(b, back, 0), self.base)

    def taps(self, o: Value) -> Taps:
        """Those of one output."""
        b = self.code.b
        back = b.sub(self.pad, b.mul(o, self.stride))
        least = maximum(b, back, 0)
        if self.is_dilated:
            least = _ceil(b, least, self.dilation)
        extent = self.source if not self.has_base else b.add(b.mul(b.sub(self.source, 1), self.base), 1)
        room = maximum(b, b.add(extent, back), 0)
        end = b.min(_ceil(b, room, self.dilation) if self.is_dilated else room, self.size)
        if not self.has_base:
            start = b.sub(b.mul(least, self.dilation), back)
            return Taps(start, maximum(b, b.sub(end, least), 0), self.dilation)
        first, found = self.first(least, back)
        count = _ceil(b, maximum(b, b.sub(end, first), 0), self.tap_step)
        count = b.select(found, count, i64(0))
        start = sdiv(b, b.sub(b.mul(first, self.dilation), back), self.base)
        return Taps(b.select(found, start, i64(0)), count, self.step)


class ClassTaps(NamedTuple):
    """The taps that the outputs o = r + q * classes have in common: i = start + q * advance + j * step for j below number, of
    which all are there for q from low to below high; `length` is how many q there are."""

    start: Value
    number: Value
    low: Value
    high: Value
    length: Value


def class_taps(rule: StridedRule, r: Value, classes: Value, extent: Value, beyond: int) -> ClassTaps:
    """Those of one class; `beyond` is how many elements behind the last tap must be there, too."""
    b = rule.code.b
    length = _ceil(b, maximum(b, b.sub(extent, r), 0), classes) if rule.has_base else extent
    back = b.sub(rule.pad, b.mul(r, rule.stride))
    if rule.has_base:
        tap, found = rule.first(i64(0), back)
        count = _ceil(b, maximum(b, b.sub(rule.size, tap), 0), rule.tap_step)
        count = b.select(found, count, i64(0))
        start = sdiv(b, b.sub(b.mul(tap, rule.dilation), back), rule.base)
        start = b.select(found, start, i64(0))
    else:
        count, start = rule.size, b.sub(i64(0), back)
    low = _ceil(b, maximum(b, b.sub(i64(0), start), 0), rule.advance)
    reach = b.mul(b.sub(count, 1), rule.step)
    room = b.sub(b.sub(b.sub(rule.source, beyond), reach), start)  # one more than the last start that fits
    high = _ceil(b, maximum(b, room, 0), rule.advance)
    none = b.equal(count, 0)
    low = b.min(b.select(none, i64(0), low), length)
    high = b.min(b.select(none, length, high), length)
    return ClassTaps(start, count, low, maximum(b, high, low), length)


#: Classes whose taps are worked out before the rows.
CLASSES = 16


class ClassTable:
    """The taps of each class, worked out once."""

    def __init__(self, rule: StridedRule, classes: Value, extent: Value, beyond: int, count: int) -> None:
        self.b, fields = rule.code.b, len(ClassTaps._fields)
        b = self.b
        self.entries = b.array("i64", fields * count)
        with b.loop(0, classes) as r:
            for k, value in enumerate(class_taps(rule, r, classes, extent, beyond)):
                b.store(value, b.at(self.entries, b.mul(b.add(b.mul(r, fields), k), 8)), 8)

    def of(self, r: Value) -> ClassTaps:
        """Those of one class."""
        b, fields = self.b, len(ClassTaps._fields)
        return ClassTaps(*(b.load("i64", b.at(self.entries, b.mul(b.add(b.mul(r, fields), k), 8)), 8) for k in range(fields)))


def shared_taps(b: Builder, o: Value, extent: Value, source: Value) -> Taps:
    start = b.div(b.mul(o, source), extent)  # of products that may be long
    end = b.div(b.sub(b.add(b.mul(b.add(o, 1), source), extent), 1), extent)
    return Taps(start, b.sub(end, start), i64(1))


def placed_taps(b: Builder, start: Value, size: Value, source: Value) -> Taps:
    return Taps(b.min(maximum(b, start, 0), b.sub(source, size)), size, i64(1))
