"""Segments that lie one behind the other, told by their lengths or by where they begin: the number of the segment of each row."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import slab
from baracuda.formula.expr import Expr, as_expr, cast, coord, select
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import WholeScalar
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan
from baracuda.ops.scans.scans import cumsum

S64 = ElementKind.S64


def _flat(ids: Expr, *, segments: WholeScalar = 1, every: WholeScalar = 1) -> Expr:
    """The number of a segment among those of all rows of `ids`; `every` of one that there is not."""
    own, last = as_expr(segments, S64), as_expr(every, S64)
    wide = cast(ids, S64)
    return cast(select(wide < own, cast(coord(0), S64) * own + wide, last), ids.kind)


flat_ids = Op(_flat, Rule.COMMON, name="flat_segments", family="segment", takes="int", differentiable=False)


def ends_of(do: Steps, lengths: TensorRef | None, offsets: TensorRef | None) -> TensorRef:
    """Where segments end, along the last axis."""
    if (lengths is None) is (offsets is None):
        raise InvalidProblemError(f"lengths, offsets: {'both' if offsets else 'neither'} given; expected one of them")
    if offsets is not None:
        if not offsets.shape or not offsets.shape[-1]:
            raise InvalidProblemError(f"offsets: shape is {offsets.shape}; expected one more than segments along the last axis")
        ends: TensorRef = slab(offsets, len(offsets.shape) - 1, 1, offsets.shape[-1])
        return ends
    assert lengths is not None
    if not lengths.shape:
        raise InvalidProblemError("lengths: it is a scalar; expected one axis or more")
    summed: TensorRef = do.run(cumsum, {"x": lengths}, axis=-1, dtype=S64)
    return summed


def numbered_rows(do: Steps, ends: TensorRef, rows: int) -> TensorRef:
    """For each of so many rows how many segments end before it or where it begins, along the last axis: the number of its own
    segment, or of those there are where it is behind the last. `ends` has two axes."""
    batch, segments = ends.shape
    if not rows or not batch:
        made: TensorRef = do.new((batch, rows), S64)
        return made
    if not segments:
        return do.filled((batch, rows), S64, 0)
    descriptor = ScatterDescriptor(
        ScatterKind.COUNT, (batch, rows + 1), 1, (batch, segments), S64, ends.kind, aligned=True
    )  # fmt: skip
    counts = do.plan(ScatterPlan, descriptor, {"index": ends})
    found: TensorRef = slab(do.run(cumsum, {"x": counts}, axis=-1, dtype=S64), 1, 0, rows)
    return found


def check_ends(do: Steps, ends: Any, rows: int, name: str) -> None:
    """Raise where the last segment of a row does not end where the rows do."""
    if ends.shape[-1] and 0 not in ends.shape:
        last = slab(ends, len(ends.shape) - 1, ends.shape[-1] - 1, ends.shape[-1])
        do.check_range(last, f"{name}, the end of the last segment of {rows} rows", rows, rows)
    elif rows:
        raise InvalidProblemError(f"{name}: there is no segment; expected some for {rows} rows")
