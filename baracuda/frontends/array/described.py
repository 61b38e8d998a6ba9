"""Arrays of which everything is known but the values: given these, a function finds out what its results are, and launches
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from baracuda.core.call_recorder import NOWHERE
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.layout import contiguous_strides
from baracuda.frontends.array.array import FIELDS, Array
from baracuda.frontends.array.memory import strides_of

#: Each array has room of its own behind `NOWHERE`, so that no two of them seem to overlap.
_ROOM, _ROOMS = 1 << 44, 1 << 12
_numbers = count()
_SETTERS = tuple(field.__set__ for field in FIELDS)


class NoValuesError(UnsupportedError):
    """What is asked for depends on values, and there are none."""


class NoMemory:
    """What owns the memory that a described array does not have."""


class Described(Array):
    """An array without values. What is computed of it is another one; reading it raises `NoValuesError`."""

    __slots__ = ()

    def _view(self, start: int, shape: tuple[int, ...], strides: tuple[int, ...], readonly: bool = False) -> Described:
        at = self.pointer + start * self.kind.itemsize
        return _new(at, shape, strides, self.kind, self.device, self.owner, self.readonly or readonly)

    def view(self, kind: ElementKind) -> Described:
        read = super().view(kind)
        return _new(read.pointer, read.shape, read.strides, kind, self.device, self.owner, self.readonly)

    def astype(self, dtype: Any, *, copy: bool = True) -> Array:
        from baracuda.core.parameters import element_of

        kind = element_of(dtype) or self.kind
        return self if kind is self.kind and not copy else described(self.shape, kind, self.device)

    def numpy(self) -> np.ndarray[Any, Any]:
        raise NoValuesError(f"values of {self.kind} of shape {self.shape}; expected a question about shape or element alone")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self.numpy()

    @property
    def __array_interface__(self) -> dict[str, Any]:
        raise AttributeError("an array without values has no memory")

    def __dlpack__(self, **_: Any) -> Any:
        return self.numpy()


def _new(
    pointer: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    kind: ElementKind,
    device: Device,
    owner: NoMemory,
    readonly: bool = False,
) -> Described:
    array = object.__new__(Described)
    for write, value in zip(_SETTERS, (pointer, shape, strides, kind, device, None, None, readonly, owner), strict=False):
        write(array, value)
    return array


def described(
    shape: Sequence[int],
    kind: ElementKind,
    device: Device,
    order: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Described:
    """An array of this shape and element without values: with strides, or dense with its axes in an order."""
    extents = tuple(shape)
    if strides is None:
        strides = contiguous_strides(extents) if order is None else strides_of(extents, order)
    return _new(NOWHERE + next(_numbers) % _ROOMS * _ROOM, extents, tuple(strides), kind, device, NoMemory())


def is_described(tensor: Any) -> bool:
    """Whether a tensor, or what it is a view of, has no values."""
    return type(getattr(tensor, "owner", None)) is NoMemory
