"""CUDA streams and graphs without a framework: queues of work of one's own, and recordings of it that can be replayed."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from baracuda.core.device import Device, Stream, as_stream
from baracuda.runtime.cuda import check
from baracuda.runtime.device_memory import current

_local = threading.local()


def own_stream(device: Device) -> Stream:
    """The stream that work on our own arrays goes to: the device's default one, unless `using_stream` says otherwise."""
    stream: Stream | None = getattr(_local, "stream", None)
    return stream if stream is not None and stream.device is device else as_stream(None, device)


@contextmanager
def using_stream(stream: Stream) -> Iterator[None]:
    """Have this thread's work on arrays of the stream's device go to that stream."""
    before, _local.stream = getattr(_local, "stream", None), stream
    try:
        yield
    finally:
        _local.stream = before


class CudaStream:
    """A stream of a CUDA device, given back when the object is collected.

    Attributes
    ----------
    stream : Stream
        What plans take.
    """

    def __init__(self, device: Device) -> None:
        with current(device) as driver:
            flags = int(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)
            self.stream = Stream(device, int(check(driver.cuStreamCreate(flags), "cuStreamCreate")))
        weakref.finalize(self, _destroy, self.stream, "cuStreamDestroy").atexit = False

    def synchronize(self) -> None:
        """Wait until everything launched on it is done."""
        with current(self.stream.device) as driver:
            check(driver.cuStreamSynchronize(self.stream.handle), "cuStreamSynchronize")

    def capture(self, work: Callable[[Stream], None]) -> CudaGraph:
        """What `work` launches on this stream, as a graph; nothing of it runs.

        Raises `BackendError` where it does what cannot be captured, such as to allocate or to wait.
        """
        with current(self.stream.device) as driver:
            mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
            check(driver.cuStreamBeginCapture(self.stream.handle, mode), "cuStreamBeginCapture")
            try:
                work(self.stream)
            finally:
                ended = driver.cuStreamEndCapture(self.stream.handle)
            recorded = check(ended, "cuStreamEndCapture")
            try:
                instance = check(driver.cuGraphInstantiate(recorded, 0), "cuGraphInstantiate")
            finally:
                check(driver.cuGraphDestroy(recorded), "cuGraphDestroy")
        return CudaGraph(instance, self.stream)


class CudaGraph:
    """Recorded work, ready to be replayed, on the stream that it was recorded on or on another one.

    Attributes
    ----------
    handle : int
        What the driver knows it by.
    """

    def __init__(self, instance: Any, stream: Stream) -> None:
        self._instance, self.stream, self.handle = instance, stream, int(instance)
        weakref.finalize(self, _destroy, stream, "cuGraphExecDestroy", instance).atexit = False

    def replay(self, stream: Stream | None = None) -> None:
        """Launch all of it."""
        with current(self.stream.device) as driver:
            check(driver.cuGraphLaunch(self._instance, (stream or self.stream).handle), "cuGraphLaunch")


def is_capturing(stream: Stream) -> bool:
    """Whether what is launched on a stream is recorded rather than run."""
    with current(stream.device) as driver:
        status = check(driver.cuStreamIsCapturing(stream.handle), "cuStreamIsCapturing")
    return bool(status != driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE)


@contextmanager
def beside_captures(device: Device) -> Iterator[None]:
    """Have this thread allocate and wait while streams are being captured, in whatever mode; no capture sees any of it."""
    with current(device) as driver:
        relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        mode = check(driver.cuThreadExchangeStreamCaptureMode(relaxed), "cuThreadExchangeStreamCaptureMode")
        try:
            yield
        finally:
            check(driver.cuThreadExchangeStreamCaptureMode(mode), "cuThreadExchangeStreamCaptureMode")


def _destroy(stream: Stream, what: str, handle: Any = None) -> None:
    with current(stream.device) as driver:
        check(getattr(driver, what)(stream.handle if handle is None else handle), what)
