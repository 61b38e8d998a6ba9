"""`baracuda doctor` as a library: what this machine has, what it lacks, and how fast it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from baracuda.cli import ceilings
from baracuda.cli.driver import LEAST_CUDA, Driver
from baracuda.cli.driver import examine as examine_driver
from baracuda.cli.environment import Environment, environment
from baracuda.cli.libraries import Library, libraries
from baracuda.cli.timing import clock_for
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import Error
from baracuda.core.sku import ArchSku
from baracuda.runtime import device_memory
from baracuda.runtime.cache import cache_info
from baracuda.runtime.cuda import architecture, device_count

#: The oldest GPU that kernels are made for.
LEAST_ARCH = (8, 0)
#: Elements that matrix products are measured in.
PRODUCTS = (ElementKind.BF16, ElementKind.F32)


@dataclass(frozen=True)
class Gpu:
    """One GPU; `problem` says why it cannot be used, where it cannot."""

    index: int
    name: str = ""
    arch: str = ""
    multiprocessors: int = 0
    memory_bytes: int = 0
    free_bytes: int = 0
    problem: str = ""


@dataclass
class Measured:
    """What one device did at most; `problems` has what could not be measured, and why."""

    device: str
    copy_bandwidth: float | None = None
    launch: ceilings.LaunchCost | None = None
    products: list[ceilings.ProductRate] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass
class Report:
    """Everything that `doctor` found.

    Attributes
    ----------
    environment
        The CPU's.
    driver, gpus, libraries
        As they were found.
    cache
        Where compiled kernels are kept (None: nowhere), how many, and their bytes.
    measured
        Of each usable device, unless measuring was not asked for or was interrupted.
    """

    environment: Environment
    driver: Driver
    gpus: list[Gpu]
    libraries: list[Library]
    cache: dict[str, Any]
    measured: list[Measured] = field(default_factory=list)

    def problems(self) -> list[tuple[str, str]]:
        """What is wrong, and what helps. Without a driver, what GPUs need is not missing."""
        problems = [(f"{d.package}: {d.problem}", d.remedy) for d in self.libraries if d.problem and not d.extra]
        if self.driver.broken:
            problems.append((f"NVIDIA driver {self.driver.version}: {self.driver.problem}", self.driver.remedy))
        lacking = [d for d in self.libraries if d.problem and d.extra == "cuda"]
        if lacking and self.driver.found:
            what = "; ".join(f"{d.package}: {d.problem}" for d in lacking)
            absent = all(d.version is None for d in lacking)
            problems.append((what, "pip install 'baracuda[cuda]'" if absent else " && ".join(d.remedy for d in lacking)))
        problems += [(f"cuda:{gpu.index}: {gpu.problem}", "") for gpu in self.gpus if gpu.problem]
        if self.cache["path"] is None:
            problems.append(("compiled kernels are not kept", "set BARACUDA_CACHE_DIR to a directory of your own"))
        return problems

    def record(self) -> dict[str, Any]:
        """As it is written to JSON."""
        problems = [{"problem": p, "remedy": r} for p, r in self.problems()]
        return {"doctor": "baracuda doctor", **asdict(self), "problems": problems, "well": not problems}


def examine(load_driver: Callable[[], Driver] = examine_driver) -> Report:
    """Look at this machine without measuring anything. Never raises, whatever is missing or broken."""
    driver = load_driver()
    installed = libraries()
    gpus = list(_gpus(driver, installed))
    info = cache_info()
    cache = {"path": None if info.path is None else str(info.path), "entries": info.entries, "bytes": info.bytes}
    return Report(environment(Device.cpu()), driver, gpus, installed, cache)


def _gpus(driver: Driver, installed: list[Library]) -> Iterator[Gpu]:
    if not driver.found or driver.problem:
        return
    if any(d.problem for d in installed if d.package == "cuda-bindings"):
        yield from (Gpu(i, problem="the packages that use it are missing") for i in range(driver.devices))
        return
    if not device_count():
        problem = f"the installed CUDA packages cannot use this driver; they need CUDA {'.'.join(map(str, LEAST_CUDA))}"
        yield from (Gpu(i, problem=problem) for i in range(driver.devices))
        return
    for index in range(device_count()):
        try:
            device = Device.cuda(index)
            major, minor, multiprocessors = architecture(index)
            free, total = device_memory.memory_of(device)
            name, arch = device_memory.name(device), str(ArchSku.cuda(major, minor))
            old = f"compute capability {major}.{minor}; expected {'.'.join(map(str, LEAST_ARCH))} or newer"
            yield Gpu(index, name, arch, multiprocessors, total, free, old if (major, minor) < LEAST_ARCH else "")
        except (Error, RuntimeError, OSError) as error:
            yield Gpu(index, problem=f"{type(error).__name__}: {error}")


#: One measurement: what it is, in words, and what does it.
Step = tuple[str, Callable[[], None]]


def measurements(report: Report) -> list[Step]:
    """The steps that fill `report.measured`: of the CPU, and of every GPU that can be used. A step never raises for what the
    device does; it leaves a word in `problems`."""
    devices = [Device.cpu(), *(Device.cuda(gpu.index) for gpu in report.gpus if not gpu.problem)]
    return [step for device in devices for step in _steps(report, device)]


def _steps(report: Report, device: Device) -> Iterator[Step]:
    measured = Measured(str(device))

    def attempt(what: str, work: Callable[[], None]) -> Step:
        def step() -> None:
            if measured not in report.measured:
                report.measured.append(measured)
            try:
                work()
            except (Error, ImportError, RuntimeError, OSError, MemoryError) as error:
                measured.problems.append(f"{what}: {type(error).__name__}: {error}")

        return f"{what} on {device}", step

    def launch() -> None:
        measured.launch = ceilings.launch_cost(device)

    def copy() -> None:
        measured.copy_bandwidth = ceilings.copy_bandwidth(clock_for(str(device)), device)

    def product(element: ElementKind, fastest: bool) -> Callable[[], None]:
        def work() -> None:
            rate = ceilings.product_rate(clock_for(str(device)), device, element, fastest=fastest)
            if all((r.element, r.backend) != (rate.element, rate.backend) for r in measured.products):
                measured.products.append(rate)

        return work

    yield attempt("launch cost", launch)
    yield attempt("copy bandwidth", copy)
    for element in PRODUCTS:
        yield attempt(f"{element} product, reproducible", product(element, False))
        yield attempt(f"{element} product, fastest", product(element, True))
