"""From a nest to something that can be called."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.formula.expr import Expr
from baracuda.lowering.cpu import lower
from baracuda.lowering.problem import Nest
from baracuda.lowering.program import Program, words
from baracuda.runtime.cpu import CpuCall


def build(nest: Nest, params: Sequence[tuple[Expr, float]], *, compiled_only: bool = False) -> tuple[Program, CpuCall] | None:
    """The program of a nest; None where it would have to be compiled and `compiled_only` is set."""
    program = lower(nest, compiled_only=compiled_only)
    return None if program is None else (program, CpuCall(program, words(program, len(nest.operands), params)))
