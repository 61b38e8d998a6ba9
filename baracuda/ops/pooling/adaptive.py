"""adaptive_avg_pool1d to 3d and adaptive_max_pool1d to 3d."""

from __future__ import annotations

from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.pooling.maxima import max_backward, max_forward
from baracuda.ops.pooling.shared import OutputSize, adaptive_average_backward, adaptive_averages, adaptive_maxima


@composed(x="c n or batch c n", out=True)
def adaptive_avg_pool1d(do: Steps, x: TensorRef, output_size: OutputSize, *, channels_last: bool = False) -> Any:
    """The average of each of output_size windows that share the last axis; see `adaptive_avg_pool2d`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.adaptive_avg_pool1d(np.float32([[1, 2, 3]]), 2).tolist()
    [[1.5, 2.5]]
    """
    return adaptive_averages(do, x, 1, output_size, channels_last)


@composed(dy="? : float complex", x="c n or batch c n : float complex", out=True)
def adaptive_avg_pool1d_backward(
    do: Steps, dy: TensorRef, x: TensorRef, output_size: OutputSize, *, channels_last: bool = False
) -> Any:
    """The gradient of `adaptive_avg_pool1d`'s x: of each element the sum, over the windows that show it in rising order, of dy
    divided by the window's number of elements; where that is one number for all, the sum divided by it."""
    return adaptive_average_backward(do, dy, x, 1, output_size, channels_last)


@composed(x="c n or batch c n")
def adaptive_max_pool1d(
    do: Steps, x: TensorRef, output_size: OutputSize, return_indices: bool = False, *, channels_last: bool = False
) -> Any:
    """The largest element of each of output_size windows that share the last axis; see `adaptive_max_pool2d`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.adaptive_max_pool1d(np.float32([[1, 2, 3]]), 2).tolist()
    [[2.0, 3.0]]
    """
    return max_forward(do, x, adaptive_maxima(x.shape, 1, output_size, channels_last), return_indices=return_indices)


@composed(dy="? : float", x="c n or batch c n : float", indices="? : s64 s32", out=True)
def adaptive_max_pool1d_backward(
    do: Steps, dy: TensorRef, x: TensorRef, output_size: OutputSize, *, indices: Given = None, channels_last: bool = False
) -> Any:
    """The gradient of `adaptive_max_pool1d`'s x, as that of `max_pool1d`."""
    return max_backward(do, dy, x, indices, adaptive_maxima(x.shape, 1, output_size, channels_last))


@composed(x="c h w or batch c h w", out=True)
def adaptive_avg_pool2d(do: Steps, x: TensorRef, output_size: OutputSize, *, channels_last: bool = False) -> Any:
    """The average of each of output_size windows that share the input: along an axis of n elements and m outputs, output o takes
    elements floor(o * n / m) to below ceil((o + 1) * n / m), in rising order, the last axis fastest; the sum is divided by their
    number. One output along every axis is the mean of `baracuda.mean`, in its order.

    x has shape (batch, c, h, w) or (c, h, w), or with `channels_last` the channels behind; strides may be any. output_size is one
    number, or one for each axis, where None is the input's extent. f16 and bf16 are summed in f32 and rounded once; integers
    divide towards zero; complex numbers are averaged by parts. Source: torch.nn.functional.adaptive_avg_pool2d.

    Raises `InvalidProblemError` for an axis of extent 0 that outputs share.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.adaptive_avg_pool2d(np.float32([[[1, 3], [5, 7]]]), (1, 2)).tolist()
    [[[3.0, 5.0]]]
    """
    return adaptive_averages(do, x, 2, output_size, channels_last)


@composed(dy="? : float complex", x="c h w or batch c h w : float complex", out=True)
def adaptive_avg_pool2d_backward(
    do: Steps, dy: TensorRef, x: TensorRef, output_size: OutputSize, *, channels_last: bool = False
) -> Any:
    """The gradient of `adaptive_avg_pool2d`'s x: of each element the sum, over the windows that show it in rising order, of dy
    divided by the window's number of elements; where that is one number for all, the sum divided by it."""
    return adaptive_average_backward(do, dy, x, 2, output_size, channels_last)


@composed(x="c h w or batch c h w")
def adaptive_max_pool2d(
    do: Steps, x: TensorRef, output_size: OutputSize, return_indices: bool = False, *, channels_last: bool = False
) -> Any:
    """The largest element of each of output_size windows that share the input, which lie as in `adaptive_avg_pool2d`; with
    return_indices also where it is, as s64: its number within its channel. Ties, NaN and zeros as in `max_pool2d`.
    Source: torch.nn.functional.adaptive_max_pool2d.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.adaptive_max_pool2d(np.float32([[[1, 3], [5, 7]]]), (1, 2), return_indices=True)[1].tolist()
    [[[2, 3]]]
    """
    return max_forward(do, x, adaptive_maxima(x.shape, 2, output_size, channels_last), return_indices=return_indices)


@composed(dy="? : float", x="c h w or batch c h w : float", indices="? : s64 s32", out=True)
def adaptive_max_pool2d_backward(
    do: Steps, dy: TensorRef, x: TensorRef, output_size: OutputSize, *, indices: Given = None, channels_last: bool = False
) -> Any:
    """The gradient of `adaptive_max_pool2d`'s x, as that of `max_pool2d`."""
    return max_backward(do, dy, x, indices, adaptive_maxima(x.shape, 2, output_size, channels_last))


@composed(x="c d h w or batch c d h w", out=True)
def adaptive_avg_pool3d(do: Steps, x: TensorRef, output_size: OutputSize, *, channels_last: bool = False) -> Any:
    """The average of each of output_size windows that share the last three axes; see `adaptive_avg_pool2d`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.adaptive_avg_pool3d(np.arange(8.0).reshape(1, 2, 2, 2), 1).tolist()
    [[[[3.5]]]]
    """
    return adaptive_averages(do, x, 3, output_size, channels_last)


@composed(dy="? : float complex", x="c d h w or batch c d h w : float complex", out=True)
def adaptive_avg_pool3d_backward(
    do: Steps, dy: TensorRef, x: TensorRef, output_size: OutputSize, *, channels_last: bool = False
) -> Any:
    """The gradient of `adaptive_avg_pool3d`'s x: of each element the sum, over the windows that show it in rising order, of dy
    divided by the window's number of elements; where that is one number for all, the sum divided by it."""
    return adaptive_average_backward(do, dy, x, 3, output_size, channels_last)


@composed(x="c d h w or batch c d h w")
def adaptive_max_pool3d(
    do: Steps, x: TensorRef, output_size: OutputSize, return_indices: bool = False, *, channels_last: bool = False
) -> Any:
    """The largest element of each of output_size windows that share the last three axes; see `adaptive_max_pool2d`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.adaptive_max_pool3d(np.arange(8.0).reshape(1, 2, 2, 2), 1).tolist()
    [[[[7.0]]]]
    """
    return max_forward(do, x, adaptive_maxima(x.shape, 3, output_size, channels_last), return_indices=return_indices)


@composed(dy="? : float", x="c d h w or batch c d h w : float", indices="? : s64 s32", out=True)
def adaptive_max_pool3d_backward(
    do: Steps, dy: TensorRef, x: TensorRef, output_size: OutputSize, *, indices: Given = None, channels_last: bool = False
) -> Any:
    """The gradient of `adaptive_max_pool3d`'s x, as that of `max_pool3d`."""
    return max_backward(do, dy, x, indices, adaptive_maxima(x.shape, 3, output_size, channels_last))
