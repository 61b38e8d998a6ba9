"""Merged steps as launches: a formula implementation of their graph, made once for each structure, and what it launches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from baracuda.core import locks
from baracuda.core.call_recorder import AddressSource, CallRecorder, PlanCall, RecordedLaunch, recording, unseen
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Layout, OperandLayout, Scalars, layout_of
from baracuda.core.spec import TensorSpec
from baracuda.formula.expand import expand
from baracuda.formula.expr import Axes, Expr, input_, node, param, rebuild
from baracuda.formula.functions import ROW_LENGTH
from baracuda.formula.graph import Graph, Port
from baracuda.formula.small_floats import stored_as_integers
from baracuda.frontends.fusing.addresses import Addresses
from baracuda.frontends.fusing.formula_step import FormulaStep, Operand, Product
from baracuda.lowering.executables import GeneratedExecutable, executable, given_parameters, load
from baracuda.lowering.generated import GeneratedImplementation
from baracuda.lowering.nest.implementation import FormulaImplementation, FormulaProblem
from baracuda.lowering.nest.problem import Operand as LoweredOperand

T = TypeVar("T")

#: Executables of merged steps that are kept; the oldest go first. Their code stays loaded.
MOST_EXECUTABLES = 4096
_made: dict[tuple[object, ...], tuple[Executable, FormulaImplementation]] = {}
_products: dict[tuple[object, ...], GeneratedExecutable] = {}
_lock = locks.lock()


@dataclass(frozen=True)
class PlacedSpec(TensorSpec):
    """A tensor whose shape, element and place in the iteration space are known."""

    own: tuple[int, ...] = ()
    kind: ElementKind = ElementKind.F32
    along: tuple[int | None, ...] = ()

    def expected_shape(self, descriptor: object) -> tuple[int, ...]:
        return self.own

    def formula_shape(self, descriptor: object) -> tuple[int, ...]:
        return self.own

    def expected_kind(self, descriptor: object) -> ElementKind:
        return self.kind

    def presence(self, descriptor: object) -> bool:
        return True

    def placement(self, descriptor: object, rank: int, own: int) -> tuple[int | None, ...]:
        return self.along


def _canonical(step: FormulaStep) -> tuple[Graph, dict[str, float]]:
    """The graph with names by number, so that equal structures are equal graphs, and the values of its parameters."""
    rank, sums = len(step.shape), {p.name: p.name for p in step.sums}
    tensor = sums | {o.name: f"t{i}" for i, o in enumerate(step.operands)}
    number = {n.attr: f"n{i}" for i, n in enumerate(p for p in step.graph.params if p.attr != ROW_LENGTH)}
    axes = {o.name: len(o.gathered) for o in step.inputs}

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op == "input":
            return input_(tensor[n.attr[0]], n.attr[1], n.attr[2] if step.product is None else Axes.FULL)
        if n.op == "gather":
            dims = tuple(range(rank, rank + axes[n.attr.name]))
            return node("gather", args, n.kind, n.attr._replace(name=tensor[n.attr.name], dims=dims))
        if n.op == "param":
            return param(number.get(n.attr, n.attr), n.kind)
        return rebuild(n, args)

    mapped = step.graph.map(rewrite)

    def port(p: Port) -> Port:
        return Port(tensor[p.name], p.kind, p.axes if step.product is None else Axes.FULL)

    coordinates = any(n.op == "coord" for n in mapped.nodes)
    outputs = tuple((port(p), e) for p, e in mapped.outputs)
    graph = Graph(tuple(map(port, mapped.inputs)), outputs, step.inner if coordinates else ())
    return graph, {number[n]: v for n, v in step.numbers.items()}


def _spec(o: Operand, name: str, shape: Sequence[int], *, written: bool) -> PlacedSpec:
    followed = tuple(n if s else 1 for n, s in zip(shape, o.strides, strict=True))
    own = (*followed, *(n for _, n in o.gathered))
    along = (*range(len(shape)), *(None for _ in o.gathered))
    return PlacedSpec(name, "", varies=o.axes, written=written, own=own, kind=o.kind, along=along)


def executable_of(step: FormulaStep) -> tuple[Executable, dict[str, float]]:
    """What computes a step, and the numbers that a launch brings; raises `UnsupportedError` where no schedule takes it."""
    graph, numbers = _canonical(step)
    if step.product is not None:
        return _of_product(step, step.product, graph, numbers), numbers
    layout: Layout = tuple(
        OperandLayout((*o.strides, *(s for s, _ in o.gathered)), min(o.pointer & -o.pointer, 16) or 16) for o in step.operands
    )
    gathered = tuple(o.gathered for o in step.operands)
    key = step.device, graph, step.shape, step.inner, layout, gathered
    made = _made.get(key)
    if made is None:
        count = len(step.inputs)
        specs = [_spec(o, f"t{i}", step.shape, written=i >= count) for i, o in enumerate(step.operands)]
        problem = FormulaProblem(graph, step.shape, step.inner, numbers)
        implementation = FormulaImplementation(step.device, problem, specs, None)
        found = implementation.unloaded(layout)
        assert found is not None
        made = _remembered(_made, key, (found, implementation))
    return made[0], numbers


def _remembered(known: dict[tuple[object, ...], T], key: tuple[object, ...], made: T) -> T:
    """What was made, known from now on; the oldest goes where there are too many."""
    with _lock:
        while len(known) >= MOST_EXECUTABLES:
            known.pop(next(iter(known)))
        known[key] = made
    return made


def _of_product(step: FormulaStep, product: Product, graph: Graph, numbers: Mapping[str, float]) -> Executable:
    """What computes a product with another formula over its sums."""
    finish = stored_as_integers(expand(graph))
    kinds = [*(p.kind for p in finish.inputs if p.name not in {s.name for s in step.sums}), *(p.kind for p, _ in finish.outputs)]
    operands = tuple(
        LoweredOperand(kind, o.strides, min(o.pointer & -o.pointer, 16) or 16)
        for kind, o in zip(kinds, step.operands, strict=True)
    )
    problem = replace(product.problem, epilogue=finish, operands=operands)
    key = step.device, problem
    made = _products.get(key)
    if made is None:
        params = given_parameters(finish.params, numbers)
        made = executable(step.device, problem, params, len(problem.tensors))
        assert made is not None
        _remembered(_products, key, made)
    return made


@dataclass(frozen=True)
class Prepared:
    """An executable, with the addresses and the numbers that it is called with."""

    executable: Executable
    pointers: Sequence[int]
    numbers: Scalars


def prepared(step: FormulaStep | PlanCall) -> Prepared:
    """What computes a step, not loaded yet; raises `UnsupportedError` where nothing takes it."""
    if isinstance(step, PlanCall):
        assert isinstance(step.implementation, GeneratedImplementation)
        found = step.implementation.unloaded(layout_of(step.tensors))
        assert found is not None
        return Prepared(found, [0 if t is None else t.pointer for t in step.tensors], step.scalars)
    made, numbers = executable_of(step)
    factors = () if step.product is None else step.product.pointers
    return Prepared(made, [*factors, *(o.pointer for o in step.operands)], numbers)


def loaded(steps: Iterable[Prepared]) -> None:
    """Load what computes some steps, all that has to be compiled for them side by side."""
    with unseen():  # tables that are computed once
        load({id(s.executable): s.executable for s in steps}.values())


class _Noting(CallRecorder):
    """A recorder of launches that are not made."""

    holds = True

    def __init__(self, addresses: Addresses) -> None:
        super().__init__(())
        self._addresses = addresses

    def place(self, pointer: int) -> AddressSource:
        return self._addresses.place(pointer) if pointer else AddressSource(0, 0)


def launches(made: Prepared, addresses: Addresses, workspace: int, stream: int) -> list[RecordedLaunch]:
    """What is launched, with the workspace at an address."""
    noting = _Noting(addresses)
    with recording(noting):
        made.executable.call(made.pointers, workspace, stream, made.numbers)
    return [s for s in noting.steps if isinstance(s, RecordedLaunch)]
