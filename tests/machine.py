"""The one place that knows which device the tests run on: the CPU as `baracuda verify` uses it, and CUDA with torch's memory,
streams and graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.cli.verify.machine import Again, Host, Machine, MemoryBlock, RunHook, Work, threads
from baracuda.cli.verify.placement import TensorPlacement
from baracuda.core.device import Device, Stream
from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.workspace import Workspace

__all__ = ["Cuda", "Host", "Machine", "MemoryBlock", "machine_of", "threads", "torch_dtype", "waited"]

_TORCH_NAMES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
_TORCH_NAMES |= {"s8": "int8", "u8": "uint8", "s32": "int32", "u32": "uint32", "s64": "int64", "u64": "uint64", "bool": "bool"}
_TORCH_NAMES |= {"s16": "int16", "u16": "uint16", "complex64": "complex64", "complex128": "complex128"}
_TORCH_NAMES |= {"f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}


def waited(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """A function's result, once a GPU has told what it found wrong."""
    result = function(*arguments, **keywords)
    baracuda.synchronize()
    return result


def torch_dtype(kind: ElementKind) -> Any:
    """The torch dtype of a kind."""
    import torch

    return getattr(torch, _TORCH_NAMES[kind.label])


class _CudaBlock(MemoryBlock):
    def __init__(self, block: np.ndarray) -> None:
        import torch

        self.memory = torch.from_numpy(block.copy()).cuda()

    def tensor(self, placement: TensorPlacement, *, writable: bool) -> Any:
        import torch

        if any(s < 0 for s in placement.strides):  # torch has no negative strides
            make = TensorMut if writable else TensorRef
            pointer = self.memory.data_ptr() + placement.offset
            return make(pointer, placement.shape, placement.strides, placement.kind, Device.cuda(0), owner=self.memory)
        flat = self.memory.view(torch_dtype(placement.kind))
        return torch.as_strided(flat, placement.shape, placement.strides, placement.offset // placement.kind.itemsize)

    def download(self) -> np.ndarray:
        content: np.ndarray = self.memory.cpu().numpy()
        return content

    def overwrite(self, block: np.ndarray) -> None:
        import torch

        self.memory.copy_(torch.from_numpy(block.copy()))


class Cuda(Machine):
    """The first CUDA device, with torch tensors (and bare `TensorRef`s where torch has no such layout)."""

    name, stream = "cuda", Stream(Device.cuda(0))

    def upload(self, block: np.ndarray) -> MemoryBlock:
        return _CudaBlock(block)

    def workspace(self, nbytes: int) -> Workspace | None:
        import torch

        return Workspace(torch.full((nbytes,), 0xFF, dtype=torch.uint8, device="cuda")) if nbytes else None

    def synchronize(self) -> None:
        import torch

        torch.cuda.synchronize()

    def variations(self) -> Iterator[tuple[str, RunHook]]:
        yield "another stream", _on_another_stream
        yield "a replayed graph", _in_a_graph


def _on_another_stream(work: Work, again: Again) -> None:
    import torch

    torch.cuda.synchronize()
    other = torch.cuda.Stream()
    work(Stream(Device.cuda(0), other.cuda_stream))
    other.synchronize()


def _in_a_graph(work: Work, again: Again) -> None:
    import torch

    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work(Stream(Device.cuda(0), torch.cuda.current_stream().cuda_stream))
    for replay in range(2):
        if replay:
            again()
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
