"""Every declared op as a function, forward (`gelu`) and backward (`gelu_backward`), and its plan classes by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from baracuda.frontends.backward import Backward
from baracuda.frontends.composed import function_of
from baracuda.frontends.double_backward import DoubleBackward
from baracuda.frontends.function import Function
from baracuda.frontends.indexed import Indexed
from baracuda.ops import FAMILIES
from baracuda.ops.declaration.composition import COMPOSED, Composed
from baracuda.ops.declaration.op import OPS, Op
from baracuda.ops.declaration.op_plan import backward_plan, forward_plan, stem


@cache
def ops() -> dict[str, Op]:
    """Every declared op by name."""
    for module in FAMILIES:
        import_module(f"baracuda.ops.{module}")
    return OPS


def compositions() -> dict[str, Composed]:
    """Every composition by name, gradients among them."""
    ops()
    return COMPOSED


@cache
def function(name: str) -> Any:
    """The function of an op, of its backward, or of the backward of that; raises KeyError where there is none."""
    if name in compositions():
        return function_of(compositions()[name])
    if name in ops():
        op = ops()[name]
        return Function(op) if op.bounds is None else Indexed(op)
    op = ops()[name.removesuffix("_backward").removesuffix("_double")]
    if not (name.endswith("_backward") and op.differentiable):
        raise KeyError(name)
    return DoubleBackward(op) if name.endswith("_double_backward") else Backward(op)


@cache
def _types() -> dict[str, tuple[Op, bool, bool]]:
    """Names of plan and args classes: the op, whether of its backward, whether the args."""
    found: dict[str, tuple[Op, bool, bool]] = {}
    for op in ops().values():
        found |= {f"{stem(op.name)}Plan": (op, False, False), f"{stem(op.name)}Args": (op, False, True)}
        if op.differentiable:
            found |= {f"{stem(op.name)}BackwardPlan": (op, True, False), f"{stem(op.name)}BackwardArgs": (op, True, True)}
    return found


@cache
def plan_type(name: str) -> Any:
    """The plan or args class of that name (`GeluPlan`, `GeluBackwardArgs`); raises KeyError where there is none."""
    op, backward, args = _types()[name]
    plan = (backward_plan if backward else forward_plan)(op, op.results or ("y",))
    return plan.args if args else plan


def attribute(name: str) -> Any:
    """What `baracuda.<name>` is: a function, a plan class or an args class; raises KeyError where it is none."""
    return plan_type(name) if name.endswith(("Plan", "Args")) else function(name)


def names() -> list[str]:
    """The names of all functions, plans and args."""
    functions = [n for op in ops().values() for n in (op.name, *([f"{op.name}_backward"] if op.differentiable else []))]
    return [*functions, *compositions(), *_types()]
