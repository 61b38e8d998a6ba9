"""Arrays for other libraries, and as Python's own values: NumPy, DLPack, pickles, numbers, text."""

from __future__ import annotations

from typing import Any

import numpy as np

from baracuda.core.call_recorder import AT_WORK, expect_value, refuse, unseen
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import Error, InvalidProblemError, UnsupportedError
from baracuda.native import load

_native = load()


class Exchange:
    """What leaves the library."""

    __slots__ = ()

    # --- values on the host -------------------------------------------------------------------------------------------

    def numpy(self: Any) -> np.ndarray[Any, Any]:
        """The values on the host: on the CPU NumPy's array of the same memory, of a CUDA device a copy, once everything launched
        before is done."""
        if self.device.kind is DeviceKind.CPU:
            refuse("it reads values on the host")
            shared: np.ndarray[Any, Any] = _as_numpy(self, self.kind.numpy)
            return shared
        from baracuda.runtime import device_memory

        return device_memory.download(self if self.is_contiguous else self.copy())

    def item(self: Any) -> Any:
        """The one element, as a number of Python's, once it is there."""
        if self.size != 1:
            raise InvalidProblemError(f"item: shape is {self.shape}; expected one element")
        if not AT_WORK:
            return self.numpy().item()
        with unseen():
            value = self.numpy()
        expect_value(self.pointer, value.tobytes())
        return value.item()

    def tolist(self: Any) -> Any:
        """The values as nested lists of Python's numbers."""
        return self.numpy().tolist()

    def __bool__(self: Any) -> bool:
        return bool(self.item())

    def __int__(self: Any) -> int:
        return int(self.item())

    def __float__(self: Any) -> float:
        return float(self.item())

    def __complex__(self: Any) -> complex:
        return complex(self.item())

    def __index__(self: Any) -> int:
        if self.shape or self.kind.category not in (Category.SIGNED, Category.UNSIGNED):
            raise TypeError(f"{self.kind} of shape {self.shape}; expected an integer without axes as an index")
        return int(self.item())

    # --- other libraries ----------------------------------------------------------------------------------------------

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if self.device.kind is not DeviceKind.CPU:
            raise TypeError(f"the array is on {self.device}; .numpy() copies it to the host")
        values: np.ndarray[Any, Any] = self.numpy()
        if copy is False and dtype is not None and np.dtype(dtype) != values.dtype:
            raise ValueError(f"dtype: {np.dtype(dtype)} of an array of {values.dtype} takes a copy")
        values = values if dtype is None else values.astype(dtype, copy=False)
        return values.copy() if copy and values.base is not None else values

    @property
    def __array_interface__(self: Any) -> dict[str, Any]:
        if self.device.kind is not DeviceKind.CPU:
            raise AttributeError(f"__array_interface__ of an array on {self.device}")
        return _interface(self)

    @property
    def __cuda_array_interface__(self: Any) -> dict[str, Any]:
        if self.device.kind is not DeviceKind.CUDA:
            raise AttributeError(f"__cuda_array_interface__ of an array on {self.device}")
        return {**_interface(self), "stream": 1}

    def __dlpack_device__(self: Any) -> tuple[int, int]:
        return _dlpack_device(self.device)

    def __dlpack__(
        self: Any,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of the array's memory, of a copy where that is asked for or the device is another; on CUDA `stream`,
        the consumer's, waits for the array's."""
        from baracuda.frontends.array.placing import to_device
        from baracuda.runtime.dlpack_export import capsule_of, wait_for

        array, here = self, _dlpack_device(self.device)
        wanted = here if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
        if wanted != here:
            if copy is False or wanted[0] not in (1, 2):
                raise BufferError(f"dl_device: {dl_device}; the array is on {self.device}, and a copy is refused or not possible")
            array = to_device(self, Device.cpu() if wanted[0] == 1 else Device.cuda(wanted[1]))
        elif copy:
            array = self.copy()
        if array.device.kind is DeviceKind.CPU and stream is not None and wanted == here:
            raise InvalidProblemError(f"stream: {stream!r}; expected None on the CPU")
        if array.device.kind is DeviceKind.CUDA and stream != -1:
            wait_for(array.device, stream)
        return capsule_of(array, max_version, copied=array is not self)

    # --- copies, pickles, text ----------------------------------------------------------------------------------------

    def __copy__(self: Any) -> Any:
        return self.copy()

    def __deepcopy__(self: Any, memo: Any) -> Any:
        return self.copy()

    def __reduce__(self: Any) -> Any:
        values = np.ascontiguousarray(self.numpy()).reshape(self.shape)
        return _unpickled, (values.tobytes(), self.shape, self.kind.name, self.device.kind.name, self.device.index)

    def __repr__(self: Any) -> str:
        place = "" if self.device.kind is DeviceKind.CPU else f", device='{self.device}'"
        values = self._shown()
        if values is None:
            return f"Array(shape={self.shape}, dtype={self.kind.numpy.name}{place})"
        text = np.array2string(values, separator=", ", prefix="Array(")
        return f"Array({text}, dtype={self.kind.numpy.name}{place})"

    def __str__(self: Any) -> str:
        values = self._shown()
        return repr(self) if values is None else str(values)

    def __format__(self: Any, spec: str) -> str:
        return format(self.item(), spec) if spec and not self.shape else format(str(self), spec)

    def _shown(self: Any) -> np.ndarray[Any, Any] | None:
        """The values; None while a device cannot be waited for."""
        from baracuda.runtime.streams import is_capturing, own_stream

        try:
            if self.device.kind is DeviceKind.CUDA and is_capturing(own_stream(self.device)):
                return None
            values: np.ndarray[Any, Any] = self.numpy()
        except Error:
            return None
        return values


def _dlpack_device(device: Device) -> tuple[int, int]:
    return (1, 0) if device.kind is DeviceKind.CPU else (2, device.index)


def _interface(array: Any) -> dict[str, Any]:
    """The array interface, version 3."""
    dtype = array.kind.numpy
    if dtype.isbuiltin != 1:
        raise UnsupportedError(f"{array.kind} has no type in the array interface")
    size = array.kind.itemsize
    return {
        "shape": array.shape,
        "typestr": dtype.str,
        "data": (array.pointer, array.readonly),
        "strides": tuple(s * size for s in array.strides),
        "version": 3,
    }


class _Memory:
    """The memory of an array on the CPU, as NumPy takes it."""

    def __init__(self, array: Any) -> None:
        self.array, size = array, array.kind.itemsize
        self.__array_interface__ = {
            "shape": array.shape,
            "typestr": f"|V{size}",  # of any element; NumPy has no letters for some
            "data": (array.pointer, array.readonly),
            "strides": tuple(s * size for s in array.strides),
            "version": 3,
        }


def _borrowed(array: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if 0 in array.shape:
        return np.empty(array.shape, dtype)
    return np.asarray(_Memory(array)).view(dtype)


_as_numpy = _borrowed if _native is None else _native.as_numpy


def _unpickled(values: bytes, shape: tuple[int, ...], kind: str, device: str, index: int) -> Any:
    """The array that was pickled, on its device."""
    from baracuda.frontends.array.placing import to_device

    held = np.frombuffer(bytearray(values), ElementKind[kind].numpy).reshape(shape)
    return to_device(held, Device.cpu() if device == "CPU" else Device.cuda(index))
