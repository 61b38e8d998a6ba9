"""Where a measurement was made: device, driver, versions, date."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

import baracuda

_PACKAGES = ("numpy", "llvmlite", "cuda-core", "cuda-bindings", "nvidia-cuda-nvrtc")


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _driver() -> str:
    """The NVIDIA driver's version as nvidia-smi tells it."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return answer.stdout.partition("\n")[0].strip()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def environment(device: str, threads: int) -> dict[str, Any]:
    """What a result depends on besides the code."""
    on_cuda = device == "cuda"
    versions = {"baracuda": baracuda.__version__, "arithmetic": str(baracuda.ARITHMETIC_VERSION)}
    versions |= {"python": platform.python_version(), "torch": torch.__version__}
    versions |= {name: _version(name) for name in _PACKAGES}
    return {
        "kind": device,
        "device": torch.cuda.get_device_name() if on_cuda else _cpu_name(),
        "threads": None if on_cuda else threads,
        "driver": f"{_driver()}, CUDA {torch.version.cuda} in torch" if on_cuda else platform.platform(),
        "versions": versions,
        "date": datetime.now(UTC).date().isoformat(),
    }
