"""Every declared op as a function, forward (`gelu`) and backward (`gelu_backward`), and its plan classes by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from baracuda.frontends.backward import Backward
from baracuda.frontends.function import Function
from baracuda.ops import FAMILIES
from baracuda.ops.op import OPS, Op


@cache
def ops() -> dict[str, Op]:
    """Every declared op by name."""
    for module in FAMILIES:
        import_module(f"baracuda.ops.{module}")
    return OPS


@cache
def function(name: str) -> Any:
    """The function of an op, or of its backward; raises KeyError where there is none."""
    if name in ops():
        return Function(ops()[name])
    op = ops()[name.removesuffix("_backward")]
    if not (name.endswith("_backward") and op.differentiable):
        raise KeyError(name)
    return Backward(op)


def names() -> list[str]:
    """The names of all functions."""
    return [n for op in ops().values() for n in (op.name, *([f"{op.name}_backward"] if op.differentiable else []))]
