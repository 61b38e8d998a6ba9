"""What executes: thread pool, compilers, kernel cache, launches, memory."""

from __future__ import annotations

from typing import Any

from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.workspace import ALLOCATORS


def _allocate_cuda(nbytes: int, device: Device) -> Any:
    """Device memory for `Workspace.allocate`."""
    from baracuda.runtime import device_memory  # loads the compiler of the launch code, which most processes never need

    return device_memory.empty((nbytes,), ElementKind.U8, device)


ALLOCATORS[DeviceKind.CUDA] = _allocate_cuda
