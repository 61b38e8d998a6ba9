"""Matrices of tensors: nested lists of them, and blocks on a diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import reshaped, slab
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.shapes.joins import element_of, some

#: A tensor and the place of its first element in the whole.
_Placed = list[tuple[TensorRef, tuple[int, ...]]]


def _depth(nested: Any, at: str = "arrays") -> int:
    if not isinstance(nested, (list, tuple)):
        return 0
    if not nested:
        raise InvalidProblemError(f"{at}: an empty list; expected tensors or lists of them")
    depths = {_depth(n, f"{at}[{i}]") for i, n in enumerate(nested)}
    if len(depths) > 1:
        raise InvalidProblemError(f"{at}: lists of different depths {sorted(depths)}; expected one")
    return 1 + depths.pop()


def _rank(nested: Any) -> int:
    return max(map(_rank, nested)) if isinstance(nested, (list, tuple)) else len(nested.shape)


def _placed(nested: Any, rank: int, depth: int, at: str = "arrays") -> tuple[_Placed, list[int]]:
    """The tensors of a nested list with their places, and the shape of the whole."""
    if depth == 0:
        widened = reshaped(nested, (*(1,) * (rank - len(nested.shape)), *nested.shape))
        assert widened is not None
        return [(widened, (0,) * rank)], list(widened.shape)
    placed: _Placed = []
    whole: list[int] = []
    axis = rank - depth
    for i, part in enumerate(nested):
        own, shape = _placed(part, rank, depth - 1, f"{at}[{i}]")
        if whole and any(a != axis and n != m for a, (n, m) in enumerate(zip(shape, whole, strict=True))):
            raise InvalidProblemError(f"{at}[{i}]: shape is {tuple(shape)}; expected {tuple(whole)} but for axis {axis}")
        start = whole[axis] if whole else 0
        placed += [(t, (*p[:axis], p[axis] + start, *p[axis + 1 :])) for t, p in own]
        whole = whole or [*shape[:axis], 0, *shape[axis + 1 :]]
        whole[axis] = start + shape[axis]
    return placed, whole


def _window(whole: TensorRef, place: Sequence[int], shape: Sequence[int]) -> Any:
    for axis, (start, n) in enumerate(zip(place, shape, strict=True)):
        whole = slab(whole, axis, start, start + n)
    return whole


def _leaves(nested: Any) -> list[TensorRef]:
    return [leaf for n in nested for leaf in _leaves(n)] if isinstance(nested, (list, tuple)) else [nested]


def _blocks(arrays: Any) -> tuple[_Placed, tuple[int, ...]]:
    depth = _depth(arrays)
    placed, shape = _placed(arrays, max(depth, _rank(arrays)), depth)
    return placed, tuple(shape)


@composed(arrays="... or nested ...", out=True)
def block(do: Steps, arrays: Any) -> Any:
    """The tensors of nested lists as one: those of the innermost lists along the last axis, lists of them along the axis before
    it, and so on (numpy.block).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> one, two = np.ones((1, 1), int), np.full((1, 2), 2)
    >>> baracuda.block([[one, two], [two, one]]).tolist()
    [[1, 2, 2], [2, 2, 1]]
    """
    placed, shape = _blocks(arrays)
    y = do.result(shape, element_of([t for t, _ in placed]))
    do.move([(t, _window(y, place, t.shape)) for t, place in placed])
    return y


@composed(dy="...", arrays="... or nested ...", views=True)
def block_backward(do: Steps, dy: TensorRef, arrays: Any) -> Any:
    """The gradients of `block`'s tensors, in the order in which they stand: the parts of dy that they became, views where the
    element is theirs.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [g.tolist() for g in baracuda.block_backward(np.array([[1.0, 2, 3]]), [[np.zeros((1, 1)), np.zeros((1, 2))]])]
    [[[1.0]], [[2.0, 3.0]]]
    """
    placed, shape = _blocks(arrays)
    return _parts(do, dy, placed, shape, _leaves(arrays))


def _parts(do: Steps, dy: TensorRef, placed: _Placed, shape: tuple[int, ...], own: Sequence[TensorRef]) -> Any:
    if dy.shape != shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {shape}")
    parts = [_window(dy, place, t.shape) for t, place in placed]
    return tuple(in_element(do, do.reshaped(p, t.shape), t.kind) for p, t in zip(parts, own, strict=True))


def _on_diagonal(arrays: Sequence[TensorRef]) -> tuple[_Placed, tuple[int, ...]]:
    placed: _Placed = []
    rows = columns = 0
    for i, t in enumerate(some(arrays)):
        if len(t.shape) > 2:
            raise InvalidProblemError(f"arrays[{i}]: shape is {t.shape}; expected two axes or fewer")
        matrix = reshaped(t, (*(1,) * (2 - len(t.shape)), *t.shape))
        assert matrix is not None
        placed.append((matrix, (rows, columns)))
        rows, columns = rows + matrix.shape[0], columns + matrix.shape[1]
    return placed, (rows, columns)


@composed(arrays="...", out=True)
def block_diag(do: Steps, *arrays: TensorRef) -> Any:
    """Matrices on the diagonal of one, 0 elsewhere; vectors count as rows, scalars as matrices of one element.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.block_diag(np.array([[1, 2]]), np.array([3])).tolist()
    [[1, 2, 0], [0, 0, 3]]
    """
    placed, shape = _on_diagonal(arrays)
    y = do.result(shape, element_of([t for t, _ in placed]))
    do.move([(t, _window(y, place, t.shape)) for t, place in placed], y, 0)
    return y


@composed(dy="m n", arrays="...", views=True)
def block_diag_backward(do: Steps, dy: TensorRef, *arrays: TensorRef) -> Any:
    """The gradients of `block_diag`'s matrices: the parts of dy that they became, views where the element is theirs.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [g.tolist() for g in baracuda.block_diag_backward(np.eye(2), np.zeros((1, 1)), np.zeros((1, 1)))]
    [[[1.0]], [[1.0]]]
    """
    placed, shape = _on_diagonal(arrays)
    return _parts(do, dy, placed, shape, arrays)
