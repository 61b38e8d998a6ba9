"""`fuse`: the user's own formula as one kernel, with its gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import update_wrapper
from typing import Any

from baracuda.core.plan import Plan
from baracuda.core.sku import PlanPreference
from baracuda.frontends.backward import Backward
from baracuda.frontends.call_cache import call_cached
from baracuda.frontends.double_backward import DoubleBackward
from baracuda.frontends.function import OpCall, cacheable_of, describe_call, op_binding
from baracuda.ops.declaration.composition import one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.op_plan import plan_of
from baracuda.ops.declaration.promotion import Rule

_ALONG_ROWS = frozenset(["reduce", "scan", "position"])


class Fused:
    """A formula, callable on tensors. Made by `fuse`."""

    def __init__(self, function: Callable[..., Any], axis: int | Sequence[int]) -> None:
        self.axes = (axis,) if isinstance(axis, int) else tuple(axis)
        rows: dict[str, Any] = {"rows": True, "axis": self.axes, "rowless": True}  # none where the formula is pointwise
        self.op = Op(function, Rule.EACH, name=function.__name__, family="fused", takes="any", **rows)
        self._backward = Backward(self.op)
        binding = op_binding(self.op)
        self._computed = call_cached(cacheable_of(self._compute, self.op, binding))
        self._differentiated = call_cached(cacheable_of(self._differentiate, self.op, binding))
        update_wrapper(self, function)

    def describe(self, *tensors: Any, **scalars: float) -> OpDescriptor:
        """The descriptor of a call."""
        return self._described(tensors, scalars)[0]

    def _described(self, tensors: Sequence[Any], scalars: dict[str, float]) -> tuple[OpDescriptor, dict[str, Any], Any]:
        descriptor, named, like = describe_call(self.op, tensors, {**scalars, "axis": ()})
        if any(n.op in _ALONG_ROWS for n in descriptor.graph.nodes):
            descriptor = replace(descriptor, axes=self.axes)
        return descriptor, named, like

    def select(self, stream: Any, *tensors: Any, preference: PlanPreference | None = None, **scalars: float) -> Plan[Any, Any]:
        """The plan for tensors like these: `run` takes `fused.args(...)`."""
        descriptor = self.describe(*tensors, **scalars)
        selected: Plan[Any, Any] = plan_of(descriptor).select(stream, descriptor, preference)
        return selected

    def args(self, plan: Plan[Any, Any], *operands: Any) -> Any:
        """Args of a plan from `select`: the inputs followed by the outputs."""
        return plan_of(plan.descriptor).args(*operands)

    def __call__(self, *tensors: Any, **scalars: float) -> Any:
        """Compute; the result, or the tuple of results, is new and of the first full-sized tensor's library."""
        return self._computed(*tensors, **scalars)

    def _compute(self, *tensors: Any, **scalars: float) -> Any:
        return one_or_all(tuple(OpCall(*self._described(tensors, scalars)).run().values()))

    def gradient(self, *tensors: Any, dy: Any, wrt: Sequence[str] | None = None, **scalars: float) -> tuple[Any, ...]:
        """The gradients by the tensors named in `wrt` (default: every float tensor, in order), given the gradient of the
        result (a tuple of them where there are several results).

        Each gradient has the shape and element of its tensor: where that was broadcast, the sum over what it was broadcast
        along, in the canonical order.
        """
        gradients: tuple[Any, ...] = self._differentiated(*tensors, dy=dy, wrt=wrt, **scalars)
        return gradients

    def _differentiate(self, *tensors: Any, dy: Any, wrt: Sequence[str] | None, **scalars: float) -> tuple[Any, ...]:
        descriptor, named, like = self._described(tensors, scalars)
        gradients = self._backward.of(descriptor, dy if isinstance(dy, (tuple, list)) else (dy,), named, like, wrt=wrt)
        return tuple(gradients.values())

    def double_gradient(
        self, *tensors: Any, dy: Any, dd: Mapping[str, Any], wrt: Sequence[str] | None = None, **scalars: float
    ) -> tuple[Any, ...]:
        """The gradients of what `gradient` read, given those of what it gave: `dd` has, by the name of its tensor, that of each
        gradient that counts. `wrt` names "dy" (or "dy0", "dy1", ... as the results are called) and tensors; by default these
        and every float tensor, in order.
        """
        descriptor, named, like = self._described(tensors, scalars)
        cotangents = dy if isinstance(dy, (tuple, list)) else (dy,)
        dys = dict(zip(descriptor.forward.results, cotangents, strict=True))
        return tuple(DoubleBackward(self.op).of(descriptor.forward, dys, dd, named, like, wrt).values())


def fuse(function: Callable[..., Any] | None = None, *, axis: int | Sequence[int] = -1) -> Any:
    """Make one kernel of a formula; use it as a decorator.

    The function takes tensors as positional parameters and scalars as keyword-only ones, and returns an expression, a tuple
    or a dict of expressions, in the words of `baracuda.formula.functions` and Python's operators. Tensors broadcast as in
    NumPy. Reductions (`sum_`, `max_`, `mean`, ...) and scans run over `axis`, and results keep it (reduced ones with extent
    1). A parameter annotated `int`, `bool`, `str` or `tuple` is an option: a constant of the kernel.

    The kernel is compiled for each new combination of shapes, elements and layouts, on the CPU or the GPU, with all the
    promises of the built-in plans.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> from baracuda.formula.functions import erf
    >>> @baracuda.fuse
    ... def gelu(x):
    ...     return 0.5 * x * (1.0 + erf(x * 0.7071067811865476))
    >>> gelu(np.zeros(3, np.float32)).tolist()
    [0.0, 0.0, 0.0]
    >>> [g.tolist() for g in gelu.gradient(np.zeros(1, np.float32), dy=np.ones(1, np.float32))]
    [[0.5]]
    """
    if function is None:
        return lambda f: Fused(f, axis)
    return Fused(function, axis)
