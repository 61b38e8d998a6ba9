"""A plan for any graph over one tensor: what tests of the lowering run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, make_dataclass
from functools import cache
from typing import Any

import numpy as np

from baracuda.cli.verify.placement import place
from baracuda.cli.verify.session import select_for
from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Layout, OperandLayout
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec
from baracuda.formula.expr import Expr, input_
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.nest.implementation import FormulaImplementation
from baracuda.lowering.nest.problem import Nest
from baracuda.lowering.nest.sequence import directions
from baracuda.ops.declaration.formula_plan import FormulaDescriptor, FormulaPlan
from tests.machine import Machine

Formula = Callable[[Expr], Any]


@dataclass(frozen=True)
class GraphDescriptor(FormulaDescriptor):
    """A graph over an iteration space; its tensors have extent 1 along the axes they do not vary along."""

    graph: Graph
    space: tuple[int, ...]
    inner: tuple[bool, ...]

    def validate(self) -> None:
        """Whatever a test makes is meant."""

    @property
    def iteration_shape(self) -> tuple[int, ...]:
        return self.space

    @property
    def inner_axes(self) -> tuple[bool, ...]:
        return self.inner

    def __getattr__(self, name: str) -> Any:
        """shape_x and kind_x of a tensor x, for the specs."""
        what, _, tensor = name.partition("_")
        for port in (*self.graph.inputs, *(p for p, _ in self.graph.outputs)):
            if what in ("shape", "kind") and port.name == tensor:
                return self.extents(port.axes) if what == "shape" else port.kind
        raise AttributeError(name)

    def extents(self, axes: Axes) -> tuple[int, ...]:
        """The space without the axes that something does not vary along."""
        return tuple(n if axes & (Axes.INNER if i else Axes.OUTER) else 1 for n, i in zip(self.space, self.inner, strict=True))


def describe(formula: Formula, kind: ElementKind, space: tuple[int, ...], axes: Sequence[int]) -> GraphDescriptor:
    """The descriptor of a formula of one tensor, with rows along `axes`. A result is stored as what it is computed in, or
    like the tensor where that computes in the same."""
    inner = tuple(a in axes for a in range(len(space)))
    port = Port("x", kind)
    expressions = formula(input_(port.name, kind))
    results = expressions if isinstance(expressions, tuple) else (expressions,)
    traced = Graph((port,), tuple((Port(f"y{i}", e.kind), e) for i, e in enumerate(results)), inner)
    outputs = []
    for p, e in traced.outputs:
        varies = traced.axes[e]
        if varies is Axes.INNER and not directions(e) & Axes.OUTER:
            varies = Axes.FULL
        outputs.append((Port(p.name, kind if kind.compute is e.kind else e.kind, varies), e))
    return GraphDescriptor(Graph((port,), tuple(outputs), inner), space, inner)


class GraphPlan(FormulaPlan[GraphDescriptor, Args]):
    """Base of the plans of graphs."""

    category, op = OpCategory.FUSED, "graph"

    @classmethod
    def graph(cls, descriptor: GraphDescriptor) -> Graph:
        return descriptor.graph


@cache
def plan_types(graph: Graph) -> tuple[Any, Any]:
    """The plan and args classes of a graph."""
    ports = [(p, False) for p in graph.inputs] + [(p, True) for p, _ in graph.outputs]
    specs = tuple(TensorSpec(p.name, "", f"shape_{p.name}", f"kind_{p.name}", None, p.axes, is_output) for p, is_output in ports)
    plan = type("GraphPlan", (GraphPlan,), {"tensors": specs})
    return plan, make_dataclass("GraphArgs", [(p.name, Any) for p, _ in ports], bases=(Args,))


def compute(machine: Machine, descriptor: GraphDescriptor, x: Any) -> list[np.ndarray]:
    """The results for a tensor of the machine, on kernels for its layout; nothing else may have been written."""
    plan_type, args_type = plan_types(descriptor.graph)
    places = [place(descriptor.extents(p.axes), p.kind, "contiguous", writable=True) for p, _ in descriptor.graph.outputs]
    before = [placement.block(0xFF) for placement in places]
    held = [machine.upload(block) for block in before]
    args = args_type(x, *(h.tensor(placement, writable=True) for h, placement in zip(held, places, strict=True)))
    plan = select_for(plan_type, machine.stream, descriptor, args)
    plan.bind(machine.stream, machine.workspace(plan.workspace_size()), args)()
    machine.synchronize()
    results = []
    for h, placement, block in zip(held, places, before, strict=True):
        after = h.download()
        results.append(placement.view(after).copy())
        placement.view(block)[...] = results[-1]
        assert np.array_equal(after, block), "bytes outside a result were written"
    return results


class _Offline(FormulaImplementation):
    """What lowers a problem, without the device that it would run on."""

    def __init__(self, descriptor: GraphDescriptor) -> None:
        plan, _ = plan_types(descriptor.graph)
        self.device, self.problem, self.specs, self.descriptor = Device.cpu(), plan.problem(descriptor), plan.tensors, descriptor


def nest(descriptor: GraphDescriptor, layout: str) -> Nest:
    """What is lowered where every tensor has one of `operands.LAYOUTS`, or "general" strides."""
    layout_so_far: Layout = ()
    for port in (*descriptor.graph.inputs, *(p for p, _ in descriptor.graph.outputs)):
        is_output = any(port is p for p, _ in descriptor.graph.outputs)
        placement = place(descriptor.extents(port.axes), port.kind, layout, writable=is_output)
        layout_so_far += (OperandLayout(placement.strides, min(16, placement.offset & -placement.offset), layout == "general"),)
    return _Offline(descriptor).nest(layout_so_far)[0]
