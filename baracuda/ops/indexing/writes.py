"""Indexed writes: x with elements put where an index says, as new tensors or, with `out` x itself, in place.

Where several elements have one destination, the last of them in the logical order of the index is what stays: the result does
not depend on the order in which a device works. With a combination they are combined in that order, by the canonical order of
reductions. Elements are moved bit for bit.

The gradient by x is dy with 0 where something was put, that by what was put dy there for the element that stayed, and 0 for
those it took the place of.
"""

from __future__ import annotations

from math import prod
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import axis_of, broadcasted, permuted, view
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.traced import IndexBound
from baracuda.ops.declaration.words import Bounds, Wrt
from baracuda.ops.indexing.moves import apart, cleared, copied, move
from baracuda.ops.indexing.places import COMBINATIONS, Places, Reduction, as_tensor, gradients

# --- by the number of an element --------------------------------------------------------------------------------------


def _flat(do: Steps, x: TensorRef, index: TensorRef, bounds: str) -> Places:
    if bounds == "check":
        do.check_indices(index, "index", IndexBound(prod(x.shape), wrap=True))
    return Places(index, range(len(x.shape)), wrap=True)


def _of_index(do: Steps, source: TensorRef, index: TensorRef) -> TensorRef:
    """What is put, in the shape of the index: repeated, or as many elements in another shape."""
    if source.shape != index.shape and prod(source.shape) == prod(index.shape):
        reshaped: TensorRef = do.reshaped(source, index.shape)
        return reshaped
    repeated: TensorRef = broadcasted(source, index.shape, "source")
    return repeated


@composed(x="... : T", index="... : s32 s64", source="... or number : T", out=True)
def put_flat(
    do: Steps, x: TensorRef, index: TensorRef, source: Any, *, accumulate: bool = False, bounds: Bounds = "check"
) -> TensorRef:
    """x with the elements of source at the places of index, which number the elements of x, the last axis fastest.

    source is a number, has as many elements as index, or broadcasts to its shape. Of several elements with one place the last
    stays; with accumulate they are added to x, in their order. A negative index counts from the end. `out` may be `x`.

    Source: torch.put, numpy.put.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.put_flat(np.zeros((2, 2), np.float32), np.array([3, 0, 3]), np.float32([1, 2, 3])).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    places = _flat(do, x, index, bounds)
    source = _of_index(do, as_tensor(do, source, x.kind), index)
    y = copied(do, x)
    places.write(do, y, apart(do, source, y), "sum" if accumulate else None)
    return y


@composed(dy="*all : T", x="*all : T", index="... : s32 s64", source="... : T")
def put_flat_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    index: TensorRef,
    source: TensorRef,
    *,
    accumulate: bool = False,
    wrt: Wrt = None,
    bounds: Bounds = "check",
) -> Any:
    """The gradients of `put_flat`'s x and source, which has as many elements as index; those named in `wrt` or both."""
    places = _flat(do, dy, index, bounds)
    if prod(source.shape) != prod(index.shape):
        raise InvalidProblemError(f"source: shape is {source.shape}; expected as many elements as index, {index.shape}")

    def into() -> tuple[TensorMut, Any]:
        made = do.new(source.shape, source.kind)
        return made, view(made, 0, index.shape, contiguous_strides(index.shape))

    return gradients(do, dy, places, into, wrt, accumulated=accumulate)


# --- element by element -----------------------------------------------------------------------------------------------


def _aligned(do: Steps, x: TensorRef, index: TensorRef, axis: int, bounds: str) -> Places:
    axis = axis_of(axis, len(x.shape))
    if len(index.shape) != len(x.shape):
        raise InvalidProblemError(f"index: shape is {index.shape}; expected the rank of x, {x.shape}")
    if any(n > m for a, (n, m) in enumerate(zip(index.shape, x.shape, strict=True)) if a != axis):
        raise InvalidProblemError(f"index: shape is {index.shape}; expected at most {x.shape}, that of x, beside axis {axis}")
    if bounds == "check":
        do.check_indices(index, "index", IndexBound(x.shape[axis], wrap=True))
    return Places(index, range(len(x.shape)), wrap=True, aligned=axis)


def _part(source: TensorRef, index: TensorRef) -> Any:
    """The part of source that index covers."""
    if not source.shape:
        return broadcasted(source, index.shape, "source")
    if len(source.shape) != len(index.shape) or any(n > m for n, m in zip(index.shape, source.shape, strict=True)):
        raise InvalidProblemError(
            f"source: shape is {source.shape}; expected the rank of index, {index.shape}, and no axis shorter"
        )
    return view(source, 0, index.shape, source.strides)


@composed(x="... : T", index="... : s32 s64", source="... or number : T", out=True)
def scatter(
    do: Steps,
    x: TensorRef,
    index: TensorRef,
    source: Any,
    *,
    axis: int = -1,
    reduce: Reduction = None,
    bounds: Bounds = "check",
) -> TensorRef:
    """x with the elements of source, each of which goes to its own place along an axis: for axis 1, source[i, j] to
    y[i, index[i, j]].

    index has the rank of x, and no axis but `axis` is longer than that of x; of source, which may be a number, the part is
    taken that index covers. Of several elements with one place the last in logical order stays; with reduce they are combined
    with x as in `scatter_reduce`. A negative index counts from the end. `out` may be `x`.

    Source: torch.scatter, numpy.put_along_axis, ONNX ScatterElements.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.scatter(np.zeros((1, 3), np.float32), np.array([[2, 2, 0]]), np.float32([[1, 2, 3]])).tolist()
    [[3.0, 0.0, 2.0]]
    """
    if not x.shape:
        y = copied(do, x)
        row, one = view(y, 0, (1,), (1,)), view(index, 0, (1,), (1,))
        source = _part(as_tensor(do, source, x.kind), index)
        _aligned(do, row, one, 0, bounds).write(do, row, apart(do, view(source, 0, (1,), (1,)), y), COMBINATIONS[reduce])
        return y
    places = _aligned(do, x, index, axis, bounds)
    part = _part(as_tensor(do, source, x.kind), index)
    y = copied(do, x)
    places.write(do, y, apart(do, part, y), COMBINATIONS[reduce])
    return y


@composed(dy="*all : T", x="*all : T", index="... : s32 s64", source="... : T")
def scatter_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    index: TensorRef,
    source: TensorRef,
    *,
    axis: int = -1,
    wrt: Wrt = None,
    bounds: Bounds = "check",
) -> Any:
    """The gradients of `scatter`'s x and source without a reduction, those named in `wrt` or both; 0 where index does not reach.
    With one they are those of `scatter_reduce`."""
    if not dy.shape:
        dy, index, source = (view(t, 0, (1,), (1,)) for t in (dy, index, source))
        results = scatter_backward(do, dy, dy, index, source, axis=0, wrt=wrt, bounds=bounds)
        each = results if isinstance(results, tuple) else (results,)
        return one_or_all(tuple(do.reshaped(r, ()) for r in each))
    places = _aligned(do, dy, index, axis, bounds)

    def into() -> tuple[TensorMut, Any]:
        made = do.new(source.shape, source.kind)
        if source.shape != index.shape:
            cleared(do, made)
        return made, view(made, 0, index.shape, made.strides)

    _part(source, index)
    return gradients(do, dy, places, into, wrt)


# --- along one axis ---------------------------------------------------------------------------------------------------


def _slices(do: Steps, x: TensorRef, index: TensorRef, axis: int, bounds: str) -> tuple[Places, int]:
    axis = axis_of(axis, len(x.shape))
    if bounds == "check":
        do.check_indices(index, "index", IndexBound(x.shape[axis], wrap=True))
    return Places(index, (axis,), wrap=True), axis


def _index_first(source: TensorRef, axis: int, places: int) -> Any:
    """What is put with the axes of the index in front."""
    rest = [a for a in range(len(source.shape)) if not axis <= a < axis + places]
    return permuted(source, (*range(axis, axis + places), *rest))


@composed(x="*before extent@axis *after : T", index="*places : s32 s64", source="*before *places *after : T", out=True)
def index_copy(
    do: Steps, x: TensorRef, index: TensorRef, source: TensorRef, *, axis: int = 0, bounds: Bounds = "check"
) -> TensorRef:
    """x with its slices along an axis replaced by those of source: y[index[p]] = source[p].

    source has the shape of x with the axes of index in place of `axis`. Of several slices with one place the last in logical
    order stays. A negative index counts from the end. `out` may be `x`. Source: torch.index_copy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.index_copy(np.zeros(3, np.float32), np.array([2, 0, 2]), np.float32([1, 2, 3])).tolist()
    [2.0, 0.0, 3.0]
    """
    places, axis = _slices(do, x, index, axis, bounds)
    y = copied(do, x)
    places.write(do, y, _index_first(apart(do, source, y), axis, len(index.shape)))
    return y


@composed(
    dy="*before extent@axis *after : T",
    x="*before extent *after : T",
    index="*places : s32 s64",
    source="*before *places *after : T",
)
def index_copy_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    index: TensorRef,
    source: TensorRef,
    *,
    axis: int = 0,
    wrt: Wrt = None,
    bounds: Bounds = "check",
) -> Any:
    """The gradients of `index_copy`'s x and source, those named in `wrt` or both."""
    places, axis = _slices(do, dy, index, axis, bounds)

    def into() -> tuple[TensorMut, Any]:
        made = do.new(source.shape, source.kind)
        return made, _index_first(made, axis, len(index.shape))

    return gradients(do, dy, places, into, wrt)


@composed(x="*before extent@axis *after : T", index="... : s32 s64", value="() or number : T", out=True)
def index_fill(do: Steps, x: TensorRef, index: TensorRef, value: Any, *, axis: int = 0, bounds: Bounds = "check") -> TensorRef:
    """x with a number, or a tensor without axes, in its slices along an axis that index says.

    A negative index counts from the end. `out` may be `x`. Source: torch.index_fill.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.index_fill(np.zeros((2, 3), np.float32), np.array([2, 0]), 7.0, axis=1).tolist()
    [[7.0, 0.0, 7.0], [7.0, 0.0, 7.0]]
    """
    places, axis = _slices(do, x, index, axis, bounds)
    y = copied(do, x)
    value = apart(do, as_tensor(do, value, x.kind), y)
    places.once = True  # whichever is last, it is the same
    places.write(do, y, broadcasted(value, (*index.shape, *x.shape[:axis], *x.shape[axis + 1 :])))
    return y


@composed(dy="*before extent@axis *after : T", x="*before extent *after : T", index="... : s32 s64")
def index_fill_backward(
    do: Steps, dy: TensorRef, x: TensorRef, index: TensorRef, *, axis: int = 0, wrt: Wrt = None, bounds: Bounds = "check"
) -> Any:
    """The gradients of `index_fill`'s x and value, those named in `wrt` or both; that of value is the sum of dy where it was
    written, each place once."""
    from baracuda.ops.reductions.reductions import sum_

    places, axis = _slices(do, dy, index, axis, bounds)
    found: dict[str, Any] = {}
    for name in chosen(wrt, ("x", "value")):
        if name == "x":
            found[name] = do.new_like(dy)
            move(do, dy, found[name])
            places.clear(do, found[name])
        else:
            rows = do.new((*index.shape, *dy.shape[:axis], *dy.shape[axis + 1 :]), dy.kind)
            places.read(do, dy, rows)
            found[name] = do.run(sum_, {"x": rows}, axis=tuple(range(len(rows.shape))))
    return one_or_all(tuple(found.values()))
