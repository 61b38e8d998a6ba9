"""fractional_max_pool2d and fractional_max_pool3d."""

from __future__ import annotations

from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.pooling.geometry import Sizes
from baracuda.ops.pooling.placed import Fractional, OutputRatio, OutputSizes, fractional_backward, fractional_forward


@composed(x="c h w or batch c h w : float", _random_samples="? : float")
def fractional_max_pool2d(
    do: Steps,
    x: TensorRef,
    kernel_size: Sizes,
    output_size: OutputSizes = None,
    output_ratio: OutputRatio = None,
    return_indices: bool = False,
    _random_samples: Given = None,
    *,
    channels_last: bool = False,
) -> Any:
    """The largest element of windows of kernel_size whose places are drawn: along an axis of n elements and m outputs window o
    begins at int((o + u) * a) - int(u * a), where a = (n - kernel_size) / (m - 1), and the last one at n - kernel_size,
    computed in the kind that the samples compute in. `_random_samples`, of shape (batch, c, 2), has u of every channel, in 0
    ... 1, for the columns and for the rows, in this order, as in PyTorch (of three axes in the order of the axes). The extent
    of the output is output_size, or int(n * output_ratio).

    With return_indices also where they are, as s64: the number within its channel. Ties and NaN as in `max_pool2d`.
    Source: torch.nn.functional.fractional_max_pool2d.

    Raises `InvalidProblemError` without samples: the library draws none by itself, and without room for the windows.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.fractional_max_pool2d(np.arange(9.0).reshape(1, 3, 3), 2, 2, _random_samples=np.zeros((1, 1, 2))).tolist()
    [[[4.0, 5.0], [7.0, 8.0]]]
    """
    found = Fractional(x, 2, kernel_size, output_size, output_ratio, _random_samples, channels_last)
    return fractional_forward(do, x, found, return_indices)


@composed(dy="? : float", x="c h w or batch c h w : float", _random_samples="? : float", indices="? : s64 s32", out=True)
def fractional_max_pool2d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    kernel_size: Sizes,
    output_size: OutputSizes = None,
    output_ratio: OutputRatio = None,
    _random_samples: Given = None,
    *,
    indices: Given = None,
    channels_last: bool = False,
) -> Any:
    """The gradient of `fractional_max_pool2d`'s x: dy added up, in the order of `scatter_add`, where the indices say; without
    them these are computed again from the samples."""
    found = Fractional(x, 2, kernel_size, output_size, output_ratio, _random_samples, channels_last, given=indices is not None)
    return fractional_backward(do, dy, x, indices, found)


@composed(x="c d h w or batch c d h w : float", _random_samples="? : float")
def fractional_max_pool3d(
    do: Steps,
    x: TensorRef,
    kernel_size: Sizes,
    output_size: OutputSizes = None,
    output_ratio: OutputRatio = None,
    return_indices: bool = False,
    _random_samples: Given = None,
    *,
    channels_last: bool = False,
) -> Any:
    """The largest element of windows of three axes whose places are drawn; see `fractional_max_pool2d`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.fractional_max_pool3d(np.arange(8.0).reshape(1, 2, 2, 2), 2, 1, _random_samples=np.zeros((1, 1, 3))).tolist()
    [[[[7.0]]]]
    """
    found = Fractional(x, 3, kernel_size, output_size, output_ratio, _random_samples, channels_last)
    return fractional_forward(do, x, found, return_indices)


@composed(dy="? : float", x="c d h w or batch c d h w : float", _random_samples="? : float", indices="? : s64 s32", out=True)
def fractional_max_pool3d_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    kernel_size: Sizes,
    output_size: OutputSizes = None,
    output_ratio: OutputRatio = None,
    _random_samples: Given = None,
    *,
    indices: Given = None,
    channels_last: bool = False,
) -> Any:
    """The gradient of `fractional_max_pool3d`'s x: dy added up, in the order of `scatter_add`, where the indices say; without
    them these are computed again from the samples."""
    found = Fractional(x, 3, kernel_size, output_size, output_ratio, _random_samples, channels_last, given=indices is not None)
    return fractional_backward(do, dy, x, indices, found)
