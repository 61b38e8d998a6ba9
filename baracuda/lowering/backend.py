"""The backends of generated kernels: one for each kind of device.

A problem is lowered in its own folder. Where `lowering/matmul/problem.py` has the problem, `lowering/matmul/cuda/lower.py` has

    def ways(problem: MatmulProblem, target: Target) -> Iterator[Lowered]

with the most promising way first, then others that autotuning tries; they differ in no bit. So a backend is a line here, a
toolchain (`baracuda.runtime.toolchain`), and a folder in each problem's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, TypeVar

from baracuda.core.device import Device, DeviceKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.sku import ArchSku, BackendKind
from baracuda.runtime.program import Lowered

#: The lowest compute capability that kernels are generated for.
LOWEST = (8, 0)

#: What instructions of compute capability 8.9 and above compute.
_BYTE_FLOATS = frozenset(["code_f8e4m3", "code_f8e5m2"])
#: What every backend does where it stores and loads.
_STORED = frozenset(["stored_bf16", "stored_f16"])

Made = TypeVar("Made")


class Backend(ABC):
    """What generates the kernels of a kind of device.

    Attributes
    ----------
    device_kind
        The kind of device.
    kind
        What plans call it.
    folder
        Its folder in that of each problem.
    tried
        How many ways of a problem autotuning tries at most.
    separates_sums
        Whether sums over outer axes are better taken apart from what else is computed of rows that lie side by side.
    """

    device_kind: DeviceKind
    kind: BackendKind
    folder: str
    tried: int
    separates_sums: bool = False

    @abstractmethod
    def arch(self, device: Device) -> ArchSku:
        """The instruction set of a device; raises `UnsupportedError` where kernels are generated for newer ones only."""

    def native(self, device: Device) -> frozenset[str]:
        """The functions of formulas that a device has an instruction of, with the bits of their definitions."""
        return _STORED

    @abstractmethod
    def target(self, device: Device) -> Any:
        """What a problem's `ways` are told of a device."""

    def ways(self, problem: object, device: Device) -> Iterator[Lowered]:
        """A problem lowered for a device, the most promising way first."""
        room = type(problem).__module__.rpartition(".")[0]
        name = f"{room}.{self.folder}.lower"
        try:
            ways: Iterator[Lowered] = import_module(name).ways(problem, self.target(device))
        except ModuleNotFoundError as error:
            if error.name is None or not name.startswith(error.name):
                raise
            raise UnsupportedError(f"{type(problem).__name__}: {self.kind} has no kernels of it") from None
        return ways


class CpuBackend(Backend):
    """LLVM IR, for the processor or whatever its toolchain takes it for."""

    device_kind, kind, folder, tried = DeviceKind.CPU, BackendKind.FORMULA_CPU, "cpu", 1
    separates_sums = True

    def arch(self, device: Device) -> ArchSku:
        return ArchSku.host()

    def target(self, device: Device) -> Any:
        from baracuda.lowering.nest.cpu.targets import target_of

        return target_of(device)


class CudaBackend(Backend):
    """CUDA C++, for an NVIDIA GPU."""

    device_kind, kind, folder, tried = DeviceKind.CUDA, BackendKind.FORMULA_CUDA, "cuda", 5

    def arch(self, device: Device) -> ArchSku:
        from baracuda.runtime.cuda import architecture

        major, minor, _ = architecture(device.index)
        if (major, minor) < LOWEST:
            lowest = ".".join(map(str, LOWEST))
            raise UnsupportedError(f"{device} has compute capability {major}.{minor}; expected {lowest} or newer")
        return ArchSku.cuda(major, minor)

    def native(self, device: Device) -> frozenset[str]:
        from baracuda.runtime.cuda import architecture

        return _STORED | _BYTE_FLOATS if architecture(device.index)[:2] >= (8, 9) else _STORED

    def target(self, device: Device) -> Any:
        from baracuda.lowering.nest.cuda.targets import target_of

        return target_of(device)


BACKENDS: dict[DeviceKind, Backend] = {b.device_kind: b for b in (CpuBackend(), CudaBackend())}


def backend_of(device: Device) -> Backend:
    """The backend of a device."""
    return BACKENDS[device.kind]


def candidates(device: Device, make: Callable[[], Made]) -> tuple[tuple[BackendKind, Callable[[], Made] | str], ...]:
    """What a plan has of every backend: a way to make its implementation, or why it cannot serve."""
    return tuple((b.kind, make if b is backend_of(device) else f"the stream is on {device}") for b in BACKENDS.values())
