"""What arguments of the standard's functions mean to the library: elements, devices, numbers in place of arrays."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import element_of
from baracuda.frontends.array import Array, to_device
from baracuda.ops.declaration.promotion import common, promote

Number: TypeAlias = bool | int | float | complex
Operand: TypeAlias = Array | Number
DType: TypeAlias = "np.dtype[Any] | ElementKind | type | str"
Axes: TypeAlias = int | tuple[int, ...] | None

#: What arrays made of Python's numbers have, by the numbers' type; indices are s64.
DEFAULTS = {bool: ElementKind.BOOL, int: ElementKind.S64, float: ElementKind.F32, complex: ElementKind.C64}


@lru_cache(maxsize=256)
def kind_of(dtype: DType) -> ElementKind:
    """The element of a dtype: ours, NumPy's, or the name of one."""
    kind = element_of(dtype)
    if kind is None:
        raise InvalidProblemError(f"dtype: {dtype!r}; expected a dtype")
    return kind


def kind_or(dtype: DType | None, default: ElementKind) -> ElementKind:
    """The element of a dtype, if there is one."""
    return default if dtype is None else kind_of(dtype)


def device_or(device: Device | None, default: Device | None = None) -> Device:
    """The device, if there is one, or else that of another array, or else the default one."""
    if device is None:
        return default or default_device()
    if not isinstance(device, Device):
        raise InvalidProblemError(f"device: {device!r}; expected a Device")
    return device


_default = Device.cpu()


def default_device() -> Device:
    """The device of arrays that are made without saying where."""
    return _default


def set_default_device(device: Device) -> None:
    """Have arrays that are made without saying where lie on a device, in the whole process. (An addition to the standard.)"""
    global _default
    _default = device_or(device)


def in_kind_of(x: Array, y: Array) -> Array:
    """y in the element of x."""
    return y if y.kind is x.kind else y.astype(x.kind)


def extents_of(shape: int | tuple[int, ...]) -> tuple[int, ...]:
    """A shape, or the extent of one axis, as a tuple of integers."""
    return tuple(n.__index__() for n in shape) if isinstance(shape, (tuple, list)) else (shape.__index__(),)


def beside(x: Operand, y: Operand) -> tuple[Array, Array]:
    """Two arrays, of which one may be a number of Python's, which takes the other's element where it is of its kind."""
    if isinstance(x, Array) and isinstance(y, Array):
        return x, y
    if isinstance(x, Array):
        return x, _like(x, y)
    if isinstance(y, Array):
        return _like(y, x), y
    raise InvalidProblemError(f"{x!r}, {y!r}; expected an array among them")


def _like(x: Array, number: Any) -> Array:
    return to_device(np.asarray(number, common([x.kind], [number]).numpy), x.device)


def together(x1: Array, x2: Array) -> tuple[Array, Array]:
    """Two arrays in their common element: the library's products take one."""
    kind = promote(x1.kind, x2.kind)
    return x1.astype(kind, copy=False), x2.astype(kind, copy=False)
