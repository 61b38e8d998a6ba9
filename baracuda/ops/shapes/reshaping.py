"""Other shapes of the same elements: views where the strides allow one, else copies."""

from __future__ import annotations

from typing import Any, Literal

from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axes_of, axis_of, extents_of, permuted, reshaped, shape_of, view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import AxesOrAll, Extents

Order = Literal["C", "F"]


def _backwards(x: TensorRef) -> Any:
    return permuted(x, range(len(x.shape))[::-1])


@composed(x="...", views=True)
def reshape(
    do: Steps, x: TensorRef, shape: Extents, *, order: Order = "C", copy: bool | None = None, allowzero: bool = True
) -> TensorRef:
    """The elements of x, in logical order, in another shape, one extent of which may be -1.

    A view where x's strides allow one, else a copy; always a copy with copy=True, and with copy=False a copy is an error. With
    order "F" the first axis is the fastest, of x and of the result. With allowzero=False an extent of 0 is x's own along that
    axis, as in ONNX.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.reshape(np.arange(6), (3, -1)).tolist()
    [[0, 1], [2, 3], [4, 5]]
    """
    wanted = (shape,) if isinstance(shape, int) else shape
    if not allowzero:
        if any(n == 0 and a >= len(x.shape) for a, n in enumerate(wanted)):
            raise InvalidProblemError(f"shape: {wanted}; expected 0 only for axes that x of shape {x.shape} has")
        wanted = tuple(n or x.shape[a] for a, n in enumerate(wanted))
    extents = extents_of(x.shape, wanted)
    if order == "F":
        x, extents = _backwards(x), extents[::-1]
    found = None if copy else reshaped(x, extents)
    if found is None and copy is False:
        raise InvalidProblemError(f"copy: False; x of shape {x.shape} with strides {x.strides} has no view of shape {extents}")
    if found is None:
        found = do.rows(extents, x.kind)
        do.copy(x, view(found, 0, x.shape, contiguous_strides(x.shape)))
    return _backwards(found) if order == "F" else found


@composed(x="...", views=True)
def ravel(do: Steps, x: TensorRef, *, order: Order = "C") -> TensorRef:
    """The elements of x as one row, in logical order: a view where x's strides allow one, else a copy. With order "F" the first
    axis is the fastest.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.ravel(np.array([[1, 2], [3, 4]])).tolist()
    [1, 2, 3, 4]
    """
    flat: TensorRef = do.reshaped(_backwards(x) if order == "F" else x, (-1,))
    return flat


@composed(x="...", views=True)
def flatten(do: Steps, x: TensorRef, start_axis: int = 0, end_axis: int = -1) -> TensorRef:
    """The axes from start_axis to end_axis as one: a view where x's strides allow one, else a copy. A scalar gets one axis.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.flatten(np.zeros((2, 3, 4)), 1).shape
    (2, 12)
    """
    if not x.shape:
        return do.reshaped(x, (1,))  # type: ignore[no-any-return]
    first, last = axis_of(start_axis, len(x.shape)), axis_of(end_axis, len(x.shape))
    if first > last:
        raise InvalidProblemError(f"start_axis: {start_axis}; expected one not after end_axis, which is {end_axis}")
    size = 1
    for n in x.shape[first : last + 1]:
        size *= n
    return do.reshaped(x, (*x.shape[:first], size, *x.shape[last + 1 :]))  # type: ignore[no-any-return]


@composed(x="...", views=True)
def unflatten(do: Steps, x: TensorRef, axis: int, sizes: tuple[int, ...]) -> TensorRef:
    """One axis as several, one extent of which may be -1: a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.unflatten(np.zeros((2, 12)), 1, (3, -1)).shape
    (2, 3, 4)
    """
    at = axis_of(axis, len(x.shape))
    inner = extents_of((x.shape[at],), sizes)
    steps, step = [], x.strides[at]
    for n in reversed(inner):
        steps.append(step)
        step *= max(n, 1)
    shape, strides = (*x.shape[:at], *inner, *x.shape[at + 1 :]), (*x.strides[:at], *steps[::-1], *x.strides[at + 1 :])
    return view(x, 0, shape, strides)  # type: ignore[no-any-return]


@composed(x="...", views=True)
def squeeze(do: Steps, x: TensorRef, axis: AxesOrAll = None) -> TensorRef:
    """x without axes of extent 1, by default all of them: a view. Another extent is an error.

    Differs from PyTorch: there an axis of another extent stays.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.squeeze(np.zeros((1, 3, 1)), 0).shape
    (3, 1)
    """
    gone = [a for a, n in enumerate(x.shape) if n == 1] if axis is None else axes_of(axis, len(x.shape))
    if any(x.shape[a] != 1 for a in gone):
        raise InvalidProblemError(f"axis: {axis} of shape {x.shape}; expected axes of extent 1")
    kept = [a for a in range(len(x.shape)) if a not in gone]
    return permuted(x, kept)  # type: ignore[no-any-return]


@composed(x="...", views=True)
def unsqueeze(do: Steps, x: TensorRef, axis: Extents = 0) -> TensorRef:
    """x with new axes of extent 1, which have these numbers in the result: a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.unsqueeze(np.zeros((2, 3)), (0, -1)).shape
    (1, 2, 3, 1)
    """
    rank = len(x.shape) + (1 if isinstance(axis, int) else len(axis))
    new = axes_of(axis, rank)
    shape, strides = list(x.shape), list(x.strides)
    for a in sorted(new):
        strides.insert(a, strides[a] * shape[a] if a < len(shape) else 1)
        shape.insert(a, 1)
    return view(x, 0, shape, strides)  # type: ignore[no-any-return]


def _at_least(do: Steps, tensors: tuple[TensorRef, ...], rank: int) -> Any:
    def widened(x: TensorRef) -> Any:
        if rank == 3 and len(x.shape) == 2:
            return reshaped(x, (*x.shape, 1))
        if rank == 3 and len(x.shape) == 1:
            return reshaped(x, (1, *x.shape, 1))
        return reshaped(x, (*[1] * (rank - len(x.shape)), *x.shape))

    found = tuple(widened(x) for x in tensors)
    return found[0] if len(found) == 1 else found


@composed(x="...", more="...", views=True)
def atleast_1d(do: Steps, x: TensorRef, *more: TensorRef) -> Any:
    """x, and each tensor after it, as a view with one axis at least: a scalar gets an axis of extent 1.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.atleast_1d(np.array(3.0)).tolist()
    [3.0]
    """
    return _at_least(do, (x, *more), 1)


@composed(x="...", more="...", views=True)
def atleast_2d(do: Steps, x: TensorRef, *more: TensorRef) -> Any:
    """x, and each tensor after it, as a view with two axes at least: new ones come first.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.atleast_2d(np.array([1.0, 2.0])).tolist()
    [[1.0, 2.0]]
    """
    return _at_least(do, (x, *more), 2)


@composed(x="...", more="...", views=True)
def atleast_3d(do: Steps, x: TensorRef, *more: TensorRef) -> Any:
    """x, and each tensor after it, as a view with three axes at least: n becomes (1, n, 1), and (m, n) becomes (m, n, 1).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.atleast_3d(np.array([1.0, 2.0])).shape
    (1, 2, 1)
    """
    return _at_least(do, (x, *more), 3)


def _gradient(of: str) -> None:
    def backward(do: Steps, dy: TensorRef, x: TensorRef) -> TensorRef:
        return do.reshaped(dy, x.shape)  # type: ignore[no-any-return]

    backward.__name__ = f"{of}_backward"
    backward.__doc__ = f"""The gradient of `{of}`'s x: dy in the shape of x, a view where its strides allow one, else a copy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.{of}_backward(np.ones((2, 3)), np.zeros((2, 3))).shape
    (2, 3)
    """
    composed(dy="...", x="...", views=True)(backward)


for _of in ("flatten", "unflatten", "squeeze", "unsqueeze", "atleast_1d", "atleast_2d", "atleast_3d"):
    _gradient(_of)


def _in_order(do: Steps, dy: TensorRef, x: TensorRef, order: Order) -> TensorRef:
    if order == "F":
        return _backwards(do.reshaped(_backwards(dy), x.shape[::-1]))  # type: ignore[no-any-return]
    return do.reshaped(dy, x.shape)  # type: ignore[no-any-return]


@composed(dy="...", x="...", views=True)
def reshape_backward(do: Steps, dy: TensorRef, x: TensorRef, *, order: Order = "C") -> TensorRef:
    """The gradient of `reshape`'s x: dy in the shape of x, a view where its strides allow one, else a copy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.reshape_backward(np.ones((6, 1)), np.zeros((2, 3))).shape
    (2, 3)
    """
    return _in_order(do, dy, x, order)


@composed(dy="...", x="...", views=True)
def ravel_backward(do: Steps, dy: TensorRef, x: TensorRef, *, order: Order = "C") -> TensorRef:
    """The gradient of `ravel`'s x: dy in the shape of x, a view where its strides allow one, else a copy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.ravel_backward(np.ones(6), np.zeros((2, 3))).shape
    (2, 3)
    """
    return _in_order(do, dy, x, order)


@composed(x="...", out=True)
def resize(do: Steps, x: TensorRef, shape: Extents) -> TensorRef:
    """A new tensor of this shape with the elements of x in logical order, again and again until it is full; zeros where x has
    none (numpy.resize).

    Differs from PyTorch: there `resize_` leaves what is beyond x as it is.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.resize(np.array([1, 2, 3]), (2, 4)).tolist()
    [[1, 2, 3, 1], [2, 3, 1, 2]]
    """
    extents = shape_of(shape)
    y = do.result(extents, x.kind)
    flat = reshaped(y, (-1,))
    into = flat if flat is not None else do.new((_size(extents),), x.kind)
    row, size = do.reshaped(x, (_size(x.shape),)), into.shape[0]
    n = row.shape[0]
    if n == 0:
        do.zero(into)
    else:
        times, rest = divmod(size, n)
        step = into.strides[0]
        pieces = [(view(row, 0, (times, n), (0, row.strides[0])), view(into, 0, (times, n), (n * step, step)))] if times else []
        if rest:
            pieces.append((view(row, 0, (rest,), row.strides), view(into, times * n * step, (rest,), (step,))))
        do.move(pieces)
    if flat is None:
        do.copy(reshaped(into, extents), y)  # type: ignore[arg-type]
    return y


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size
