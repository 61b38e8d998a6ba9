"""Views of a tensor's memory, which never leave it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import reach
from baracuda.core.spec import check_axis
from baracuda.core.tensor import TensorRef

Shape = Sequence[int]


def view(tensor: TensorRef, offset: int, shape: Shape, strides: Shape) -> Any:
    """Another view of a tensor's memory, `offset` elements on; a `TensorMut` of one.

    Raises `InvalidProblemError` where an element of it lies before the tensor's lowest or after its highest. A view without
    elements lies where the tensor does.
    """
    shape, strides = tuple(shape), tuple(strides)
    if len(shape) != len(strides) or min(shape, default=0) < 0:
        raise InvalidProblemError(
            f"a view of shape {shape} with strides {strides}; expected a stride for each extent of 0 or more"
        )
    if 0 in shape:
        offset = 0
    else:
        (low, high), (first, last) = reach(shape, strides), reach(tensor.shape, tensor.strides)
        if not first <= low + offset <= high + offset <= last:
            raise InvalidProblemError(
                f"a view of elements {low + offset} to {high + offset} of a tensor of shape {tensor.shape} with strides "
                f"{tensor.strides}; expected some of its elements, {first} to {last}"
            )
    step = offset * tensor.kind.itemsize
    return replace(
        tensor,
        pointer=tensor.pointer + step,
        shape=shape,
        strides=strides,
        nbytes_available=None if tensor.nbytes_available is None else tensor.nbytes_available - step,
        nbytes_before=None if tensor.nbytes_before is None else tensor.nbytes_before + step,
    )


def slab(tensor: TensorRef, axis: int, start: int, stop: int) -> Any:
    """The elements from `start` to before `stop` along an axis, both within it."""
    if not 0 <= axis < len(tensor.shape) or not 0 <= start <= stop <= tensor.shape[axis]:
        raise InvalidProblemError(
            f"elements {start} to {stop} along axis {axis} of shape {tensor.shape}; expected some that it has"
        )
    shape = (*tensor.shape[:axis], stop - start, *tensor.shape[axis + 1 :])
    return view(tensor, start * tensor.strides[axis], shape, tensor.strides)


def expanded_dims(tensor: TensorRef, axes: Sequence[int | None], rank: int) -> Any:
    """A tensor with its axes at the given ones of `rank`, each at its own, and extents of 1 elsewhere."""
    places = tuple(axes)
    if len(places) != len(tensor.shape) or len({*places} & {*range(rank)}) != len(places):
        raise InvalidProblemError(
            f"axes {places} of {rank} for a tensor of shape {tensor.shape}; expected a different one, 0 to {rank - 1}, for each"
        )
    shape, strides = [1] * rank, [0] * rank
    for a, n, s in zip(places, tensor.shape, tensor.strides, strict=True):
        assert a is not None  # told by the check above
        shape[a], strides[a] = n, s
    return view(tensor, 0, shape, strides)


def windows(tensor: TensorRef, axis: int, start: int, count: int, size: int) -> Any:
    """`count` windows of `size` neighbours along an axis, the first one at `start`: along the axis their number, along a new
    last one the elements of each."""
    shape = (*tensor.shape[:axis], count, *tensor.shape[axis + 1 :], size)
    return view(tensor, start * tensor.strides[axis], shape, (*tensor.strides, tensor.strides[axis]))


def axis_of(axis: int, rank: int) -> int:
    """An axis of a tensor that has one at least, counted from 0."""
    if not rank:
        raise InvalidProblemError(f"axis: {axis!r} of a scalar; expected a tensor of one axis or more")
    check_axis("axis", axis, rank)
    return axis % rank
