"""CUDA lowering: a normalised nest to CUDA C++ and launch shapes. Nothing here needs a GPU, a driver or NVRTC."""

from __future__ import annotations

from baracuda.formula.expr import Axes, Expr, input_, topological
from baracuda.formula.graph import Graph, Port, substitute
from baracuda.lowering.cuda.columns import lower_columns
from baracuda.lowering.cuda.kernel import Frame, Launch, Lowered, Target, Words
from baracuda.lowering.cuda.pointwise import lower_runs
from baracuda.lowering.cuda.row_columns import lower_rows_and_columns
from baracuda.lowering.cuda.row_schedules import lower_rows
from baracuda.lowering.cuda.tiles import lower_tiles, transposed_axis
from baracuda.lowering.problem import Nest, Operand, Problem, normalise, reduces

__all__ = ["Launch", "Lowered", "Target", "lower"]


def lower(nest: Nest, target: Target) -> Lowered:
    """Choose a schedule for a nest and write its kernels.

    The choice depends on shapes, strides and the target, never on data, and changes no bit of the result.
    """
    if reduces(nest.graph, Axes.OUTER):
        together = None if _side_by_side(nest) else lower_rows_and_columns(Frame(nest), target)
        return together or _rows_then_columns(nest, target)
    if reduces(nest.graph, Axes.INNER):
        return _reduce(Frame(nest), target)
    return _pointwise(Frame(nest))


def _pointwise(frame: Frame) -> Lowered:
    axis = transposed_axis(frame.nest)
    return lower_runs(frame) if axis is None else lower_tiles(frame, axis)


def _reduce(frame: Frame, target: Target) -> Lowered:
    return lower_columns(frame) if _side_by_side(frame.nest) else lower_rows(frame, target)


def _side_by_side(nest: Nest) -> bool:
    """Whether most bytes that vary both ways have their unit stride along the last outer axis."""
    if not nest.outer or nest.outer[-1] < 8 or not nest.inner or any(o.general for o in nest.operands):
        return False
    balance, last = 0, len(nest.outer) - 1
    for o in nest.operands:
        if o.strides[-1] and any(o.strides[: last + 1]):
            balance += o.kind.itemsize * ((abs(o.strides[last]) == 1) - (abs(o.strides[-1]) == 1))
    return balance > 0


def _rows_then_columns(nest: Nest, target: Target) -> Lowered:
    """Sums over rows too long to stay resident: one program for what runs along rows, leaving the row results that the
    columns need in the workspace, and one that reads the operands again along the columns."""
    graph = nest.graph
    column_ports = [(p, e) for p, e in graph.outputs if p.axes == Axes.INNER]
    inner = [n for n in topological(e for _, e in column_ports) if n.op == "reduce" and n.attr[1] & Axes.INNER]
    direct = [n for n in inner if not any(n in topological([m]) and n is not m for m in inner)]
    names = {n: Port(f"#row{j}", n.kind, Axes.OUTER) for j, n in enumerate(direct)}
    words = Words(len(graph.inputs) + len(graph.outputs), graph.params)
    index = {p.name: i for i, p in enumerate((*graph.inputs, *(p for p, _ in graph.outputs)))}
    rank = len(nest.outer)
    row_strides = [0] * (rank + len(nest.inner))
    for a in range(rank - 1, -1, -1):
        row_strides[a] = 1 if a == rank - 1 else row_strides[a + 1] * nest.outer[a + 1]
    saved = nest.rows * 8

    def part(inputs: tuple[Port, ...], outputs: tuple[tuple[Port, Expr], ...], start: int) -> Frame:
        ports = (*inputs, *(p for p, _ in outputs))
        numbers = [int(p.name[4:]) if p.name.startswith("#row") else -1 for p in ports]
        operands = tuple(
            Operand(p.kind, tuple(row_strides), 16) if j >= 0 else nest.operands[index[p.name]]
            for p, j in zip(ports, numbers, strict=True)
        )
        problem = Problem(
            Graph(inputs, outputs, graph.inner_axes),
            (*nest.outer, *nest.inner),
            (False,) * rank + (True,) * len(nest.inner),
            operands,
        )
        frame_nest = normalise(problem)
        addresses = [
            f"W.w[{words.operands}] + {words.signed(saved * j)}" if j >= 0 else f"W.w[{index[p.name]}]"
            for p, j in zip(ports, numbers, strict=True)
        ]
        return Frame(frame_nest, words, addresses, start)

    start = saved * len(direct)
    programs: list[Lowered] = []
    if direct:
        programs.append(_reduce(part(graph.inputs, tuple((names[n], n) for n in direct), start), target))
    replaced = {n: input_(p.name, p.kind, p.axes) for n, p in names.items()}
    for port, expr in column_ports:
        frame = part((*graph.inputs, *names.values()), ((port, substitute(expr, replaced)),), start)
        programs.append(_reduce(frame, target))
    along = tuple((p, e) for p, e in graph.outputs if p.axes != Axes.INNER)
    if along:  # last, because in place these overwrite what the columns read
        frame = part(graph.inputs, along, start)
        programs.append(_reduce(frame, target) if reduces(frame.nest.graph, Axes.INNER) else _pointwise(frame))
    launches = tuple(launch for program in programs for launch in program.launches)
    workspace = start + max(program.workspace_bytes for program in programs)
    return Lowered(launches, tuple(words.values), workspace, "rows, then columns")
