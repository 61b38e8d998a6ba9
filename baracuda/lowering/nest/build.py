"""Nests as executables, on either device."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.core.device import Device
from baracuda.lowering.executables import GeneratedExecutable, Pick, executable
from baracuda.lowering.nest.problem import Nest
from baracuda.runtime.program import Parameter


def build(
    device: Device,
    nest: Nest,
    params: Sequence[Parameter],
    *,
    way: int = 0,
    autotune: bool = False,
    pick: Pick = None,
    compiled_only: bool = False,
) -> GeneratedExecutable | None:
    """What computes a nest on a device (`baracuda.lowering.executables.executable`)."""
    return executable(
        device,
        nest,
        params,
        len(nest.operands),
        way=way,
        autotune=autotune,
        pick=pick,
        compiled_only=compiled_only,
        extents=lambda: [((*nest.outer, *nest.inner), o) for o in nest.operands],
    )
