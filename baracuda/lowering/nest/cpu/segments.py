"""The segments of a row, each presented as contiguous memory.

An operand that is contiguous along the row is used where it is. One that is not, because the row has several axes or a
stride, is copied to and from a buffer of one segment, run by run; or, where its runs are whole vectors and a pass only reads,
each run is used where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from baracuda.codegen.llvm.copying import copy_run, repeat
from baracuda.codegen.llvm.ir import Value, i64, vector
from baracuda.codegen.llvm.memory import stored_type
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, topological
from baracuda.formula.order import SEGMENT
from baracuda.lowering.nest.cpu.analysis import RowAnalysis
from baracuda.lowering.nest.cpu.kernel import Kernel
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator

#: Elements that a vector may reach beyond a segment in its buffer.
_PADDING = 64


class Segments:
    """Addresses, and inner coordinates, of the elements of one segment after another."""

    def __init__(self, kernel: Kernel, analysis: RowAnalysis) -> None:
        self.kernel = kernel
        self.b = kernel.b
        self.analysis = analysis
        nest = kernel.nest
        self.axes = range(len(nest.outer), len(nest.outer) + len(nest.inner))
        self.length = kernel.integer(nest.row_length)
        self.extents = kernel.integers(nest.inner or (1,))
        strided = [i for i, a in analysis.access.items() if a == "strided"]
        self.strides = {i: kernel.byte_strides(i, self.axes) or [i64(0)] for i in strided}
        self.runs = {i: bool(self.axes) and nest.operands[i].steps(self.axes[-1]) == 1 for i in strided}
        self.buffers = {i: self.b.array(stored_type(nest.operands[i].kind), SEGMENT + _PADDING) for i in strided}
        coords = {n.attr for n in nest.graph.nodes if n.op == "coord" and analysis.varying[n]}
        self.coords = {a: self.b.array("i32", SEGMENT + _PADDING) for a in sorted(coords) if len(self.axes) > 1}
        self.row: dict[int, Value] = {}
        self.pointers: dict[int, Value] = {}
        self.first = i64(0)
        self.origin = i64(0)

    def coordinate(self, axis: int, position: Value, lanes: int) -> Value:
        """The index along an inner axis at `lanes` elements from `position` in the segment."""
        b = self.b
        type_ = vector("i32", lanes)
        if axis in self.coords:
            return b.load(type_, b.at(self.coords[axis], b.mul(position, 4)), 4)
        start = b.convert("trunc", b.add(b.add(self.origin, self.first), position), "i32")
        return b.op("add", b.splat(start, lanes), b.iota(lanes))

    def number(self, kind: ElementKind, position: Value, lanes: int) -> Value:
        """The numbers in the row of `lanes` elements from `position` in the segment."""
        b = self.b
        type_ = compute_type(kind)
        start = b.convert("trunc", b.add(self.first, position), type_)
        return b.op("add", b.splat(start, lanes), b.iota(lanes, type_))

    def _window(self, segment: Value, following: Callable[[Value], Value]) -> tuple[Value, Value]:
        """The number in the row of the first element from a segment to before the following, and how many there are."""
        b = self.b
        first = b.mul(segment, SEGMENT)
        end = b.mul(following(segment), SEGMENT)
        return first, b.sub(b.min(end, self.length), first)

    @contextmanager
    def each(
        self, first: Value, last: Value, *, roots: Sequence[Expr], outputs: Sequence[int] = (), copied: bool = True
    ) -> Iterator[Value]:
        """For each segment: `pointers` and `first` are set, and its number of elements is given.

        Where nothing has to be copied and outputs are written, all segments are given as one. Where `copied` is not set, the
        pointers of what is not contiguous are left to `pieces`.
        """
        b = self.b
        inputs = self._inputs(roots)
        axes = {n.attr for n in topological(roots) if n.op == "coord"} & set(self.coords)
        together = bool(outputs) and not axes and not {*inputs, *outputs} & set(self.strides)
        with b.loop(first, last, b.sub(last, first) if together else 1) as segment:
            self.first, m = self._window(segment, lambda i: last if together else b.add(i, 1))
            self.pointers = {}
            for i in (*inputs, *outputs):
                size = self.kernel.nest.operands[i].kind.itemsize
                if i not in self.strides:
                    offset = b.mul(self.first, size) if self.analysis.access[i] == "unit" else i64(0)
                    self.pointers[i] = b.at(self.row[i], offset)
            incoming = [i for i in inputs if i in self.strides] if copied else []
            inside = self._fill(incoming, [i for i in outputs if i in self.strides], axes, m)
            yield m
            outgoing = [i for i in outputs if i in self.strides]
            if outgoing:
                with b.else_(inside):
                    self._pieces(outgoing, m, self._store)
                whole = [i for i in outgoing if not self.runs[i]]
                if whole:
                    with b.if_(inside):
                        self._pieces(whole, m, self._store)

    def _inputs(self, roots: Sequence[Expr]) -> list[int]:
        """The inputs that vary along the row and that some values are computed from."""
        walked = [n for n in topological(roots) if n.op == "input" or n in self.analysis.followed]
        names = {n.attr[0] for n in walked if self.analysis.varying[n]}
        return [i for i, p in enumerate(self.kernel.nest.graph.inputs) if p.name in names]

    def in_runs(self, roots: Sequence[Expr]) -> bool:
        """Whether what some values are computed from is best read run by run, in whole vectors."""
        strided = [i for i in self._inputs(roots) if i in self.strides]
        whole = len(self.axes) > 1 and self.kernel.nest.inner[-1] % self.kernel.lanes == 0
        has_coordinates = any(n.op == "coord" and n.attr in self.coords for n in topological(roots))
        return bool(strided) and whole and not has_coordinates and all(self.runs[i] for i in strided)

    @contextmanager
    def pieces(self, roots: Sequence[Expr], m: Value) -> Iterator[tuple[Value, Value]]:
        """For each run of the segment: `pointers` are set, and its first and last position in the segment are given."""
        b = self.b
        iterator = self._start([i for i in self._inputs(roots) if i in self.strides])
        index, position = b.variable(b.rem(self.first, self.extents[-1])), b.variable(i64(0))
        with b.while_(lambda: b.less(position.get(), m)):
            begin = position.get()
            end = b.add(begin, b.min(b.sub(self.extents[-1], index.get()), b.sub(m, begin)))
            for i, pointer in iterator.pointers().items():
                self.pointers[i] = b.at(pointer, b.mul(b.sub(index.get(), begin), self.strides[i][-1]))
            yield begin, end
            position.set(end)
            index.set(i64(0))
            iterator.advance()

    def _fill(self, incoming: list[int], outgoing: list[int], axes: set[int], m: Value) -> Value:
        """Buffers for what is not contiguous in this segment; returns whether the segment lies within one run."""
        b = self.b
        if not (incoming or outgoing or axes):
            return Value("i1", "true")
        extent = self.extents[-1]
        inside = b.compare("icmp sle", b.add(b.rem(self.first, extent), m), extent)
        chosen = {i: b.variable(self.buffers[i]) for i in (*incoming, *outgoing)}
        with b.if_(inside):
            direct = [i for i in chosen if self.runs[i]]
            iterator = self._start(direct)
            index = b.rem(self.first, extent)
            for i, pointer in iterator.pointers().items():
                chosen[i].set(b.at(pointer, b.mul(index, self.strides[i][-1])))
            copied = [i for i in incoming if not self.runs[i]]
            if copied or axes:
                self._pieces(copied, m, self._load, axes)
        with b.else_(inside):
            self._pieces(incoming, m, self._load, axes)
        self.pointers |= {i: v.get() for i, v in chosen.items()}
        return inside

    def _start(self, operands: Sequence[int]) -> StridedIterator:
        iterator = StridedIterator(
            self.b, self.extents[:-1], {i: self.strides[i][:-1] for i in operands}, {i: self.row[i] for i in operands}
        )
        iterator.start(self.b.div(self.first, self.extents[-1]))
        return iterator

    def _pieces(
        self, operands: Sequence[int], m: Value, move: Callable[[int, Value, Value, Value], None], axes: set[int] | None = None
    ) -> None:
        """Run after run of the segment: move(operand, address of the run, position in the segment, elements)."""
        b = self.b
        iterator = self._start(operands)
        index = b.variable(b.rem(self.first, self.extents[-1]))
        position = b.variable(i64(0))
        with b.while_(lambda: b.less(position.get(), m)):
            count = b.min(b.sub(self.extents[-1], index.get()), b.sub(m, position.get()))
            for i, pointer in iterator.pointers().items():
                move(i, b.at(pointer, b.mul(index.get(), self.strides[i][-1])), position.get(), count)
            for axis in sorted(axes or ()):
                self._count(axis, iterator, index.get(), position.get(), count)
            position.set(b.add(position.get(), count))
            index.set(i64(0))
            iterator.advance()

    def _buffer(self, i: int, position: Value) -> Value:
        return self.b.at(self.buffers[i], self.b.mul(position, self.kernel.nest.operands[i].kind.itemsize))

    def _load(self, i: int, address: Value, position: Value, count: Value) -> None:
        operand, buffer = self.kernel.nest.operands[i], self._buffer(i, position)
        if self.axes and operand.steps(self.axes[-1]) == 0:
            # What lands beyond the run is overwritten by the next, or lies in the padding.
            repeat(self.b, operand.kind, self.kernel.lanes, count, buffer, address)
            return
        stride = None if self.runs[i] else self.strides[i][-1]
        copy_run(self.b, operand.kind, self.kernel.lanes, count, buffer, None, address, stride)

    def _store(self, i: int, address: Value, position: Value, count: Value) -> None:
        kind = self.kernel.nest.operands[i].kind
        stride = None if self.runs[i] else self.strides[i][-1]
        copy_run(self.b, kind, self.kernel.lanes, count, address, stride, self._buffer(i, position), None)

    def _count(self, axis: int, iterator: StridedIterator, index: Value, position: Value, count: Value) -> None:
        """Coordinates along one axis for a run; whole vectors, so that some land beyond it and are overwritten."""
        b, lanes = self.b, self.kernel.lanes
        last = axis == self.axes[-1]
        start = b.convert("trunc", index if last else iterator.indices()[axis - self.axes[0]], "i32")
        values = b.splat(start, lanes)
        with b.loop(0, count, lanes) as i:
            at = b.at(self.coords[axis], b.mul(b.add(position, i), 4))
            reached = b.add(values, b.add(b.splat(b.convert("trunc", i, "i32"), lanes), b.iota(lanes))) if last else values
            b.store(reached, at, 4)
