"""The gradients of convolutions as ops of their own, and the convolution over (time, batch, channels)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.ops.convolution.forward import KINDS
from baracuda.ops.convolution.options import (
    Axes,
    Each,
    Padding,
    check_groups,
    check_vector,
    common,
    each,
    grouped_input,
    grouped_vector,
    grouped_weight,
    pairs,
    relations_of,
)
from baracuda.ops.convolution.relation import Relation
from baracuda.ops.convolution.steps import convolve, gradient_by_bias, gradient_by_input, gradient_by_weight
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.words import Positive, Wrt

Extents = tuple[int, ...]


def _relations(
    x: Sequence[int], weight: Sequence[int], dy: Sequence[int], stride: Each, padding: Padding, dilation: Each, groups: int
) -> list[Relation]:
    """Those of a convolution of these shapes."""
    rank = len(weight) - 2
    if rank < 0 or len(x) != rank + 2 or any(n < 0 for n in (*x, *weight)):
        raise InvalidProblemError(f"shapes: x {tuple(x)}, weight {tuple(weight)}; expected as many axes of each, two at least")
    check_groups(x[1], weight[0], weight[1], groups)
    steps, spread = each("stride", stride, rank), each("dilation", dilation, rank)
    found = relations_of(x[2:], weight[2:], steps, spread, pairs(padding, x[2:], weight[2:], steps, spread))
    expected = (x[0], weight[0], *(r.outputs for r in found))
    if tuple(dy) != expected:
        raise InvalidProblemError(f"dy: shape is {tuple(dy)}; expected {expected}")
    return found


@composed(out=True, dy=f"n out *space : {KINDS}", weight="out inner *taps : T")
def conv_input_grad(
    do: Steps,
    dy: TensorRef,
    weight: TensorRef,
    *,
    input_size: Extents,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: Positive = 1,
) -> TensorRef:
    """The gradient of a convolution by its input, which has the shape input_size: `conv2d_backward`'s, over any spatial axes.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, weight = np.ones((1, 1, 2), np.float32), np.float32([[[1, 10]]])
    >>> baracuda.conv_input_grad(dy, weight, input_size=(1, 1, 3)).tolist()
    [[[1.0, 11.0, 10.0]]]
    """
    relations = _relations(input_size, weight.shape, dy.shape, stride, padding, dilation, groups)
    axes = common(len(relations))
    dx = do.result(input_size, dy.kind)
    gradient_by_input(
        do, grouped_input(dy, axes, groups), grouped_weight(weight, axes, groups), grouped_input(dx, axes, groups), relations
    )
    return dx


@composed(dx="? : T", dy=f"n out *space : {KINDS}", weight="out inner *taps : T")
def conv_input_grad_backward(
    do: Steps,
    dx: TensorRef,
    dy: TensorRef,
    weight: TensorRef,
    *,
    input_size: Extents,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: Positive = 1,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `conv_input_grad`'s dy and weight, given that of its result; those named in `wrt` or both.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> one = np.ones((1, 1, 2), np.float32)
    >>> baracuda.conv_input_grad_backward(one, one, one[..., :1], input_size=(1, 1, 2), wrt=("weight",)).tolist()
    [[[2.0]]]
    """
    names = chosen(wrt, ("dy", "weight"))
    relations = _relations(input_size, weight.shape, dy.shape, stride, padding, dilation, groups)
    if dx.shape != tuple(input_size):
        raise InvalidProblemError(f"dx: shape is {dx.shape}; expected {tuple(input_size)}")
    axes = common(len(relations))
    return one_or_all([_by(do, name, dx, dy, weight, relations, axes, groups) for name in names])


def _by(
    do: Steps, name: str, x: TensorRef, dy: TensorRef, weight: TensorRef, relations: list[Relation], axes: Axes, groups: int
) -> TensorRef:
    """Of sum(conv(x, weight) * dy), the gradient by one of the three."""
    if name == "dy":
        y = do.new_like(dy)
        convolve(
            do, grouped_input(x, axes, groups), grouped_weight(weight, axes, groups), grouped_input(y, axes, groups), relations
        )
        return y
    by = grouped_input(dy, axes, groups)
    if name == "x":
        dx = do.new_like(x)
        gradient_by_input(do, by, grouped_weight(weight, axes, groups), grouped_input(dx, axes, groups), relations)
        return dx
    dw = do.new_like(weight)
    gradient_by_weight(do, by, grouped_input(x, axes, groups), grouped_weight(dw, axes, groups), relations)
    return dw


@composed(out=True, dy=f"n out *space : {KINDS}", x="n inner *spread : T")
def conv_weight_grad(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    *,
    weight_size: Extents,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: Positive = 1,
) -> TensorRef:
    """The gradient of a convolution by its weight, which has the shape weight_size: `conv2d_backward`'s, over any spatial axes.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x = np.ones((1, 1, 2), np.float32), np.float32([[[1, 2, 4]]])
    >>> baracuda.conv_weight_grad(dy, x, weight_size=(1, 1, 2)).tolist()
    [[[3.0, 6.0]]]
    """
    relations = _relations(x.shape, weight_size, dy.shape, stride, padding, dilation, groups)
    axes = common(len(relations))
    dw = do.result(weight_size, dy.kind)
    gradient_by_weight(
        do, grouped_input(dy, axes, groups), grouped_input(x, axes, groups), grouped_weight(dw, axes, groups), relations
    )
    return dw


@composed(dweight="? : T", dy=f"n out *space : {KINDS}", x="n inner *spread : T")
def conv_weight_grad_backward(
    do: Steps,
    dweight: TensorRef,
    dy: TensorRef,
    x: TensorRef,
    *,
    weight_size: Extents,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: Positive = 1,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `conv_weight_grad`'s dy and x, given that of its result; those named in `wrt` or both.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> one = np.ones((1, 1, 2), np.float32)
    >>> baracuda.conv_weight_grad_backward(one[..., :1], one, one, weight_size=(1, 1, 1), wrt=("dy",)).tolist()
    [[[1.0, 1.0]]]
    """
    names = chosen(wrt, ("dy", "x"))
    relations = _relations(x.shape, weight_size, dy.shape, stride, padding, dilation, groups)
    if dweight.shape != tuple(weight_size):
        raise InvalidProblemError(f"dweight: shape is {dweight.shape}; expected {tuple(weight_size)}")
    axes = common(len(relations))
    return one_or_all([_by(do, name, x, dy, dweight, relations, axes, groups) for name in names])


#: (time, batch, channels) and the weight (taps, channels, output channels).
_TIME, _TAPS = Axes(1, 2, (0,)), Axes(2, 1, (0,))


@composed(out=True, x=f"time n inner : {KINDS}", weight="taps inner out : T", bias="out : T")
def conv_tbc(do: Steps, x: TensorRef, weight: TensorRef, bias: Given = None, pad: int = 0) -> TensorRef:
    """A convolution along the first axis: x of shape (time, n, channels), weight (taps, channels, out), bias (out,).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.float32([1, 2, 4]).reshape(3, 1, 1), np.float32([1, 10]).reshape(2, 1, 1)
    >>> baracuda.conv_tbc(x, weight).ravel().tolist()
    [21.0, 42.0]
    """
    relations = relations_of(x.shape[:1], weight.shape[:1], (1,), (1,), ((pad, pad),))
    check_vector("bias", bias, weight.shape[2])
    y = do.result((relations[0].outputs, x.shape[1], weight.shape[2]), x.kind)
    convolve(
        do, grouped_input(x, _TIME, 1), grouped_weight(weight, _TAPS, 1), grouped_input(y, _TIME, 1), relations,
        bias=grouped_vector(bias, 1),
    )  # fmt: skip
    return y


@composed(dy="? : T", x=f"time n inner : {KINDS}", weight="taps inner out : T", bias="out : T")
def conv_tbc_backward(
    do: Steps, dy: TensorRef, x: TensorRef, weight: TensorRef, bias: Given = None, pad: int = 0, *, wrt: Wrt = None
) -> Any:
    """The gradients of `conv_tbc`'s x, weight and bias, those named in `wrt` or of all tensors that are given, in this order.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.float32([1, 2, 4]).reshape(3, 1, 1), np.float32([1, 10]).reshape(2, 1, 1)
    >>> baracuda.conv_tbc_backward(x[:2], x, weight, wrt=("x",)).ravel().tolist()
    [1.0, 12.0, 20.0]
    """
    names = chosen(wrt, ("x", "weight", "bias") if bias is not None else ("x", "weight"))
    relations = relations_of(x.shape[:1], weight.shape[:1], (1,), (1,), ((pad, pad),))
    expected = (relations[0].outputs, x.shape[1], weight.shape[2])
    if dy.shape != expected:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {expected}")
    by = grouped_input(dy, _TIME, 1)

    def gradient(name: str) -> TensorRef:
        if name == "bias":
            return gradient_by_bias(do, dy, 2)
        if name == "x":
            gradient_by_input(do, by, grouped_weight(weight, _TAPS, 1), grouped_input(dx := do.new_like(x), _TIME, 1), relations)
            return dx
        into = grouped_weight(dw := do.new_like(weight), _TAPS, 1)
        gradient_by_weight(do, by, grouped_input(x, _TIME, 1), into, relations)
        return dw

    return one_or_all([gradient(name) for name in names])
