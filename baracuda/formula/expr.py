"""Expressions: the nodes of a formula's DAG.

A node is immutable and interned: building the same expression twice gives the same object, so common subexpressions are
shared by construction and `is` compares formulas. Every node has a *kind*, the compute type of its value.

Two layers of operations share the node type. *Mathematical* functions (`exp`, `erf`, `pow`, ...) are what a formula is
written in, differentiated in and documented with; `baracuda.formula.expand` rewrites them into *primitives*, the
operations whose bits every backend agrees on (contract rule 1). Only primitives are lowered.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

from baracuda.core import locks
from baracuda.core.axes import Axes as Axes
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula.host import HostNumber
from baracuda.formula.order import COMBINE

Operand: TypeAlias = "Expr | HostNumber | float | int | bool"


FLOAT_ARITHMETIC = frozenset(
    ["add", "sub", "mul", "div", "fma", "neg", "abs", "sqrt", "max", "min", "rint", "floor", "ceil", "trunc"]
)
#: `idiv` rounds towards zero and `irem` has the sign of the dividend; by zero both give 0. `mulhi` is the upper half of the
#: whole product, `clz` the number of zeros above the highest bit that is set, `gcd` that of the absolute values.
INTEGER_ARITHMETIC = frozenset(
    ["add", "sub", "mul", "neg", "abs", "max", "min", "and", "or", "xor", "not", "shl", "shr"]
) | frozenset(["idiv", "irem", "mulhi", "gcd", "popcount", "clz"])
BOOLEAN_ARITHMETIC = frozenset(["and", "or", "xor", "not"])
COMPARISONS = frozenset(["eq", "ne", "lt", "le", "gt", "ge"])
LEAVES = frozenset(["const", "input", "param", "coord", "position", "state"])
SPECIAL = frozenset(["select", "rare", "cast", "bitcast", "lookup", "reduce", "pooled", "scan", "loop", "gather"])
#: Nodes that read a tensor, whose name their `attr` begins with.
READS = frozenset(["input", "gather"])
#: All operations that are lowered. `rare(c, slow, fast)` means `select(c, slow, fast)`, with the promise that `c` is
#: seldom true, so that a backend branches around `slow`. `lookup(i)` reads entry i of the constant table in `attr`.
PRIMITIVES = FLOAT_ARITHMETIC | INTEGER_ARITHMETIC | COMPARISONS | LEAVES | SPECIAL


class Expr:
    """One node: `op` applied to `args`, giving a value of `kind`; `attr` holds what is not a node."""

    __slots__ = ("__weakref__", "args", "attr", "kind", "op")

    op: str
    args: tuple[Expr, ...]
    kind: ElementKind
    attr: Any

    def __add__(self, other: Operand) -> Expr:
        return binary("add", self, other)

    def __radd__(self, other: Operand) -> Expr:
        return binary("add", other, self)

    def __sub__(self, other: Operand) -> Expr:
        return binary("sub", self, other)

    def __rsub__(self, other: Operand) -> Expr:
        return binary("sub", other, self)

    def __mul__(self, other: Operand) -> Expr:
        return binary("mul", self, other)

    def __rmul__(self, other: Operand) -> Expr:
        return binary("mul", other, self)

    def __truediv__(self, other: Operand) -> Expr:
        return binary("div", self, other)

    def __rtruediv__(self, other: Operand) -> Expr:
        return binary("div", other, self)

    def __neg__(self) -> Expr:
        return unary("neg", self)

    def __abs__(self) -> Expr:
        return unary("abs", self)

    def __pow__(self, exponent: Operand) -> Expr:
        return power(self, exponent)

    def __rpow__(self, base: Operand) -> Expr:
        return power(as_expr(base, self.kind), self)

    def __and__(self, other: Operand) -> Expr:
        return binary("and", self, other)

    def __or__(self, other: Operand) -> Expr:
        return binary("or", self, other)

    def __xor__(self, other: Operand) -> Expr:
        return binary("xor", self, other)

    def __invert__(self) -> Expr:
        return unary("not", self)

    def __lshift__(self, other: Operand) -> Expr:
        return binary("shl", self, other)

    def __rshift__(self, other: Operand) -> Expr:
        return binary("shr", self, other)

    def __lt__(self, other: Operand) -> Expr:
        return compare("lt", self, other)

    def __le__(self, other: Operand) -> Expr:
        return compare("le", self, other)

    def __gt__(self, other: Operand) -> Expr:
        return compare("gt", self, other)

    def __ge__(self, other: Operand) -> Expr:
        return compare("ge", self, other)

    def __bool__(self) -> bool:
        raise InvalidProblemError("a formula cannot branch on a symbolic value; use where(condition, a, b)")

    @property
    def value(self) -> Any:
        """The value of a constant, as a NumPy scalar of its kind."""
        return constant_value(self)

    def __repr__(self) -> str:
        if self.op == "const":
            return f"{self.value!s}:{self.kind}"
        if self.op in LEAVES:
            return f"{self.op}:{self.attr}"
        return f"{self.op}({', '.join(a.op for a in self.args)})"  # one level: a DAG written out whole grows exponentially


_interned: weakref.WeakValueDictionary[tuple[Hashable, ...], Expr] = weakref.WeakValueDictionary()
_lock = locks.lock()


def node(op: str, args: tuple[Expr, ...], kind: ElementKind, attr: Hashable = None) -> Expr:
    """The interned node; performs no check and no rewriting."""
    key = (op, args, kind, attr)  # an Expr hashes by identity, and args of an interned node are interned
    with _lock:
        interned = _interned.get(key)
        if interned is None:
            interned = Expr()
            interned.op, interned.args, interned.kind, interned.attr = op, args, kind, attr
            _interned[key] = interned
        return interned


# --- leaves -----------------------------------------------------------------------------------------------------------


def const(value: Any, kind: ElementKind) -> Expr:
    """A constant, rounded once to `kind`. Its `attr` is the bit pattern, so that -0.0 and NaN are themselves."""
    array = np.asarray(value).astype(kind.numpy)
    return node("const", (), kind, int(array.view(f"u{array.dtype.itemsize}")[()]))


def constant_bits(bits: int, kind: ElementKind) -> Expr:
    """The constant of `kind` whose bit pattern is `bits`."""
    return node("const", (), kind, bits)


def constant_value(x: Expr) -> Any:
    dtype = x.kind.numpy
    assert isinstance(x.attr, int)
    return np.array(x.attr, dtype=f"u{dtype.itemsize}").view(dtype)[()]


def input_(name: str, storage: ElementKind, axes: Axes = Axes.FULL) -> Expr:
    """Element of the tensor `name`, loaded and widened to its compute kind."""
    return node("input", (), storage.compute, (name, storage, axes))


def param(name: str, kind: ElementKind) -> Expr:
    """A scalar given at run time."""
    return node("param", (), kind, name)


def coord(axis: int) -> Expr:
    """The index along one axis of the iteration space, as s32; negative axes count from the end."""
    return node("coord", (), ElementKind.S32, axis)


def position(kind: ElementKind = ElementKind.S64) -> Expr:
    """The number of the element in its row, counted along the inner axes in logical order (the last axis fastest), as an
    integer of 32 or 64 bits."""
    if not kind.is_integer or kind.bits < 32:
        raise InvalidProblemError(f"a position has kind {kind}; expected an integer of 32 or 64 bits")
    return node("position", (), kind)


def as_expr(value: Operand, kind: ElementKind) -> Expr:
    """`value` itself, or the constant of `kind` that a Python number stands for, the parameter that a `HostNumber` does."""
    if isinstance(value, HostNumber):
        return param(value.name, kind)
    return value if isinstance(value, Expr) else const(value, kind)


# --- operations -------------------------------------------------------------------------------------------------------


def _is_const(x: Expr, value: float) -> bool:
    """True for exactly this constant, sign of zero included."""
    return x.op == "const" and x.kind.category is not Category.BOOL and x is const(value, x.kind)


def _check(op: str, kind: ElementKind) -> None:
    table = FLOAT_ARITHMETIC if kind.is_float else BOOLEAN_ARITHMETIC if kind is ElementKind.BOOL else INTEGER_ARITHMETIC
    if op in PRIMITIVES and op not in table:
        raise InvalidProblemError(f"{op} is not defined on {kind}; expected one of {', '.join(sorted(table))}")


def unary(op: str, x: Expr) -> Expr:
    """A unary operation that keeps the kind of its operand."""
    _check(op, x.kind)
    if op in ("neg", "not") and x.op == op:
        return x.args[0]
    if op == "neg" and x.op == "const" and x.kind.is_float:
        return const(-x.value, x.kind)
    return node(op, (x,), x.kind)


def sqrt_of_ordinary(x: Expr) -> Expr:
    """The square root of what is 0 or a finite normal number: a GPU need not look for others."""
    _check("sqrt", x.kind)
    return node("sqrt", (x,), x.kind, "ordinary")


def pair(a: Operand, b: Operand) -> tuple[Expr, Expr]:
    """Two operands of one kind; a Python number takes the kind of the other."""
    if isinstance(a, Expr):
        b = as_expr(b, a.kind)
    elif isinstance(b, Expr):
        a = as_expr(a, b.kind)
    else:
        raise InvalidProblemError(f"expected at least one expression, got {a!r} and {b!r}")
    if a.kind is not b.kind:
        raise InvalidProblemError(f"operands have kinds {a.kind} and {b.kind}; cast one of them")
    return a, b


#: Identities that hold for every bit pattern (a NaN stays a NaN): x-0, x*1, x/1 and x+(-0).
_RIGHT_IDENTITY = {"add": -0.0, "sub": 0.0, "mul": 1.0, "div": 1.0}


#: What arithmetic of bool means: the larger and the sum are true where either is, the smaller and the product where both are.
_OF_BOOL = {"add": "or", "mul": "and", "max": "or", "min": "and", "prod": "and"}


def binary(op: str, a: Operand, b: Operand) -> Expr:
    """A binary operation on operands of one kind, giving that kind."""
    a, b = pair(a, b)
    if a.kind is ElementKind.BOOL:
        op = _OF_BOOL.get(op, op)
    _check(op, a.kind)
    if a.kind.is_float:
        if op in _RIGHT_IDENTITY and _is_const(b, _RIGHT_IDENTITY[op]):
            return a
        if op in ("add", "mul") and _is_const(a, _RIGHT_IDENTITY[op]):
            return b
        if op in ("mul", "div") and _is_const(b, -1.0):
            return unary("neg", a)
        if op == "mul" and _is_const(a, -1.0):
            return unary("neg", b)
    return node(op, (a, b), a.kind)


def fma(a: Operand, b: Operand, c: Expr) -> Expr:
    """a*b + c, rounded once."""
    a, b = as_expr(a, c.kind), as_expr(b, c.kind)
    if not (a.kind is b.kind is c.kind):
        raise InvalidProblemError(f"fma needs one kind, got {a.kind}, {b.kind}, {c.kind}")
    _check("fma", c.kind)
    return node("fma", (a, b, c), c.kind)


def compare(op: str, a: Operand, b: Operand) -> Expr:
    """A comparison; every one but `ne` is false when either side is NaN. False is below true."""
    a, b = pair(a, b)
    if a.kind is ElementKind.BOOL:
        return _compare_bool(op, a, b)
    return node(op, (a, b), ElementKind.BOOL)


def _compare_bool(op: str, a: Expr, b: Expr) -> Expr:
    if op in ("eq", "ne"):
        return a ^ b if op == "ne" else ~(a ^ b)
    low, high = (a, b) if op in ("lt", "le") else (b, a)
    return ~low & high if op in ("lt", "gt") else ~low | high


def select(condition: Expr, a: Operand, b: Operand, *, op: str = "select") -> Expr:
    """`a` where the condition holds, else `b`."""
    a, b = pair(a, b)
    if condition.kind is not ElementKind.BOOL:
        raise InvalidProblemError(f"the condition of a select has kind {condition.kind}; expected bool")
    if condition.op == "const":
        return a if condition.attr else b
    return a if a is b else node(op, (condition, a, b), a.kind)


def rare(condition: Expr, slow: Operand, fast: Operand) -> Expr:
    """`select` whose condition is seldom true: a backend branches around `slow`."""
    return select(condition, slow, fast, op="rare")


def cast(x: Expr, kind: ElementKind) -> Expr:
    """Conversion by value, rounded to nearest even; float to integer truncates, saturates, and sends NaN to 0."""
    return x if x.kind is kind else node("cast", (x,), kind)


def bitcast(x: Expr, kind: ElementKind) -> Expr:
    """The same bits read as another kind of the same size."""
    if x.kind.bits != kind.bits:
        raise InvalidProblemError(f"cannot bitcast {x.kind} to {kind}: {x.kind.bits} and {kind.bits} bits")
    if x.op == "bitcast" and x.args[0].kind is kind:
        return x.args[0]
    return x if x.kind is kind else node("bitcast", (x,), kind)


def lookup(index: Expr, table: Iterable[int], kind: ElementKind) -> Expr:
    """Entry `index` (s32, in range) of a constant table, given as bit patterns of `kind`."""
    return node("lookup", (index,), kind, tuple(table))


def reduce(op: str, x: Expr, over: Axes = Axes.INNER) -> Expr:
    """sum, prod, max, min, and, or or xor of `x` over the given axes, in the canonical order (contract rule 4).

    and, or and xor take integers and bool; of a bool, max is `or`, min and prod are `and`, and a sum has to say in which
    kind it counts.
    """
    if op not in COMBINE:
        raise InvalidProblemError(f"reduce: {op!r}; expected one of {', '.join(COMBINE)}")
    if x.kind is ElementKind.BOOL and op != "sum":
        op = _OF_BOOL.get(op, op)
    _check(COMBINE[op], x.kind)
    return node("reduce", (x,), x.kind, (op, over))


def power(x: Expr, exponent: Operand) -> Expr:
    """x**exponent: repeated multiplication for the exponents 1, 2 and 3, reciprocal for -1, else `pow`."""
    if not isinstance(exponent, (Expr, HostNumber)):
        if exponent in (1, 2, 3):
            result = x
            for _ in range(int(exponent) - 1):
                result = result * x
            return result
        if exponent == -1:
            return 1.0 / x
    return node("pow", pair(x, exponent), x.kind)


# --- walking ----------------------------------------------------------------------------------------------------------


def topological(roots: Iterable[Expr]) -> list[Expr]:
    """Every node the roots reach, operands before users, in a stable order."""
    order: list[Expr] = []
    seen: set[Expr] = set()
    stack: list[tuple[Expr, Iterator[Expr]]] = []
    for root in roots:
        if root not in seen:
            seen.add(root)
            stack.append((root, iter(root.args)))
        while stack:
            current, rest = stack[-1]
            for arg in rest:
                if arg not in seen:
                    seen.add(arg)
                    stack.append((arg, iter(arg.args)))
                    break
            else:
                order.append(current)
                stack.pop()
    return order


def rebuild(x: Expr, args: tuple[Expr, ...]) -> Expr:
    """The same operation on other operands."""
    return x if args == x.args else node(x.op, args, x.kind, x.attr)
