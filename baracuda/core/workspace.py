"""Scratch memory that the caller owns."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from baracuda.core.device import Device, DeviceKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError, WorkspaceTooSmallError
from baracuda.core.layout import reach
from baracuda.core.tensor import tensor_mut

#: Every allocated workspace starts at a multiple of this many bytes.
ALIGNMENT = 256
#: What a workspace that somebody else allocated must at least be aligned to.
LEAST_ALIGNMENT = 16


def allocate_host(nbytes: int, device: Device) -> np.ndarray[Any, Any]:
    """`nbytes` bytes of ordinary host memory, aligned to `ALIGNMENT`."""
    block = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -block.ctypes.data % ALIGNMENT
    return block[start : start + nbytes]


#: How `Workspace.allocate` gets memory on each kind of device: a function of (nbytes, device) that gives what `Workspace`
#: takes. The runtime replaces and adds entries.
ALLOCATORS: dict[DeviceKind, Callable[[int, Device], Any]] = {DeviceKind.CPU: allocate_host}


class Workspace:
    """A range of memory that plans may scribble on while they run.

    Its contents mean nothing before and after a run. One workspace serves any number of plans, as long as no two that
    use it run at the same time.

    Parameters
    ----------
    buffer
        A contiguous, writable tensor of any kind (NumPy, PyTorch or a DLPack producer), or `(pointer, nbytes, device)`
        for memory that the caller keeps alive. Plans take all of these as their workspace too.

    Raises
    ------
    InvalidProblemError
        The buffer has gaps, is read-only, is not a tensor, does not begin at a multiple of 16 bytes, is null, or the pointer or
        size is negative.
    """

    __slots__ = ("device", "nbytes", "owner", "pointer")

    pointer: int
    nbytes: int
    device: Device
    owner: Any

    def __init__(self, buffer: Any) -> None:
        if isinstance(buffer, tuple):
            whole = [isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in buffer]
            if whole != [True, True, False] or not isinstance(buffer[2], Device):
                raise InvalidProblemError(f"workspace: {buffer!r}; expected a pointer, a number of bytes and a Device")
            self.pointer, self.nbytes, self.device = int(buffer[0]), int(buffer[1]), buffer[2]
            self.owner = None
            if self.pointer < 0 or self.nbytes < 0:
                raise InvalidProblemError(f"workspace: pointer {self.pointer}, {self.nbytes} bytes; expected 0 or above")
            if self.nbytes and not self.pointer:
                raise InvalidProblemError(f"workspace: a null pointer for {self.nbytes} bytes; expected memory")
            self._aligned()
            return
        tensor = tensor_mut(buffer, name="workspace")
        lowest, highest = reach(tensor.shape, tensor.strides)
        if highest - lowest + 1 != prod(tensor.shape):
            raise InvalidProblemError(
                f"workspace: shape {tensor.shape} with strides {tensor.strides} has gaps or overlaps; expected contiguous memory"
            )
        self.pointer = tensor.pointer + lowest * tensor.kind.bits // 8
        self.nbytes = (highest - lowest + 1) * tensor.kind.bits // 8
        self.device = tensor.device
        self.owner = tensor.owner
        self._aligned()

    def _aligned(self) -> None:
        if self.nbytes and self.pointer % LEAST_ALIGNMENT:
            raise InvalidProblemError(
                f"workspace: it begins at {self.pointer:#x}; expected a multiple of {LEAST_ALIGNMENT} bytes"
            )

    @staticmethod
    def allocate(nbytes: int, device: Device | None = None) -> Workspace:
        """New memory of `nbytes` bytes, aligned to `ALIGNMENT`, on the CPU unless another device is given.

        Raises
        ------
        InvalidProblemError
            `nbytes` is negative.
        UnsupportedError
            Nothing here allocates on such a device: pass a buffer of the framework in use to `Workspace` instead.
        """
        device = Device.cpu() if device is None else device
        if nbytes < 0:
            raise InvalidProblemError(f"workspace: {nbytes} bytes; expected 0 or above")
        allocator = ALLOCATORS.get(device.kind)
        if allocator is None:
            raise UnsupportedError(f"workspace: nothing here allocates on {device}; pass a buffer to Workspace(...) instead")
        return Workspace(allocator(nbytes, device))

    @staticmethod
    def of(memory: Any, nbytes: int, device: Device) -> Workspace:
        """What a plan was given as its workspace, if it is enough: a `Workspace`, what one is made from, or None for no memory.

        Raises
        ------
        WorkspaceTooSmallError
            It has fewer than `nbytes` bytes.
        InvalidProblemError
            It is on another device, or cannot be a workspace.
        """
        workspace = memory if isinstance(memory, Workspace) else Workspace((0, 0, device) if memory is None else memory)
        workspace.require(nbytes)
        if workspace.device != device:
            raise InvalidProblemError(f"workspace: it is on {workspace.device}; expected {device}")
        return workspace

    def require(self, nbytes: int) -> None:
        """Raise `WorkspaceTooSmallError` if there are fewer than `nbytes` bytes."""
        if self.nbytes < nbytes:
            raise WorkspaceTooSmallError(nbytes, self.nbytes)

    def __repr__(self) -> str:
        return f"Workspace(pointer={self.pointer:#x}, nbytes={self.nbytes}, device={self.device})"
