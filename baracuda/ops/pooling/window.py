"""Folds over windows as a plan, and the words that compositions say them in:

def mean(w: Taps) -> Expr:
    return w.sum(w["x"]) / w.number("count", w["x"].kind)

fold(do, mean, axes, {"x": x}, y, numbers={"count": 9})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.implementation import Found, Layout
from baracuda.core.layout import contiguous_strides
from baracuda.core.plan import Plan
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec, check_shape
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.formula import order
from baracuda.formula.expand import expand
from baracuda.formula.expr import Expr, Operand, binary, cast, compare, const, coord, input_, param, select
from baracuda.formula.graph import Graph, Port
from baracuda.formula.scans import Combine, State, combination, scan, sibling
from baracuda.lowering.backend import candidates
from baracuda.lowering.nest.problem import Operand as Laid
from baracuda.lowering.window.implementation import WindowImplementation
from baracuda.lowering.window.problem import Axis, Placed, Window
from baracuda.ops.declaration.composition import Steps

#: The tensors of a plan: those that are read at taps, those that are read at outputs, and results, with the names they have in
#: its specs.
TAPS, POINTS, RESULTS = ("x0", "x1", "x2"), ("p0", "p1", "p2", "p3"), ("y0", "y1", "y2")


@dataclass(frozen=True)
class WindowDescriptor(Descriptor):
    """A fold over windows.

    Attributes
    ----------
    graph
        What is computed, as `baracuda.lowering.window.problem` says; its inputs and outputs have names of the plan's specs.
    axes
        How many elements there are along each axis, and which of them an output's window shows.
    values
        The parameters of the graph by name.
    """

    graph: Graph
    axes: tuple[Axis, ...]
    values: tuple[tuple[str, float], ...] = ()

    def validate(self) -> None:
        check_shape("axes", self.result_shape)
        check_shape("axes", self.source_shape)
        for a, axis in enumerate(self.axes):
            axis.check(f"axis {a}")

    @property
    def result_shape(self) -> tuple[int, ...]:
        """The shape of results, and of what is read at outputs."""
        return tuple(a.extent for a in self.axes)

    @property
    def source_shape(self) -> tuple[int, ...]:
        """The shape of what is read at taps."""
        return tuple(a.source for a in self.axes)

    @property
    def ports(self) -> dict[str, Port]:
        """Inputs and outputs by name."""
        return {p.name: p for p in (*self.graph.inputs, *(p for p, _ in self.graph.outputs))}

    def __getattr__(self, name: str) -> Any:
        """has_x0 and x0_element and so on, for the specs."""
        if name.startswith("has_"):
            return name[4:] in self.ports
        if name.endswith("_element"):
            return self.ports[name[:-8]].kind
        raise AttributeError(name)

    def problem(self, layout: Layout) -> tuple[Window, tuple[int, ...]]:
        """The problem for a layout of the plan's tensors, and which of them its operands are."""
        operands, places = [], []
        for name, port in self.ports.items():
            place = next(i for i, spec in enumerate(WindowPlan.tensors) if spec.name == name)
            given = layout[place]
            assert given is not None
            shape = self.source_shape if name in TAPS else self.result_shape
            strides = given.strides if all(shape) else contiguous_strides(shape)
            strides = tuple(0 if n == 1 else s for n, s in zip(shape, strides, strict=True))
            operands.append(Laid(port.kind, strides, given.alignment, given.general))
            places.append(place)
        return Window(expand(self.graph), self.axes, tuple(operands)), tuple(places)


@dataclass
class WindowArgs(Args):
    """x0 to x2: read at taps; p0 to p3: read at outputs; y0 to y2: the results."""

    x0: Any = None
    x1: Any = None
    x2: Any = None
    p0: Any = None
    p1: Any = None
    p2: Any = None
    p3: Any = None
    y0: Any = None
    y1: Any = None
    y2: Any = None


class WindowPlan(Plan[WindowDescriptor, WindowArgs]):
    """A fold over windows: of each output the states of the taps in its window, in rising order, and what a formula makes of the
    last one."""

    category, op, args = OpCategory.POOLING, "reduce_window", WindowArgs
    tensors = (
        *(TensorSpec(n, "read at taps", "source_shape", f"{n}_element", when=f"has_{n}", varies=Axes.OUTER) for n in TAPS),
        *(TensorSpec(n, "read at outputs", "result_shape", f"{n}_element", when=f"has_{n}") for n in POINTS),
        *(TensorSpec(n, "a result", "result_shape", f"{n}_element", when=f"has_{n}", written=True) for n in RESULTS),
    )

    @classmethod
    def implementations(cls, device: Device, descriptor: WindowDescriptor) -> Found:
        kinds = {n.kind for n in descriptor.graph.nodes}
        floats = [k for k in (ElementKind.F64, ElementKind.F32) if k in kinds]
        accumulator = floats[0] if floats else descriptor.graph.outputs[0][1].kind
        make = partial(WindowImplementation, device, descriptor.problem, dict(descriptor.values), accumulator)
        return candidates(device, make)


# --- words ------------------------------------------------------------------------------------------------------------------


class Taps:
    """What a formula of a fold sees: tensors by name, coordinates, numbers, and folds over the taps."""

    def __init__(self, leaves: Mapping[str, Expr], axes: Sequence[Axis]) -> None:
        self._leaves, self.axes = leaves, axes

    def __getitem__(self, name: str) -> Expr:
        """A tensor's element, at the tap or at the output."""
        return self._leaves[name]

    def out(self, axis: int) -> Expr:
        """The output's coordinate, in s32."""
        return coord(axis)

    def at(self, axis: int) -> Expr:
        """The tap's coordinate, in s32."""
        return coord(len(self.axes) + axis)

    def number(self, name: str, kind: ElementKind) -> Expr:
        """A number that is no part of the code."""
        return param(name, kind)

    def position(self, axes: Sequence[int], extents: Sequence[int], kind: ElementKind, *, tap: bool) -> Expr:
        """The number of the tap, or of the output, among the elements of some axes, the last one fastest; the numbers
        "extent0", "extent1", ... are these."""
        total: Expr | None = None
        for axis in axes:
            here = cast(self.at(axis) if tap else self.out(axis), kind)
            total = here if total is None else total * self.number(f"extent{axis}", kind) + here
        assert total is not None
        return total

    def fold(self, combine: Combine, *operands: Expr) -> tuple[Expr, ...]:
        """The components of the last running state."""
        first = scan(combine, operands)
        return tuple(first if i == 0 else sibling(first, i) for i in range(len(operands)))

    def reduce(self, op: str, x: Expr, start: Operand | None = None) -> Expr:
        """sum, prod, max, min, and, or, xor of x over the taps, from `start` on, by default what changes nothing."""

        def combine(a: State, b: State) -> State:
            return (binary(order.COMBINE[op], a[0], b[0]),)

        combine.__name__ = op
        neutral = _neutral(op, x.kind) if start is None else start
        return self.fold(
            combination(combine, (const(neutral, x.kind) if not isinstance(neutral, Expr) else neutral,), (x.kind,)), x
        )[0]

    def sum(self, x: Expr) -> Expr:
        """The sum over the taps; of none +0."""
        return self.reduce("sum", x)

    def largest(self, x: Expr, position: Expr, *, least: bool = False) -> tuple[Expr, Expr]:
        """The largest of the taps' x, or the least, and its position: the first of equal ones, but the last NaN where there is
        one; -1 of no taps."""
        value, index = self.fold(_located(x.kind, position.kind, least), x, position)
        return value, index


def _neutral(op: str, kind: ElementKind) -> float:
    if kind is ElementKind.BOOL:
        return {"sum": 0, "max": 0, "or": 0, "xor": 0, "min": 1, "prod": 1, "and": 1}[op]
    return order.identity(op, kind) if op != "sum" else order.empty(op, kind)


def _located(kind: ElementKind, index: ElementKind, least: bool) -> Combine:
    def first(a: State, b: State) -> State:
        wins = compare("lt" if least else "gt", b[0], a[0]) | compare("lt", a[1], 0)
        if kind.is_float:
            wins = wins | compare("ne", b[0], b[0])
        return select(wins, b[0], a[0]), select(wins, b[1], a[1])

    first.__name__ = f"first_{'min' if least else 'max'}"
    op = "min" if least else "max"
    neutral = _neutral(op, kind)
    return combination(first, (const(neutral, kind), const(-1, index)), (kind, index))


Formula = Callable[[Taps], Expr | tuple[Expr, ...]]


def fold(
    do: Steps,
    formula: Formula,
    axes: Sequence[Axis],
    taps: Mapping[str, TensorRef],
    into: TensorMut | Sequence[TensorMut],
    points: Mapping[str, TensorRef] | None = None,
    numbers: Mapping[str, float] | None = None,
) -> Any:
    """Compute a formula of folds over windows into tensors that are there, whose shape is the axes' extents; `taps` are read at
    taps, `points` at outputs, and have these shapes. Returns what was written, or a tuple of them."""
    points = points or {}
    results = (into,) if isinstance(into, TensorRef) else tuple(into)
    if len(taps) > len(TAPS) or len(points) > len(POINTS) or len(results) > len(RESULTS):
        raise InvalidProblemError(
            f"a fold of {len(taps)} tensors at taps, {len(points)} at outputs and {len(results)} results; expected at most "
            f"{len(TAPS)}, {len(POINTS)} and {len(RESULTS)}"
        )
    leaves, ports, tensors = {}, [], {}
    for given, names, where in ((taps, TAPS, Axes.FULL), (points, POINTS, Axes.OUTER)):
        for (name, tensor), slot in zip(given.items(), names, strict=False):
            if tensor.kind.category is Category.COMPLEX or tensor.kind.bits < 8:
                raise UnsupportedError(f"{name}: element is {tensor.kind}; expected one of 8 bits or more that is not complex")
            leaves[name] = input_(slot, tensor.kind, where)
            ports.append(Port(slot, tensor.kind, where))
            tensors[slot] = tensor
    axes = tuple(_renamed(a, dict(zip(points, POINTS, strict=False))) for a in axes)
    made = formula(Taps(leaves, axes))
    values = made if isinstance(made, tuple) else (made,)
    outputs = tuple(
        (Port(slot, y.kind, Axes.OUTER), cast(value, y.kind.compute))
        for slot, y, value in zip(RESULTS, results, values, strict=False)
    )
    graph = Graph(tuple(ports), outputs)
    wanted = {n.attr for n in graph.nodes if n.op == "param"}
    given_numbers = tuple(sorted((n, v) for n, v in (numbers or {}).items() if n in wanted))
    descriptor = WindowDescriptor(graph, axes, given_numbers)
    placed = tuple(results) + (None,) * (len(RESULTS) - len(results))
    return do.plan(WindowPlan, descriptor, tensors, placed)


def _renamed(axis: Axis, slots: Mapping[str, str]) -> Axis:
    """The axis with the tensor of its starts by its name in the plan."""
    rule = axis.rule
    return replace(axis, rule=replace(rule, starts=slots[rule.starts])) if isinstance(rule, Placed) else axis
