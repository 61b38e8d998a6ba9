"""The extension `fft`, whole: transforms of one axis or several, in float32 and complex64 or float64 and complex128 as x is."""

from __future__ import annotations

from typing import Any, Literal

import baracuda
from baracuda.array_api.operands import Axes, DType, device_or, kind_or
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.frontends.array import Array

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

Norm = Literal["backward", "ortho", "forward"]
Lengths = tuple[int, ...] | None


def fft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """`baracuda.fft`."""
    return baracuda.fft(x, n, axis, norm)


def ifft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """`baracuda.ifft`."""
    return baracuda.ifft(x, n, axis, norm)


def fftn(x: Array, /, *, s: Lengths = None, axes: Axes = None, norm: Norm = "backward") -> Array:
    """`baracuda.fftn`."""
    return baracuda.fftn(x, *_given(s, axes), norm)


def ifftn(x: Array, /, *, s: Lengths = None, axes: Axes = None, norm: Norm = "backward") -> Array:
    """`baracuda.ifftn`."""
    return baracuda.ifftn(x, *_given(s, axes), norm)


def rfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """`baracuda.rfft`."""
    return baracuda.rfft(x, n, axis, norm)


def irfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """`baracuda.irfft`."""
    return baracuda.irfft(x, n, axis, norm)


def rfftn(x: Array, /, *, s: Lengths = None, axes: Axes = None, norm: Norm = "backward") -> Array:
    """`baracuda.rfftn`."""
    return baracuda.rfftn(x, *_given(s, axes), norm)


def irfftn(x: Array, /, *, s: Lengths = None, axes: Axes = None, norm: Norm = "backward") -> Array:
    """`baracuda.irfftn`."""
    return baracuda.irfftn(x, *_given(s, axes), norm)


def hfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """`baracuda.hfft`."""
    return baracuda.hfft(x, n, axis, norm)


def ihfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """`baracuda.ihfft`."""
    return baracuda.ihfft(x, n, axis, norm)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: Device | None = None) -> Array:
    """`baracuda.fftfreq`."""
    return baracuda.fftfreq(n, float(d), kind_or(dtype, ElementKind.F32), device=device_or(device), like=Array)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: Device | None = None) -> Array:
    """`baracuda.rfftfreq`."""
    return baracuda.rfftfreq(n, float(d), kind_or(dtype, ElementKind.F32), device=device_or(device), like=Array)


def fftshift(x: Array, /, *, axes: Axes = None) -> Array:
    """`baracuda.fftshift`."""
    return baracuda.fftshift(x, _listed(axes))


def ifftshift(x: Array, /, *, axes: Axes = None) -> Array:
    """`baracuda.ifftshift`."""
    return baracuda.ifftshift(x, _listed(axes))


def _listed(axes: Any) -> Any:
    return tuple(axes) if isinstance(axes, (list, tuple)) else axes


def _given(s: Any, axes: Any) -> tuple[Any, Any]:
    """Lengths and axes as tuples."""
    return _listed(s), _listed(axes)
