"""Distances between points, and differences, slopes and integrals along an axis: ops on views of their tensors.

An element is read at several places of an axis through views, so nothing is gathered or copied. In a gradient, the
contributions that one element makes are added in the order of the formula.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, zip_longest
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import axis_of, placed, slab
from baracuda.frontends.call import NUMBERS, describe
from baracuda.frontends.declared import at_run_time, declared
from baracuda.frontends.families import op as declared_op
from baracuda.frontends.views import copy, filled, merged, output, run
from baracuda.ops.declaration.composition import chosen, one_or_all
from baracuda.ops.declaration.words import Count, Order, Wrt
from baracuda.ops.reductions.reductions import ORDERS
from baracuda.ops.statistics import statistics as s

# --- distances --------------------------------------------------------------------------------------------------------


def _pairs(a: Any, b: Any) -> tuple[TensorRef, TensorRef, int]:
    """Points of a along the last axis but two, those of b along the last but one, coordinates along the last; and the rank."""
    first, second = describe(a, "a"), describe(b, "b")
    rank = max(len(first.shape), len(second.shape)) + 1
    return _points(first, rank, rank - 3), _points(second, rank, rank - 2), rank


def _points(tensor: TensorRef, rank: int, axis: int) -> Any:
    batch = range(rank - 1 - len(tensor.shape), rank - 3)
    return placed(tensor, (*batch, axis, rank - 1), rank)


def _of_pairs(a_batch: tuple[int, ...], b_batch: tuple[int, ...], m: int, n: int) -> tuple[int, ...]:
    """The shape of distances."""
    batch = [q if p == 1 else p for p, q in zip_longest(a_batch[::-1], b_batch[::-1], fillvalue=1)]
    return (*batch[::-1], m, n)


@at_run_time(p=ORDERS)
@declared(a="... m coordinates", b="... n coordinates")
def cdist(a: Any, b: Any, p: Order = 2.0, *, out: Any = None) -> Any:
    """The distances (sum |a[..., i, :] - b[..., j, :]|**p)**(1/p) of every point of a from every point of b.

    a is (..., m, k), b (..., n, k), the result (..., m, n); the axes before broadcast. p = 0 counts the coordinates that
    differ, inf takes the largest difference. Differences are summed directly, in the canonical order, so that close points lose
    no digit as in torch's product of matrices; nothing of size m * n * k is stored.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.cdist(np.float32([[0, 0]]), np.float32([[3, 4], [0, 1]])).tolist()
    [[5.0, 1.0]]
    """
    first, second, _ = _pairs(a, b)
    (y,) = run(s.distances, {"a": first, "b": second}, a, out, p=float(p)).values()
    return y


@at_run_time(p=ORDERS)
@declared(a="*a_batch m coordinates", b="*b_batch n coordinates", dy=_of_pairs, y=_of_pairs)
def cdist_backward(dy: Any, a: Any, b: Any, y: Any = None, *, p: Order = 2.0, wrt: Wrt = None) -> Any:
    """The gradients of `cdist`'s points, those named in `wrt` or both; y is its result, computed again where it is not given.

    Points that are one have no gradient (torch's convention); for p = 0 nothing has.
    """
    first, second, rank = _pairs(a, b)
    if y is None or (p == math.inf and first.kind.bits == 16):  # which difference is the largest is told before the rounding
        y = run(s.wide_distances, {"a": first, "b": second}, a, p=float(p))["y"]
    given, distance = describe(dy, "dy"), describe(y, "y")
    axes = range(rank - 1)
    roles = {"a": (first, second, a, rank - 3), "b": (second, first, b, rank - 2)}
    made = []
    for name in chosen(wrt, tuple(roles)):
        own, other, like, axis = roles[name]
        ref = describe(like, name)
        gradient, target = output(like, ref.shape, ref.kind)
        made.append(gradient)
        if p == 0:
            merged([], 0, target, like)
            continue
        over = [i for i in range(rank - 3) if own.shape[i] == 1 != distance.shape[i]]
        tensors = {"dy": placed(given, axes, rank), "a": own, "b": other, "distance": placed(distance, axes, rank)}
        along = (*over, rank - 2 if name == "a" else rank - 3)
        run(s.distance_slopes, tensors, like, _points(target, rank, axis), p=float(p), axis=along)
    return one_or_all(made)


# --- differences ------------------------------------------------------------------------------------------------------


def _in_a_row(x: Any, axis: int, prepend: Any, append: Any) -> dict[str, TensorRef]:
    """What stands one after another along an axis, by name: x, what comes before it and what comes after it."""
    ref, found = describe(x, "x"), {}
    for name, value in (("prepend", prepend), ("x", x), ("append", append)):
        if value is None:
            continue
        before, behind = ref.shape[:axis], ref.shape[axis + 1 :]
        number = isinstance(value, NUMBERS)
        found[name] = describe(filled(x, (*before, 1, *behind), ref.kind, value) if number else value, name)
    return found


def _joined(pieces: Sequence[TensorRef], axis: int, like: Any) -> TensorRef:
    """Tensors one after another along an axis, in the element of `like`; the only one where there is one."""
    if len(pieces) == 1:
        return pieces[0]
    shape = list(pieces[0].shape)
    shape[axis] = sum(p.shape[axis] for p in pieces)
    _, target = output(like, shape, describe(like, "x").kind)
    start = 0
    for piece in pieces:
        copy(piece, slab(target, axis, start, start + piece.shape[axis]), like)
        start += piece.shape[axis]
    return target


def _pieces_of(whole: TensorRef, axis: int, tensors: Mapping[str, Any], sizes: Mapping[str, int], wrt: Sequence[str]) -> Any:
    """Of the gradient of tensors that stand one after another along an axis, `sizes` long, the parts that belong to `wrt`; each
    in the shape and element of its tensor."""
    starts = dict(zip(sizes, accumulate(sizes.values(), initial=0), strict=False))
    made = []
    for name in wrt:
        own, part = describe(tensors[name], name), slab(whole, axis, starts[name], starts[name] + sizes[name])
        result, target = output(tensors[name], part.shape, own.kind)
        copy(part, target, tensors[name])
        made.append(result.reshape(own.shape))
    return one_or_all(made)


def _difference(x: TensorRef, axis: int, like: Any, out: Any) -> Any:
    op = declared_op("ne" if x.kind is ElementKind.BOOL else "sub")
    n = x.shape[axis]
    tensors = dict(zip(op.signature.tensors, (slab(x, axis, min(n, 1), n), slab(x, axis, 0, max(n - 1, 0))), strict=True))
    (y,) = run(op, tensors, like, out).values()
    return y


_ROW: dict[str, str] = {
    "x": "*before extent@axis *after",
    "prepend": "*before ahead *after or number",
    "append": "*before behind *after or number",
}


@declared(**_ROW)
def diff(x: Any, n: Count = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """x[1:] - x[:-1] along an axis, n times over; of bool, whether neighbours differ.

    prepend and append, tensors or numbers, stand before and after x along the axis; they have x's shape but for that axis.
    Integers wrap. With n = 0 the result is x, without them, as in torch.diff.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.diff(np.float32([1, 4, 9, 16]), n=2).tolist()
    [2.0, 2.0]
    """
    ref = describe(x, "x")
    axis = axis_of(axis, len(ref.shape))
    times, row = n, _in_a_row(x, axis, prepend, append)
    if times == 0:
        result, target = output(x, ref.shape, ref.kind)
        copy(ref, target, x)
        return result
    found: Any = _joined(tuple(row.values()), axis, x)
    for _ in range(min(times, max(found.shape[axis], 1))):  # after so many nothing is left
        found = _difference(describe(found, "x"), axis, x, None)
    return found


def _difference_slopes(dy: TensorRef, axis: int, into: TensorMut, like: Any) -> None:
    """Of y = x[1:] - x[:-1], the gradient of x: dy[i - 1] - dy[i], without what there is not."""
    n = dy.shape[axis]
    if n == 0:
        merged([], 0, into, like)
        return
    subtract, negative = declared_op("sub"), declared_op("neg")
    run(negative, {negative.signature.tensors[0]: slab(dy, axis, 0, 1)}, like, slab(into, axis, 0, 1))
    between = (slab(dy, axis, 0, n - 1), slab(dy, axis, 1, n))
    run(subtract, dict(zip(subtract.signature.tensors, between, strict=True)), like, slab(into, axis, 1, n))
    copy(slab(dy, axis, n - 1, n), slab(into, axis, n, n + 1), like)


@declared(**_ROW, dy="...")
def diff_backward(
    dy: Any,
    x: Any,
    *,
    n: Count = 1,
    axis: int = -1,
    prepend: Any = None,
    append: Any = None,
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
    ref, found = describe(x, "x"), describe(dy, "dy")
    axis = axis_of(axis, len(ref.shape))
    tensors = {"x": x, "prepend": prepend, "append": append}
    names = chosen(wrt, [k for k, v in tensors.items() if v is not None and not isinstance(v, NUMBERS)])
    times, row = n, _in_a_row(x, axis, prepend, append)
    sizes = {name: piece.shape[axis] for name, piece in row.items()}
    length = sum(sizes.values()) if times else ref.shape[axis]
    expected = (*ref.shape[:axis], max(length - times, 0), *ref.shape[axis + 1 :])
    if found.shape != expected:
        raise InvalidProblemError(f"dy: shape is {found.shape}; expected {expected}")
    if times == 0:  # what would stand beside x has no part
        beside = {name: filled(tensors[name], row[name].shape, row[name].kind, 0) for name in names if name != "x"}
        own, target = output(x, ref.shape, ref.kind)
        copy(found, target, x)
        return one_or_all([own if name == "x" else beside[name] for name in names])
    for k in range(min(times, length), 0, -1):
        _, target = output(x, (*ref.shape[:axis], length - k + 1, *ref.shape[axis + 1 :]), ref.kind)
        _difference_slopes(found, axis, target, x)
        found = target
    return _pieces_of(found, axis, tensors, sizes, names)


_FLAT: dict[str, str] = {"x": "...", "to_end": "... or number", "to_begin": "... or number"}


@declared(**_FLAT)
def ediff1d(x: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The differences of neighbours of x, taken as one row, after to_begin and before to_end (tensors or numbers).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.ediff1d(np.float32([[1, 4], [9, 16]]), to_end=0.0).tolist()
    [3.0, 5.0, 7.0, 0.0]
    """
    ref, row = describe(x, "x"), x.reshape(-1)
    ends = {name: _flat(v, row, ref.kind, name) for name, v in (("to_begin", to_begin), ("to_end", to_end)) if v is not None}
    sizes = _lengths(ref, to_end, to_begin)
    result, target = output(row, (sum(sizes.values()),), ref.kind)
    start = 0
    for name, size in sizes.items():
        into = slab(target, 0, start, start + size)
        if name == "x":
            _difference(describe(row, "x"), 0, row, into)
        elif size:
            copy(ends[name], into, row)
        start += size
    return result


def _flat(value: Any, like: Any, kind: ElementKind, name: str) -> TensorRef:
    return describe(filled(like, (1,), kind, value) if isinstance(value, NUMBERS) else value.reshape(-1), name)


def _lengths(x: TensorRef, to_end: Any, to_begin: Any) -> dict[str, int]:
    """How many elements of `ediff1d`'s result are what is given for its ends, and how many are differences."""

    def size(value: Any, name: str) -> int:
        return 0 if value is None else 1 if isinstance(value, NUMBERS) else math.prod(describe(value, name).shape)

    return {"to_begin": size(to_begin, "to_begin"), "x": max(math.prod(x.shape) - 1, 0), "to_end": size(to_end, "to_end")}


@declared(**_FLAT, dy="differences")
def ediff1d_backward(dy: Any, x: Any, to_end: Any = None, to_begin: Any = None, *, wrt: Wrt = None) -> Any:
    """The gradients of `ediff1d`'s x, to_end and to_begin, those named in `wrt` or of all tensors that are given, in this order.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.ediff1d_backward(np.float32([1, 3, 8]), np.float32([[1, 4], [9, 16]])).tolist()
    [[-1.0, -2.0], [-5.0, 8.0]]
    """
    ref, given = describe(x, "x"), describe(dy, "dy")
    tensors = {"x": x, "to_end": to_end, "to_begin": to_begin}
    names = chosen(wrt, [k for k, v in tensors.items() if v is not None and not isinstance(v, NUMBERS)])
    sizes = _lengths(ref, to_end, to_begin)
    if given.shape != (sum(sizes.values()),):
        raise InvalidProblemError(f"dy: shape is {given.shape}; expected {(sum(sizes.values()),)}")
    made = {k: _pieces_of(given, 0, tensors, sizes, [k]) for k in names if k != "x"}
    if "x" in names:
        flat, target = output(x, (math.prod(ref.shape),), ref.kind)
        if target.shape[0]:
            start = sizes["to_begin"]
            _difference_slopes(slab(given, 0, start, start + sizes["x"]), 0, target, x)
        made["x"] = flat.reshape(ref.shape)
    return one_or_all([made[k] for k in names])
