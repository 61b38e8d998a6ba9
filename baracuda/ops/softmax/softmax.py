"""Softmax and log-softmax along any axis, forward and backward."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from baracuda.core.descriptor import Args
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.lazy import cached_property
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec, check_axis, check_element, check_shape
from baracuda.ops.declaration.formula_plan import FLOATS
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.translation import TranslatedDescriptor, TranslatedPlan
from baracuda.ops.softmax.softmaxes import log_softmax, softmax


class SoftmaxKind(enum.Enum):
    """Which of the family."""

    SOFTMAX = "softmax"
    LOG_SOFTMAX = "log_softmax"


_OPS = {SoftmaxKind.SOFTMAX: softmax, SoftmaxKind.LOG_SOFTMAX: log_softmax}


@dataclass(frozen=True)
class SoftmaxBackwardDescriptor(TranslatedDescriptor):
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

    @cached_property
    def problem(self) -> OpDescriptor:
        return OpDescriptor(_OPS[self.kind], (self.input_shape,), (self.element,), (self.softmax_axis,))


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


class SoftmaxPlan(TranslatedPlan[SoftmaxDescriptor, SoftmaxArgs]):
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


class SoftmaxBackwardPlan(TranslatedPlan[SoftmaxBackwardDescriptor, SoftmaxBackwardArgs]):
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
    wrt = ("x",)
