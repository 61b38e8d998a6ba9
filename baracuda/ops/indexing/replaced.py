"""A view of a tensor replaced: entry, slice or diagonal along axes of it, as new tensors or, with `out` x itself, in place.

The gradient by x is dy with 0 in the view, that by what was put there the view of dy. Elements are moved bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from baracuda.core.errors import InvalidProblemError, OutOfRangeError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import axis_of, diagonal, view
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.words import Positive, Wrt
from baracuda.ops.indexing.moves import apart, cleared, copied, move

#: The view of a tensor that is replaced.
Part = Callable[[TensorRef], Any]


def _replaced(do: Steps, x: TensorRef, source: TensorRef, part: Part) -> TensorMut:
    wanted = part(x).shape
    if source.shape != wanted:
        raise InvalidProblemError(f"source: shape is {source.shape}; expected {wanted}")
    y = copied(do, x)
    move(do, apart(do, source, y), part(y))
    return y


def _gradients(do: Steps, dy: TensorRef, source: TensorRef, wrt: Wrt, part: Part) -> Any:
    found: dict[str, Any] = {}
    for name in chosen(wrt, ("x", "source")):
        if name == "x":
            found[name] = do.new_like(dy)
            move(do, dy, found[name])
            cleared(do, part(found[name]))
        else:
            found[name] = do.new(source.shape, source.kind)
            wanted = part(dy)
            if wanted.shape != source.shape:
                raise InvalidProblemError(f"source: shape is {source.shape}; expected {wanted.shape}")
            move(do, wanted, found[name])
    return one_or_all(tuple(found.values()))


def _entry(axis: int, index: int) -> Part:
    """One entry along an axis."""

    def part(tensor: TensorRef) -> Any:
        at = axis_of(axis, len(tensor.shape))
        extent = tensor.shape[at]
        if not -extent <= index < extent:
            raise OutOfRangeError(f"index: {index}; expected {-extent} to {extent - 1} for axis {axis} of shape {tensor.shape}")
        shape, strides = ((*t[:at], *t[at + 1 :]) for t in (tensor.shape, tensor.strides))
        return view(tensor, index % extent * tensor.strides[at], shape, strides)

    return part


def _slice(axis: int, start: int | None, end: int | None, step: int) -> Part:
    """A slice along an axis, by Python's rules."""

    def part(tensor: TensorRef) -> Any:
        at = axis_of(axis, len(tensor.shape))
        taken = range(tensor.shape[at])[start:end:step]
        shape = (*tensor.shape[:at], len(taken), *tensor.shape[at + 1 :])
        strides = (*tensor.strides[:at], tensor.strides[at] * step, *tensor.strides[at + 1 :])
        return view(tensor, taken.start * tensor.strides[at] if len(taken) else 0, shape, strides)

    return part


def _on_diagonal(offset: int, axis1: int, axis2: int) -> Part:
    return lambda tensor: diagonal(tensor, offset, axis1, axis2)


@composed(x="... : T", source="... : T", out=True)
def select_scatter(do: Steps, x: TensorRef, source: TensorRef, axis: int, index: int) -> TensorMut:
    """x with its entry number `index` along an axis replaced by source, which has the shape of x without that axis.

    A negative index counts from the end. `out` may be `x`. Source: torch.select_scatter.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.select_scatter(np.zeros((2, 2), np.float32), np.float32([1, 2]), axis=1, index=0).tolist()
    [[1.0, 0.0], [2.0, 0.0]]
    """
    return _replaced(do, x, source, _entry(axis, index))


@composed(dy="*all : T", x="*all : T", source="... : T")
def select_scatter_backward(
    do: Steps, dy: TensorRef, x: TensorRef, source: TensorRef, axis: int, index: int, *, wrt: Wrt = None
) -> Any:
    """The gradients of `select_scatter`'s x and source, those named in `wrt` or both."""
    return _gradients(do, dy, source, wrt, _entry(axis, index))


@composed(x="... : T", source="... : T", out=True)
def slice_scatter(
    do: Steps,
    x: TensorRef,
    source: TensorRef,
    axis: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: Positive = 1,
) -> TensorMut:
    """x with its slice start:end:step along an axis replaced by source, which has the shape of that slice.

    `out` may be `x`. Source: torch.slice_scatter.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.slice_scatter(np.zeros(4, np.float32), np.float32([1, 2]), start=1, step=2).tolist()
    [0.0, 1.0, 0.0, 2.0]
    """
    return _replaced(do, x, source, _slice(axis, start, end, step))


@composed(dy="*all : T", x="*all : T", source="... : T")
def slice_scatter_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    source: TensorRef,
    axis: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: Positive = 1,
    *,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `slice_scatter`'s x and source, those named in `wrt` or both."""
    return _gradients(do, dy, source, wrt, _slice(axis, start, end, step))


@composed(x="... : T", source="... : T", out=True)
def diagonal_scatter(do: Steps, x: TensorRef, source: TensorRef, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorMut:
    """x with the diagonal x[i, i + offset] of the matrices along two axes replaced by source, whose last axis is that diagonal,
    behind the axes of x that are left.

    `out` may be `x`. Source: torch.diagonal_scatter.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.diagonal_scatter(np.zeros((2, 2), np.float32), np.float32([1, 2])).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    return _replaced(do, x, source, _on_diagonal(offset, axis1, axis2))


@composed(dy="*all : T", x="*all : T", source="... : T")
def diagonal_scatter_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    source: TensorRef,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    *,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `diagonal_scatter`'s x and source, those named in `wrt` or both."""
    return _gradients(do, dy, source, wrt, _on_diagonal(offset, axis1, axis2))
