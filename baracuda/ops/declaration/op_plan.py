"""The plan and args classes of an op, forward and backward, made from its declaration."""

from __future__ import annotations

from dataclasses import field, make_dataclass, replace
from typing import Any, ClassVar

from baracuda.backends import scipy_special
from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args
from baracuda.core.device import Device
from baracuda.core.implementation import Found
from baracuda.core.spec import TensorSpec
from baracuda.formula.graph import Graph
from baracuda.formula.library import needs_library
from baracuda.ops.declaration.formula_plan import FormulaPlan
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.op_descriptor import OpDescriptor


class OpPlan(FormulaPlan[OpDescriptor, Args]):
    """Base of the plans of declared ops; `args` is the class of their args."""

    of: ClassVar[Op]
    args: ClassVar[type[Args]]

    @classmethod
    def graph(cls, descriptor: OpDescriptor) -> Graph:
        return descriptor.graph

    @classmethod
    def implementations(cls, device: Device, descriptor: OpDescriptor) -> Found:
        if needs_library(descriptor.graph):
            return scipy_special.implementations(device, cls.problem(descriptor), cls.tensors, descriptor)
        return super().implementations(device, descriptor)


def _spec(op: Op, name: str, doc: str, *, is_output: bool = False) -> TensorSpec:
    layout_field = f"lies_{name}" if name in op.vectors or name[1:] in op.vectors else None
    words = (f"shape_{name}", f"kind_{name}", f"axes_{name}")
    return TensorSpec(name, doc, *words, written=is_output, when=f"has_{name}", lies_as=layout_field)


def stem(name: str) -> str:
    """What the names of an op's plan and args classes begin with."""
    return "".join(word.capitalize() for word in name.split("_"))


def _plan_type(op: Op, name: str, specs: tuple[TensorSpec, ...]) -> type[OpPlan]:
    if op.space is not None:  # what is read at an index must not be overwritten: no result takes an input's place
        specs = tuple(s if s.written else replace(s, varies=Axes.NONE) for s in specs)
    fields = [(s.name, Any, field(default=None)) for s in specs]
    args = make_dataclass(f"{stem(name)}Args", fields, bases=(Args,), namespace={"__module__": op.module})
    body = {"of": op, "args": args, "op": name, "category": op.category, "tensors": specs, "__module__": op.module}
    return type(f"{stem(name)}Plan", (OpPlan,), {**body, "__doc__": op.doc})


def forward_plan(op: Op, results: tuple[str, ...]) -> type[OpPlan]:
    """The plan class of an op with these results."""
    if (plan := op.derived.get((op.name, results))) is not None:
        return plan  # type: ignore[no-any-return]
    inputs = tuple(_spec(op, n, "an input") for n in op.signature.tensors)
    return _once(op, op.name, results, inputs + tuple(_spec(op, n, "a result", is_output=True) for n in results))


def backward_plan(op: Op, results: tuple[str, ...]) -> type[OpPlan]:
    """The plan class of an op's backward: gradients of results, inputs, saved results, then gradients of inputs."""
    if (plan := op.derived.get((f"{op.name}_backward", results))) is not None:
        return plan  # type: ignore[no-any-return]
    specs = [_spec(op, f"d{n}", f"the gradient of {n}") for n in results]
    specs += [_spec(op, n, "an input of the forward pass") for n in op.signature.tensors]
    specs += [_spec(op, n, "a saved result") for n in results if n not in op.signature.tensors]
    specs += [_spec(op, f"d{n}", f"the gradient of {n}", is_output=True) for n in op.signature.tensors]
    return _once(op, f"{op.name}_backward", results, tuple(specs))


def _once(op: Op, name: str, results: tuple[str, ...], specs: tuple[TensorSpec, ...]) -> type[OpPlan]:
    """The plan class of that name: the first that any thread made."""
    return op.derived.setdefault((name, results), _plan_type(op, name, specs))  # type: ignore[no-any-return]


def plan_of(descriptor: OpDescriptor) -> type[OpPlan]:
    """The plan class for a descriptor."""
    results = tuple(descriptor.forward.results)
    return (backward_plan if descriptor.wrt else forward_plan)(descriptor.op, results)
