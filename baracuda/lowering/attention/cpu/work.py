"""What the kernels of attention share: operands, lengths and the band, scratch memory, and packing into it."""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.codegen.llvm.evaluate import Evaluator, Group
from baracuda.codegen.llvm.ir import Int, Value, constant, i64
from baracuda.codegen.llvm.lanes import store_lanes
from baracuda.codegen.llvm.memory import load
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.codegen.llvm.transpose import transposed
from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr
from baracuda.formula.graph import Graph
from baracuda.lowering.attention.cpu.tiles import Matrix, Multiplier
from baracuda.lowering.attention.problem import DOT, KEYS, QUERIES, Attention
from baracuda.lowering.matmul.cpu.plan import LINE, aligned, aligned_workspace
from baracuda.lowering.matmul.cpu.read import Reader, pack
from baracuda.lowering.nest.cpu.kernel import Kernel, Words
from baracuda.lowering.nest.problem import Nest, Operand
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.pool import get_num_threads

#: Bounds of a band beyond this are none.
_FAR = 1 << 29

_NAMES = ("q", "k", "v", "query_lengths", "key_lengths", "", "y", "lse", "dy", "dq", "dk", "dv", "dbias")


def nest_of(a: Attention) -> Nest:
    """The problem's operands and parameters, as kernels name them."""
    outputs = a.score.outputs + (a.slope.outputs if a.slope is not None else ())
    graph = Graph(a.score.inputs, outputs, a.score.inner_axes)
    return Nest(graph, (a.batch, a.heads, a.queries, a.keys), (), a.operands)


def numbered(a: Attention) -> dict[str, int]:
    """The position of each operand."""
    names: list[str] = []
    for name in _NAMES:
        if not name:
            names += [p.name for p in a.score.inputs if p.name != DOT]
        elif getattr(a, name) is not None:
            names.append(name)
    return {name: i for i, name in enumerate(names)}


class Scratch:
    """A layout of scratch memory: areas that start on cache lines."""

    def __init__(self) -> None:
        self.nbytes = 0

    def take(self, nbytes: int) -> int:
        """The offset of a new area."""
        offset = self.nbytes
        self.nbytes += aligned(nbytes)
        return offset


class AttentionKernel:
    """One kernel of attention under construction.

    The units of work are cut into parts, `parts` for each thread at most, which have scratch memory of their own.
    """

    def __init__(self, a: Attention, words: Words, target: CpuTarget, units: int, parts: int) -> None:
        self.a = a
        self.kernel = Kernel(words.nest, words, target)
        self.b = self.kernel.b
        self.kind = a.compute
        self.size = a.compute.itemsize
        self.multiplier = Multiplier.of(self.b, a.compute, target)
        self.lanes = self.multiplier.lanes
        self.type = self.multiplier.type
        self.index = numbered(a)
        self.scratch = Scratch()
        #: Bytes of the workspace in front of all scratch memory.
        self.before_scratch = 0
        self.units = units
        self.parts = max(1, min(units, parts * get_num_threads()))
        self.depth = self.padded(a.depth)
        self.value_depth = self.padded(a.value_depth)
        kernel = self.kernel
        self.heads, self.queries, self.keys = kernel.integers([a.heads, a.queries, a.keys])
        self.group = kernel.integer(a.heads // max(1, a.key_heads))
        self.offset = kernel.integer(_near(a.band.offset))
        self.before = None if a.band.before is None else kernel.integer(_near(a.band.before))
        self.after = None if a.band.after is None else kernel.integer(_near(a.band.after))
        self.strides = {name: kernel.byte_strides(i, range(len(self.operand(name).strides))) for name, i in self.index.items()}
        self.base: Value = i64(0)

    def padded(self, n: int) -> int:
        """An extent in whole vectors."""
        return -(-n // self.lanes) * self.lanes

    def operand(self, name: str) -> Operand:
        return self.kernel.nest.operands[self.index[name]]

    # --- scratch ------------------------------------------------------------------------------------------------------

    def area(self, rows: int, columns: int) -> Matrix:
        """A new matrix of the compute kind in scratch; `columns` are whole vectors."""
        offset = self.scratch.take(rows * columns * self.size)
        return Matrix(Value("i64", str(offset)), columns * self.size, self.size)

    def in_scratch(self, area: Matrix) -> Matrix:
        """An area of the scratch memory at hand."""
        return Matrix(self.b.at(self.base, area.pointer), area.row, area.column)

    def number(self, value: float) -> Value:
        """A vector of a constant of the compute kind."""
        bits = int(self.kind.numpy.type(value).view(f"u{self.size}"))
        return constant(compute_type(self.kind), bits, self.lanes)

    def scalar(self, value: float) -> Value:
        return constant(compute_type(self.kind), int(self.kind.numpy.type(value).view(f"u{self.size}")))

    def load(self, pointer: Value) -> Value:
        return self.b.load(self.type, pointer, self.multiplier.nbytes)

    def store(self, value: Value, pointer: Value) -> None:
        self.b.store(value, pointer, self.multiplier.nbytes)

    def evaluate(self, root: Expr, leaves: dict[str, Value]) -> Value:
        """A formula of vectors by name."""

        def leaf(n: Expr) -> Group:
            return [leaves[n.attr[0]]]

        return Evaluator(self.b, self.lanes, 1, leaf).value(root)[0]

    def clear(self, pointer: Value, nbytes: Value | int) -> None:
        """Zeros over whole vectors."""
        with self.b.loop(0, nbytes, self.multiplier.nbytes) as at:
            self.store(self.number(0.0), self.b.at(pointer, at))

    def whole_vectors(self, count: Value) -> Value:
        """A number of columns in whole vectors."""
        return self.b.mul(self.b.div(self.b.add(count, self.lanes - 1), self.lanes), self.lanes)

    # --- walking ------------------------------------------------------------------------------------------------------

    def range_of_units(self, part: Value) -> tuple[Value, Value]:
        """The units of one part."""
        b = self.b
        units, parts = self.kernel.integers([self.units, self.parts])
        return b.div(b.mul(part, units), parts), b.div(b.mul(b.add(part, 1), units), parts)

    def begin_part(self, part: Value, workspace: Value, nbytes: Value) -> None:
        self.base = self.b.at(workspace, self.b.mul(part, nbytes))

    def at(self, name: str, *indices: Value) -> Value:
        """The address of an operand's element at some indices, from the first axis on."""
        pointer = self.kernel.operand(self.index[name])
        for index, stride in zip(indices, self.strides[name], strict=False):
            pointer = self.b.at(pointer, self.b.mul(index, stride))
        return pointer

    def lengths(self, batch: Value) -> tuple[Value, Value]:
        """How many queries and keys there are in a batch element."""
        b = self.b
        limits = []
        for name, whole in (("query_lengths", self.queries), ("key_lengths", self.keys)):
            if name not in self.index:
                limits.append(whole)
                continue
            length = b.convert("sext", load(b, ElementKind.S32, self.at(name, batch), 1), "i64")
            limits.append(b.min(self.maximum(length, i64(0)), whole))
        return limits[0], limits[1]

    def maximum(self, x: Value, y: Value) -> Value:
        return self.b.select(self.b.less(x, y), y, x)

    def tiles(self, first: Value, query_length: Value, key_length: Value) -> tuple[Value, Value]:
        """The tiles of keys that a block of queries considers: from the first to before the second."""
        b = self.b
        start, stop = i64(0), b.div(b.add(key_length, KEYS - 1), KEYS)
        at = b.add(first, self.offset)
        if self.before is not None:
            start = b.div(self.maximum(b.sub(at, self.before), i64(0)), KEYS)
        if self.after is not None:
            end = b.add(b.add(at, QUERIES - 1), self.after)
            stop = b.min(stop, b.div(self.maximum(b.add(end, KEYS), i64(0)), KEYS))
        return start, b.select(b.less(first, query_length), stop, i64(0))

    def count(self, first: Value, length: Value, most: int) -> Value:
        """How many rows there are from `first` on, in a block."""
        return self.b.min(self.maximum(self.b.sub(length, first), i64(0)), most)

    # --- packing ------------------------------------------------------------------------------------------------------

    def pack_rows(self, name: str, pointer: Value, count: Value, to: Matrix, columns: int) -> None:
        """Rows of an operand as rows, widened; what pads them to whole vectors is zero."""
        b = self.b
        reader = Reader.of(b, self.operand(name), (3, 2), (self.strides[name][3], self.strides[name][2]))
        with b.loop(0, columns, self.lanes) as column:
            remaining = b.sub(columns, column)
            pack(reader, reader.at(pointer, column, 0), self.lanes, remaining, count, to.at(b, 0, column), to.row)

    def pack_columns(self, name: str, pointer: Value, count: Value, to: Matrix, columns: int) -> None:
        """Rows of an operand as columns, widened; what pads them to whole vectors is zero."""
        b = self.b
        reader = Reader.of(b, self.operand(name), (2, 3), (self.strides[name][2], self.strides[name][3]))
        with b.loop(0, count, self.lanes) as row:
            remaining = b.sub(count, row)
            pack(reader, reader.at(pointer, row, 0), self.lanes, remaining, i64(columns), to.at(b, 0, row), to.row)

    def transpose(self, source: Matrix, to: Matrix, rows: Int, columns: Int) -> None:
        """Columns of scratch as rows, both of them whole vectors."""
        b = self.b
        with b.loop(0, rows, self.lanes) as row, b.loop(0, columns, self.lanes) as column:
            square = [self.load(source.at(b, b.add(row, lane), column)) for lane in range(self.lanes)]
            for lane, values in enumerate(transposed(b, square)):
                self.store(values, to.at(b, b.add(column, lane), row))

    # --- results ------------------------------------------------------------------------------------------------------

    def columns(self, extent: int) -> Iterator[tuple[Value, Value | None]]:
        """Runs its body for every vector of a row of an operand: where it begins, and how many lanes exist (None: all)."""
        whole = extent // self.lanes * self.lanes
        with self.b.loop(0, whole, self.lanes) as column:
            yield column, None
        if whole < extent:
            yield i64(whole), i64(extent - whole)

    def store_columns(self, name: str, value: Value, row: Value, column: Value, remaining: Value | None) -> None:
        """Write a vector of an operand's row."""
        operand, stride = self.operand(name), self.strides[name][3]
        place = self.b.at(row, self.b.mul(column, stride))
        store_lanes(self.b, operand.kind, value, place, None if operand.steps(3) == 1 else stride, remaining)

    def store_rows(self, name: str, to: Value, rows: Value, existing: Value, source: Matrix, columns: int) -> None:
        """Write rows of scratch as rows of an operand, those from `existing` on as zeros."""
        b = self.b
        with b.loop(0, rows) as row:
            exists = b.less(row, existing)
            at = b.at(to, b.mul(row, self.strides[name][2]))
            for column, remaining in self.columns(columns):
                value = b.select(exists, self.load(source.at(b, row, column)), self.number(0.0))
                self.store_columns(name, value, at, column, remaining)

    def last(self, count: Value, most: int) -> Value:
        """What a chain over `count` of `most` rows ends with: the rows that are not there are zeros."""
        return self.b.select(self.b.equal(count, most), self.scalar(-0.0), self.scalar(0.0))

    def workspace(self) -> tuple[Value, Value]:
        """Where scratch memory starts, and how much of it each part has: known when all areas are taken."""
        start = aligned_workspace(self.kernel)
        if self.before_scratch:
            start = self.b.at(start, self.kernel.integer(self.before_scratch))
        return start, self.kernel.integer(self.scratch.nbytes)

    @property
    def workspace_bytes(self) -> int:
        return self.before_scratch + self.scratch.nbytes * self.parts + LINE


def _near(bound: int) -> int:
    return max(-_FAR, min(bound, _FAR))
