"""Pointwise problems: loops along one vectorised axis, or tiles of two where operands are transposed to one another."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.codegen.llvm.ir import Value, i64
from baracuda.codegen.llvm.memory import stored_type
from baracuda.codegen.llvm.transpose import transpose_tile
from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Axes
from baracuda.formula.graph import Graph, Port
from baracuda.formula.order import SEGMENT
from baracuda.lowering.elementwise.cpu.planes import planes_step
from baracuda.lowering.nest.cpu.analysis import RowAnalysis
from baracuda.lowering.nest.cpu.kernel import Kernel, Words, element_ns
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator, with_last
from baracuda.lowering.nest.fission import OperandAddress
from baracuda.lowering.nest.indexed_reads import plane_axis
from baracuda.lowering.nest.problem import Nest, Operand
from baracuda.lowering.reduction.cpu.rows import RowPasses
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch, Lowered

#: Segments of 1024 elements that make one unit of work, where the vectorised axis is that long.
_CHUNK = 8
#: Columns of a tile; its rows are `_tile_rows`.
_TILE = 256
#: An axis shorter than this is not worth a vector loop when there is a longer one.
_SHORT = 12


def as_rows(nest: Nest, last: int) -> Nest:
    """The same problem with axis `last` as its only inner axis."""
    nest = with_last(nest, last)
    ports = tuple((Port(p.name, p.kind, Axes.FULL), e) for p, e in nest.graph.outputs)
    graph = Graph(nest.graph.inputs, ports, (False,) * (len(nest.outer) - 1) + (True,))
    return Nest(graph, nest.outer[:-1], nest.outer[-1:], nest.operands)


def _vector_axis(nest: Nest) -> int:
    """The last axis, unless it is short and another is not."""
    last = len(nest.outer) - 1
    longest = max(range(len(nest.outer)), key=lambda a: nest.outer[a])
    return longest if nest.outer[last] < _SHORT and nest.outer[longest] >= 4 * nest.outer[last] else last


def _tile_axis(nest: Nest) -> int | None:
    """The outer axis along which operands that are strided along the inner one have their neighbours, if there is one."""
    inner = len(nest.outer)
    if nest.inner[0] < 8:
        return None

    def votes(axis: int) -> int:
        if nest.outer[axis] < 8:
            return 0
        return sum(o.steps(axis) == 1 and o.strides[inner] not in (0, 1) and not o.gathered for o in nest.operands)

    best = max(range(inner), key=votes, default=None)
    return best if best is not None and votes(best) else None


def lower_pointwise(nest: Nest, words: Words, target: CpuTarget) -> Lowered:
    """Any formula without reductions."""
    step, name = pointwise_step(nest, words, target)
    return Lowered((step,), tuple(words.integers), 0, name)


def pointwise_step(
    nest: Nest, words: Words, target: CpuTarget, places: Sequence[OperandAddress] | None = None
) -> tuple[Launch, str]:
    """One step for a formula without reductions, and the name of its schedule."""
    if not nest.outer:  # scalars: one axis of one element
        nest = Nest(nest.graph, (1,), (), tuple(Operand(o.kind, (1,), o.alignment) for o in nest.operands))
    planes = plane_axis(nest)
    if planes is not None and nest.outer[-1] >= _SHORT:
        return planes_step(nest, planes, words, target, places)
    nest = as_rows(nest, _vector_axis(nest))
    axis = _tile_axis(nest)
    kernel = Kernel(nest, words, target, places)
    return _chunks(kernel) if axis is None else _tiles(kernel, axis)


def _chunks(kernel: Kernel) -> tuple[Launch, str]:
    """Each unit is a stretch of the vectorised axis at one index of the others."""
    nest = kernel.nest
    analysis = RowAnalysis(nest)
    b = kernel.b
    passes = RowPasses(kernel, analysis, keep=False)
    segments = -(-nest.row_length // SEGMENT)
    chunks = -(-segments // _CHUNK)
    axes = range(len(nest.outer))
    last = kernel.integer(segments)
    operands = range(len(nest.operands))
    iterator = StridedIterator(
        b,
        kernel.integers([*nest.outer, chunks]),
        {i: [*kernel.byte_strides(i, axes), i64(0)] for i in operands},
        {i: kernel.operand(i) for i in operands},
    )
    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        indices = iterator.indices()
        passes.begin(iterator.pointers(), indices)
        first = b.mul(indices[-1], _CHUNK)
        passes.write_elements(first, b.min(b.add(first, i64(_CHUNK)), last))
        iterator.advance()
    passes.streaming.fence()
    cost = element_ns(nest, nest.graph.nodes) * min(nest.row_length, _CHUNK * SEGMENT) + 10
    return kernel.step(nest.rows * chunks, cost), "pointwise"


def _tile_rows(kinds: list[ElementKind]) -> int:
    """Enough rows that each line of a transposed operand is used whole while it is in the cache."""
    return max(64, *(64 // k.itemsize for k in kinds))


def _tiles(kernel: Kernel, axis: int) -> tuple[Launch, str]:
    """Each unit is a tile over outer axis `axis` and the inner one; transposed operands go through a buffer."""
    nest = kernel.nest
    analysis = RowAnalysis(nest)
    b = kernel.b
    inner = len(nest.outer)
    ordinary = [i for i, o in enumerate(nest.operands) if not o.gathered]
    transposed = [i for i in ordinary if nest.operands[i].steps(axis) == 1 and nest.operands[i].strides[inner] not in (0, 1)]
    inputs = len(nest.graph.inputs)
    for i in transposed:
        analysis.access[i] = "unit"
    passes = RowPasses(kernel, analysis, keep=False)
    kinds = {i: nest.operands[i].kind for i in transposed}
    height = _tile_rows(list(kinds.values()))
    buffers = {i: b.array(stored_type(k), height * (_TILE + 64 // k.itemsize)) for i, k in kinds.items()}

    def pitch(i: int) -> int:
        """Bytes from one row of a buffer to the next; odd in cache lines, so that rows do not share a cache set."""
        return _TILE * kinds[i].itemsize + 64

    others = [a for a in range(inner) if a != axis]
    counts = (-(-nest.outer[axis] // height), -(-nest.inner[0] // _TILE))
    extents = (kernel.integer(nest.outer[axis]), kernel.integer(nest.inner[0]))
    strides = {i: kernel.byte_strides(i, [*others, axis, inner]) for i in range(len(nest.operands))}
    iterator = StridedIterator(
        b,
        kernel.integers([*(nest.outer[a] for a in others), *counts]),
        {i: [*s[:-2], _scaled(kernel, s[-2], height), _scaled(kernel, s[-1], _TILE)] for i, s in strides.items()},
        {i: kernel.operand(i) for i in strides},
    )
    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        pointers, indices = iterator.pointers(), iterator.indices()
        top, left = b.mul(indices[-2], height), b.mul(indices[-1], _TILE)
        rows, columns = b.min(height, b.sub(extents[0], top)), b.min(_TILE, b.sub(extents[1], left))

        def exchange(i: int, *, back: bool, size: tuple[Value, Value] = (columns, rows), at: dict[int, Value] = pointers) -> None:
            outside = (at[i], strides[i][-1])
            inside = (buffers[i], i64(pitch(i)))
            source, goal = (inside, outside) if back else (outside, inside)
            transpose_tile(b, kinds[i], kernel.target.vector_bits, size[::-1] if back else size, *source, *goal)

        for i in transposed:
            if i < inputs:
                exchange(i, back=False)
        passes.segments.length, passes.segments.origin = columns, left
        with b.loop(0, rows) as row:
            tile_pointers = {
                i: b.at(buffers[i], b.mul(row, pitch(i))) if i in kinds else b.at(p, b.mul(row, strides[i][-2]))
                for i, p in pointers.items()
            }
            outer = dict(zip(others, indices, strict=False)) | {axis: b.add(top, row)}
            passes.begin(tile_pointers, [outer[a] for a in range(inner)])
            passes.write_elements(i64(0), i64(1))
        for i in transposed:
            if i >= inputs:
                exchange(i, back=True)
        iterator.advance()
    passes.streaming.fence()
    units = counts[0] * counts[1]
    for a in others:
        units *= nest.outer[a]
    cost = element_ns(nest, nest.graph.nodes) * min(height, nest.outer[axis]) * min(_TILE, nest.inner[0]) + 50
    return kernel.step(units, cost), "tiles"


def _scaled(kernel: Kernel, stride: Value, factor: int) -> Value:
    """A stride over several elements, computed once."""
    with kernel.b.at_entry():
        return kernel.b.mul(stride, factor)
