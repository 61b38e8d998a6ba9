"""lp_pool1d, lp_pool2d and lp_pool3d."""

from __future__ import annotations

from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.pooling.geometry import AutoPad, Padding, Sizes, Strides
from baracuda.ops.pooling.norm_order import Norm, NormOrder, lp_backward, lp_forward


@composed(x="c n or batch c n : float", out=True)
def lp_pool1d(
    do: Steps,
    x: TensorRef,
    norm_type: NormOrder,
    kernel_size: Sizes,
    stride: Strides = None,
    ceil_mode: bool = False,
    *,
    padding: Padding = 0,
    dilation: Sizes = 1,
    auto_pad: AutoPad = "NOTSET",
    absolute: bool = False,
    channels_last: bool = False,
) -> Any:
    """The norm of each window along the last axis; see `lp_pool2d`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.lp_pool1d(np.float32([[3, 4, 6, 8]]), 2, 2).tolist()
    [[5.0, 10.0]]
    """
    found = Norm(x.shape, 1, norm_type, absolute, kernel_size, stride, padding, dilation, ceil_mode, auto_pad, channels_last)
    return lp_forward(do, x, found)


@composed(dy="? : float", x="c n or batch c n : float", out=True)
def lp_pool1d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    norm_type: NormOrder,
    kernel_size: Sizes,
    stride: Strides = None,
    ceil_mode: bool = False,
    *,
    padding: Padding = 0,
    dilation: Sizes = 1,
    auto_pad: AutoPad = "NOTSET",
    absolute: bool = False,
    channels_last: bool = False,
) -> Any:
    """The gradient of `lp_pool1d`'s x: x**(norm_type - 1) times the sum, over the windows that show it in rising order, of
    dy * y**(1 - norm_type); 0 where y is 0."""
    found = Norm(x.shape, 1, norm_type, absolute, kernel_size, stride, padding, dilation, ceil_mode, auto_pad, channels_last)
    return lp_backward(do, dy, x, found)


@composed(x="c h w or batch c h w : float", out=True)
def lp_pool2d(
    do: Steps,
    x: TensorRef,
    norm_type: NormOrder,
    kernel_size: Sizes,
    stride: Strides = None,
    ceil_mode: bool = False,
    *,
    padding: Padding = 0,
    dilation: Sizes = 1,
    auto_pad: AutoPad = "NOTSET",
    absolute: bool = False,
    channels_last: bool = False,
) -> Any:
    """The norm of each window: (sum of x**norm_type)**(1 / norm_type), the powers added in rising order.

    Windows lie as in `avg_pool2d`, shapes and layouts are as there. A window that ceil_mode lets reach beyond the input stands
    for a whole one: its sum is divided by the number of its elements and multiplied by that of a window's. With `absolute` the
    powers are those of |x|, as in ONNX, which makes a difference where norm_type is not even: PyTorch's are those of x, and the
    root of a negative sum is NaN. Sources: torch.nn.functional.lp_pool2d, ONNX LpPool.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.lp_pool2d(np.float32([[[1, 3], [5, 1]]]), 2, 2).tolist()
    [[[6.0]]]
    """
    found = Norm(x.shape, 2, norm_type, absolute, kernel_size, stride, padding, dilation, ceil_mode, auto_pad, channels_last)
    return lp_forward(do, x, found)


@composed(dy="? : float", x="c h w or batch c h w : float", out=True)
def lp_pool2d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    norm_type: NormOrder,
    kernel_size: Sizes,
    stride: Strides = None,
    ceil_mode: bool = False,
    *,
    padding: Padding = 0,
    dilation: Sizes = 1,
    auto_pad: AutoPad = "NOTSET",
    absolute: bool = False,
    channels_last: bool = False,
) -> Any:
    """The gradient of `lp_pool2d`'s x: x**(norm_type - 1) times the sum, over the windows that show it in rising order, of
    dy * y**(1 - norm_type); 0 where y is 0."""
    found = Norm(x.shape, 2, norm_type, absolute, kernel_size, stride, padding, dilation, ceil_mode, auto_pad, channels_last)
    return lp_backward(do, dy, x, found)


@composed(x="c d h w or batch c d h w : float", out=True)
def lp_pool3d(
    do: Steps,
    x: TensorRef,
    norm_type: NormOrder,
    kernel_size: Sizes,
    stride: Strides = None,
    ceil_mode: bool = False,
    *,
    padding: Padding = 0,
    dilation: Sizes = 1,
    auto_pad: AutoPad = "NOTSET",
    absolute: bool = False,
    channels_last: bool = False,
) -> Any:
    """The norm of each window along the last three axes; see `lp_pool2d`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.lp_pool3d(np.ones((1, 2, 2, 1)), 2, (2, 2, 1)).tolist()
    [[[[2.0]]]]
    """
    found = Norm(x.shape, 3, norm_type, absolute, kernel_size, stride, padding, dilation, ceil_mode, auto_pad, channels_last)
    return lp_forward(do, x, found)


@composed(dy="? : float", x="c d h w or batch c d h w : float", out=True)
def lp_pool3d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    norm_type: NormOrder,
    kernel_size: Sizes,
    stride: Strides = None,
    ceil_mode: bool = False,
    *,
    padding: Padding = 0,
    dilation: Sizes = 1,
    auto_pad: AutoPad = "NOTSET",
    absolute: bool = False,
    channels_last: bool = False,
) -> Any:
    """The gradient of `lp_pool3d`'s x: x**(norm_type - 1) times the sum, over the windows that show it in rising order, of
    dy * y**(1 - norm_type); 0 where y is 0."""
    found = Norm(x.shape, 3, norm_type, absolute, kernel_size, stride, padding, dilation, ceil_mode, auto_pad, channels_last)
    return lp_backward(do, dy, x, found)
