"""What a device can do at most, measured: bytes copied in a second, operations of a matrix product, and what a launch costs
the host."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np

import baracuda
from baracuda.cli.timing import MIB, Call, Clock, compare
from baracuda.core.device import Device, DeviceKind, Stream
from baracuda.core.elements import ElementKind
from baracuda.core.sku import PlanPreference
from baracuda.core.workspace import Workspace, allocate_host
from baracuda.runtime.cpu import get_num_threads
from baracuda.runtime.device_memory import DeviceMemory, copy, synchronize, upload

#: Bytes that are copied: well beyond every cache.
COPIED = {"cuda": 1024 * MIB, "cpu": 256 * MIB}
#: Launches in a row, few enough that a GPU's queue never fills, and rows.
LAUNCHES, ROWS = 200, 15
#: Extent of the square matrices that are multiplied.
EXTENT = {"cuda": 8192, "cpu": 1024}


def copy_bandwidth(clock: Clock, device: Device | None = None) -> float:
    """Bytes read and written in a second: by the driver's copy on a GPU, by `memmove` in every thread on the CPU."""
    nbytes = COPIED[clock.device]
    if clock.device == "cpu":
        threads = get_num_threads()
        source, target = (allocate_host(nbytes, Device.cpu()) for _ in range(2))
        source[:], target[:] = 0, 1
        with ThreadPoolExecutor(threads) as pool:
            sample = compare(clock, {"copy": [_host_copy(pool, threads, source, target)]}).samples["copy"]
    else:
        blocks = [DeviceMemory(nbytes, device or Device.cuda(0)) for _ in range(2)]
        sample = compare(clock, {"copy": [lambda: copy(blocks[0], blocks[1], nbytes)]}).samples["copy"]
    return 2 * nbytes / sample.median


def _host_copy(pool: ThreadPoolExecutor, threads: int, source: np.ndarray[Any, Any], target: np.ndarray[Any, Any]) -> Call:
    """`memmove`, which lets go of the interpreter's lock, of a part in each thread."""
    edges = [source.nbytes * i // threads // 64 * 64 for i in range(threads)] + [source.nbytes]
    parts = list(pairwise(edges))

    def part(span: tuple[int, int]) -> None:
        ctypes.memmove(target.ctypes.data + span[0], source.ctypes.data + span[0], span[1] - span[0])

    if threads == 1:
        return lambda: part(parts[0])
    return lambda: list(pool.map(part, parts))


@dataclass(frozen=True)
class LaunchCost:
    """Microseconds of the host for one call of a small kernel with two tensors: bound, and through `run`."""

    bound: float
    run: float


def launch_cost(device: Device) -> LaunchCost:
    """Of `relu` on 64 numbers; on the CPU the computation itself is in it, on a GPU it goes on meanwhile."""
    x = np.ones(64, np.float32)
    relu, cls, args_type = (getattr(baracuda, name) for name in ("relu", "ReluPlan", "ReluArgs"))
    stream = Stream(device)
    plan = cls.select(stream, relu.describe(x))
    args = args_type(_on(device, x), _on(device, x))
    bound = plan.bind(stream, None, args)
    return LaunchCost(_microseconds(bound, device), _microseconds(lambda: plan.run(stream, None, args), device))


def _on(device: Device, array: np.ndarray[Any, Any]) -> Any:
    return upload(array, device) if device.kind is DeviceKind.CUDA else array.copy()


def _microseconds(call: Callable[[], object], device: Device) -> float:
    rows = []
    for _ in range(ROWS):
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            call()
        rows.append((time.perf_counter() - start) / LAUNCHES * 1e6)
        if device.kind is DeviceKind.CUDA:
            synchronize(device)
    return median(rows)


@dataclass(frozen=True)
class ProductRate:
    """Operations in a second of a square matrix product, two for each multiplication and addition, and whose plan did them."""

    element: str
    extent: int
    backend: str
    promises: str
    operations: float


def product_rate(clock: Clock, device: Device, element: ElementKind, *, fastest: bool) -> ProductRate:
    """The rate of the reproducible plan, or with `fastest` of a library's where there is one.

    Raises `UnsupportedError` where no plan computes it on the device.
    """
    n = EXTENT[clock.device]
    values = (np.arange(n * n, dtype=np.int64) % 7 - 3).astype(np.float32).reshape(n, n).astype(element.numpy)
    a, b, y = (_on(device, values) for _ in range(3))
    stream = Stream(device)
    descriptor = baracuda.MatmulDescriptor.matmul((n, n), (n, n), element)
    plan = baracuda.MatmulPlan.select(stream, descriptor, PlanPreference(fastest=fastest))
    workspace = Workspace.allocate(plan.workspace_size(), device) if plan.workspace_size() else None
    bound = plan.bind(stream, workspace, baracuda.MatmulArgs(a=a, b=b, y=y))
    sample = compare(clock, {"product": [bound]}).samples["product"]
    sku = plan.sku()
    return ProductRate(str(element), n, str(sku.backend), str(sku.guarantee), 2.0 * n**3 / sample.median)
