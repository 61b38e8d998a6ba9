"""The opposite of max pooling: elements put where their indices say."""

from __future__ import annotations

from math import prod
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.traced import IndexBound
from baracuda.ops.declaration.words import Positive
from baracuda.ops.indexing.moves import apart, cleared
from baracuda.ops.indexing.places import Places
from baracuda.ops.pooling.geometry import each, pads, spatial
from baracuda.ops.pooling.placed import copy_planes, planes

OutputShape = tuple[Positive, ...] | None


def _unpooled(
    x: TensorRef, count: int, kernel_size: Any, stride: Any, padding: Any, output_size: Any, channels_last: bool
) -> tuple[int, ...]:
    """The shape of the result."""
    over = spatial(x.shape, count, channels_last)
    shape = list(x.shape)
    if output_size is not None:
        given = tuple(output_size)
        if len(given) == len(shape):
            if any(n != m for a, (n, m) in enumerate(zip(shape, given, strict=True)) if a not in over):
                raise InvalidProblemError(f"output_size: {given}; expected the batches and channels of x, {x.shape}")
            given = tuple(given[a] for a in over)
        if len(given) != count:
            raise InvalidProblemError(f"output_size: {output_size}; expected {count} extents, or the whole shape")
        for a, n in zip(over, given, strict=True):
            shape[a] = n
        return tuple(shape)
    sizes = each(kernel_size, count, "kernel_size")
    strides = sizes if stride is None else each(stride, count, "stride")
    for a, k, s, (low, high) in zip(over, sizes, strides, pads(padding, count), strict=True):
        shape[a] = (shape[a] - 1) * s - low - high + k
        if shape[a] < 1:
            raise InvalidProblemError(
                f"padding: {(low, high)}; expected a result of 1 element or more along axis {a}, not {shape[a]}"
            )
    return tuple(shape)


def _places(
    do: Steps, indices: TensorRef, shape: tuple[int, ...], count: int, whole: bool, channels_last: bool, bounds: str
) -> tuple[Places, tuple[int, int]]:
    """Where elements go, and the rows of channels that they go to: one row where an index counts the whole result."""
    over = spatial(shape, count, channels_last)
    plane = prod(shape[a] for a in over)
    total = prod(shape)
    rows = (1, total) if whole else (total // max(plane, 1), plane)
    if bounds == "check" and 0 not in indices.shape:
        do.check_indices(indices, "indices", IndexBound(rows[1]))
    index = planes(do, indices, count, channels_last)
    if whole:
        index = do.reshaped(index, (1, prod(index.shape)))
    return Places(index, (0, 1), wrap=False, aligned=1), rows


def _rows(do: Steps, x: TensorRef, count: int, channels_last: bool, whole: bool) -> Any:
    found = planes(do, x, count, channels_last)
    return do.reshaped(found, (1, prod(found.shape))) if whole else found


def _check(x: TensorRef, indices: TensorRef) -> None:
    if indices.shape != x.shape:
        raise InvalidProblemError(f"indices: shape is {indices.shape}; expected {x.shape}, that of x")


def unpool_forward(
    do: Steps, x: TensorRef, indices: TensorRef, count: int, kernel_size: Any, stride: Any, padding: Any, output_size: Any,
    whole: bool, channels_last: bool, bounds: str,
) -> Any:  # fmt: skip
    _check(x, indices)
    shape = _unpooled(x, count, kernel_size, stride, padding, output_size, channels_last)
    y = do.result(shape, x.kind)
    places, rows = _places(do, indices, shape, count, whole, channels_last, bounds)
    made = do.rows(rows, x.kind)
    cleared(do, made)
    places.write(do, made, apart(do, _rows(do, x, count, channels_last, whole), made))
    copy_planes(do, made, y, count, channels_last)
    return y


def unpool_backward(
    dy: TensorRef, do: Steps, x: TensorRef, indices: TensorRef, count: int, kernel_size: Any, stride: Any, padding: Any,
    output_size: Any, whole: bool, channels_last: bool, bounds: str,
) -> Any:  # fmt: skip
    _check(x, indices)
    shape = _unpooled(x, count, kernel_size, stride, padding, output_size, channels_last)
    if dy.shape != shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {shape}")
    places, rows = _places(do, indices, shape, count, whole, channels_last, bounds)
    slope = do.reshaped(_rows(do, dy, count, channels_last, whole), rows)
    made = do.rows(places.index.shape, x.kind)
    places.read(do, slope, made)
    dx = do.new(x.shape, x.kind)
    copy_planes(do, made, dx, count, channels_last)
    return dx
