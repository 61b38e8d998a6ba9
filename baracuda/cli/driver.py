"""The NVIDIA driver, asked directly: whether there is one, whether it answers, and what to do where it does not."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from baracuda.cli.environment import driver_version

#: The CUDA version that the packages of the extra `cuda` are of: older drivers cannot load what they make.
LEAST_CUDA = (13, 0)

#: What helps with a status of `cuInit`.
REMEDIES = {
    100: "no GPU is visible to this process: look at CUDA_VISIBLE_DEVICES, and in a container run it with --gpus all",
    101: "CUDA_VISIBLE_DEVICES names a GPU that does not exist",
    802: "the NVSwitch fabric is not up: start nvidia-fabricmanager",
    803: "the loaded kernel module and libcuda are of different versions: restart the machine, or reinstall the driver",
    804: "this GPU needs a driver of its own generation: remove the forward-compatibility package, or update the driver",
    999: "the kernel module does not answer: load nvidia and nvidia_uvm (nvidia-modprobe -u), or restart the machine",
}


@dataclass(frozen=True)
class Driver:
    """What is known of the driver.

    Attributes
    ----------
    found
        Whether its library is there.
    version, cuda
        Of the driver ("580.65.06"), and the newest CUDA that it runs ("13.0"); empty where not known.
    devices
        How many GPUs it shows to this process.
    problem, remedy
        What is wrong, and what helps; empty where nothing is.
    """

    found: bool
    version: str = ""
    cuda: str = ""
    devices: int = 0
    problem: str = ""
    remedy: str = ""

    @property
    def broken(self) -> bool:
        """Whether there is a driver and it does not work."""
        return self.found and bool(self.problem)


def library_name() -> str:
    """The driver's library on this system."""
    return "nvcuda.dll" if hasattr(ctypes, "WinDLL") else "libcuda.so.1"


def examine(load: Callable[[str], Any] = ctypes.CDLL) -> Driver:
    """The driver of this machine; never raises. `load` opens a library."""
    try:
        library = load(library_name())
    except OSError as error:
        remedy = "nothing, if there is no NVIDIA GPU; else install its driver: https://www.nvidia.com/drivers"
        return Driver(False, problem=f"there is no NVIDIA driver: {error}", remedy=remedy)
    version = driver_version()
    try:
        status = int(library.cuInit(0))
        cuda = _number(library, "cuDriverGetVersion")
        supported = f"{cuda // 1000}.{cuda % 1000 // 10}"
        if status:
            name = _status_name(library, status)
            return Driver(
                True, version, supported, 0, f"cuInit returned {name}", REMEDIES.get(status, "see the driver's log: dmesg")
            )
        devices = _number(library, "cuDeviceGetCount")
    except (AttributeError, OSError, ValueError) as error:
        return Driver(True, version, problem=f"its library does not work: {error}", remedy="reinstall the driver")
    if (cuda // 1000, cuda % 1000 // 10) < LEAST_CUDA:
        needed = ".".join(map(str, LEAST_CUDA))
        return Driver(
            True, version, supported, devices, f"it runs CUDA up to {supported}; expected {needed}", "update the driver"
        )
    if not devices:
        return Driver(True, version, supported, 0, "it shows no GPU", REMEDIES[100])
    return Driver(True, version, supported, devices)


def _number(library: Any, function: str) -> int:
    """What a call with one result returns; raises ValueError where the call fails."""
    number = ctypes.c_int(0)
    status = int(getattr(library, function)(ctypes.byref(number)))
    if status:
        raise ValueError(f"{function} returned {_status_name(library, status)}")
    return number.value


def _status_name(library: Any, status: int) -> str:
    text = ctypes.c_char_p()
    try:
        library.cuGetErrorName(status, ctypes.byref(text))
    except (AttributeError, OSError):
        return str(status)
    return f"{text.value.decode()} ({status})" if text.value else str(status)
