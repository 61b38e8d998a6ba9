"""A small writer of LLVM IR text: values, variables, loops and branches.

Mutable variables are stack slots; LLVM's first pass turns them into registers, so nothing here builds phi nodes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Value:
    """An SSA value or a literal, with its LLVM type."""

    type: str
    name: str

    @property
    def lanes(self) -> int:
        """Lanes of a vector type; 1 for a scalar."""
        return int(self.type[1 : self.type.index(" ")]) if self.type.startswith("<") else 1

    @property
    def element(self) -> str:
        """The scalar type."""
        return self.type[self.type.index("x") + 2 : -1] if self.type.startswith("<") else self.type


Int = Value | int


def vector(element: str, lanes: int) -> str:
    """The type of `lanes` elements; the element type itself for one lane."""
    return element if lanes == 1 else f"<{lanes} x {element}>"


def i64(value: Int) -> Value:
    """A 64-bit integer."""
    return value if isinstance(value, Value) else Value("i64", str(value))


_SHORT = {"float": "f32", "double": "f64", "half": "f16"}


def intrinsic(name: str, *types: str) -> str:
    """The name of an overloaded intrinsic."""

    def mangled(type_: str) -> str:
        if type_.startswith("<"):
            lanes, element = type_[1:-1].split(" x ")
            return f"v{lanes}{mangled(element)}"
        return _SHORT.get(type_, "p0" if type_ == "ptr" else type_)

    return ".".join(["llvm", name, *map(mangled, types)])


def literal(element: str, bits: int) -> str:
    """The text of a scalar constant given by its bit pattern."""
    if element == "float":
        sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF
        if exponent == 0xFF:  # LLVM writes a float as the double of the same value; Python would quiet a NaN on the way
            return f"0x{sign << 63 | 0x7FF << 52 | fraction << 29:016X}"
        return f"0x{struct.unpack('<Q', struct.pack('<d', struct.unpack('<f', struct.pack('<I', bits))[0]))[0]:016X}"
    if element == "double":
        return f"0x{bits:016X}"
    if element == "i1":
        return "true" if bits & 1 else "false"
    return str(bits)


def constant(element: str, bits: int, lanes: int = 1) -> Value:
    """A scalar constant, or the vector that repeats it."""
    text = literal(element, bits)
    return Value(element, text) if lanes == 1 else Value(vector(element, lanes), f"splat ({element} {text})")


@dataclass
class Variable:
    """A mutable local."""

    builder: Builder
    type: str
    slot: Value

    def get(self) -> Value:
        return self.builder.emit(self.type, f"load {self.type}, ptr {self.slot.name}")

    def set(self, value: Int) -> None:
        self.builder.line(f"store {self.type} {value.name if isinstance(value, Value) else value}, ptr {self.slot.name}")


@dataclass
class Module:
    """Functions, the intrinsics they call and the constant tables they read."""

    declarations: dict[str, str] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)

    def table(self, element: str, bits: Sequence[int]) -> Value:
        """A constant array."""
        body = ", ".join(f"{element} {literal(element, b)}" for b in bits)
        text = f"private unnamed_addr constant [{len(bits)} x {element}] [{body}], align 64"
        name = self.tables.setdefault(text, f"@table{len(self.tables)}")
        return Value("ptr", name)

    def text(self) -> str:
        tables = [f"{name} = {text}" for text, name in self.tables.items()]
        return "\n".join([*tables, *self.functions, *self.declarations.values(), ""])


class Builder:
    """Writes one function, `void name(ptr words, i64 begin, i64 end)`."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.entry: list[str] = []
        self.lines: list[str] = []
        self.names = 0
        self.prologue = False

    # --- instructions -------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        (self.entry if self.prologue else self.lines).append(text)

    def emit(self, type_: str, text: str) -> Value:
        self.names += 1
        name = f"%v{self.names}"
        self.line(f"{name} = {text}")
        return Value(type_, name)

    @contextmanager
    def at_entry(self) -> Iterator[None]:
        """Emit into the block that runs before everything else."""
        before, self.prologue = self.prologue, True
        yield
        self.prologue = before

    def _binary(self, op: str, a: Int, b: Int) -> Value:
        type_ = a.type if isinstance(a, Value) else b.type if isinstance(b, Value) else "i64"
        text = [x.name if isinstance(x, Value) else str(x) for x in (a, b)]
        return self.emit(type_, f"{op} {type_} {text[0]}, {text[1]}")

    def add(self, a: Int, b: Int) -> Value:
        return i64(a) if isinstance(b, int) and b == 0 else self._binary("add", a, b)

    def sub(self, a: Int, b: Int) -> Value:
        return self._binary("sub", a, b)

    def mul(self, a: Int, b: Int) -> Value:
        return i64(a) if isinstance(b, int) and b == 1 else self._binary("mul", a, b)

    def div(self, a: Int, b: Int) -> Value:
        return self._binary("udiv", a, b)

    def rem(self, a: Int, b: Int) -> Value:
        return self._binary("urem", a, b)

    def and_(self, a: Int, b: Int) -> Value:
        return self._binary("and", a, b)

    def or_(self, a: Int, b: Int) -> Value:
        return self._binary("or", a, b)

    def shl(self, a: Int, b: Int) -> Value:
        return self._binary("shl", a, b)

    def shr(self, a: Int, b: Int) -> Value:
        return self._binary("lshr", a, b)

    def op(self, op: str, *args: Value, type: str = "") -> Value:
        """An instruction on operands of one type, giving that type or `type`."""
        return self.emit(type or args[0].type, f"{op} {args[0].type} {', '.join(a.name for a in args)}")

    def convert(self, op: str, x: Value, type_: str) -> Value:
        return x if x.type == type_ else self.emit(type_, f"{op} {x.type} {x.name} to {type_}")

    def compare(self, predicate: str, a: Value, b: Int) -> Value:
        """icmp or fcmp; the result has one bit a lane."""
        right = b.name if isinstance(b, Value) else str(b)
        return self.emit(vector("i1", a.lanes), f"{predicate} {a.type} {a.name}, {right}")

    def less(self, a: Int, b: Int) -> Value:
        return self.compare("icmp slt", i64(a), b)

    def equal(self, a: Int, b: Int) -> Value:
        return self.compare("icmp eq", i64(a), b)

    def select(self, c: Value, a: Value, b: Value) -> Value:
        return self.emit(a.type, f"select {c.type} {c.name}, {a.type} {a.name}, {b.type} {b.name}")

    def min(self, a: Int, b: Int) -> Value:
        a, b = i64(a), i64(b)
        return self.select(self.less(a, b), a, b)

    def call(self, type_: str, name: str, *args: Value) -> Value:
        self.module.declarations.setdefault(name, f"declare {type_} @{name}({', '.join(a.type for a in args)})")
        arguments = ", ".join(f"{a.type} {a.name}" for a in args)
        if type_ == "void":
            self.line(f"call void @{name}({arguments})")
            return Value("void", "")
        return self.emit(type_, f"call {type_} @{name}({arguments})")

    # --- vectors ------------------------------------------------------------------------------------------------------

    def splat(self, x: Value, lanes: int) -> Value:
        if lanes == 1:
            return x
        type_ = vector(x.type, lanes)
        first = self.emit(type_, f"insertelement {type_} poison, {x.type} {x.name}, i64 0")
        return self.emit(type_, f"shufflevector {type_} {first.name}, {type_} poison, <{lanes} x i32> zeroinitializer")

    def shuffle(self, a: Value, b: Value | None, lanes: Sequence[int]) -> Value:
        if b is None and len(lanes) == 1:
            return self.extract(a, lanes[0])
        mask = ", ".join(f"i32 {i}" for i in lanes)
        second = b.name if b else "poison"
        return self.emit(
            vector(a.element, len(lanes)), f"shufflevector {a.type} {a.name}, {a.type} {second}, <{len(lanes)} x i32> <{mask}>"
        )

    def extract(self, x: Value, lane: int) -> Value:
        return x if x.lanes == 1 else self.emit(x.element, f"extractelement {x.type} {x.name}, i64 {lane}")

    def iota(self, lanes: int, element: str = "i32") -> Value:
        return Value(vector(element, lanes), "<" + ", ".join(f"{element} {i}" for i in range(lanes)) + ">")

    def any(self, c: Value) -> Value:
        """Whether some lane of a mask is set."""
        return c if c.lanes == 1 else self.call("i1", f"llvm.vector.reduce.or.v{c.lanes}i1", c)

    # --- memory -------------------------------------------------------------------------------------------------------

    def array(self, element: str, count: int) -> Value:
        """A local array, aligned to a cache line, with the lifetime of the call."""
        with self.at_entry():
            return self.emit("ptr", f"alloca [{count} x {element}], align 64")

    def at(self, pointer: Value, offset: Int) -> Value:
        """The address `offset` bytes on."""
        if isinstance(offset, int) and offset == 0:
            return pointer
        return self.emit("ptr", f"getelementptr i8, ptr {pointer.name}, i64 {i64(offset).name}")

    def load(self, type_: str, pointer: Value, align: int) -> Value:
        return self.emit(type_, f"load {type_}, ptr {pointer.name}, align {align}")

    def store(self, value: Value, pointer: Value, align: int, *, streaming: bool = False) -> None:
        suffix = ", !nontemporal !{i32 1}" if streaming else ""
        self.line(f"store {value.type} {value.name}, ptr {pointer.name}, align {align}{suffix}")

    def prefetch(self, pointer: Value) -> None:
        """Ask for the cache line at an address, which need not be valid, to be read later."""
        self.call("void", "llvm.prefetch.p0", pointer, Value("i32", "0"), Value("i32", "3"), Value("i32", "1"))

    # --- control ------------------------------------------------------------------------------------------------------

    def variable(self, initial: Value) -> Variable:
        with self.at_entry():
            slot = self.emit("ptr", f"alloca {initial.type}, align {min(64, max(8, initial.lanes * 8))}")
        variable = Variable(self, initial.type, slot)
        variable.set(initial)
        return variable

    def _label(self) -> str:
        self.names += 1
        return f"b{self.names}"

    def _place(self, label: str) -> None:
        self.lines.append(f"{label}:")

    @contextmanager
    def while_(self, condition: Callable[[], Value]) -> Iterator[None]:
        head, body, after = self._label(), self._label(), self._label()
        self.line(f"br label %{head}")
        self._place(head)
        c = condition()
        self.line(f"br i1 {c.name}, label %{body}, label %{after}")
        self._place(body)
        yield
        self.line(f"br label %{head}")
        self._place(after)

    @contextmanager
    def loop(self, start: Int, stop: Int, step: Int = 1) -> Iterator[Value]:
        """for (i = start; i < stop; i += step)."""
        index = self.variable(i64(start))
        with self.while_(lambda: self.less(index.get(), stop)):
            i = index.get()
            yield i
            index.set(self.add(i, step))

    @contextmanager
    def if_(self, condition: Value, *, seldom: bool = False) -> Iterator[None]:
        then, after = self._label(), self._label()
        weights = ', !prof !{!"branch_weights", i32 1, i32 4000}' if seldom else ""
        self.line(f"br i1 {condition.name}, label %{then}, label %{after}{weights}")
        self._place(then)
        yield
        self.line(f"br label %{after}")
        self._place(after)

    @contextmanager
    def else_(self, condition: Value) -> Iterator[None]:
        """The body runs where the condition is false."""
        with self.if_(self.emit("i1", f"xor i1 {condition.name}, true")):
            yield

    def finish(self, name: str, attributes: str) -> None:
        body = "\n  ".join(["entry:", *self.entry, "br label %start", "start:", *self.lines, "ret void"])
        self.module.functions.append(f"define void @{name}(ptr %words, i64 %begin, i64 %end) {attributes} {{\n  {body}\n}}")
