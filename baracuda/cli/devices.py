"""Where the demo runs: memory, waiting and a name of the CPU and of a CUDA device."""

from __future__ import annotations

import ctypes
from importlib.util import find_spec
from typing import Any

import numpy as np

from baracuda.core.device import Device, DeviceKind
from baracuda.core.sku import ArchSku
from baracuda.core.tensor import TensorMut
from baracuda.core.workspace import allocate_host
from baracuda.runtime import device_memory
from baracuda.runtime.cpu import get_num_threads
from baracuda.runtime.cuda import architecture, device_count


def upload(array: np.ndarray[Any, Any], device: Device) -> Any:
    """The array in the device's memory, aligned as any allocator would."""
    if device.kind is DeviceKind.CUDA:
        return device_memory.upload(array, device)
    copy = allocate_host(array.nbytes, device).view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def download(tensor: Any) -> np.ndarray[Any, Any]:
    """The values of what `upload` made."""
    array: np.ndarray[Any, Any] = device_memory.download(tensor) if isinstance(tensor, TensorMut) else tensor
    return array


def wait(device: Device) -> None:
    """Until everything that was launched is done; on the CPU it is."""
    if device.kind is DeviceKind.CUDA:
        device_memory.synchronize(device)


def describe(device: Device) -> str:
    """What the device is, in a few words."""
    if device.kind is DeviceKind.CPU:
        count = get_num_threads()
        return f"cpu ({ArchSku.host()}, {count} thread{'s' if count > 1 else ''})"
    major, minor, multiprocessors = architecture(device.index)
    return f"{device} ({device_memory.name(device)}, {ArchSku.cuda(major, minor)}, {multiprocessors} multiprocessors)"


def why_no_cuda() -> str | None:
    """What is missing for CUDA, or None if nothing is."""
    if device_count():
        return None
    try:
        ctypes.CDLL("nvcuda.dll" if hasattr(ctypes, "WinDLL") else "libcuda.so.1")
    except OSError:
        return "there is no NVIDIA driver"
    if find_spec("cuda") is None or find_spec("cuda.bindings") is None:
        return "there is an NVIDIA driver, but not the packages that use it: pip install 'baracuda[cuda]'"
    return "the NVIDIA driver has no device for this process, or is too old for the installed CUDA packages"
