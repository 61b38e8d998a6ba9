"""Memory on a CUDA device without a framework: allocate it, copy to and from the host, wait for what runs on the device.

Meant for workspaces, tools and tests. Allocation and copies are synchronous; a framework's own allocator is faster.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from baracuda.core.call_recorder import refuse
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.layout import contiguous_strides, is_contiguous
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.runtime.cuda import architecture, check, primary_context
from baracuda.runtime.offline import is_offline

#: Called once everything launched on a device is done: what was found wrong there is raised.
AFTER_WAITING: list[Callable[[], None]] = []


@contextmanager
def current(device: Device) -> Iterator[Any]:
    """The driver, with the device's primary context current."""
    if is_offline(device):
        raise UnsupportedError(f"{device} is there for code alone; its kernels run nowhere, and it has no memory")
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
        with current(device) as driver:
            self.pointer = int(check(driver.cuMemAlloc(max(nbytes, 1)), "cuMemAlloc"))
        self.nbytes, self.device = nbytes, device
        weakref.finalize(self, _free, self.pointer, device).atexit = False  # the process's end frees everything

    def fill(self, values: np.ndarray[Any, Any]) -> None:
        """Copy a contiguous array's bytes to its start, once everything that was launched before is done."""
        if not values.flags.c_contiguous or values.nbytes > self.nbytes:
            got = f"{values.nbytes} bytes, contiguous: {values.flags.c_contiguous}"
            raise InvalidProblemError(f"values: {got}; expected at most {self.nbytes} bytes, contiguous")
        if values.nbytes:
            synchronize(self.device)
            with current(self.device) as driver:
                check(driver.cuMemcpyHtoD(self.pointer, values.ctypes.data, values.nbytes), "cuMemcpyHtoD")

    def read(self) -> np.ndarray[Any, Any]:
        """Its bytes, once everything that was launched before is done."""
        values = np.empty(self.nbytes, np.uint8)
        if self.nbytes:
            synchronize(self.device)
            with current(self.device) as driver:
                check(driver.cuMemcpyDtoH(values.ctypes.data, self.pointer, self.nbytes), "cuMemcpyDtoH")
        return values


def _free(pointer: int, device: Device) -> None:
    with current(device) as driver:
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
    write(tensor, source)
    return tensor


def write(tensor: TensorMut, values: np.ndarray[Any, Any]) -> None:
    """Copy a contiguous NumPy array into a contiguous CUDA tensor of its shape and element."""
    if values.nbytes:
        with current(tensor.device) as driver:
            check(driver.cuMemcpyHtoD(tensor.pointer, values.ctypes.data, values.nbytes), "cuMemcpyHtoD")


def download(tensor: TensorRef) -> np.ndarray[Any, Any]:
    """A copy of a contiguous CUDA tensor on the host, once everything that was launched before it is done.

    Raises
    ------
    InvalidProblemError
        The tensor is not contiguous, or not on a CUDA device.
    """
    if tensor.device.kind is not DeviceKind.CUDA or not is_contiguous(tensor.shape, tensor.strides):
        raise InvalidProblemError(f"tensor: strides {tensor.strides} on {tensor.device}; expected contiguous CUDA memory")
    refuse("it reads values on the host")
    if is_offline(tensor.device):
        return np.zeros(tensor.shape, tensor.kind.numpy)
    array = np.empty(tensor.shape, tensor.kind.numpy)
    if array.nbytes:
        synchronize(tensor.device)
        with current(tensor.device) as driver:
            check(driver.cuMemcpyDtoH(array.ctypes.data, tensor.pointer, array.nbytes), "cuMemcpyDtoH")
    return array


def read_bytes(pointer: int, count: int, stream: int, device: Device) -> bytes:
    """Some bytes of a device's memory, once everything that was launched on a stream before is done."""
    found = ctypes.create_string_buffer(count)
    with current(device) as driver:
        check(driver.cuStreamSynchronize(stream), "cuStreamSynchronize")
        check(driver.cuMemcpyDtoH(ctypes.addressof(found), pointer, count), "cuMemcpyDtoH")
    return found.raw


def synchronize(device: Device) -> None:
    """Wait until everything launched on a CUDA device is done."""
    with current(device) as driver:
        check(driver.cuCtxSynchronize(), "cuCtxSynchronize")
    for tell in AFTER_WAITING:
        tell()


def elapsed(launch: Callable[[], None], device: Device) -> float:
    """Milliseconds that what `launch` puts on the default stream takes on the device."""
    with current(device) as driver:
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
    with current(device) as driver:
        raw: bytes = check(driver.cuDeviceGetName(256, device.index), "cuDeviceGetName")
    return raw.split(b"\0")[0].decode()


def copy(target: DeviceMemory | TensorMut, source: DeviceMemory | TensorRef, nbytes: int, stream: int = 0) -> None:
    """Put a copy of bytes from one place of a device's memory to another on a stream, by default the device's own."""
    with current(target.device) as driver:
        check(driver.cuMemcpyDtoDAsync(target.pointer, source.pointer, nbytes, stream), "cuMemcpyDtoDAsync")


def second_level_cache(device: Device) -> int:
    """Bytes of a device's second-level cache."""
    with current(device) as driver:
        attribute = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
        return int(check(driver.cuDeviceGetAttribute(attribute, device.index), "cuDeviceGetAttribute"))


def memory_of(device: Device) -> tuple[int, int]:
    """Bytes of a device's memory that are free, and that there are."""
    with current(device) as driver:
        free, total = check(driver.cuMemGetInfo(), "cuMemGetInfo")
    return int(free), int(total)
