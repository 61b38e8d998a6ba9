"""A device as the checks use it: memory, streams, threads and graphs of the CPU and of CUDA, without a framework."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from baracuda.cli.verify.placing import Placing
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
Around: TypeAlias = Callable[[Work, Again], None]


class Held(ABC):
    """One block in a machine's memory."""

    @abstractmethod
    def tensor(self, placing: Placing, *, written: bool) -> Any:
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
    def upload(self, block: Bytes) -> Held:
        """Put a block into the device's memory, aligned to 64 bytes at least."""

    @abstractmethod
    def workspace(self, nbytes: int) -> Workspace | None:
        """Poisoned scratch memory; None for 0 bytes."""

    @abstractmethod
    def synchronize(self) -> None:
        """Wait for the device."""

    @abstractmethod
    def variations(self) -> Iterator[tuple[str, Around]]:
        """Ways to execute a piece of work that must not change a bit, each with a name."""


class HostBlock(Held):
    """A block of the host's memory."""

    def __init__(self, block: Bytes) -> None:
        self.block = block

    def tensor(self, placing: Placing, *, written: bool) -> Any:
        return placing.view(self.block)

    def download(self) -> Bytes:
        return self.block.copy()

    def overwrite(self, block: Bytes) -> None:
        self.block[:] = block


class Host(Machine):
    """The CPU, with NumPy arrays."""

    name, stream = "cpu", Stream(Device.cpu())

    def upload(self, block: Bytes) -> Held:
        raw = np.empty(block.nbytes + 64, np.uint8)
        start = -raw.ctypes.data % 64
        own = raw[start : start + block.nbytes]
        own[:] = block
        return HostBlock(own)

    def workspace(self, nbytes: int) -> Workspace | None:
        return Workspace(np.full(nbytes, 0xFF, np.uint8)) if nbytes else None

    def synchronize(self) -> None:
        """A call on the CPU is done when it returns."""

    def variations(self) -> Iterator[tuple[str, Around]]:
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


class CudaBlock(Held):
    """A block of a CUDA device's memory."""

    def __init__(self, block: Bytes, device: Device) -> None:
        self.memory = DeviceMemory(block.nbytes, device)
        self.memory.fill(np.ascontiguousarray(block))

    def tensor(self, placing: Placing, *, written: bool) -> Any:
        make = TensorMut if written else TensorRef
        pointer, available = self.memory.pointer + placing.offset, placing.nbytes - placing.offset
        return make(
            pointer,
            placing.shape,
            placing.strides,
            placing.kind,
            self.memory.device,
            available,
            placing.offset,
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

    def upload(self, block: Bytes) -> Held:
        return CudaBlock(block, self.device)

    def workspace(self, nbytes: int) -> Workspace | None:
        if not nbytes:
            return None
        memory = DeviceMemory(nbytes, self.device)
        memory.fill(np.full(nbytes, 0xFF, np.uint8))
        found = Workspace((memory.pointer, nbytes, self.device))
        found.owner = memory
        return found

    def synchronize(self) -> None:
        synchronize(self.device)

    @cached_property
    def other(self) -> CudaStream:
        """A stream besides the default one."""
        return CudaStream(self.device)

    def variations(self) -> Iterator[tuple[str, Around]]:
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
