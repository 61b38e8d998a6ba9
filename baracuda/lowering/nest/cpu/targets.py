"""What the CPU is compiled for."""

from __future__ import annotations

from baracuda.core.device import Device
from baracuda.runtime.cpu_toolchain import CpuToolchain
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.toolchain import toolchain_of


def target_of(device: Device) -> CpuTarget:
    """The target that the CPU is, or that its toolchain takes it for."""
    toolchain = toolchain_of(device)
    assert isinstance(toolchain, CpuToolchain)
    return toolchain.target
