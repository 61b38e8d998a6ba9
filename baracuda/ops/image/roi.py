"""Regions of interest as functions."""

from __future__ import annotations

from typing import Any, Literal

from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.words import PositiveFloat
from baracuda.ops.image.regions import Regions

Size = int | tuple[int, int]
_TENSORS: dict[str, Any] = {"x": "n c h w : float", "boxes": "regions columns : float", "batch_indices": "regions : s32 s64"}


@composed(**_TENSORS, out=True)
def roi_align(
    do: Steps, x: TensorRef, boxes: TensorRef, output_size: Size, spatial_scale: PositiveFloat = 1.0, sampling_ratio: int = -1,
    aligned: bool = False, *, batch_indices: Given = None, mode: Literal["avg", "max", "max_corners"] = "avg",
) -> Any:  # fmt: skip
    """The mean, or with mode="max" the largest, of bilinear samples of each bin of each box (Mask R-CNN).

    x is (N, C, H, W); boxes are (n, 5), the number of the image, then x0, y0, x1, y1, or (n, 4) with batch_indices; the result
    is (n, C, *output_size). An image's number is held to those there are. Boxes are multiplied by spatial_scale; `aligned`
    moves them by half an element, so that elements lie at their centres. A bin has sampling_ratio**2 samples, with 0 or less
    one for each element that it covers: their largest number is then read on the host, once. Samples beyond an element outside
    of x are 0. With mode="max_corners" a bin is the largest of the elements around its samples, each times its weight.

    Source: torchvision.ops.roi_align; ONNX RoiAlign, whose half_pixel is `aligned`, and whose max is "max_corners".

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.arange(16, dtype="f").reshape(1, 1, 4, 4)
    >>> baracuda.roi_align(x, np.float32([[0, 0, 0, 4, 4]]), 2, sampling_ratio=2, aligned=True).tolist()
    [[[[2.5, 4.5], [10.5, 12.5]]]]
    """
    regions = Regions(
        do, x, boxes, batch_indices, output_size, "align", scale=spatial_scale, ratio=sampling_ratio, aligned=aligned,
        largest=mode != "avg", corners=mode == "max_corners",
    )  # fmt: skip
    y = do.result(regions.shape, x.kind)
    regions.run(y)
    return y


@composed(dy="... : float", **_TENSORS, out=True)
def roi_align_backward(
    do: Steps, dy: TensorRef, x: TensorRef, boxes: TensorRef, output_size: Size, spatial_scale: PositiveFloat = 1.0,
    sampling_ratio: int = -1, aligned: bool = False, *, batch_indices: Given = None, mode: Literal["avg", "max"] = "avg",
) -> Any:  # fmt: skip
    """The gradient of `roi_align`'s x: a sum by destination in the canonical order, positions numbered by box, bin, sample and
    tap.
    Of mode "max" all of a bin's gradient goes to its first largest sample.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, boxes = np.zeros((1, 1, 2, 2), "f"), np.float32([[0, 0, 0, 2, 2]])
    >>> baracuda.roi_align_backward(np.ones((1, 1, 1, 1), "f"), x, boxes, 1, sampling_ratio=2, aligned=True).tolist()
    [[[[0.25, 0.25], [0.25, 0.25]]]]
    """
    regions = Regions(
        do, x, boxes, batch_indices, output_size, "align", scale=spatial_scale, ratio=sampling_ratio, aligned=aligned,
        largest=mode == "max",
    )  # fmt: skip
    dx = do.result_like(x)
    regions.gradient(dy, dx)
    return dx


@composed(**_TENSORS, out=True)
def roi_pool(
    do: Steps, x: TensorRef, boxes: TensorRef, output_size: Size, spatial_scale: PositiveFloat = 1.0, *,
    batch_indices: Given = None,
) -> Any:  # fmt: skip
    """The largest element of each bin of each box (Fast R-CNN); 0 for a bin without elements.

    Tensors as in `roi_align`. Boxes times spatial_scale are rounded, halves away from 0, and hold both ends; the borders of bins
    are rounded outwards. How many elements a bin has at most is read on the host, once.

    Source: torchvision.ops.roi_pool, ONNX MaxRoiPool.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.arange(16, dtype="f").reshape(1, 1, 4, 4)
    >>> baracuda.roi_pool(x, np.float32([[0, 0, 0, 3, 3]]), 2).tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    regions = Regions(do, x, boxes, batch_indices, output_size, "pool", scale=spatial_scale)
    y = do.result(regions.shape, x.kind)
    regions.run(y)
    return y


@composed(dy="... : float", **_TENSORS, out=True)
def roi_pool_backward(
    do: Steps, dy: TensorRef, x: TensorRef, boxes: TensorRef, output_size: Size, spatial_scale: PositiveFloat = 1.0, *,
    batch_indices: Given = None,
) -> Any:  # fmt: skip
    """The gradient of `roi_pool`'s x: all of a bin's goes to its largest element, the first of equal ones.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, boxes = np.float32([[[[1, 2], [4, 3]]]]), np.float32([[0, 0, 0, 1, 1]])
    >>> baracuda.roi_pool_backward(np.ones((1, 1, 1, 1), "f"), x, boxes, 1).tolist()
    [[[[0.0, 0.0], [1.0, 0.0]]]]
    """
    regions = Regions(do, x, boxes, batch_indices, output_size, "pool", scale=spatial_scale)
    dx = do.result_like(x)
    regions.gradient(dy, dx)
    return dx


@composed(**_TENSORS, out=True)
def ps_roi_align(
    do: Steps, x: TensorRef, boxes: TensorRef, output_size: Size, spatial_scale: PositiveFloat = 1.0, sampling_ratio: int = -1, *,
    batch_indices: Given = None,
) -> Any:  # fmt: skip
    """`roi_align`, aligned, where each bin has channels of its own: of C channels, those of a result are C / bins, and bin (i,
    j) of
    channel c is of x's channel (c * rows + i) * columns + j (Light-Head R-CNN). Boxes are not widened to an element.

    Source: torchvision.ops.ps_roi_align.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.repeat(np.arange(4, dtype="f"), 16).reshape(1, 4, 4, 4)
    >>> baracuda.ps_roi_align(x, np.float32([[0, 0, 0, 4, 4]]), 2, sampling_ratio=1).tolist()
    [[[[0.0, 1.0], [2.0, 3.0]]]]
    """
    regions = Regions(do, x, boxes, batch_indices, output_size, "ps_align", scale=spatial_scale, ratio=sampling_ratio)
    y = do.result(regions.shape, x.kind)
    regions.run(y)
    return y


@composed(dy="... : float", **_TENSORS, out=True)
def ps_roi_align_backward(
    do: Steps, dy: TensorRef, x: TensorRef, boxes: TensorRef, output_size: Size, spatial_scale: PositiveFloat = 1.0,
    sampling_ratio: int = -1, *, batch_indices: Given = None,
) -> Any:  # fmt: skip
    """The gradient of `ps_roi_align`'s x, as that of `roi_align`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, boxes = np.zeros((1, 4, 4, 4), "f"), np.float32([[0, 0, 0, 4, 4]])
    >>> float(baracuda.ps_roi_align_backward(np.ones((1, 1, 2, 2), "f"), x, boxes, 2, sampling_ratio=1).sum())
    4.0
    """
    regions = Regions(do, x, boxes, batch_indices, output_size, "ps_align", scale=spatial_scale, ratio=sampling_ratio)
    dx = do.result_like(x)
    regions.gradient(dy, dx)
    return dx


@composed(**_TENSORS, out=True)
def ps_roi_pool(
    do: Steps, x: TensorRef, boxes: TensorRef, output_size: Size, spatial_scale: PositiveFloat = 1.0, *,
    batch_indices: Given = None,
) -> Any:  # fmt: skip
    """The mean of each bin of each box, each bin of channels of its own, as in `ps_roi_align` (R-FCN); 0 for one without
    elements.

    Boxes times spatial_scale are rounded, halves away from 0, and the borders of bins outwards; as in torchvision, the last row
    and the last column of x are in no bin. How many elements a bin has at most is read on the host, once.

    Source: torchvision.ops.ps_roi_pool.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.repeat(np.arange(4, dtype="f"), 25).reshape(1, 4, 5, 5)
    >>> baracuda.ps_roi_pool(x, np.float32([[0, 0, 0, 4, 4]]), 2).tolist()
    [[[[0.0, 1.0], [2.0, 3.0]]]]
    """
    regions = Regions(do, x, boxes, batch_indices, output_size, "ps_pool", scale=spatial_scale)
    y = do.result(regions.shape, x.kind)
    regions.run(y)
    return y


@composed(dy="... : float", **_TENSORS, out=True)
def ps_roi_pool_backward(
    do: Steps, dy: TensorRef, x: TensorRef, boxes: TensorRef, output_size: Size, spatial_scale: PositiveFloat = 1.0, *,
    batch_indices: Given = None,
) -> Any:  # fmt: skip
    """The gradient of `ps_roi_pool`'s x, of the bins that `ps_roi_pool` has (torchvision's gradient has others at the edge).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, boxes = np.zeros((1, 4, 5, 5), "f"), np.float32([[0, 0, 0, 4, 4]])
    >>> float(baracuda.ps_roi_pool_backward(np.ones((1, 1, 2, 2), "f"), x, boxes, 2).sum())
    4.0
    """
    regions = Regions(do, x, boxes, batch_indices, output_size, "ps_pool", scale=spatial_scale)
    dx = do.result_like(x)
    regions.gradient(dy, dx)
    return dx
