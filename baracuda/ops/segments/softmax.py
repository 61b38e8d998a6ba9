"""Softmax over segments of rows, whose numbers need not be sorted: attention over the edges of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast
from baracuda.formula.gathers import Table, take
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import IndexBound, Own, Shape, Space, Stored
from baracuda.ops.declaration.words import Bounds, Count
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan


def _space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    """Rows' axes, of which the numbers have the first, and what segments have, which is read at them."""
    whole, places = len(shapes["x"]), len(shapes["index"])
    axes: dict[str, Any] = {"x": tuple(range(whole)), "index": tuple(range(places)), "table": (None, *range(places, whole))}
    return Space(axes | ({"other": axes["x"]} if "other" in shapes else {}))


def _of_segment(table: Table, index: Own) -> Expr:
    value = take(table, index)
    assert isinstance(value, Expr)
    return value


def _exponential(x: Expr, table: Table, index: Own) -> Stored:
    """exp(x - the largest of the segment), in what is computed in."""
    return Stored(f.exp(x - cast(_of_segment(table, index), x.kind)), x.kind)


def _share(x: Expr, table: Table, index: Own, *, element: ElementKind | None) -> Stored:
    """x over the sum of the segment."""
    return Stored(x * (1.0 / _of_segment(table, index)), element or x.kind)


def _product(x: Expr, other: Expr) -> Stored:
    return Stored(x * other, x.kind)


def _slope(x: Expr, other: Expr, table: Own, index: Own) -> Expr:
    """y * (dy - the sum of y * dy of the segment)."""
    assert isinstance(table, Table)
    return other * (x - cast(_of_segment(table, index), x.kind))


_STEPS: dict[str, Any] = {"family": "segment", "takes": "float", "differentiable": False}
exponential = Op(_exponential, Rule.COMMON, name="segment_exponential", space=_space, **_STEPS)
share = Op(_share, Rule.COMMON, name="segment_share", space=_space, element_option=True, **_STEPS)
product = Op(_product, Rule.COMMON, name="segment_product", **_STEPS)
slope = Op(_slope, Rule.COMMON, name="segment_softmax_slope", space=_space, **_STEPS)


def _combined(do: Steps, reduce: ScatterKind, x: TensorRef, ids: TensorRef, count: int) -> TensorRef:
    shape = (count, *x.shape[len(ids.shape) :])
    descriptor = ScatterDescriptor(reduce, shape, 0, ids.shape, x.kind, ids.kind)
    found: TensorRef = do.plan(ScatterPlan, descriptor, {"index": ids, "x": x})
    return found


@composed(x="*places *row : float", segment_ids="*places : s32 s64", out=True)
def segment_softmax(
    do: Steps, x: TensorRef, segment_ids: TensorRef, num_segments: Count, *, bounds: Bounds = "check"
) -> TensorRef:
    """exp(x - m) / sum exp(x - m) over the rows of x that have the same number in segment_ids, element by element, where m is
    their largest.

    segment_ids has the first axes of x, from 0 to num_segments - 1, and need not be sorted; the result has the shape of x. The
    sum is in the canonical order over a segment's rows. bounds is as in `segment_sum`.

    Source: torch_geometric.utils.softmax.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.segment_softmax(np.float32([1, 5, 1]), np.array([1, 0, 1]), num_segments=2).tolist()
    [0.5, 1.0, 0.5]
    """
    if not prod(x.shape):
        return do.result_like(x)
    if bounds == "check":
        do.check_indices(segment_ids, "segment_ids", IndexBound(num_segments))
    largest = _combined(do, ScatterKind.MAX, x, segment_ids, num_segments)
    e = do.run(exponential, {"x": x, "table": largest, "index": segment_ids})
    total = _combined(do, ScatterKind.SUM, e, segment_ids, num_segments)
    y = do.result_like(x)
    do.run(share, {"x": e, "table": total, "index": segment_ids}, into=y, dtype=x.kind)
    return y


@composed(dy="*all : T float", y="*all : T float", segment_ids="*places : s32 s64", out=True)
def segment_softmax_backward(
    do: Steps, dy: TensorRef, y: TensorRef, segment_ids: TensorRef, num_segments: Count, *, bounds: Bounds = "check"
) -> TensorRef:
    """The gradient of `segment_softmax`'s x, given its result y: y * (dy - sum y * dy), the sum over the segment."""
    if not prod(y.shape):
        return do.result_like(y)
    if bounds == "check":
        do.check_indices(segment_ids, "segment_ids", IndexBound(num_segments))
    along = _combined(do, ScatterKind.SUM, do.run(product, {"x": y, "other": dy}), segment_ids, num_segments)
    dx = do.result_like(y)
    do.run(slope, {"x": dy, "other": y, "table": along, "index": segment_ids}, into=dx)
    return dx
