"""Binary operations with a scalar parameter, forward and backward."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from baracuda.core.descriptor import Args
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec, check_element, check_number, check_shape
from baracuda.formula.expr import Expr
from baracuda.ops.declaration.formula_plan import FLOATS, FormulaDescriptor, FormulaPlan


class BinaryKind(enum.Enum):
    """Which operation; w is the descriptor's param."""

    LERP = "lerp"


@dataclass(frozen=True)
class BinaryParamBackwardDescriptor(FormulaDescriptor):
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

    @property
    def iteration_shape(self) -> tuple[int, ...]:
        return self.shape

    @property
    def parameters(self) -> Mapping[str, float]:
        return {"w": float(self.param)}


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


def _binary(descriptor: BinaryParamDescriptor, a: Expr, b: Expr, w: Expr) -> dict[str, Expr]:
    return {"y": a + w * (b - a)}


def _binary_backward(descriptor: BinaryParamBackwardDescriptor, dy: Expr, w: Expr) -> dict[str, Expr]:
    return {"da": (1.0 - w) * dy, "db": w * dy}


class BinaryParamPlan(FormulaPlan[BinaryParamDescriptor, BinaryParamArgs]):
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
    formula = _binary


class BinaryParamBackwardPlan(FormulaPlan[BinaryParamBackwardDescriptor, BinaryParamBackwardArgs]):
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
    formula = _binary_backward
