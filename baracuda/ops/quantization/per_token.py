"""Affine quantization with a scale and a zero point for each token (row), and straight-through gradients."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args
from baracuda.core.elements import ElementKind
from baracuda.core.lazy import cached_property
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec, check_element, check_flag, check_shape
from baracuda.ops.declaration.formula_plan import FLOATS
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.translation import TranslatedDescriptor, TranslatedPlan
from baracuda.ops.quantization.affine import CODES, dequantize_per_token, quantize_per_token


@dataclass(frozen=True)
class _PerTokenDescriptor(TranslatedDescriptor):
    """n tokens of d elements, and the element of the scales."""

    n: int
    d: int
    element: ElementKind
    quantized: ElementKind
    scale_element: ElementKind | None = field(default=None, kw_only=True)

    def validate(self) -> None:
        check_shape("(n, d)", self.input_shape, least=2, most=2)
        check_element("element", self.element, FLOATS)
        check_element("quantized", self.quantized, CODES)
        if self.scale_element is not None:
            check_element("scale_element", self.scale_element, (self.element, self.element.compute))

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.n, self.d)

    def _problem(self, op: Op, operand_kind: ElementKind, zero_point: bool) -> OpDescriptor:
        shapes = (self.input_shape, self.token_shape, self.token_shape if zero_point else None)
        elements = (operand_kind, self.scale_kind, ElementKind.S32 if zero_point else None)
        return OpDescriptor(op, shapes, elements, element=self.quantized if operand_kind.is_float else self.element)

    @property
    def token_shape(self) -> tuple[int, ...]:
        return (self.n,)

    @property
    def token_axis(self) -> tuple[int, ...]:
        return (0,)

    @property
    def scale_kind(self) -> ElementKind:
        return self.scale_element or self.element.compute


@dataclass(frozen=True)
class QuantizePerTokenDescriptor(_PerTokenDescriptor):
    """n tokens of d elements: real values in `element` (f16, bf16, f32, f64), codes in `quantized` (s8, u8).

    Scales are in `scale_element`: `element` itself or its compute kind, the default. Zero points are in s32 (at most 2^20 in
    magnitude); without `has_zero_point` the zero point is 0.
    """

    has_zero_point: bool = True

    def validate(self) -> None:
        super().validate()
        check_flag("has_zero_point", self.has_zero_point)

    @property
    def zero_point_kind(self) -> ElementKind:
        return ElementKind.S32

    @cached_property
    def problem(self) -> OpDescriptor:
        return self._problem(quantize_per_token, self.element, self.has_zero_point)


@dataclass(frozen=True)
class DequantizePerTokenDescriptor(QuantizePerTokenDescriptor):
    """The same fields as `QuantizePerTokenDescriptor`."""

    @cached_property
    def problem(self) -> OpDescriptor:
        return self._problem(dequantize_per_token, self.quantized, self.has_zero_point)


@dataclass(frozen=True)
class QuantizePerTokenBackwardDescriptor(QuantizePerTokenDescriptor):
    """The same fields as `QuantizePerTokenDescriptor`."""


@dataclass(frozen=True)
class DequantizePerTokenBackwardDescriptor(_PerTokenDescriptor):
    """The gradient of n tokens of d elements in `element` (f16, bf16, f32, f64). `quantized` (s8, u8) is the element of the
    forward's codes, which the gradient depends on as little as on zero points: it is the same in either. Scales are in
    `scale_element`: `element` itself or its compute kind, the default. `DequantizePerTokenDescriptor` does as well."""

    element: ElementKind = ElementKind.F32
    quantized: ElementKind = ElementKind.S8

    @cached_property
    def problem(self) -> OpDescriptor:
        return self._problem(dequantize_per_token, self.quantized, zero_point=False)


@dataclass
class QuantizePerTokenArgs(Args):
    """x: values [n, d]; scale, zero_point: [n]; q: codes [n, d]."""

    x: Any
    scale: Any
    zero_point: Any
    q: Any


@dataclass
class QuantizePerTokenBackwardArgs(Args):
    """dq: the gradient of q, in real values; x, scale, zero_point: as in the forward pass; dx: the gradient of x."""

    dq: Any
    x: Any
    scale: Any
    zero_point: Any
    dx: Any


@dataclass
class DequantizePerTokenArgs(Args):
    """q: codes [n, d]; scale, zero_point: [n]; y: values [n, d]."""

    q: Any
    scale: Any
    zero_point: Any
    y: Any


@dataclass
class DequantizePerTokenBackwardArgs(Args):
    """scale: [n]; d_output: the gradient of the values [n, d]; d_input: the gradient of the codes [n, d], in real values."""

    scale: Any
    d_output: Any
    d_input: Any


_SCALE = TensorSpec("scale", "the scale of each token", "token_shape", "scale_kind", "token_axis", Axes.OUTER)
_ZERO = TensorSpec(
    "zero_point",
    "the code of 0 for each token",
    "token_shape",
    "zero_point_kind",
    "token_axis",
    Axes.OUTER,
    when="has_zero_point",
)


class QuantizePerTokenPlan(TranslatedPlan[QuantizePerTokenDescriptor, QuantizePerTokenArgs]):
    """q = clamp(round_half_even(x / scale[n]) + zero_point[n], lowest code, highest code); NaN gives code 0."""

    category, op = OpCategory.QUANTIZATION, "quantize_per_token"
    tensors = (TensorSpec("x", "the values"), _SCALE, _ZERO, TensorSpec("q", "the codes", element="quantized", written=True))


class QuantizePerTokenBackwardPlan(TranslatedPlan[QuantizePerTokenDescriptor, QuantizePerTokenBackwardArgs]):
    """Straight through the rounding: dx = dq / scale[n] where the code was inside the clamp, 0 elsewhere (and for NaN).

    The factor 1 / scale is the derivative of x / scale, so that with `DequantizePerTokenBackwardPlan` the chain is the
    identity inside the clamp.
    """

    category, op = OpCategory.QUANTIZATION, "quantize_per_token_backward"
    tensors = (
        TensorSpec("dq", "the gradient of q"),
        TensorSpec("x", "the values"),
        _SCALE,
        _ZERO,
        TensorSpec("dx", "the gradient of x", written=True),
    )
    wrt = ("x",)


class DequantizePerTokenPlan(TranslatedPlan[QuantizePerTokenDescriptor, DequantizePerTokenArgs]):
    """y = (q - zero_point[n]) * scale[n]."""

    category, op = OpCategory.QUANTIZATION, "dequantize_per_token"
    tensors = (TensorSpec("q", "the codes", element="quantized"), _SCALE, _ZERO, TensorSpec("y", "the values", written=True))


class DequantizePerTokenBackwardPlan(TranslatedPlan[DequantizePerTokenBackwardDescriptor, DequantizePerTokenBackwardArgs]):
    """d_input = d_output * scale[n]: straight through the rounding, the gradient with respect to the code as a real value.

    f16 and bf16 are computed in f32 and rounded once. All four promises hold.

    Beyond the original, whose elements are type parameters: scales in the compute kind (the default).
    """

    category, op = OpCategory.QUANTIZATION, "dequantize_per_token_backward"
    tensors = (
        TensorSpec("d_output", "the gradient of the values"),
        _SCALE,
        TensorSpec("d_input", "the gradient of the codes", written=True),
    )
    wrt, names = ("q",), {"dy": "d_output", "dq": "d_input"}
