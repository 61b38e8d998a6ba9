"""Pointwise nests that read at indices which are the same along an outer axis, the planes of a batch of images, say.

A unit of work is a row of some planes: a vector of indices and weights is computed once, and then serves each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from baracuda.codegen.llvm.evaluate import Evaluator, Group
from baracuda.codegen.llvm.ir import Value
from baracuda.codegen.llvm.lanes import load_at, load_lanes, store_lanes
from baracuda.codegen.llvm.memory import load
from baracuda.formula.expr import READS, Expr, topological
from baracuda.formula.gathers import gathers
from baracuda.lowering.nest.cpu.kernel import Kernel, Words, element_ns
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.lowering.nest.fission import OperandAddress
from baracuda.lowering.nest.indexed_reads import moving_axes
from baracuda.lowering.nest.problem import Nest
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

#: Planes of a unit: what they read and write at once should not be more pages than a core has entries for.
_PLANES = 16


def planes_step(
    nest: Nest, axis: int, words: Words, target: CpuTarget, places: Sequence[OperandAddress] | None = None
) -> tuple[Launch, str]:
    """The step along such an axis, and the name of its schedule."""
    return _Planes(Kernel(nest, words, target, places), axis).step(), "planes"


class _Planes:
    def __init__(self, kernel: Kernel, axis: int) -> None:
        self.kernel, self.b, self.axis = kernel, kernel.b, axis
        self.nest = nest = kernel.nest
        self.last = len(nest.outer) - 1
        self.rows = [a for a in range(self.last) if a != axis]
        moving = moving_axes(nest)
        self.along_row = {n: self.last in axes for n, axes in moving.items()}
        self.along_planes = {n: axis in axes for n, axes in moving.items()}
        self.index = kernel.input_index
        operands = range(len(nest.operands))
        self.steps = {i: nest.operands[i].steps(self.last) for i in operands}
        self.strides = {i: kernel.byte_strides(i, [self.last])[0] for i in operands if self.steps[i] not in (0, 1)}

    def _boundary(self, roots: list[Expr], moves: dict[Expr, bool], among: Sequence[Expr]) -> list[Expr]:
        """The largest parts of `among` that do not move."""
        found = {r: None for r in roots if not moves[r]}
        for n in among:
            if moves[n]:
                found |= {a: None for a in n.args if not moves[a]}
        return [n for n in found if n.op != "const"]

    def step(self) -> Launch:
        """The function over units of work."""
        kernel, b, nest = self.kernel, self.b, self.nest
        roots = [e for _, e in nest.graph.outputs]
        order = topological(roots)
        either = {n: self.along_row[n] or self.along_planes[n] for n in order}
        of_row = self._boundary(roots, either, order)
        of_planes = self._boundary(roots, self.along_planes, order)
        operands = range(len(nest.operands))
        planes, length = kernel.integer(nest.outer[self.axis]), kernel.integer(nest.outer[self.last])
        chunks = -(-nest.outer[self.axis] // _PLANES)
        over = {i: kernel.byte_strides(i, [self.axis])[0] for i in operands}
        with b.at_entry():
            wide = {i: b.mul(over[i], _PLANES) for i in operands}
        iterator = StridedIterator(
            b,
            kernel.integers([chunks, *(nest.outer[a] for a in self.rows)]),
            {i: [wide[i], *kernel.byte_strides(i, self.rows)] for i in operands},
            {i: kernel.operand(i) for i in operands},
        )
        iterator.start(kernel.begin)
        lanes = kernel.lanes
        with b.loop(kernel.begin, kernel.end):
            indices, pointers = iterator.indices(), iterator.pointers()
            first = b.mul(indices[0], _PLANES)
            last = b.min(b.add(first, _PLANES), planes)
            row = self._row(dict(zip(self.rows, indices[1:], strict=True)), pointers)
            for n in of_row:
                row.value(n)

            def vectors(start: Value, remaining: Value | None) -> None:
                once = self._vector(row, pointers, start, remaining)
                for n in of_planes:
                    once.value(n)
                with b.loop(first, last) as plane:
                    at = b.sub(plane, first)
                    here = {i: b.at(p, b.mul(at, over[i])) for i, p in pointers.items()}
                    evaluator = self._plane(row, once, here, plane, start, remaining)
                    for k, e in enumerate(roots):
                        i = len(nest.graph.inputs) + k
                        value = evaluator.value(e)[0]
                        kind, to = nest.operands[i].kind, self._at(i, here[i], start)
                        store_lanes(b, kind, value, to, self.strides.get(i), remaining)

            whole = b.and_(length, -lanes)
            with b.loop(0, whole, lanes) as start:
                vectors(start, None)
            with b.if_(b.less(whole, length)):
                vectors(whole, b.sub(length, whole))
            iterator.advance()
        fixed = [n for n in order if not self.along_planes[n]]
        ns = element_ns(nest, [n for n in order if self.along_planes[n]]) + element_ns(nest, fixed) / _PLANES
        reads = len(gathers(nest.graph))
        cost = (ns + 0.3 * reads) * nest.outer[self.last] * min(_PLANES, nest.outer[self.axis])
        return kernel.step(chunks * prod(nest.outer[a] for a in self.rows), cost)

    def _at(self, i: int, pointer: Value, start: Value) -> Value:
        """Where an operand's elements begin from `start` on along the last axis."""
        if self.steps[i] == 0:
            return pointer
        stride = self.strides.get(i)
        return self.b.at(pointer, self.b.mul(start, self.nest.operands[i].kind.itemsize if stride is None else stride))

    def _row(self, indices: dict[int, Value], pointers: dict[int, Value]) -> Evaluator:
        """What is the same for all elements and planes of a unit."""
        b = self.b

        def leaf(n: Expr) -> Group | None:
            if n.op == "param":
                return [self.kernel.param(n)]
            if n.op == "coord":
                return [b.convert("trunc", indices[n.attr], "i32")]
            return [load(b, n.attr[1], pointers[self.index[n.attr[0]]], 1)] if n.op == "input" else None

        return Evaluator(b, 1, 1, leaf, gather=lambda n, offsets: self._gathered(n, offsets, pointers))

    def _gathered(self, n: Expr, offsets: Group, pointers: dict[int, Value]) -> Group:
        return [load_at(self.b, n.attr.storage, pointers[self.index[n.attr.name]], o) for o in offsets]

    def _loaded(self, n: Expr, row: Evaluator, pointers: dict[int, Value], start: Value, remaining: Value | None) -> Group | None:
        """The elements along the last axis of an input, or of a read whose index is the same for a row; None for another."""
        b, i, lanes = self.b, self.index[n.attr[0]], self.kernel.lanes
        pointer = pointers[i]
        if n.op == "gather":
            if self.along_row[n.args[0]]:
                return None
            (offset,) = row.value(n.args[0])
            pointer = b.at(pointer, b.mul(offset, n.attr.storage.itemsize))
        at = self._at(i, pointer, start)
        if self.steps[i] == 0:
            return [b.splat(load(b, n.attr[1], at, 1), lanes)]
        return [load_lanes(b, n.attr[1], at, lanes, self.strides.get(i), remaining)]

    def _vector(self, row: Evaluator, pointers: dict[int, Value], start: Value, remaining: Value | None) -> Evaluator:
        """What is the same for all planes, for a vector of elements."""
        b, lanes = self.b, self.kernel.lanes

        def leaf(n: Expr) -> Group | None:
            if n.op == "coord":
                return [b.op("add", b.splat(b.convert("trunc", start, "i32"), lanes), b.iota(lanes))]
            return self._loaded(n, row, pointers, start, remaining) if n.op in READS else None

        return Evaluator(b, lanes, 1, leaf, row, None, lambda n, offsets: self._gathered(n, offsets, pointers))

    def _plane(
        self,
        row: Evaluator,
        once: Evaluator,
        pointers: dict[int, Value],
        plane: Value,
        start: Value,
        remaining: Value | None,
    ) -> Evaluator:
        """An element of a plane, for a vector of them."""
        b, lanes = self.b, self.kernel.lanes

        def leaf(n: Expr) -> Group | None:
            if n.op == "coord":
                return [b.splat(b.convert("trunc", plane, "i32"), lanes)]
            return self._loaded(n, row, pointers, start, remaining) if n.op in READS else None

        return Evaluator(b, lanes, 1, leaf, once, None, lambda n, offsets: self._gathered(n, offsets, pointers))
