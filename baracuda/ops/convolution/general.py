"""Convolutions with every option of XLA's, and gradients as ops of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
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
    span,
)
from baracuda.ops.convolution.relation import Relation
from baracuda.ops.convolution.steps import convolve, gradient_by_bias, gradient_by_input, gradient_by_weight
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.words import Positive, Wrt

#: Which axis is which: of x and y (batch, channels, spatial axes), of the weight (what it yields, channels, spatial axes).
Numbers = tuple[str, ...] | tuple[tuple[int, ...], ...] | None


def _axes(name: str, spec: Any, letters: str, rank: int, order: Sequence[str] | None) -> tuple[Axes, list[str]]:
    """Where the axes are that the first two letters and the spatial ones stand for, in the order of the weight's."""
    if not isinstance(spec, str):
        if sorted(spec) != list(range(rank + 2)):
            raise InvalidProblemError(f"dimension_numbers: {spec} of {name}; expected each of the axes 0 to {rank + 1} once")
        return Axes(spec[0], spec[1], tuple(spec[2:])), []
    spatial = [c for c in spec if c not in letters]
    if len(spec) != rank + 2 or len(set(spec)) != len(spec) or any(c not in spec for c in letters):
        raise InvalidProblemError(
            f"dimension_numbers: {spec!r} of {name}; expected {rank + 2} different letters, {' and '.join(letters)} among them"
        )
    order = order or spatial
    if sorted(order) != sorted(spatial):
        raise InvalidProblemError(f"dimension_numbers: {spec!r} of {name}; expected the spatial axes {', '.join(order)}")
    return Axes(spec.index(letters[0]), spec.index(letters[1]), tuple(spec.index(c) for c in order)), list(order)


class _Problem(NamedTuple):
    x: Axes
    weight: Axes
    y: Axes
    relations: list[Relation]
    columns: int
    batch: int

    def shape(self) -> tuple[int, ...]:
        """That of the result."""
        found = [0] * (len(self.relations) + 2)
        found[self.y.first], found[self.y.channels] = self.batch, self.columns
        for a, r in zip(self.y.spatial, self.relations, strict=True):
            found[a] = r.outputs
        return tuple(found)


def _problem(
    x: TensorRef, weight: TensorRef, window_strides: Each, padding: Padding, lhs_dilation: Each, rhs_dilation: Each,
    dimension_numbers: Any, feature_group_count: int, batch_group_count: int,
) -> _Problem:  # fmt: skip
    rank = len(x.shape) - 2
    if dimension_numbers is None:
        x_axes = weight_axes = y_axes = common(rank)
    else:
        if len(dimension_numbers) != 3:
            raise InvalidProblemError(f"dimension_numbers: {dimension_numbers}; expected three: of x, weight and the result")
        weight_axes, order = _axes("weight", dimension_numbers[1], "OI", rank, None)
        x_axes, _ = _axes("x", dimension_numbers[0], "NC", rank, order)
        y_axes, _ = _axes("the result", dimension_numbers[2], "NC", rank, order)
    if feature_group_count > 1 and batch_group_count > 1:
        raise InvalidProblemError(
            f"feature_group_count, batch_group_count: {feature_group_count}, {batch_group_count}; expected one of them to be 1"
        )
    columns, batch = weight.shape[weight_axes.first], x.shape[x_axes.first]
    check_groups(x.shape[x_axes.channels], columns, weight.shape[weight_axes.channels], feature_group_count)
    if batch % batch_group_count or columns % batch_group_count:
        raise InvalidProblemError(
            f"batch_group_count: {batch_group_count}; expected a divisor of {batch} batches and of {columns} output channels"
        )
    inputs = [x.shape[a] for a in x_axes.spatial]
    taps = [weight.shape[a] for a in weight_axes.spatial]
    strides, base = each("window_strides", window_strides, rank), each("lhs_dilation", lhs_dilation, rank)
    spread = each("rhs_dilation", rhs_dilation, rank)
    widths = [span(n, d) if n else 0 for n, d in zip(inputs, base, strict=True)]
    relations = relations_of(inputs, taps, strides, spread, pairs(padding, widths, taps, strides, spread), base)
    return _Problem(x_axes, weight_axes, y_axes, relations, columns, batch // batch_group_count)


@composed(out=True, x=f"n c *space : {KINDS}", weight="? : T", bias="? : T")
def conv_general(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    *,
    window_strides: Each = 1,
    padding: Padding = 0,
    lhs_dilation: Each = 1,
    rhs_dilation: Each = 1,
    dimension_numbers: Numbers = None,
    feature_group_count: Positive = 1,
    batch_group_count: Positive = 1,
) -> TensorRef:
    """A convolution over any number of spatial axes, with the options of `jax.lax.conv_general_dilated`.

    dimension_numbers is three words such as ("NHWC", "HWIO", "NHWC"), or for each of x, weight and the result the axes of (batch,
    channels, spatial axes), of the weight (output channels, channels, spatial axes); None: in this order. lhs_dilation puts
    holes between the elements of x: they are no elements, so that nothing is multiplied by them. With feature_group_count g the
    channels, with batch_group_count g the batches, are g groups, and each goes with its part of the output channels.

    Raises
    ------
    InvalidProblemError
        Shapes, groups and options do not fit one another.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.ones((1, 2, 2, 1), np.float32), np.ones((2, 2, 1, 3), np.float32)
    >>> baracuda.conv_general(x, weight, padding="same", dimension_numbers=("NHWC", "HWIO", "NHWC"))[0, :, :, 0].tolist()
    [[4.0, 2.0], [2.0, 1.0]]
    """
    p = _problem(
        x, weight, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count, batch_group_count
    )
    check_vector("bias", bias, p.columns)
    groups = max(feature_group_count, batch_group_count)
    y = do.result(p.shape(), x.kind)
    convolve(
        do, grouped_input(x, p.x, feature_group_count, batch_group_count), grouped_weight(weight, p.weight, groups),
        grouped_input(y, p.y, groups), p.relations, bias=grouped_vector(bias, groups),
    )  # fmt: skip
    return y


@composed(dy="? : T", x=f"n c *space : {KINDS}", weight="? : T", bias="? : T")
def conv_general_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    *,
    window_strides: Each = 1,
    padding: Padding = 0,
    lhs_dilation: Each = 1,
    rhs_dilation: Each = 1,
    dimension_numbers: Numbers = None,
    feature_group_count: Positive = 1,
    batch_group_count: Positive = 1,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `conv_general`'s x, weight and bias, those named in `wrt` or of all tensors that are given, in this order.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.ones((1, 1, 3), np.float32), np.ones((1, 1, 2), np.float32)
    >>> baracuda.conv_general_backward(np.ones((1, 1, 2), np.float32), x, weight, wrt=("x",)).tolist()
    [[[1.0, 2.0, 1.0]]]
    """
    names = chosen(wrt, ("x", "weight", "bias") if bias is not None else ("x", "weight"))
    p = _problem(
        x, weight, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count, batch_group_count
    )
    if dy.shape != p.shape():
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {p.shape()}")
    groups = max(feature_group_count, batch_group_count)
    by = grouped_input(dy, p.y, groups)

    def gradient(name: str) -> TensorRef:
        if name == "bias":
            return gradient_by_bias(do, dy, p.y.channels)
        if name == "x":
            into = grouped_input(dx := do.new_like(x), p.x, feature_group_count, batch_group_count)
            gradient_by_input(do, by, grouped_weight(weight, p.weight, groups), into, p.relations)
            return dx
        from_ = grouped_input(x, p.x, feature_group_count, batch_group_count)
        gradient_by_weight(do, by, from_, grouped_weight(dw := do.new_like(weight), p.weight, groups), p.relations)
        return dw

    return one_or_all([gradient(name) for name in names])


@composed(out=True, x=f"n c h w : {KINDS}", weight="? : T", bias="? : T")
def depthwise_conv2d(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    *,
    layout: Literal["NCHW", "NHWC"] = "NCHW",
) -> TensorRef:
    """A convolution of each channel by itself: weight of shape (channels * multiplier, 1, kh, kw), or (kh, kw, channels,
    multiplier) with layout "NHWC", where x is (n, h, w, channels). Output channel c * multiplier + m comes of channel c.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.ones((1, 2, 2, 2), np.float32), np.float32([1, 10]).reshape(2, 1, 1, 1)
    >>> baracuda.depthwise_conv2d(x, weight)[0, :, 0, 0].tolist()
    [1.0, 10.0]
    """
    p, views = _depthwise(x, weight, stride, padding, dilation, layout)
    check_vector("bias", bias, p.columns)
    groups = x.shape[p.x.channels]
    y = do.result(p.shape(), x.kind)
    convolve(
        do, grouped_input(x, p.x, groups), views(weight), grouped_input(y, p.y, groups), p.relations,
        bias=grouped_vector(bias, groups),
    )  # fmt: skip
    return y


def _depthwise(
    x: TensorRef, weight: TensorRef, stride: Each, padding: Padding, dilation: Each, layout: str
) -> tuple[_Problem, Any]:
    """The problem, and what makes the view (g, *t, 1, n) of a weight."""
    axes = Axes(0, 1, (2, 3)) if layout == "NCHW" else Axes(0, 3, (1, 2))
    channels = x.shape[axes.channels]
    last = layout == "NHWC"
    fits = len(weight.shape) == 4 and (weight.shape[2] == channels if last else weight.shape[1] == 1)
    columns = (weight.shape[2] * weight.shape[3] if last else weight.shape[0]) if fits else 0
    if not fits or (channels and columns % channels) or (not channels and columns):
        expected = f"(kh, kw, {channels}, multiplier)" if last else f"({channels} * multiplier, 1, kh, kw)"
        raise InvalidProblemError(f"weight: shape is {weight.shape}; expected {expected}")
    taps = weight.shape[:2] if last else weight.shape[2:]
    strides, spread = each("stride", stride, 2), each("dilation", dilation, 2)
    inputs = [x.shape[a] for a in axes.spatial]
    relations = relations_of(inputs, taps, strides, spread, pairs(padding, inputs, taps, strides, spread))

    def views(w: Any) -> Any:
        if not last:
            return grouped_weight(w, common(2), channels or 1)
        s = w.strides
        return view(w, 0, (channels, *taps, 1, w.shape[3]), (s[2], s[0], s[1], 0, s[3]))

    return _Problem(axes, common(2), axes, relations, columns, x.shape[0]), views


@composed(dy="? : T", x=f"n c h w : {KINDS}", weight="? : T", bias="? : T")
def depthwise_conv2d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    weight: TensorRef,
    bias: Given = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    *,
    layout: Literal["NCHW", "NHWC"] = "NCHW",
    wrt: Wrt = None,
) -> Any:
    """The gradients of `depthwise_conv2d`'s x, weight and bias, those named in `wrt` or of all tensors that are given.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, weight = np.ones((1, 1, 2, 2), np.float32), np.float32([3]).reshape(1, 1, 1, 1)
    >>> baracuda.depthwise_conv2d_backward(x, x, weight, wrt=("weight",)).tolist()
    [[[[4.0]]]]
    """
    names = chosen(wrt, ("x", "weight", "bias") if bias is not None else ("x", "weight"))
    p, views = _depthwise(x, weight, stride, padding, dilation, layout)
    if dy.shape != p.shape():
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {p.shape()}")
    groups = x.shape[p.x.channels]
    by = grouped_input(dy, p.y, groups)

    def gradient(name: str) -> TensorRef:
        if name == "bias":
            return gradient_by_bias(do, dy, p.y.channels)
        if name == "x":
            gradient_by_input(do, by, views(weight), grouped_input(dx := do.new_like(x), p.x, groups), p.relations)
            return dx
        gradient_by_weight(do, by, grouped_input(x, p.x, groups), views(dw := do.new_like(weight)), p.relations)
        return dw

    return one_or_all([gradient(name) for name in names])
