"""DLPack producers: one built by hand, of any device, type, flags and version over memory that need not exist, and one with
nothing but DLPack."""

from __future__ import annotations

import ctypes
from typing import Any

from baracuda.core.dlpack import DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor

_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_New", ctypes.pythonapi))
name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))


class FakeTensor:
    """One managed tensor; records what it was asked for and how often its deleter ran."""

    def __init__(
        self,
        pointer: int = 0x1000,
        shape: tuple[int, ...] = (2, 3),
        strides: tuple[int, ...] | None = None,
        dtype: tuple[int, int, int] = (2, 32, 1),
        device: tuple[int, int] = (2, 0),
        flags: int = 0,
        byte_offset: int = 0,
        version: tuple[int, int] | None = (1, 1),
        capsule_name: bytes | None = None,
        has_deleter: bool = True,
    ) -> None:
        self.device = device
        self.versioned = version is not None
        self.calls: list[dict[str, Any]] = []
        self.deleted: list[int] = []
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        self._strides = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
        int64_pointer = ctypes.POINTER(ctypes.c_int64)
        tensor = DLTensor(
            pointer,
            DLDevice(*device),
            len(shape),
            DLDataType(*dtype),
            ctypes.cast(self._shape, int64_pointer),
            None if self._strides is None else ctypes.cast(self._strides, int64_pointer),
            byte_offset,
        )
        self._deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.deleted.append)
        deleter = ctypes.cast(self._deleter, ctypes.c_void_p) if has_deleter else None
        self.managed: DLManagedTensor | DLManagedTensorVersioned
        if version is None:
            self.managed = DLManagedTensor(tensor, None, deleter)
        else:
            self.managed = DLManagedTensorVersioned(DLPackVersion(*version), None, deleter, flags, tensor)
        self._name = capsule_name or (b"dltensor" if version is None else b"dltensor_versioned")
        self.capsule = _new(ctypes.addressof(self.managed), self._name, None)

    @property
    def address(self) -> int:
        return ctypes.addressof(self.managed)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **arguments: Any) -> Any:
        self.calls.append(arguments)
        if "max_version" in arguments and not self.versioned:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        return self.capsule


class Bare:
    """A producer with nothing but DLPack."""

    __slots__ = ("__weakref__", "_of")

    def __init__(self, of: Any) -> None:
        self._of = of

    def __dlpack__(self, **keywords: Any) -> Any:
        return self._of.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self._of.__dlpack_device__()
        return device
