"""Nests as executables, on either device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from baracuda.core.device import Device, DeviceKind
from baracuda.lowering.executables import FormulaExecutable, Pick, executable
from baracuda.lowering.nest.problem import Nest
from baracuda.runtime.program import Lowered, Parameter

if TYPE_CHECKING:
    from baracuda.lowering.nest.cuda.lower import Target, Tuning


def build(
    device: Device,
    nest: Nest,
    params: Sequence[Parameter],
    *,
    pick: Pick = None,
    compiled_only: bool = False,
    autotune: bool = False,
    tuning: Tuning | None = None,
) -> FormulaExecutable | None:
    """What computes a nest on a device, not loaded yet; None where it would have to be compiled and `compiled_only` is set.

    `autotune` measures every tuning on scratch memory and takes the fastest; none of them changes a bit. Tunings are of GPUs.
    """
    ways = choices(device, nest, autotune=autotune, tuning=tuning)
    return executable(
        device,
        ways,
        params,
        len(nest.operands),
        pick=pick,
        compiled_only=compiled_only,
        extents=lambda: [((*nest.outer, *nest.inner), o) for o in nest.operands],
    )


def choices(device: Device, nest: Nest, *, autotune: bool = False, tuning: Tuning | None = None) -> list[Lowered]:
    """A nest lowered for a device: under one tuning, or under all of them."""
    if device.kind is DeviceKind.CPU:
        from baracuda.lowering.nest.cpu import lower as cpu
        from baracuda.lowering.nest.cpu.targets import target_of as target_on_cpu

        return [cpu.lower(nest, target_on_cpu(device))]
    from baracuda.lowering.nest.cuda.lower import TUNINGS
    from baracuda.lowering.nest.cuda.targets import target_of

    target = target_of(device)
    return [_for_cuda(nest, replace(target, tuning=t)) for t in (TUNINGS if autotune else (tuning or target.tuning,))]


@lru_cache(maxsize=4096)
def _for_cuda(nest: Nest, target: Target) -> Lowered:
    from baracuda.lowering.nest.cuda.lower import lower

    return lower(nest, target)
