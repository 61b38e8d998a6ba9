"""What programs read that the host computes once for the life of the process: tables that follow from a number, such as a length.

They stay where they are, because what may read them (a program, a kept call, a graph) is known to nobody.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from baracuda.core import locks
from baracuda.core.device import Device, DeviceKind
from baracuda.runtime.program import Constant, Lowered

if TYPE_CHECKING:
    from baracuda.runtime.device_memory import DeviceMemory

_lock = locks.reentrant_lock()  # one may be made with programs that have others
_host: dict[tuple[Hashable, ...], np.ndarray[Any, Any]] = {}
_devices: dict[tuple[tuple[Hashable, ...], int], DeviceMemory] = {}


def on_host(constant: Constant) -> np.ndarray[Any, Any]:
    """Its values."""
    with _lock:
        if constant.name not in _host:
            values = np.ascontiguousarray(constant.make(constant.name))
            values.flags.writeable = False
            _host[constant.name] = values
        return _host[constant.name]


def _address(constant: Constant, device: Device) -> int:
    if device.kind is DeviceKind.CPU:
        return on_host(constant).ctypes.data
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


def integers(lowered: Lowered, device: Device) -> list[int]:
    """The integers of a program with the addresses of its constants on a device."""
    found = list(lowered.integers)
    for constant in lowered.constants:
        found[constant.integer] = _address(constant, device)
    return found
