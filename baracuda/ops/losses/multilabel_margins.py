"""The multilabel margin loss, in pieces that `baracuda.frontends.margins` runs on views of scores and targets."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula import scans as s
from baracuda.formula.expr import Expr, cast, const, select
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar, Stored


def _listed(target: Expr) -> Expr:
    """The class indices of a row before the first negative one, -1 after it."""
    return select(s.cummin(target) >= 0, target, -1)


def _counts(scores: Own, listed: Own) -> Stored:
    """For each class how often a row lists it: listed is (..., 1, classes), the row, and scores, which give the result its
    classes, (..., classes, 1). A row that lists a class that is not there counts NaN."""
    known = listed < cast(f.row_length(ElementKind.F64), listed.kind)
    here = select(f.equal(listed, cast(f.index(-2), listed.kind)), const(1.0, ElementKind.F32), 0.0)
    return Stored(f.sum_(select(known, here, float("nan"))), ElementKind.F32)


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
listed = Op(_listed, Rule.COMMON, name="listed_classes", takes="int", **_PIECE)
counts = Op(_counts, Rule.EACH, name="class_counts", takes="any", **_PIECE)
losses = Op(_losses, Rule.COMMON, name="multilabel_margin_loss", takes="float", axis=(-2, -1), keepdims=False, **_PIECE)
slopes = Op(_slopes, Rule.COMMON, name="multilabel_margin_loss_backward", takes="float", **_PIECE)
