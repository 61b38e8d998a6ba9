"""The one place that knows which device the tests run on: memory, streams, threads and graphs of the CPU and of CUDA."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pytest

from baracuda.core.device import Device, Stream
from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.workspace import Workspace
from tests.kernels.operands import Placing

_TORCH_NAMES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
_TORCH_NAMES |= {"s8": "int8", "u8": "uint8", "s32": "int32", "u32": "uint32", "s64": "int64", "u64": "uint64", "bool": "bool"}


def torch_dtype(kind: ElementKind) -> Any:
    """The torch dtype of a kind."""
    import torch

    return getattr(torch, _TORCH_NAMES[kind.label])


class Held(ABC):
    """One block in a machine's memory."""

    @abstractmethod
    def tensor(self, placing: Placing, *, written: bool) -> Any:
        """What a caller would pass for the tensor that lies there."""

    @abstractmethod
    def download(self) -> np.ndarray:
        """The block's bytes, on the host."""

    @abstractmethod
    def overwrite(self, block: np.ndarray) -> None:
        """Replace the block's bytes, where they are."""


class Machine(ABC):
    """A device and how to use it."""

    name: str
    stream: Stream

    @abstractmethod
    def upload(self, block: np.ndarray) -> Held:
        """Put a block into the device's memory, aligned to 64 bytes at least."""

    @abstractmethod
    def workspace(self, nbytes: int) -> Workspace | None:
        """Poisoned scratch memory; None for 0 bytes."""

    @abstractmethod
    def synchronize(self) -> None:
        """Wait for the device."""

    @abstractmethod
    def variations(self) -> Iterator[tuple[str, Callable[[Callable[[Stream], None]], None]]]:
        """Ways to execute a piece of work that must not change a bit: each has a name and takes a function of a stream."""


class _HostBlock(Held):
    def __init__(self, block: np.ndarray) -> None:
        self.block = block

    def tensor(self, placing: Placing, *, written: bool) -> Any:
        return placing.view(self.block)

    def download(self) -> np.ndarray:
        return self.block.copy()

    def overwrite(self, block: np.ndarray) -> None:
        self.block[:] = block


class Host(Machine):
    """The CPU, with NumPy arrays."""

    name, stream = "cpu", Stream(Device.cpu())

    def upload(self, block: np.ndarray) -> Held:
        raw = np.empty(block.nbytes + 64, np.uint8)
        start = -raw.ctypes.data % 64
        own = raw[start : start + block.nbytes]
        own[:] = block
        return _HostBlock(own)

    def workspace(self, nbytes: int) -> Workspace | None:
        return Workspace(np.full(nbytes, 0xFF, np.uint8)) if nbytes else None

    def synchronize(self) -> None:
        pass

    def variations(self) -> Iterator[tuple[str, Callable[[Callable[[Stream], None]], None]]]:
        for count in (1, 2, 3):
            yield f"{count} threads", lambda work, count=count: _with_threads(count, lambda: work(self.stream))


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Run with this many CPU threads."""
    from baracuda.runtime.cpu import get_num_threads, set_num_threads

    before = get_num_threads()
    set_num_threads(count)
    try:
        yield
    finally:
        set_num_threads(before)


def _with_threads(count: int, work: Callable[[], None]) -> None:
    with threads(count):
        work()


class _CudaBlock(Held):
    def __init__(self, block: np.ndarray) -> None:
        import torch

        self.memory = torch.from_numpy(block.copy()).cuda()

    def tensor(self, placing: Placing, *, written: bool) -> Any:
        import torch

        if any(s < 0 for s in placing.strides):  # torch has no negative strides
            make = TensorMut if written else TensorRef
            pointer = self.memory.data_ptr() + placing.offset
            return make(pointer, placing.shape, placing.strides, placing.kind, Device.cuda(0), owner=self.memory)
        flat = self.memory.view(torch_dtype(placing.kind))
        return torch.as_strided(flat, placing.shape, placing.strides, placing.offset // placing.kind.itemsize)

    def download(self) -> np.ndarray:
        found: np.ndarray = self.memory.cpu().numpy()
        return found

    def overwrite(self, block: np.ndarray) -> None:
        import torch

        self.memory.copy_(torch.from_numpy(block.copy()))


class Cuda(Machine):
    """The first CUDA device, with torch tensors (and bare `TensorRef`s where torch has no such layout)."""

    name, stream = "cuda", Stream(Device.cuda(0))

    def upload(self, block: np.ndarray) -> Held:
        return _CudaBlock(block)

    def workspace(self, nbytes: int) -> Workspace | None:
        import torch

        return Workspace(torch.full((nbytes,), 0xFF, dtype=torch.uint8, device="cuda")) if nbytes else None

    def synchronize(self) -> None:
        import torch

        torch.cuda.synchronize()

    def variations(self) -> Iterator[tuple[str, Callable[[Callable[[Stream], None]], None]]]:
        yield "another stream", _on_another_stream
        yield "a replayed graph", _in_a_graph


def _on_another_stream(work: Callable[[Stream], None]) -> None:
    import torch

    torch.cuda.synchronize()
    other = torch.cuda.Stream()
    work(Stream(Device.cuda(0), other.cuda_stream))
    other.synchronize()


def _in_a_graph(work: Callable[[Stream], None]) -> None:
    import torch

    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work(Stream(Device.cuda(0), torch.cuda.current_stream().cuda_stream))
    graph.replay()
    graph.replay()
    torch.cuda.synchronize()


@cache
def machine_of(device: str) -> Machine:
    """The machine of a name; skips the test where there is none."""
    if device == "cpu":
        return Host()
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return Cuda()
