"""Every declared op as a function, forward (`gelu`) and backward (`gelu_backward`), and its plan classes by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from baracuda.frontends.function import Function
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


@cache
def modules() -> dict[str, str]:
    """The module that declares each op and composition, by its name (catalogue/modules.tsv)."""
    text = (Path(__file__).resolve().parent.parent / "catalogue" / "modules.tsv").read_text()
    return dict(line.split("\t") for line in text.splitlines())


def _load(name: str) -> None:
    """Load the module that declares an op or a composition, and no other."""
    if name in modules():
        import_module(f"baracuda.ops.{modules()[name]}")


def op(name: str) -> Op:
    """A declared op, whose module alone is loaded; raises KeyError where there is none."""
    _load(name)
    return OPS[name]


def compositions() -> dict[str, Composed]:
    """Every composition by name, gradients among them."""
    ops()
    return COMPOSED


@cache
def function(name: str) -> Any:
    """The function of an op, of its backward, or of the backward of that; raises KeyError where there is none.

    What only some functions need is imported for these: the first call of a process waits for it.
    """
    _load(name)
    if name in OPS:
        if OPS[name].bounds is None:
            return Function(OPS[name])
        from baracuda.frontends.indexed import Indexed

        return Indexed(OPS[name])
    declared_op = op(name.removesuffix("_backward").removesuffix("_double"))
    if not (name.endswith("_backward") and declared_op.differentiable):
        raise KeyError(name)
    if name.endswith("_double_backward"):
        from baracuda.frontends.double_backward import DoubleBackward

        return DoubleBackward(declared_op)
    from baracuda.frontends.backward import Backward

    return Backward(declared_op)


@cache
def composition(name: str) -> Any:
    """The function of a composition, which may run an op of its own name; raises KeyError where there is none."""
    _load(name)
    body = COMPOSED[name]
    from baracuda.frontends.composed import function_of

    return function_of(body)


@cache
def _types() -> dict[str, tuple[Op, bool, bool]]:
    """Names of plan and args classes: the op, whether of its backward, whether the args."""
    types: dict[str, tuple[Op, bool, bool]] = {}
    for declared_op in ops().values():
        name = stem(declared_op.name)
        types |= {f"{name}Plan": (declared_op, False, False), f"{name}Args": (declared_op, False, True)}
        if declared_op.differentiable:
            types |= {f"{name}BackwardPlan": (declared_op, True, False), f"{name}BackwardArgs": (declared_op, True, True)}
    return types


@cache
def plan_type(name: str) -> Any:
    """The plan or args class of that name (`GeluPlan`, `GeluBackwardArgs`); raises KeyError where there is none."""
    declared_op, backward, args = _types()[name]
    plan = (backward_plan if backward else forward_plan)(declared_op, declared_op.results or ("y",))
    return plan.args if args else plan


def attribute(name: str) -> Any:
    """What `baracuda.<name>` is: a function, a plan class or an args class; raises KeyError where it is none."""
    if name.endswith(("Plan", "Args")):
        return plan_type(name)
    _load(name)
    return composition(name) if name in COMPOSED else function(name)


def names() -> list[str]:
    """The names of all functions, plans and args."""
    functions = [n for o in ops().values() for n in (o.name, *([f"{o.name}_backward"] if o.differentiable else []))]
    return [*functions, *compositions(), *_types()]
