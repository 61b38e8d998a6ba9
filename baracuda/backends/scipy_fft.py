"""Fourier transforms by SciPy on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from baracuda.backends.cufft import unlike_library
from baracuda.backends.products import UnsupportedLayout
from baracuda.backends.scipy_special import StridedArray
from baracuda.core.call_recorder import Launcher
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Layout, Scalars
from baracuda.core.sku import ArchSku, BackendKind, MathPrecision, PrecisionGuarantee
from baracuda.lowering.executables import EmptyExecutable
from baracuda.lowering.generated import CachingImplementation, is_general
from baracuda.runtime.pool import get_num_threads

#: SciPy's function by the mode, and whether the exponent is positive.
_FUNCTIONS = {
    ("complex", False): "fft", ("complex", True): "ifft", ("real", False): "rfft", ("real", True): "ihfft",
    ("half", True): "irfft", ("half", False): "hfft",
}  # fmt: skip


def refusal(device: Device, d: Any) -> str | None:
    """Why SciPy does not compute a descriptor's transform on a device; None where it may."""
    if device.kind is not DeviceKind.CPU:
        return f"the stream is on {device}"
    return unlike_library(d)


class ScipyCall(Launcher):
    """A transform; takes the addresses of x and y."""

    workspace_bytes = 0

    def __init__(self, descriptor: Any, x: StridedArray, y: StridedArray) -> None:
        d = descriptor
        self.x, self.y = x, y
        name = _FUNCTIONS[d.mode, d.inverse]
        self.schedule = f"scipy.fft.{name}"
        divided = {"none": d.inverse, "n": not d.inverse}
        norm = "ortho" if d.scale == "root" else "forward" if divided[d.scale] else "backward"
        module = import_module("scipy.fft")  # not before it is needed
        self._compute = partial(getattr(module, name), n=d.n, axis=d.axis, norm=norm)

    def launch(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars) -> None:
        x, y = (t.at(pointers, workspace) for t in (self.x, self.y))
        with np.errstate(all="ignore"):
            np.copyto(y, self._compute(x, workers=get_num_threads()))

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        pointers = tuple(pointers)
        return lambda: self.call(pointers, workspace, stream)


class ScipyTransform(CachingImplementation):
    """SciPy's transform along one axis. The bits of a row depend on the processor, and on how many rows there are."""

    backend = BackendKind.SCIPY

    def __init__(self, device: Device, descriptor: Any) -> None:
        super().__init__(device)
        self.descriptor = descriptor
        self.arch = ArchSku.host()
        math = MathPrecision.F64 if descriptor.kind is ElementKind.F64 else MathPrecision.F32
        self.guarantee = PrecisionGuarantee(math, descriptor.kind, True, False, True, False)

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable:
        if is_general(layout):
            return UnsupportedLayout("scipy is called for the strides that the plan was selected for")
        d = self.descriptor
        if 0 in (*d.shape, *d.y_shape):
            return EmptyExecutable()
        arrays = []
        for i, (own, kind, shape) in enumerate(zip(layout, (d.element, d.y_element), (d.shape, d.y_shape), strict=True)):
            assert own is not None
            strides = tuple(s * kind.itemsize for s in own.strides)
            arrays.append(StridedArray(i, 0, kind.numpy, shape, strides))
        return ScipyCall(d, *arrays)
