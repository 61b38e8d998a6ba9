"""Binary operations with a scalar parameter, forward and backward."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from baracuda.core.descriptor import Args
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.lazy import cached_property
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec, check_element, check_number, check_shape
from baracuda.ops.declaration.formula_plan import FLOATS
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.translation import TranslatedDescriptor, TranslatedPlan
from baracuda.ops.elementwise.ternary_ops import lerp


class BinaryKind(enum.Enum):
    """Which operation; w is the descriptor's param."""

    LERP = "lerp"


@dataclass(frozen=True)
class BinaryParamBackwardDescriptor(TranslatedDescriptor):
    """The gradients of the binary operation `kind` with the scalar `param` on tensors of `shape` (rank 0 to 8, shared by dy, da
    and db) and `element` (f16, bf16, f32, f64). `BinaryParamDescriptor` does as well."""

    numbers = (("param", ()),)

    kind: BinaryKind
    shape: tuple[int, ...]
    element: ElementKind
    param: float

    def validate(self) -> None:
        if not isinstance(self.kind, BinaryKind):
            raise InvalidProblemError(f"kind: {self.kind!r}; expected one of {', '.join(map(str, BinaryKind))}")
        check_shape("shape", self.shape)
        check_element("element", self.element, FLOATS)
        check_number("param", self.param)

    @cached_property
    def problem(self) -> OpDescriptor:
        scalars = (("weight", float(self.param)),)
        return OpDescriptor(lerp, (self.shape, self.shape, None), (self.element, self.element, None), scalars=scalars)


@dataclass(frozen=True)
class BinaryParamDescriptor(BinaryParamBackwardDescriptor):
    """A binary operation on tensors of `shape` (rank 0 to 8) and `element` (f16, bf16, f32, f64) with the scalar `param`."""


@dataclass
class BinaryParamArgs(Args):
    """a, b: the operands; y: the result."""

    a: Any
    b: Any
    y: Any


@dataclass
class BinaryParamBackwardArgs(Args):
    """dy: the gradient of y; da, db: the gradients of the operands."""

    dy: Any
    da: Any
    db: Any


class BinaryParamPlan(TranslatedPlan[BinaryParamDescriptor, BinaryParamArgs]):
    """LERP: y = a + w * (b - a), elementwise. All four promises hold.

    PyTorch computes the other form, b - (b - a) * (1 - w), where |w| >= 0.5; here there is one form, so y at w = 1 may
    differ from b by a rounding.
    """

    category, op = OpCategory.BINARY, "binary_param"
    tensors = (
        TensorSpec("a", "the first operand", "shape"),
        TensorSpec("b", "the second operand", "shape"),
        TensorSpec("y", "the result", "shape", written=True),
    )


class BinaryParamBackwardPlan(TranslatedPlan[BinaryParamBackwardDescriptor, BinaryParamBackwardArgs]):
    """LERP: da = (1 - w) * dy, db = w * dy.

    No saved tensors, and no gradient of w, which is a constant: `baracuda.lerp_backward` has that of a tensor of weights. f16
    and bf16 are computed in f32 and rounded once, with w rounded to f32. All four promises hold.

    Beyond the original: tensors that are not contiguous, rank 0, and for f64 a w of 64 bits.
    """

    category, op = OpCategory.BINARY, "binary_param_backward"
    tensors = (
        TensorSpec("dy", "the gradient of y", "shape"),
        TensorSpec("da", "the gradient of a", "shape", written=True),
        TensorSpec("db", "the gradient of b", "shape", written=True),
    )
    wrt = ("a", "b")
