"""Where something was measured or proved: device, driver, versions, date. Every file that the commands write begins with it."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from baracuda import __version__
from baracuda.core.device import Device, DeviceKind
from baracuda.core.sku import ArchSku
from baracuda.core.version import ARITHMETIC_VERSION

#: Packages whose versions a result may depend on.
PACKAGES = ("numpy", "scipy", "ml_dtypes", "llvmlite", "cuda-bindings", "nvidia-cuda-nvrtc", "nvmath-python")
#: Packages that results are compared with.
RIVALS = ("torch", "jax", "cupy")


@dataclass(frozen=True)
class Environment:
    """What a result depends on besides the code.

    Attributes
    ----------
    kind, device, arch
        "cpu" or "cuda", the name of the processor or GPU, and the instruction set that kernels are made for.
    threads
        Of the CPU; None on a GPU.
    driver, system
        The NVIDIA driver's version ("" on the CPU), and the operating system.
    versions
        Of baracuda, its arithmetic, Python, and the installed packages.
    date
        The day, in UTC, as YYYY-MM-DD.
    """

    kind: str
    device: str
    arch: str
    threads: int | None
    driver: str
    system: str
    versions: dict[str, str]
    date: str

    def record(self) -> dict[str, Any]:
        """As it is written to JSON."""
        return asdict(self)

    def __str__(self) -> str:
        threads = "" if self.threads is None else f", {self.threads} thread{'s' * (self.threads != 1)}"
        driver = f", driver {self.driver}" if self.driver else ""
        return f"{self.device} ({self.arch}{threads}{driver})"


def environment(device: Device, packages: Sequence[str] = (*PACKAGES, *RIVALS)) -> Environment:
    """The environment of results on a device.

    Raises `UnsupportedError` where there is no such device, `BackendError` where its driver does not answer.
    """
    versions = {"baracuda": __version__, "arithmetic": str(ARITHMETIC_VERSION), "python": platform.python_version()}
    versions |= {name: text for name in packages if (text := package_version(name)) is not None}
    date = datetime.now(UTC).date().isoformat()
    if device.kind is DeviceKind.CPU:
        from baracuda.runtime.cpu import get_num_threads

        arch = str(ArchSku.host())
        return Environment("cpu", cpu_name(), arch, get_num_threads(), "", platform.platform(), versions, date)
    from baracuda.runtime.cuda import architecture
    from baracuda.runtime.device_memory import name

    major, minor, _ = architecture(device.index)
    arch = str(ArchSku.cuda(major, minor))
    return Environment("cuda", name(device), arch, None, driver_version(), platform.platform(), versions, date)


def package_version(package: str) -> str | None:
    """The version of an installed package, which is not imported for it; None where there is none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def cpu_name() -> str:
    """What the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def driver_version() -> str:
    """The NVIDIA driver's version, from the kernel module or nvidia-smi; "unknown" where neither tells."""
    try:
        words = Path("/proc/driver/nvidia/version").read_text().partition("\n")[0].split()
        return next(w for w in words if w[:1].isdigit() and "." in w)
    except (OSError, StopIteration):
        pass
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return answer.stdout.partition("\n")[0].strip() or "unknown"
