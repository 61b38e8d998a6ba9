"""Manipulation functions; what can be a view is one."""

from __future__ import annotations

from itertools import zip_longest

import baracuda
from baracuda.array_api.operands import Axes
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, OutOfRangeError
from baracuda.frontends.array import Array


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """`baracuda.broadcast_arrays`: views."""
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return tuple(broadcast_to(x, shape) for x in arrays)  # type: ignore[arg-type]


def broadcast_shapes(*shapes: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """The shape that several broadcast to; of an extent that is not known (None) and one that is not 1 the latter."""
    extents = []
    for of_axis in zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1):
        others = {n for n in of_axis if n != 1}
        known = others - {None}
        if len(known) > 1:
            raise InvalidProblemError(f"shapes: {shapes}; expected equal extents along each axis, or 1")
        extents.append(next(iter(known or others), 1))
    return tuple(extents[::-1])


def broadcast_to(x: Array, /, shape: tuple[int, ...]) -> Array:
    """`baracuda.broadcast_to`: a view, which cannot be written."""
    return x.broadcast_to(tuple(shape))


def concat(arrays: tuple[Array, ...] | list[Array], /, *, axis: int | None = 0) -> Array:
    """`baracuda.concat`."""
    if axis is None:
        return baracuda.concat(tuple(x.reshape(-1) for x in arrays), axis=0)
    return baracuda.concat(tuple(arrays), axis=axis)


def expand_dims(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """`baracuda.unsqueeze`: a view."""
    rank = x.ndim + (len(axis) if isinstance(axis, tuple) else 1)
    for a in axis if isinstance(axis, tuple) else (axis,):
        if not -rank <= a < rank:
            raise OutOfRangeError(f"axis: {a}; expected {-rank} to {rank - 1}")
    return baracuda.unsqueeze(x, axis)


def flip(x: Array, /, *, axis: Axes = None) -> Array:
    """`baracuda.flip`: a view."""
    return baracuda.flip(x, axis)


def moveaxis(x: Array, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Array:
    """`baracuda.movedim`: a view."""
    return baracuda.movedim(x, source, destination)


def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """`baracuda.permute`: a view."""
    return baracuda.permute(x, tuple(axes))


def repeat(x: Array, repeats: int | Array, /, *, axis: int | None = None) -> Array:
    """`baracuda.repeat_interleave`."""
    counts = repeats.astype(ElementKind.S64, copy=False) if isinstance(repeats, Array) else repeats
    return baracuda.repeat_interleave(x, counts, axis=axis)


def reshape(x: Array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    """`baracuda.reshape`: a view where the strides allow one."""
    found = x.reshape(shape)
    if copy is False and found.size and found.pointer != x.pointer:
        raise InvalidProblemError(f"copy: False; shape {x.shape} with strides {x.strides} has no view of shape {shape}")
    return found.copy() if copy and found.pointer == x.pointer else found


def roll(x: Array, /, shift: int | tuple[int, ...], *, axis: Axes = None) -> Array:
    """`baracuda.roll`."""
    return baracuda.roll(x, shift, axis=axis)


def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """`baracuda.squeeze`: a view."""
    return baracuda.squeeze(x, axis)


def stack(arrays: tuple[Array, ...] | list[Array], /, *, axis: int = 0) -> Array:
    """`baracuda.stack`."""
    return baracuda.stack(tuple(arrays), axis=axis)


def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """`baracuda.tile`."""
    return baracuda.tile(x, tuple(repetitions))


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """`baracuda.unbind`: views."""
    return tuple(baracuda.unbind(x, axis))
