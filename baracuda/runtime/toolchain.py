"""What makes a program of lowered code: compilers, loaders, and what calls it, for each kind of device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol

from baracuda.core.device import Device, DeviceKind
from baracuda.core.implementation import Scalars
from baracuda.core.kernel_info import KernelInfo
from baracuda.runtime.offline import is_offline
from baracuda.runtime.program import Launch, Lowered, Parameter


class LoadedProgram(Protocol):
    """A program, ready to be called."""

    def call(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars = None) -> None: ...

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]: ...


class Toolchain(ABC):
    """The compilers and the loader of one device."""

    @abstractmethod
    def is_loaded(self, launch: Launch) -> bool:
        """Whether the device has a launch's kernel already."""

    @abstractmethod
    def compile(self, launches: Sequence[Launch]) -> None:
        """See to it that `load` need not compile: the kernels that are on no disk are compiled, side by side where that is
        possible.

        Raises
        ------
        UnsupportedError
            The device can make no such launch.
        """

    @abstractmethod
    def describe(self, lowered: Lowered) -> tuple[KernelInfo, ...]:
        """What can be known of the kernels of lowered code, of which none need be compiled."""

    @abstractmethod
    def load(self, lowered: Lowered, operands: int, params: Sequence[Parameter]) -> LoadedProgram:
        """The program of lowered code, whose kernels are put on the device: for so many operands, with these parameters."""


_toolchains: dict[Device, Toolchain] = {}


def toolchain_of(device: Device) -> Toolchain:
    """The toolchain of a device."""
    toolchain = _toolchains.get(device)
    return toolchain if toolchain is not None else _toolchains.setdefault(device, _make_toolchain(device))


def use(toolchain: Toolchain, device: Device) -> None:
    """Have a toolchain make all that is made for a device from now on, in place of its own. What was made before stays, so a tool
    that wants this begins with it."""
    _toolchains[device] = toolchain


def _make_toolchain(device: Device) -> Toolchain:
    if device.kind is DeviceKind.CPU:
        from baracuda.runtime.cpu_toolchain import CpuToolchain

        return CpuToolchain()
    from baracuda.runtime.cuda_toolchain import CudaToolchain, OfflineToolchain

    return OfflineToolchain(device) if is_offline(device) else CudaToolchain(device)
