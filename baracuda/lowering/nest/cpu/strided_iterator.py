"""Walking a nest of loops in order, with the address of every operand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from baracuda.codegen.llvm.ir import Builder, Value, Variable, i64
from baracuda.formula.expr import Expr, coord, rebuild
from baracuda.formula.graph import Graph
from baracuda.lowering.nest.problem import Nest


def with_last(nest: Nest, axis: int) -> Nest:
    """The same problem with outer axis `axis` as the last outer one."""
    outer = len(nest.outer)
    if axis == outer - 1:
        return nest
    order = [a for a in range(outer) if a != axis] + [axis, *range(outer, outer + len(nest.inner))]
    position = {a: i for i, a in enumerate(order)}

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        return coord(position[n.attr]) if n.op == "coord" else rebuild(n, args)

    mapped = nest.graph.map(rewrite)
    operands = tuple(replace(o, strides=tuple(o.strides[a] for a in order)) for o in nest.operands)
    graph = Graph(mapped.inputs, mapped.outputs, nest.graph.inner_axes)
    return Nest(graph, tuple(nest.outer[a] for a in order[:outer]), nest.inner, operands)


class StridedIterator:
    """Indices of a nest, last axis fastest, and for each operand the address that belongs to them.

    `start` decodes a position by division; `advance` goes to the next one by additions.
    """

    def __init__(
        self, b: Builder, extents: Sequence[Value], strides: Mapping[int, Sequence[Value]], bases: Mapping[int, Value]
    ) -> None:
        self.b = b
        self.extents = extents
        self.strides = strides
        self.bases = bases
        self._index: list[Variable] = []
        self._pointers: dict[int, Variable] = {}

    def start(self, position: Value) -> None:
        b = self.b
        indices: list[Value] = []
        rest = position
        for axis in range(len(self.extents) - 1, -1, -1):
            indices.insert(0, b.rem(rest, self.extents[axis]) if axis else rest)
            if axis:
                rest = b.div(rest, self.extents[axis])
        self._index = [b.variable(i) for i in indices]
        for key, base in self.bases.items():
            pointer = base
            for index, stride in zip(indices, self.strides[key], strict=True):
                pointer = b.at(pointer, b.mul(index, stride))
            self._pointers[key] = b.variable(pointer)

    def pointers(self) -> dict[int, Value]:
        return {key: p.get() for key, p in self._pointers.items()}

    def indices(self) -> list[Value]:
        return [i.get() for i in self._index]

    def advance(self) -> None:
        self._advance(len(self.extents) - 1)

    def _advance(self, axis: int) -> None:
        if axis < 0:
            return
        b = self.b
        index = self._index[axis]
        index.set(b.add(index.get(), i64(1)))
        for key, pointer in self._pointers.items():
            pointer.set(b.at(pointer.get(), self.strides[key][axis]))
        if axis:
            with b.if_(b.equal(index.get(), self.extents[axis])):
                for key, pointer in self._pointers.items():
                    back = b.mul(self.strides[key][axis], self.extents[axis])
                    pointer.set(b.at(pointer.get(), b.sub(i64(0), back)))
                index.set(i64(0))
                self._advance(axis - 1)
