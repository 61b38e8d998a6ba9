"""A step of a program that is a formula: its graph over an iteration space, and where each of its operands lies.

A step begins as one run of a plan. Names of tensors and of numbers are its own, so that the graphs of two steps can become one.
Axes of extent 1 are gone, and neighbours that every operand walks as one are one axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from baracuda.core.call_recorder import PlanCall
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.host import value_of
from baracuda.core.implementation import layout_of
from baracuda.core.lazy import cached_property
from baracuda.core.tensor import TensorRef
from baracuda.formula.expr import READS, Axes, Expr, const, coord, input_, node, param, rebuild, topological
from baracuda.formula.functions import ROW_LENGTH
from baracuda.formula.graph import Graph, Port
from baracuda.formula.pooling import resolve_pooling
from baracuda.lowering.convolution.implementation import ConvolutionImplementation
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.matmul.implementation import MatmulImplementation
from baracuda.lowering.matmul.problem import PRODUCT, MatmulProblem
from baracuda.lowering.nest.implementation import FormulaImplementation
from baracuda.lowering.nest.problem import position_from


@dataclass(frozen=True)
class Operand:
    """A port of a step: the address of its first element, and its strides in elements over the step's space, 0 where it does not
    vary. `gathered` has the stride and the extent of each axis that it is read at an index of."""

    name: str
    kind: ElementKind
    axes: Axes
    pointer: int
    strides: tuple[int, ...]
    gathered: tuple[tuple[int, int], ...] = ()
    #: The number of the call that it is of, and which of its plan's tensors it is.
    origin: tuple[int, int] = (0, 0)

    def memory(self, shape: Sequence[int], device: Device) -> TensorRef:
        """The elements that it may be read or written at."""
        extents = tuple(n if s else 1 for n, s in zip(shape, self.strides, strict=True))
        own, strides = (*extents, *(n for _, n in self.gathered)), (*self.strides, *(s for s, _ in self.gathered))
        return TensorRef(self.pointer, own, strides, self.kind, device)

    def lies_as(self, other: Operand) -> bool:
        """Whether, over one space, both are the same elements."""
        return self.same_start(other) and self.strides == other.strides and self.gathered == other.gathered

    def same_start(self, other: Operand) -> bool:
        return self.pointer == other.pointer and self.kind is other.kind


@dataclass(frozen=True)
class Product:
    """A matrix product or convolution: its problem, and the addresses and the memory of its factors."""

    problem: MatmulProblem | ConvolutionProblem
    pointers: tuple[int, ...]
    factors: tuple[TensorRef, ...]


@dataclass(frozen=True)
class FormulaStep:
    """A formula over a space. A row runs along the `inner` axes; a formula without reductions has none.

    `inputs` and `outputs` are in the order of the graph's; `numbers` are the values of its parameters, by name. What is done to
    the sums of a `product` is such a formula, too, over the product's axes in their order: its graph has the sums for inputs that
    are no tensors, ahead of the others.
    """

    device: Device
    graph: Graph
    shape: tuple[int, ...]
    inner: tuple[bool, ...]
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    numbers: Mapping[str, float]
    product: Product | None = None

    @property
    def sums(self) -> tuple[Port, ...]:
        """The ports that are no tensors."""
        return self.graph.inputs[: len(self.graph.inputs) - len(self.inputs)]

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (*self.inputs, *self.outputs)

    @cached_property
    def directions(self) -> Axes:
        """The directions that it reduces in."""
        found = Axes.NONE
        for n in self.graph.nodes:
            found |= n.attr[1] if n.op == "reduce" else Axes.NONE
        return found

    @property
    def has_rows(self) -> bool:
        """Whether it computes anything of a whole row."""
        return bool(self.directions)

    @cached_property
    def pools(self) -> bool:
        return any(n.op == "pooled" for n in self.graph.nodes)

    def covers(self, operand: Operand) -> bool:
        """Whether an operand has an element of its own for each point of the space."""
        return all(s or n == 1 for s, n in zip(operand.strides, self.shape, strict=True))

    def memory(self, operand: Operand) -> TensorRef:
        return operand.memory(self.shape, self.device)

    def of_outputs(self, names: frozenset[str]) -> FormulaStep:
        """The step with some of its outputs."""
        if all(o.name in names for o in self.outputs):
            return self
        graph = self.graph.select_outputs(names)
        read = {p.name for p in graph.inputs}
        used = {n.attr for n in graph.params}
        return replace(
            self,
            graph=graph,
            inputs=tuple(i for i in self.inputs if i.name in read),
            outputs=tuple(o for o in self.outputs if o.name in names),
            numbers={n: v for n, v in self.numbers.items() if n in used},
        )


def is_copy(step: FormulaStep) -> bool:
    """Whether a step copies one tensor, element by element."""
    if len(step.inputs) != 1 or len(step.outputs) != 1 or step.product is not None:
        return False
    ((port, value),) = step.graph.outputs
    return value.op == "input" and value.attr[1] is port.kind


def moves_bits(step: FormulaStep) -> bool:
    """Whether a step only says where elements go, or zeros in their place, whatever their bits mean."""
    kinds = {o.kind for o in step.operands}
    if len(kinds) != 1 or step.product is not None or step.has_rows:
        return False
    stack = [e for _, e in step.graph.outputs]
    while stack:
        n = stack.pop()
        if n.op == "select" and not any(m.op in READS for m in topological(n.args[:1])):
            stack += n.args[1:]
        elif n.op != "input" and not (n.op == "const" and n.attr == 0):
            return False
    return True


def retyped(step: FormulaStep, kind: ElementKind) -> FormulaStep:
    """A step that moves bits, of elements of another kind with as many."""
    inputs = tuple(replace(o, kind=kind) for o in step.inputs)
    outputs = tuple(replace(o, kind=kind) for o in step.outputs)
    done: dict[Expr, Expr] = {}

    def value(n: Expr) -> Expr:
        if n not in done:
            if n.op == "input":
                done[n] = input_(n.attr[0], kind, n.attr[2])
            elif n.op == "const":
                done[n] = const(0, kind.compute)
            else:
                done[n] = node("select", (n.args[0], value(n.args[1]), value(n.args[2])), kind.compute)
        return done[n]

    results = tuple(zip(ports_of(outputs), (value(e) for _, e in step.graph.outputs), strict=True))
    return replace(step, graph=Graph(ports_of(inputs), results, step.graph.inner_axes), inputs=inputs, outputs=outputs)


def step_of(call: PlanCall, number: int) -> FormulaStep | str:
    """The step that a run of a plan is; why it is none."""
    implementation = call.implementation
    if isinstance(implementation, (MatmulImplementation, ConvolutionImplementation)):
        return _product(call, implementation, number)
    if not isinstance(implementation, FormulaImplementation):
        return "it is no formula"
    problem, places = implementation.laid(layout_of(call.tensors), primitives=False)
    graph, shape, inner = problem.graph, problem.shape, problem.inner
    if any(n.op == "scan" for n in graph.nodes):
        return "it scans"
    if any(n.op == "reduce" and n.attr[1] == Axes.FULL for n in graph.nodes):
        return "it reduces over all axes at once"
    if not all(shape):
        return "it has no elements"
    ports = (*graph.inputs, *(p for p, _ in graph.outputs))
    if any(p.kind.bits < 8 for p in ports):
        return "its elements are packed"
    operands = []
    for port, o in zip(ports, problem.operands, strict=True):
        tensor, offset = places[port.name]
        given = call.tensors[tensor]
        assert given is not None
        name = f"{number}:{port.name}"
        operands.append(Operand(name, o.kind, port.axes, given.pointer + offset, o.strides, o.gathered, (number, tensor)))
    numbers: dict[str, float] = {}
    given_numbers = implementation.problem.parameters if call.scalars is None else call.scalars
    gathered = {p.name: o.gathered for p, o in zip(ports, problem.operands, strict=True)}
    rows = any(n.op in ("reduce", "pooled") for n in graph.nodes)
    row_axes = [a for a, i in enumerate(inner) if i]

    def number_of(n: Expr) -> Expr:
        if n.attr == ROW_LENGTH and rows:
            return n
        known = implementation.parameter(n, gathered)
        name = f"{number}:{n.attr}"
        numbers[name] = known.value if known.name is None else value_of(known.name, given_numbers)
        return param(name, n.kind)

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op == "input":
            return input_(f"{number}:{n.attr[0]}", *n.attr[1:])
        if n.op == "gather":
            source = n.attr._replace(name=f"{number}:{n.attr.name}")
            if source.dims is None:
                source = source._replace(dims=tuple(range(len(gathered[n.attr.name]))))
            return node("gather", args, n.kind, source)
        if n.op == "param":
            return number_of(n)
        if n.op == "position" and not rows:
            return position_from(row_axes, [shape[a] for a in row_axes], n.kind)
        if n.op == "coord":
            return coord(n.attr % len(shape)) if shape[n.attr % len(shape)] != 1 else const(0, n.kind)
        return rebuild(n, args)

    mapped = resolve_pooling(graph, shape, inner).map(rewrite)
    named = {p.name: f"{number}:{p.name}" for p in ports}
    inputs = tuple(replace(p, name=named[p.name]) for p in mapped.inputs)
    outputs = tuple((replace(p, name=named[p.name]), e) for p, e in mapped.outputs)
    count = len(inputs)
    step = FormulaStep(
        implementation.device,
        Graph(inputs, outputs, inner),
        shape,
        inner,
        tuple(operands[:count]),
        tuple(operands[count:]),
        numbers,
    )
    return _reduced(step, rows)


def _product(call: PlanCall, implementation: MatmulImplementation | ConvolutionImplementation, number: int) -> FormulaStep | str:
    """What a product does to its sums."""
    try:
        problem, places = implementation.placed(layout_of(call.tensors))
    except UnsupportedError as error:
        return str(error)
    tensors = [(call.tensors[i], i, offset) for i, offset in places]
    count = len(places) - len(problem.operands)
    if count != 2:
        return "it is a product of complex numbers"
    if isinstance(problem, MatmulProblem):
        shape: tuple[int, ...] = (*problem.batch, problem.m, problem.n)
    else:
        shape = (problem.batch, problem.groups, *problem.outputs, problem.columns)
    if not all(shape):
        return "it has no elements"
    graph = problem.epilogue
    ports = [p for p in (*graph.inputs, *(p for p, _ in graph.outputs)) if p.name != PRODUCT]
    operands = []
    for port, o, (t, i, offset) in zip(ports, problem.operands, tensors[count:], strict=True):
        assert t is not None
        strides = tuple(s if n != 1 else 0 for s, n in zip(o.strides, shape, strict=True))
        operands.append(Operand(f"{number}:{port.name}", port.kind, Axes.FULL, t.pointer + offset, strides, (), (number, i)))
    given = call.descriptor.parameters if call.scalars is None else call.scalars
    numbers = {f"{number}:{n.attr}": value_of(n.attr, given) for n in graph.params}

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op == "input" and n.attr[0] != PRODUCT:
            return input_(f"{number}:{n.attr[0]}", *n.attr[1:])
        return param(f"{number}:{n.attr}", n.kind) if n.op == "param" else rebuild(n, args)

    mapped = graph.map(rewrite)
    inputs, outputs = operands[: len(graph.inputs) - 1], operands[len(graph.inputs) - 1 :]
    sums = tuple(p for p in graph.inputs if p.name == PRODUCT)
    results = tuple(zip(ports_of(outputs), (e for _, e in mapped.outputs), strict=True))
    factors = [t for t, _, _ in tensors[:count] if t is not None]
    return FormulaStep(
        implementation.device,
        Graph((*sums, *ports_of(inputs)), results),
        shape,
        (False,) * len(shape),
        tuple(inputs),
        tuple(outputs),
        numbers,
        Product(problem, tuple(t.pointer for t in factors), tuple(factors)),
    )


def _reduced(step: FormulaStep, rows: bool) -> FormulaStep | str:
    """The step over the axes that count."""
    keep = [a for a, n in enumerate(step.shape) if n != 1]
    if not rows:
        varies = {tuple(bool(s) and n != 1 for s, n in zip(o.strides, step.shape, strict=True)) for o in step.outputs}
        if len(varies) != 1:
            return "its results vary along different axes"
        (along,) = varies
        keep = [a for a in keep if along[a]]
    number = {a: i for i, a in enumerate(keep)}
    inner = tuple(rows and step.inner[a] for a in keep)

    def operand(o: Operand) -> Operand:
        strides = tuple(o.strides[a] for a in keep)
        return replace(o, strides=strides, axes=o.axes if rows else Axes.OUTER if any(strides) else Axes.NONE)

    inputs = tuple(map(operand, step.inputs))
    outputs = tuple(replace(operand(o), axes=o.axes if rows else Axes.OUTER) for o in step.outputs)
    axes = {o.name: o.axes for o in inputs}

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op == "coord":
            return coord(number[n.attr])
        return with_axes(n, args, axes)

    graph = step.graph.map(rewrite)
    graph = Graph(ports_of(inputs), tuple(zip(ports_of(outputs), (e for _, e in graph.outputs), strict=True)), inner)
    shape = tuple(step.shape[a] for a in keep)
    return coalesced(replace(step, graph=graph, shape=shape, inner=inner, inputs=inputs, outputs=outputs))


def with_axes(n: Expr, args: tuple[Expr, ...], axes: Mapping[str, Axes]) -> Expr:
    """A node with reads of the classes given by the tensors' names."""
    if n.op == "input":
        return input_(n.attr[0], n.attr[1], axes[n.attr[0]])
    if n.op == "gather":
        return node("gather", args, n.kind, n.attr._replace(axes=axes[n.attr.name]))
    return rebuild(n, args)


def ports_of(operands: Sequence[Operand]) -> tuple[Port, ...]:
    return tuple(Port(o.name, o.kind, o.axes) for o in operands)


def coalesced(step: FormulaStep) -> FormulaStep:
    """The step with neighbouring axes that every operand walks as one as one axis."""
    coords = {n.attr for n in step.graph.nodes if n.op == "coord"}
    groups: list[list[int]] = []
    for a in range(len(step.shape)):
        last = groups[-1][-1] if groups else None
        if (
            last is not None
            and step.inner[a] == step.inner[last]
            and not {a, last} & coords
            and not (step.inner[a] and step.pools)
            and all(o.strides[last] == o.strides[a] * step.shape[a] for o in step.operands)
        ):
            groups[-1].append(a)
        else:
            groups.append([a])
    if len(groups) == len(step.shape):
        return step
    position = {a: i for i, group in enumerate(groups) for a in group}
    inner = tuple(step.inner[g[-1]] for g in groups)

    def operand(o: Operand) -> Operand:
        return replace(o, strides=tuple(o.strides[g[-1]] for g in groups))

    graph = step.graph.map(lambda n, args: coord(position[n.attr]) if n.op == "coord" else rebuild(n, args))
    return replace(
        step,
        graph=replace(graph, inner_axes=inner),
        shape=tuple(prod(step.shape[a] for a in g) for g in groups),
        inner=inner,
        inputs=tuple(map(operand, step.inputs)),
        outputs=tuple(map(operand, step.outputs)),
    )
