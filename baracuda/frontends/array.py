"""Arrays of our own on a CUDA device, for programs without a framework. On the CPU, NumPy's arrays are used as they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from types import EllipsisType
from typing import Any

import numpy as np

from baracuda.core import layout_key
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import TensorMut, TensorRef

Index = int | slice | EllipsisType | None


class Array(TensorMut):
    """A tensor in a CUDA device's memory, with NumPy's views. Every function of the library takes and returns it.

    All its work is on the device's default stream. `numpy()` waits for that work and copies the values to the host; CuPy and
    PyTorch read an array in place, by `__cuda_array_interface__`.

    Example
    -------
    >>> x = baracuda.to_device(np.ones((2, 3), np.float32), baracuda.Device.cuda(0))   # doctest: +SKIP
    >>> baracuda.sum(x[:, 1:].T, axis=0).numpy()                                       # doctest: +SKIP
    """

    __slots__ = ()

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element as a NumPy dtype."""
        return self.kind.numpy

    @property
    def T(self) -> Array:
        """The view with the axes in reverse."""
        return self.transpose()

    @property
    def mT(self) -> Array:
        """The view with the last two axes exchanged."""
        if self.ndim < 2:
            raise InvalidProblemError(f"mT: shape is {self.shape}; expected two axes or more")
        return self.transpose(*range(self.ndim - 2), self.ndim - 1, self.ndim - 2)

    def transpose(self, *axes: Any) -> Array:
        """The view with the axes, integers or a tuple of them, in another order, by default in reverse."""
        return self._view(0, *_transposed(self.shape, self.strides, _integers(axes)))

    def swapaxes(self, first: int, second: int) -> Array:
        """The view with two axes exchanged."""
        axes = list(range(self.ndim))
        if not (-self.ndim <= first < self.ndim and -self.ndim <= second < self.ndim):
            raise InvalidProblemError(f"axes: {first}, {second}; expected two of the {self.ndim} axes of shape {self.shape}")
        axes[first], axes[second] = axes[second], axes[first]
        return self.transpose(*axes)

    def reshape(self, *shape: Any) -> Array:
        """The elements in another shape, integers or a tuple of them, one of which may be -1: a view where the strides allow
        one, else a copy."""
        extents = _extents(self.shape, _integers(shape))
        strides = _strides_in(self.shape, self.strides, extents)
        return self._view(0, extents, strides) if strides is not None else self._dense().reshape(*extents)

    def view(self, kind: ElementKind) -> Array:
        """The same memory read as another element. To one of another size the last axis, which is to be contiguous, gets longer
        or shorter."""
        old, new = self.kind.itemsize, kind.itemsize
        last, rest = self.shape[-1] * old if self.shape else old, [s * old for s in self.strides[:-1]]
        dense = bool(self.shape) and (self.strides[-1] == 1 or self.shape[-1] == 1)
        if old != new and (not dense or last % new or any(s % new for s in rest)):
            raise InvalidProblemError(f"{self.kind} of shape {self.shape} with strides {self.strides} cannot be read as {kind}")
        shape, strides = self.shape, self.strides
        if old != new:
            shape, strides = (*shape[:-1], last // new), (*(s // new for s in rest), 1)
        available, before = self.nbytes_available, self.nbytes_before
        return _new_array(self.pointer, shape, strides, kind, self.device, available, before, self.owner, self.readonly)

    def _dense(self) -> Array:
        """A contiguous copy."""
        from baracuda.frontends.families import function

        whole = empty(self.shape, self.kind, self.device)
        function("positive")(self, out=whole)
        return whole

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Array:
        items = list(index) if isinstance(index, tuple) else [index]
        used = sum(i is not None and i is not Ellipsis for i in items)
        if used > self.ndim or items.count(Ellipsis) > 1:
            raise InvalidProblemError(f"index: {index!r}; expected at most {self.ndim} integers and slices, and one ellipsis")
        at = items.index(Ellipsis) if Ellipsis in items else len(items)
        items[at : at + 1] = [slice(None)] * (self.ndim - used)
        shape, strides, start, axis = [], [], 0, 0
        for item in items:
            if item is None:
                shape.append(1)
                strides.append(0)
                continue
            n, step = self.shape[axis], self.strides[axis]
            if isinstance(item, slice):
                first, stop, by = item.indices(n)
                count = len(range(first, stop, by))
                start += first * step if count else 0
                shape.append(count)
                strides.append(by * step)
            elif isinstance(item, int) and -n <= item < n:
                start += item % n * step
            else:
                raise InvalidProblemError(f"index: {item!r} of axis {axis}; expected a slice, or an integer below {n}")
            axis += 1
        return self._view(start, tuple(shape), tuple(strides))

    def _view(self, start: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
        offset = start * self.kind.itemsize
        available, before = self.nbytes_available, self.nbytes_before
        return _new_array(
            self.pointer + offset,
            shape,
            strides,
            self.kind,
            self.device,
            None if available is None else available - offset,
            None if before is None else before + offset,
            self.owner,
            self.readonly,
        )

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def numpy(self) -> np.ndarray[Any, Any]:
        """The values on the host, once everything launched before is done."""
        from baracuda.runtime import device_memory

        return device_memory.download(self if self.strides == contiguous_strides(self.shape) else self._dense())

    def item(self) -> Any:
        """The one element, as a number of Python's, once it is there."""
        if self.size != 1:
            raise InvalidProblemError(f"item: shape is {self.shape}; expected one element")
        return self.numpy().item()

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.kind in (ElementKind.BF16, ElementKind.F8E4M3, ElementKind.F8E5M2):
            raise UnsupportedError(f"{self.kind} has no type in the CUDA array interface")
        size = self.kind.itemsize
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.pointer, self.readonly),
            "strides": tuple(s * size for s in self.strides),
            "version": 3,
            "stream": 1,
        }

    def __repr__(self) -> str:
        return f"Array({'x'.join(map(str, self.shape)) or 'scalar'}, {self.kind}, {self.device})"


#: Setters of an array's attributes: a dataclass that is frozen takes twice as long to make in the ordinary way.
_POINTER, _SHAPE, _STRIDES, _KIND, _DEVICE, _AVAILABLE, _BEFORE, _READONLY, _OWNER = (
    vars(TensorRef)[name].__set__ for name in TensorRef.__dataclass_fields__
)


def _new_array(
    pointer: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    kind: ElementKind,
    device: Device,
    available: int | None,
    before: int | None,
    owner: Any,
    readonly: bool = False,
) -> Array:
    array = object.__new__(Array)
    _POINTER(array, pointer)
    _SHAPE(array, shape)
    _STRIDES(array, strides)
    _KIND(array, kind)
    _DEVICE(array, device)
    _AVAILABLE(array, available)
    _BEFORE(array, before)
    _READONLY(array, readonly)
    _OWNER(array, owner)
    return array


def of(ref: TensorRef) -> Array:
    """The array of a tensor's memory, which is on a CUDA device."""
    available, before = ref.nbytes_available, ref.nbytes_before
    return _new_array(ref.pointer, ref.shape, ref.strides, ref.kind, ref.device, available, before, ref.owner, ref.readonly)


def _integers(extents: tuple[Any, ...]) -> tuple[int, ...]:
    """Some integers, or a tuple or list of them."""
    return tuple(extents[0]) if len(extents) == 1 and isinstance(extents[0], tuple | list) else extents


@lru_cache(maxsize=4096)
def _transposed(
    shape: tuple[int, ...], strides: tuple[int, ...], axes: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides with the axes in another order, by default in reverse."""
    rank = len(shape)
    order = tuple(a % rank for a in axes) if axes and rank else tuple(range(rank))[::-1]
    if sorted(order) != list(range(rank)) or (axes and not rank):
        raise InvalidProblemError(f"axes: {axes}; expected each of the {rank} axes of shape {shape} once")
    return tuple(shape[a] for a in order), tuple(strides[a] for a in order)


@lru_cache(maxsize=4096)
def _extents(shape: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    """Another shape of as many elements, one extent of which may be -1."""
    extents, size = list(wanted), prod(shape)
    if extents.count(-1) == 1 and (rest := -prod(extents)) and size % rest == 0:
        extents[extents.index(-1)] = size // rest
    if prod(extents) != size or any(n < 0 for n in extents):
        raise InvalidProblemError(f"shape: {wanted}; expected the {size} elements of shape {shape}")
    return tuple(extents)


@lru_cache(maxsize=4096)
def _strides_in(shape: tuple[int, ...], strides: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...] | None:
    """The strides of a tensor in another shape; None where there are none."""
    if 0 in wanted:
        return contiguous_strides(wanted)
    merged: list[tuple[int, int]] = []  # axes that lie one behind the other are one
    for n, s in zip(shape, strides, strict=True):
        if n != 1 and merged and merged[-1][1] == n * s:
            merged[-1] = (merged[-1][0] * n, s)
        elif n != 1:
            merged.append((n, s))
    reversed_strides: list[int] = []
    remaining, step = 1, 0
    for n in reversed(wanted):
        if n == 1:
            reversed_strides.append(0)
            continue
        if remaining == 1:
            remaining, step = merged.pop()
        if remaining % n:
            return None
        reversed_strides.append(step)
        remaining, step = remaining // n, step * n
    return tuple(reversed_strides[::-1])


def empty(shape: Sequence[int], kind: ElementKind, device: Device) -> Array:
    """A contiguous array with contents that mean nothing."""
    from baracuda.runtime.device_pool import Block

    block, extents = Block(kind.itemsize * prod(shape), device), tuple(shape)
    return _new_array(block.pointer, extents, contiguous_strides(extents), kind, device, block.nbytes, 0, block)


def to_device(values: Any, device: Device) -> Any:
    """The values in a device's memory: an `Array` on CUDA; on the CPU a NumPy array.

    Parameters
    ----------
    values
        A NumPy array, or what makes one, or an `Array`.
    device
        Where to.

    Raises
    ------
    UnsupportedError
        There is no such device.
    InvalidProblemError
        `device` is no `Device`.
    """
    if not isinstance(device, Device):
        raise InvalidProblemError(f"device: {device!r}; expected a Device")
    if device.kind is DeviceKind.CPU:
        return values.numpy() if isinstance(values, Array) else np.asarray(values)
    if isinstance(values, Array):
        return values if values.device is device else to_device(values.numpy(), device)
    from baracuda.runtime import device_memory

    source = np.asarray(values, order="C")  # ascontiguousarray gives a number an axis
    array = empty(source.shape, ElementKind.from_numpy(source.dtype), device)
    device_memory.write(array, source)
    return array


def to_host(values: Any) -> np.ndarray[Any, Any]:
    """The values as a NumPy array, once what computes them is done."""
    return values.numpy() if isinstance(values, Array) else np.asarray(values)


def _layout_key(array: Any) -> layout_key.KeyedPointer:
    return (Array, array.kind, array.device, array.shape, array.strides), array.pointer


def _layout_key_mut(array: Any) -> layout_key.KeyedPointer | None:
    return None if array.readonly else _layout_key(array)


layout_key.LAYOUT_KEYS[Array], layout_key.LAYOUT_KEYS_MUT[Array] = _layout_key, _layout_key_mut
