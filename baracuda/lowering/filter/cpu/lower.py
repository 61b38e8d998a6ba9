"""Recursive filters on the CPU: neighbouring rows are the lanes of a vector, which goes through their elements."""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.codegen.llvm.ir import Value, i64, intrinsic, vector
from baracuda.codegen.llvm.lanes import load_at
from baracuda.core.elements import ElementKind
from baracuda.lowering.filter.problem import HELD, OPERANDS, A, Filter, X, Y
from baracuda.lowering.sort.cpu.code import Integers, StepBuilder
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.program import Lowered

#: Nanoseconds that a multiplication takes, one after another.
_NS = 1.2


def ways(problem: Filter, target: CpuTarget) -> Iterator[Lowered]:
    """The step of a problem."""
    yield lower(problem, target)


def lower(problem: Filter, target: CpuTarget | None = None) -> Lowered:
    """The step of a problem."""
    target = target or host()
    integers = Integers(OPERANDS, 0)
    code = StepBuilder(integers, target)
    lanes, most = 1, target.vector_bits // problem.kind.bits
    while lanes < min(most, problem.count):
        lanes *= 2
    _Rows(problem, code, lanes).emit()
    blocks = -(-problem.count // lanes)
    step = code.step("filter", blocks, problem.length * (problem.order + 3) * _NS)
    return Lowered((step,), tuple(integers.values), 0, f"filter of {problem.order} by {lanes}")


class _Rows:
    def __init__(self, problem: Filter, code: StepBuilder, lanes: int) -> None:
        self.p, self.code, self.b, self.lanes = problem, code, code.b, lanes
        self.element = "double" if problem.kind is ElementKind.F64 else "float"
        self.type, self.size = vector(self.element, lanes), problem.kind.itemsize

    def _offsets(self, unit: Value) -> list[Value]:
        """For each tensor the elements from its first to that of each lane's row; rows that are not there are the last one."""
        b, p, lanes = self.b, self.p, self.lanes
        last = self.code.integer(p.count - 1)
        held = [b.array("i64", lanes) for _ in range(OPERANDS)]
        extents = self.code.numbers(p.outer)
        strides = [self.code.numbers(t.outer) for t in p.tensors]
        with b.loop(0, lanes) as lane:
            rest = b.min(b.add(b.mul(unit, lanes), lane), last)
            totals = [i64(0)] * OPERANDS
            for axis in range(len(p.outer) - 1, -1, -1):
                at, rest = b.rem(rest, extents[axis]), b.div(rest, extents[axis])
                totals = [b.add(b.mul(at, s[axis]), t) for s, t in zip(strides, totals, strict=True)]
            for array, total in zip(held, totals, strict=True):
                b.store(total, b.at(array, b.mul(lane, 8)), 8)
        return [b.load(vector("i64", lanes), array, 8) for array in held]

    def _load(self, base: Value, offsets: Value) -> Value:
        return load_at(self.b, self.p.kind, base, offsets)

    def _store(self, base: Value, offsets: Value, value: Value) -> None:
        b = self.b
        if self.lanes == 1:
            b.store(value, b.at(base, b.mul(offsets, self.size)), self.size)
            return
        where = b.emit(vector("ptr", self.lanes), f"getelementptr {self.element}, ptr {base.name}, {offsets.type} {offsets.name}")
        every = Value(vector("i1", self.lanes), "splat (i1 true)")
        b.call("void", intrinsic("masked.scatter", value.type, where.type), value, where, Value("i32", str(self.size)), every)

    def emit(self) -> None:
        b, p = self.b, self.p
        bases = [self.code.operand(i) for i in range(OPERANDS)]
        along = [self.code.integer(t.along * self.size) for t in p.tensors]
        length = self.code.integer(p.length)
        zero = Value(self.type, "zeroinitializer")
        with b.loop(self.code.begin, self.code.end) as unit:
            offsets = self._offsets(unit)
            if p.order <= HELD:
                before = [b.variable(zero) for _ in range(p.order)]
                own = [b.op("fneg", self._load(b.at(bases[A], b.mul(along[A], i)), offsets[A])) for i in range(p.order)]
                with b.loop(0, length) as t:
                    s = self._load(b.at(bases[X], b.mul(t, along[X])), offsets[X])
                    values = [v.get() for v in before]
                    for a, value in zip(own[::-1], values[::-1], strict=True):
                        s = b.call(self.type, intrinsic("fma", self.type), a, value, s)
                    for variable, value in zip(before[1:], values[:-1], strict=True):
                        variable.set(value)
                    before[0].set(s)
                    self._store(b.at(bases[Y], b.mul(t, along[Y])), offsets[Y], s)
            else:
                self._from_memory(bases, along, offsets, length)

    def _from_memory(self, bases: list[Value], along: list[Value], offsets: list[Value], length: Value) -> None:
        """The elements before are read where they were written."""
        b, order = self.b, self.code.integer(self.p.order)
        with b.loop(0, length) as t:
            s = b.variable(self._load(b.at(bases[X], b.mul(t, along[X])), offsets[X]))
            first = b.sub(t, b.min(order, t))
            with b.loop(first, t) as before:
                k = b.sub(b.sub(t, before), 1)
                a = b.op("fneg", self._load(b.at(bases[A], b.mul(k, along[A])), offsets[A]))
                y = self._load(b.at(bases[Y], b.mul(before, along[Y])), offsets[Y])
                s.set(b.call(self.type, intrinsic("fma", self.type), a, y, s.get()))
            self._store(b.at(bases[Y], b.mul(t, along[Y])), offsets[Y], s.get())
