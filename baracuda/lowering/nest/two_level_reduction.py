"""Problems with pooled sums, cut into stages: what each block of a row gives, and the row from its blocks.

The first stage reduces the blocks as rows of their own and writes what they give into the workspace, an array over rows and
blocks for each reduction; where a shorter block ends each stretch of the cut axis, a stage of its own does these. The last
stage reduces over the blocks. The elements are read once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod

from baracuda.core.elements import ElementKind
from baracuda.core.layout import contiguous_strides, round_up
from baracuda.formula.expr import READS, Axes, Expr, cast, compare, const, coord, input_, rebuild, reduce, select, topological
from baracuda.formula.functions import ROW_LENGTH
from baracuda.formula.graph import Graph, substitute
from baracuda.formula.order import pool_block
from baracuda.formula.pooling import block_outputs, moved
from baracuda.lowering.nest.multi_kernel import ALIGNMENT, KernelStages
from baracuda.lowering.nest.problem import Operand, Problem, position_from

_Rewrite = Callable[[Expr, tuple[Expr, ...]], Expr]


def split_two_level(problem: Problem) -> KernelStages:
    """The stages of a problem whose graph `pools`."""
    return _TwoLevelReduction(problem).stages()


@dataclass(frozen=True)
class _Blocks:
    """Blocks of one size: where on the cut axis the first begins, how many there are along it, and of how many of its points."""

    start: int
    count: int
    points: int


class _TwoLevelReduction:
    def __init__(self, problem: Problem) -> None:
        self.problem, self.rank = problem, len(problem.shape)
        self.inner = [a for a, i in enumerate(problem.inner) if i]
        self.outer = [a for a, i in enumerate(problem.inner) if not i]
        at, points = pool_block([problem.shape[a] for a in self.inner])
        self.cut, self.ahead = self.inner[at], self.inner[:at]
        self.behind = prod(problem.shape[a] for a in self.inner[at + 1 :])
        whole, remainder = divmod(problem.shape[self.cut], points)
        self.blocks = [_Blocks(0, whole, points)] + ([_Blocks(whole * points, 1, remainder)] if remainder else [])
        self.given = dict(block_outputs(problem.graph))
        ports = (*problem.graph.inputs, *(p for p, _ in problem.graph.outputs))
        self.operands = dict(zip((p.name for p in ports), problem.operands, strict=True))
        #: The inputs that the reductions read, with how they lie.
        read_names = {n.attr[0] for n in topological(self.given) if n.op in READS}
        self.read = [(p, self.operands[p.name]) for p in problem.graph.inputs if p.name in read_names]
        #: The extents and the strides of the arrays between the stages, of the rows, then of the blocks of a row.
        self.extents = [problem.shape[a] for a in (*self.outer, *self.ahead)] + [whole + bool(remainder)]
        self.strides = contiguous_strides(self.extents)

    def stages(self) -> KernelStages:
        temporaries, nbytes = {}, 0
        for port in self.given.values():
            temporaries[port.name] = nbytes
            nbytes += round_up(prod(self.extents) * port.kind.itemsize, ALIGNMENT)
        starts = [self._starts(b) for b in self.blocks]
        problems = [self._block_stage(b, at) for b, at in zip(self.blocks, starts, strict=True)]
        return KernelStages((*problems, self._row_stage()), temporaries, nbytes, (*starts, {}))

    def _starts(self, blocks: _Blocks) -> dict[str, int]:
        """How many bytes behind its start each operand's first block begins."""
        if not blocks.start:
            return {}
        first = blocks.start // self.blocks[0].points
        starts = {p.name: blocks.start * o.strides[self.cut] * o.kind.itemsize for p, o in self.read}
        return starts | {p.name: first * self.strides[-1] * p.kind.itemsize for p in self.given.values()}

    def _block_stage(self, blocks: _Blocks, starts: Mapping[str, int]) -> Problem:
        """What blocks give, as rows: the axis that is cut becomes two, that of the blocks and that of a block's points."""
        shape, cut = self.problem.shape, self.cut
        rewrites = self._rewrites(blocks)
        inputs, operands = [], []
        for p, o in self.read:
            inputs.append(replace(p, axes=_with_block_axis(p.axes)))
            strides = (*o.strides[:cut], o.strides[cut] * blocks.points, *o.strides[cut:])
            operands.append(replace(o, strides=strides, alignment=_aligned(o.alignment, starts.get(p.name, 0))))
        for p in self.given.values():
            along = dict(zip((*self.outer, *self.ahead, cut), self.strides, strict=True))
            strides = tuple(along.get(a, 0) for a in range(self.rank))
            operands.append(
                Operand(
                    p.kind,
                    (*strides[: cut + 1], 0, *strides[cut + 1 :]),
                    _aligned(ALIGNMENT, starts.get(p.name, 0)),
                    any(o.general for o in self.problem.operands),
                )
            )
        inner = [i and a > cut for a, i in enumerate(self.problem.inner)]
        inner[cut : cut + 1] = [False, True]
        table: dict[Expr, Expr] = {}
        for n in topological(self.given):
            args = tuple(table[a] for a in n.args)
            table[n] = rewrites.get(n.op, rebuild)(n, args)
        outputs = tuple((p, table[n]) for n, p in self.given.items())
        graph = Graph(tuple(inputs), outputs, tuple(inner) if self.problem.graph.inner_axes else ())
        return Problem(graph, (*shape[:cut], blocks.count, blocks.points, *shape[cut + 1 :]), tuple(inner), tuple(operands))

    def _rewrites(self, blocks: _Blocks) -> dict[str, _Rewrite]:
        """How what depends on where an element is reads in a problem of blocks."""
        shape, cut = self.problem.shape, self.cut

        def coordinate(n: Expr, args: tuple[Expr, ...]) -> Expr:
            axis = n.attr % self.rank
            if axis != cut:
                return coord(axis + (axis > cut))
            return coord(cut) * blocks.points + coord(cut + 1) + blocks.start

        def position(n: Expr, args: tuple[Expr, ...]) -> Expr:
            step = const(blocks.points * self.behind, n.kind)
            first = position_from(self.ahead, [shape[a] for a in self.ahead], n.kind) * const(shape[cut] * self.behind, n.kind)
            return first + cast(coord(cut), n.kind) * step + const(blocks.start * self.behind, n.kind) + n

        def parameter(n: Expr, args: tuple[Expr, ...]) -> Expr:
            return const(blocks.points * self.behind, n.kind) if n.attr == ROW_LENGTH else n

        def reindexed(n: Expr, args: tuple[Expr, ...]) -> Expr:
            name, storage, axes = n.attr
            return input_(name, storage, _with_block_axis(axes))

        return {"coord": coordinate, "position": position, "param": parameter, "input": reindexed}

    def _row_stage(self) -> Problem:
        """The outputs, from what the blocks of each row gave."""
        graph = self.problem.graph
        rank = len(self.extents)
        own: dict[Expr, Expr] = {n: input_(p.name, p.kind, Axes.FULL) for n, p in self.given.items()}
        for n in graph.params:
            if n.attr == ROW_LENGTH:
                own[n] = self._count(n.kind, rank - 1)
        whole: dict[Expr, Expr] = {}
        for n in graph.nodes:
            args = tuple(whole.get(a, a) for a in n.args)
            if n.op == "pooled":
                scalars = [substitute(s, own) for s in n.args[2:]]
                whole[n] = reduce("sum", moved(n, own[n.args[0]], scalars, args[2:]))
            elif n in self.given:
                whole[n] = reduce(n.attr[0], own[n])
            elif n.op == "coord":
                whole[n] = coord(self.outer.index(n.attr % self.rank)) if n.attr % self.rank in self.outer else n
            else:
                whole[n] = rebuild(n, args)
        outputs = tuple((p, whole[e]) for p, e in graph.outputs)
        read_names = {n.attr[0] for n in topological(e for _, e in outputs) if n.op in READS}
        inputs = [p for p in graph.inputs if p.name in read_names]
        between = [replace(p, axes=Axes.FULL) for p in self.given.values() if p.name in read_names]
        inner = tuple(a >= len(self.outer) for a in range(rank))

        def over_rows(name: str) -> Operand:
            o = self.operands[name]
            return replace(o, strides=(*(o.strides[a] for a in self.outer), *(0 for _ in range(rank - len(self.outer)))))

        general = any(o.general for o in self.problem.operands)
        operands = (
            *(over_rows(p.name) for p in inputs),
            *(Operand(p.kind, tuple(self.strides), ALIGNMENT, general) for p in between),
            *(over_rows(p.name) for p, _ in outputs),
        )
        stage_graph = Graph((*inputs, *between), outputs, inner)
        return Problem(stage_graph, tuple(self.extents), inner, operands)

    def _count(self, kind: ElementKind, axis: int) -> Expr:
        """The number of elements of a block."""
        counts = [const(b.points * self.behind, kind) for b in self.blocks]
        return counts[0] if len(counts) == 1 else select(compare("eq", coord(axis), self.blocks[0].count), counts[1], counts[0])


def _with_block_axis(axes: Axes) -> Axes:
    """What varies along a row does so from block to block, which are rows now."""
    return axes | Axes.OUTER if axes & Axes.INNER else axes


def _aligned(alignment: int, start: int) -> int:
    """What an address `start` bytes behind an aligned one is a multiple of."""
    return min(alignment, start & -start) if start else alignment
