"""Images: resizing, sampling, boxes."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

import baracuda
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.onnx.operators.registry import Floats, Ints, operator
from baracuda.onnx.operators.values import Host, Tensor, host, ints, scalar


def _resized(
    x: Tensor, scales: tuple[float, ...] | None, sizes: tuple[int, ...] | None, axes: tuple[int, ...], mode: str, **options: Any
) -> Tensor:
    if options.get("antialias") and not options.pop("exclude_outside", False) and mode in ("linear", "cubic"):
        return _filtered_with_edges(x, scales, sizes, axes, mode, **options)
    if sizes is not None:
        return baracuda.interpolate(x, size=sizes, mode=mode, axes=axes, **options)
    if scales is None:
        raise InvalidProblemError("Resize has neither scales nor sizes")
    return baracuda.interpolate(x, scale_factor=scales, mode=mode, axes=axes, **options)


def _filtered_with_edges(
    x: Tensor,
    scales: Any,
    sizes: Any,
    axes: tuple[int, ...],
    mode: str,
    *,
    coordinates: str,
    aspect: str = "stretch",
    **options: Any,
) -> Tensor:
    """An antialiased Resize in which the edge stands for what lies outside, where `baracuda.interpolate` weighs what is inside.

    x is widened by its edges as far as the filter reaches, and places are counted from where it lay.
    """
    if coordinates not in ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"):
        raise UnsupportedError(f"Resize: antialias with coordinate_transformation_mode {coordinates!r} is not served")
    extents = [x.shape[a] for a in axes]
    if sizes is not None and aspect != "stretch":
        ratio = (min if aspect == "not_larger" else max)(m / n for m, n in zip(sizes, extents, strict=True))
        scales, sizes = (ratio,) * len(axes), tuple(math.floor(ratio * n + 0.5) for n in extents)
    if scales is None and sizes is None:
        raise InvalidProblemError("Resize has neither scales nor sizes")
    made = sizes or tuple(math.floor(n * s) for n, s in zip(extents, scales, strict=True))
    starts, ends, over, to, pads = [], [], [], [], []
    for i, (a, n, m) in enumerate(zip(axes, extents, made, strict=True)):
        by = 1 / scales[i] if scales is not None else n / m
        first = (
            by / 2 - 0.5
            if (coordinates in ("half_pixel", "pytorch_half_pixel") and m > 1) or coordinates == "half_pixel"
            else 0.0
        )
        if coordinates == "align_corners":
            by = (n - 1) / (m - 1) if m > 1 else 0.0
        if n == m and by == 1.0 and first == 0.0:
            continue
        wide = math.ceil((1 if mode == "linear" else 2) * max(by, 1.0)) + 1
        last = n + 2 * wide - 1
        starts.append((first + wide) / last)
        ends.append((first + wide + (m - 1) * by) / last)
        over.append(a)
        to.append(m)
        pads.append((wide, wide))
    if not over:
        return x
    padded = baracuda.pad(x, tuple(pads), "edge", axes=tuple(over))
    return baracuda.interpolate(
        padded, size=tuple(to), mode=mode, axes=tuple(over), coordinates="tf_crop_and_resize", roi=(*starts, *ends), **options
    )


def _floats(x: Tensor) -> tuple[float, ...] | None:
    return None if x is None or 0 in x.shape else tuple(float(v) for v in host(x).reshape(-1))


@operator("Upsample", since=7)
def upsample_by_attribute(x: Tensor, *, mode: Literal["nearest", "linear"] = "nearest", scales: Floats) -> Tensor:
    """`baracuda.interpolate`, places counted from the first element's."""
    return upsample(x, np.asarray(scales, np.float32), mode=mode)


@operator("Upsample", since=9)
def upsample(x: Tensor, scales: Host, *, mode: Literal["nearest", "linear"] = "nearest") -> Tensor:
    """`baracuda.interpolate`, places counted from the first element's."""
    axes = tuple(range(len(x.shape)))
    options = {"nearest_mode": "floor"} if mode == "nearest" else {}
    return _resized(x, _floats(scales), None, axes, mode, coordinates="asymmetric", **options)


@operator("Resize", since=10)
def resize_by_scales(x: Tensor, scales: Host, *, mode: Literal["nearest", "linear"] = "nearest") -> Tensor:
    """Resize of version 10 is Upsample, and makes smaller too."""
    return upsample(x, scales, mode=mode)


@operator("Resize", since=11)
def resize(
    x: Tensor,
    roi: Host = None,
    scales: Host = None,
    sizes: Host = None,
    *,
    antialias: bool = False,
    axes: Ints | None = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: bool = False,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: Literal["nearest", "linear", "cubic"] = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Tensor:
    """`baracuda.interpolate`."""
    over = axes if axes is not None else tuple(range(len(x.shape)))
    options: dict[str, Any] = {"coordinates": coordinate_transformation_mode, "antialias": antialias}
    if coordinate_transformation_mode == "tf_crop_and_resize":
        options |= {"roi": _floats(roi), "extrapolation_value": extrapolation_value}
    if mode == "cubic":
        options |= {"cubic_coeff_a": cubic_coeff_a}
    if mode == "nearest":
        options |= {"nearest_mode": nearest_mode}
    if exclude_outside:
        options |= {"exclude_outside": exclude_outside}
    to = None if sizes is None or 0 in sizes.shape else ints(sizes)
    if to is not None and keep_aspect_ratio_policy != "stretch":
        options |= {"aspect": keep_aspect_ratio_policy}
    by = _floats(scales)
    if coordinate_transformation_mode == "tf_crop_and_resize":  # axes that stay as they are need no place
        part = options["roi"] or (0.0,) * len(over) + (1.0,) * len(over)
        count = len(over)
        kept = [
            i
            for i, a in enumerate(over)
            if (part[i], part[count + i]) != (0.0, 1.0)
            or (to[i] != x.shape[a] if to is not None else by is not None and by[i] != 1.0)
        ]
        if not kept:
            return x
        over = tuple(over[i] for i in kept)
        to = None if to is None else tuple(to[i] for i in kept)
        by = None if by is None else tuple(by[i] for i in kept)
        options["roi"] = tuple(part[i] for i in kept) + tuple(part[count + i] for i in kept)
    return _resized(x, by, to, over, mode, **options)


_GRID_MODES = {"bilinear": "bilinear", "linear": "bilinear", "nearest": "nearest", "bicubic": "bicubic", "cubic": "bicubic"}


@operator("GridSample", since=16)
def grid_sample(
    x: Tensor,
    grid: Tensor,
    *,
    align_corners: bool = False,
    mode: Literal["bilinear", "linear", "nearest", "bicubic", "cubic"] = "bilinear",
    padding_mode: Literal["zeros", "border", "reflection"] = "zeros",
) -> Tensor:
    """`baracuda.grid_sample`."""
    return baracuda.grid_sample(x, grid, _GRID_MODES[mode], padding_mode, align_corners)


@operator("AffineGrid", since=20)
def affine_grid(theta: Tensor, size: Host, *, align_corners: bool = False) -> Tensor:
    """`baracuda.affine_grid`."""
    return baracuda.affine_grid(theta, ints(size), align_corners)


def _roi_align(
    x: Tensor, rois: Tensor, batch: Tensor, mode: str, size: tuple[int, int], sampling: int, scale: float, aligned: bool
) -> Tensor:
    words = {"batch_indices": batch, "mode": "max_corners" if mode == "max" else mode}
    return baracuda.roi_align(x, rois, size, scale, sampling, aligned, **words)


@operator("RoiAlign", since=10)
def roi_align_by_edges(
    x: Tensor,
    rois: Tensor,
    batch: Tensor,
    *,
    mode: Literal["avg", "max"] = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Tensor:
    """`baracuda.roi_align`, boxes from edge to edge."""
    return _roi_align(x, rois, batch, mode, (output_height, output_width), sampling_ratio, spatial_scale, False)


@operator("RoiAlign", since=16)
def roi_align(
    x: Tensor,
    rois: Tensor,
    batch: Tensor,
    *,
    coordinate_transformation_mode: Literal["half_pixel", "output_half_pixel"] = "half_pixel",
    mode: Literal["avg", "max"] = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Tensor:
    """`baracuda.roi_align`."""
    aligned = coordinate_transformation_mode == "half_pixel"
    return _roi_align(x, rois, batch, mode, (output_height, output_width), sampling_ratio, spatial_scale, aligned)


@operator("NonMaxSuppression", since=10)
def non_max_suppression(
    boxes: Tensor,
    scores: Tensor,
    max_output: Host = None,
    iou_threshold: Host = None,
    score_threshold: Host = None,
    *,
    center_point_box: bool = False,
) -> Tensor:
    """`baracuda.nms` of each class of each image."""
    return baracuda.nms(
        boxes,
        scores,
        0.0 if iou_threshold is None else float(scalar(iou_threshold)),
        score_threshold=None if score_threshold is None else float(scalar(score_threshold)),
        max_output=0 if max_output is None else max(int(scalar(max_output)), 0),
        fmt="cxcywh" if center_point_box else "xyxy",
    )
