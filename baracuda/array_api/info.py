"""What the namespace says of itself."""

from __future__ import annotations

from typing import Any

from baracuda.array_api import dtypes as _dtypes
from baracuda.array_api.dtypes import isdtype
from baracuda.array_api.operands import DEFAULTS, default_device
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind

_STANDARD = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
#: Axes that calls are kept for; more are computed, more slowly.
MOST_AXES = 32


class Info:
    """What `__array_namespace_info__` gives."""

    def capabilities(self) -> dict[str, Any]:
        """Masks, results whose size depends on data, and many axes: all of them."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": MOST_AXES}

    def default_device(self) -> Device:
        """The device of arrays that are made without saying where."""
        return default_device()

    def default_dtypes(self, *, device: Device | None = None) -> dict[str, ElementKind]:
        """What arrays made of Python's numbers have, and indices."""
        names = {"real floating": float, "complex floating": complex, "integral": int, "indexing": int}
        return {name: DEFAULTS[number] for name, number in names.items()}

    def dtypes(self, *, device: Device | None = None, kind: Any = None) -> dict[str, ElementKind]:
        """The standard's dtypes of a kind, by name; all devices have all of them."""
        found = {name: getattr(_dtypes, name) for name in _STANDARD}
        return {name: dtype for name, dtype in found.items() if kind is None or isdtype(dtype, kind)}

    def devices(self) -> tuple[Device, ...]:
        """The CPU and the CUDA devices."""
        from baracuda.runtime.cuda import device_count

        return (Device.cpu(), *(Device.cuda(i) for i in range(device_count())))


def __array_namespace_info__() -> Info:
    """What the namespace says of itself."""
    return Info()
