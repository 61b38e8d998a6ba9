"""Views of a tensor's memory, which never leave it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import contiguous_strides, reach
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


def axis_at(tensor: TensorRef, axis: int, index: int) -> Any:
    """The elements at an index along an axis, which goes."""
    shape = (*tensor.shape[:axis], *tensor.shape[axis + 1 :])
    return view(tensor, index * tensor.strides[axis], shape, (*tensor.strides[:axis], *tensor.strides[axis + 1 :]))


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


@lru_cache(maxsize=4096)
def _extents(shape: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    extents, size = list(wanted), prod(shape)
    if extents.count(-1) == 1 and (rest := -prod(extents)) and size % rest == 0:
        extents[extents.index(-1)] = size // rest
    if prod(extents) != size or any(n < 0 for n in extents):
        raise InvalidProblemError(f"shape: {wanted}; expected the {size} elements of shape {shape}")
    return tuple(extents)


def extents_of(shape: Shape, wanted: Shape) -> tuple[int, ...]:
    """Another shape of as many elements, one extent of which may be -1."""
    return _extents(tuple(shape), tuple(wanted))


def reshaped(tensor: TensorRef, shape: Shape) -> Any | None:
    """The elements of a tensor in another shape, one extent of which may be -1; None where no strides say that."""
    shape = extents_of(tensor.shape, shape)
    strides = strides_in(tuple(tensor.shape), tuple(tensor.strides), shape)
    return None if strides is None else view(tensor, 0, shape, strides)


@lru_cache(maxsize=4096)
def strides_in(shape: tuple[int, ...], strides: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...] | None:
    """The strides of a tensor in another shape of as many elements; None where there are none."""
    if 0 in wanted:
        return contiguous_strides(wanted)
    merged: list[tuple[int, int]] = []  # axes that lie one behind the other are one
    for n, s in zip(shape, strides, strict=True):
        if n != 1 and merged and merged[-1][1] == n * s:
            merged[-1] = (merged[-1][0] * n, s)
        elif n != 1:
            merged.append((n, s))
    found: list[int] = []
    remaining, step = 1, 0
    for n in reversed(wanted):
        if n != 1 and remaining == 1:
            remaining, step = merged.pop()
        if n != 1 and remaining % n:
            return None
        found.append(step if n != 1 else (found[-1] * wanted[len(wanted) - len(found)] if found else 1))
        if n != 1:
            remaining, step = remaining // n, step * n
    return tuple(found[::-1])


def permuted(tensor: TensorRef, axes: Sequence[int]) -> Any:
    """The axes in another order, each counted from 0."""
    return view(tensor, 0, [tensor.shape[a] for a in axes], [tensor.strides[a] for a in axes])


def flipped(tensor: TensorRef, axes: Iterable[int]) -> Any:
    """The elements in reverse along some axes, each counted from 0."""
    strides, offset = list(tensor.strides), 0
    for a in axes:
        offset += max(tensor.shape[a] - 1, 0) * strides[a]
        strides[a] = -strides[a]
    return view(tensor, offset, tensor.shape, strides)


def broadcasted(tensor: TensorRef, shape: Shape, name: str = "x") -> Any:
    """The elements repeated along new axes in front and along axes of extent 1."""
    lead = len(shape) - len(tensor.shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(tensor.shape, tuple(shape)[lead:], strict=True)):
        raise InvalidProblemError(f"{name}: shape is {tensor.shape}; expected one that broadcasts to {tuple(shape)}")
    own = zip(tensor.shape, tensor.strides, tuple(shape)[lead:], strict=True)
    return view(tensor, 0, shape, [0] * lead + [s if n == m else 0 for n, s, m in own])


def broadcast_shape(shapes: Iterable[Shape]) -> tuple[int, ...]:
    """What some shapes broadcast to."""
    listed = [tuple(s) for s in shapes]
    space = [1] * max(map(len, listed), default=0)
    for shape in listed:
        for a, n in enumerate(shape, len(space) - len(shape)):
            if n != 1 and space[a] not in (1, n):
                raise InvalidProblemError(f"shapes {', '.join(map(str, listed))}; expected shapes that broadcast with each other")
            space[a] = n if space[a] == 1 else space[a]
    return tuple(space)


def diagonal(tensor: TensorRef, offset: int, axis1: int, axis2: int) -> Any:
    """The elements x[i, i + offset] of the matrices along two axes, as the last axis, after the others."""
    rank = len(tensor.shape)
    first, second = axis_of(axis1, rank), axis_of(axis2, rank)
    if first == second:
        raise InvalidProblemError(f"axis1, axis2: {axis1}, {axis2} are one axis; expected two")
    axes = [a for a in range(rank) if a not in (first, second)]
    (m, n), (down, right) = ((t[first], t[second]) for t in (tensor.shape, tensor.strides))
    length = max(min(m + min(offset, 0), n - max(offset, 0)), 0)
    start = (max(offset, 0) * right - min(offset, 0) * down) if length else 0
    return view(tensor, start, (*(tensor.shape[a] for a in axes), length), (*(tensor.strides[a] for a in axes), down + right))


#: The unsigned integers that hold as many bits as an element of so many bytes.
_BITS = {1: ElementKind.U8, 2: ElementKind.U16, 4: ElementKind.U32, 8: ElementKind.U64}


def as_bits(tensor: TensorRef) -> Any:
    """The same memory as unsigned integers of the elements' size, so that moving them changes no bit; those of 16 bytes stay."""
    kind = _BITS.get(tensor.kind.itemsize, tensor.kind)
    return tensor if kind is tensor.kind else replace(tensor, kind=kind)


def as_words(tensor: TensorRef, count: int) -> Any | None:
    """Each `count` neighbours along the last axis as one unsigned integer; None where they are no neighbours in memory, are no
    multiple, or do not lie as such an integer does."""
    kind, bytes_ = _BITS.get(tensor.kind.itemsize * count), tensor.kind.itemsize * count
    *lead, step = tensor.strides
    if kind is None or tensor.shape[-1] % count or step != 1 or tensor.pointer % bytes_ or any(s % count for s in lead):
        return None
    shape, strides = (*tensor.shape[:-1], tensor.shape[-1] // count), (*(s // count for s in lead), 1)
    return replace(tensor, kind=kind, shape=shape, strides=strides)


def as_bytes(tensor: TensorRef) -> Any:
    """The bytes of a tensor whose last axis is contiguous."""
    size = tensor.kind.itemsize
    shape, strides = (*tensor.shape[:-1], tensor.shape[-1] * size), (*(s * size for s in tensor.strides[:-1]), 1)
    return replace(tensor, kind=_BITS[1], shape=shape, strides=strides)


def axes_of(axes: int | Sequence[int] | None, rank: int, name: str = "axis") -> tuple[int, ...]:
    """Axes counted from 0, each once, in the order given; None: all."""
    if axes is None:
        return tuple(range(rank))
    found = []
    for axis in (axes,) if isinstance(axes, int) else tuple(axes):
        if not -rank <= axis < rank:
            raise InvalidProblemError(f"{name}: {axis}; expected {f'{-rank} to {rank - 1}' if rank else 'no axis of a scalar'}")
        found.append(axis % rank)
    if len(set(found)) != len(found):
        raise InvalidProblemError(f"{name}: {axes}; expected each axis once")
    return tuple(found)


def shape_of(shape: int | Sequence[int], name: str = "shape") -> tuple[int, ...]:
    """Extents of 0 or more; a number is that of the only axis."""
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    if min(extents, default=0) < 0:
        raise InvalidProblemError(f"{name}: {shape}; expected extents of 0 or more")
    return extents


def as_parts(tensor: TensorRef) -> tuple[Any, Any]:
    """The real and the imaginary parts of a complex tensor, where they lie."""
    half = ElementKind.F32 if tensor.kind is ElementKind.C64 else ElementKind.F64
    size = half.itemsize

    def part(offset: int) -> Any:
        step = offset * size
        return replace(
            tensor,
            kind=half,
            pointer=tensor.pointer + step,
            strides=tuple(2 * s for s in tensor.strides),
            nbytes_available=None if tensor.nbytes_available is None else tensor.nbytes_available - step,
            nbytes_before=None if tensor.nbytes_before is None else tensor.nbytes_before + step,
        )

    return part(0), part(1)
