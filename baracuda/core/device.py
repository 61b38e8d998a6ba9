"""Devices and streams: where memory is and in which order work on it happens."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from baracuda.core.errors import InvalidProblemError


class DeviceKind(enum.Enum):
    """The kinds of device that kernels run on."""

    CPU = "cpu"
    CUDA = "cuda"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is several times slower


@dataclass(frozen=True, slots=True)
class Device:
    """One device. `index` is the CUDA ordinal; the CPU is always index 0.

    Prefer `Device.cpu()` and `Device.cuda(index)`, which return the same object each time.
    """

    kind: DeviceKind
    index: int = 0

    def __post_init__(self) -> None:
        if self.index < 0 or (self.kind is DeviceKind.CPU and self.index != 0):
            expected = "0" if self.kind is DeviceKind.CPU else "0 or above"
            raise InvalidProblemError(f"device index {self.index} of {self.kind.value}: expected {expected}")

    def __str__(self) -> str:
        return "cpu" if self.kind is DeviceKind.CPU else f"cuda:{self.index}"

    @staticmethod
    def cpu() -> Device:
        """The host."""
        return _CPU

    @staticmethod
    @lru_cache(maxsize=64)
    def cuda(index: int = 0) -> Device:
        """The CUDA device of the given ordinal."""
        return Device(DeviceKind.CUDA, index)


_CPU = Device(DeviceKind.CPU)

#: Handles that CUDA gives a meaning of their own: both 0 and 1 name the legacy default stream, 2 the per-thread one.
LEGACY_DEFAULT, LEGACY_DEFAULT_ALIAS, PER_THREAD_DEFAULT = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Stream:
    """An ordered queue of work on a device.

    Attributes
    ----------
    device : Device
        The device that the work runs on.
    handle : int
        The `cudaStream_t` or `CUstream` as an integer: 0 for CUDA's legacy default stream, and on the CPU, which has only
        one stream.
    """

    device: Device
    handle: int = LEGACY_DEFAULT

    def __post_init__(self) -> None:
        if self.handle < 0 or (self.device.kind is DeviceKind.CPU and self.handle != 0):
            raise InvalidProblemError(f"stream handle {self.handle} on {self.device}: expected 0 on the CPU, 0 or above on CUDA")
        if self.handle == LEGACY_DEFAULT_ALIAS:
            object.__setattr__(self, "handle", LEGACY_DEFAULT)

    def __str__(self) -> str:
        return str(self.device) if self.device.kind is DeviceKind.CPU else f"{self.device} stream {self.handle:#x}"


_CPU_STREAM = Stream(_CPU)
_stream = lru_cache(maxsize=256)(Stream)  # a caller passes the same few streams again and again


def _cuda_stream_protocol(obj: Any) -> int | None:
    """The handle that `__cuda_stream__` gives, a method or (in its first implementations) a property."""
    answer = getattr(obj, "__cuda_stream__", None)
    if answer is None:
        return None
    if callable(answer):
        answer = answer()
    if not isinstance(answer, tuple) or len(answer) != 2 or answer[0] != 0:
        raise InvalidProblemError(f"__cuda_stream__ of {obj!r} gave {answer!r}; expected a tuple (0, handle)")
    return int(answer[1])


def _device_index(obj: Any) -> int | None:
    """The CUDA ordinal that a foreign stream says it is on, if it says one."""
    device = getattr(obj, "device", None)
    candidates = (
        getattr(device, "index", None),  # torch.device
        getattr(device, "device_id", None),  # cuda.core.Device
        getattr(obj, "device_id", None),  # cupy.cuda.Stream; -1 there means "not known"
    )
    return next((i for i in candidates if isinstance(i, int) and not isinstance(i, bool) and i >= 0), None)


def _foreign_handle(obj: Any) -> int | None:
    if isinstance(obj, int) and not isinstance(obj, bool):
        return int(obj) if obj >= 0 else None
    handle = _cuda_stream_protocol(obj)
    if handle is None:
        handle = getattr(obj, "cuda_stream", None)  # torch.cuda.Stream
    if handle is None and hasattr(obj, "device_id"):
        handle = getattr(obj, "ptr", None)  # cupy.cuda.Stream
    return handle if isinstance(handle, int) else None


def as_stream(obj: Any, device_hint: Device | None = None) -> Stream:
    """The `Stream` that `obj` stands for.

    Parameters
    ----------
    obj
        None (the CPU's stream, or the legacy default stream of `device_hint` where that is a CUDA device), a `Stream`, an
        object with `__cuda_stream__`, a `torch.cuda.Stream`, a `cupy.cuda.Stream`, or a CUDA stream handle as an int.
    device_hint
        The device to assume where `obj` does not say (default: CUDA device 0).

    Raises
    ------
    InvalidProblemError
        `obj` is none of these, or it is on another device than `device_hint`.
    """
    if obj is None:
        return _CPU_STREAM if device_hint is None else _stream(device_hint)
    if type(obj) is Stream:
        stream = obj
    else:
        handle = _foreign_handle(obj)
        if handle is None:
            raise InvalidProblemError(
                f"{obj!r} is not a stream; expected None, a Stream, an object with __cuda_stream__, a torch or CuPy stream, "
                "or a handle as an int of 0 or above"
            )
        index = _device_index(obj)
        if index is not None:
            stream = _stream(Device.cuda(index), handle)
        else:
            stream = _stream(Device.cuda(0) if device_hint is None else device_hint, handle)
    if device_hint is not None and stream.device != device_hint:
        raise InvalidProblemError(f"stream {obj!r} is on {stream.device}; expected one on {device_hint}")
    return stream
