"""Tiles of integer products: what each way of taking the exact sums of a block has in common, and how sums become f32."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from baracuda.codegen.llvm.ir import Builder, Value, constant, intrinsic, vector
from baracuda.formula.integer_products import BLOCK
from baracuda.lowering.matmul.cpu.integers.blocks import Integers
from baracuda.lowering.matmul.cpu.plan import aligned

#: How many tiles share out among them the fetching of the next panel of the right factor.
AHEAD = 8


class IntegerTile(ABC):
    """A tile of `rows` by `columns` sums, and how the integers that it is made of are kept.

    Attributes
    ----------
    bits
        The bits of an integer.
    step
        The steps of k that a block's length is a multiple of.
    rows, columns
        The tile's.
    name
        What people call it.
    step_ns
        About how long one thread takes for one step of k of one sum.
    together
        Panels that are made integers at once where neighbours in memory are neighbours in them.
    """

    together: int = 1

    name: str
    step_ns: float
    step: int
    rows: int
    columns: int

    def __init__(self, bits: int) -> None:
        self.bits = bits

    @property
    def nbytes(self) -> int:
        """The size of a tile's sums."""
        return self.rows * self.columns * 4

    def width(self, right: bool) -> int:
        """The rows or columns of a panel."""
        return self.columns if right else self.rows

    @abstractmethod
    def lanes(self, right: bool) -> int:
        """How many of a panel's rows or columns are made integers at once."""

    @abstractmethod
    def data_bytes(self, right: bool) -> int:
        """The size of a panel's integers over a block; its scales follow them."""

    def block_bytes(self, right: bool) -> int:
        """The size of a block of a panel."""
        return aligned(self.data_bytes(right) + 4 * self.width(right))

    @abstractmethod
    def write(self, b: Builder, integers: Integers, right: bool, group: int, until: Value, block: Value) -> None:
        """Keep the integers of a panel's lanes number `group` over the steps `until`."""

    def write_scale(self, b: Builder, integers: Integers, right: bool, group: int, block: Value) -> None:
        """Keep the scales of the same lanes."""
        b.store(integers.scales.scale, b.at(block, self.data_bytes(right) + 4 * group * integers.lanes), 4)

    @contextmanager
    def ready(self, b: Builder) -> Iterator[None]:
        """What is multiplied in is ready for it inside."""
        yield

    @abstractmethod
    def multiply(self, b: Builder, left: Value, right: Value, until: Value, sums: Value, ahead: Sequence[Value]) -> None:
        """Add a block's products to a tile's sums, perhaps not before `finish`. `ahead` are what is read next, of the left
        factor and of the right one: addresses that need not be valid."""

    @abstractmethod
    def finish(self, b: Builder) -> None:
        """The sums of all tiles are there after this."""

    def arrange(self, b: Builder, sums: Value) -> None:
        """Put a tile's finished sums in order: row after row."""
        return


def add_scaled(b: Builder, rounded: Value, first: Value, second: Value, at: Value) -> None:
    """`scaled_sum` for the sums at an address."""
    s = scaled_sum(b, rounded, first, second, b.load(rounded.type, at, 4 * rounded.lanes))
    b.store(s, at, 4 * rounded.lanes)


def scaled_sum(b: Builder, rounded: Value, first: Value, second: Value, s: Value) -> Value:
    """fma(F * low, high, s) of the contract; NaN where a scale is NaN."""
    less = b.compare("fcmp olt", first, second)
    low, high = b.select(less, first, second), b.select(less, second, first)
    return b.call(s.type, intrinsic("fma", s.type), b.op("fmul", rounded, low), high, s)


class FloatTile(IntegerTile):
    """Integers as f64, whose chains of FMA over a block are exact: for every instruction set."""

    name, step = "f64", 2

    def __init__(self, bits: int, rows: int, vectors: int, vector_bits: int) -> None:
        super().__init__(bits)
        self.rows, self.vectors, self._lanes = rows, vectors, vector_bits // 64
        self.columns = vectors * self._lanes
        self.step_ns = 0.18 / self._lanes

    def lanes(self, right: bool) -> int:
        return self._lanes if right else self.rows

    def data_bytes(self, right: bool) -> int:
        return BLOCK * self.width(right) * 8

    def write(self, b: Builder, integers: Integers, right: bool, group: int, until: Value, block: Value) -> None:
        lanes, pitch = integers.lanes, 8 * self.width(right)
        start = b.at(block, 8 * group * lanes)
        with b.loop(0, until) as k:
            b.store(b.convert("fpext", integers.at(k), vector("double", lanes)), b.at(start, b.mul(k, pitch)), 8)

    def multiply(self, b: Builder, left: Value, right: Value, until: Value, sums: Value, ahead: Sequence[Value]) -> None:
        lanes, type_ = self._lanes, vector("double", self._lanes)
        places = [(r, v) for r in range(self.rows) for v in range(self.vectors)]
        held = {place: b.variable(Value(type_, "zeroinitializer")) for place in places}
        at_left, at_right = b.variable(left), b.variable(right)
        with b.loop(0, until, self.step):
            x, y = at_left.get(), at_right.get()
            exact = {place: variable.get() for place, variable in held.items()}
            for i in range(self.step):
                ys = [b.load(type_, b.at(y, 8 * (i * self.columns + v * lanes)), 8 * lanes) for v in range(self.vectors)]
                for r in range(self.rows):
                    q = b.splat(b.load("double", b.at(x, 8 * (i * self.rows + r)), 8), lanes)
                    for v in range(self.vectors):
                        exact[r, v] = b.call(type_, intrinsic("fma", type_), q, ys[v], exact[r, v])
            for place, variable in held.items():
                variable.set(exact[place])
            at_left.set(b.at(x, 8 * self.step * self.rows))
            at_right.set(b.at(y, 8 * self.step * self.columns))
        narrow, at = vector("float", lanes), b.at(right, self.data_bytes(True))
        of_columns = [b.load(narrow, b.at(at, 4 * v * lanes), 4) for v in range(self.vectors)]
        for r in range(self.rows):
            of_row = b.splat(b.load("float", b.at(left, self.data_bytes(False) + 4 * r), 4), lanes)
            for v in range(self.vectors):
                rounded = b.convert("fptrunc", held[r, v].get(), narrow)
                add_scaled(b, rounded, of_row, of_columns[v], b.at(sums, 4 * (r * self.columns + v * lanes)))

    def finish(self, b: Builder) -> None:
        """They are."""


def horner(b: Builder, pieces: Sequence[Value], shift: int) -> Value:
    """The f32 nearest to the exact sum of s32 pieces, each 2**shift times the next."""
    wide = vector("double", pieces[0].lanes)
    base = constant("double", (1023 + shift) << 52, pieces[0].lanes)
    total, *rest = [b.convert("sitofp", p, wide) for p in pieces]
    for piece in rest:
        total = b.call(wide, intrinsic("fma", wide), total, base, piece)
    return b.convert("fptrunc", total, vector("float", total.lanes))
