"""Diagonals of matrices: read as views, and written."""

from __future__ import annotations

from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import axes_of, broadcasted, view
from baracuda.core.views import diagonal as diagonal_of
from baracuda.ops.declaration.composition import Steps, composed


@composed(x="... m n", views=True)
def diagonal(do: Steps, x: TensorRef, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The elements x[i, i + offset] of the matrices along two axes, as the last axis: a view.

    The array API's linalg.diagonal takes the last two axes.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.diagonal(np.array([[1, 2], [3, 4]])).tolist()
    [1, 4]
    """
    return diagonal_of(x, offset, axis1, axis2)


def _onto(do: Steps, along: TensorRef, whole: TensorMut, axis1: int, axis2: int, offset: int) -> TensorMut:
    """A tensor that is 0 but for a diagonal."""
    target = diagonal_of(whole, offset, axis1, axis2)
    do.move([(broadcasted(along, target.shape, "dy"), target)], whole, 0)
    return whole


@composed(dy="...", x="... m n", out=True)
def diagonal_backward(do: Steps, dy: TensorRef, x: TensorRef, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The gradient of `diagonal`'s x: dy on the diagonal, 0 elsewhere.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.diagonal_backward(np.array([1.0, 4.0]), np.zeros((2, 2))).tolist()
    [[1.0, 0.0], [0.0, 4.0]]
    """
    return _onto(do, dy, do.result(x.shape, x.kind), axis1, axis2, offset)


def _embedded(do: Steps, x: TensorRef, offset: int, axis1: int, axis2: int) -> Any:
    n, rank = x.shape[-1] + abs(offset), len(x.shape) + 1
    first, second = axes_of((axis1, axis2), rank, "axis1, axis2")
    shape = list(x.shape[:-1])
    for at in sorted((first, second)):
        shape.insert(at, n)
    return _onto(do, x, do.result(shape, x.kind), first, second, offset)


@composed(x="... n", out=True)
def diag_embed(do: Steps, x: TensorRef, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Any:
    """Matrices along two new axes, 0 but for the diagonal i, i + offset, which is the last axis of x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.diag_embed(np.array([1, 2]), 1).tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    """
    return _embedded(do, x, offset, axis1, axis2)


@composed(dy="... m n", views=True)
def diag_embed_backward(do: Steps, dy: TensorRef, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Any:
    """The gradient of `diag_embed`'s x: that diagonal of dy, a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.diag_embed_backward(np.array([[0.0, 1], [0, 0]]), 1).tolist()
    [1.0]
    """
    return diagonal_of(dy, offset, axis1, axis2)


@composed(x="n or m n", views=True)
def diag(do: Steps, x: TensorRef, k: int = 0) -> Any:
    """Of a vector the matrix with it on diagonal k, 0 elsewhere; of a matrix its diagonal k, a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.diag(np.array([1, 2])).tolist(), baracuda.diag(np.array([[1, 2], [3, 4]]), 1).tolist()
    ([[1, 0], [0, 2]], [2])
    """
    return _embedded(do, x, k, 0, 1) if len(x.shape) == 1 else diagonal_of(x, k, 0, 1)


@composed(dy="...", x="n or m n", views=True)
def diag_backward(do: Steps, dy: TensorRef, x: TensorRef, k: int = 0) -> Any:
    """The gradient of `diag`'s x: of a vector diagonal k of dy, a view; of a matrix dy on diagonal k, 0 elsewhere.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.diag_backward(np.array([[1.0, 2], [3, 4]]), np.zeros(2)).tolist()
    [1.0, 4.0]
    """
    if len(x.shape) == 1:
        return diagonal_of(dy, k, 0, 1)
    return _onto(do, dy, do.new(x.shape, x.kind), 0, 1, k)


@composed(x="...", out=True)
def diagflat(do: Steps, x: TensorRef, k: int = 0) -> Any:
    """A matrix with the elements of x, as one row, on diagonal k, 0 elsewhere.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.diagflat(np.array([[1], [2]])).tolist()
    [[1, 0], [0, 2]]
    """
    return _embedded(do, do.reshaped(x, (-1,)), k, 0, 1)


@composed(dy="m n", x="...", views=True)
def diagflat_backward(do: Steps, dy: TensorRef, x: TensorRef, k: int = 0) -> Any:
    """The gradient of `diagflat`'s x: diagonal k of dy in the shape of x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.diagflat_backward(np.array([[1.0, 2], [3, 4]]), np.zeros((2, 1))).tolist()
    [[1.0], [4.0]]
    """
    return do.reshaped(diagonal_of(dy, k, 0, 1), x.shape)


def main_diagonal(x: TensorRef, wrap: bool) -> Any:
    """x[i, i, ...] as a view; with `wrap` a diagonal of a tall matrix begins anew, a row further down, where it has left it."""
    rank, shape, strides = len(x.shape), x.shape, x.strides
    if rank < 2:
        raise InvalidProblemError(f"x: shape is {shape}; expected two axes or more")
    if rank > 2 and len(set(shape)) > 1:
        raise InvalidProblemError(f"x: shape is {shape}; expected axes of one extent")
    return [view(x, start, (n,), (sum(strides),)) for start, n in _runs(shape, strides, wrap and rank == 2) if n]


def _runs(shape: tuple[int, ...], strides: tuple[int, ...], wrap: bool) -> list[tuple[int, int]]:
    """First element and length of each run of a diagonal."""
    least = min(shape)
    runs = [(0, least)]
    if wrap and shape[1]:
        for row in range(shape[1] + 1, shape[0], shape[1] + 1):
            runs.append((row * strides[0], min(shape[1], shape[0] - row)))
    return runs


@composed(x="...", value="() or n or number", out=True, numbers={"value": ()})
def fill_diagonal(do: Steps, x: TensorRef, value: Any, wrap: bool = False) -> Any:
    """x with its diagonal x[i, i, ...] replaced by a number, or by the elements of a tensor, again and again; `out` may be x.

    With `wrap` the diagonal of a tall matrix begins anew a row below where it has left it (numpy.fill_diagonal).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.fill_diagonal(np.zeros((2, 2)), 5.0).tolist()
    [[5.0, 0.0], [0.0, 5.0]]
    """
    y = do.result_like(x)
    if y.pointer != x.pointer or y.strides != x.strides:
        do.copy(x, y)
    begun = 0
    for target in main_diagonal(y, wrap):
        if not isinstance(value, TensorRef):
            do.fill(target, value, "value")
        elif value.shape in ((), (1,)):
            do.copy(view(value, 0, target.shape, (0,)), target)
        else:
            begun = _filled_from(do, value, target, begun)
    return y


def _filled_from(do: Steps, value: TensorRef, target: TensorMut, begun: int) -> int:
    """Write the elements of a row from number `begun` on, again and again; the number of the next one."""
    at, n, step = 0, target.shape[0], target.strides[0]
    while at < n:
        count = min(value.shape[0] - begun, n - at)
        do.copy(view(value, begun * value.strides[0], (count,), value.strides), view(target, at * step, (count,), (step,)))
        at, begun = at + count, (begun + count) % value.shape[0]
    return begun


@composed(dy="...", out=True)
def fill_diagonal_backward(do: Steps, dy: TensorRef, wrap: bool = False) -> Any:
    """The gradient of `fill_diagonal`'s x: dy with 0 on the diagonal.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.fill_diagonal_backward(np.ones((2, 2))).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    dx = do.result_like(dy)
    if dx.pointer != dy.pointer or dx.strides != dy.strides:
        do.copy(dy, dx)
    for target in main_diagonal(dx, wrap):
        do.zero(target)
    return dx
