"""What can be known of a plan's kernels: their source, how they are launched, and what compilers make of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from baracuda.core.lazy import cached_property


@dataclass(frozen=True)
class Resources:
    """What a CUDA kernel takes on a device.

    Attributes
    ----------
    registers
        Of a thread.
    shared_bytes
        Shared memory of a block that the source declares itself, beside what a launch asks for.
    local_bytes
        Memory of a thread that is not in registers: arrays, and registers that were spilled.
    """

    registers: int
    shared_bytes: int
    local_bytes: int


class Tools(Protocol):
    """Compilers and disassemblers of one target; None where a target has no such thing, or the tool is missing."""

    def ptx(self, source: str) -> str | None: ...

    def sass(self, source: str) -> str | None: ...

    def assembly(self, source: str) -> str | None: ...

    def resources(self, source: str) -> Resources | None: ...


@dataclass(frozen=True, repr=False)
class KernelInfo:
    """One kernel of a plan. What takes a compiler is made when it is asked for, without a GPU.

    Attributes
    ----------
    name
        What its function is called in the source.
    schedule
        The schedule of the program that it is a part of.
    target
        What it is compiled for: "sm_90", or a processor's name.
    source
        CUDA C++, or LLVM IR.
    grid, block, shared, cluster
        On CUDA: blocks along three axes, threads of a block, dynamic shared memory in bytes, blocks of a cluster.
    units, grain
        On the CPU: units of work, and how many a thread takes at a time.
    once
        Whether it runs only once in a process, before the first call.
    """

    name: str
    schedule: str
    target: str
    source: str
    grid: tuple[int, int, int] | None = None
    block: int | None = None
    shared: int | None = None
    cluster: int | None = None
    units: int | None = None
    grain: int | None = None
    once: bool = False
    tools: Tools | None = field(default=None, compare=False)

    @property
    def geometry(self) -> str:
        """How it is launched, in words."""
        if self.grid is None:
            return f"{self.units} units of work, {self.grain} at a time"
        blocks = " x ".join(map(str, self.grid)) if self.grid[1:] != (1, 1) else str(self.grid[0])
        text = f"{blocks} blocks of {self.block} threads"
        text += f", clusters of {self.cluster}" if self.cluster != 1 else ""
        return text + (f", {self.shared} bytes of shared memory" if self.shared else "")

    @cached_property
    def ptx(self) -> str | None:
        """PTX, of a CUDA kernel."""
        return self.tools.ptx(self.source) if self.tools else None

    @cached_property
    def sass(self) -> str | None:
        """A GPU's machine code, where `nvdisasm` or `cuobjdump` is on the path."""
        return self.tools.sass(self.source) if self.tools else None

    @cached_property
    def assembly(self) -> str | None:
        """A processor's machine code, of a CPU kernel."""
        return self.tools.assembly(self.source) if self.tools else None

    @cached_property
    def resources(self) -> Resources | None:
        """Registers and memory of a CUDA kernel."""
        return self.tools.resources(self.source) if self.tools else None

    def __repr__(self) -> str:
        return f"<kernel {self.name} of {self.schedule!r} for {self.target}: {self.geometry}{', once' if self.once else ''}>"
