"""Programs on a GPU as graphs of the driver's: made here, launched from C."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from baracuda.core import locks
from baracuda.core.device import Device
from baracuda.core.errors import Error
from baracuda.native import load
from baracuda.runtime.cuda import graph_functions
from baracuda.runtime.streams import CudaStream

native = load()
_lock = locks.lock()


@cache
def use_graphs() -> None:
    """Have C make graphs of programs whose addresses come again."""
    if native is not None:
        native.use_graphs(_made, *graph_functions())


@cache
def _stream(index: int) -> CudaStream:
    """The stream of a device on which programs are captured."""
    return CudaStream(Device.cuda(index))


def _made(index: int, launch: Callable[[int], None]) -> tuple[int, Any] | None:
    """What is launched on a stream, as a graph: its address, and what owns it. None where it cannot be captured."""
    with _lock:
        try:
            graph = _stream(index).capture(lambda stream: launch(stream.handle))
        except (Error, RuntimeError):
            return None
    return graph.handle, graph
