"""`baracuda demo`: the same bits on every device, shown in seconds."""

from __future__ import annotations

import hashlib
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from baracuda import __version__
from baracuda.cli import devices
from baracuda.cli.problems import Problem, problems
from baracuda.core.device import Device, Stream
from baracuda.core.errors import Error
from baracuda.core.version import ARITHMETIC_VERSION
from baracuda.core.workspace import Workspace

#: What the bytes of outputs hold before a plan runs: one element left alone, and the digest is another.
POISON = 0xA5
#: A time is the median of this many batches of launches, each of about this many seconds.
BATCHES, BATCH_SECONDS = 5, 5e-3

#: Name and width of each column; the width is negative where the column is flush right.
COLUMNS = (
    ("op", 29),
    ("dtype", 5),
    ("schedule", 26),
    ("guarantee", 16),
    ("time", -11),
    ("GB/s", -5),
    ("SHA-256", 16),
    ("bits", 9),
)
LEGEND = """\
guarantee: precision of products + of sums / d same bits from run to run, b in every batch, s on every stream and with
           every tuning, x on every CPU and GPU.   time: one launch.   GB/s: the bytes of all tensors over that time."""


@dataclass(frozen=True)
class Result:
    """What one problem gave on one device: `digest` is the SHA-256 of its outputs' bytes, one output after the other."""

    schedule: str
    guarantee: str
    seconds: float
    nbytes: int
    digest: str


def reference() -> Mapping[str, str]:
    """The digest of every problem, by its name; empty if the file is of another version of the arithmetic."""
    held = json.loads(files("baracuda.cli").joinpath("reference.json").read_text())
    digests: dict[str, str] = held["sha256"] if held["arithmetic_version"] == ARITHMETIC_VERSION else {}
    return digests


def execute(problem: Problem, device: Device) -> Result:
    """Run one problem, and time it."""
    tensors = {name: devices.upload(array, device) for name, array in problem.inputs().items()}
    outputs = []
    for spec, shape, kind in problem.tensors(written=True):
        poison = np.full((*shape, kind.itemsize), POISON, np.uint8).view(kind.numpy).reshape(shape)
        tensors[spec.name] = devices.upload(poison, device)
        outputs.append(spec.name)
    stream, args = Stream(device), problem.call(tensors)
    plan = problem.plan.select(stream, problem.descriptor, like=args)
    size = plan.workspace_size()
    workspace = Workspace.allocate(size, device) if size else None
    plan.run(stream, workspace, args)
    digest = hashlib.sha256()
    for name in outputs:
        digest.update(devices.download(tensors[name]).reshape(-1).view(np.uint8).data)
    seconds = time_of(plan.bind(stream, workspace, args), device)
    return Result(plan.schedule, str(plan.precision_guarantee()), seconds, problem.nbytes, digest.hexdigest())


def time_of(launch: Callable[[], None], device: Device) -> float:
    """Seconds that one launch takes, in a row of launches."""

    def batch(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            launch()
        devices.wait(device)
        return (time.perf_counter() - start) / count

    batch(1)
    count = max(1, round(BATCH_SECONDS / batch(1)))
    return statistics.median(batch(count) for _ in range(BATCHES))


def row(cells: Sequence[str]) -> str:
    """One line of the table."""
    aligned = (c.ljust(width) if width > 0 else c.rjust(-width) for c, (_, width) in zip(cells, COLUMNS, strict=True))
    return "  ".join(aligned).rstrip()


def show(problem: Problem, result: Result, verdict: str) -> str:
    """A result as a line of the table."""
    duration, rate = f"{result.seconds * 1e6:,.1f} us", f"{result.nbytes / result.seconds / 1e9:,.0f}"
    cells = (result.schedule, result.guarantee, duration, rate, result.digest[:16], verdict)
    return row((problem.name, str(problem.element), *cells))


def run(where: str, only: Callable[[Problem], bool] = lambda problem: True) -> int:
    """Run the problems on the CPU, on the first CUDA device, or on "all" there are; returns the exit status.

    Prints a line for each result as it comes, and last how many have the reference bits.
    """
    print(f"baracuda {__version__}, arithmetic version {ARITHMETIC_VERSION}")
    chosen = [Device.cpu()] if where in ("all", "cpu") else []
    missing = devices.why_no_cuda() if where in ("all", "cuda") else None
    if missing is not None:
        print(f"no GPU: {missing}")
        if where == "cuda":
            return 1
    elif where in ("all", "cuda"):
        chosen.append(Device.cuda(0))
    digests = reference()
    total = equal = 0
    for device in chosen:
        print(f"\n{devices.describe(device)}\n{row([name for name, _ in COLUMNS])}", flush=True)
        for problem in filter(only, problems()):
            total += 1
            try:
                result = execute(problem, device)
            except Error as error:
                print(f"{problem}: {type(error).__name__}: {error}", flush=True)
                continue
            expected = digests.get(str(problem))
            equal += result.digest == expected
            verdict = "unknown" if expected is None else "equal" if result.digest == expected else "DIFFERENT"
            print(show(problem, result, verdict), flush=True)
    print(f"\n{LEGEND}\n\n{equal} of {total} results have the reference bits")
    return 0 if equal == total else 1
