"""Functions of elements."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.aten.elements import common, number
from baracuda.torch.registry import serves
from baracuda.torch.write import write

aten = torch.ops.aten

for _name in (
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "neg",
    "reciprocal",
    "rsqrt",
    "sgn",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "abs",
    "relu",
    "erfinv",
    "frac",
    "digamma",
    "mish",
    "hardswish",
    "hardsigmoid",
):
    serves(getattr(aten, _name).default, out=True)(getattr(baracuda, _name))
for _name in (
    "logical_not",
    "bitwise_not",
    "isinf",
    "isnan",
    "isfinite",
    "signbit",
    "isposinf",
    "isneginf",
):
    if hasattr(getattr(aten, _name), "default"):
        serves(getattr(aten, _name).default)(getattr(baracuda, _name))


def _of_two(name: str) -> Any:
    compute = getattr(baracuda, name)

    def of_two(a: Any, b: Any, **keywords: Any) -> Any:
        if keywords.get("alpha") is True:
            del keywords["alpha"]
        if isinstance(b, torch.Tensor) and isinstance(a, torch.Tensor) and (a.dtype != b.dtype or a.device != b.device):
            a, b = common(a, b)
        return compute(a, b, **keywords)

    return of_two


for _name in (
    "add",
    "sub",
    "mul",
    "atan2",
    "fmod",
    "remainder",
    "maximum",
    "minimum",
    "hypot",
    "logaddexp",
    "logaddexp2",
    "fmax",
    "fmin",
    "copysign",
    "nextafter",
):
    for _overload in ("Tensor", "Scalar", "default"):
        if _overload in getattr(aten, _name).overloads():
            serves(getattr(getattr(aten, _name), _overload), out=True)(_of_two(_name))
for _name in (
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
):
    for _overload in ("Tensor", "Scalar", "Scalar_Tensor", "default", "Tensor_Scalar"):
        if _overload in getattr(aten, _name).overloads():
            serves(getattr(getattr(aten, _name), _overload))(_of_two(_name))


@serves(aten.rsub.Scalar, aten.rsub.Tensor, out=True)
def rsub(a: Any, b: Any, alpha: Any = 1, **out: Any) -> Any:
    return baracuda.sub(b, a, alpha, **out) if alpha != 1 else baracuda.sub(b, a, **out)


@serves(aten.div.Tensor, aten.div.Scalar, out=True)
@serves(aten.div.Tensor_mode, aten.div.Scalar_mode)
def div(a: Any, b: Any, *, rounding_mode: str | None = None, **out: Any) -> Any:
    a, b = common(a, b)
    return baracuda.div(a, b, **out) if rounding_mode is None else baracuda.div(a, b, rounding_mode, **out)


@serves(aten.floor_divide.default, aten.floor_divide.Scalar)
def floor_divide(a: Any, b: Any) -> Any:
    return baracuda.floor_divide(*common(a, b))


@serves(aten.pow.Tensor_Scalar, aten.pow.Tensor_Tensor, aten.pow.Scalar, out=True)
def power(x: Any, exponent: Any, **out: Any) -> Any:
    return baracuda.pow(*common(x, exponent), **out)


@serves(aten.square.default, out=True)
def square(x: Any, **out: Any) -> Any:
    return baracuda.mul(x, x, **out)


@serves(aten.gelu.default, out=True)
def gelu(x: Any, *, approximate: str = "none", **out: Any) -> Any:
    return baracuda.gelu(x, approximate, **out)


@serves(aten.gelu_backward.default)
def gelu_backward(dy: Any, x: Any, *, approximate: str = "none") -> Any:
    return baracuda.gelu_backward(dy, x, approximate=approximate)


@serves(aten.silu_backward.default)
def silu_backward(dy: Any, x: Any) -> Any:
    return baracuda.silu_backward(dy, x)


@serves(aten.tanh_backward.default)
def tanh_backward(dy: Any, y: Any) -> Any:
    return baracuda.tanh_backward(dy, y, y)


@serves(aten.sigmoid_backward.default)
def sigmoid_backward(dy: Any, y: Any) -> Any:
    return baracuda.sigmoid_backward(dy, y, y)


@serves(aten.threshold_backward.default)
def threshold_backward(dy: Any, x: Any, threshold: Any) -> Any:
    return baracuda.threshold_backward(dy, x, threshold=threshold, value=0.0)


@serves(aten.hardtanh.default)
def hardtanh(x: Any, low: Any = -1, high: Any = 1) -> Any:
    return clamp(x, low if x.is_floating_point() else int(low), high if x.is_floating_point() else int(high))


@serves(aten.hardtanh_backward.default)
def hardtanh_backward(dy: Any, x: Any, low: Any, high: Any) -> Any:
    return baracuda.hardtanh_backward(dy, x, min=low, max=high)


@serves(aten.hardswish_backward.default)
def hardswish_backward(dy: Any, x: Any) -> Any:
    return baracuda.hardswish_backward(dy, x)


@serves(aten.hardsigmoid_backward.default)
def hardsigmoid_backward(dy: Any, x: Any) -> Any:
    return baracuda.hardsigmoid_backward(dy, x)


@serves(aten.leaky_relu.default, out=True)
def leaky_relu(x: Any, slope: Any = 0.01, **out: Any) -> Any:
    return baracuda.leaky_relu(x, slope, **out)


@serves(aten.leaky_relu_backward.default)
def leaky_relu_backward(dy: Any, x: Any, slope: Any, is_result: bool) -> Any:
    return baracuda.leaky_relu_backward(dy, x, negative_slope=slope)


@serves(aten.softplus.default, out=True)
def softplus(x: Any, beta: Any = 1, threshold: Any = 20, **out: Any) -> Any:
    return baracuda.softplus(x, beta, threshold, **out)


@serves(aten.softplus_backward.default)
def softplus_backward(dy: Any, x: Any, beta: Any, threshold: Any) -> Any:
    return baracuda.softplus_backward(dy, x, beta=beta, threshold=threshold)


@serves(aten.log_sigmoid_forward.default)
def logsigmoid(x: Any) -> Any:
    return baracuda.logsigmoid(x), x.new_empty(0)


@serves(aten.log_sigmoid_backward.default)
def logsigmoid_backward(dy: Any, x: Any, buffer: Any) -> Any:
    return baracuda.logsigmoid_backward(dy, x)


@serves(aten.hardshrink_backward.default)
def hardshrink_backward(dy: Any, x: Any, lambd: Any) -> Any:
    return baracuda.hardshrink_backward(dy, x, lambd=lambd)


@serves(aten.softshrink_backward.default)
def softshrink_backward(dy: Any, x: Any, lambd: Any) -> Any:
    return baracuda.softshrink_backward(dy, x, lambd=lambd)


@serves(aten.mish_backward.default)
def mish_backward(dy: Any, x: Any) -> Any:
    return baracuda.mish_backward(dy, x)


@serves(aten.elu.default)
def elu(x: Any, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Any:
    x = x if input_scale == 1 else baracuda.mul(x, input_scale)
    y = baracuda.elu(x, alpha)
    return y if scale == 1 else baracuda.mul(y, scale)


@serves(aten.round.default, out=True)
def round_(x: Any, **out: Any) -> Any:
    return baracuda.round(x, **out)


@serves(aten.round.decimals)
def round_decimals(x: Any, *, decimals: int) -> Any:
    return baracuda.round(x, decimals)


@serves(aten.clamp.default, aten.clamp.Tensor)
def clamp(x: Any, low: Any = None, high: Any = None) -> Any:
    for bound, function in ((low, baracuda.maximum), (high, baracuda.minimum)):
        if bound is not None:
            x = function(*common(x, bound))
    return x


@serves(aten.clamp_min.default, aten.clamp_min.Tensor)
def clamp_min(x: Any, low: Any) -> Any:
    return baracuda.maximum(*common(x, low))


@serves(aten.clamp_max.default, aten.clamp_max.Tensor)
def clamp_max(x: Any, high: Any) -> Any:
    return baracuda.minimum(*common(x, high))


@serves(aten.where.self, aten.where.ScalarSelf, aten.where.ScalarOther, aten.where.Scalar)
def where(condition: Any, a: Any, b: Any) -> Any:
    a, b = common(a, b)
    return baracuda.where(condition, a, b)


@serves(aten.masked_fill.Scalar, aten.masked_fill.Tensor)
def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    value = number(value)
    return baracuda.masked_fill(x, mask, bool(value) if x.dtype == torch.bool else value)


@serves(aten.lerp.Scalar, aten.lerp.Tensor, out=True)
def lerp(a: Any, b: Any, weight: Any, **out: Any) -> Any:
    return baracuda.lerp(a, b, weight, **out)


@serves(aten.addcmul.default, out=True)
def addcmul(x: Any, a: Any, b: Any, *, value: Any = 1, **out: Any) -> Any:
    return baracuda.addcmul(x, a, b, value, **out)


@serves(aten.addcdiv.default, out=True)
def addcdiv(x: Any, a: Any, b: Any, *, value: Any = 1, **out: Any) -> Any:
    return baracuda.addcdiv(x, a, b, value, **out)


serves(aten.polar.default)(lambda length, angle: baracuda.polar(length, angle))


@serves(aten.copy.default)
def copy(x: Any, source: Any, non_blocking: bool = False) -> Any:
    return write(torch.empty_like(x), source)
