"""Softmax and what is related to it: fused with a mask, sampled, with a sink, and its sparse relatives."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, const, position, select
from baracuda.formula.reductions import argmax
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.traced import Own, Positive, Scalar, WholeScalar

_INFINITY = float("inf")
#: The backward reads y alone.
_OF_ITS_RESULT: dict[str, Any] = {"rows": True, "saves": ("y",), "unread": {"x": None}}


@op(**_OF_ITS_RESULT)
def softmax(x: Expr) -> Expr:
    """exp(x - max x) / sum exp(x - max x) over the row. The backward takes dy and y.

    A row that holds NaN or +inf, or nothing but -inf, gives NaN, as in PyTorch.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.softmax(np.zeros((1, 4), np.float32)).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    >>> y = np.array([0.5, 0.5], np.float32)
    >>> baracuda.softmax_backward(np.array([1, 0], np.float32), y).tolist()
    [0.25, -0.25]
    """
    e = f.exp(x - f.max_(x))
    return e * (1.0 / f.sum_(e))


def _through_softmax(dy: Expr, y: Expr) -> Expr:
    return y * (dy - f.sum_(y * dy))


@softmax.backward
def _softmax_backward(dy: Expr, y: Expr) -> dict[str, Expr]:
    return {"dx": _through_softmax(dy, y)}


@op(**_OF_ITS_RESULT)
def log_softmax(x: Expr) -> Expr:
    """x - max x - log(sum exp(x - max x)) over the row. The backward takes dy and y.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> bool(abs(baracuda.log_softmax(np.zeros(2, np.float64))[0] + np.log(2)) < 1e-15)
    True
    >>> baracuda.log_softmax_backward(np.array([1.0, 0.0]), np.log(np.array([0.5, 0.5]))).round(12).tolist()
    [0.5, -0.5]
    """
    shifted = x - f.max_(x)
    return shifted - f.log(f.sum_(f.exp(shifted)))


@log_softmax.backward
def _log_softmax_backward(dy: Expr, y: Expr) -> dict[str, Expr]:
    return {"dx": dy - f.exp(y) * f.sum_(dy)}


@op(rows=True, saves=("y",))
def softmin(x: Expr) -> Expr:
    """softmax(-x) over the row."""
    e = f.exp(f.min_(x) - x)
    return e * (1.0 / f.sum_(e))


@softmin.backward
def _softmin_backward(dy: Expr, y: Expr) -> dict[str, Expr]:
    return {"dx": -_through_softmax(dy, y)}


# --- attention's ------------------------------------------------------------------------------------------------------


@op(rows=True, saves=("y",))
def masked_softmax(
    x: Expr, mask: Own | None = None, *, scale: Scalar = 1.0, causal: bool = False, diagonal: WholeScalar = 0
) -> Expr:
    """softmax(x * scale + mask) over the row.

    A mask of bool keeps x where it is true; one of floats is added. causal=True keeps, of the last two axes (queries, keys),
    only keys up to the query's number plus `diagonal`, as torch.tril. A row of which nothing is kept, or that is all -inf,
    gives zeros.

    Differs from PyTorch: softmax of such a row is NaN there.
    """
    z = x * scale
    if mask is not None and mask.kind is ElementKind.BOOL:
        z = select(mask, z, -_INFINITY)
    elif mask is not None:
        z = z + cast(mask, z.kind)
    if causal:
        last = cast(as_expr(diagonal, ElementKind.S64), ElementKind.S32)
        z = select(f.index(-1) - f.index(-2) <= last, z, -_INFINITY)
    largest = f.max_(z)
    e = f.exp(z - select(f.equal(largest, -_INFINITY), 0.0, largest))
    total = f.sum_(e)
    return e * (1.0 / select(f.equal(total, 0.0), 1.0, total))


@masked_softmax.backward
def _masked_softmax_backward(
    dy: Expr, y: Expr, *, scale: Scalar = 1.0, causal: bool = False, diagonal: WholeScalar = 0
) -> dict[str, Expr]:
    dz = _through_softmax(dy, y)
    return {"dx": dz * scale, "dmask": dz}


@op(rows=True, results=("y", "lse"), saves=("y", "lse"), extra=("lse",))
def softmax_with_sink(x: Expr, sink: Own) -> dict[str, Expr]:
    """e**x / (sum(e**x) + e**sink) over the row: softmax with one more logit, whose own share is dropped (gpt-oss).

    The sink broadcasts to x, for example with shape (heads, 1, 1). lse is the logarithm of the denominator.
    """
    s = cast(sink, x.kind)
    largest = f.maximum(f.max_(x), s)
    e = f.exp(x - largest)
    total = f.sum_(e) + f.exp(s - largest)
    return {"y": e * (1.0 / total), "lse": largest + f.log(total)}


@softmax_with_sink.backward
def _softmax_with_sink_backward(dy: Expr, sink: Own, y: Expr, lse: Expr) -> dict[str, Expr]:
    along = f.sum_(y * dy)
    return {"dx": y * (dy - along), "dsink": -(f.exp(cast(sink, lse.kind) - lse) * along)}


# --- one of many ------------------------------------------------------------------------------------------------------


def _one_hot_of_largest(x: Expr) -> Expr:
    """1 for the first of the largest elements of the row, 0 for the others."""
    return select(f.equal(position(), argmax(x)), const(1.0, x.kind), 0.0)


@op(rows=True)
def hardmax(x: Expr) -> Expr:
    """1 for the first of the row's largest elements, 0 for the others; a NaN is larger than every number."""
    return _one_hot_of_largest(x)


@op(rows=True, results=("y", "soft"), saves=("y", "soft"), extra=("soft",), constants=("noise",), positions=("tau", "hard"))
def gumbel_softmax(x: Expr, noise: Expr, *, tau: Positive = 1.0, hard: bool = False) -> dict[str, Expr]:
    """softmax((x + noise) / tau) over the row, with noise that the caller has drawn from the Gumbel distribution
    (Jang et al. 2017).

    hard=True gives 1 for the first of the largest and 0 for the others, and passes gradients as if it did not; its backward
    reads `soft`, what hard=False gives, and that of hard=False only y.

    Differs from PyTorch: the noise is the caller's, and comes second.
    """
    z = (x + noise) / tau
    soft = softmax(z)
    return {"y": _one_hot_of_largest(z) if hard else soft, "soft": soft}


@gumbel_softmax.backward
def _gumbel_softmax_backward(dy: Expr, y: Expr, soft: Expr, *, tau: Positive = 1.0, hard: bool = False) -> dict[str, Expr]:
    dz = _through_softmax(dy, soft if hard else y) / tau
    return {"dx": dz, "dnoise": dz}
