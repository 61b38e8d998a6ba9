"""Where problems are measured: a device with its clock, and tensors in its memory, NumPy's on the CPU and `Array` on CUDA."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from baracuda.cli.timing import Clock, clock_for
from baracuda.core.device import Device, DeviceKind, Stream
from baracuda.core.elements import ElementKind
from baracuda.core.workspace import Workspace, allocate_host
from baracuda.frontends import array
from baracuda.runtime.cuda import check
from baracuda.runtime.device_memory import current

Tensor = Any
Values = np.ndarray[Any, Any]

#: What outputs are filled with before a run: NaN in every float kind; and another byte, to see which are written.
POISON, OTHER_POISON = 0xFF, 0x5A
#: Elements of a tensor that are looked at where it is large: this many at its beginning, and at its end.
LOOKED_AT = 1 << 18


class Place:
    """A device.

    Parameters
    ----------
    name
        "cpu", "cuda" or "cuda:N".
    clock
        What measures there; by default the device's own.
    """

    def __init__(self, name: str, clock: Clock | None = None) -> None:
        self.name = name
        self.device = Device.cpu() if name == "cpu" else Device.cuda(int(name.partition(":")[2] or 0))
        self.stream = Stream(self.device)
        self.clock = clock or clock_for(name)

    @property
    def on_cpu(self) -> bool:
        return self.device.kind is DeviceKind.CPU

    def empty(self, shape: Sequence[int], kind: ElementKind, *, transposed: bool = False) -> Tensor:
        """A tensor that holds anything; `transposed`: its last two axes are exchanged in memory."""
        stored_shape = (*shape[:-2], shape[-1], shape[-2]) if transposed else tuple(shape)
        if self.on_cpu:
            tensor = allocate_host(kind.itemsize * prod(stored_shape), self.device).view(kind.numpy).reshape(stored_shape)
            return tensor.swapaxes(-1, -2) if transposed else tensor
        whole = array.empty(stored_shape, kind, self.device)
        return whole.mT if transposed else whole

    def put(self, block: Values, shape: Sequence[int], *, transposed: bool = False) -> Tensor:
        """A tensor of the block's elements, repeated in the order of its memory as often as it takes."""
        tensor = self.empty(shape, ElementKind.from_numpy(block.dtype), transposed=transposed)
        count = prod(shape)
        if not count:
            return tensor
        flat = np.ascontiguousarray(block).reshape(-1)[:count]
        if self.on_cpu:
            _memory(tensor)[...] = np.resize(flat, count)
            return tensor
        size, whole = flat.nbytes, count * flat.dtype.itemsize
        with current(self.device) as driver:
            check(driver.cuMemcpyHtoD(tensor.pointer, flat.ctypes.data, size), "cuMemcpyHtoD")
            while size < whole:  # doubling what is there
                more = min(size, whole - size)
                check(driver.cuMemcpyDtoD(tensor.pointer + size, tensor.pointer, more), "cuMemcpyDtoD")
                size += more
        return tensor

    def poison(self, tensor: Tensor, byte: int = POISON) -> None:
        """Fill a tensor that `empty` made with a byte."""
        if self.on_cpu:
            _memory(tensor).view(np.uint8).fill(byte)
            return
        with current(self.device) as driver:
            size = prod(tensor.shape) * tensor.kind.itemsize
            check(driver.cuMemsetD8(tensor.pointer, byte, size), "cuMemsetD8")

    def workspace(self, nbytes: int) -> Workspace | None:
        """Scratch memory; None for 0 bytes."""
        return Workspace.allocate(nbytes, self.device) if nbytes else None

    def look(self, tensor: Tensor) -> Values:
        """A tensor's values on the host: all of them, or of a large one its beginning and its end."""
        self.clock.synchronise()
        parts = [tensor[span] for span in spans(tuple(tensor.shape))]
        host_parts = [np.array(part) if self.on_cpu else array.to_host(part) for part in parts]
        return host_parts[0] if len(host_parts) == 1 else np.concatenate([f.reshape(-1) for f in host_parts])


def spans(shape: tuple[int, ...]) -> list[tuple[slice, ...]]:
    """What of a tensor is looked at: everything, or slices along its longest axis at its beginning and its end."""
    if prod(shape) <= 2 * LOOKED_AT:
        return [()]
    axis = max(range(len(shape)), key=shape.__getitem__)
    count = max(LOOKED_AT * shape[axis] // prod(shape), 1)
    before = (slice(None),) * axis
    return [(*before, slice(count)), (*before, slice(shape[axis] - count, shape[axis]))]


def _memory(values: Values) -> Values:
    """The elements of a NumPy array that `empty` made, in the order of its memory."""
    dense = values if values.flags.c_contiguous else values.swapaxes(-1, -2)
    return dense.reshape(-1)
