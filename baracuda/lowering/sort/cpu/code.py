"""What the CPU kernels of this package share: the words they read, and steps that read them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from baracuda.codegen.llvm.ir import Builder, Int, Module, Value, i64
from baracuda.lowering.nest.cpu.kernel import grain
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.lowering.scatter.problem import Keys
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import KernelSource, Language, Launch

#: Elements that a thread takes at a time where it walks positions or destinations.
TILE, BLOCK = 1 << 14, 1 << 12


class Integers:
    """The words behind the addresses and parameters of a program, collected while its steps are written."""

    def __init__(self, operands: int, params: int) -> None:
        self.workspace = operands
        self.first = operands + 1 + params
        self.values: list[int] = []

    def add(self, value: int) -> int:
        """The position of a new integer among all words."""
        self.values.append(value)
        return self.first + len(self.values) - 1


class StepBuilder:
    """One step: a function over a range of units of work."""

    def __init__(self, integers: Integers, target: CpuTarget) -> None:
        self.integers, self.target = integers, target
        self.b = Builder(Module())
        self.begin, self.end = Value("i64", "%begin"), Value("i64", "%end")

    def word(self, type_: str, index: int) -> Value:
        with self.b.at_entry():
            return self.b.load(type_, self.b.at(Value("ptr", "%words"), 8 * index), 8)

    def integer(self, value: int) -> Value:
        """A number that the code does not depend on."""
        return self.word("i64", self.integers.add(value))

    def numbers(self, values: Sequence[int]) -> list[Value]:
        return [self.integer(v) for v in values]

    def operand(self, index: int) -> Value:
        """The address of an operand."""
        return self.word("ptr", index)

    def scratch(self, offset: int) -> Value:
        """The address of a byte of the workspace."""
        pointer, start = self.word("ptr", self.integers.workspace), self.integer(offset)
        with self.b.at_entry():
            return self.b.at(pointer, start)

    def u32(self, pointer: Value, index: Int) -> Value:
        """An element of an array of 32-bit numbers, as 64 bits."""
        b = self.b
        return b.convert("zext", b.load("i32", b.at(pointer, b.mul(index, 4)), 4), "i64")

    def set_u32(self, pointer: Value, index: Int, value: Value) -> None:
        b = self.b
        b.store(b.convert("trunc", value, "i32"), b.at(pointer, b.mul(index, 4)), 4)

    def entry(self, entries: Value, index: Int) -> Value:
        """A sorted entry: key above position."""
        return self.b.load("i64", self.b.at(entries, self.b.mul(index, 8)), 8)

    def key(self, entry: Value) -> Value:
        return self.b.shr(entry, 32)

    def position(self, entry: Value) -> Value:
        return self.b.and_(entry, 0xFFFFFFFF)

    def maximum(self, a: Int, b: Int) -> Value:
        x, y = i64(a), i64(b)
        return self.b.select(self.b.less(x, y), y, x)

    def step(self, name: str, units: int, unit_ns: float) -> Launch:
        """The finished step; `unit_ns` estimates one unit on one thread."""
        body = "\n".join((name, repr(self.target), *self.b.entry, *self.b.lines))
        symbol = f"k{hashlib.sha256(body.encode()).hexdigest()[:32]}"
        self.b.finish(symbol, self.target.attributes)
        source = KernelSource(self.b.module.text(), symbol, Language.LLVM)
        return Launch(source, units=units, grain=grain(units, unit_ns))


class KeyReader:
    """The key of one position after another."""

    def __init__(self, code: StepBuilder, keys: Keys, operand: int) -> None:
        self.code, self.keys, b = code, keys, code.b
        size = keys.index.kind.itemsize
        extents = code.numbers(keys.shape)
        strides = code.numbers([s * size for s in keys.index.outer])
        self.steps = [None if s == 0 and not keys.index.general else code.integer(s) for s in keys.steps]
        self.scale = None if keys.scale == 1 else code.integer(keys.scale)
        self.highest = code.integer(keys.extent - 1)
        self.extent = code.integer(keys.extent) if keys.wrap else None
        self.skip = None if keys.skip is None else (code.integer(keys.skip), code.integer(keys.count))
        self.iterator = StridedIterator(b, extents, {0: strides}, {0: code.operand(operand)})

    def start(self, position: Value) -> None:
        self.iterator.start(position)

    def get(self) -> Value:
        """The key at the present position."""
        b, kind = self.code.b, self.keys.index.kind
        index = b.convert("sext", b.load(f"i{kind.bits}", self.iterator.pointers()[0], kind.itemsize), "i64")
        if self.extent is not None:
            index = b.select(b.less(index, 0), b.add(index, self.extent), index)
        key = self.code.maximum(b.min(index, self.highest), 0)
        if self.scale is not None:
            key = b.mul(key, self.scale)
        for coordinate, step in zip(self.iterator.indices(), self.steps, strict=True):
            if step is not None:
                key = b.add(key, b.mul(coordinate, step))
        if self.skip is not None:
            value, nowhere = self.skip
            key = b.select(b.equal(index, value), nowhere, key)
        return key

    def advance(self) -> None:
        self.iterator.advance()
