"""Losses of one row of class scores each.

The classes lie along `axis`: by default the second axis, or the only one. A target that is a class index has the other axes'
shape and any integer element. An index that is no class and not `ignore_index` is an error, or, where functions do not check
(bounds="clamp") and of plans, makes its row's loss NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from baracuda.core.bounds import AtLeast
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, const, position, select
from baracuda.formula.gathers import at_row
from baracuda.formula.integer_functions import is_number
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.traced import NonNegative, Own, Scalar, Shape, UnitInterval, WholeScalar
from baracuda.ops.losses.common import (
    Weighted,
    along_classes,
    beside_classes,
    class_axis,
    class_indices,
    gradient_of_rows,
    row_loss,
)
from baracuda.ops.losses.pointwise import softplus_of_negative

Tensors: TypeAlias = "Mapping[str, tuple[Shape, ElementKind]]"

_NAN = float("nan")
_CLASSES: dict[str, Any] = {
    "axis": class_axis,
    "places": {"target": beside_classes, "weight": along_classes},
    "constants": ("weight",),
    "bounds": class_indices,
}


def _one_class_axis(tensors: Tensors, axes: tuple[int, ...], options: Mapping[str, Any]) -> None:
    if len(axes) != min(len(tensors["x"][0]), 1):  # a number is the score of one class
        raise InvalidProblemError(f"axis: {axes}; expected one axis, along which the classes lie")


def _indices_or_probabilities(tensors: Tensors, axes: tuple[int, ...], options: Mapping[str, Any]) -> None:
    _one_class_axis(tensors, axes, options)
    shape, (target, kind) = tensors["x"][0], tensors["target"]
    expected = shape if kind.is_float else tuple(n for a, n in enumerate(shape) if a not in axes)
    if target != expected:
        what = "probabilities" if kind.is_float else "class indices"
        raise InvalidProblemError(f"target: shape {target} of {kind}; expected {what} of shape {expected} for x {shape}")


class Target:
    """A row's target class: whether it is a class, whether it is ignored, and where in the row it is."""

    def __init__(self, index: Expr, ignore_index: WholeScalar | None = None) -> None:
        if not index.kind.is_integer:
            raise InvalidProblemError(
                f"target: its element computes in {index.kind}; expected class indices, of an integer element"
            )
        self.valid = index < f.row_length(index.kind)
        if index.kind.category is Category.SIGNED:
            self.valid = (index >= 0) & self.valid
        self.ignored = None if ignore_index is None else is_number(index, ignore_index)
        self.index = index
        self.here = f.equal(position(ElementKind.S32), select(self.valid, cast(index, ElementKind.S32), -1))

    def pick(self, x: Expr) -> Expr:
        """The element of a row at the target, as a sum, which has a derivative; 0 where the target is no class."""
        return f.sum_(select(self.here, x, 0.0))

    def read(self, x: Expr) -> Expr:
        """The element of a row at the target, read there alone; 0 where the target is no class."""
        return select(self.valid, at_row(x, self.index), 0.0)

    def onehot(self, kind: ElementKind) -> Expr:
        return select(self.here, const(1.0, kind), 0.0)

    def judged(self, loss: Expr) -> Expr:
        """The loss where the target is a class, 0 where it is ignored, NaN elsewhere."""
        return self.counted(select(self.valid, loss, _NAN))

    def counted(self, x: Expr) -> Expr:
        """x where the target is not ignored, else 0."""
        return x if self.ignored is None else select(self.ignored, 0.0, x)

    def weight(self, weight: Expr | None, kind: ElementKind) -> Expr:
        """The weight of the target's class."""
        return const(1.0, kind) if weight is None else self.read(cast(weight, kind))


# --- cross entropy ----------------------------------------------------------------------------------------------------


def _cross_entropy(
    x: Expr, target: Expr, weight: Expr | None, ignore_index: WholeScalar, smoothing: Scalar | None, z_loss: Scalar | None = None
) -> dict[str, Any]:
    top = f.max_(x)
    shifted = x - top
    log_sum = f.log(f.sum_(f.exp(shifted)))
    lse = top + log_sum
    w = None if weight is None else cast(weight, x.kind)
    if target.kind.is_float:
        probability = _smoothed(cast(target, x.kind), smoothing)
        share = probability if w is None else probability * w
        loss, classes = log_sum * f.sum_(share) - f.sum_(share * shifted), None
    else:
        at = Target(target, ignore_index)
        own = at.weight(w, x.kind)
        loss = own * (log_sum - at.read(shifted))
        if smoothing is not None:
            count = f.row_length(x.kind)
            whole = count * log_sum - f.sum_(shifted) if w is None else f.sum_(w) * log_sum - f.sum_(w * shifted)
            loss = select(f.equal(smoothing, 0.0), loss, (1.0 - smoothing) * loss + smoothing / count * whole)
        classes = at
    if z_loss is not None:
        loss = loss + z_loss * lse * lse
    if classes is None:
        return {"y": loss, "lse": lse, "total": f.row_count(x.kind)}
    own = classes.counted(own)
    return {"y": Weighted(classes.judged(loss), own), "lse": lse, "total": f.sum_rows(own)}


def _smoothed(probability: Expr, smoothing: Scalar | None) -> Expr:
    if smoothing is None:
        return probability
    return probability * (1.0 - smoothing) + smoothing / f.row_length(probability.kind)


def _cross_entropy_backward(
    dy: Expr,
    x: Expr,
    target: Expr,
    weight: Expr | None,
    lse: Expr,
    total: Expr,
    reduction: str,
    ignore_index: WholeScalar,
    smoothing: Scalar | None,
    z_loss: Scalar | None = None,
) -> dict[str, Expr]:
    dy = gradient_of_rows(dy, reduction, total)
    p = f.exp(x - lse)
    w = None if weight is None else cast(weight, x.kind)
    if target.kind.is_float:
        share = _smoothed(cast(target, x.kind), smoothing)
        share = share if w is None else share * w
        slope = dy * (lse - x)
        slope = slope if w is None else slope * w
        dtarget = slope if smoothing is None else slope * (1.0 - smoothing)
        return {"dx": dy * (p * f.sum_(share) - share), "dtarget": dtarget}
    at = Target(target, ignore_index)
    own = at.weight(w, x.kind)
    whole, onehot = own, at.onehot(x.kind) * own
    if smoothing is not None:
        share = smoothing / f.row_length(x.kind)
        whole = (1.0 - smoothing) * own + (smoothing if w is None else share * f.sum_(w))
        onehot = (1.0 - smoothing) * onehot + (share if w is None else share * w)
    if z_loss is not None:
        whole = whole + 2.0 * z_loss * lse
    return {"dx": at.judged(dy * (p * whole - onehot))}


_SAVED: dict[str, Any] = {
    "results": ("y", "lse", "total"), "saves": ("lse", "total"), "extra": ("lse", "total"),
    "check": _indices_or_probabilities, **_CLASSES,
}  # fmt: skip


@row_loss(**_SAVED)
def cross_entropy(
    x: Expr,
    target: Own,
    weight: Own | None = None,
    *,
    ignore_index: WholeScalar = -100,
    label_smoothing: UnitInterval | None = None,
) -> dict[str, Any]:
    """The cross entropy of softmax(x) and a target, in one pass over the scores.

    With a class index t, weight[t] * -log_softmax(x)[t]; a mean is over the sum of the weights of the rows that count.
    With probabilities, which have the shape of the input, -sum(weight * target * log_softmax(x)); a mean is over the rows.
    label_smoothing (None or 0: none) mixes the target with the uniform distribution.

    Saved are lse, the logarithm of each row's sum of exponentials, and total, what a mean divides by.
    """
    return _cross_entropy(x, target, weight, ignore_index, label_smoothing)


@cross_entropy.backward
def _(
    dy: Expr,
    x: Expr,
    target: Expr,
    weight: Expr | None,
    lse: Expr,
    total: Expr,
    *,
    reduction: str,
    ignore_index: WholeScalar,
    label_smoothing: Scalar | None,
) -> dict[str, Expr]:
    """dx = dy * weight[t] * (softmax(x) - onehot(t))."""
    return _cross_entropy_backward(dy, x, target, weight, lse, total, reduction, ignore_index, label_smoothing)


@row_loss(**_SAVED)
def z_loss_cross_entropy(
    x: Expr,
    target: Own,
    weight: Own | None = None,
    *,
    z_loss: NonNegative = 1e-4,
    ignore_index: WholeScalar = -100,
    label_smoothing: UnitInterval | None = None,
) -> dict[str, Any]:
    """`cross_entropy` plus z_loss * lse**2 for each row that counts, which keeps the scores' sum of exponentials near 1
    (Chowdhery et al. 2022, PaLM)."""
    return _cross_entropy(x, target, weight, ignore_index, label_smoothing, z_loss)


@z_loss_cross_entropy.backward
def _(
    dy: Expr,
    x: Expr,
    target: Expr,
    weight: Expr | None,
    lse: Expr,
    total: Expr,
    *,
    reduction: str,
    z_loss: Scalar,
    ignore_index: WholeScalar,
    label_smoothing: Scalar | None,
) -> dict[str, Expr]:
    """As that of `cross_entropy`, with dy * 2 * z_loss * lse * softmax(x) more."""
    return _cross_entropy_backward(dy, x, target, weight, lse, total, reduction, ignore_index, label_smoothing, z_loss)


@op(
    rows=True,
    keepdims=False,
    axis=class_axis,
    results=("lse", "picked"),
    saves=("lse",),
    wide=("lse", "picked"),
    places={"target": beside_classes},
    check=_one_class_axis,
)
def vocab_parallel_cross_entropy(x: Expr, target: Own, *, offset: Annotated[WholeScalar, AtLeast(0)] = 0) -> dict[str, Expr]:
    """What one shard of the classes contributes to the cross entropy: lse, the logarithm of the sum of its exponentials, and
    picked, the target's score where the target is in the shard, else 0. Both are stored in the kind it computes in.

    The shard's first class is number `offset` of all. Across shards, with L = logsumexp(lse) and P = sum(picked),
    the loss of a row is L - P. A target in no shard leaves P = 0, which the caller has to rule out.

    The backward takes any lse: given L, dlse = dy and dpicked = -dy, it gives the shard's part of the loss's gradient,
    dy * (e**(x - L) - onehot).
    """
    at = _in_shard(target, offset)
    top = f.max_(x)
    return {"lse": top + f.log(f.sum_(f.exp(x - top))), "picked": at.read(x)}


def _in_shard(target: Expr, offset: WholeScalar) -> Target:
    return Target(target - cast(as_expr(offset, ElementKind.S64), target.kind))


@vocab_parallel_cross_entropy.backward
def _(dlse: Expr | None, dpicked: Expr | None, x: Expr, target: Expr, lse: Expr, *, offset: WholeScalar) -> dict[str, Expr]:
    """dx = dlse * e**(x - lse) + dpicked * onehot(target - offset)."""
    zero = const(0.0, x.kind)
    softmax = zero if dlse is None else dlse * f.exp(x - lse)
    return {"dx": softmax + (zero if dpicked is None else select(_in_shard(target, offset).here, dpicked, 0.0))}


# --- from log-probabilities -------------------------------------------------------------------------------------------


@row_loss(results=("y", "total"), saves=("total",), extra=("total",), check=_one_class_axis, **_CLASSES)
def nll_loss(x: Expr, target: Own, weight: Own | None = None, *, ignore_index: WholeScalar = -100) -> dict[str, Any]:
    """-weight[t] * x[t] for the target class t; a mean is over the sum of the weights of the rows that count, which is
    saved as total. Of a row nothing but x[t] is read."""
    at = Target(target, ignore_index)
    own = at.weight(weight, x.kind)
    weight_total = at.counted(own)
    return {"y": Weighted(at.judged(-(own * at.read(x))), weight_total), "total": f.sum_rows(weight_total)}


@nll_loss.backward
def _(
    dy: Expr, x: Expr, target: Expr, weight: Expr | None, total: Expr, *, reduction: str, ignore_index: WholeScalar
) -> dict[str, Expr]:
    """dx = -dy * weight[t] * onehot(t)."""
    at = Target(target, ignore_index)
    dy = gradient_of_rows(dy, reduction, total)
    own = dy if weight is None else dy * cast(weight, x.kind)
    return {"dx": at.judged(select(at.here, -own, 0.0))}


# --- margins ----------------------------------------------------------------------------------------------------------


@row_loss(check=_one_class_axis, **_CLASSES)
def multi_margin_loss(
    x: Expr, target: Own, weight: Own | None = None, *, p: Literal[1, 2] = 1, margin: NonNegative = 1.0
) -> Expr:
    """The mean over the classes of weight[t] * max(0, margin - x[t] + x)**p, where the target class t itself counts 0;
    p is 1 or 2. A mean is over the rows, whatever their weights.

    Differs from PyTorch: the weight comes third, p and margin are keywords.
    """
    at = Target(target)
    z = margin - at.pick(x) + x
    z = select(z <= 0.0, 0.0, z if p == 1 else z * z)
    return at.judged(at.weight(weight, x.kind) * f.mean(select(at.here, 0.0, z)))


@row_loss(axis=-1, constants=("weight",))
def multilabel_soft_margin_loss(x: Expr, target: Expr, weight: Expr | None = None) -> Expr:
    """The mean over the classes, which lie along the last axis, of weight * (target * softplus(-x) + (1 - target) *
    softplus(x))."""
    loss = target * f.maximum(-x, 0.0) + (1.0 - target) * f.maximum(x, 0.0) + softplus_of_negative(x)
    return f.mean(loss if weight is None else loss * weight)
