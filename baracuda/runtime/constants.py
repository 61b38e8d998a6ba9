"""What programs read that the host computes once: tables that follow from a number, such as a length.

On the CPU a table lives as long as a program that reads it. On a GPU tables stay, as loaded code does: a graph that somebody
captured may read them, and nobody knows of it.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakValueDictionary

import numpy as np

from baracuda.core import locks
from baracuda.core.device import Device, DeviceKind
from baracuda.runtime.program import Constant, Lowered

if TYPE_CHECKING:
    from baracuda.runtime.device_memory import DeviceMemory

Array: TypeAlias = "np.ndarray[Any, Any]"
_lock = locks.reentrant_lock()  # one may be made with programs that have others
_host: WeakValueDictionary[tuple[Hashable, ...], Array] = WeakValueDictionary()
_devices: dict[tuple[tuple[Hashable, ...], int], DeviceMemory] = {}


def on_host(constant: Constant) -> Array:
    """Its values, for as long as somebody holds them."""
    with _lock:
        values = _host.get(constant.name)
        if values is None:
            values = np.ascontiguousarray(constant.make(constant.name))
            values.flags.writeable = False
            _host[constant.name] = values
        return values


def _on_device(constant: Constant, device: Device) -> int:
    from baracuda.runtime.cuda import check
    from baracuda.runtime.device_memory import DeviceMemory, current
    from baracuda.runtime.streams import CudaStream, beside_captures

    key = constant.name, device.index
    with _lock:
        if key not in _devices:
            values = on_host(constant)
            with beside_captures(device):
                memory, queue = DeviceMemory(values.nbytes, device), CudaStream(device)
                with current(device) as driver:
                    handle, address = queue.stream.handle, values.ctypes.data
                    check(driver.cuMemcpyHtoDAsync(memory.pointer, address, values.nbytes, handle), "cuMemcpyHtoDAsync")
                queue.synchronize()
            _devices[key] = memory
        return _devices[key].pointer


def integers(lowered: Lowered, device: Device) -> tuple[list[int], tuple[Array, ...]]:
    """The integers of a program with the addresses of its constants on a device, and what the program has to hold."""
    found, held = list(lowered.integers), []
    for constant in lowered.constants:
        if device.kind is DeviceKind.CPU:
            held.append(on_host(constant))
            found[constant.integer] = held[-1].ctypes.data
        else:
            found[constant.integer] = _on_device(constant, device)
    return found, tuple(held)
