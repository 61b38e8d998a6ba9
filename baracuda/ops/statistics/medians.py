"""Medians of rows, with and without NaN."""

from __future__ import annotations

from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.indexing.indexing import gather
from baracuda.ops.sorting.rows import in_order
from baracuda.ops.statistics.order_statistics import place_at_half
from baracuda.ops.statistics.quantiles import Axis, place_options, quantiles, rows_along, slopes_of_quantiles

_S64 = ElementKind.S64
Middle = Literal["midpoint", "lower", "higher"]


def _median(do: Steps, x: TensorRef, axis: Axis, interpolation: str, keepdims: bool, return_indices: bool, skip_nan: bool) -> Any:
    if interpolation == "midpoint" and not return_indices:
        return quantiles(do, x, 0.5, axis, interpolation, keepdims, skip_nan)
    if interpolation == "midpoint":
        raise InvalidProblemError("return_indices: True; expected False where a median is the mean of two elements")
    rows = rows_along(do, x, axis)
    n = rows.x.shape[rows.axis]
    if not n:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected an element in each row")
    shape = rows.result(keepdims)
    if x.kind.is_float:
        ordered, order = in_order(do, rows.x, rows.axis, "values", "indices")
        one = (*rows.outer[: rows.axis], 1, *rows.outer[rows.axis :])
        at = do.new(one, _S64)
        into = without_axis_view(at, rows.axis)
        do.run(place_at_half, {"ordered": ordered}, into, **place_options(rows, interpolation, skip_nan))
        values, indices = (do.run(gather, {"x": t, "index": at}, axis=rows.axis) for t in (ordered, order))
    else:
        place = n // 2 if interpolation == "higher" else (n - 1) // 2
        values, indices = in_order(do, rows.x, rows.axis, "values", "indices", first=place, count=1)
    if not return_indices:
        return do.reshaped(values, shape)
    return do.reshaped(values, shape), do.reshaped(indices, shape)


def without_axis_view(tensor: TensorMut, axis: int) -> Any:
    """A tensor without an axis of one element."""
    shape, strides = (t[:axis] + t[axis + 1 :] for t in (tensor.shape, tensor.strides))
    return view(tensor, 0, shape, strides)


@composed(x="...")
def median(
    do: Steps,
    x: TensorRef,
    axis: Axis = None,
    *,
    interpolation: Middle = "midpoint",
    keepdims: bool = False,
    return_indices: bool = False,
) -> Any:
    """The median of the rows of x along an axis, several axes, or of all of x: the middle element in order; between the two of
    an even number their mean 0.5 * a + 0.5 * b, or with interpolation="lower" or "higher" one of them, in x's element.

    A row with a NaN gives NaN. With return_indices, which needs such an interpolation, also where in its row the element lies, in
    s64. Source: numpy.median; torch.median has interpolation="lower".

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> float(baracuda.median(np.float32([4, 1, 3, 2])))
    2.5
    >>> [r.tolist() for r in baracuda.median(np.array([[4, 1, 3, 2]]), axis=1, interpolation="lower", return_indices=True)]
    [[2], [3]]
    """
    return _median(do, x, axis, interpolation, keepdims, return_indices, False)


@composed(x="...", dy="...")
def median_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    axis: Axis = None,
    *,
    interpolation: Middle = "midpoint",
    keepdims: bool = False,
) -> TensorRef:
    """The gradient of `median`'s x: dy at the middle element, or half of it at each of the two.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.median_backward(np.array(4, np.float32), np.float32([4, 1, 3, 2])).tolist()
    [0.0, 0.0, 2.0, 2.0]
    """
    return slopes_of_quantiles(do, dy, x, 0.5, axis, interpolation, keepdims, False)


@composed(x="...")
def nanmedian(
    do: Steps,
    x: TensorRef,
    axis: Axis = None,
    *,
    interpolation: Middle = "midpoint",
    keepdims: bool = False,
    return_indices: bool = False,
) -> Any:
    """`median` of what is not NaN; NaN of a row with nothing else.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> float(baracuda.nanmedian(np.float32([4, np.nan, 1])))
    2.5
    """
    return _median(do, x, axis, interpolation, keepdims, return_indices, True)


@composed(x="...", dy="...")
def nanmedian_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    axis: Axis = None,
    *,
    interpolation: Middle = "midpoint",
    keepdims: bool = False,
) -> TensorRef:
    """The gradient of `nanmedian`'s x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.nanmedian_backward(np.array(4, np.float32), np.float32([4, np.nan, 1])).tolist()
    [2.0, 0.0, 2.0]
    """
    return slopes_of_quantiles(do, dy, x, 0.5, axis, interpolation, keepdims, True)
