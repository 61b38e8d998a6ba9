"""Programs: the steps of a kernel call and the words they read. Lowering makes them, `CpuCall` and `CudaCall` run them.

All steps of a program share one array of 64-bit *words*, laid out as

    [address of each operand] [workspace address] [parameters, as bits] [integers: extents, strides, ...]

so that a call is made by writing addresses into a copy of the template and handing it to one native function.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from baracuda.core.elements import ElementKind


@dataclass(frozen=True)
class Step:
    """One launch. `function` is a machine address (CPU) or a driver handle (CUDA).

    On the CPU, `units` is how many units of work there are and `grain` how many a thread takes at a time; on CUDA, `grid`,
    `block` and `shared` are the launch's.
    """

    function: int
    units: int = 0
    grain: int = 1
    grid: tuple[int, int, int] = (1, 1, 1)
    block: int = 1
    shared: int = 0


@dataclass(frozen=True)
class Program:
    """A lowered problem. `schedule` names the choices made, for people and for the sku."""

    steps: tuple[Step, ...]
    integers: tuple[int, ...]
    workspace_bytes: int
    schedule: str


def pack_param(value: float, kind: ElementKind) -> int:
    """The bits of a parameter's value, rounded once to `kind`, in the low end of a word."""
    raw = kind.numpy.type(value).tobytes()
    return int.from_bytes(raw.ljust(8, b"\0"), "little")


def words(program: Program, operands: int, params: Sequence[tuple[ElementKind, float]]) -> list[int]:
    """The template: zeros for the addresses, then parameters and integers."""
    packed = [pack_param(value, kind) for kind, value in params]
    return [0] * (operands + 1) + packed + [struct.unpack("<Q", struct.pack("<q", i))[0] for i in program.integers]
