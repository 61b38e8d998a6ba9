"""Convolutions and pooling."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import baracuda
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.onnx.operators.registry import Ints, Wanted, operator
from baracuda.onnx.operators.values import Host, Tensor, ints

AutoPad = Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]


def _by_rank(x: Tensor, *functions: Callable[..., Any]) -> Callable[..., Any]:
    axes = len(x.shape) - 2
    if not 1 <= axes <= len(functions):
        raise UnsupportedError(f"x of shape {tuple(x.shape)}; expected 1 to {len(functions)} axes behind samples and channels")
    return functions[axes - 1]


def pairs(pads: tuple[int, ...] | None, axes: int) -> tuple[tuple[int, int], ...]:
    """What lies before and after each axis."""
    if pads is None:
        return ((0, 0),) * axes
    if len(pads) != 2 * axes:
        raise InvalidProblemError(f"pads: {pads}; expected {2 * axes}")
    return tuple(zip(pads[:axes], pads[axes:], strict=True))


def _padding(auto_pad: str, pads: tuple[int, ...] | None, axes: int) -> Any:
    words = {"SAME_UPPER": "same", "SAME_LOWER": "same_lower", "VALID": "valid"}
    return words[auto_pad] if auto_pad in words else pairs(pads, axes)


def _window(x: Tensor, auto_pad: str, dilations: Any, group: int, pads: Any, strides: Any) -> dict[str, Any]:
    axes = len(x.shape) - 2
    return {
        "stride": strides or 1,
        "padding": _padding(auto_pad, pads, axes),
        "dilation": dilations or 1,
        "groups": group,
    }


@operator("Conv")
def conv(
    x: Tensor,
    weight: Tensor,
    bias: Tensor = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """`baracuda.conv1d` to `conv3d`."""
    if kernel_shape is not None and kernel_shape != tuple(weight.shape[2:]):
        raise InvalidProblemError(f"kernel_shape: {kernel_shape}; expected that of the weight, {tuple(weight.shape[2:])}")
    function = _by_rank(x, baracuda.conv1d, baracuda.conv2d, baracuda.conv3d)
    return function(x, weight, bias, **_window(x, auto_pad, dilations, group, pads, strides))


@operator("ConvInteger", since=10)
def conv_integer(
    x: Tensor,
    weight: Tensor,
    x_zero_point: Tensor = None,
    w_zero_point: Tensor = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """`baracuda.conv_integer`."""
    window = _window(x, auto_pad, dilations, group, pads, strides)
    return baracuda.conv_integer(x, weight, x_zero_point, w_zero_point, **window)


@operator("QLinearConv", since=10)
def qlinear_conv(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    weight: Tensor,
    w_scale: Tensor,
    w_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    bias: Tensor = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """`baracuda.qlinear_conv`."""
    window = _window(x, auto_pad, dilations, group, pads, strides)
    return baracuda.qlinear_conv(x, x_scale, x_zero_point, weight, w_scale, w_zero_point, y_scale, y_zero_point, bias, **window)


@operator("ConvTranspose")
def conv_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    output_padding: Ints | None = None,
    output_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """`baracuda.conv_transpose1d` to `conv_transpose3d`."""
    axes = len(x.shape) - 2
    stride, dilation = strides or (1,) * axes, dilations or (1,) * axes
    beyond = output_padding or (0,) * axes
    if output_shape is None and auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        output_shape = tuple(n * s for n, s in zip(x.shape[2:], stride, strict=True))
    if output_shape is None:
        padding = pairs(None if auto_pad == "VALID" else pads, axes)
    else:
        whole = [
            s * (n - 1) + b + (k - 1) * d + 1
            for n, s, b, k, d in zip(x.shape[2:], stride, beyond, weight.shape[2:], dilation, strict=True)
        ]
        too_much = [w - n for w, n in zip(whole, output_shape[-axes:], strict=True)]
        padding = tuple((t // 2, t - t // 2) if auto_pad == "SAME_UPPER" else (t - t // 2, t // 2) for t in too_much)
    function = _by_rank(x, baracuda.conv_transpose1d, baracuda.conv_transpose2d, baracuda.conv_transpose3d)
    return function(x, weight, bias, stride=stride, padding=padding, output_padding=beyond, groups=group, dilation=dilation)


@operator("DeformConv", since=19)
def deform_conv(
    x: Tensor,
    weight: Tensor,
    offset: Tensor,
    bias: Tensor = None,
    mask: Tensor = None,
    *,
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    offset_group: int = 1,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """`baracuda.deform_conv2d`."""
    padding = pairs(pads, len(x.shape) - 2)
    if any(a != b for a, b in padding):
        x = baracuda.pad(x, ((0, 0), (0, 0), *padding))
        padding = ((0, 0),) * len(padding)
    before = tuple(a for a, _ in padding)
    return baracuda.deform_conv2d(
        x, offset, weight, bias, stride=strides or 1, padding=before, dilation=dilations or 1, mask=mask
    )


def _pooling(axes: int, auto_pad: str, dilations: Any, pads: Any, strides: Any, ceil_mode: bool) -> dict[str, Any]:
    return {
        "stride": strides or (1,) * axes,
        "dilation": dilations or (1,) * axes,
        "ceil_mode": ceil_mode,
        **({"padding": pairs(pads, axes)} if auto_pad == "NOTSET" else {"auto_pad": auto_pad}),
    }


@operator("MaxPool")
def max_pool(
    x: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    ceil_mode: bool = False,
    dilations: Ints | None = None,
    kernel_shape: Ints,
    pads: Ints | None = None,
    storage_order: int = 0,
    strides: Ints | None = None,
    wanted: Wanted,
) -> Any:
    """`baracuda.max_pool1d` to `max_pool3d`."""
    function = _by_rank(x, baracuda.max_pool1d, baracuda.max_pool2d, baracuda.max_pool3d)
    window = _pooling(len(kernel_shape), auto_pad, dilations, pads, strides, ceil_mode)
    if wanted < 2:
        return function(x, kernel_shape, **window)
    return function(x, kernel_shape, return_indices=True, storage_order=storage_order, whole_indices=True, **window)


@operator("AveragePool")
def average_pool(
    x: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    ceil_mode: bool = False,
    count_include_pad: bool = False,
    dilations: Ints | None = None,
    kernel_shape: Ints,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """`baracuda.avg_pool1d` to `avg_pool3d`."""
    function = _by_rank(x, baracuda.avg_pool1d, baracuda.avg_pool2d, baracuda.avg_pool3d)
    window = _pooling(len(kernel_shape), auto_pad, dilations, pads, strides, ceil_mode)
    return function(x, kernel_shape, count_include_pad=count_include_pad, **window)


@operator("LpPool", since=2)
def lp_pool(
    x: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    ceil_mode: bool = False,
    dilations: Ints | None = None,
    kernel_shape: Ints,
    p: int = 2,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """`baracuda.lp_pool1d` to `lp_pool3d`."""
    function = _by_rank(x, baracuda.lp_pool1d, baracuda.lp_pool2d, baracuda.lp_pool3d)
    return function(
        x, p, kernel_shape, absolute=True, **_pooling(len(kernel_shape), auto_pad, dilations, pads, strides, ceil_mode)
    )


@operator("GlobalAveragePool")
def global_average_pool(x: Tensor) -> Tensor:
    """`baracuda.global_avg_pool`."""
    return baracuda.global_avg_pool(x)


@operator("GlobalMaxPool")
def global_max_pool(x: Tensor) -> Tensor:
    """`baracuda.global_max_pool`."""
    return baracuda.global_max_pool(x)


@operator("GlobalLpPool", since=2)
def global_lp_pool(x: Tensor, *, p: int = 2) -> Tensor:
    """`baracuda.global_lp_pool`."""
    return baracuda.global_lp_pool(x, float(p))


@operator("MaxUnpool", since=9)
def max_unpool(
    x: Tensor,
    index: Tensor,
    output_shape: Host = None,
    *,
    kernel_shape: Ints,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """`baracuda.max_unpool1d` to `max_unpool3d`."""
    axes = len(kernel_shape)
    function = _by_rank(x, baracuda.max_unpool1d, baracuda.max_unpool2d, baracuda.max_unpool3d)
    window = {"stride": strides or (1,) * axes, "padding": pairs(pads, axes) if pads and any(pads) else 0}
    y = function(x, index, kernel_shape, whole_indices=True, **window)
    if output_shape is None:
        return y
    return baracuda.pad(y, tuple((0, m - n) for m, n in zip(ints(output_shape), y.shape, strict=True)))


@operator("MaxRoiPool")
def max_roi_pool(x: Tensor, rois: Tensor, *, pooled_shape: Ints, spatial_scale: float = 1.0) -> Tensor:
    """`baracuda.roi_pool`."""
    return baracuda.roi_pool(x, rois, (pooled_shape[0], pooled_shape[1]), spatial_scale)


@operator("Col2Im", since=18)
def col2im(
    x: Tensor,
    image_shape: Host,
    block_shape: Host,
    *,
    dilations: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """`baracuda.col2im`."""
    size, block = ints(image_shape), ints(block_shape)
    axes = len(size)
    stride, dilation, padding = strides or (1,) * axes, dilations or (1,) * axes, pairs(pads, axes)
    channels = x.shape[0] * x.shape[1] // math.prod(block)
    # axes whose windows are single elements are copied: they stand before the others, as channels do
    copied = [a for a in range(axes) if (block[a], stride[a], padding[a]) == (1, 1, (0, 0))]
    folded = [a for a in range(axes) if a not in copied] or [copied.pop()]
    counts = [
        size[a] if a in copied else (size[a] + sum(padding[a]) - dilation[a] * (block[a] - 1) - 1) // stride[a] + 1
        for a in range(axes)
    ]
    if math.prod(counts) != x.shape[2]:
        raise InvalidProblemError(f"x: {x.shape[2]} columns; expected {math.prod(counts)} windows of {block} in {size}")
    apart = baracuda.reshape(x, (channels, math.prod(block), *counts))
    ordered = baracuda.permute(apart, (0, *(2 + a for a in copied), 1, *(2 + a for a in folded)))
    first = math.prod(counts[a] for a in copied) * channels
    columns = baracuda.reshape(ordered, (first * math.prod(block), math.prod(counts[a] for a in folded)))
    y = baracuda.col2im(
        columns, tuple(size[a] for a in folded), tuple(block[a] for a in folded), tuple(dilation[a] for a in folded),
        tuple(padding[a] for a in folded), tuple(stride[a] for a in folded),
    )  # fmt: skip
    order = [*copied, *folded]
    whole = baracuda.reshape(y, (channels, *(size[a] for a in order)))
    turned = baracuda.permute(whole, (0, *(1 + order.index(a) for a in range(axes))))
    return baracuda.reshape(turned, (x.shape[0], channels // x.shape[0], *size))
