"""Consuming DLPack: the C structures of `dlpack.h`, versions 0.8 to 1.x, read through ctypes.

`import_dlpack` asks the producer for a capsule, takes the managed tensor out of it, and returns what it says. The producer's
deleter runs once, when the returned owner is collected.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from baracuda.core.device import LEGACY_DEFAULT, LEGACY_DEFAULT_ALIAS, Device, DeviceKind, Stream
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.layout import contiguous_strides

#: The newest version asked for. The major version fixes the layout of the structures.
MAX_VERSION = (1, 1)
#: Bits of DLManagedTensorVersioned.flags.
FLAG_READ_ONLY, FLAG_SUBBYTE_PADDED = 1 << 0, 1 << 2


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    """What a capsule named "dltensor" holds."""

    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class DLPackVersion(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class DLManagedTensorVersioned(ctypes.Structure):
    """What a capsule named "dltensor_versioned" holds."""

    _fields_ = [
        ("version", DLPackVersion),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", DLTensor),
    ]


# Prototypes of our own: argtypes set on ctypes.pythonapi itself would be shared with every other user of it.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", ctypes.pythonapi))
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

# A capsule keeps a pointer to its name, so the names live as long as the module.
_LEGACY, _LEGACY_USED = b"dltensor", b"used_dltensor"
_VERSIONED, _VERSIONED_USED = b"dltensor_versioned", b"used_dltensor_versioned"

_DEVICE_KINDS = {
    1: DeviceKind.CPU,  # kDLCPU
    2: DeviceKind.CUDA,  # kDLCUDA
    3: DeviceKind.CPU,  # kDLCUDAHost: pinned host memory
    13: DeviceKind.CUDA,  # kDLCUDAManaged
}
_ELEMENT_KINDS = {kind.dlpack: kind for kind in ElementKind}


class ManagedTensor:
    """Ownership of one managed tensor: calls the producer's deleter when collected."""

    __slots__ = ("__weakref__", "_address", "_deleter")

    def __init__(self, address: int, deleter: int | None) -> None:
        self._address = address
        self._deleter = _Deleter(deleter) if deleter else None

    def __del__(self) -> None:
        if self._deleter is not None:
            self._deleter(self._address)


class DLPackTensor(NamedTuple):
    """What a managed tensor says: strides in elements, and an owner that keeps the memory alive."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    kind: ElementKind
    device: Device
    readonly: bool
    owner: ManagedTensor


def expand_lanes(
    shape: tuple[int, ...], strides: tuple[int, ...], lanes: int, name: str
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides in single elements of a tensor whose items are `lanes` packed elements each.

    The last axis grows by the factor `lanes`, so its items must be adjacent. Element 2i is the low half of byte i.
    """
    if lanes == 1:
        return shape, strides
    if not shape or (shape[-1] > 1 and strides[-1] != 1):
        raise InvalidProblemError(
            f"{name}: items of {lanes} packed elements need a last axis of stride 1 to unpack along; "
            f"got shape {shape}, strides {strides}"
        )
    return (*shape[:-1], shape[-1] * lanes), (*(s * lanes for s in strides[:-1]), 1)


def _element_kind(dtype: DLDataType, name: str) -> ElementKind:
    kind = _ELEMENT_KINDS.get((dtype.code, dtype.bits))
    if kind is None or dtype.lanes not in ((1, 2) if dtype.bits == 4 else (1,)):
        raise UnsupportedError(
            f"{name}: DLPack type code {dtype.code}, {dtype.bits} bits, {dtype.lanes} lanes has no element kind; "
            f"expected one of {', '.join(map(str, ElementKind))}"
        )
    return kind


def _device(device_type: int, device_id: int, name: str) -> Device:
    kind = _DEVICE_KINDS.get(device_type)
    if kind is None:
        known = "1 (CPU), 2 (CUDA), 3 (pinned) or 13 (managed)"
        raise UnsupportedError(f"{name}: DLPack device type {device_type}; expected {known}")
    return Device.cpu() if kind is DeviceKind.CPU else Device.cuda(device_id)


def _capsule(obj: Any, device: Device, stream: Stream | None, name: str) -> Any:
    """Call `__dlpack__`, first as DLPack 1.x has it."""
    arguments: dict[str, Any] = {}
    if device.kind is DeviceKind.CUDA and stream is not None:
        if stream.device != device:
            raise InvalidProblemError(f"{name}: it is on {device}, the stream on {stream.device}")
        arguments["stream"] = LEGACY_DEFAULT_ALIAS if stream.handle == LEGACY_DEFAULT else stream.handle
    try:
        try:
            return obj.__dlpack__(max_version=MAX_VERSION, **arguments)
        except TypeError:  # a producer from before DLPack 1.0 does not know max_version
            return obj.__dlpack__(**arguments)
    except (BufferError, TypeError, ValueError, RuntimeError) as error:
        producer = f"{type(obj).__module__}.{type(obj).__qualname__}"
        raise InvalidProblemError(f"{name}: {producer}.__dlpack__ refused: {error}") from error


def _take(capsule: Any, name: str) -> tuple[DLTensor, int, ManagedTensor]:
    """Move the managed tensor out of its capsule: the tensor, its flags and its new owner."""
    if _is_valid(capsule, _VERSIONED):
        address = _get_pointer(capsule, _VERSIONED)
        versioned = DLManagedTensorVersioned.from_address(address)
        _set_name(capsule, _VERSIONED_USED)
        owner = ManagedTensor(address, versioned.deleter)
        if versioned.version.major != MAX_VERSION[0]:
            version = f"{versioned.version.major}.{versioned.version.minor}"
            raise UnsupportedError(f"{name}: DLPack version {version}; expected {MAX_VERSION[0]}.x")
        return versioned.dl_tensor, versioned.flags, owner
    if _is_valid(capsule, _LEGACY):
        address = _get_pointer(capsule, _LEGACY)
        legacy = DLManagedTensor.from_address(address)
        _set_name(capsule, _LEGACY_USED)
        return legacy.dl_tensor, 0, ManagedTensor(address, legacy.deleter)
    raise InvalidProblemError(f"{name}: __dlpack__ gave {capsule!r}; expected an unused dltensor or dltensor_versioned")


def import_dlpack(obj: Any, stream: Stream | None = None, name: str = "tensor") -> DLPackTensor:
    """Read a tensor through its `__dlpack_device__` and `__dlpack__`.

    Parameters
    ----------
    obj
        Any DLPack producer.
    stream
        The stream that the memory will be used on; the producer makes it wait for pending work. Without one, the producer
        applies its own default.
    name
        What errors call the tensor.

    Raises
    ------
    InvalidProblemError
        The producer refused, or gave no usable capsule.
    UnsupportedError
        The device, the element type or the DLPack version is not one that baracuda knows.
    """
    device_type, device_id = obj.__dlpack_device__()
    device = _device(int(device_type), int(device_id), name)
    tensor, flags, owner = _take(_capsule(obj, device, stream, name), name)
    device = _device(tensor.device.device_type, tensor.device.device_id, name)
    kind = _element_kind(tensor.dtype, name)
    shape = tuple(tensor.shape[: tensor.ndim]) if tensor.ndim else ()
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else contiguous_strides(shape)
    if flags & FLAG_SUBBYTE_PADDED and kind.bits < 8:  # an element to a byte: in units of an element, every second one
        strides = tuple(s * (8 // kind.bits) for s in strides)
    else:
        shape, strides = expand_lanes(shape, strides, tensor.dtype.lanes, name)
    readonly = bool(flags & FLAG_READ_ONLY)
    return DLPackTensor((tensor.data or 0) + tensor.byte_offset, shape, strides, kind, device, readonly, owner)
