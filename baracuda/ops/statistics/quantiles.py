"""Quantiles, percentiles and medians of rows, in all interpolations, with and without NaN.

A row is put in order once, and every q is read from it. The place of a quantile is computed in f64 whatever the element.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.spec import check_axis
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import slab, view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.elementwise.binary_ops import div
from baracuda.ops.elementwise.conversions import cast as cast_op
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan
from baracuda.ops.sorting.rows import flat, in_order
from baracuda.ops.statistics.order_statistics import Interpolation, at_number, at_tensor, slopes_at_number, slopes_at_tensor

_F64, _S64 = ElementKind.F64, ElementKind.S64
Axis = int | tuple[int, ...] | None


@dataclass(frozen=True)
class Rows:
    """A tensor as rows along one axis, and how it lies in the caller's.

    Attributes
    ----------
    x, axis
        The rows, and the axis they lie along.
    axes
        The axes of the caller's tensor that a row takes.
    rank
        Its number of axes.
    """

    x: TensorRef
    axis: int
    axes: tuple[int, ...]
    rank: int

    @property
    def outer(self) -> tuple[int, ...]:
        """The rows' own shape."""
        return self.x.shape[: self.axis] + self.x.shape[self.axis + 1 :]

    def result(self, keepdims: bool) -> tuple[int, ...]:
        """The shape of one element a row."""
        if not keepdims:
            return self.outer
        rest = iter(self.outer)
        return tuple(1 if a in self.axes else next(rest) for a in range(self.rank))


def rows_along(do: Steps, x: TensorRef, axis: Axis) -> Rows:
    """x as rows along an axis, along several as if they were one, along all."""
    rank = len(x.shape)
    if axis is None or not rank:
        if axis is not None:
            for a in (axis,) if isinstance(axis, int) else axis:
                check_axis("axis", a, rank)
        return Rows(flat(do, x), 0, tuple(range(rank)), rank)
    given = (axis,) if isinstance(axis, int) else axis
    for a in given:
        check_axis("axis", a, rank)
    axes = tuple(a % rank for a in given)
    if len(set(axes)) != len(axes) or not axes:
        raise InvalidProblemError(f"axis: {given}; expected different axes, one or more")
    if len(axes) == 1:
        return Rows(x, axes[0], axes, rank)
    axes = tuple(sorted(axes))
    rest = tuple(a for a in range(rank) if a not in axes)
    whole = do.new(tuple(x.shape[a] for a in (*rest, *axes)), x.kind)
    order = (*rest, *axes)
    do.run(cast_op, {"x": view(x, 0, whole.shape, tuple(x.strides[a] for a in order))}, whole, dtype=x.kind)
    row = (*(x.shape[a] for a in rest), prod(x.shape[a] for a in axes))
    return Rows(do.reshaped(whole, row), len(rest), axes, rank)


def back(do: Steps, dx: TensorRef, rows: Rows, x: TensorRef) -> TensorRef:
    """A gradient of rows as that of the caller's tensor."""
    if len(rows.axes) == 1 or dx.shape == x.shape or rows.axes == tuple(range(rows.rank)):
        found: TensorRef = dx if dx.shape == x.shape else do.reshaped(dx, x.shape)
        return in_element(do, found, x.kind)
    rest = tuple(a for a in range(rows.rank) if a not in rows.axes)
    order = (*rest, *rows.axes)
    apart = do.reshaped(dx, tuple(x.shape[a] for a in order))
    inverse = [order.index(a) for a in range(rows.rank)]
    target = do.new(x.shape, x.kind)
    turned = view(apart, 0, x.shape, tuple(apart.strides[i] for i in inverse))
    do.run(cast_op, {"x": turned}, target, dtype=x.kind)
    return target


def _each(q: Any, scale: float) -> list[float]:
    """Numbers in 0 to 1; raises for others."""
    for value in q:
        if isinstance(value, complex) or not 0 <= value <= scale:
            raise InvalidProblemError(f"q: {value!r}; expected a number, 0 to {scale:g}")
    return [float(value) / scale for value in q]


def _q_tensor(do: Steps, q: TensorRef, scale: float) -> TensorRef:
    row = flat(do, q)
    if scale == 1.0:
        return row
    found: TensorRef = do.run(div, {"a": in_element(do, row, _F64), "b": scale})
    return found


def place_options(rows: Rows, interpolation: str, skip_nan: bool) -> dict[str, Any]:
    n = rows.x.shape[rows.axis]
    steps = n.bit_length() if skip_nan and rows.x.kind.is_float else 0
    return {"interpolation": interpolation, "steps": steps, "skip_nan": skip_nan, "axis": rows.axis}


def _element(kind: ElementKind) -> ElementKind:
    return kind if kind.is_float else ElementKind.F32


def quantiles(
    do: Steps, x: TensorRef, q: Any, axis: Axis, interpolation: str, keepdims: bool, skip_nan: bool, scale: float = 1.0
) -> Any:
    rows = rows_along(do, x, axis)
    kind, shape = _element(x.kind), rows.result(keepdims)
    one = not isinstance(q, (TensorRef, list, tuple))
    lead: tuple[int, ...] = q.shape if isinstance(q, TensorRef) else () if one else (len(q),)
    if not rows.x.shape[rows.axis]:
        return do.filled((*lead, *shape), kind, float("nan"))
    ordered = in_order(do, rows.x, rows.axis, "values")
    options = place_options(rows, interpolation, skip_nan)
    if isinstance(q, TensorRef):
        found = do.run(at_tensor, {"ordered": ordered, "q": _q_tensor(do, q, scale)}, **options)
        return do.reshaped(found, (*lead, *shape))
    numbers = _each([q] if one else q, scale)
    found = do.new((len(numbers), *rows.outer), kind)
    for i, number in enumerate(numbers):
        into = view(found, i * found.strides[0], rows.outer, found.strides[1:])
        do.run(at_number, {"ordered": ordered}, into, q=number, **options)
    return do.reshaped(found, (*lead, *shape))


def slopes_of_quantiles(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    q: Any,
    axis: Axis,
    interpolation: str,
    keepdims: bool,
    skip_nan: bool,
    scale: float = 1.0,
) -> TensorRef:
    """dy's shares at the elements beside each quantile: first of all at the lower ones, then of all at the upper ones, each in
    the order of q."""
    rows = rows_along(do, x, axis)
    one = not isinstance(q, (TensorRef, list, tuple))
    count = prod(q.shape) if isinstance(q, TensorRef) else 1 if one else len(q)
    lead = q.shape if isinstance(q, TensorRef) else () if one else (count,)
    if dy.shape != (*lead, *rows.result(keepdims)):
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {(*lead, *rows.result(keepdims))}")
    compute = _element(x.kind).compute
    if not prod(x.shape) or not count:
        dx = do.new(x.shape, x.kind)
        do.zero(dx)
        return dx
    axis_, outer = rows.axis, rows.outer
    shape = (*outer[:axis_], 2 * count, *outer[axis_:])
    ends, shares = do.new(shape, _S64), do.new(shape, compute)
    ordered, order = in_order(do, rows.x, axis_, "values", "indices")
    slopes = do.reshaped(dy, (count, *outer))
    options = place_options(rows, interpolation, skip_nan)

    def half(tensor: TensorMut, second: bool) -> Any:
        """A half of ends or shares, with the axis of q first."""
        part = slab(tensor, axis_, count * second, count * (1 + second))
        turned = (axis_, *(a for a in range(len(shape)) if a != axis_))
        return view(part, 0, tuple(part.shape[a] for a in turned), tuple(part.strides[a] for a in turned))

    into = (half(ends, False), half(ends, True), half(shares, False), half(shares, True))
    tensors = {"dy": slopes, "ordered": ordered, "order": order}
    if isinstance(q, TensorRef):
        do.run(slopes_at_tensor, {**tensors, "q": _q_tensor(do, q, scale)}, into, **options)
    else:
        for i, number in enumerate(_each([q] if one else q, scale)):
            pieces = {n: view(t, i * t.strides[0], outer, t.strides[1:]) if n == "dy" else t for n, t in tensors.items()}
            row = tuple(view(t, i * t.strides[0], outer, t.strides[1:]) for t in into)
            do.run(slopes_at_number, pieces, row, q=number, **options)
    d = ScatterDescriptor(ScatterKind.SUM, rows.x.shape, axis_, shape, compute, _S64, aligned=True)
    return back(do, do.plan(ScatterPlan, d, {"index": ends, "x": shares}), rows, x)


_ROWS: dict[str, Any] = {"x": "...", "q": "... or number or numbers : float"}
_BACK: dict[str, Any] = {**_ROWS, "dy": "..."}


@composed(**_ROWS)
def quantile(
    do: Steps, x: TensorRef, q: Any, axis: Axis = None, *, interpolation: Interpolation = "linear", keepdims: bool = False
) -> Any:
    """The quantiles q (0 to 1; a number, a list of them, or a tensor) of the rows of x along an axis, several axes, or all of x.

    The result has the axes of q first. Its element is that of x, f32 for integers and bool. The place of a quantile in the
    ordered row of n is q * (n - 1), and what interpolation says of it otherwise, in f64; between the elements a and b below and
    above it lies fma(share, b - a, a), from the second half on fma(share - 1, b - a, b), halfway 0.5 * a + 0.5 * b. A row with a
    NaN gives NaN. interpolation is each of NumPy's methods. A number q that is not in 0 to 1 raises `InvalidProblemError`.

    Source: numpy.quantile (there `method`), torch.quantile.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> float(baracuda.quantile(np.float32([4, 1, 3, 2]), 0.25))
    1.75
    >>> baracuda.quantile(np.float32([[4, 1, 3, 2]]), [0.0, 0.5], axis=1, interpolation="lower").tolist()
    [[1.0], [2.0]]
    """
    return quantiles(do, x, q, axis, interpolation, keepdims, False)


@composed(**_BACK)
def quantile_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    q: Any,
    axis: Axis = None,
    *,
    interpolation: Interpolation = "linear",
    keepdims: bool = False,
) -> TensorRef:
    """The gradient of `quantile`'s x: the shares of dy at the elements beside each quantile.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.quantile_backward(np.array(4, np.float32), np.float32([4, 1, 3, 2]), 0.25).tolist()
    [0.0, 1.0, 0.0, 3.0]
    """
    return slopes_of_quantiles(do, dy, x, q, axis, interpolation, keepdims, False)


@composed(**_ROWS)
def nanquantile(
    do: Steps, x: TensorRef, q: Any, axis: Axis = None, *, interpolation: Interpolation = "linear", keepdims: bool = False
) -> Any:
    """`quantile` of what is not NaN; NaN of a row with nothing else.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> float(baracuda.nanquantile(np.float32([4, np.nan, 2]), 0.5))
    3.0
    """
    return quantiles(do, x, q, axis, interpolation, keepdims, True)


@composed(**_BACK)
def nanquantile_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    q: Any,
    axis: Axis = None,
    *,
    interpolation: Interpolation = "linear",
    keepdims: bool = False,
) -> TensorRef:
    """The gradient of `nanquantile`'s x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.nanquantile_backward(np.array(4, np.float32), np.float32([4, np.nan, 1]), 0.5).tolist()
    [2.0, 0.0, 2.0]
    """
    return slopes_of_quantiles(do, dy, x, q, axis, interpolation, keepdims, True)


@composed(**_ROWS)
def percentile(
    do: Steps, x: TensorRef, q: Any, axis: Axis = None, *, interpolation: Interpolation = "linear", keepdims: bool = False
) -> Any:
    """`quantile` of q / 100, which is computed in f64.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> float(baracuda.percentile(np.float32([4, 1, 3, 2]), 50))
    2.5
    """
    return quantiles(do, x, q, axis, interpolation, keepdims, False, 100.0)


@composed(**_BACK)
def percentile_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    q: Any,
    axis: Axis = None,
    *,
    interpolation: Interpolation = "linear",
    keepdims: bool = False,
) -> TensorRef:
    """The gradient of `percentile`'s x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.percentile_backward(np.array(4, np.float32), np.float32([4, 1, 3, 2]), 25).tolist()
    [0.0, 1.0, 0.0, 3.0]
    """
    return slopes_of_quantiles(do, dy, x, q, axis, interpolation, keepdims, False, 100.0)


@composed(**_ROWS)
def nanpercentile(
    do: Steps, x: TensorRef, q: Any, axis: Axis = None, *, interpolation: Interpolation = "linear", keepdims: bool = False
) -> Any:
    """`percentile` of what is not NaN; NaN of a row with nothing else.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> float(baracuda.nanpercentile(np.float32([4, np.nan, 1]), 50))
    2.5
    """
    return quantiles(do, x, q, axis, interpolation, keepdims, True, 100.0)


@composed(**_BACK)
def nanpercentile_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    q: Any,
    axis: Axis = None,
    *,
    interpolation: Interpolation = "linear",
    keepdims: bool = False,
) -> TensorRef:
    """The gradient of `nanpercentile`'s x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.nanpercentile_backward(np.array(4, np.float32), np.float32([4, np.nan, 1]), 50).tolist()
    [2.0, 0.0, 2.0]
    """
    return slopes_of_quantiles(do, dy, x, q, axis, interpolation, keepdims, True, 100.0)
