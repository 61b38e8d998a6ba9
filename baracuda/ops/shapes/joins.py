"""Tensors side by side in one: copies of each to its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_of, reshaped, slab
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.promotion import common
from baracuda.ops.declaration.words import AxisOrFlat, Dtype
from baracuda.ops.elementwise.conversions import in_element

Tensors = Sequence[TensorRef]


def element_of(tensors: Tensors, dtype: ElementKind | None = None) -> ElementKind:
    """The element of a tensor made of several."""
    return dtype or common([t.kind for t in tensors])


def some(tensors: Tensors) -> Tensors:
    if not tensors:
        raise InvalidProblemError("arrays: (); expected one tensor or more")
    return tensors


def _axis(tensors: Tensors, axis: int) -> int:
    """The axis along which tensors of one shape but for it stand, counted from 0."""
    shape = some(tensors)[0].shape
    at = axis_of(axis, len(shape))
    for i, t in enumerate(tensors):
        if len(t.shape) != len(shape) or any(a != at and n != m for a, (n, m) in enumerate(zip(t.shape, shape, strict=True))):
            raise InvalidProblemError(f"arrays[{i}]: shape is {t.shape}; expected {shape} but for axis {at}")
    return at


def joined(do: Steps, tensors: Tensors, axis: int, dtype: ElementKind | None = None) -> Any:
    """Tensors one after another along an axis."""
    at = _axis(tensors, axis)
    shape = list(tensors[0].shape)
    shape[at] = sum(t.shape[at] for t in tensors)
    y = do.result(shape, element_of(tensors, dtype))
    pieces, start = [], 0
    for t in tensors:
        pieces.append((t, slab(y, at, start, start + t.shape[at])))
        start += t.shape[at]
    do.move(pieces)
    return y


def parted(do: Steps, dy: TensorRef, widened: Tensors, tensors: Tensors, axis: int) -> tuple[TensorRef, ...]:
    """What of a tensor belongs to each of those that stand one after another in it, in the shapes and elements that they have:
    views, but where the element is another."""
    at, start, parts = _axis(widened, axis), 0, []
    size = sum(t.shape[at] for t in widened)
    expected = (*widened[0].shape[:at], size, *widened[0].shape[at + 1 :])
    if dy.shape != expected:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {expected}")
    for wide, own in zip(widened, tensors, strict=True):
        part = slab(dy, at, start, start + wide.shape[at])
        parts.append(in_element(do, do.reshaped(part, own.shape), own.kind))
        start += wide.shape[at]
    return tuple(parts)


def _flat(do: Steps, tensors: Tensors, axis: int | None) -> tuple[Tensors, int]:
    return (tensors, axis) if axis is not None else ([do.reshaped(t, (-1,)) for t in tensors], 0)


@composed(arrays="list ...", out=True)
def concat(do: Steps, arrays: Tensors, axis: AxisOrFlat = 0, *, dtype: Dtype = None) -> Any:
    """Tensors one after another along an axis; with axis=None each as one row.

    Shapes are one but along the axis. The result's element is `dtype`, by default what those of the tensors promote to.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.concat([np.array([[1, 2]]), np.array([[3, 4], [5, 6]])]).tolist()
    [[1, 2], [3, 4], [5, 6]]
    """
    return joined(do, *_flat(do, some(arrays), axis), dtype)


@composed(dy="...", arrays="list ...", views=True)
def concat_backward(do: Steps, dy: TensorRef, arrays: Tensors, axis: AxisOrFlat = 0) -> Any:
    """The gradients of `concat`'s tensors: the parts of dy that they became, views where the element is theirs.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [g.tolist() for g in baracuda.concat_backward(np.array([1.0, 2, 3]), [np.zeros(1), np.zeros(2)])]
    [[1.0], [2.0, 3.0]]
    """
    widened, at = _flat(do, some(arrays), axis)
    return parted(do, dy, widened, arrays, at)


@composed(x="...", values="...", out=True)
def append(do: Steps, x: TensorRef, values: TensorRef, axis: AxisOrFlat = None) -> Any:
    """x and after it `values` along an axis; with axis=None both as one row (numpy.append).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.append(np.array([1, 2]), np.array([[3], [4]])).tolist()
    [1, 2, 3, 4]
    """
    return joined(do, *_flat(do, (x, values), axis))


@composed(dy="...", x="...", values="...", views=True)
def append_backward(do: Steps, dy: TensorRef, x: TensorRef, values: TensorRef, axis: AxisOrFlat = None) -> Any:
    """The gradients of `append`'s x and values: the parts of dy that they became, views where the element is theirs.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [g.tolist() for g in baracuda.append_backward(np.array([1.0, 2, 3]), np.zeros(1), np.zeros(2))]
    [[1.0], [2.0, 3.0]]
    """
    widened, at = _flat(do, (x, values), axis)
    return parted(do, dy, widened, (x, values), at)


def with_new_axis(tensors: Tensors, axis: int) -> tuple[list[TensorRef], int]:
    """Tensors of one shape, each with a new axis of extent 1."""
    shape = some(tensors)[0].shape
    for i, t in enumerate(tensors):
        if t.shape != shape:
            raise InvalidProblemError(f"arrays[{i}]: shape is {t.shape}; expected {shape}, that of arrays[0]")
    at = axis_of(axis, len(shape) + 1)
    return [reshaped(t, (*shape[:at], 1, *shape[at:])) for t in tensors], at  # type: ignore[misc]


@composed(arrays="list ...", out=True)
def stack(do: Steps, arrays: Tensors, axis: int = 0, *, dtype: Dtype = None) -> Any:
    """Tensors of one shape one after another along a new axis, which has this number in the result.

    The result's element is `dtype`, by default what those of the tensors promote to.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.stack([np.array([1, 2]), np.array([3, 4])], axis=-1).tolist()
    [[1, 3], [2, 4]]
    """
    return joined(do, *with_new_axis(arrays, axis), dtype)


@composed(dy="...", arrays="list ...", views=True)
def stack_backward(do: Steps, dy: TensorRef, arrays: Tensors, axis: int = 0) -> Any:
    """The gradients of `stack`'s tensors: the parts of dy that they became, views where the element is theirs.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [g.tolist() for g in baracuda.stack_backward(np.array([[1.0, 2], [3, 4]]), [np.zeros(2), np.zeros(2)])]
    [[1.0, 2.0], [3.0, 4.0]]
    """
    widened, at = with_new_axis(arrays, axis)
    return parted(do, dy, widened, arrays, at)


def _of_rank(rank: int) -> Callable[[TensorRef], Any]:
    def widened(t: TensorRef) -> Any:
        if rank == 3 and len(t.shape) < 3:
            return reshaped(t, (*(1,) * (2 - len(t.shape)), *t.shape, 1))
        return reshaped(t, (*(1,) * (rank - len(t.shape)), *t.shape))

    return widened


def _column(t: TensorRef) -> Any:
    return reshaped(t, (t.shape[0] if t.shape else 1, 1)) if len(t.shape) < 2 else t


#: How tensors are widened before they are joined, and along which axis, given the first one's rank.
_STACKS: dict[str, tuple[Callable[[TensorRef], Any], Callable[[int], int], str, str]] = {
    "hstack": (_of_rank(1), lambda rank: 0 if rank < 2 else 1, "along the second axis, vectors along their only one",
               "[1, 2, 3, 4]"),
    "vstack": (_of_rank(2), lambda rank: 0, "along the first axis, vectors as rows", "[[1, 2], [3, 4]]"),
    "dstack": (_of_rank(3), lambda rank: 2, "along the third axis, which vectors and matrices get as a new one",
               "[[[1, 3], [2, 4]]]"),
    "column_stack": (_column, lambda rank: 1, "along the second axis, vectors as columns", "[[1, 3], [2, 4]]"),
}  # fmt: skip


def _declare(name: str) -> None:
    widen, axis, where, example = _STACKS[name]

    def forward(do: Steps, arrays: Tensors, *, dtype: Dtype = None) -> Any:
        return joined(do, [widen(t) for t in arrays], axis(len(some(arrays)[0].shape)), dtype)

    def backward(do: Steps, dy: TensorRef, arrays: Tensors) -> Any:
        return parted(do, dy, [widen(t) for t in arrays], arrays, axis(len(some(arrays)[0].shape)))

    forward.__name__, backward.__name__ = name, f"{name}_backward"
    forward.__doc__ = f"""Tensors one after another {where}.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.{name}([np.array([1, 2]), np.array([3, 4])]).tolist()
    {example}
    """
    backward.__doc__ = f"""The gradients of `{name}`'s tensors: the parts of dy that they became, views where the element
    is theirs.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [g.tolist() for g in baracuda.{name}_backward(np.array({example}), [np.zeros(2, int), np.zeros(2, int)])]
    [[1, 2], [3, 4]]
    """
    composed(arrays="list ...", out=True)(forward)
    composed(dy="...", arrays="list ...", views=True)(backward)


for _name in _STACKS:
    _declare(_name)
