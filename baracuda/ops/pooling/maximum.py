"""max_pool1d, max_pool2d and max_pool3d."""

from __future__ import annotations

from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.pooling.geometry import AutoPad, Padding, Sizes, Strides
from baracuda.ops.pooling.maxima import StorageOrder, max_backward, max_forward, max_pools


@composed(x="c n or batch c n")
def max_pool1d(
    do: Steps,
    x: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    auto_pad: AutoPad = "NOTSET",
    storage_order: StorageOrder = 0,
    whole_indices: bool = False,
    channels_last: bool = False,
) -> Any:
    """The largest element of each window along the last axis; see `max_pool2d`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.max_pool1d(np.float32([[1, 3, 7, 5]]), 2).tolist()
    [[3.0, 7.0]]
    """
    found = max_pools(
        x.shape, 1, kernel_size, stride, padding, dilation, ceil_mode, auto_pad, storage_order, whole_indices, channels_last
    )
    return max_forward(do, x, found, return_indices=return_indices)


@composed(dy="? : float", x="c n or batch c n : float", indices="? : s64 s32", out=True)
def max_pool1d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    *,
    indices: Given = None,
    auto_pad: AutoPad = "NOTSET",
    storage_order: StorageOrder = 0,
    whole_indices: bool = False,
    channels_last: bool = False,
) -> Any:
    """The gradient of `max_pool1d`'s x: of each element the sum of dy, in rising order, over the windows whose index names it.
    The indices are those that the forward returned with these options; without them they are computed again. Nothing is added
    atomically."""
    found = max_pools(
        x.shape, 1, kernel_size, stride, padding, dilation, ceil_mode, auto_pad, storage_order, whole_indices, channels_last
    )
    return max_backward(do, dy, x, indices, found)


@composed(x="c h w or batch c h w")
def max_pool2d(
    do: Steps,
    x: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    auto_pad: AutoPad = "NOTSET",
    storage_order: StorageOrder = 0,
    whole_indices: bool = False,
    channels_last: bool = False,
) -> Any:
    """The largest element of each window; with return_indices also where it is, as s64.

    x has shape (batch, c, h, w) or (c, h, w), or with `channels_last` the channels behind; strides may be any. Windows lie as in
    `avg_pool2d`; padding is never the largest. A NaN in a window is the result. Without indices +0 is above -0; with them the
    value is that of the element that the index names: the first of equal ones (+0 and -0 are equal), but the last NaN. An index
    is the element's number among those of its channel, counted along the last axis first, or with storage_order=1 along the first
    axis first; with whole_indices it is its number in the whole tensor, as ONNX has it. A window without elements (of a dilation
    beyond the input) gives the least value, and -1.
    Any element but complex ones. Sources: torch.nn.functional.max_pool2d, ONNX MaxPool.

    Raises `InvalidProblemError` for an input that no window fits, or padding as large as a window.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.max_pool2d(np.float32([[[1, 3], [7, 5]]]), 2, return_indices=True)[1].tolist()
    [[[2]]]
    """
    found = max_pools(
        x.shape, 2, kernel_size, stride, padding, dilation, ceil_mode, auto_pad, storage_order, whole_indices, channels_last
    )
    return max_forward(do, x, found, return_indices=return_indices)


@composed(dy="? : float", x="c h w or batch c h w : float", indices="? : s64 s32", out=True)
def max_pool2d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    *,
    indices: Given = None,
    auto_pad: AutoPad = "NOTSET",
    storage_order: StorageOrder = 0,
    whole_indices: bool = False,
    channels_last: bool = False,
) -> Any:
    """The gradient of `max_pool2d`'s x: of each element the sum of dy, in rising order, over the windows whose index names it.
    The indices are those that the forward returned with these options; without them they are computed again. Nothing is added
    atomically."""
    found = max_pools(
        x.shape, 2, kernel_size, stride, padding, dilation, ceil_mode, auto_pad, storage_order, whole_indices, channels_last
    )
    return max_backward(do, dy, x, indices, found)


@composed(x="c d h w or batch c d h w")
def max_pool3d(
    do: Steps,
    x: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    auto_pad: AutoPad = "NOTSET",
    storage_order: StorageOrder = 0,
    whole_indices: bool = False,
    channels_last: bool = False,
) -> Any:
    """The largest element of each window along the last three axes; see `max_pool2d`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.max_pool3d(np.arange(8.0).reshape(1, 2, 2, 2), 2).tolist()
    [[[[7.0]]]]
    """
    found = max_pools(
        x.shape, 3, kernel_size, stride, padding, dilation, ceil_mode, auto_pad, storage_order, whole_indices, channels_last
    )
    return max_forward(do, x, found, return_indices=return_indices)


@composed(dy="? : float", x="c d h w or batch c d h w : float", indices="? : s64 s32", out=True)
def max_pool3d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    *,
    indices: Given = None,
    auto_pad: AutoPad = "NOTSET",
    storage_order: StorageOrder = 0,
    whole_indices: bool = False,
    channels_last: bool = False,
) -> Any:
    """The gradient of `max_pool3d`'s x: of each element the sum of dy, in rising order, over the windows whose index names it.
    The indices are those that the forward returned with these options; without them they are computed again. Nothing is added
    atomically."""
    found = max_pools(
        x.shape, 3, kernel_size, stride, padding, dilation, ceil_mode, auto_pad, storage_order, whole_indices, channels_last
    )
    return max_backward(do, dy, x, indices, found)
