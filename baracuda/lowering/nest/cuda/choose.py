"""The choice among the schedules of a nest without reductions over outer axes."""

from __future__ import annotations

from baracuda.formula.expr import Axes
from baracuda.lowering.elementwise.cuda.planes import lower_planes
from baracuda.lowering.elementwise.cuda.pointwise import lower_runs
from baracuda.lowering.elementwise.cuda.result_lookup import lower_result_lookup
from baracuda.lowering.elementwise.cuda.table_lookup import lower_table_lookup
from baracuda.lowering.elementwise.cuda.tiles import lower_tiles, transposed_axis
from baracuda.lowering.nest.cuda.kernel import Frame, Target
from baracuda.lowering.nest.indexed_reads import plane_axis
from baracuda.lowering.nest.problem import reduces, scans
from baracuda.lowering.nest.sequence import side_by_side
from baracuda.runtime.program import Lowered


def lower_outer_only(frame: Frame, target: Target) -> Lowered:
    """Lower a nest that scans, or reduces over inner axes, or does neither. Schedules are imported where one is taken: the first
    call of a process waits for it."""
    if scans(frame.nest.graph):
        from baracuda.lowering.scan.cuda.schedules import lower_scans

        return lower_scans(frame, target)
    if reduces(frame.nest.graph, Axes.INNER):
        if side_by_side(frame.nest):
            from baracuda.lowering.reduction.cuda.columns import lower_columns

            return lower_columns(frame, target)
        from baracuda.lowering.reduction.cuda.row_schedules import lower_rows

        return lower_rows(frame, target)
    axis = plane_axis(frame.nest)
    if axis is not None:
        return lower_planes(frame, axis)
    axis = transposed_axis(frame.nest)
    if axis is not None:
        return lower_tiles(frame, axis)
    return lower_result_lookup(frame, target) or lower_table_lookup(frame, target) or lower_runs(frame)
