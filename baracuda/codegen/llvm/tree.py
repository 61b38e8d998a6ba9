"""The pieces of a reduction in the canonical order of `baracuda.formula.order`.

A segment's lanes live in `Accumulator`; its lanes are combined by `fold`; the results of segments (or, across rows, of
lanes and segments) go through `VectorStack`, a binary counter: what is combined is always two neighbours of equal size, and
the leftovers at the end are combined from the newest to the oldest, which is the tree of adjacent pairs for any length.
"""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.codegen.llvm.ir import Builder, Value, Variable, constant, i64, vector
from baracuda.codegen.llvm.primitives import combine, compute_type
from baracuda.formula import order
from baracuda.formula.expr import Expr, const
from baracuda.formula.order import COMBINE, LANES

#: Levels of a binary counter: enough for 2**56 entries.
LEVELS = 56


def order_free(n: Expr) -> bool:
    """Whether any order gives the same bits."""
    return n.attr[0] in ("max", "min") or not n.kind.is_float


def identity(n: Expr, lanes: int = 1) -> Value:
    """What changes no value that a reduction combines it with."""
    bits = const(order.identity(n.attr[0], n.kind), n.kind).attr
    return constant(compute_type(n.kind), bits, lanes)


def join(b: Builder, n: Expr, left: Value, right: Value) -> Value:
    """The reduction's operation on two values, earlier elements left."""
    return combine(b, COMBINE[n.attr[0]], n.kind, [left, right])


def fold(b: Builder, n: Expr, lanes: Sequence[Value]) -> Value:
    """All lanes of some vectors, in adjacent pairs, down to one scalar."""
    vectors = list(lanes)
    width = vectors[0].lanes
    if order_free(n):
        whole = pairs(b, n, vectors)
        while width > 1:
            width //= 2
            low, high = (b.shuffle(whole, None, range(s, s + width)) for s in (0, width))
            whole = join(b, n, low, high)
        return b.extract(whole, 0)
    while len(vectors) > 1:
        if len(vectors) % 2:
            vectors.append(identity(n, width))
        two = [(vectors[i], vectors[i + 1]) for i in range(0, len(vectors), 2)]
        vectors = [join(b, n, b.shuffle(x, y, range(0, 2 * width, 2)), b.shuffle(x, y, range(1, 2 * width, 2))) for x, y in two]
    rest = vectors[0]
    while rest.lanes > 1:
        rest = join(b, n, b.shuffle(rest, None, range(0, rest.lanes, 2)), b.shuffle(rest, None, range(1, rest.lanes, 2)))
    return b.extract(rest, 0)


def pairs(b: Builder, n: Expr, values: Sequence[Value]) -> Value:
    """Some values, lane by lane, in adjacent pairs."""
    rest = list(values)
    while len(rest) > 1:
        rest = [join(b, n, *rest[i : i + 2]) if i + 1 < len(rest) else rest[i] for i in range(0, len(rest), 2)]
    return rest[0]


def fold_rows(b: Builder, n: Expr, lanes: Sequence[Value], rows: int) -> Value:
    """For `rows` rows of equally many vectors, one row after another: a vector with each row's lanes in adjacent pairs."""
    width = lanes[0].lanes
    each = len(lanes) // rows
    vectors: list[Value] = []
    for r in range(rows):
        vectors += lanes[r * each : (r + 1) * each]
        vectors += [identity(n, width)] * ((1 << (each - 1).bit_length()) - each)
    while len(vectors) > 1:
        pairs = [(vectors[i], vectors[i + 1]) for i in range(0, len(vectors), 2)]
        vectors = [join(b, n, b.shuffle(x, y, range(0, 2 * width, 2)), b.shuffle(x, y, range(1, 2 * width, 2))) for x, y in pairs]
    rest = vectors[0]
    while rest.lanes > rows:
        rest = join(b, n, b.shuffle(rest, None, range(0, rest.lanes, 2)), b.shuffle(rest, None, range(1, rest.lanes, 2)))
    return rest


class Accumulator:
    """The lanes of one segment: registers while whole blocks come in, an array for the rest."""

    def __init__(self, b: Builder, n: Expr, lanes: int, *, registers: bool) -> None:
        self.b = b
        self.n = n
        self.lanes = lanes
        self.vectors = LANES // lanes
        self.type = vector(compute_type(n.kind), lanes)
        self.size = n.kind.itemsize
        self.array = b.array(compute_type(n.kind), LANES)
        self.registers = [b.variable(identity(n, lanes)) for _ in range(self.vectors)] if registers else []
        if not registers:
            self.reset()

    def reset(self) -> None:
        start = identity(self.n, self.lanes)
        for register in self.registers:
            register.set(start)
        if not self.registers:
            for i in range(self.vectors):
                self._store(i64(i * self.lanes), start)

    def add(self, position: int, value: Value) -> None:
        """Combine with the vector number `position`, in a register."""
        register = self.registers[position]
        register.set(join(self.b, self.n, register.get(), value))

    def add_at(self, lane: Value, value: Value) -> None:
        """Combine with the lanes from `lane` on, in the array."""
        self._store(lane, join(self.b, self.n, self._load(lane), value))

    def spill(self) -> None:
        for i, register in enumerate(self.registers):
            self._store(i64(i * self.lanes), register.get())

    def reload(self) -> None:
        for i, register in enumerate(self.registers):
            register.set(self._load(i64(i * self.lanes)))

    def result(self) -> Value:
        if self.registers:
            return fold(self.b, self.n, [r.get() for r in self.registers])
        return fold(self.b, self.n, [self._load(i64(i * self.lanes)) for i in range(self.vectors)])

    def _address(self, lane: Value) -> Value:
        return self.b.at(self.array, self.b.mul(lane, self.size))

    def _load(self, lane: Value) -> Value:
        return self.b.load(self.type, self._address(lane), self.size * self.lanes)

    def _store(self, lane: Value, value: Value) -> None:
        self.b.store(value, self._address(lane), self.size * self.lanes)


class VectorStack:
    """A binary counter of groups of vectors: independent sums side by side."""

    def __init__(self, b: Builder, n: Expr, lanes: int, count: int) -> None:
        self.b = b
        self.n = n
        self.type = vector(compute_type(n.kind), lanes)
        self.size = n.kind.itemsize * lanes
        self.width = self.size * count
        self.array = b.array(compute_type(n.kind), LEVELS * lanes * count)
        self.depth: Variable = b.variable(i64(0))
        self.count: Variable = b.variable(i64(0))

    def _slot(self, level: Value, i: int) -> Value:
        return self.b.at(self.b.at(self.array, self.b.mul(level, self.width)), i * self.size)

    def _pop_into(self, tops: list[Variable]) -> None:
        b = self.b
        level = b.sub(self.depth.get(), 1)
        for i, top in enumerate(tops):
            top.set(join(b, self.n, b.load(self.type, self._slot(level, i), self.size), top.get()))
        self.depth.set(level)

    def push(self, values: Sequence[Value]) -> None:
        b = self.b
        tops = [b.variable(v) for v in values]
        rest = b.variable(self.count.get())
        with b.while_(lambda: b.compare("icmp ne", b.and_(rest.get(), 1), 0)):
            self._pop_into(tops)
            rest.set(b.shr(rest.get(), 1))
        for i, top in enumerate(tops):
            b.store(top.get(), self._slot(self.depth.get(), i), self.size)
        self.depth.set(b.add(self.depth.get(), i64(1)))
        self.count.set(b.add(self.count.get(), i64(1)))

    def result(self, count: int) -> list[Value]:
        """Everything pushed so far (at least once), combined."""
        b = self.b
        level = b.sub(self.depth.get(), 1)
        tops = [b.variable(b.load(self.type, self._slot(level, i), self.size)) for i in range(count)]
        self.depth.set(level)
        with b.while_(lambda: b.compare("icmp ne", self.depth.get(), 0)):
            self._pop_into(tops)
        return [top.get() for top in tops]
