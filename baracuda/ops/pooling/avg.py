"""avg_pool1d, avg_pool2d and avg_pool3d."""

from __future__ import annotations

from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.pooling.averages import averages, avg_backward, avg_forward
from baracuda.ops.pooling.geometry import AutoPad, Padding, Sizes, Strides


@composed(x="c n or batch c n", out=True)
def avg_pool1d(
    do: Steps,
    x: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    dilation: Sizes = 1,
    auto_pad: AutoPad = "NOTSET",
    channels_last: bool = False,
) -> Any:
    """The average of each window along the last axis; see `avg_pool2d`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.avg_pool1d(np.float32([[1, 3, 5, 7]]), 2).tolist()
    [[2.0, 6.0]]
    """
    found = averages(
        x.shape,
        1,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
        auto_pad,
        count_include_pad,
        divisor_override,
        channels_last,
    )
    return avg_forward(do, x, found)


@composed(dy="? : float complex", x="c n or batch c n : float complex", out=True)
def avg_pool1d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    dilation: Sizes = 1,
    auto_pad: AutoPad = "NOTSET",
    channels_last: bool = False,
) -> Any:
    """The gradient of `avg_pool1d`'s x: of each element the sum, over the windows that show it in rising order, of dy divided by
    the window's number of elements; where that is one number for all windows, the sum of dy divided by it. Nothing is added
    atomically."""
    found = averages(
        x.shape,
        1,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
        auto_pad,
        count_include_pad,
        divisor_override,
        channels_last,
    )
    return avg_backward(do, dy, x, found)


@composed(x="c h w or batch c h w", out=True)
def avg_pool2d(
    do: Steps,
    x: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    dilation: Sizes = 1,
    auto_pad: AutoPad = "NOTSET",
    channels_last: bool = False,
) -> Any:
    """The average of each window: the sum of its elements in rising order, the last axis fastest, divided by their number.

    x has shape (batch, c, h, w) or (c, h, w), or with `channels_last` the channels behind; strides may be any. An output's
    extent is floor((n + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1; ceil_mode rounds up, where the last
    window then begins within the input or the padding before it. The stride is by default the kernel's size. What a sum is
    divided by is divisor_override, or else how many elements of the window lie within the input, or with count_include_pad
    within that and its padding. Integers divide towards zero. padding may be a pair for each axis, before and after, and auto_pad
    ONNX's word for it. f16 and bf16 are summed in f32 and rounded once. Complex numbers are averaged by parts.
    Sources: torch.nn.functional.avg_pool2d, ONNX AveragePool.

    Raises `InvalidProblemError` for an input that no window fits, or padding as large as a window.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.avg_pool2d(np.float32([[[1, 3], [5, 7]]]), 2).tolist()
    [[[4.0]]]
    """
    found = averages(
        x.shape,
        2,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
        auto_pad,
        count_include_pad,
        divisor_override,
        channels_last,
    )
    return avg_forward(do, x, found)


@composed(dy="? : float complex", x="c h w or batch c h w : float complex", out=True)
def avg_pool2d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    dilation: Sizes = 1,
    auto_pad: AutoPad = "NOTSET",
    channels_last: bool = False,
) -> Any:
    """The gradient of `avg_pool2d`'s x: of each element the sum, over the windows that show it in rising order, of dy divided by
    the window's number of elements; where that is one number for all windows, the sum of dy divided by it. Nothing is added
    atomically."""
    found = averages(
        x.shape,
        2,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
        auto_pad,
        count_include_pad,
        divisor_override,
        channels_last,
    )
    return avg_backward(do, dy, x, found)


@composed(x="c d h w or batch c d h w", out=True)
def avg_pool3d(
    do: Steps,
    x: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    dilation: Sizes = 1,
    auto_pad: AutoPad = "NOTSET",
    channels_last: bool = False,
) -> Any:
    """The average of each window along the last three axes; see `avg_pool2d`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.avg_pool3d(np.arange(8.0).reshape(1, 2, 2, 2), 2).tolist()
    [[[[3.5]]]]
    """
    found = averages(
        x.shape,
        3,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
        auto_pad,
        count_include_pad,
        divisor_override,
        channels_last,
    )
    return avg_forward(do, x, found)


@composed(dy="? : float complex", x="c d h w or batch c d h w : float complex", out=True)
def avg_pool3d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    dilation: Sizes = 1,
    auto_pad: AutoPad = "NOTSET",
    channels_last: bool = False,
) -> Any:
    """The gradient of `avg_pool3d`'s x: of each element the sum, over the windows that show it in rising order, of dy divided by
    the window's number of elements; where that is one number for all windows, the sum of dy divided by it. Nothing is added
    atomically."""
    found = averages(
        x.shape,
        3,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
        auto_pad,
        count_include_pad,
        divisor_override,
        channels_last,
    )
    return avg_backward(do, dy, x, found)
