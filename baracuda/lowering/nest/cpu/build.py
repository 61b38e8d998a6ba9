"""From a nest to something that can be called."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.lowering.nest.cpu.lower import lower
from baracuda.lowering.nest.problem import Nest
from baracuda.runtime.cpu import CpuCall
from baracuda.runtime.program import Parameter, Program, Template


def build(nest: Nest, params: Sequence[Parameter], *, compiled_only: bool = False) -> tuple[Program, CpuCall] | None:
    """The program of a nest; None where it would have to be compiled and `compiled_only` is set."""
    program = lower(nest, compiled_only=compiled_only)
    return None if program is None else (program, CpuCall(program, Template(program, len(nest.operands), params)))
