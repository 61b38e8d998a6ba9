"""Producing DLPack: a capsule of a tensor's memory, which holds the tensor until the consumer lets go of it."""

from __future__ import annotations

import ctypes
from typing import Any

from baracuda.core import dlpack
from baracuda.core.device import Device, DeviceKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef

_FLAG_COPIED = 1 << 1
#: What consumers hold, by the address of its managed tensor.
_held: dict[int, tuple[Any, ...]] = {}
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_capsule_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_GetName", ctypes.pythonapi))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_NAMES = {False: b"dltensor", True: b"dltensor_versioned"}  # a capsule keeps a pointer to its name


def _let_go(address: int) -> None:
    _held.pop(address, None)


#: The deleter of managed tensors.
_release = _Deleter(_let_go)


def _destroy(capsule: int) -> None:
    """The destructor of a capsule: where nobody took its tensor, that goes as well."""
    name = _capsule_name(capsule)
    if name in _NAMES.values():
        _held.pop(_capsule_pointer(capsule, name), None)


_destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_destroy)


def capsule_of(tensor: TensorRef, max_version: tuple[int, int] | None = None, copied: bool = False) -> Any:
    """A capsule of DLPack 1.x where the consumer knows it (`max_version`), else of the version before.

    Raises `BufferError` where that cannot say what the tensor is: that it is read-only.
    """
    versioned = max_version is not None and max_version[0] >= 1
    if tensor.readonly and not versioned:
        raise BufferError("the array is read-only, which DLPack before version 1.0 cannot say")
    rank = len(tensor.shape)
    extents, steps = (ctypes.c_int64 * rank)(*tensor.shape), (ctypes.c_int64 * rank)(*tensor.strides)
    code, bits = tensor.kind.dlpack
    described = dlpack.DLTensor(
        tensor.pointer,
        dlpack.DLDevice(1 if tensor.device.kind is DeviceKind.CPU else 2, tensor.device.index),
        rank,
        dlpack.DLDataType(code, bits, 1),
        ctypes.cast(extents, ctypes.POINTER(ctypes.c_int64)),
        ctypes.cast(steps, ctypes.POINTER(ctypes.c_int64)),
        0,
    )
    deleter = ctypes.cast(_release, ctypes.c_void_p)
    managed: Any
    if versioned:
        flags = (dlpack.FLAG_READ_ONLY if tensor.readonly else 0) | (_FLAG_COPIED if copied else 0)
        managed = dlpack.DLManagedTensorVersioned(dlpack.DLPackVersion(1, 0), None, deleter, flags, described)
    else:
        managed = dlpack.DLManagedTensor(described, None, deleter)
    address = ctypes.addressof(managed)
    _held[address] = (managed, extents, steps, tensor)
    return _new_capsule(address, _NAMES[versioned], ctypes.cast(_destructor, ctypes.c_void_p))


def wait_for(device: Device, stream: Any) -> None:
    """Have a consumer's stream (None and 1: the legacy default one, 2: the thread's) wait for what arrays' own has to do."""
    from baracuda.runtime.cuda import check
    from baracuda.runtime.device_memory import current
    from baracuda.runtime.streams import own_stream

    if stream is None:
        stream = 1
    if not isinstance(stream, int) or stream <= 0:
        raise InvalidProblemError(f"stream: {stream!r}; expected None, -1, 1, 2 or the handle of a stream")
    own = own_stream(device).handle
    if (own or 1) == stream:
        return
    with current(device) as driver:
        event = check(driver.cuEventCreate(int(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING)), "cuEventCreate")
        check(driver.cuEventRecord(event, own), "cuEventRecord")
        check(driver.cuStreamWaitEvent(stream, event, 0), "cuStreamWaitEvent")
        check(driver.cuEventDestroy(event), "cuEventDestroy")
