"""The clock of the host's own time, and the clock rates that a device was running at."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from baracuda.cli.timing import Call, Clock
from baracuda.core.device import Device, DeviceKind

#: What nvidia-smi is asked for: rates in MHz, the temperature in degrees, the power in watts.
_QUERY = ("clocks.sm", "clocks.mem", "clocks.max.sm", "temperature.gpu", "power.draw")


class HostClock:
    """The host's time of each batch of calls. A GPU has nothing to do when a batch begins, and is not waited for at its end."""

    warmups, rounds, round_budget = 5, 25, 4.0
    cache_bytes = 1  # what the device reads is not the subject

    def __init__(self, of: Clock) -> None:
        self._of, self.device = of, of.device

    def measure(self, batches: Sequence[Sequence[Call]]) -> list[float]:
        seconds = []
        for batch in batches:
            self.synchronise()
            start = time.perf_counter()
            for call in batch:
                call()
            seconds.append((time.perf_counter() - start) / len(batch))
        self.synchronise()
        return seconds

    def synchronise(self) -> None:
        self._of.synchronise()

    def bystanders(self) -> float:
        return self._of.bystanders() if self.device == "cpu" else 0.0


def clock_rates(device: Device) -> dict[str, Any]:
    """What the device's clocks run at now; empty where nobody tells."""
    if device.kind is DeviceKind.CPU:
        try:
            lines = Path("/proc/cpuinfo").read_text().splitlines()
        except OSError:
            return {}
        rates = [float(line.partition(":")[2]) for line in lines if line.startswith("cpu MHz")]
        return {"cpu MHz": round(mean(rates))} if rates else {}
    command = ["nvidia-smi", f"--id={device.index}", f"--query-gpu={','.join(_QUERY)}", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    values = [v.strip() for v in answer.partition("\n")[0].split(",")]
    return {name: float(v) for name, v in zip(_QUERY, values, strict=False) if v.replace(".", "", 1).isdigit()}
