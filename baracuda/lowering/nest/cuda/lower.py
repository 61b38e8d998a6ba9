"""CUDA lowering: a normalised nest to CUDA C++ and launch shapes. Nothing here needs a GPU, a driver or NVRTC."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from baracuda.formula.expr import Axes
from baracuda.formula.gathers import gathers
from baracuda.lowering.nest.cuda.choose import lower_outer_only
from baracuda.lowering.nest.cuda.kernel import TUNINGS, Frame, Target, Tuning
from baracuda.lowering.nest.problem import Nest, reduces, scans
from baracuda.lowering.nest.sequence import side_by_side
from baracuda.runtime.program import Launch, Lowered

__all__ = ["TUNINGS", "Launch", "Lowered", "Target", "Tuning", "lower"]


def ways(nest: Nest, target: Target) -> Iterator[Lowered]:
    """The kernels of a nest under each tuning, the default one first."""
    for tuning in TUNINGS:
        yield lower(nest, replace(target, tuning=tuning))


@lru_cache(maxsize=4096)
def lower(nest: Nest, target: Target) -> Lowered:
    """Choose a schedule for a nest and write its kernels.

    The choice depends on shapes, strides and the target, never on data, and changes no bit of the result.
    """
    if scans(nest.graph) or not reduces(nest.graph, Axes.OUTER):
        return lower_outer_only(Frame(nest, target.tuning), target)
    from baracuda.lowering.nest.cuda.fission import lower_parts
    from baracuda.lowering.reduction.cuda.row_columns import lower_rows_and_columns

    together = None if side_by_side(nest) or gathers(nest.graph) else lower_rows_and_columns(Frame(nest, target.tuning), target)
    return together or lower_parts(nest, target)
