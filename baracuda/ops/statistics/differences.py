"""Differences of neighbours along an axis, which are views of one tensor, and what may stand before and after it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import axis_of, slab
from baracuda.ops.declaration.composition import Given, Into, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.words import Count, Wrt
from baracuda.ops.elementwise.binary_ops import sub
from baracuda.ops.elementwise.comparisons import ne
from baracuda.ops.elementwise.unary import neg


def _in_a_row(do: Steps, x: TensorRef, axis: int, prepend: Any, append: Any) -> dict[str, TensorRef]:
    """What stands one after another along an axis, by name: x, what comes before it and what comes after it."""
    one = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    given = {n: v for n, v in (("prepend", prepend), ("x", x), ("append", append)) if v is not None}
    return {n: v if isinstance(v, TensorRef) else do.filled(one, x.kind, v) for n, v in given.items()}


def _joined(do: Steps, pieces: Sequence[TensorRef], axis: int, kind: ElementKind) -> TensorRef:
    """Tensors one after another along an axis, in one element; the only one where there is one."""
    if len(pieces) == 1:
        return pieces[0]
    shape = list(pieces[0].shape)
    shape[axis] = sum(p.shape[axis] for p in pieces)
    target, start = do.new(shape, kind), 0
    for piece in pieces:
        do.copy(piece, slab(target, axis, start, start + piece.shape[axis]))
        start += piece.shape[axis]
    return target


def _tensors(**given: Any) -> dict[str, TensorRef]:
    """Those that are given, and no numbers."""
    return {n: v for n, v in given.items() if isinstance(v, TensorRef)}


def _pieces_of(
    do: Steps, whole: TensorRef, axis: int, tensors: Mapping[str, TensorRef], sizes: Mapping[str, int], wrt: Sequence[str]
) -> Any:
    """Of the gradient of tensors that stand one after another along an axis, `sizes` long, the parts that belong to `wrt`; each
    in the shape and element of its tensor."""
    starts = dict(zip(sizes, accumulate(sizes.values(), initial=0), strict=False))
    pieces = []
    for name in wrt:
        own, part = tensors[name], slab(whole, axis, starts[name], starts[name] + sizes[name])
        target = do.new_like(own) if own.shape == part.shape else do.new(part.shape, own.kind)
        do.copy(part, target)
        pieces.append(do.reshaped(target, own.shape))
    return one_or_all(pieces)


def _difference(do: Steps, x: TensorRef, axis: int, into: Into = None) -> Any:
    n = x.shape[axis]
    neighbours = {"a": slab(x, axis, min(n, 1), n), "b": slab(x, axis, 0, max(n - 1, 0))}
    return do.run(ne if x.kind is ElementKind.BOOL else sub, neighbours, into)


_ROW: dict[str, Any] = {
    "x": "*before extent@axis *after",
    "prepend": "*before ahead *after or number",
    "append": "*before behind *after or number",
}


@composed(**_ROW)
def diff(
    do: Steps, x: TensorRef, n: Count = 1, axis: int = -1, prepend: Given | complex = None, append: Given | complex = None
) -> TensorRef:
    """x[1:] - x[:-1] along an axis, n times over; of bool, whether neighbours differ.

    prepend and append, tensors or numbers, stand before and after x along the axis; they have x's shape but for that axis.
    Integers wrap. With n = 0 the result is x, without them, as in torch.diff.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.diff(np.float32([1, 4, 9, 16]), n=2).tolist()
    [2.0, 2.0]
    """
    axis = axis_of(axis, len(x.shape))
    row = _in_a_row(do, x, axis, prepend, append)
    if n == 0:
        do.copy(x, same := do.new_like(x))
        return same
    found = _joined(do, tuple(row.values()), axis, x.kind)
    for _ in range(min(n, max(found.shape[axis], 1))):  # after so many nothing is left
        found = _difference(do, found, axis)
    return found


def _difference_slopes(do: Steps, dy: TensorRef, axis: int, into: TensorMut) -> None:
    """Of y = x[1:] - x[:-1], the gradient of x: dy[i - 1] - dy[i], without what there is not."""
    n = dy.shape[axis]
    if n == 0:
        do.zero(into)
        return
    do.run(neg, {"x": slab(dy, axis, 0, 1)}, slab(into, axis, 0, 1))
    do.run(sub, {"a": slab(dy, axis, 0, n - 1), "b": slab(dy, axis, 1, n)}, slab(into, axis, 1, n))
    do.copy(slab(dy, axis, n - 1, n), slab(into, axis, n, n + 1))


@composed(**_ROW, dy="...")
def diff_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    *,
    n: Count = 1,
    axis: int = -1,
    prepend: Given | complex = None,
    append: Given | complex = None,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `diff`'s x, prepend and append, those named in `wrt` or of all tensors that are given, in this order.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x, end = np.float32([1, 2, 4]), np.float32([3, 5, 6]), np.float32([8])
    >>> [g.tolist() for g in baracuda.diff_backward(dy, x, append=end)]
    [[-1.0, -1.0, -2.0], [4.0]]
    """
    axis = axis_of(axis, len(x.shape))
    tensors = _tensors(x=x, prepend=prepend, append=append)
    names = chosen(wrt, tuple(tensors))
    row = _in_a_row(do, x, axis, prepend, append)
    sizes = {name: piece.shape[axis] for name, piece in row.items()}
    length = sum(sizes.values()) if n else x.shape[axis]

    def shape(extent: int) -> tuple[int, ...]:
        return (*x.shape[:axis], extent, *x.shape[axis + 1 :])

    if dy.shape != shape(max(length - n, 0)):
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {shape(max(length - n, 0))}")
    if n == 0:  # what would stand beside x has no part
        made = {name: do.new_like(tensors[name]) for name in names}
        for name, gradient in made.items():
            if name == "x":
                do.copy(dy, gradient)
            else:
                do.zero(gradient)
        return one_or_all(tuple(made.values()))
    for k in range(min(n, length), 0, -1):
        _difference_slopes(do, dy, axis, target := do.new(shape(length - k + 1), x.kind))
        dy = target
    return _pieces_of(do, dy, axis, tensors, sizes, names)


_FLAT: dict[str, Any] = {"x": "...", "to_end": "... or number", "to_begin": "... or number"}


@composed(**_FLAT)
def ediff1d(do: Steps, x: TensorRef, to_end: Given | complex = None, to_begin: Given | complex = None) -> TensorRef:
    """The differences of neighbours of x, taken as one row, after to_begin and before to_end (tensors or numbers).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.ediff1d(np.float32([[1, 4], [9, 16]]), to_end=0.0).tolist()
    [3.0, 5.0, 7.0, 0.0]
    """
    row, ends = do.reshaped(x, (-1,)), {"to_begin": to_begin, "to_end": to_end}
    flat = {
        name: do.reshaped(end, (-1,)) if isinstance(end, TensorRef) else do.filled((1,), x.kind, end)
        for name, end in ends.items()
        if end is not None
    }
    sizes = _lengths(x, to_end, to_begin)
    y, start = do.new((sum(sizes.values()),), x.kind), 0
    for name, size in sizes.items():
        into = slab(y, 0, start, start + size)
        if name == "x":
            _difference(do, row, 0, into)
        elif size:
            do.copy(flat[name], into)
        start += size
    return y


def _lengths(x: TensorRef, to_end: Any, to_begin: Any) -> dict[str, int]:
    """How many elements of `ediff1d`'s result are what is given for its ends, and how many are differences."""

    def size(end: Any) -> int:
        return 0 if end is None else math.prod(end.shape) if isinstance(end, TensorRef) else 1

    return {"to_begin": size(to_begin), "x": max(math.prod(x.shape) - 1, 0), "to_end": size(to_end)}


@composed(**_FLAT, dy="differences")
def ediff1d_backward(
    do: Steps, dy: TensorRef, x: TensorRef, to_end: Given | complex = None, to_begin: Given | complex = None, *, wrt: Wrt = None
) -> Any:
    """The gradients of `ediff1d`'s x, to_end and to_begin, those named in `wrt` or of all tensors that are given, in this order.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.ediff1d_backward(np.float32([1, 3, 8]), np.float32([[1, 4], [9, 16]])).tolist()
    [[-1.0, -2.0], [-5.0, 8.0]]
    """
    tensors = _tensors(x=x, to_end=to_end, to_begin=to_begin)
    names = chosen(wrt, tuple(tensors))
    sizes = _lengths(x, to_end, to_begin)
    if dy.shape != (sum(sizes.values()),):
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {(sum(sizes.values()),)}")
    gradients = {name: _pieces_of(do, dy, 0, tensors, sizes, [name]) for name in names if name != "x"}
    if "x" in names:
        flat = do.new((math.prod(x.shape),), x.kind)
        if flat.shape[0]:
            start = sizes["to_begin"]
            _difference_slopes(do, slab(dy, 0, start, start + sizes["x"]), 0, flat)
        gradients["x"] = do.reshaped(flat, x.shape)
    return one_or_all([gradients[name] for name in names])
