"""Segments of rows: the gradient of reductions over them, and ragged rows selected by segment."""

from __future__ import annotations

from math import prod
from typing import Annotated, Any, Literal

from baracuda.core.bounds import AtLeast
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, coord, select
from baracuda.formula.gathers import Table, take
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.parts import of_parts, part, read
from baracuda.frontends.scatter import combined
from baracuda.frontends.scatter_backward import _Problem, _slices
from baracuda.frontends.selections import full
from baracuda.ops.declaration.composition import Given, Steps
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import IndexBound, Own, Space, Stored, WholeScalar
from baracuda.ops.declaration.words import Bounds, Count
from baracuda.ops.indexing.places import Places
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind
from baracuda.ops.scans.scans import cumsum
from baracuda.ops.segments.lengths import S64, ends_of, numbered_rows
from baracuda.ops.segments.reduce import Segments

Size = Annotated[int, AtLeast(0)] | None
_KINDS = {
    "sum": ScatterKind.SUM, "mean": ScatterKind.MEAN, "max": ScatterKind.MAX, "min": ScatterKind.MIN, "prod": ScatterKind.PROD,
}  # fmt: skip


# --- the gradient of reductions ---------------------------------------------------------------------------------------


@part(x="...", lengths="... : s32 s64", offsets="... : s32 s64", segment_ids="rows : s32 s64")
def _ids(
    do: Steps,
    x: TensorRef,
    lengths: Given = None,
    offsets: Given = None,
    segment_ids: Given = None,
    *,
    num_segments: Count | None,
    axis: int,
    bounds: Bounds,
) -> TensorRef:
    """The number of each row's segment."""
    s = Segments(do, x, lengths, offsets, segment_ids, num_segments, axis, bounds)
    ids = do.new(s.ids.shape, s.ids.kind)
    do.copy(s.ids, ids)
    return ids


@of_parts
@declared(dy="...", x="... : float", lengths="... : s32 s64", offsets="... : s32 s64", segment_ids="rows : s32 s64")
def segment_reduce_backward(
    dy: Any,
    x: Any,
    reduce: Literal["sum", "mean", "max", "min", "prod"] = "sum",
    lengths: Any = None,
    offsets: Any = None,
    segment_ids: Any = None,
    *,
    num_segments: Count | None = None,
    axis: int = 0,
    initial: float | None = None,
    bounds: Bounds = "check",
) -> Any:
    """The gradient of `segment_reduce`'s x: dy of the row's segment, for a mean over its length, for a product times the other
    rows and `initial`, for the largest and the smallest in equal shares for the elements that are it, `initial` among them.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x, lengths = np.float32([1, 2]), np.float32([1, 2, 3, 3]), np.array([2, 2])
    >>> baracuda.segment_reduce_backward(dy, x, "max", lengths=lengths).tolist()
    [0.0, 1.0, 1.0, 1.0]
    """
    ref, cotangent = describe(x, "x"), describe(dy, "dy")
    if not prod(ref.shape):
        return full(x, ref.shape, 0, ref.kind)
    ids = _ids(x, lengths, offsets, segment_ids, num_segments=num_segments, axis=axis, bounds=bounds)
    axis %= len(ref.shape)
    tells = lengths if lengths is not None else offsets
    segments = num_segments
    if tells is not None:
        segments = describe(tells, "lengths").shape[-1] - (lengths is None)
    wanted = (*ref.shape[:axis], segments, *ref.shape[axis + 1 :])
    if cotangent.shape != wanted or cotangent.kind is not ref.kind:
        raise InvalidProblemError(f"dy: {cotangent.kind} of shape {cotangent.shape}; expected {ref.kind} of {wanted}")
    row = ref.shape[axis + 1 :]
    flat_dy, flat_x = dy.reshape((-1 if prod(row) else 0, *row)), x.reshape((prod(ref.shape[: axis + 1]), *row))
    kind = _KINDS[reduce]
    base = None
    if initial is not None and kind not in (ScatterKind.SUM, ScatterKind.MEAN):
        base = full(dy, describe(flat_dy, "dy").shape, initial, ref.kind)
    problem: _Problem = _slices(flat_dy, base, flat_x, ids, 0, kind, joined=base is not None, wrap=False)
    return problem.of_source().reshape(ref.shape)


# --- ragged rows ------------------------------------------------------------------------------------------------------


def _source(segment: Own, index: Table, ends: Table, new_ends: Table, *, count: WholeScalar = 0) -> Stored:
    """The row that a new row is: as far behind its segment's begin as it is behind the new one's; -1 where there is none.

    Segments are told by where they end, so that one begins where the one before it does; the first at 0.
    """
    wide = cast(segment, S64)
    there = wide < as_expr(count, S64)
    chosen = take(index, segment, wrap=True)
    assert isinstance(chosen, Expr)
    old = cast(chosen, S64)

    def begin(table: Table, number: Expr) -> Expr:
        found = take(table, f.maximum(number - 1, 0))
        assert isinstance(found, Expr)
        return select(number > 0, cast(found, S64), 0)

    return Stored(select(there, begin(ends, old) + cast(coord(0), S64) - begin(new_ends, wide), -1), S64)


_sources = Op(
    _source,
    Rule.COMMON,
    name="ragged_rows",
    family="segment",
    takes="int",
    differentiable=False,
    space=lambda shapes, options: Space({"segment": (0,), "index": (None,), "ends": (None,), "new_ends": (None,)}),
)


def _counted(index: Expr, *, extent: WholeScalar = 1) -> Stored:
    """An index from 0."""
    wide, every = cast(index, S64), as_expr(extent, S64)
    return Stored(f.maximum(f.minimum(select(wide < 0, wide + every, wide), every - 1), 0), S64)


_from_zero = Op(_counted, Rule.COMMON, name="index_from_zero", family="segment", takes="int", differentiable=False)


def _length(ends: Table, index: Own) -> Stored:
    """The length of the segment that an index names."""
    last = take(ends, index)
    before = take(ends, f.maximum(index - 1, 0))
    assert isinstance(last, Expr)
    assert isinstance(before, Expr)
    return Stored(cast(last, S64) - select(index > 0, cast(before, S64), 0), S64)


_lengths_at = Op(
    _length,
    Rule.COMMON,
    name="ragged_lengths",
    family="segment",
    takes="int",
    differentiable=False,
    space=lambda shapes, options: Space({"ends": (None,), "index": (0,)}),
)


@part(index="n : s32 s64", lengths="segments : s32 s64", offsets="... : s32 s64")
def _chosen(do: Steps, index: TensorRef, lengths: Given = None, offsets: Given = None, *, bounds: Bounds) -> Any:
    """The lengths of the chosen segments, where these end, where all do, and the index from 0."""
    ends = ends_of(do, lengths, offsets)
    if len(ends.shape) != 1:
        raise InvalidProblemError(f"lengths, offsets: {len(ends.shape)} axes; expected one")
    segments = ends.shape[0]
    if bounds == "check":
        do.check_indices(index, "index", IndexBound(segments, wrap=True))
    counted = do.run(_from_zero, {"index": index}, extent=segments)
    chosen = do.run(_lengths_at, {"ends": ends, "index": counted})
    whole = do.new(ends.shape, ends.kind)
    do.copy(ends, whole)
    return chosen, do.run(cumsum, {"x": chosen}, axis=-1), whole, counted


@part(counted="n", new_ends="n", ends="segments")
def _row_numbers(do: Steps, counted: TensorRef, new_ends: TensorRef, ends: TensorRef, *, size: int) -> TensorRef:
    """The row of values that each new row is."""
    row = numbered_rows(do, view(new_ends, 0, (1, *new_ends.shape), (0, *new_ends.strides)), size)
    tensors = {"segment": view(row, 0, (size,), row.strides[1:]), "index": counted, "ends": ends, "new_ends": new_ends}
    found: TensorRef = do.run(_sources, tensors, count=counted.shape[0])
    return found


@part(x="rows *row", index="size")
def _rows_at(do: Steps, x: TensorRef, index: TensorRef) -> TensorMut:
    """Rows at an index, and 0 where it is -1."""
    y = do.new((*index.shape, *x.shape[1:]), x.kind)
    Places(index, (0,), wrap=False, once=True, skip=-1).read(do, x, y)
    return y


_RAGGED = {"index": "n : s32 s64", "lengths": "segments : s32 s64", "offsets": "ends : s32 s64"}


def _new_rows(index: Any, lengths: Any, offsets: Any, size: int | None, bounds: str) -> tuple[Any, Any]:
    """The rows that are taken, by their numbers, and the lengths of the new segments."""
    if not describe(index, "index").shape[0]:
        return full(index, (size or 0,), -1, ElementKind.S64), full(index, (0,), 0, ElementKind.S64)
    chosen, new_ends, ends, counted = _chosen(index, lengths, offsets, bounds=bounds)
    count = read(new_ends) if size is None else size
    if not count:
        return full(index, (0,), 0, ElementKind.S64), chosen
    return _row_numbers(counted, new_ends, ends, size=count), chosen


@of_parts
@declared(x="rows *row", **_RAGGED)
def jagged_index_select(
    x: Any, index: Any, lengths: Any = None, offsets: Any = None, *, size: Size = None, bounds: Bounds = "check"
) -> Any:
    """The rows of some segments of x, in the order of index, and the lengths of these segments, in s64.

    x has its segments' rows one behind the other; they have `lengths`, or begin at `offsets`, the last of which is where the last
    ends. index has one axis; a negative number counts from the end. How many rows there are is read on the host, or is `size`:
    then nothing is read, and rows of 0 stand behind those that there are.

    Source: fbgemm's jagged_index_select.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, lengths = np.float32([1, 2, 3, 4, 5]), np.array([2, 0, 3])
    >>> [t.tolist() for t in baracuda.jagged_index_select(x, np.array([2, 1, 0, 0]), lengths)]
    [[3.0, 4.0, 5.0, 1.0, 2.0, 1.0, 2.0], [3, 0, 2, 2]]
    """
    rows, chosen = _new_rows(index, lengths, offsets, size, bounds)
    ref = describe(x, "x")
    if not describe(rows, "rows").shape[0]:
        return full(x, (0, *ref.shape[1:]), 0, ref.kind), chosen
    return _rows_at(x, rows), chosen


@of_parts
@declared(dy="count *row : T", x="rows *row : T", **_RAGGED)
def jagged_index_select_backward(
    dy: Any, x: Any, index: Any, lengths: Any = None, offsets: Any = None, *, bounds: Bounds = "check"
) -> Any:
    """The gradient of `jagged_index_select`'s x: for each row the sum of dy where it was taken.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x, lengths = np.float32([1, 2, 3]), np.zeros(3, np.float32), np.array([1, 2])
    >>> baracuda.jagged_index_select_backward(dy, x, np.array([0, 1]), lengths).tolist()
    [1.0, 2.0, 3.0]
    """
    cotangent, ref = describe(dy, "dy"), describe(x, "x")
    count = cotangent.shape[0]
    if not count or not prod(ref.shape):
        return full(x, ref.shape, 0, cotangent.kind)
    rows, _ = _new_rows(index, lengths, offsets, count, bounds)
    descriptor = ScatterDescriptor(ScatterKind.SUM, ref.shape, 0, (count,), cotangent.kind, ElementKind.S64, skip=-1)
    return combined(descriptor, dy, index=rows, x=dy)
