"""Plans of formulas that have no family of their own: the user's, and gradients derived from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass
from functools import cache
from typing import Any

from baracuda.core.axes import Axes
from baracuda.core.plan import Args
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec, check_shape
from baracuda.formula.expr import Expr
from baracuda.formula.graph import Graph
from baracuda.ops.formula_plan import FormulaDescriptor, FormulaPlan


@dataclass(frozen=True)
class FusedDescriptor(FormulaDescriptor):
    """A traced formula over an iteration space: the shape of each of its tensors, in the order of the graph's inputs and
    outputs, and its scalars. Shapes broadcast to the iteration space from the right."""

    graph: Graph
    space: tuple[int, ...]
    inner: tuple[bool, ...]
    shapes: tuple[tuple[int, ...], ...]
    scalars: tuple[tuple[str, float], ...] = ()

    def validate(self) -> None:
        check_shape("the broadcast shape", self.space)

    @property
    def iteration_shape(self) -> tuple[int, ...]:
        return self.space

    @property
    def inner_axes(self) -> tuple[bool, ...]:
        return self.inner

    @property
    def parameters(self) -> Mapping[str, float]:
        return dict(self.scalars)

    def __getattr__(self, name: str) -> Any:
        """shape_x and kind_x of a tensor x, for the specs."""
        what, _, tensor = name.partition("_")
        if what in ("shape", "kind") and tensor:
            ports = [*self.graph.inputs, *(p for p, _ in self.graph.outputs)]
            for port, shape in zip(ports, self.shapes, strict=True):
                if port.name == tensor:
                    return shape if what == "shape" else port.kind
        raise AttributeError(name)


def _formula(descriptor: FusedDescriptor, **_: Expr) -> dict[str, Expr]:
    return {p.name: e for p, e in descriptor.graph.outputs}


class FusedPlan(FormulaPlan[FusedDescriptor, Args]):
    """Base of the plans of traced formulas."""

    category, op = OpCategory.FUSED, "fused"
    formula = _formula

    @classmethod
    def graph(cls, descriptor: FusedDescriptor) -> Graph:
        return descriptor.graph


@cache
def plan_types(name: str, graph: Graph) -> tuple[type[FusedPlan], type[Args]]:
    """The plan and args classes of a graph; fields of the args are named as its inputs and outputs."""
    ports = [(p, False) for p in graph.inputs] + [(p, True) for p, _ in graph.outputs]
    specs = tuple(
        TensorSpec(p.name, "an output" if written else "an input", f"shape_{p.name}", f"kind_{p.name}", None, p.axes, written)
        for p, written in ports
    )
    plan = type("FusedPlan", (FusedPlan,), {"tensors": specs, "op": name, "__module__": __name__, "__doc__": graph.text})
    args = make_dataclass("FusedArgs", [(p.name, Any) for p, _ in ports], bases=(Args,))
    return plan, args


def output_shape(axes: Axes, space: tuple[int, ...], inner: tuple[bool, ...]) -> tuple[int, ...]:
    """The shape of a result that varies along the given axes; it keeps its rank, the others have extent 1."""
    keep = {True: bool(axes & Axes.INNER), False: bool(axes & Axes.OUTER)}
    return tuple(n if keep[i] else 1 for n, i in zip(space, inner, strict=True))
