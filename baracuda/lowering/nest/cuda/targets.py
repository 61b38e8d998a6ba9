"""What a CUDA device is compiled for."""

from __future__ import annotations

from functools import cache

from baracuda.core.device import Device
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.runtime.cuda import architecture


@cache
def target_of(device: Device) -> Target:
    """The target that a device is."""
    major, minor, multiprocessors = architecture(device.index)
    return Target(f"sm_{major}{minor}", multiprocessors)
