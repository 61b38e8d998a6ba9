"""Reductions of segments that are told by lengths, by offsets or by numbers of rows."""

from __future__ import annotations

from math import prod
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_of, expanded_dims, view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, select
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import IndexBound, Own, Scalar, Stored
from baracuda.ops.declaration.words import Bounds, Count
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.indexing.moves import contiguous, fill
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan
from baracuda.ops.segments.lengths import S64, check_ends, ends_of, flat_ids, numbered_rows

SegmentReduction = Literal["sum", "mean", "max", "min", "prod"]
KINDS = {
    "sum": ScatterKind.SUM,
    "mean": ScatterKind.SUM,
    "max": ScatterKind.MAX,
    "min": ScatterKind.MIN,
    "prod": ScatterKind.PROD,
}


def _mean(total: Expr, count: Own, *, empty: Scalar = 0.0, element: ElementKind | None) -> Stored:
    """A sum over a number of rows; of none a number."""
    mean = select(f.equal(count, 0), as_expr(empty, total.kind), total / cast(f.maximum(count, 1), total.kind))
    return Stored(mean, element or total.kind)


mean_of = Op(
    _mean, Rule.COMMON, name="segment_mean_of", family="segment", takes="float", differentiable=False, element_option=True
)


class Segments:
    """Rows of a tensor as segments: the tensor with its rows along one axis, the number of each row's segment, how many there
    are, and the shape of results."""

    def __init__(
        self,
        do: Steps,
        x: TensorRef,
        lengths: Given,
        offsets: Given,
        segment_ids: Given,
        count: int | None,
        axis: int,
        bounds: str,
    ) -> None:
        axis = axis_of(axis, len(x.shape))
        given = [n for n, t in (("lengths", lengths), ("offsets", offsets), ("segment_ids", segment_ids)) if t is not None]
        if len(given) != 1:
            raise InvalidProblemError(
                f"{', '.join(given) or 'no segments'}: given; expected one of lengths, offsets, segment_ids"
            )
        tells: Any = next(t for t in (lengths, offsets, segment_ids) if t is not None)
        batch, rows, row = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
        if segment_ids is not None:
            if count is None:
                raise InvalidProblemError("num_segments: None; expected how many there are, with segment_ids")
            if axis or tells.shape != (rows,):
                raise InvalidProblemError(f"segment_ids: shape is {tells.shape}, axis {axis}; expected {(rows,)} along axis 0")
            if bounds == "check":
                do.check_indices(tells, "segment_ids", IndexBound(count))
            self.ids, self.segments = tells, count
        else:
            if tells.shape[:-1] != batch:
                raise InvalidProblemError(
                    f"{given[0]}: shape is {tells.shape}; expected {batch} and then segments, for axis {axis}"
                )
            ends = ends_of(do, lengths, offsets)
            if bounds == "check":
                check_ends(do, ends, rows, given[0])
            flat = contiguous(do, ends, (prod(batch), ends.shape[-1]))
            ids = numbered_rows(do, flat, rows)
            self.segments = ends.shape[-1]
            words = {"segments": self.segments, "every": self.count(batch)}
            found = do.run(flat_ids, {"ids": ids}, **words) if 0 not in ids.shape else ids  # type: ignore[arg-type]
            self.ids = contiguous(do, found, (prod(batch) * rows,))
        self.total = self.count(batch)
        self.x = contiguous(do, x, (prod(batch) * rows, *row))
        self.row = row
        self.shape = (*batch, self.segments, *row)

    def count(self, batch: tuple[int, ...]) -> int:
        """How many segments there are in all."""
        return prod(batch) * self.segments

    def combined(self, do: Steps, reduce: ScatterKind, into: TensorRef, base: TensorRef | None) -> None:
        """Each segment's rows combined, with what a base has."""
        descriptor = ScatterDescriptor(
            reduce, (self.total, *self.row), 0, self.ids.shape, self.x.kind, self.ids.kind,
            has_base=base is not None, skip=self.total,
        )  # fmt: skip
        do.plan(ScatterPlan, descriptor, {"index": self.ids, "x": self.x, "base": base}, into=into)

    def counts(self, do: Steps) -> TensorRef:
        """How many rows each segment has."""
        descriptor = ScatterDescriptor(
            ScatterKind.COUNT, (self.total,), 0, self.ids.shape, S64, self.ids.kind, skip=self.total
        )  # fmt: skip
        found: TensorRef = do.plan(ScatterPlan, descriptor, {"index": self.ids})
        return found


@composed(x="...", lengths="... : s32 s64", offsets="... : s32 s64", segment_ids="rows : s32 s64")
def segment_reduce(
    do: Steps,
    x: TensorRef,
    reduce: Literal["sum", "mean", "max", "min", "prod"] = "sum",
    lengths: Given = None,
    offsets: Given = None,
    segment_ids: Given = None,
    *,
    num_segments: Count | None = None,
    axis: int = 0,
    initial: float | None = None,
    bounds: Bounds = "check",
) -> TensorRef:
    """Segments of x along an axis, each reduced to one entry, in the canonical order: their sum, mean, largest, smallest or
    product.

    Segments lie one behind the other and have `lengths`, or begin at `offsets`, the last of which is where the last ends; both
    may have the axes of x before `axis`, each with segments of its own. Or each row's segment has a number in segment_ids, below
    num_segments. `initial` is what a reduction begins with, and the result where a segment is empty; without it that is 0, 1 for
    a product, -inf or +inf for the largest and the smallest, and NaN for a mean, which with it is (initial + sum) / length.

    bounds="check" raises `InvalidProblemError` where the segments do not end where x does (on a GPU when values are next read on
    the host, or by `baracuda.synchronize()`). Source: torch.segment_reduce.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.segment_reduce(np.float32([1, 2, 3, 4]), "max", lengths=np.array([1, 3])).tolist()
    [1.0, 4.0]
    """
    s = Segments(do, x, lengths, offsets, segment_ids, num_segments, axis, bounds)
    y = do.new(s.shape, x.kind)
    if not prod(s.shape):
        return y
    flat = view(y, 0, (s.total, *s.row), contiguous_strides((s.total, *s.row)))
    mean = reduce == "mean"
    if mean and not x.kind.is_float:
        raise InvalidProblemError(f"x: element is {x.kind}; expected a float for a mean")
    base = None
    if initial is not None:
        base = do.new((s.total, *s.row), x.kind.compute if mean else x.kind)
        fill(do, base, initial)
    if not mean:
        s.combined(do, KINDS[reduce], flat, base)
        return y
    s.x = in_element(do, s.x, x.kind.compute)  # rounded once, when it is divided
    total = do.new((s.total, *s.row), s.x.kind)
    s.combined(do, ScatterKind.SUM, total, base)
    counts = expanded_dims(s.counts(do), (0,), 1 + len(s.row))
    empty = float("nan") if initial is None else initial
    do.run(mean_of, {"total": total, "count": counts}, into=flat, empty=empty, dtype=x.kind)
    return y
