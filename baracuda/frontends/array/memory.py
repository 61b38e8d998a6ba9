"""New arrays: memory from the pool of their device, and who owns it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.layout import contiguous_strides
from baracuda.frontends.array.array import Array, layout_of, new_array
from baracuda.native import load
from baracuda.runtime import memory

_native = load()
#: Memory for so many bytes on the CPU: an object with their address, `pointer`, which owns them. Small ones are made in C.
_small: Callable[[int], Any] = memory.SmallMemory if _native is None else _native.memory


def owner_of_new(nbytes: int, device: Device) -> Any:
    """What owns new memory of a device, its address in `pointer`: a block of the pool, but for a few bytes on the CPU."""
    if device.kind is DeviceKind.CPU:
        return _small(nbytes) if nbytes < memory.SMALLEST_POOLED else memory.Lease(nbytes)
    from baracuda.runtime.device_pool import Block

    return Block(nbytes, device)


def empty(shape: Sequence[int], kind: ElementKind, device: Device, order: Sequence[int] | None = None) -> Array:
    """A dense array with contents that mean nothing; its axes lie in memory in an order, from the slowest, by default theirs."""
    extents = tuple(shape)
    strides = contiguous_strides(extents) if order is None else strides_of(extents, order)
    nbytes = kind.itemsize * prod(extents)
    owner = owner_of_new(nbytes, device)
    return new_array(owner.pointer, extents, strides, kind, device, nbytes, 0, owner)


def strides_of(shape: tuple[int, ...], order: Sequence[int]) -> tuple[int, ...]:
    """The strides of a dense tensor whose axes lie in this order."""
    dense = dict(zip(order, contiguous_strides(tuple(shape[a] for a in order)), strict=True))
    return tuple(dense[a] for a in range(len(shape)))


def fields_of(shape: tuple[int, ...], strides: tuple[int, ...], kind: ElementKind, device: Device) -> tuple[Any, ...]:
    """Everything of new arrays but their memory, as `baracuda.native.calls` makes them; small ones on the CPU own theirs."""
    nbytes = kind.itemsize * prod(shape)
    in_c = device.kind is DeviceKind.CPU and nbytes < memory.SMALLEST_POOLED
    layout = layout_of(new_array(0, shape, strides, kind, device, nbytes, 0, None))
    return shape, strides, kind, device, nbytes, 0, False, None if in_c else partial(owner_of_new, nbytes, device), layout
