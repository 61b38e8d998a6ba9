"""Slices put in and taken out along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Annotated, Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import Instance
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axes_of, axis_of, broadcasted, permuted, reshaped, slab
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import AxesOrAll, AxisOrFlat
from baracuda.ops.elementwise.comparisons import ne
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.reductions.reductions import any_
from baracuda.ops.shapes.broadcasting import sum_over

Slice = Annotated[Any, Instance(slice, "a slice")]
#: Where: a number, several, or a slice; or a tensor, whose values are read back.
Places = int | tuple[int, ...] | Slice
_WHERE = "... or number or numbers or none : s32 s64 bool"


def _along(do: Steps, x: TensorRef, axis: int | None) -> tuple[Any, int]:
    return (do.reshaped(x, (-1,)), 0) if axis is None else (x, axis_of(axis, len(x.shape)))


def _places(do: Steps, index: Any, where: Any, n: int) -> tuple[Any, bool]:
    """Where, as numbers from the start or a slice, and whether it is one place."""
    if (index is None) == (where is None):
        raise InvalidProblemError("index, span: expected one of them")
    if where is not None:
        return list(range(*where.indices(n))), False
    if isinstance(index, TensorRef):
        values = do.on_host(index)
        if values.dtype.kind == "b":
            if values.shape != (n,):
                raise InvalidProblemError(f"index: shape is {values.shape}; expected ({n},) of bool")
            return [i for i in range(n) if values[i]], False
        return [int(i) for i in values.reshape(-1)], values.ndim == 0
    return ([index], True) if isinstance(index, int) else (list(index), False)


def _counted(places: Sequence[int], n: int, last: int) -> list[int]:
    for i in places:
        if not -n <= i <= last:
            raise InvalidProblemError(f"index: {i}; expected {-n} to {last}")
    return [i + n if i < 0 else i for i in places]


def _runs(kept: Sequence[int]) -> list[tuple[int, int, int]]:
    """Runs of neighbours among rising numbers: place in the list, first number, how many."""
    runs: list[tuple[int, int, int]] = []
    for at, i in enumerate(kept):
        if runs and runs[-1][1] + runs[-1][2] == i:
            runs[-1] = (*runs[-1][:2], runs[-1][2] + 1)
        else:
            runs.append((at, i, 1))
    return runs


def _kept(places: Sequence[int], n: int) -> list[int]:
    gone = set(places)
    return [i for i in range(n) if i not in gone]


@composed(x="...", index=_WHERE, out=True)
def delete(do: Steps, x: TensorRef, index: Any, axis: AxisOrFlat = None, *, span: Slice | None = None) -> Any:
    """x without its slices at some numbers along an axis; without an axis x counts as one row.

    The numbers are a whole number, a list of them, or a tensor of numbers or of a bool for each slice, whose values are read
    back; or, with index=None, those of the slice `span`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.delete(np.arange(5), [0, -1]).tolist()
    [1, 2, 3]
    """
    x, at = _along(do, x, axis)
    n = x.shape[at]
    places, _ = _places(do, index, span, n)
    kept = _kept(_counted(places, n, n - 1), n)
    y = do.result((*x.shape[:at], len(kept), *x.shape[at + 1 :]), x.kind)
    do.move([(slab(x, at, i, i + c), slab(y, at, to, to + c)) for to, i, c in _runs(kept)])
    return y


@composed(dy="...", x="...", index=_WHERE)
def delete_backward(
    do: Steps, dy: TensorRef, x: TensorRef, index: Any, axis: AxisOrFlat = None, *, span: Slice | None = None
) -> Any:
    """The gradient of `delete`'s x: dy where its slices stood, 0 where others were.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.delete_backward(np.array([1.0, 2.0]), np.zeros(3), 1).tolist()
    [1.0, 0.0, 2.0]
    """
    dx = do.rows(x.shape, x.kind)
    flat, at = _along(do, dx, axis)
    n = flat.shape[at]
    places, _ = _places(do, index, span, n)
    kept = _kept(_counted(places, n, n - 1), n)
    if dy.shape != (*flat.shape[:at], len(kept), *flat.shape[at + 1 :]):
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {len(kept)} slices of {flat.shape} along axis {at}")
    do.move([(slab(dy, at, to, to + c), slab(flat, at, i, i + c)) for to, i, c in _runs(kept)], flat, 0)
    return dx


def _new(x: TensorRef, at: int, places: list[int], single: bool, values: Any) -> tuple[list[int], Any]:
    """Where each new slice stands in the result, in the order of the values; and the values, as many slices as there are."""
    n = x.shape[at]
    counted = _counted(places, n, n)
    shape = getattr(values, "shape", ())
    if single:
        if isinstance(values, TensorRef):
            wide = reshaped(values, (*(1,) * (len(x.shape) - len(shape)), *shape))
            order = list(range(1, len(x.shape)))
            order.insert(at, 0)
            values = permuted(wide, order)  # type: ignore[arg-type]
        count = values.shape[at] if isinstance(values, TensorRef) else 1
        return [counted[0] + i for i in range(count)], values
    if len(counted) == 1 and isinstance(values, TensorRef) and len(shape) == len(x.shape):
        return [counted[0] + i for i in range(shape[at])], values
    order = sorted(range(len(counted)), key=lambda i: counted[i])
    to = [0] * len(counted)
    for before, i in enumerate(order):
        to[i] = counted[i] + before
    return to, values


@composed(x="...", index=_WHERE, values="... or number", out=True, numbers={"values": ()})
def insert(do: Steps, x: TensorRef, index: Any, values: Any, axis: AxisOrFlat = None, *, span: Slice | None = None) -> Any:
    """x with new slices before those at some numbers along an axis (numpy.insert); without an axis x counts as one row.

    The numbers are a whole number, a list of them, or a tensor, whose values are read back; or, with index=None, those of the
    slice `span`; they count in x. The values, a number or a tensor, broadcast to the new slices and take x's element. Of one
    number the first axis of `values` counts the new slices.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.insert(np.array([1, 2, 3]), [0, 2], np.array([8, 9])).tolist()
    [8, 1, 2, 9, 3]
    """
    x, at = _along(do, x, axis)
    to, values = _new(x, at, *_places(do, index, span, x.shape[at]), values)
    n = x.shape[at] + len(to)
    y = do.result((*x.shape[:at], n, *x.shape[at + 1 :]), x.kind)
    pieces = [(slab(x, at, t, t + c), slab(y, at, i, i + c)) for t, i, c in _runs(_kept(to, n))]
    if not isinstance(values, TensorRef):
        for place in to:
            do.fill(slab(y, at, place, place + 1), values, "values")
        do.move(pieces)
        return y
    wide = broadcasted(in_element(do, values, x.kind), (*x.shape[:at], len(to), *x.shape[at + 1 :]), "values")
    do.move([*pieces, *((slab(wide, at, i, i + 1), slab(y, at, place, place + 1)) for i, place in enumerate(to))])
    return y


@composed(dy="...", x="...", index=_WHERE, values="... or number")
def insert_backward(
    do: Steps, dy: TensorRef, x: TensorRef, index: Any, values: Any, axis: AxisOrFlat = None, *, span: Slice | None = None
) -> Any:
    """The gradients of `insert`'s x and, where it is a tensor, values: the slices of dy that they became, those of values summed
    to its shape.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> [g.tolist() for g in baracuda.insert_backward(np.array([1.0, 2, 3]), np.zeros(2), 1, np.zeros(1))]
    [[1.0, 3.0], [2.0]]
    """
    dx = do.rows(x.shape, x.kind)
    flat, at = _along(do, dx, axis)
    to, wide = _new(flat, at, *_places(do, index, span, flat.shape[at]), values)
    n = flat.shape[at] + len(to)
    if dy.shape != (*flat.shape[:at], n, *flat.shape[at + 1 :]):
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {n} slices of {flat.shape} along axis {at}")
    do.move([(slab(dy, at, i, i + c), slab(flat, at, t, t + c)) for t, i, c in _runs(_kept(to, n))])
    if not isinstance(values, TensorRef):
        return dx
    new = do.rows((*flat.shape[:at], len(to), *flat.shape[at + 1 :]), dy.kind)
    do.move([(slab(dy, at, place, place + 1), slab(new, at, i, i + 1)) for i, place in enumerate(to)])
    dvalues = sum_over(do, new, wide.shape)
    if wide is not values and len(values.shape) == len(x.shape):  # its first axis counted the slices
        order = [at, *(a for a in range(len(wide.shape)) if a != at)]
        dvalues = permuted(dvalues, order)
    dense = do.rows(dvalues.shape, values.kind)
    do.copy(dvalues, dense)
    return dx, do.reshaped(dense, values.shape)


def _bounds(do: Steps, x: TensorRef, trim: str, axes: tuple[int, ...]) -> Any:
    """What of x is left without zeros at the ends of some axes."""
    if x.kind.is_float and x.kind.bits < 16:
        x = in_element(do, x, ElementKind.F32)
    other = do.run(ne, {"a": x, "b": False if x.kind is ElementKind.BOOL else 0})
    spans = []
    for axis in axes:
        over = tuple(a for a in range(len(x.shape)) if a != axis)
        found = do.on_host(do.run(any_, {"x": other}, axis=over) if over else other)
        at = [i for i in range(x.shape[axis]) if found[i]]
        if not at:
            return [(a, 0, 0) for a in axes]
        spans.append((axis, at[0] if "f" in trim else 0, at[-1] + 1 if "b" in trim else x.shape[axis]))
    return spans


Trim = Literal["f", "b", "fb", "bf"]


@composed(x="...")
def trim_zeros(do: Steps, x: TensorRef, trim: Trim = "fb", axis: AxesOrAll = None) -> Any:
    """x without the zeros in front ("f") and behind ("b") along some axes, by default all: a view of the smallest box outside of
    which all is 0. How large it is is read back.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.trim_zeros(np.array([0, 0, 1, 0, 2, 0])).tolist()
    [1, 0, 2]
    """
    whole = x
    for at, start, stop in _bounds(do, x, trim, axes_of(axis, len(x.shape))) if prod(x.shape) else ():
        whole = slab(whole, at, start, stop)
    return whole


@composed(dy="...", x="...")
def trim_zeros_backward(do: Steps, dy: TensorRef, x: TensorRef, trim: Trim = "fb", axis: AxesOrAll = None) -> Any:
    """The gradient of `trim_zeros`'s x: dy where it was, 0 where zeros were cut off.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.trim_zeros_backward(np.array([5.0]), np.array([0.0, 1.0, 0.0])).tolist()
    [0.0, 5.0, 0.0]
    """
    dx = do.rows(x.shape, x.kind)
    part: Any = dx
    for at, start, stop in _bounds(do, x, trim, axes_of(axis, len(x.shape))) if prod(x.shape) else ():
        part = slab(part, at, start, stop)
    if part.shape != dy.shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {part.shape}")
    do.move([(dy, part)], dx, 0)
    return dx
