"""Filling the cache of compiled kernels ahead of their use, for this machine's CPU or for a GPU that need not be there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from baracuda.cli.bench.benchmark import PlanBenchmark
from baracuda.cli.bench.suites import problems
from baracuda.cli.bench.suites.request import Request
from baracuda.cli.inspection import Tensor, device_of, inspected
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.sku import PlanPreference
from baracuda.runtime.cuda_toolchain import OfflineToolchain
from baracuda.runtime.nvrtc import cubin
from baracuda.runtime.toolchain import toolchain_of

#: The suites of `baracuda bench` whose problems stand for what is called.
SUITES = ("seeds", "families", "large", "gemm", "attention")


@dataclass(frozen=True)
class WarmResult:
    """What was done: how many plans were selected, how many kernels they have, and the problems that no plan can do."""

    plans: int
    kernels: int
    refused: tuple[str, ...]


def known(ops: Sequence[str], kind: str, elements: Sequence[str] = ()) -> list[PlanBenchmark]:
    """The problems of ops, forward and backward, in the sizes that `baracuda bench` measures; of all ops, where one is "all".

    Raises `InvalidProblemError` for an op that there is no problem of.
    """
    request = Request(kind, tuple(elements))
    every = [p for suite in SUITES for p in problems(suite, request) if isinstance(p, PlanBenchmark)]
    if not elements:  # ops that take none of the usual ones
        known_ops = {p.op for p in every}
        rest = problems("families", Request(kind, tuple(k.label for k in ElementKind)))
        every += [p for p in rest if isinstance(p, PlanBenchmark) and p.op not in known_ops]
    if "all" in ops:
        return every
    matches = [p for p in every if _stem(p.op) in ops or p.op in ops]
    missing = [op for op in ops if not any(op in (_stem(p.op), p.op) for p in matches)]
    if missing:
        raise InvalidProblemError(f"{', '.join(missing)}: no sizes are known; expected shapes, as `baracuda inspect` takes them")
    return matches


def _stem(op: str) -> str:
    return op.removesuffix("_backward")


def warm(
    ops: Sequence[str],
    target: str = "cpu",
    *,
    tensors: Sequence[Tensor] = (),
    elements: Sequence[str] = (),
    backward: bool = False,
    options: Mapping[str, Any] | None = None,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> WarmResult:
    """Compile what calls of functions run, into the cache on disk.

    Parameters
    ----------
    ops
        The functions, or "all".
    target
        "cpu", this machine's, or a GPU's architecture: "sm_90".
    tensors, options, backward
        One call of each function, as `inspected` takes them. Without tensors the sizes are those of `known`.
    elements
        Labels of elements, where the sizes are known ones.
    tell
        Called with how many kernels are compiled, and of how many.

    Raises
    ------
    Error
        There is no such function or target, or its compiler is missing.
    """
    device = device_of(target)
    plans, refused, names = 0, [], set()
    if tensors:
        if "all" in ops:
            raise InvalidProblemError("all: shapes are those of one function; expected its name")
        for op in ops:
            for plan in inspected(op, tensors, target, backward=backward, options=options):
                plans += 1
                names |= {kernel.source for kernel in plan.kernels}
    else:
        for problem in known(ops, device.kind.value, elements):
            try:
                names |= set(_selected(problem, device))
                plans += 1
            except UnsupportedError as error:
                refused.append(f"{problem}: {error}")
    if device.kind is DeviceKind.CUDA:
        _compile(sorted(names), device, tell)
    return WarmResult(plans, len(names), tuple(refused))


def _selected(problem: PlanBenchmark, device: Device) -> Iterator[str]:
    """The kernels of a problem's plan for contiguous tensors; on the CPU they are compiled now."""
    cls, d = problem.plan, problem.descriptor
    plan = cls.select_layouts(device, d, PlanPreference(), cls.layouts(d)[:1])
    yield from (kernel.source for kernel in plan.kernels())


def _compile(sources: Sequence[str], device: Device, tell: Callable[[int, int], None]) -> None:
    toolchain = toolchain_of(device)
    assert isinstance(toolchain, OfflineToolchain)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        waiting = [pool.submit(cubin, source, toolchain.arch) for source in sources]
        for compiled, future in enumerate(as_completed(waiting), 1):
            future.result()
            tell(compiled, len(sources))
