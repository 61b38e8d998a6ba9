"""Where a measurement was made, as the command line records it."""

from __future__ import annotations

from typing import Any

from baracuda.cli import environment as of_the_package
from baracuda.core.device import Device


def environment(device: str, threads: int) -> dict[str, Any]:
    """The record of results on "cpu" or "cuda"."""
    found = of_the_package.environment(Device.cpu() if device == "cpu" else Device.cuda(0)).record()
    return {**found, "threads": threads if device == "cpu" else None}
