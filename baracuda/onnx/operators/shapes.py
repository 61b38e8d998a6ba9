"""Shapes, and elements moved without arithmetic."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

import baracuda
from baracuda.core.errors import InvalidProblemError
from baracuda.onnx.coded import moving
from baracuda.onnx.operators.registry import Ints, Wanted, operator
from baracuda.onnx.operators.values import Host, Tensor, ints, positive, scalar


@operator("Reshape", since=5)
@moving
def reshape(x: Tensor, shape: Host, *, allowzero: bool = False) -> Tensor:
    """`baracuda.reshape`."""
    return baracuda.reshape(x, ints(shape), allowzero=allowzero)


@operator("Flatten")
@moving
def flatten(x: Tensor, *, axis: int = 1) -> Tensor:
    """x as a matrix, axes before `axis` its rows."""
    at = axis if axis == len(x.shape) else positive(axis, len(x.shape))
    return baracuda.reshape(x, (math.prod(x.shape[:at]), math.prod(x.shape[at:])))


@operator("Squeeze")
@moving
def squeeze_by_attribute(x: Tensor, *, axes: Ints | None = None) -> Tensor:
    """x without axes of extent 1."""
    return _squeeze(x, axes)


@operator("Squeeze", since=13)
@moving
def squeeze(x: Tensor, axes: Host = None) -> Tensor:
    """x without axes of extent 1."""
    return _squeeze(x, None if axes is None else ints(axes))


def _squeeze(x: Tensor, axes: tuple[int, ...] | None) -> Tensor:
    over = {i for i, n in enumerate(x.shape) if n == 1} if axes is None else {positive(a, len(x.shape)) for a in axes}
    if wrong := [a for a in over if x.shape[a] != 1]:
        raise InvalidProblemError(f"axes: {wrong[0]} of shape {tuple(x.shape)}; expected an extent of 1")
    return baracuda.reshape(x, tuple(n for i, n in enumerate(x.shape) if i not in over))


@operator("Unsqueeze")
@moving
def unsqueeze_by_attribute(x: Tensor, *, axes: Ints) -> Tensor:
    """x with axes of extent 1."""
    return baracuda.unsqueeze(x, axes)


@operator("Unsqueeze", since=13)
@moving
def unsqueeze(x: Tensor, axes: Host) -> Tensor:
    """x with axes of extent 1."""
    return baracuda.unsqueeze(x, ints(axes))


@operator("Transpose")
@moving
def transpose(x: Tensor, *, perm: Ints | None = None) -> Tensor:
    """`baracuda.permute`."""
    return baracuda.permute(x, perm if perm is not None else tuple(reversed(range(len(x.shape)))))


@operator("Concat", since=4)
@moving
def concat(*x: Tensor, axis: int) -> Tensor:
    """`baracuda.concat`."""
    return baracuda.concat(x, axis=axis)


@operator("Split", since=2)
@moving
def split_by_attribute(x: Tensor, *, axis: int = 0, split: Ints | None = None, wanted: Wanted) -> tuple[Tensor, ...]:
    """`baracuda.split`."""
    return _split(x, axis, split, wanted)


@operator("Split", since=13)
@moving
def split(x: Tensor, split: Host = None, *, axis: int = 0, num_outputs: int | None = None, wanted: Wanted) -> tuple[Tensor, ...]:
    """`baracuda.split`."""
    return _split(x, axis, None if split is None else ints(split), num_outputs or wanted)


def _split(x: Tensor, axis: int, sizes: tuple[int, ...] | None, count: int) -> tuple[Tensor, ...]:
    extent = x.shape[positive(axis, len(x.shape))]
    if sizes is None:
        each = -(-extent // count)
        sizes = tuple(min(each, max(extent - i * each, 0)) for i in range(count))
    return tuple(baracuda.split(x, sizes, axis))


@operator("Slice")
@moving
def slice_by_attributes(x: Tensor, *, starts: Ints, ends: Ints, axes: Ints | None = None) -> Tensor:
    """`baracuda.slice`."""
    return baracuda.slice(x, starts, ends, axes if axes is not None else tuple(range(len(starts))))


@operator("Slice", since=10)
@moving
def slice_(x: Tensor, starts: Host, ends: Host, axes: Host = None, steps: Host = None) -> Tensor:
    """`baracuda.slice`."""
    begin, end = ints(starts), ints(ends)
    over = ints(axes) if axes is not None else tuple(range(len(begin)))
    by = ints(steps) if steps is not None else (1,) * len(begin)
    return baracuda.slice(x, begin, _reachable(end, by), over, by)


def _reachable(ends: tuple[int, ...], steps: tuple[int, ...]) -> tuple[int, ...]:
    """Python's slices take any bound, ours those of 64 bits."""
    return tuple(max(min(e, 2**62), -(2**62)) for e, _ in zip(ends, steps, strict=True))


@operator("Expand", since=8)
@moving
def expand(x: Tensor, shape: Host) -> Tensor:
    """x as often as makes it of the shape that the two broadcast to."""
    return baracuda.broadcast_to(x, np.broadcast_shapes(tuple(x.shape), ints(shape)))


@operator("Tile", since=6)
@moving
def tile(x: Tensor, repeats: Host) -> Tensor:
    """`baracuda.tile`."""
    return baracuda.tile(x, ints(repeats))


_PADS = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}


@operator("Pad", since=2)
@moving
def pad_by_attributes(
    x: Tensor, *, pads: Ints, mode: Literal["constant", "reflect", "edge"] = "constant", value: float = 0.0
) -> Tensor:
    """`baracuda.pad`."""
    return _pad(x, pads, None, mode, value)


@operator("Pad", since=11)
@moving
def pad(
    x: Tensor,
    pads: Host,
    constant_value: Host = None,
    axes: Host = None,
    *,
    mode: Literal["constant", "reflect", "edge", "wrap"] = "constant",
) -> Tensor:
    """`baracuda.pad`."""
    value = 0 if constant_value is None or not constant_value.size else scalar(constant_value)
    return _pad(x, ints(pads), None if axes is None else ints(axes), mode, value)


def _pad(x: Tensor, pads: tuple[int, ...], axes: tuple[int, ...] | None, mode: str, value: float) -> Tensor:
    over = tuple(range(len(x.shape))) if axes is None else tuple(positive(a, len(x.shape)) for a in axes)
    if len(pads) != 2 * len(over):
        raise InvalidProblemError(f"pads: {pads}; expected {2 * len(over)}, before and after each of {len(over)} axes")
    widths = tuple(zip(pads[: len(over)], pads[len(over) :], strict=True))
    if mode == "constant":
        return baracuda.pad(x, widths, mode, value, axes=over)
    return baracuda.pad(x, widths, mode, axes=over)


@operator("DepthToSpace")
def depth_to_space(x: Tensor, *, blocksize: int, mode: Literal["DCR", "CRD"] = "DCR") -> Tensor:
    """`baracuda.pixel_shuffle`."""
    return baracuda.pixel_shuffle(x, blocksize, order=mode)


@operator("SpaceToDepth")
def space_to_depth(x: Tensor, *, blocksize: int, mode: Literal["DCR", "CRD"] = "DCR") -> Tensor:
    """`baracuda.pixel_unshuffle`."""
    return baracuda.pixel_unshuffle(x, blocksize, order=mode)


@operator("Shape")
def shape(x: Tensor, *, start: int = 0, end: int | None = None) -> Tensor:
    """The extents, on the host."""
    return np.asarray(x.shape[slice(start, end)], np.int64)


@operator("Size")
def size(x: Tensor) -> Tensor:
    """The number of elements, on the host."""
    return np.asarray(math.prod(x.shape), np.int64)


@operator("Trilu", since=14)
def trilu(x: Tensor, k: Host = None, *, upper: bool = True) -> Tensor:
    """A triangle of each matrix."""
    return (baracuda.triu if upper else baracuda.tril)(x, 0 if k is None else scalar(k))


@operator("CenterCropPad", since=18)
def center_crop_pad(x: Tensor, shape: Host, *, axes: Ints | None = None) -> Tensor:
    """`baracuda.center_crop_pad`."""
    return baracuda.center_crop_pad(x, ints(shape), axes)


@operator("ReverseSequence", since=10)
def reverse_sequence(x: Tensor, lengths: Tensor, *, batch_axis: int = 1, time_axis: int = 0) -> Tensor:
    """`baracuda.reverse_sequence`."""
    return baracuda.reverse_sequence(x, lengths, batch_axis=batch_axis, time_axis=time_axis)
