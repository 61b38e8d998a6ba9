"""One kernel under construction: the words it reads, where its operands are, and what its nodes cost."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

from baracuda.codegen.llvm.ir import Builder, Module, Value
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.formula.expr import Expr
from baracuda.lowering.nest.costs import vector_cost
from baracuda.lowering.nest.fission import OperandAddress
from baracuda.lowering.nest.problem import Nest
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import KernelSource, Language, Launch

#: Nanoseconds below which work stays on the thread that has it: handing it over costs about half of this.
_SERIAL_NS = 12_000
#: Nanoseconds of work a thread takes at a time.
_CHUNK_NS = (8_000, 150_000)


def lanes_of(nest: Nest, target: CpuTarget) -> int:
    """Lanes of a vector: as many of the widest values in the formula as a register holds, offsets of indexed reads apart."""
    reached: dict[Expr, None] = {}
    stack = [e for _, e in nest.graph.outputs]
    while stack:
        n = stack.pop()
        if n not in reached:
            reached[n] = None
            stack += n.args if n.op != "gather" else ()
    return target.vector_bits // max(32, *(n.kind.bits for n in reached))


@dataclass(frozen=True)
class Words:
    """The words that the steps of one program share: addresses and parameters as `nest` has them, and integers.

    Where a program is made for a part of that nest, `places` says where the part's operands are, and `start` from which
    byte on it may use the workspace.
    """

    nest: Nest
    integers: list[int] = field(default_factory=list)
    places: tuple[OperandAddress, ...] = ()
    start: int = 0

    def place(self, operand: int) -> OperandAddress:
        """Where an operand of the nest that the program is made for is."""
        return self.places[operand] if self.places else OperandAddress(operand)

    def scratch(self, offset: int = 0) -> OperandAddress:
        """A byte of the program's workspace."""
        return OperandAddress(self.workspace, self.start + offset)

    @property
    def workspace(self) -> int:
        """The position of the workspace's address."""
        return len(self.nest.operands)

    @property
    def first(self) -> int:
        return self.workspace + 1 + len(self.nest.graph.params)

    def param(self, n: Expr) -> int:
        return self.workspace + 1 + self.nest.graph.params.index(n)

    def add(self, value: int) -> int:
        """The position of a new integer among all words."""
        self.integers.append(value)
        return self.first + len(self.integers) - 1


class Kernel:
    """One step: a function over a range of units of work.

    nest is what the step computes; it may be a part of the program's, with operands elsewhere, as `places` says.
    """

    def __init__(self, nest: Nest, words: Words, target: CpuTarget, places: Sequence[OperandAddress] | None = None) -> None:
        self.nest = nest
        self.words = words
        self.places = places or [words.place(i) for i in range(len(nest.operands))]
        self.target = target
        self.b = Builder(Module())
        self.begin, self.end = Value("i64", "%begin"), Value("i64", "%end")
        self.lanes = lanes_of(nest, target)
        self.input_index = {p.name: i for i, p in enumerate(nest.graph.inputs)}
        self._pointers: dict[int, Value] = {}
        self._params: dict[Expr, Value] = {}

    def _word(self, type_: str, index: int) -> Value:
        with self.b.at_entry():
            pointer = self.b.at(Value("ptr", "%words"), 8 * index)
            return self.b.load(type_, pointer, 8)

    def integer(self, value: int) -> Value:
        """A number that the code does not depend on: read from the words at run time."""
        return self._word("i64", self.words.add(value))

    def integers(self, values: Sequence[int]) -> list[Value]:
        return [self.integer(v) for v in values]

    def operand(self, index: int) -> Value:
        """The address of an operand's first element."""
        if index not in self._pointers:
            self._pointers[index] = self._address(self.places[index])
        return self._pointers[index]

    @property
    def workspace(self) -> Value:
        return self._address(self.words.scratch())

    def prepared(self, word: int, otherwise: Value) -> Value:
        """Where a launch lays what it makes of one operand alone (`runtime.program.Prepared`): the address in a word, or
        `otherwise`, in the workspace, where there is none."""
        b, address = self.b, self._word("i64", word)
        with b.at_entry():
            return b.select(b.equal(address, 0), otherwise, b.emit("ptr", f"inttoptr i64 {address.name} to ptr"))

    def _address(self, place: OperandAddress) -> Value:
        pointer = self._word("ptr", place.word)
        with self.b.at_entry():
            return self.b.at(pointer, self.integer(place.offset)) if place.offset else pointer

    def param(self, n: Expr) -> Value:
        if n not in self._params:
            index = self.words.param(n)
            type_ = compute_type(n.kind)
            word = self._word("i8" if type_ == "i1" else type_, index)
            if type_ == "i1":
                with self.b.at_entry():
                    word = self.b.convert("trunc", word, "i1")
            self._params[n] = word
        return self._params[n]

    def byte_strides(self, index: int, axes: Sequence[int]) -> list[Value]:
        """An operand's strides along some axes of the nest, in bytes."""
        operand = self.nest.operands[index]
        return self.integers([operand.strides[a] * operand.kind.itemsize for a in axes])

    def step(self, units: int, unit_ns: float) -> Launch:
        """The finished step; `unit_ns` estimates one unit on one thread."""
        return launch(self.b, self.target, units, unit_ns)


def launch(b: Builder, target: CpuTarget, units: int, unit_ns: float) -> Launch:
    """A function that is written out, over so many units of work; `unit_ns` estimates one of them on one thread."""
    body = "\n".join((repr(target), *b.entry, *b.lines, *b.module.tables))
    name = f"k{hashlib.sha256(body.encode()).hexdigest()[:32]}"
    b.finish(name, target.attributes)
    return Launch(KernelSource(b.module.text(), name, Language.LLVM), units=units, grain=grain(units, unit_ns))


def grain(units: int, unit_ns: float) -> int:
    """Units a thread takes at a time: all of them where a second thread would not pay."""
    total = units * unit_ns
    if total < _SERIAL_NS:
        return max(1, units)
    chunk = min(max(total / 64, _CHUNK_NS[0]), _CHUNK_NS[1])
    return max(1, min(ceil(chunk / max(unit_ns, 1e-3)), units))


def element_ns(nest: Nest, nodes: Sequence[Expr], passes: int = 1) -> float:
    """About how long one thread works on one element of the iteration space."""
    wide = any(n.kind.bits == 64 for n in nodes)
    arithmetic = sum(map(vector_cost, nodes)) * (0.05 if wide else 0.025)
    memory = sum(o.kind.itemsize for o in nest.operands if any(o.strides)) * 0.06
    return arithmetic * passes + memory


def outputs(nest: Nest) -> list[int]:
    """The positions of the outputs among the operands."""
    return list(range(len(nest.graph.inputs), len(nest.operands)))
