"""max_unpool1d, max_unpool2d and max_unpool3d."""

from __future__ import annotations

from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import Bounds
from baracuda.ops.pooling.geometry import Padding, Sizes, Strides
from baracuda.ops.pooling.places import OutputShape, unpool_backward, unpool_forward


@composed(x="c n or batch c n", indices="? : s64 s32", out=True)
def max_unpool1d(
    do: Steps,
    x: TensorRef,
    indices: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    output_size: OutputShape = None,
    *,
    whole_indices: bool = False,
    channels_last: bool = False,
    bounds: Bounds = "check",
) -> Any:
    """The opposite of `max_pool1d`; see `max_unpool2d`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.max_unpool1d(np.float32([[5, 7]]), np.array([[1, 2]]), 2).tolist()
    [[0.0, 5.0, 7.0, 0.0]]
    """
    return unpool_forward(do, x, indices, 1, kernel_size, stride, padding, output_size, whole_indices, channels_last, bounds)


@composed(dy="? : T", x="c n or batch c n : T float complex", indices="? : s64 s32")
def max_unpool1d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    indices: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    output_size: OutputShape = None,
    *,
    whole_indices: bool = False,
    channels_last: bool = False,
    bounds: Bounds = "check",
) -> Any:
    """The gradient of `max_unpool1d`'s x: dy at the index of each element that stayed, 0 for those that another took the place
    of."""
    return unpool_backward(dy, do, x, indices, 1, kernel_size, stride, padding, output_size, whole_indices, channels_last, bounds)


@composed(x="c h w or batch c h w", indices="? : s64 s32", out=True)
def max_unpool2d(
    do: Steps,
    x: TensorRef,
    indices: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    output_size: OutputShape = None,
    *,
    whole_indices: bool = False,
    channels_last: bool = False,
    bounds: Bounds = "check",
) -> Any:
    """The opposite of `max_pool2d`: zeros, and the elements of x where their indices say, which number the elements of a
    channel, or with whole_indices those of the whole result, as in ONNX.

    The extents of the result are (n - 1) * stride - 2 * padding + kernel_size, or those of output_size, which may be the spatial
    extents or the whole shape. Of several elements with one index the last stays. An index out of range is an
    `InvalidProblemError` (on a GPU when values are next read on the host); with bounds="clamp" it is brought into range.
    Sources: torch.nn.functional.max_unpool2d, ONNX MaxUnpool.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.max_unpool2d(np.float32([[[7]]]), np.array([[[2]]]), 2).tolist()
    [[[0.0, 0.0], [7.0, 0.0]]]
    """
    return unpool_forward(do, x, indices, 2, kernel_size, stride, padding, output_size, whole_indices, channels_last, bounds)


@composed(dy="? : T", x="c h w or batch c h w : T float complex", indices="? : s64 s32")
def max_unpool2d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    indices: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    output_size: OutputShape = None,
    *,
    whole_indices: bool = False,
    channels_last: bool = False,
    bounds: Bounds = "check",
) -> Any:
    """The gradient of `max_unpool2d`'s x: dy at the index of each element that stayed, 0 for those that another took the place
    of."""
    return unpool_backward(dy, do, x, indices, 2, kernel_size, stride, padding, output_size, whole_indices, channels_last, bounds)


@composed(x="c d h w or batch c d h w", indices="? : s64 s32", out=True)
def max_unpool3d(
    do: Steps,
    x: TensorRef,
    indices: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    output_size: OutputShape = None,
    *,
    whole_indices: bool = False,
    channels_last: bool = False,
    bounds: Bounds = "check",
) -> Any:
    """The opposite of `max_pool3d`; see `max_unpool2d`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.max_unpool3d(np.float32([[[[7]]]]), np.array([[[[1]]]]), 2).sum().tolist()
    7.0
    """
    return unpool_forward(do, x, indices, 3, kernel_size, stride, padding, output_size, whole_indices, channels_last, bounds)


@composed(dy="? : T", x="c d h w or batch c d h w : T float complex", indices="? : s64 s32")
def max_unpool3d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    indices: TensorRef,
    kernel_size: Sizes,
    stride: Strides = None,
    padding: Padding = 0,
    output_size: OutputShape = None,
    *,
    whole_indices: bool = False,
    channels_last: bool = False,
    bounds: Bounds = "check",
) -> Any:
    """The gradient of `max_unpool3d`'s x: dy at the index of each element that stayed, 0 for those that another took the place
    of."""
    return unpool_backward(dy, do, x, indices, 3, kernel_size, stride, padding, output_size, whole_indices, channels_last, bounds)
