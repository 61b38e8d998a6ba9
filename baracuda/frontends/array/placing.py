"""Where arrays lie: from the host to a device, from a device to the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import tensor_ref
from baracuda.frontends.array.array import Array, of
from baracuda.frontends.array.memory import empty


def to_device(values: Any, device: Device) -> Array:
    """The values as an `Array` in a device's memory: those of the host's memory themselves where they are there already.

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

    Example
    -------
    >>> import numpy as np, baracuda
    >>> x = baracuda.to_device(np.arange(3.0), baracuda.Device.cpu())
    >>> x * 2
    Array([0., 2., 4.], dtype=float64)
    """
    if not isinstance(device, Device):
        raise InvalidProblemError(f"device: {device!r}; expected a Device")
    if isinstance(values, Array):
        if values.device == device:
            return values
        values = values.numpy()
    if device.kind is DeviceKind.CPU:
        return of(tensor_ref(np.asarray(values)))
    from baracuda.runtime import device_memory

    source = np.asarray(values, order="C")  # ascontiguousarray gives a number an axis
    array = empty(source.shape, ElementKind.from_numpy(source.dtype), device)
    device_memory.write(array, source)
    return array


def to_host(values: Any) -> np.ndarray[Any, Any]:
    """The values as a NumPy array, once what computes them is done."""
    return values.numpy() if isinstance(values, Array) else np.asarray(values)
