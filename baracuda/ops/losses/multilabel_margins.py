"""The multilabel margin loss: every listed class against every other, on views of scores and targets."""

from __future__ import annotations

from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.core.views import expanded_dims
from baracuda.formula import functions as f
from baracuda.formula import scans as s
from baracuda.formula.expr import Expr, cast, const, select
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar, Stored
from baracuda.ops.declaration.words import Bounds, Reduction
from baracuda.ops.reductions.reductions import mean, sum_


def _listed(target: Expr) -> Expr:
    """The class indices of a row before the first negative one, -1 after it."""
    return select(s.cummin(target) >= 0, target, -1)


def _counts(scores: Own, listed: Own) -> Stored:
    """For each class how often a row lists it: listed is (..., 1, classes), the row, and scores, which give the result its
    classes, (..., classes, 1). A row that lists a class that is not there counts NaN."""
    known = listed < cast(f.row_length(ElementKind.F64), listed.kind)
    is_listed = select(f.equal(listed, cast(f.index(-2), listed.kind)), const(1.0, ElementKind.F32), 0.0)
    return Stored(f.sum_(select(known, is_listed, float("nan"))), ElementKind.F32)


def _losses(own: Expr, own_count: Own, other: Expr, other_count: Own, *, scale: Scalar = 1.0) -> Stored:
    """The sum over a row's listed classes j, and over its classes i that are not listed, of max(0, 1 - own_j + other_i)."""
    z = 1.0 - own + other
    pairs = select(other_count > 0.0, 0.0, select(z <= 0.0, 0.0, z)) * cast(own_count, own.kind)
    return Stored(f.sum_(pairs) * scale, own.kind)


def _slopes(dy: Own, own: Expr, own_count: Own, other: Expr, other_count: Own, *, scale: Scalar = 1.0) -> Expr:
    """The gradient of the score `own`: what pushes it where it is not listed, less what pulls it where it is."""
    k = own.kind
    listed, others = cast(own_count, k), cast(other_count, k)
    pull = select((other_count > 0.0) | (1.0 - own + other <= 0.0), 0.0, listed)
    push = select((own_count > 0.0) | (1.0 - other + own <= 0.0), 0.0, others)
    return f.sum_(push - pull) * (cast(dy, k) * scale)


_PIECE: dict[str, Any] = {"family": "loss", "rows": True}
_listed_classes = Op(_listed, Rule.COMMON, name="listed_classes", takes="int", **_PIECE)
_class_counts = Op(_counts, Rule.EACH, name="class_counts", takes="any", **_PIECE)
_loss = Op(_losses, Rule.COMMON, name="multilabel_margin_loss", takes="float", axis=(-2, -1), keepdims=False, **_PIECE)
_slope = Op(_slopes, Rule.COMMON, name="multilabel_margin_loss_backward", takes="float", **_PIECE)


class _Pairs:
    """Scores and targets, and how often each class is listed, as columns and as rows of pairs of classes."""

    def __init__(self, do: Steps, scores: TensorRef, target: TensorRef) -> None:
        if not scores.shape:  # a number is the score of one class
            scores, target = (expanded_dims(t, (), 1) for t in (scores, target))
        self.batch, self.classes = scores.shape[:-1], scores.shape[-1]
        self.scale = 1.0 / self.classes if self.classes else 0.0
        rank = self.rank = len(scores.shape) + 1
        columns, rows = range(rank - 1), (*range(rank - 2), rank - 1)
        self.listed = do.run(_listed_classes, {"target": target})
        own, other = expanded_dims(scores, columns, rank), expanded_dims(scores, rows, rank)
        counted = do.run(_class_counts, {"scores": own, "listed": expanded_dims(self.listed, rows, rank)})
        across = expanded_dims(counted, (*range(rank - 2), rank - 1, rank - 2), rank)
        self.tensors = {"own": own, "own_count": counted, "other": other, "other_count": across}


_SCORES: dict[str, Any] = {"x": "*shape : float", "target": "*shape : int"}


@composed(**_SCORES, out=True)
def multilabel_margin_loss(
    do: Steps, x: TensorRef, target: TensorRef, *, reduction: Reduction = "mean", bounds: Bounds = "check"
) -> Any:
    """sum max(0, 1 - x[j] + x[i]) / classes over the classes j that a row's target lists and all i that it does not.

    x is (..., classes), or a number, the score of one class; target, integers of the same shape, lists class indices up to
    the first negative one. A class that is listed twice counts twice, as in torch; a row that lists a class that there is not
    raises `InvalidProblemError` (on a GPU when values are next read on the host, or by `baracuda.synchronize()`), or with
    bounds="clamp", which checks nothing, gives NaN. "none" gives one loss a row; "sum" and "mean" go over the rows. The work is
    classes**2 a row; beside the result, target and how often each class is listed (f32) are held once more.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, target = np.float32([[0.1, 0.2, 0.4, 0.8]]), np.array([[3, 0, -1, 1]])
    >>> round(float(baracuda.multilabel_margin_loss(x, target)), 4)
    0.85
    """
    pairs = _Pairs(do, x, target)
    if bounds == "check":
        do.check_range(pairs.listed, "target", -1, pairs.classes - 1)
    rows = do.run(_loss, pairs.tensors, scale=pairs.scale)
    axes = () if reduction == "none" else tuple(range(len(pairs.batch)))
    return do.run(mean if reduction == "mean" else sum_, {"x": rows}, do.out, axis=axes, dtype=x.kind)


def _shape(shape: tuple[int, ...], reduction: str) -> tuple[int, ...]:
    return shape[:-1] if reduction == "none" else ()


@composed(**_SCORES, dy=_shape)
def multilabel_margin_loss_backward(
    do: Steps, dy: TensorRef, x: TensorRef, target: TensorRef, *, reduction: Reduction = "mean"
) -> TensorRef:
    """The gradient of `multilabel_margin_loss`'s x."""
    pairs = _Pairs(do, x, target)
    rows = prod(pairs.batch) if reduction == "mean" else 1
    gradient = do.new_like(x)
    tensors = {**pairs.tensors, "dy": expanded_dims(dy, range(len(dy.shape)), pairs.rank)}
    do.run(_slope, tensors, expanded_dims(gradient, range(len(x.shape)), pairs.rank), scale=pairs.scale / max(rows, 1))
    return gradient
