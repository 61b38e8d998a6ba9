"""Products of small matrices in scratch memory, for attention: register tiles of chains, each in rising k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Builder, Int, Value, intrinsic, vector
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.core.elements import ElementKind
from baracuda.runtime.jit import CpuTarget

#: Steps of k that the loop over a tile makes at a time.
_UNROLLED = 4


@dataclass(frozen=True)
class Matrix:
    """A matrix in memory: where it starts, and how many bytes lie between its rows and between its columns."""

    pointer: Value
    row: int
    column: int

    def at(self, b: Builder, row: Int, column: Int) -> Value:
        return b.at(b.at(self.pointer, _times(b, row, self.row)), _times(b, column, self.column))


def _times(b: Builder, index: Int, pitch: int) -> Int:
    return index * pitch if isinstance(index, int) else b.mul(index, pitch)


@dataclass(frozen=True)
class Multiplier:
    """Makes products of matrices of one kind.

    A register tile has `rows` by `vectors` of `lanes`: enough chains to hide an addition's latency, few enough for the registers.
    """

    b: Builder
    kind: ElementKind
    rows: int
    vectors: int
    lanes: int

    @staticmethod
    def of(b: Builder, kind: ElementKind, target: CpuTarget) -> Multiplier:
        many = target.vector_bits == 512 or target.triple.startswith(("aarch64", "arm64"))
        return Multiplier(b, kind, 8 if many else 4, 2, target.vector_bits // kind.bits)

    @property
    def type(self) -> str:
        return vector(compute_type(self.kind), self.lanes)

    @property
    def nbytes(self) -> int:
        """Of a vector."""
        return self.lanes * self.kind.itemsize

    def add(
        self,
        to: Matrix,
        left: Matrix,
        right: Matrix,
        extents: tuple[Int, Int, Int],
        *,
        fresh: bool = False,
        factors: Value | None = None,
        last: Value | None = None,
    ) -> None:
        """to += left @ right, over (rows, columns, k); `to` and `right` have neighbours along their columns.

        Whole tiles of rows and whole vectors of columns are computed. The chains start from +0 where `fresh`, else from `to`,
        each row of it first multiplied by its factor in `factors`.

        `last` is added at the end: -0 changes nothing, +0 makes a -0 +0.
        """
        b = self.b
        rows, columns, count = extents
        wide = self.vectors * self.lanes
        whole = columns // wide * wide if isinstance(columns, int) else b.mul(b.div(columns, wide), wide)
        spans: list[tuple[Int, Int, int]] = [(0, whole, self.vectors), (whole, columns, 1)]
        for start, stop, vectors in spans:
            if isinstance(start, int) and isinstance(stop, int) and start >= stop:
                continue
            with b.loop(start, stop, vectors * self.lanes) as column, b.loop(0, rows, self.rows) as row:
                target = Matrix(to.at(b, row, column), to.row, to.column)
                scale = None if factors is None else b.at(factors, b.mul(row, self.kind.itemsize))
                from_left = Matrix(left.at(b, row, 0), left.row, left.column)
                from_right = Matrix(right.at(b, 0, column), right.row, right.column)
                self._tile(target, from_left, from_right, vectors, count, fresh, scale, last)

    def _tile(
        self,
        to: Matrix,
        left: Matrix,
        right: Matrix,
        vectors: int,
        count: Int,
        fresh: bool,
        factors: Value | None,
        last: Value | None,
    ) -> None:
        b, size = self.b, self.kind.itemsize
        held = {}
        for r in range(self.rows):
            factor = None
            if factors is not None:
                factor = b.splat(b.load(compute_type(self.kind), b.at(factors, r * size), size), self.lanes)
            for v in range(vectors):
                value = Value(self.type, "zeroinitializer")
                if not fresh:
                    value = b.load(self.type, to.at(b, r, v * self.lanes), self.nbytes)
                if factor is not None:
                    value = b.op("fmul", value, factor)
                held[r, v] = b.variable(value)
        at_left, at_right = b.variable(left.pointer), b.variable(right.pointer)

        def steps(n: int) -> None:
            x, y = at_left.get(), at_right.get()
            values = {place: variable.get() for place, variable in held.items()}
            for i in range(n):
                ys = [b.load(self.type, b.at(y, i * right.row + v * self.nbytes), self.nbytes) for v in range(vectors)]
                for r in range(self.rows):
                    scalar = b.load(compute_type(self.kind), b.at(x, r * left.row + i * left.column), size)
                    for v, (held_x, held_y) in enumerate((b.splat(scalar, self.lanes), y_) for y_ in ys):
                        values[r, v] = b.call(self.type, intrinsic("fma", self.type), held_x, held_y, values[r, v])
            for place, variable in held.items():
                variable.set(values[place])
            at_left.set(b.at(x, n * left.column))
            at_right.set(b.at(y, n * right.row))

        many = count // _UNROLLED * _UNROLLED if isinstance(count, int) else b.and_(count, -_UNROLLED)
        with b.loop(0, many, _UNROLLED):
            steps(_UNROLLED)
        if not (isinstance(many, int) and many == count):
            with b.loop(many, count):
                steps(1)
        end = None if last is None else b.splat(last, self.lanes)
        for (r, v), variable in held.items():
            value = variable.get()
            b.store(value if end is None else b.op("fadd", value, end), to.at(b, r, v * self.lanes), self.nbytes)


def pairwise(b: Builder, values: Sequence[Value]) -> Value:
    """The sum in adjacent pairs; there is a power of two of values."""
    partial_sums = list(values)
    while len(partial_sums) > 1:
        partial_sums = [b.op("fadd", x, y) for x, y in zip(partial_sums[::2], partial_sums[1::2], strict=True)]
    return partial_sums[0]
