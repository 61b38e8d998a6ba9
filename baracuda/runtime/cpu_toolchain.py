"""From lowered code to a program on the CPU: LLVM, one kernel after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from baracuda.core.device import Device
from baracuda.core.kernel_info import KernelInfo
from baracuda.runtime import constants, jit
from baracuda.runtime.cpu import CpuCall
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.offline import OfflineProgram
from baracuda.runtime.program import Launch, Lowered, Parameter, Program, Step, Template
from baracuda.runtime.toolchain import LoadedProgram, Toolchain


@dataclass(frozen=True)
class _Tools:
    """LLVM for one target."""

    target: CpuTarget

    def ptx(self, source: str) -> None:
        """None: it is no GPU."""

    def sass(self, source: str) -> None:
        """None: it is no GPU."""

    def assembly(self, source: str) -> str:
        return jit.assembly(source, self.target)

    def resources(self, source: str) -> None:
        """None: registers are no limit on how many threads there are."""


class CpuToolchain(Toolchain):
    """LLVM's compiler and linker in this process; `target` is what code is made for, by default this processor."""

    def __init__(self, target: CpuTarget | None = None) -> None:
        self.target = target or jit.host()

    def is_loaded(self, launch: Launch) -> bool:
        return jit.is_loaded(launch.source, self.target)

    def compile(self, launches: Sequence[Launch]) -> None:
        """Nothing: LLVM compiles under a lock of its own, so that nothing is gained ahead of `load`."""

    def describe(self, lowered: Lowered) -> tuple[KernelInfo, ...]:
        def info(launch: Launch) -> KernelInfo:
            name, tools = launch.kernel.name, _Tools(self.target)
            units, grain = launch.units, launch.grain
            return KernelInfo(name, lowered.schedule, self.target.cpu, launch.source, units=units, grain=grain, tools=tools)

        return tuple(map(info, lowered.launches))

    def load(self, lowered: Lowered, operands: int, params: Sequence[Parameter]) -> LoadedProgram:
        integers, held = constants.integers(lowered, Device.cpu())
        program = Program(tuple(map(self._step, lowered.launches)), tuple(integers))
        return CpuCall(program, Template(program, operands, params), held)

    def _step(self, launch: Launch) -> Step:
        name = launch.kernel.name
        return Step(jit.load(launch.source, (name,), self.target)[name], launch.units, launch.grain, prepared=launch.prepared)


class OfflineCpuToolchain(CpuToolchain):
    """The toolchain of a processor that is not there: nothing that it makes can be called."""

    def load(self, lowered: Lowered, operands: int, params: Sequence[Parameter]) -> LoadedProgram:
        return OfflineProgram(self.target.cpu)
