"""The operations of passes as LLVM IR: a vector's lanes are neighbouring rows, or neighbouring numbers of one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from baracuda.codegen.llvm.ir import Builder, Value, constant, i64, intrinsic, vector
from baracuda.codegen.llvm.lanes import load_at
from baracuda.codegen.llvm.memory import load, narrow, store
from baracuda.core.elements import Category, ElementKind
from baracuda.formula.roots import cosine_of, split_bits
from baracuda.lowering.fft.access import Number
from baracuda.lowering.fft.passes import Pass, Source, Target
from baracuda.lowering.fft.problem import Fourier
from baracuda.lowering.fft.tables import name_of, table
from baracuda.lowering.sort.cpu.code import StepBuilder
from baracuda.runtime.program import Constant

#: The longest transform whose roots between columns and rows, and of real rows, are a table of their own.
TABLED = 1 << 24


@dataclass(frozen=True)
class Place:
    """A place in a row: that of the first lane, and how much further on the next one is."""

    first: Value
    step: int = 0


@dataclass(frozen=True)
class Memory:
    """Where a row's elements are: the address of element 0 of the first lane's row, bytes between elements, and between lanes
    (`beside` where these are known to be neighbours)."""

    kind: ElementKind
    base: Value
    along: Value | int
    lane: Value | int


class Tables:
    """The tables that the steps of a program read, each once among its words."""

    def __init__(self) -> None:
        self.found: dict[tuple[Any, ...], int] = {}

    def index(self, name: tuple[Any, ...], code: StepBuilder) -> int:
        if name not in self.found:
            self.found[name] = code.integers.add(0)
        return self.found[name]

    def all(self, first: int) -> tuple[Constant, ...]:
        return tuple(Constant(index - first, name, table) for name, index in self.found.items())


class CpuMachine:
    """Emits instructions; a number is a pair of vectors, a place a `Place` or a vector of i64."""

    x: Memory
    y: Memory
    buffer_in: Memory
    buffer_out: Memory

    def __init__(self, problem: Fourier, pass_: Pass, code: StepBuilder, tables: Tables, lanes: int) -> None:
        self.problem, self.pass_, self.code, self.tables, self.lanes = problem, pass_, code, tables, lanes
        self.b: Builder = code.b
        self.kind = problem.kind
        self.element = "double" if self.kind is ElementKind.F64 else "float"
        self.type = vector(self.element, lanes)
        self.size = self.kind.itemsize
        #: How many lanes are rows, where some may not be, and which row each reads; None: all, their own.
        self.remaining: Value | None = None
        self.lane_numbers = self.b.iota(lanes, "i64") if lanes > 1 else i64(0)
        self.column: Value = i64(0)
        #: Where results are collected in place of being stored; None: nowhere.
        self.collected: list[Number] | None = None
        self._pointers: dict[tuple[Any, ...], Value] = {}
        self._scale: Value | None = None

    # --- arithmetic ---------------------------------------------------------------------------------------------------

    def add(self, a: Value, b: Value) -> Value:
        return self.b.op("fadd", a, b)

    def sub(self, a: Value, b: Value) -> Value:
        return self.b.op("fsub", a, b)

    def mul(self, a: Value, b: Value) -> Value:
        return self.b.op("fmul", a, b)

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        return self.b.call(self.type, intrinsic("fma", self.type), a, b, c)

    def neg_fma(self, a: Value, b: Value, c: Value) -> Value:
        return self.fma(self.neg(a), b, c)

    def neg(self, a: Value) -> Value:
        return self.b.op("fneg", a)

    def _constant(self, value: Any) -> Value:
        wide = self.size == 8
        bits = np.array(value, np.float64 if wide else np.float32).view(np.uint64 if wide else np.uint32)
        return constant(self.element, int(bits), self.lanes)

    def constant(self, value: float) -> Value:
        return self._constant(value)

    def cosine(self, turns: Fraction) -> Value:
        return self._constant(cosine_of(turns, np.float64 if self.size == 8 else np.float32))

    # --- places -------------------------------------------------------------------------------------------------------

    def place(self, i: Any, times: int, plus: int) -> Any:
        if times == 0:
            return Place(i64(plus))
        b = self.b
        if isinstance(i, Place):
            return Place(b.add(b.mul(i.first, times), plus), i.step * times)
        return b.op("add", b.op("mul", i, self._whole(times)), self._whole(plus))

    def _whole(self, value: int | Value) -> Value:
        return self.b.splat(i64(value), self.lanes)

    def _lanes(self, i: Any) -> Value:
        """A place as a vector."""
        if not isinstance(i, Place):
            return i  # type: ignore[no-any-return]
        every = self._whole(i.first)
        if not i.step or self.lanes == 1:
            return every
        return self.b.op("add", every, self.b.op("mul", self.lane_numbers, self._whole(i.step)))

    def from_(self, whole: int, i: Any) -> Any:
        if isinstance(i, Place):
            return Place(self.b.sub(i64(whole), i.first), -i.step)
        return self.b.op("sub", self._whole(whole), i)

    def _compare(self, predicate: str, i: Any, whole: int) -> Value:
        if isinstance(i, Place) and not i.step:
            return self.b.compare(predicate, i.first, whole)
        return self.b.compare(predicate, self._lanes(i), self._whole(whole))

    def below(self, i: Any, whole: int) -> Value:
        return self._compare("icmp slt", i, whole)

    def equal(self, i: Any, whole: int) -> Value:
        return self._compare("icmp eq", i, whole)

    def pick(self, condition: Value, a: Any, b: Any) -> Any:
        if isinstance(a, Place) and isinstance(b, Place) and condition.lanes == 1 and not a.step and not b.step:
            return Place(self.b.select(condition, a.first, b.first))
        if isinstance(a, Place) or isinstance(b, Place):
            return self.b.select(condition, self._lanes(a), self._lanes(b))
        return self.b.select(condition, a, b)

    def scaled(self, x: Value) -> Value:
        scale = self.pass_.target.scale
        if scale == 1:
            return x
        if self._scale is None:
            wide = self.size == 8
            bits = int(np.array(scale, np.float64 if wide else np.float32).view(np.int64 if wide else np.int32))
            word = self.code.integer(bits)
            with self.b.at_entry():
                narrow_ = word if wide else self.b.convert("trunc", word, "i32")
                self._scale = self.b.splat(self.b.convert("bitcast", narrow_, self.element), self.lanes)
        return self.mul(x, self._scale)

    # --- memory -------------------------------------------------------------------------------------------------------

    def _address(self, memory: Memory, i: Any) -> tuple[Value, Value | int | None]:
        """The first lane's address, and either bytes between lanes or the bytes of each from there, a vector."""
        b = self.b
        if isinstance(i, Place):
            at = b.at(memory.base, b.mul(i.first, memory.along))
            if not i.step or self.lanes == 1:
                return at, memory.lane
            along = memory.along
            step = along * i.step if isinstance(along, int) else b.mul(along, i.step)
            return at, step
        along = memory.along
        return memory.base, b.op("mul", i, self._whole(along))

    def _offsets(self, lane: Value | int) -> Value:
        """The bytes of each lane from the first one's."""
        if isinstance(lane, Value) and lane.lanes > 1:
            return lane
        return self.b.op("mul", self.lane_numbers, self._whole(lane))

    def _mask(self, times: int = 1, exists: Value | None = None) -> Value | None:
        """The lanes that are rows, of these those that exist, each so many times over."""
        b, lanes, mask = self.b, self.lanes * times, None
        if self.remaining is not None:
            count = b.splat(b.convert("trunc", b.mul(self.remaining, times), "i32"), lanes)
            mask = b.compare("icmp slt", b.iota(lanes), count)
        if exists is not None:
            every = b.shuffle(exists, None, [k // times for k in range(lanes)]) if times > 1 else exists
            mask = every if mask is None else b.op("and", mask, every)
        return mask

    def _load(self, memory: Memory, i: Any) -> Number:
        b, kind, lanes = self.b, memory.kind, self.lanes
        at, lane = self._address(memory, i)
        complex_, size = kind.category is Category.COMPLEX, kind.itemsize
        part = (ElementKind.F32 if size == 8 else ElementKind.F64) if complex_ else kind
        if lanes == 1:
            if isinstance(lane, Value) and not isinstance(i, Place):
                at = b.at(at, lane)
            return load(b, part, at, 1), load(b, part, b.at(at, part.itemsize), 1) if complex_ else None
        if isinstance(lane, int) and lane == 0:
            re = b.splat(load(b, part, at, 1), lanes)
            return re, b.splat(load(b, part, b.at(at, part.itemsize), 1), lanes) if complex_ else None
        if isinstance(lane, int) and lane == size:
            both = load(b, part, at, lanes * (2 if complex_ else 1), self._mask(2 if complex_ else 1))
            if not complex_:
                return both, None
            return b.shuffle(both, None, range(0, 2 * lanes, 2)), b.shuffle(both, None, range(1, 2 * lanes, 2))
        offsets = self._offsets(lane)  # type: ignore[arg-type]
        if not complex_:
            shift = size.bit_length() - 1
            return load_at(b, part, at, b.op("ashr", offsets, self._whole(shift))), None
        if size == 8:
            where = b.emit(vector("ptr", lanes), f"getelementptr i8, ptr {at.name}, {offsets.type} {offsets.name}")
            many, every = vector("i64", lanes), Value(vector("i1", lanes), "splat (i1 true)")
            name = intrinsic("masked.gather", many, where.type)
            both = b.call(many, name, where, Value("i32", "4"), every, Value(many, "zeroinitializer"))
            both = b.convert("bitcast", both, vector("float", 2 * lanes))
            return b.shuffle(both, None, range(0, 2 * lanes, 2)), b.shuffle(both, None, range(1, 2 * lanes, 2))
        elements = b.op("ashr", offsets, self._whole(3))
        return load_at(b, part, at, elements), load_at(b, part, b.at(at, 8), elements)

    def _store(self, memory: Memory, i: Any, number: Number, exists: Value | None = None) -> None:
        b, kind, lanes = self.b, memory.kind, self.lanes
        at, lane = self._address(memory, i)
        complex_, size = kind.category is Category.COMPLEX, kind.itemsize
        part = (ElementKind.F32 if size == 8 else ElementKind.F64) if complex_ else kind
        re, im = number
        if lanes == 1:
            if isinstance(lane, Value) and not isinstance(i, Place):
                at = b.at(at, lane)
            store(b, part, re, at)
            if complex_:
                store(b, part, im, b.at(at, part.itemsize))
            return
        if isinstance(lane, int) and lane == size:
            if complex_:
                order = [k // 2 + (lanes if k % 2 else 0) for k in range(2 * lanes)]
                re = b.shuffle(re, im, order)
            store(b, part, re, at, self._mask(2 if complex_ else 1, exists))
            return
        offsets = self._offsets(lane)  # type: ignore[arg-type]
        if complex_ and size == 8:
            both = b.shuffle(re, im, [k // 2 + (lanes if k % 2 else 0) for k in range(2 * lanes)])
            self._scatter(at, offsets, b.convert("bitcast", both, vector("i64", lanes)), 4, exists)
        elif complex_:
            self._scatter(at, offsets, re, 8, exists)
            self._scatter(b.at(at, 8), offsets, im, 8, exists)
        else:
            self._scatter(at, offsets, narrow(b, part, re), size, exists)

    def _scatter(self, at: Value, offsets: Value, raw: Value, align: int, exists: Value | None) -> None:
        b = self.b
        where = b.emit(vector("ptr", self.lanes), f"getelementptr i8, ptr {at.name}, {offsets.type} {offsets.name}")
        mask = self._mask(1, exists) or Value(vector("i1", self.lanes), "splat (i1 true)")
        b.call("void", intrinsic("masked.scatter", raw.type, where.type), raw, where, Value("i32", str(align)), mask)

    def load(self, i: Any, exists: Value | None) -> Number:
        if exists is None:
            return self._widened(self._load(self.x, i))
        re, im = self._widened(self._load(self.x, self.pick(exists, i, Place(i64(0)))))
        zero = self.constant(0.0)
        return self.pick(exists, re, zero), None if im is None else self.pick(exists, im, zero)

    def _widened(self, number: Number) -> Number:
        """What is computed in may be wider than what is read."""
        wide = [v if v is None or v.element == self.element else self.b.convert("fpext", v, self.type) for v in number]
        return wide[0], wide[1]

    def store(self, i: Any, number: Number, exists: Value | None) -> None:
        self._store_where(self.y, i, number, exists)

    def _store_where(self, memory: Memory, i: Any, number: Number, exists: Value | None) -> None:
        if exists is None and self.collected is not None:
            self.collected.append(number)
            return
        if exists is None:
            self._store(memory, i, number)
            return
        if exists.lanes > 1:
            self._store(memory, i, number, exists)
            return
        with self.b.if_(exists):
            self._store(memory, i, number)

    def load_pair(self, i: Any) -> Number:
        return self._load(self.paired(self.x), i)

    def store_pair(self, i: Any, number: Number, exists: Value | None) -> None:
        self._store_where(self.paired(self.y), i, number, exists)

    @staticmethod
    def paired(memory: Memory) -> Memory:
        """Real rows as complex ones."""
        kind = ElementKind.C64 if memory.kind is ElementKind.F32 else ElementKind.C128
        return Memory(kind, memory.base, kind.itemsize, memory.lane)

    def load_buffer(self, source: Source, i: Any) -> Number:
        return self._load(self.buffer_in, i)

    def store_buffer(self, target: Target, i: Any, number: Number, exists: Value | None) -> None:
        self._store_where(self.buffer_out, i, number, exists)

    def pointer(self, *name: Any) -> Value:
        """The address of a table."""
        key = name_of(self.kind, *name)
        if key not in self._pointers:
            self._pointers[key] = self.code.word("ptr", self.tables.index(key, self.code))
        return self._pointers[key]

    def _entry(self, base: Value, i: Any, lane: int) -> Number:
        kind = ElementKind.C128 if self.size == 8 else ElementKind.C64
        remaining, self.remaining = self.remaining, self.remaining if lane else None
        found = self._load(Memory(kind, base, 2 * self.size, lane), i)
        self.remaining = remaining
        return found

    def table(self, name: tuple[Any, ...], i: Any) -> Number:
        return self._entry(self.pointer(*name), i, 0)

    def root(self, order: int, i: Any) -> Number:
        if order > TABLED:
            return self._product_of_roots(order, self._lanes(i))
        return self.table(("row", order, order // 2 + 1), i)

    def _product_of_roots(self, order: int, m: Value) -> Number:
        """w_order(m) of each lane, from its two tables."""
        b, bits, pointer = self.b, split_bits(order), self.pointer("split", order)
        high = b.op("lshr", m, self._whole(bits))
        low = b.op("add", b.op("and", m, self._whole((1 << bits) - 1)), self._whole(-(-order // (1 << bits))))

        def parts(entry: Value) -> Number:
            at = b.op("mul", entry, self._whole(2))
            return load_at(b, ElementKind.F64, pointer, at), load_at(b, ElementKind.F64, b.at(pointer, 8), at)

        (hr, hi), (lr, li) = parts(high), parts(low)
        re = b.op("fsub", b.op("fmul", hr, lr), b.op("fmul", hi, li))
        im = b.op("fadd", b.op("fmul", hr, li), b.op("fmul", hi, lr))
        return b.convert("fptrunc", re, self.type), b.convert("fptrunc", im, self.type)

    def turn(self, pass_: Pass, k: Value) -> Number:
        """The root that result k of each lane's column is multiplied by."""
        columns = pass_.axes[-1].extent
        if pass_.roots > TABLED:
            own = self.b.op("add", self._whole(self.column), self.lane_numbers)
            return self._product_of_roots(pass_.roots, self.b.op("mul", own, self._whole(k)))
        base = self.pointer("grid", pass_.roots, pass_.length, columns)
        at = self.b.add(self.b.mul(k, self.code_columns), self.column)
        return self._entry(base, Place(at), 2 * self.size)

    code_columns: Value
