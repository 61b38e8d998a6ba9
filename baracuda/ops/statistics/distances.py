"""Distances of the points of two sets: a formula over views of them, an axis for the points of each."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.core.views import expanded_dims
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, select
from baracuda.formula.host import HostNumber
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own
from baracuda.ops.declaration.words import Order, Wrt
from baracuda.ops.reductions import reductions as r


def _distances(a: Expr, b: Expr, *, p: r.Order = 2) -> Expr:
    found = r.norm_of(a - b, p)
    largest = not isinstance(p, HostNumber) and p == float("inf")
    return f.maximum(found, 0.0) if largest else found  # 0 between points without coordinates


def _distance_slopes(dy: Expr, a: Expr, b: Expr, distance: Own, *, p: r.Order = 2) -> Expr:
    """The sum over the row of dy times the slope of |a - b| by a; 0 where the points are one."""
    d, distance = a - b, cast(distance, a.kind)
    towards = select(d > 0.0, dy, select(d < 0.0, -dy, 0.0))
    if isinstance(p, HostNumber) or p not in (1, 2, float("inf")):
        slope = towards * f.pow_(abs(d) / distance, p - 1.0)
    elif p == 1:
        return f.sum_(towards)
    elif p == 2:
        slope = dy * (d / distance)
    else:
        return f.sum_(select(f.equal(abs(d), distance), towards, 0.0))
    return f.sum_(select(f.equal(d, 0.0), 0.0, slope))


_DISTANCES: dict[str, Any] = {"family": "statistics", "takes": "float", "rows": True, "literals": {"p": r.ORDERS}}
distances = Op(_distances, Rule.COMMON, name="cdist", keepdims=False, **_DISTANCES)
wide_distances = Op(_distances, Rule.COMMON, name="wide_cdist", keepdims=False, wide=("y",), **_DISTANCES)
distance_slopes = Op(_distance_slopes, Rule.COMMON, name="cdist_backward", **_DISTANCES)


def _pairs(a: TensorRef, b: TensorRef) -> tuple[TensorRef, TensorRef, int]:
    """Points of a along the last axis but two, those of b along the last but one, coordinates along the last; and the rank."""
    rank = max(len(a.shape), len(b.shape)) + 1
    return _points(a, rank, rank - 3), _points(b, rank, rank - 2), rank


def _points(tensor: TensorRef, rank: int, axis: int) -> Any:
    batch = range(rank - 1 - len(tensor.shape), rank - 3)
    return expanded_dims(tensor, (*batch, axis, rank - 1), rank)


def _of_pairs(a_batch: tuple[int, ...], b_batch: tuple[int, ...], m: int, n: int) -> tuple[int, ...]:
    """The shape of distances."""
    batch = [q if p == 1 else p for p, q in zip_longest(a_batch[::-1], b_batch[::-1], fillvalue=1)]
    return (*batch[::-1], m, n)


@composed(a="... m coordinates", b="... n coordinates", out=True, numbers={"p": r.ORDERS})
def cdist(do: Steps, a: TensorRef, b: TensorRef, p: Order = 2.0) -> Any:
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
    return do.run(distances, {"a": first, "b": second}, do.out, p=float(p))


@composed(a="*a_batch m coordinates", b="*b_batch n coordinates", dy=_of_pairs, y=_of_pairs, numbers={"p": r.ORDERS})
def cdist_backward(
    do: Steps, dy: TensorRef, a: TensorRef, b: TensorRef, y: Given = None, *, p: Order = 2.0, wrt: Wrt = None
) -> Any:
    """The gradients of `cdist`'s points, those named in `wrt` or both; y is its result, computed again where it is not given.

    Points that are one have no gradient (torch's convention); for p = 0 nothing has.
    """
    first, second, rank = _pairs(a, b)
    if y is None or (p == math.inf and a.kind.bits == 16):  # which difference is the largest is told before the rounding
        y = do.run(wide_distances, {"a": first, "b": second}, p=float(p))
    axes = range(rank - 1)
    roles = {"a": (a, first, second, rank - 3), "b": (b, second, first, rank - 2)}
    gradients = []
    for name in chosen(wrt, tuple(roles)):
        tensor, own, other, axis = roles[name]
        gradients.append(gradient := do.new_like(tensor))
        if p == 0:
            do.zero(gradient)
            continue
        over = [i for i in range(rank - 3) if own.shape[i] == 1 != y.shape[i]]
        tensors = {"dy": expanded_dims(dy, axes, rank), "a": own, "b": other, "distance": expanded_dims(y, axes, rank)}
        along = (*over, rank - 2 if name == "a" else rank - 3)
        do.run(distance_slopes, tensors, _points(gradient, rank, axis), p=float(p), axis=along)
    return one_or_all(gradients)
