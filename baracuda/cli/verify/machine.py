"""A device as the checks use it: memory, streams, threads and graphs of the CPU and of CUDA, without a framework."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from baracuda.cli.verify.placement import TensorPlacement
from baracuda.core.device import Device, Stream
from baracuda.core.lazy import cached_property
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.workspace import Workspace
from baracuda.runtime.cpu import get_num_threads, set_num_threads
from baracuda.runtime.device_memory import DeviceMemory, synchronize
from baracuda.runtime.streams import CudaStream

Bytes: TypeAlias = "np.ndarray[Any, Any]"
#: A piece of work, given the stream to put it on; what puts its tensors back as they were; and something that executes it.
Work: TypeAlias = Callable[[Stream], None]
Again: TypeAlias = Callable[[], None]
RunHook: TypeAlias = Callable[[Work, Again], None]


class MemoryBlock(ABC):
    """One block in a machine's memory."""

    @abstractmethod
    def tensor(self, placement: TensorPlacement, *, writable: bool) -> Any:
        """What a caller would pass for the tensor that lies there."""

    @abstractmethod
    def download(self) -> Bytes:
        """The block's bytes, on the host."""

    @abstractmethod
    def overwrite(self, block: Bytes) -> None:
        """Replace the block's bytes, where they are."""


class Machine(ABC):
    """A device and how to use it."""

    name: str
    stream: Stream

    @abstractmethod
    def upload(self, block: Bytes) -> MemoryBlock:
        """Put a block into the device's memory, aligned to 64 bytes at least."""

    @abstractmethod
    def workspace(self, nbytes: int) -> Workspace | None:
        """Poisoned scratch memory; None for 0 bytes."""

    @abstractmethod
    def synchronize(self) -> None:
        """Wait for the device."""

    @abstractmethod
    def variations(self) -> Iterator[tuple[str, RunHook]]:
        """Ways to execute a piece of work that must not change a bit, each with a name."""


class HostBlock(MemoryBlock):
    """A block of the host's memory."""

    def __init__(self, block: Bytes) -> None:
        self.block = block

    def tensor(self, placement: TensorPlacement, *, writable: bool) -> Any:
        return placement.view(self.block)

    def download(self) -> Bytes:
        return self.block.copy()

    def overwrite(self, block: Bytes) -> None:
        self.block[:] = block


class Host(Machine):
    """The CPU, with NumPy arrays."""

    name, stream = "cpu", Stream(Device.cpu())

    def upload(self, block: Bytes) -> MemoryBlock:
        raw = np.empty(block.nbytes + 64, np.uint8)
        start = -raw.ctypes.data % 64
        own = raw[start : start + block.nbytes]
        own[:] = block
        return HostBlock(own)

    def workspace(self, nbytes: int) -> Workspace | None:
        return Workspace(np.full(nbytes, 0xFF, np.uint8)) if nbytes else None

    def synchronize(self) -> None:
        """A call on the CPU is done when it returns."""

    def variations(self) -> Iterator[tuple[str, RunHook]]:
        for count in (1, 2, 3):
            yield f"{count} threads", lambda work, again, count=count: _with_threads(count, work, self.stream)  # type: ignore[misc]


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Run with this many CPU threads."""
    before = get_num_threads()
    set_num_threads(count)
    try:
        yield
    finally:
        set_num_threads(before)


def _with_threads(count: int, work: Work, stream: Stream) -> None:
    with threads(count):
        work(stream)


class CudaBlock(MemoryBlock):
    """A block of a CUDA device's memory."""

    def __init__(self, block: Bytes, device: Device) -> None:
        self.memory = DeviceMemory(block.nbytes, device)
        self.memory.fill(np.ascontiguousarray(block))

    def tensor(self, placement: TensorPlacement, *, writable: bool) -> Any:
        make = TensorMut if writable else TensorRef
        pointer, available = self.memory.pointer + placement.offset, placement.nbytes - placement.offset
        return make(
            pointer,
            placement.shape,
            placement.strides,
            placement.kind,
            self.memory.device,
            available,
            placement.offset,
            owner=self.memory,
        )

    def download(self) -> Bytes:
        return self.memory.read()

    def overwrite(self, block: Bytes) -> None:
        self.memory.fill(np.ascontiguousarray(block))


class Cuda(Machine):
    """A CUDA device, by the driver alone."""

    def __init__(self, index: int = 0) -> None:
        self.device = Device.cuda(index)
        self.name, self.stream = str(self.device), Stream(self.device)

    def upload(self, block: Bytes) -> MemoryBlock:
        return CudaBlock(block, self.device)

    def workspace(self, nbytes: int) -> Workspace | None:
        if not nbytes:
            return None
        memory = DeviceMemory(nbytes, self.device)
        memory.fill(np.full(nbytes, 0xFF, np.uint8))
        workspace = Workspace((memory.pointer, nbytes, self.device))
        workspace.owner = memory
        return workspace

    def synchronize(self) -> None:
        synchronize(self.device)

    @cached_property
    def other(self) -> CudaStream:
        """A stream besides the default one."""
        return CudaStream(self.device)

    def variations(self) -> Iterator[tuple[str, RunHook]]:
        yield "another stream", self._on_another_stream
        yield "a replayed graph", self._in_a_graph

    def _on_another_stream(self, work: Work, again: Again) -> None:
        self.synchronize()
        work(self.other.stream)
        self.other.synchronize()

    def _in_a_graph(self, work: Work, again: Again) -> None:
        self.synchronize()
        graph = self.other.capture(work)
        for replay in range(2):  # the second finds what the first left in the workspace
            if replay:
                again()
                self.synchronize()
            graph.replay()
            self.other.synchronize()


def machine_of(device: str) -> Machine:
    """The machine of "cpu", "cuda" or "cuda:N"."""
    if device == "cpu":
        return Host()
    return Cuda(int(device.partition(":")[2] or 0))
