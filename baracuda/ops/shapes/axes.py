"""Axes in another order: views."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import Category
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axes_of, axis_of, permuted
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import Extents
from baracuda.ops.elementwise.complex_ops import conj


def _order(axes: tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(rank))[::-1]
    found = axes_of(axes, rank, "axes")
    if len(found) != rank:
        raise InvalidProblemError(f"axes: {axes}; expected each of the {rank} axes once")
    return found


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(order.index(a) for a in range(len(order)))


@composed(x="...", views=True)
def permute(do: Steps, x: TensorRef, axes: tuple[int, ...] | None = None) -> Any:
    """The axes of x in another order, by default in reverse: a view. Axis i of the result is axis axes[i] of x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.permute(np.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return permuted(x, _order(axes, len(x.shape)))


@composed(dy="...", views=True)
def permute_backward(do: Steps, dy: TensorRef, axes: tuple[int, ...] | None = None) -> Any:
    """The gradient of `permute`'s x: dy with its axes back in order, a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.permute_backward(np.zeros((4, 2, 3)), (2, 0, 1)).shape
    (2, 3, 4)
    """
    return permuted(dy, _inverse(_order(axes, len(dy.shape))))


def _swapped(x: TensorRef, axis0: int, axis1: int) -> Any:
    rank = len(x.shape)
    order = list(range(rank))
    if rank:
        i, j = axis_of(axis0, rank), axis_of(axis1, rank)
        order[i], order[j] = j, i
    elif not (axis0 in (0, -1) and axis1 in (0, -1)):
        axis_of(axis0, rank)  # raises
    return permuted(x, order)


@composed(x="...", views=True)
def transpose(do: Steps, x: TensorRef, axis0: int, axis1: int) -> Any:
    """x with two axes exchanged: a view. (All axes in another order is `permute`.)

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.transpose(np.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    return _swapped(x, axis0, axis1)


@composed(dy="...", views=True)
def transpose_backward(do: Steps, dy: TensorRef, axis0: int, axis1: int) -> Any:
    """The gradient of `transpose`'s x: dy with the same axes exchanged, a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.transpose_backward(np.zeros((4, 3, 2)), 0, 2).shape
    (2, 3, 4)
    """
    return _swapped(dy, axis0, axis1)


def _turned(x: TensorRef) -> Any:
    if len(x.shape) > 2:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected two axes or fewer")
    return permuted(x, range(len(x.shape))[::-1])


@composed(x="...", views=True)
def t(do: Steps, x: TensorRef) -> Any:
    """A matrix with its axes exchanged, a view; of one axis or none x itself.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.t(np.array([[1, 2], [3, 4]])).tolist()
    [[1, 3], [2, 4]]
    """
    return _turned(x)


@composed(dy="...", views=True)
def t_backward(do: Steps, dy: TensorRef) -> Any:
    """The gradient of `t`'s x: dy with its axes exchanged, a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.t_backward(np.zeros((2, 3))).shape
    (3, 2)
    """
    return _turned(dy)


@composed(x="... m n", views=True)
def matrix_transpose(do: Steps, x: TensorRef) -> Any:
    """The last two axes exchanged: a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.matrix_transpose(np.zeros((5, 2, 3))).shape
    (5, 3, 2)
    """
    return _swapped(x, -2, -1)


@composed(dy="... n m", views=True)
def matrix_transpose_backward(do: Steps, dy: TensorRef) -> Any:
    """The gradient of `matrix_transpose`'s x: dy with the last two axes exchanged, a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.matrix_transpose_backward(np.zeros((5, 3, 2))).shape
    (5, 2, 3)
    """
    return _swapped(dy, -2, -1)


def _conjugate_transpose(do: Steps, x: TensorRef) -> Any:
    turned = _swapped(x, -2, -1)
    return do.run(conj, {"x": turned}) if x.kind.category is Category.COMPLEX else turned


@composed(x="... m n", views=True)
def adjoint(do: Steps, x: TensorRef) -> Any:
    """The last two axes exchanged, a view; a complex tensor's elements are conjugated, in a new tensor.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.adjoint(np.array([[1 + 2j, 3]])).tolist()
    [[(1-2j)], [(3-0j)]]
    """
    return _conjugate_transpose(do, x)


@composed(dy="... n m", views=True)
def adjoint_backward(do: Steps, dy: TensorRef) -> Any:
    """The gradient of `adjoint`'s x: the adjoint of dy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.adjoint_backward(np.zeros((3, 2))).shape
    (2, 3)
    """
    return _conjugate_transpose(do, dy)


def _moved(rank: int, source: Extents, destination: Extents) -> tuple[int, ...]:
    """The order of axes in which those of `source` are at `destination`, and the others follow each other as before."""
    start, end = axes_of(source, rank, "source"), axes_of(destination, rank, "destination")
    if len(start) != len(end):
        raise InvalidProblemError(f"source, destination: {source}, {destination}; expected as many of one as of the other")
    order = [a for a in range(rank) if a not in start]
    for place, axis in sorted(zip(end, start, strict=True)):
        order.insert(place, axis)
    return tuple(order)


@composed(x="...", views=True)
def movedim(do: Steps, x: TensorRef, source: Extents, destination: Extents) -> Any:
    """x with some axes at other places, the others in their order: a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.movedim(np.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    return permuted(x, _moved(len(x.shape), source, destination))


@composed(dy="...", views=True)
def movedim_backward(do: Steps, dy: TensorRef, source: Extents, destination: Extents) -> Any:
    """The gradient of `movedim`'s x: dy with its axes back in order, a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.movedim_backward(np.zeros((3, 4, 2)), 0, -1).shape
    (2, 3, 4)
    """
    return permuted(dy, _inverse(_moved(len(dy.shape), source, destination)))


def _rolled(rank: int, axis: int, start: int) -> tuple[int, ...]:
    at = axis_of(axis, rank)
    if not -rank <= start <= rank:
        raise InvalidProblemError(f"start: {start}; expected {-rank} to {rank}")
    before = start + rank if start < 0 else start
    order = [a for a in range(rank) if a != at]
    order.insert(before - (at < before), at)
    return tuple(order)


@composed(x="...", views=True)
def rollaxis(do: Steps, x: TensorRef, axis: int, start: int = 0) -> Any:
    """x with one axis before the one that is now at `start`, a view (numpy.rollaxis).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.rollaxis(np.zeros((3, 4, 5, 6)), 3, 1).shape
    (3, 6, 4, 5)
    """
    return permuted(x, _rolled(len(x.shape), axis, start))


@composed(dy="...", views=True)
def rollaxis_backward(do: Steps, dy: TensorRef, axis: int, start: int = 0) -> Any:
    """The gradient of `rollaxis`'s x: dy with its axes back in order, a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.rollaxis_backward(np.zeros((3, 6, 4, 5)), 3, 1).shape
    (3, 4, 5, 6)
    """
    return permuted(dy, _inverse(_rolled(len(dy.shape), axis, start)))
