"""Distances between points, and differences, slopes and integrals along an axis: ops on views of their tensors.

An element is read at several places of an axis through views, so nothing is gathered or copied. In a gradient, the
contributions that one element makes are added in the order of the formula.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.frontends.call import describe, one_or_all
from baracuda.frontends.families import ops
from baracuda.frontends.views import axis_of, copy, filled, merged, output, placed, run, slab
from baracuda.ops import statistics as s

# --- distances --------------------------------------------------------------------------------------------------------


def _pairs(a: Any, b: Any) -> tuple[TensorRef, TensorRef, int]:
    """Points of a along the last axis but two, those of b along the last but one, coordinates along the last; and the rank."""
    first, second = describe(a, "a"), describe(b, "b")
    for name, ref in (("a", first), ("b", second)):
        if len(ref.shape) < 2:
            raise InvalidProblemError(f"{name}: shape is {ref.shape}; expected (..., points, coordinates)")
    if first.shape[-1] != second.shape[-1]:
        raise InvalidProblemError(f"a, b: points of {first.shape[-1]} and {second.shape[-1]} coordinates; expected as many")
    rank = max(len(first.shape), len(second.shape)) + 1
    return _points(first, rank, rank - 3), _points(second, rank, rank - 2), rank


def _points(tensor: TensorRef, rank: int, axis: int) -> Any:
    batch = range(rank - 1 - len(tensor.shape), rank - 3)
    return placed(tensor, (*batch, axis, rank - 1), rank)


def cdist(a: Any, b: Any, *, p: float = 2.0, out: Any = None) -> Any:
    """The distances (sum |a[..., i, :] - b[..., j, :]|**p)**(1/p) of every point of a from every point of b.

    a is (..., m, k), b (..., n, k), the result (..., m, n); the axes before broadcast. p is a constant of the kernel: 0 counts
    the coordinates that differ, inf takes the largest difference. Differences are summed directly, in the canonical order, so
    that close points lose no digit as in torch's product of matrices; nothing of size m * n * k is stored.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.cdist(np.float32([[0, 0]]), np.float32([[3, 4], [0, 1]])).tolist()
    [[5.0, 1.0]]
    """
    first, second, _ = _pairs(a, b)
    (y,) = run(s.distances, {"a": first, "b": second}, a, out, p=order_of(p)).values()
    return y


def order_of(p: float) -> float:
    """The order of a norm."""
    if not p >= 0:
        raise InvalidProblemError(f"p: {p!r}; expected a number that is not negative")
    return float(p)


def cdist_backward(dy: Any, a: Any, b: Any, y: Any = None, *, p: float = 2.0, wrt: Sequence[str] = ("a", "b")) -> Any:
    """The gradients of `cdist`'s points, those named in `wrt`; y is its result, computed again where it is not given.

    Points that are one have no gradient (torch's convention); for p = 0 nothing has.
    """
    first, second, rank = _pairs(a, b)
    if y is None or (p == math.inf and first.kind.bits == 16):  # which difference is the largest is told before the rounding
        y = run(s.wide_distances, {"a": first, "b": second}, a, p=order_of(p))["y"]
    distance = describe(y, "y")
    given = describe(dy, "dy")
    if given.shape != distance.shape:
        raise InvalidProblemError(f"dy: shape is {given.shape}; expected {distance.shape}")
    axes = range(rank - 1)
    roles = {"a": (first, second, a, rank - 3), "b": (second, first, b, rank - 2)}
    made = []
    for name in wrt:
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
        run(s.distance_slopes, tensors, like, _points(target, rank, axis), p=order_of(p), axis=along)
    return one_or_all(made)


# --- differences ------------------------------------------------------------------------------------------------------


def _as_tensor(value: Any, like: Any, shape: tuple[int, ...], kind: ElementKind) -> TensorRef:
    """A tensor, or a number repeated to a shape."""
    if not isinstance(value, (int, float, complex)):
        return describe(value, "a tensor beside x")
    return describe(filled(like, shape, kind, value), "a tensor beside x")


def _joined(parts: Sequence[Any], axis: int, like: Any) -> TensorRef:
    """Tensors one after another along an axis; the only one where there is one."""
    refs = [describe(p, "a tensor beside x") for p in parts]
    if len(refs) == 1:
        return refs[0]
    shape, main = list(refs[0].shape), describe(like, "x")
    shape[axis] = sum(r.shape[axis] for r in refs)
    _, target = output(like, shape, main.kind)
    start = 0
    for ref in refs:
        copy(ref, slab(target, axis, start, start + ref.shape[axis]), like)
        start += ref.shape[axis]
    return target


def _difference(x: TensorRef, axis: int, like: Any, out: Any) -> Any:
    op = ops()["ne" if x.kind is ElementKind.BOOL else "sub"]
    n = x.shape[axis]
    tensors = dict(zip(op.signature.tensors, (slab(x, axis, min(n, 1), n), slab(x, axis, 0, n - 1)), strict=True))
    (y,) = run(op, tensors, like, out).values()
    return y


def _beside(prepend: Any, append: Any, x: TensorRef, axis: int, like: Any) -> tuple[list[TensorRef], list[TensorRef]]:
    one = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    made = [[] if v is None else [_as_tensor(v, like, one, x.kind)] for v in (prepend, append)]
    return made[0], made[1]


def diff(x: Any, *, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """x[1:] - x[:-1] along an axis, n times over; of bool, whether neighbours differ.

    prepend and append, tensors or numbers, stand before and after x along the axis. Integers wrap.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.diff(np.float32([1, 4, 9, 16]), n=2).tolist()
    [2.0, 2.0]
    """
    ref = describe(x, "x")
    axis = axis_of(axis, len(ref.shape))
    if n < 0:
        raise InvalidProblemError(f"n: {n}; expected a number of differences that is not negative")
    before, after = _beside(prepend, append, ref, axis, x)
    found: Any = _joined([*before, ref, *after], axis, x)
    if n == 0:
        result, target = output(x, found.shape, ref.kind)
        copy(found, target, x)
        return result
    for _ in range(n):
        found = _difference(describe(found, "x"), axis, x, None)
    return found


def _difference_slopes(dy: TensorRef, axis: int, into: TensorMut, like: Any) -> None:
    """Of y = x[1:] - x[:-1], the gradient of x: dy[i - 1] - dy[i], without what there is not."""
    n = dy.shape[axis]
    if n == 0:
        merged([], 0, into, like)
        return
    subtract, negative = ops()["sub"], ops()["neg"]
    run(negative, {negative.signature.tensors[0]: slab(dy, axis, 0, 1)}, like, slab(into, axis, 0, 1))
    between = (slab(dy, axis, 0, n - 1), slab(dy, axis, 1, n))
    run(subtract, dict(zip(subtract.signature.tensors, between, strict=True)), like, slab(into, axis, 1, n))
    copy(slab(dy, axis, n - 1, n), slab(into, axis, n, n + 1), like)


def diff_backward(dy: Any, x: Any, *, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The gradient of `diff`'s x."""
    ref, found = describe(x, "x"), describe(dy, "dy")
    axis = axis_of(axis, len(ref.shape))
    first, last = (
        0 if v is None else 1 if isinstance(v, (int, float, complex)) else describe(v, "x").shape[axis] for v in (prepend, append)
    )
    length = ref.shape[axis] + first + last
    expected = (*ref.shape[:axis], max(length - n, 0), *ref.shape[axis + 1 :])
    if found.shape != expected:
        raise InvalidProblemError(f"dy: shape is {found.shape}; expected {expected}")
    for k in range(min(n, length), 0, -1):
        _, target = output(x, (*ref.shape[:axis], length - k + 1, *ref.shape[axis + 1 :]), ref.kind)
        _difference_slopes(found, axis, target, x)
        found = target
    result, target = output(x, ref.shape, ref.kind)
    if expected[axis] == 0:
        merged([], 0, target, x)
    else:
        copy(slab(found, axis, first, first + ref.shape[axis]), target, x)
    return result


def ediff1d(x: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The differences of neighbours of x, taken as one row, after to_begin and before to_end (tensors or numbers).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.ediff1d(np.float32([[1, 4], [9, 16]]), to_end=0.0).tolist()
    [3.0, 5.0, 7.0, 0.0]
    """
    row = x.reshape(-1)
    ref = describe(row, "x")
    ends = [None if v is None else _flat(v, row, ref.kind) for v in (to_begin, to_end)]
    sizes = [0 if v is None else v.shape[0] for v in ends]
    between = max(ref.shape[0] - 1, 0)
    result, target = output(row, (sizes[0] + between + sizes[1],), ref.kind)
    for end, start in zip(ends, (0, sizes[0] + between), strict=True):
        if end is not None:
            copy(end, slab(target, 0, start, start + end.shape[0]), row)
    _difference(ref, 0, row, slab(target, 0, sizes[0], sizes[0] + between))
    return result


def _flat(value: Any, like: Any, kind: ElementKind) -> TensorRef:
    return _as_tensor(value if isinstance(value, (int, float, complex)) else value.reshape(-1), like, (1,), kind)


def ediff1d_backward(dy: Any, x: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The gradient of `ediff1d`'s x."""
    ref = describe(x, "x")
    size = math.prod(ref.shape)
    first = 0 if to_begin is None else math.prod(getattr(to_begin, "shape", (1,)))
    made, target = output(x, (size,), ref.kind)
    _difference_slopes(slab(describe(dy, "dy"), 0, first, first + max(size - 1, 0)), 0, target, x)
    return made.reshape(ref.shape)
