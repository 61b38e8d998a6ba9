"""What everything that sorts is composed of: steps that put rows in order, and the way back of gradients."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_of
from baracuda.ops.declaration.composition import Given, Steps
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.indexing.indexing import gather
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan
from baracuda.ops.sorting.plan import SortDescriptor, SortPlan

#: Where an element lies, as results say it.
S64 = ElementKind.S64


def flat(do: Steps, x: TensorRef) -> TensorRef:
    """All elements of a tensor as one row."""
    found: TensorRef = x if len(x.shape) == 1 else do.reshaped(x, (prod(x.shape),))
    return found


def row_of(do: Steps, x: TensorRef, axis: int | None) -> tuple[TensorRef, int]:
    """A tensor with rows, and the axis they lie along: all its elements as one row where the axis is None, its only one as a row
    where it has no axes."""
    if axis is None:
        return flat(do, x), 0
    if not x.shape and axis in (0, -1):
        return do.reshaped(x, (1,)), 0
    return x, axis_of(axis, len(x.shape))


def in_order(
    do: Steps,
    x: TensorRef,
    axis: int,
    *wanted: str,
    first: int = 0,
    count: int | None = None,
    descending: bool = False,
    nan_first: bool = False,
    index: ElementKind = S64,
    into: Any = None,
) -> Any:
    """Of the stable order of the rows of x what is wanted of "values", "indices" and "ranks"; the first of these `into` a tensor
    that is given."""
    n = x.shape[axis]
    d = SortDescriptor(
        x.shape, axis, x.kind, first, n - first if count is None else count, index, descending, nan_first,
        *(name in wanted for name in ("values", "indices", "ranks")),
    )  # fmt: skip
    given = None if into is None else tuple(into if name == wanted[0] else None for name in ("values", "indices", "ranks"))
    return do.plan(SortPlan, d, {"x": x}, given)


def without_axis(do: Steps, tensor: TensorRef, axis: int, *, keepdims: bool = False) -> TensorRef:
    """A result of one element to a row, without the rows' axis."""
    if keepdims:
        return tensor
    found: TensorRef = do.reshaped(tensor, (*tensor.shape[:axis], *tensor.shape[axis + 1 :]))
    return found


def placed(do: Steps, dy: TensorRef, indices: TensorRef, x: TensorRef, axis: int) -> TensorRef:
    """dy where the indices along an axis say, summed in order, and 0 elsewhere; of the shape and element of x."""
    d = ScatterDescriptor(ScatterKind.SUM, x.shape, axis, indices.shape, dy.kind, indices.kind, aligned=True)
    dx: TensorRef = do.plan(ScatterPlan, d, {"index": indices, "x": dy})
    return in_element(do, dx, x.kind)


def slopes_of_order(
    do: Steps, dy: TensorRef, x: TensorRef, axis: int | None, *, descending: bool, indices: Given = None
) -> TensorRef:
    """The gradient of x, given that of all its values in order."""
    row, along = row_of(do, x, axis)
    dy = do.reshaped(dy, row.shape)
    if indices is not None:
        dx = placed(do, dy, do.reshaped(indices, row.shape), row, along)
    else:
        ranks = in_order(do, row, along, "ranks", descending=descending)
        dx = in_element(do, do.run(gather, {"x": dy, "index": ranks}, axis=along), x.kind)
    shaped: TensorRef = do.reshaped(dx, x.shape)
    return shaped


def check_place(name: str, value: int, least: int, most: int) -> None:
    """Raise unless a number of a place is one of a row."""
    if not least <= value <= most:
        raise InvalidProblemError(f"{name}: {value}; expected {least} to {most}, of the elements of a row")


def check_like(name: str, tensor: TensorRef, shape: Sequence[int]) -> None:
    """Raise unless a tensor has the shape of a result."""
    if tensor.shape != tuple(shape):
        raise InvalidProblemError(f"{name}: shape is {tensor.shape}; expected {tuple(shape)}")
