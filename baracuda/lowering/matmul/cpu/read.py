"""Reading the factors of a matrix product: vectors across their rows or columns, one for each k, in the accumulator's kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from baracuda.codegen.llvm.evaluate import Evaluator
from baracuda.codegen.llvm.ir import Builder, Value, i64, vector
from baracuda.codegen.llvm.lanes import first_lanes, load_lanes
from baracuda.codegen.llvm.memory import load, stored_type, widen
from baracuda.codegen.llvm.transpose import transposed
from baracuda.core.elements import ElementKind
from baracuda.formula.expr import input_
from baracuda.formula.small_floats import FORMATS
from baracuda.formula.small_floats import widen as widen_formula
from baracuda.lowering.nest.problem import Operand


@dataclass(frozen=True)
class Reader:
    """Reads one factor, or one part of a complex one.

    lane_step and k_step are its strides where code may depend on them; lane_stride and k_stride are they in bytes.
    """

    b: Builder
    kind: ElementKind
    lane_step: int | None
    k_step: int | None
    lane_stride: Value
    k_stride: Value

    @staticmethod
    def of(b: Builder, operand: Operand, axes: tuple[int, int], strides: tuple[Value, Value]) -> Reader:
        """The reader of an operand, whose lanes run along the first axis and k along the second."""
        return Reader(b, operand.kind, operand.steps(axes[0]), operand.steps(axes[1]), *strides)

    @property
    def stored(self) -> ElementKind:
        """What is loaded: an 8-bit float is a byte, which a formula widens."""
        return ElementKind.U8 if self._is_byte_float else self.kind

    @property
    def _is_byte_float(self) -> bool:
        return self.kind.is_float and self.kind.bits == 8

    @property
    def along_k(self) -> bool:
        """Whether neighbours in memory follow one another in k."""
        return self.k_step == 1 and self.lane_step != 1

    def at(self, pointer: Value, lane: Value | int, k: Value | int) -> Value:
        """The address of an element."""
        return self.b.at(self.b.at(pointer, self.b.mul(self.lane_stride, lane)), self.b.mul(self.k_stride, k))

    def value(self, loaded: Value) -> Value:
        """What was loaded, in the kind that products are taken in."""
        if not self._is_byte_float:
            return loaded
        assert self.kind in FORMATS
        formula = widen_formula(input_("code", ElementKind.U8), self.kind)
        return Evaluator(self.b, loaded.lanes, 1, lambda n: [loaded]).value(formula)[0]

    def scalar(self, pointer: Value) -> Value:
        """One element."""
        return self.value(load(self.b, self.stored, pointer, 1))

    def one(self, pointer: Value, lanes: int, remaining: Value | None) -> Value:
        """The vector of one k, of which only the first `left` lanes exist (None: all)."""
        return self.value(
            load_lanes(self.b, self.stored, pointer, lanes, None if self.lane_step == 1 else self.lane_stride, remaining)
        )

    def square(self, pointer: Value, lanes: int) -> list[Value]:
        """The vectors of as many k as there are lanes, for a factor with its neighbours along k, out of rows of it."""
        return self._transposed(pointer, lanes, lambda type_, at, lane: self.b.load(type_, at, self.stored.itemsize))

    def edge(self, pointer: Value, lanes: int, remaining: Value, k_left: Value) -> list[Value]:
        """The same where only the first `left` lanes and the first `k_left` of k exist; the rest is zero."""
        b = self.b

        def masked(type_: str, at: Value, lane: int) -> Value:
            mask = first_lanes(b, lanes, b.select(b.less(lane, remaining), k_left, i64(0)))
            name = f"llvm.masked.load.v{lanes}i{self.stored.bits}.p0"
            wide = vector(f"i{self.stored.bits}", lanes)
            zero = Value(wide, "zeroinitializer")
            return b.convert("bitcast", b.call(wide, name, at, Value("i32", str(self.stored.itemsize)), mask, zero), type_)

        return self._transposed(pointer, lanes, masked)

    def _transposed(self, pointer: Value, lanes: int, read: Callable[[str, Value, int], Value]) -> list[Value]:
        type_ = vector(stored_type(self.stored), lanes)
        rows = [read(type_, self.at(pointer, lane, 0), lane) for lane in range(lanes)]
        return [self.value(widen(self.b, self.stored, row)) for row in transposed(self.b, rows)]


def pack(reader: Reader, source: Value, lanes: int, remaining: Value, count: Value, target: Value, pitch: int) -> None:
    """Writes the vectors of `count` k to `target`, `pitch` bytes apart; lanes beyond `left` become zero.

    Up to `lanes` - 1 vectors of zeros are written beyond the last.
    """
    b = reader.b
    whole = b.compare("icmp sge", remaining, lanes)

    def write(vectors: list[Value], k: Value) -> None:
        for i, v in enumerate(vectors):
            size = v.lanes * _bytes(v.element)
            b.store(v, b.at(target, b.mul(b.add(k, i), pitch)), min(64, size & -size))

    if reader.along_k:
        vector_end = b.select(whole, b.and_(count, -lanes), i64(0))
        with b.loop(0, vector_end, lanes) as k:
            write(reader.square(reader.at(source, 0, k), lanes), k)
        with b.loop(vector_end, count, lanes) as k:
            write(reader.edge(reader.at(source, 0, k), lanes, remaining, b.sub(count, k)), k)
        return
    vector_end = b.select(whole, count, i64(0))
    with b.loop(0, vector_end) as k:
        write([reader.one(reader.at(source, 0, k), lanes, None)], k)
    with b.loop(vector_end, count) as k:
        write([reader.one(reader.at(source, 0, k), lanes, remaining)], k)


def _bytes(element: str) -> int:
    return {"float": 4, "double": 8, "i32": 4, "i64": 8}[element]
