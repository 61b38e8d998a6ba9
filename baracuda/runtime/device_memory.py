"""Memory on a CUDA device without a framework: allocate it, copy to and from the host, wait for what runs on the device.

Meant for workspaces, tools and tests. Allocation and copies are synchronous; a framework's own allocator is faster.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.runtime.cuda import architecture, check, primary_context


@contextmanager
def _current(device: Device) -> Iterator[Any]:
    """The driver, with the device's primary context current."""
    architecture(device.index)  # raises the named error where there is no such device
    from cuda.bindings import driver

    check(driver.cuCtxPushCurrent(primary_context(device.index)), "cuCtxPushCurrent")
    try:
        yield driver
    finally:
        check(driver.cuCtxPopCurrent(), "cuCtxPopCurrent")


class DeviceMemory:
    """A block of a CUDA device's memory, given back when the object is collected.

    Attributes
    ----------
    pointer : int
        Its address, a multiple of 256.
    nbytes : int
        Its size.
    """

    def __init__(self, nbytes: int, device: Device) -> None:
        with _current(device) as driver:
            self.pointer = int(check(driver.cuMemAlloc(max(nbytes, 1)), "cuMemAlloc"))
        self.nbytes = nbytes
        weakref.finalize(self, _free, self.pointer, device).atexit = False  # the process's end frees everything


def _free(pointer: int, device: Device) -> None:
    with _current(device) as driver:
        check(driver.cuMemFree(pointer), "cuMemFree")


def empty(shape: Sequence[int], kind: ElementKind, device: Device) -> TensorMut:
    """A contiguous tensor on a CUDA device with contents that mean nothing.

    Raises
    ------
    UnsupportedError
        There is no such device, or the kind is packed; allocate its bytes as U8.
    BackendError
        The driver has no memory left.
    """
    shape = tuple(shape)
    memory = DeviceMemory(kind.itemsize * prod(shape), device)
    strides = contiguous_strides(shape)
    return TensorMut(memory.pointer, shape, strides, kind, device, nbytes_available=memory.nbytes, nbytes_before=0, owner=memory)


def upload(array: np.ndarray[Any, Any], device: Device) -> TensorMut:
    """A copy of a NumPy array on a CUDA device. Errors as for `empty`."""
    source = np.ascontiguousarray(array)
    tensor = empty(source.shape, ElementKind.from_numpy(source.dtype), device)
    if source.nbytes:
        with _current(device) as driver:
            check(driver.cuMemcpyHtoD(tensor.pointer, source.ctypes.data, source.nbytes), "cuMemcpyHtoD")
    return tensor


def download(tensor: TensorRef) -> np.ndarray[Any, Any]:
    """A copy of a contiguous CUDA tensor on the host, once everything that was launched before it is done.

    Raises
    ------
    InvalidProblemError
        The tensor is not contiguous, or not on a CUDA device.
    """
    if tensor.device.kind is not DeviceKind.CUDA or tensor.strides != contiguous_strides(tensor.shape):
        raise InvalidProblemError(f"tensor: strides {tensor.strides} on {tensor.device}; expected contiguous CUDA memory")
    array = np.empty(tensor.shape, tensor.kind.numpy)
    if array.nbytes:
        synchronize(tensor.device)
        with _current(tensor.device) as driver:
            check(driver.cuMemcpyDtoH(array.ctypes.data, tensor.pointer, array.nbytes), "cuMemcpyDtoH")
    return array


def synchronize(device: Device) -> None:
    """Wait until everything launched on a CUDA device is done."""
    with _current(device) as driver:
        check(driver.cuCtxSynchronize(), "cuCtxSynchronize")


def elapsed(launch: Callable[[], None], device: Device) -> float:
    """Milliseconds that what `launch` puts on the default stream takes on the device."""
    with _current(device) as driver:
        events = [check(driver.cuEventCreate(0), "cuEventCreate") for _ in range(2)]
        try:
            check(driver.cuEventRecord(events[0], 0), "cuEventRecord")
            launch()
            check(driver.cuEventRecord(events[1], 0), "cuEventRecord")
            check(driver.cuEventSynchronize(events[1]), "cuEventSynchronize")
            return float(check(driver.cuEventElapsedTime(*events), "cuEventElapsedTime"))
        finally:
            for event in events:
                check(driver.cuEventDestroy(event), "cuEventDestroy")


def name(device: Device) -> str:
    """What the driver calls a CUDA device."""
    with _current(device) as driver:
        raw: bytes = check(driver.cuDeviceGetName(256, device.index), "cuDeviceGetName")
    return raw.split(b"\0")[0].decode()
