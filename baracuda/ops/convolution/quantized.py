"""Convolutions of integers, and of quantized tensors into quantized ones."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.ops.convolution.options import (
    Each,
    Padding,
    check_groups,
    common,
    each,
    grouped_input,
    grouped_vector,
    grouped_weight,
    pairs,
    relations_of,
)
from baracuda.ops.convolution.steps import convolve
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.words import Positive
from baracuda.ops.elementwise.binary_ops import mul, sub
from baracuda.ops.quantization.affine import dequantize, quantize_per_tensor

_BYTES = "s8 u8"


def _shifted(do: Steps, x: TensorRef, zero: Given, name: str) -> TensorRef:
    """x - zero in s32; a zero of one element is that of all, else there is one for each element of the first axis."""
    wide = do.rows(x.shape, ElementKind.S32)
    do.copy(x, wide)
    if zero is None or 0 in x.shape:
        return wide
    if zero.kind is not x.kind:
        raise InvalidProblemError(f"{name}: element is {zero.kind}; expected {x.kind}, that of its tensor")
    found: TensorRef = do.run(sub, {"a": wide, "b": _along(do, zero, x, name, ElementKind.S32, 0)})
    return found


def _along(do: Steps, v: TensorRef, x: TensorRef, name: str, kind: ElementKind, axis: int) -> Any:
    """A number, or one for each element of an axis of x, as a tensor that broadcasts to x."""
    shape = v.shape
    if shape not in ((), (1,), (x.shape[axis],)):
        raise InvalidProblemError(f"{name}: shape is {shape}; expected (), (1,) or ({x.shape[axis]},)")
    converted = do.rows(shape, kind)
    do.copy(v, converted)
    n = shape[0] if shape else 1
    rank = len(x.shape)
    return view(converted, 0, (n, *(1,) * (rank - 1 - axis)), (converted.strides[0] if shape else 0, *(0,) * (rank - 1 - axis)))


def _integer(
    do: Steps, x: TensorRef, weight: TensorRef, x_zero_point: Given, w_zero_point: Given, bias: Given, stride: Each,
    padding: Padding, dilation: Each, groups: int, out: Any,
) -> TensorRef:  # fmt: skip
    rank = len(weight.shape) - 2
    if len(x.shape) != rank + 2 or rank < 0:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected (n, channels, {max(rank, 0)} spatial axes)")
    if x_zero_point is not None and x_zero_point.shape not in ((), (1,)):
        raise InvalidProblemError(f"x_zero_point: shape is {x_zero_point.shape}; expected () or (1,)")
    check_groups(x.shape[1], weight.shape[0], weight.shape[1], groups)
    steps, spread = each("stride", stride, rank), each("dilation", dilation, rank)
    inputs, taps = x.shape[2:], weight.shape[2:]
    relations = relations_of(inputs, taps, steps, spread, pairs(padding, inputs, taps, steps, spread))
    shape = (x.shape[0], weight.shape[0], *(r.outputs for r in relations))
    y = do.new(shape, ElementKind.S32) if out is None else do.result(shape, ElementKind.S32)
    axes = common(rank)
    source, by = _shifted(do, x, x_zero_point, "x_zero_point"), _shifted(do, weight, w_zero_point, "w_zero_point")
    convolve(
        do, grouped_input(source, axes, groups), grouped_weight(by, axes, groups), grouped_input(y, axes, groups), relations,
        bias=grouped_vector(bias, groups),
    )  # fmt: skip
    return y


@composed(out=True, x=f"n c *space : {_BYTES}", weight=f"out inner *taps : {_BYTES}", x_zero_point="?", w_zero_point="?")
def conv_integer(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    x_zero_point: Given = None,
    w_zero_point: Given = None,
    *,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: Positive = 1,
) -> TensorRef:
    """The convolution of x - x_zero_point with weight - w_zero_point, of 8-bit integers, exact in s32: ONNX's ConvInteger.

    x_zero_point is one number of x's element, w_zero_point one of the weight's, or one for each output channel. Padding counts as
    x_zero_point does: it adds nothing. Sums beyond 32 bits wrap.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.uint8([[[1, 2, 4]]]), np.uint8([[[1, 3]]])
    >>> baracuda.conv_integer(x, weight, np.uint8([1])).tolist()
    [[[3, 10]]]
    """
    return _integer(do, x, weight, x_zero_point, w_zero_point, None, stride, padding, dilation, groups, do.out)


@composed(
    x=f"n c *space : {_BYTES}", x_scale="? : f32", x_zero_point="?", weight=f"out inner *taps : {_BYTES}", w_scale="? : f32",
    w_zero_point="?", y_scale="? : f32", y_zero_point=f"? : {_BYTES}", bias="out : s32",
)  # fmt: skip
def qlinear_conv(
    do: Steps,
    x: TensorRef,
    x_scale: TensorRef,
    x_zero_point: TensorRef,
    weight: TensorRef,
    w_scale: TensorRef,
    w_zero_point: TensorRef,
    y_scale: TensorRef,
    y_zero_point: TensorRef,
    bias: Given = None,
    *,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: Positive = 1,
) -> TensorRef:
    """A convolution of quantized tensors into a quantized one: ONNX's QLinearConv.

    The sum of `conv_integer` and the s32 bias, as f32, times (x_scale * w_scale), divided by y_scale, rounded to nearest even,
    plus y_zero_point, limited to its element. Every step is rounded. w_scale and w_zero_point are one number or one for each
    output channel; the others are one number.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> one, zero = np.float32([1]), np.uint8([0])
    >>> x, weight = np.uint8([[[1, 2, 4]]]), np.uint8([[[1, 3]]])
    >>> baracuda.qlinear_conv(x, one, zero, weight, one / 2, zero, one, np.uint8([10])).tolist()
    [[[14, 17]]]
    """
    for name, v in (("x_scale", x_scale), ("y_scale", y_scale), ("y_zero_point", y_zero_point)):
        if v.shape not in ((), (1,)):
            raise InvalidProblemError(f"{name}: shape is {v.shape}; expected () or (1,)")
    sums = _integer(do, x, weight, x_zero_point, w_zero_point, bias, stride, padding, dilation, groups, None)
    factor = do.run(
        mul,
        {
            "a": _along(do, x_scale, sums, "x_scale", ElementKind.F32, 1),
            "b": _along(do, w_scale, sums, "w_scale", ElementKind.F32, 1),
        },
    )
    real = do.run(dequantize, {"q": sums, "scale": factor})
    tensors = {
        "x": real,
        "scale": _along(do, y_scale, sums, "y_scale", ElementKind.F32, 1),
        "zero_point": _along(do, y_zero_point, sums, "y_zero_point", ElementKind.S32, 1),
    }
    found: TensorRef = do.run(quantize_per_tensor, tensors, dtype=y_zero_point.kind)
    return found
