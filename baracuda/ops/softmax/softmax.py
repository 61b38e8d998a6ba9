"""Softmax and log-softmax along any axis, forward and backward."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from baracuda.core.descriptor import Args
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec, check_axis, check_element, check_shape, counted
from baracuda.formula.expr import Expr
from baracuda.formula.functions import exp, log, max_, sum_
from baracuda.ops.declaration.formula_plan import FLOATS, FormulaDescriptor, FormulaPlan


class SoftmaxKind(enum.Enum):
    """Which of the family."""

    SOFTMAX = "softmax"
    LOG_SOFTMAX = "log_softmax"


@dataclass(frozen=True)
class SoftmaxBackwardDescriptor(FormulaDescriptor):
    """The gradient of the softmax `kind` along `softmax_axis` (counted from the end where negative) of a tensor of `input_shape`
    (rank 0 to 8, shared by dy, y and dx) and `element` (f16, bf16, f32, f64). `SoftmaxDescriptor` does as well."""

    kind: SoftmaxKind
    input_shape: tuple[int, ...]
    softmax_axis: int
    element: ElementKind

    def validate(self) -> None:
        if not isinstance(self.kind, SoftmaxKind):
            raise InvalidProblemError(f"kind: {self.kind!r}; expected one of {', '.join(map(str, SoftmaxKind))}")
        check_shape("input_shape", self.input_shape)
        check_axis("softmax_axis", self.softmax_axis, len(self.input_shape))
        check_element("element", self.element, FLOATS)

    @property
    def iteration_shape(self) -> tuple[int, ...]:
        return self.input_shape

    @property
    def inner_axes(self) -> tuple[bool, ...]:
        rank = len(self.input_shape)
        return tuple(a in counted((self.softmax_axis,), rank) for a in range(rank))


@dataclass(frozen=True)
class SoftmaxDescriptor(SoftmaxBackwardDescriptor):
    """A softmax along `softmax_axis` of a tensor of `input_shape` (rank 0 to 8) and `element` (f16, bf16, f32, f64)."""


@dataclass
class SoftmaxArgs(Args):
    """x: the input; y: the result."""

    x: Any
    y: Any


@dataclass
class SoftmaxBackwardArgs(Args):
    """dy: the gradient of y; y: the saved result; dx: the gradient of x."""

    dy: Any
    y: Any
    dx: Any


def _softmax(descriptor: SoftmaxDescriptor, x: Expr) -> dict[str, Expr]:
    shifted = x - max_(x)
    if descriptor.kind is SoftmaxKind.LOG_SOFTMAX:
        return {"y": shifted - log(sum_(exp(shifted)))}
    e = exp(shifted)
    return {"y": e * (1.0 / sum_(e))}


def _softmax_backward(descriptor: SoftmaxBackwardDescriptor, dy: Expr, y: Expr) -> dict[str, Expr]:
    if descriptor.kind is SoftmaxKind.LOG_SOFTMAX:
        return {"dx": dy - exp(y) * sum_(dy)}
    return {"dx": y * (dy - sum_(y * dy))}


class SoftmaxPlan(FormulaPlan[SoftmaxDescriptor, SoftmaxArgs]):
    """y = exp(x - max x) / sum exp(x - max x), or its logarithm x - max x - log(sum exp(x - max x)), along one axis.

    A row that holds NaN or +inf, or nothing but -inf, gives NaN, as in PyTorch. All four promises hold.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.array([[0.0, 0.0]], np.float32); y = np.empty_like(x)
    >>> descriptor = baracuda.SoftmaxDescriptor(baracuda.SoftmaxKind.SOFTMAX, x.shape, -1, baracuda.ElementKind.F32)
    >>> plan = baracuda.SoftmaxPlan.select(None, descriptor)
    >>> plan.run(None, None, baracuda.SoftmaxArgs(x, y)); y.tolist()
    [[0.5, 0.5]]
    """

    category, op = OpCategory.SOFTMAX, "softmax"
    tensors = (TensorSpec("x", "the input"), TensorSpec("y", "the result", written=True))
    formula = _softmax


class SoftmaxBackwardPlan(FormulaPlan[SoftmaxBackwardDescriptor, SoftmaxBackwardArgs]):
    """dx = y * (dy - sum(y * dy)) for softmax, dx = dy - exp(y) * sum(dy) for log-softmax; y is the saved result.

    f16 and bf16 are computed in f32 and rounded once. A tensor without elements is left alone. All four promises hold.

    Beyond the original: rank 0, an axis counted from the end, and a workspace where a long row is cut into segments.
    """

    category, op = OpCategory.SOFTMAX, "softmax_backward"
    tensors = (
        TensorSpec("dy", "the gradient of y"),
        TensorSpec("y", "the saved result"),
        TensorSpec("dx", "the gradient of x", written=True),
    )
    formula = _softmax_backward
