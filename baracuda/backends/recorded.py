"""Bound launches of a library: what it launches is recorded once and launched as a CUDA graph from then on.

cuDNN looks everything up at each call: on an H200's host (2026-11-22) its attention takes 43 microseconds, and what was
recorded 9 to 18; the device may be done in less. A product of cuBLASLt takes 6 to 15 and is called.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from baracuda.core import locks
from baracuda.core.device import Device, Stream
from baracuda.runtime.streams import CudaStream, is_capturing

_lock = locks.lock()


@cache
def recorder(index: int) -> CudaStream:
    """The stream of a device on which launches are recorded."""
    return CudaStream(Device.cuda(index))


def recorded(index: int, launch: Callable[[int], None], stream: int) -> Callable[[], None]:
    """A function that launches on `stream` what `launch` does for the handle of a stream.

    Where the stream is being captured itself, the library is called. Raises what `launch` raises, and `BackendError` where it
    does what cannot be recorded.
    """
    with _lock:
        graph = recorder(index).capture(lambda on: launch(on.handle))
    target = Stream(Device.cuda(index), stream)

    def bound() -> None:
        if is_capturing(target):
            launch(stream)
        else:
            graph.replay(target)

    return bound
