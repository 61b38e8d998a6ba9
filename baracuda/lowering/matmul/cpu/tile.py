"""One tile of a matrix product: the chains of its elements in registers, and the epilogue over the finished sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from baracuda.codegen.llvm.evaluate import Evaluator, Group
from baracuda.codegen.llvm.ir import Builder, Int, Value, Variable, intrinsic, vector
from baracuda.codegen.llvm.lanes import first_lanes, load_lanes, store_lanes
from baracuda.codegen.llvm.memory import load, store_all
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import Expr
from baracuda.lowering.matmul.problem import PRODUCT, PRODUCT_PARTS
from baracuda.lowering.nest.cpu.kernel import Kernel
from baracuda.runtime.jit import CpuTarget

#: Steps of k that the loop over a tile makes at a time.
_UNROLLED = 2


@dataclass(frozen=True)
class Tile:
    """The shape of a register tile: `rows` by `vectors` of `lanes`, and the accumulators of an element: two of a complex one."""

    kind: ElementKind
    parts: int
    rows: int
    vectors: int
    lanes: int

    @staticmethod
    def of(kind: ElementKind, parts: int, target: CpuTarget) -> Tile:
        """As many accumulators as the registers hold beside a row of b and an element of a."""
        many = target.vector_bits == 512 or target.triple.startswith(("aarch64", "arm64"))
        rows, vectors = {(1, True): (8, 3), (1, False): (4, 3), (2, True): (4, 2), (2, False): (2, 2)}[parts, many]
        return Tile(kind, parts, rows, vectors, target.vector_bits // kind.bits)

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes

    @property
    def type(self) -> str:
        return vector(compute_type(self.kind), self.lanes)

    @property
    def zero(self) -> Value:
        return Value(self.type, "zeroinitializer")

    @property
    def nbytes(self) -> int:
        """The size of a tile in memory: parts by rows by columns."""
        return self.parts * self.rows * self.columns * self.kind.itemsize

    def offset(self, part: int, row: int, v: int) -> int:
        """Where a vector of a tile in memory is."""
        return ((part * self.rows + row) * self.columns + v * self.lanes) * self.kind.itemsize


def chain(
    b: Builder, kind: ElementKind, sums: Sequence[Value], left: Sequence[Value], right: Sequence[Value], swapped: bool
) -> list[Value]:
    """The sums, one a part, one step of k on. `swapped`: the first factor of the contract is on the right."""

    def step(x: Value, y: Value, s: Value, *, minus: bool = False) -> Value:
        if not kind.is_float:
            return b.op("add", b.op("mul", x, y), s)
        x = b.op("fneg", x) if minus else x
        return b.call(s.type, intrinsic("fma", s.type), x, y, s)

    if len(sums) == 1:
        return [step(left[0], right[0], sums[0])]
    re = step(left[1], right[1], step(left[0], right[0], sums[0]), minus=True)
    first, second = (left[0], right[1]), (left[1], right[0])
    if swapped:
        first, second = second, first
    return [re, step(*second, step(*first, sums[1]))]


def micro(
    b: Builder, tile: Tile, vectors: int, swapped: bool, count: Value, left: Value, right: Value, sums: Value, fresh: Value
) -> None:
    """The chains of a tile's first `vectors` columns of vectors over `count` steps of k.

    left and right are the packed factors, sums the tile in memory: it is read unless `fresh`, and written.
    """
    size = tile.kind.itemsize
    places = [(p, r, v) for p in range(tile.parts) for r in range(tile.rows) for v in range(vectors)]
    held: dict[tuple[int, int, int], Variable] = {place: b.variable(tile.zero) for place in places}
    with b.else_(fresh):
        for place, variable in held.items():
            variable.set(b.load(tile.type, b.at(sums, tile.offset(*place)), tile.lanes * size))
    at_left, at_right = b.variable(left), b.variable(right)
    left_pitch, right_pitch = tile.parts * tile.rows * size, tile.parts * tile.columns * size

    def steps(n: int) -> None:
        left, right = at_left.get(), at_right.get()
        values = {place: variable.get() for place, variable in held.items()}
        for i in range(n):
            ys = [
                [
                    b.load(
                        tile.type, b.at(right, i * right_pitch + (p * tile.columns + v * tile.lanes) * size), tile.lanes * size
                    )
                    for p in range(tile.parts)
                ]
                for v in range(vectors)
            ]
            for r in range(tile.rows):
                offsets = [i * left_pitch + (p * tile.rows + r) * size for p in range(tile.parts)]
                xs = [b.splat(b.load(compute_type(tile.kind), b.at(left, o), size), tile.lanes) for o in offsets]
                for v in range(vectors):
                    sums = chain(b, tile.kind, [values[p, r, v] for p in range(tile.parts)], xs, ys[v], swapped)
                    values |= {(p, r, v): value for p, value in enumerate(sums)}
        for place, variable in held.items():
            variable.set(values[place])
        at_left.set(b.at(left, n * left_pitch))
        at_right.set(b.at(right, n * right_pitch))

    many = b.and_(count, -_UNROLLED)
    with b.loop(0, many, _UNROLLED):
        steps(_UNROLLED)
    with b.loop(many, count):
        steps(1)
    for place, variable in held.items():
        b.store(variable.get(), b.at(sums, tile.offset(*place)), tile.lanes * size)


class Epilogue:
    """The formula over finished sums, from where they are kept in memory to the outputs."""

    def __init__(self, kernel: Kernel, kind: ElementKind, operands: Sequence[int], axes: tuple[int, int]) -> None:
        self.kernel, self.kind = kernel, kind
        graph = kernel.nest.graph
        if any(n.op in ("coord", "position") for n in graph.nodes):
            raise UnsupportedError("an epilogue that reads an index; expected one of the product and of tensors")
        self.lanes = kernel.target.vector_bits // max(32, *(n.kind.bits for n in graph.nodes))
        names = [p.name for p in graph.inputs if p.name not in (PRODUCT, *PRODUCT_PARTS)]
        self.inputs = dict(zip(names, operands, strict=False))
        self.outputs = list(zip(operands[len(names) :], graph.outputs, strict=True))
        self.operands = tuple(operands)
        self.row_axis, self.column_axis = axes
        self.strides = {i: kernel.byte_strides(i, axes) for i in operands}

    def rows(self, sums: Sequence[Value], pitch: Int, most: int, rows: Value, columns: Value, at: Mapping[int, Value]) -> None:
        """Apply to `rows` by `columns` sums, rows `pitch` bytes apart, one address a part; at: where the operands' are.

        Where all `most` columns are there, vectors go side by side.
        """
        b = self.kernel.b
        together = max(1, min(4, most // self.lanes))
        with b.loop(0, rows) as row:
            row_pointers = {i: b.at(p, b.mul(row, self.strides[i][0])) for i, p in at.items()}
            row_sums = [b.at(s, b.mul(row, pitch)) for s in sums]
            width = together * self.lanes
            whole = b.mul(b.div(columns, width), width)
            with b.loop(0, whole, width) as column:
                self._vectors(row_sums, row_pointers, column, together, None)
            with b.loop(whole, columns, self.lanes) as column:
                self._vectors(row_sums, row_pointers, column, 1, b.sub(columns, column))

    def _vectors(
        self, sums: Sequence[Value], at: Mapping[int, Value], column: Value, count: int, remaining: Value | None
    ) -> None:
        kernel, b, lanes = self.kernel, self.kernel.b, self.lanes
        operands = kernel.nest.operands
        pointers = {i: b.at(p, b.mul(column, self.strides[i][1])) for i, p in at.items()}

        def place(i: int, v: int) -> Value:
            step = operands[i].steps(self.column_axis)
            return b.at(pointers[i], v * lanes * operands[i].kind.itemsize if step == 1 else b.mul(self.strides[i][1], v * lanes))

        def leaf(n: Expr) -> Group:
            if n.op == "param":
                return [b.splat(kernel.param(n), lanes)] * count
            name = n.attr[0]
            if name in (PRODUCT, *PRODUCT_PARTS):
                base = b.at(sums[PRODUCT_PARTS.index(name) if name != PRODUCT else 0], b.mul(column, self.kind.itemsize))
                type_, size = vector(compute_type(self.kind), lanes), self.kind.itemsize
                return [b.load(type_, b.at(base, v * lanes * size), size) for v in range(count)]
            i = self.inputs[name]
            operand = operands[i]
            if operand.steps(self.column_axis) == 0:
                return [b.splat(load(b, operand.kind, at[i], 1), lanes)] * count
            stride = None if operand.steps(self.column_axis) == 1 else self.strides[i][1]
            return [load_lanes(b, operand.kind, place(i, v), lanes, stride, remaining) for v in range(count)]

        active = None if remaining is None else [first_lanes(b, lanes, remaining)]
        evaluator = Evaluator(b, lanes, count, leaf, active=active)
        results = [evaluator.value(e) for _, (_, e) in self.outputs]
        for (i, _), values in zip(self.outputs, results, strict=True):
            kind, unit = operands[i].kind, operands[i].steps(self.column_axis) == 1
            if unit and remaining is None:
                store_all(b, kind, values, pointers[i])
                continue
            for v, value in enumerate(values):
                store_lanes(b, kind, value, place(i, v), None if unit else self.strides[i][1], remaining)
