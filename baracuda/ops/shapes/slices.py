"""Parts of tensors and other strides of their memory: views; and their gradients, copies and ordered sums."""

from __future__ import annotations

from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import contiguous_strides, has_internal_overlap, reach
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import axes_of, axis_of, shape_of, view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import Count, Extents, Positive
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan
from baracuda.ops.shapes.numbering import numbers

Integers = int | tuple[int | None, ...] | None


def _listed(values: Integers, count: int, default: Any, name: str) -> tuple[Any, ...]:
    found = (default,) * count if values is None else (values,) if isinstance(values, int) else values
    if len(found) != count:
        raise InvalidProblemError(f"{name}: {values}; expected {count} numbers, one for each axis")
    return found


def _sliced(x: TensorRef, starts: Integers, stops: Integers, axes: Integers, steps: Integers) -> Any:
    """Part of a tensor, each axis as Python slices it."""
    if axes is None:
        given = next((v for v in (starts, stops, steps) if v is not None), ())
        over: tuple[int, ...] = tuple(range(1 if isinstance(given, int) else len(given)))
        axes_of(over, len(x.shape))
    else:
        over = axes_of(axes, len(x.shape), "axes")  # type: ignore[arg-type]
    count = len(over)
    listed = [_listed(v, count, None, name) for v, name in ((starts, "starts"), (stops, "stops"), (steps, "steps"))]
    shape, strides, offset = list(x.shape), list(x.strides), 0
    for axis, start, stop, step in zip(over, *listed, strict=True):
        if step == 0:
            raise InvalidProblemError(f"steps: {steps}; expected numbers other than 0")
        first, last, by = slice(start, stop, step).indices(shape[axis])
        shape[axis] = len(range(first, last, by))
        offset += first * strides[axis] if shape[axis] else 0
        strides[axis] *= by
    return view(x, offset, shape, strides)


@composed(x="...", views=True)
def slice_(
    do: Steps, x: TensorRef, starts: Integers = None, stops: Integers = None, axes: Integers = None, steps: Integers = None
) -> Any:
    """x from `starts` to before `stops` by `steps` along some axes, by default the first ones, each as Python slices a list: a
    view (with negative steps only where x's library has negative strides, else a copy).

    Differs from PyTorch: its narrow and slice have the axis second, and a length.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.slice(np.arange(10), 1, -2, steps=3).tolist()
    [1, 4, 7]
    """
    return _sliced(x, starts, stops, axes, steps)


@composed(dy="...", x="...", out=True)
def slice_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    starts: Integers = None,
    stops: Integers = None,
    axes: Integers = None,
    steps: Integers = None,
) -> Any:
    """The gradient of `slice`'s x: dy where it was taken from, 0 elsewhere.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.slice_backward(np.array([1.0, 2]), np.zeros(4), 1, 3).tolist()
    [0.0, 1.0, 2.0, 0.0]
    """
    dx = do.result(x.shape, x.kind)
    do.move([(dy, _same(dy, _sliced(dx, starts, stops, axes, steps)))], dx, 0)
    return dx


def _same(dy: TensorRef, part: TensorMut) -> TensorMut:
    if dy.shape != part.shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {part.shape}")
    return part


def _selected(x: TensorRef, axis: int, index: int) -> Any:
    at = axis_of(axis, len(x.shape))
    n = x.shape[at]
    if not -n <= index < n:
        raise InvalidProblemError(f"index: {index}; expected {-n} to {n - 1}, of axis {at} of shape {x.shape}")
    shape, strides = ((*t[:at], *t[at + 1 :]) for t in (x.shape, x.strides))
    return view(x, index % n * x.strides[at], shape, strides)


@composed(x="...", views=True)
def select(do: Steps, x: TensorRef, axis: int, index: int) -> Any:
    """The slice of x at one index of an axis, without it: a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.select(np.array([[1, 2], [3, 4]]), 1, -1).tolist()
    [2, 4]
    """
    return _selected(x, axis, index)


@composed(dy="...", x="...", out=True)
def select_backward(do: Steps, dy: TensorRef, x: TensorRef, axis: int, index: int) -> Any:
    """The gradient of `select`'s x: dy at that index, 0 elsewhere.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.select_backward(np.array([1.0, 2]), np.zeros((2, 2)), 1, 0).tolist()
    [[1.0, 0.0], [2.0, 0.0]]
    """
    dx = do.result(x.shape, x.kind)
    do.move([(dy, _same(dy, _selected(dx, axis, index)))], dx, 0)
    return dx


# --- other strides ----------------------------------------------------------------------------------------------------


def _strided(x: TensorRef, shape: Extents, strides: tuple[int, ...] | int, offset: int) -> Any:
    return view(x, offset, shape_of(shape), (strides,) if isinstance(strides, int) else strides)


@composed(x="...", views=True)
def as_strided(do: Steps, x: TensorRef, shape: Extents, strides: Extents, offset: int = 0) -> Any:
    """A view of x's memory, from `offset` elements after x's first one on, with a shape and strides, in elements, of its own.

    Its elements are to lie between x's first and last one in memory. Differs from PyTorch: there the offset counts from the start
    of the storage.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.as_strided(np.arange(5), (3, 2), (1, 2)).tolist()
    [[0, 2], [1, 3], [2, 4]]
    """
    return _strided(x, shape, strides, offset)


def spread(do: Steps, dy: TensorRef, x: TensorRef, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
    """The gradient of x, given that of a view of its memory with these strides: each element's share, in logical order of the
    view, by the ordered sums by destination."""
    if dy.shape != shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {shape}")
    low, high = reach(x.shape, x.strides)
    if has_internal_overlap(x.shape, x.strides):
        raise InvalidProblemError(f"x: strides {x.strides} of shape {x.shape}; expected elements at one place each")
    memory = do.rows((high - low + 1,), x.kind)
    if 0 in shape:
        do.zero(memory)
    elif not has_internal_overlap(shape, strides):
        do.move([(dy, view(memory, offset - low, shape, strides))], memory, 0)
    else:
        index = numbers(do, shape, strides, offset - low)
        scatter = ScatterDescriptor(ScatterKind.SUM, memory.shape, 0, shape, x.kind, ElementKind.S64)
        do.plan(ScatterPlan, scatter, {"index": index, "x": dy}, memory)
    dense = tuple(x.strides) == contiguous_strides(x.shape)
    if dense:
        return do.reshaped(memory, x.shape)
    dx = do.new(x.shape, x.kind)
    do.copy(view(memory, -low if prod(x.shape) else 0, x.shape, x.strides), dx)
    return dx


@composed(dy="...", x="...")
def as_strided_backward(do: Steps, dy: TensorRef, x: TensorRef, shape: Extents, strides: Extents, offset: int = 0) -> Any:
    """The gradient of `as_strided`'s x: for each of its elements the sum of dy over the places that show it, in order.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.as_strided_backward(np.ones((3, 2)), np.zeros(5), (3, 2), (1, 2)).tolist()
    [1.0, 1.0, 2.0, 1.0, 1.0]
    """
    extents, steps = shape_of(shape), (strides,) if isinstance(strides, int) else strides
    _strided(x, extents, steps, offset)  # raises where there is no such view
    return spread(do, dy, x, extents, steps, offset)


@composed(x="...", source="...", out=True)
def as_strided_scatter(do: Steps, x: TensorRef, source: TensorRef, shape: Extents, strides: Extents, offset: int = 0) -> Any:
    """A contiguous copy of x in which the view with these strides, in elements from its first one on, is `source`.

    The view's elements are to be at one place each.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.as_strided_scatter(np.zeros(4), np.ones(2), (2,), (2,)).tolist()
    [1.0, 0.0, 1.0, 0.0]
    """
    y = _contiguous(do, x)
    do.copy(x, y)
    do.copy(source, _same(source, _written(y, shape, strides, offset)))
    return y


def _contiguous(do: Steps, x: TensorRef) -> TensorMut:
    y = do.rows(x.shape, x.kind) if do.out is None else do.result(x.shape, x.kind)
    if 0 not in y.shape and y.strides != contiguous_strides(y.shape):
        raise InvalidProblemError(f"out: strides {y.strides}; expected a contiguous tensor")
    return y


def _written(y: TensorMut, shape: Extents, strides: Extents, offset: int) -> Any:
    part = _strided(y, shape, strides, offset)
    if has_internal_overlap(part.shape, part.strides):
        raise InvalidProblemError(f"strides: {strides} of shape {shape}; expected elements at one place each")
    return part


@composed(dy="...")
def as_strided_scatter_backward(do: Steps, dy: TensorRef, shape: Extents, strides: Extents, offset: int = 0) -> Any:
    """The gradients of `as_strided_scatter`'s x, dy with 0 in the view, and of its source, dy's view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [g.tolist() for g in baracuda.as_strided_scatter_backward(np.array([1.0, 2, 3]), (1,), (1,), 1)]
    [[1.0, 0.0, 3.0], [2.0]]
    """
    dx = do.rows(dy.shape, dy.kind)
    do.copy(dy, dx)
    part = _written(dx, shape, strides, offset)
    do.copy(part, dsource := do.rows(part.shape, dy.kind))
    do.zero(part)
    return dx, dsource


def _unfolded(x: TensorRef, axis: int, size: int, step: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides of windows along an axis."""
    if not x.shape:
        if size > 1:
            raise InvalidProblemError(f"size: {size}; expected at most 1 of a scalar")
        return (size,), (1,)
    at = axis_of(axis, len(x.shape))
    n = x.shape[at]
    if size > n:
        raise InvalidProblemError(f"size: {size}; expected at most {n}, the extent of axis {at}")
    count = (n - size) // step + 1
    return (*x.shape[:at], count, *x.shape[at + 1 :], size), (
        *x.strides[:at], x.strides[at] * step, *x.strides[at + 1 :], x.strides[at]
    )  # fmt: skip


@composed(x="...", views=True)
def unfold_dim(do: Steps, x: TensorRef, axis: int, size: Count, step: Positive) -> Any:
    """Windows of `size` neighbours along an axis, one every `step`: a view, with the windows' elements along a new last axis.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.unfold_dim(np.arange(5), 0, 3, 2).tolist()
    [[0, 1, 2], [2, 3, 4]]
    """
    return view(x, 0, *_unfolded(x, axis, size, step))


@composed(dy="...", x="...")
def unfold_dim_backward(do: Steps, dy: TensorRef, x: TensorRef, axis: int, size: Count, step: Positive) -> Any:
    """The gradient of `unfold_dim`'s x: for each of its elements the sum of dy over the windows that show it, in order.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.unfold_dim_backward(np.ones((2, 3)), np.zeros(5), 0, 3, 2).tolist()
    [1.0, 1.0, 2.0, 1.0, 1.0]
    """
    like = do.rows(x.shape, x.kind)  # strides of one's own, whatever those of x
    shape, strides = _unfolded(like, axis, size, step)
    return spread(do, dy, like, shape, strides, 0)
