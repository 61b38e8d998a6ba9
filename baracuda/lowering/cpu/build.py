"""From a nest to something that can be called."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.core.elements import ElementKind
from baracuda.lowering.cpu import lower
from baracuda.lowering.problem import Nest
from baracuda.runtime.cpu import CpuCall
from baracuda.runtime.program import Program, words


def build(
    nest: Nest, params: Sequence[tuple[ElementKind, float]], *, compiled_only: bool = False
) -> tuple[Program, CpuCall] | None:
    """The program of a nest; None where it would have to be compiled and `compiled_only` is set."""
    program = lower(nest, compiled_only=compiled_only)
    return None if program is None else (program, CpuCall(program, words(program, len(nest.operands), params)))
