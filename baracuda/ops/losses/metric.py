"""Distances and similarities of rows, and the losses made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from baracuda.core.bounds import AtLeast, AtMost
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula import functions as f
from baracuda.formula.expr import Axes, Expr, const, reduce, select
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import NonNegative, Own, Positive, Scalar, Shape, Value
from baracuda.ops.losses.common import Reduction, beside_classes, class_axis, row_loss
from baracuda.ops.losses.pointwise import positive_part, softplus_of_negative
from baracuda.ops.reductions.reductions import ORDERS, Order, norm_of

#: Added to each sum of squares in the cosine embedding loss.
_COSINE_EPS = 1e-12


@op(rows=True, axis=class_axis, keepdims=False, positions=("axis", "eps"))
def cosine_similarity(a: Expr, b: Expr, *, eps: NonNegative = 1e-8) -> Expr:
    """sum(a * b) / (max(|a|, eps) * max(|b|, eps)) along the axis, by default the second one. A norm below
    eps has no gradient."""
    return f.sum_(a * b) / (f.maximum(norm_of(a, 2), eps) * f.maximum(norm_of(b, 2), eps))


@op(Rule.FLOATING, rows=True, keepdims=False, literals={"p": ORDERS}, positions=("p", "eps", "keepdims"))
def pairwise_distance(a: Value, b: Value, *, p: Order = 2, eps: Scalar = 1e-6) -> Expr:
    """The p-norm of a - b + eps along the last axis, of any order p as `vector_norm`."""
    return norm_of(a - b + eps, p)


@row_loss(Rule.FLOATING, axis=class_axis, places={"target": beside_classes}, constants=("target",), positions=("margin",))
def cosine_embedding_loss(a: Expr, b: Expr, target: Own, *, margin: Annotated[Scalar, AtLeast(-1), AtMost(1)] = 0.0) -> Expr:
    """1 - c where target is 1, max(0, c - margin) where it is -1, for c = sum(a * b) / sqrt((|a|**2 + 1e-12) *
    (|b|**2 + 1e-12)) along the second axis; 0 for another target."""
    size = (f.sum_(a * a) + _COSINE_EPS) * (f.sum_(b * b) + _COSINE_EPS)
    c = f.sum_(a * b) / f.sqrt(size)
    dissimilar = select(f.equal(target, const(-1, target.kind)), positive_part(c - margin), 0.0)
    return select(f.equal(target, const(1, target.kind)), 1.0 - c, dissimilar)


def _triplet(distance: Callable[[Any, Any], Expr], a: Value, p: Value, n: Value, margin: Scalar, swap: bool) -> Expr:
    negative_distance = distance(a, n)
    if swap:
        negative_distance = f.minimum(negative_distance, distance(p, n))
    return positive_part(margin + distance(a, p) - negative_distance)


@row_loss(Rule.FLOATING, axis=-1, literals={"p": ORDERS}, positions=("margin", "p", "eps", "swap"))
def triplet_margin_loss(
    anchor: Value,
    positive: Value,
    negative: Value,
    *,
    margin: Positive = 1.0,
    p: Order = 2,
    eps: Scalar = 1e-6,
    swap: bool = False,
) -> Expr:
    """max(0, margin + |anchor - positive| - |anchor - negative|) in the p-norm of `pairwise_distance`, along the last axis;
    with `swap` the last distance is the smaller one of negative to anchor and to positive (Balntas et al. 2016)."""
    return _triplet(lambda a, b: norm_of(a - b + eps, p), anchor, positive, negative, margin, swap)


def _cosine_distance(a: Expr, b: Expr) -> Expr:
    similarity: Expr = cosine_similarity(a, b, eps=1e-8)
    return 1.0 - similarity


_DISTANCES: dict[str, Callable[[Any, Any], Expr]] = {
    "euclidean": lambda a, b: norm_of(a - b + 1e-6, 2),
    "manhattan": lambda a, b: norm_of(a - b, 1),
    "chebyshev": lambda a, b: norm_of(a - b, math.inf),
    "cosine": _cosine_distance,
}


@row_loss(Rule.FLOATING, axis=-1)
def triplet_margin_with_distance_loss(
    anchor: Expr,
    positive: Expr,
    negative: Expr,
    *,
    distance_function: Literal["euclidean", "manhattan", "chebyshev", "cosine"] | Callable[[Any, Any], Expr] = "euclidean",
    margin: Positive = 1.0,
    swap: bool = False,
) -> Expr:
    """`triplet_margin_loss` with another distance: "euclidean", "manhattan", "chebyshev", "cosine" (1 - cosine similarity), or a
    formula of two rows that gives one value for them."""
    distance = _DISTANCES[distance_function] if isinstance(distance_function, str) else distance_function
    return _triplet(distance, anchor, positive, negative, margin, swap)


# --- contrastive ------------------------------------------------------------------------------------------------------


def _square(tensors: Mapping[str, tuple[Shape, ElementKind]], axes: tuple[int, ...], options: Mapping[str, Any]) -> None:
    shape, _ = tensors["x"]
    if len(shape) != 2 or shape[0] != shape[1] or axes != (1,):
        raise InvalidProblemError(f"x: shape {shape}, rows along {axes}; expected a square matrix, rows along axis 1")


def _diagonal(x: Expr) -> Expr:
    return f.equal(f.index(0), f.index(1))


@op(rows=True, keepdims=False, check=_square)
def info_nce_loss(
    x: Expr,
    *,
    method: Literal["softmax", "sigmoid"] = "softmax",
    symmetric: bool = True,
    reduction: Reduction = "mean",
) -> Expr:
    """The contrastive loss of a square matrix of similarities (scaled by the temperature), whose pairs lie on the diagonal.

    - "softmax": the cross entropy of each row and its diagonal element, a mean over the rows; with `symmetric` the mean of that
      and of the same for columns (Radford et al. 2021, CLIP).
    - "sigmoid": the sum over each row of softplus(-x) on the diagonal and softplus(x) off it, a mean over the rows
      (Zhai et al. 2023, SigLIP); `symmetric` makes no difference.

    reduction="none" gives each row's loss, and so excludes the symmetric softmax.
    """
    both = _both_ways(method, symmetric, reduction)
    if method == "sigmoid":
        z = select(_diagonal(x), -x, x)
        loss = f.sum_(f.maximum(z, 0.0) + softplus_of_negative(z))
    else:
        loss = _against(x, Axes.INNER)
    if reduction == "none":
        return loss
    total = f.sum_rows(loss)
    if both:
        total = 0.5 * (total + f.sum_(_against(x, Axes.OUTER)))
    return total / f.row_count(total.kind) if reduction == "mean" else total


def _both_ways(method: str, symmetric: bool, reduction: str) -> bool:
    both = symmetric and method == "softmax"
    if both and reduction == "none":
        raise InvalidProblemError("reduction: 'none' of a loss of rows and columns; expected mean or sum, or symmetric=False")
    return both


def _against(x: Expr, over: Axes) -> Expr:
    """The cross entropy of the diagonal element among its row (its column)."""
    shifted = x - reduce("max", x, over)
    picked = reduce("sum", select(_diagonal(x), shifted, 0.0), over)
    return f.log(reduce("sum", f.exp(shifted), over)) - picked


def _softmax(x: Expr, over: Axes) -> Expr:
    e = f.exp(x - reduce("max", x, over))
    return e / reduce("sum", e, over)


@info_nce_loss.backward
def _(dy: Expr, x: Expr, *, method: str, symmetric: bool, reduction: str) -> dict[str, Expr]:
    """dx = dy * (softmax - identity), for the symmetric loss with the mean of both softmaxes."""
    both = _both_ways(method, symmetric, reduction)
    dy = dy / f.row_count(dy.kind) if reduction == "mean" else dy
    eye = _diagonal(x)
    if method == "sigmoid":
        return {"dx": dy * select(eye, -f.sigmoid(-x), f.sigmoid(x))}
    p = _softmax(x, Axes.INNER)
    if both:
        p = 0.5 * (p + _softmax(x, Axes.OUTER))
    return {"dx": dy * select(eye, p - 1.0, p)}
