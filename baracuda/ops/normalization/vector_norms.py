"""Normalizations by a norm: of vectors, of slices, of weights."""

from __future__ import annotations

from typing import Annotated, Any

from baracuda.core.bounds import Above, AtLeast, AtMost
from baracuda.core.errors import InvalidProblemError
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, select
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.traced import Host, NonNegative, Own, Value
from baracuda.ops.normalization.channel_norms import kept_axes
from baracuda.ops.reductions.reductions import ORDERS, Order, norm_of


def _all_but_first(rank: int) -> tuple[int, ...]:
    return tuple(range(1, rank))


#: Slices and their norms.
_ACROSS: dict[str, Any] = {
    "rows": True,
    "axis": _all_but_first,
    "saves": ("norm",),
    "extra": ("norm",),
    "crosswise": True,
}


@op(
    rows=True,
    axis=1,
    results=("y", "norm"),
    saves=("norm",),
    extra=("norm",),
    literals={"p": ORDERS},
    positions=("p", "axis", "eps"),
)
def normalize(x: Value, *, p: Order = 2, eps: NonNegative = 1e-12) -> dict[str, Value]:
    """x / max(||x||_p, eps) over the row. `saved` adds the norm."""
    norm = norm_of(x, p)
    return {"y": x / f.maximum(norm, eps), "norm": norm}


@op(results=("y", "norm"), literals={"p": ORDERS}, positions=("p",), **_ACROSS)
def renorm(x: Value, *, p: Annotated[Host, Above(0)] = 2, max_norm: NonNegative = 1.0) -> dict[str, Value]:
    """x * max_norm / (||x||_p + 1e-7) where the norm over `axis` is above max_norm, else x.

    Differs from PyTorch: `axis` has the axes that its dim leaves out, by default all but the first.
    """
    norm = norm_of(x, p)
    return {"y": x * select(norm > max_norm, max_norm / (norm + 1e-7), 1.0), "norm": norm}


@op(results=("y", "norm"), positions=(), **_ACROSS)
def weight_norm(v: Expr, g: Own) -> dict[str, Expr]:
    """v * (g / ||v||) (Salimans and Kingma 2016), with the norm over `axis`, by default all axes but the first.

    Differs from PyTorch: `axis` has the axes that its dim leaves out.

    g broadcasts to v: its shape is v's with 1 along `axis`. `saved` adds the norm, torch's norm_except_dim.
    """
    norm = norm_of(v, 2)
    return {"y": v * (cast(g, v.kind) / norm), "norm": norm}


@weight_norm.backward
def _weight_norm_backward(dy: Expr, v: Expr, g: Own, norm: Expr) -> dict[str, Expr]:
    n = v / norm
    return {"dv": (cast(g, v.kind) / norm) * (dy - n * f.sum_(dy * n)), "dg": dy * n}


@op(
    rows=True,
    axis=_all_but_first,
    keepdims=False,
    results=("y", "sigma", "new_u", "new_v"),
    saves=("y", "sigma", "new_u", "new_v"),
    constants=("u", "v"),
    places={"u": kept_axes},
    once=True,
    positions=(),
    crosswise=True,
)
def spectral_norm(
    weight: Expr,
    u: Own,
    v: Own | None = None,
    *,
    n_power_iterations: Annotated[int, AtLeast(0), AtMost(32)] = 1,
    eps: NonNegative = 1e-12,
) -> dict[str, Expr]:
    """weight / sigma, sigma its largest singular value by power iteration (Miyato et al. 2018).

    weight is a matrix with rows along `axis`, by default all axes but the first; u has an element for each row, v one for each
    of a row's. Each iteration takes v = W'u / max(||W'u||, eps) and u = Wv / max(||Wv||, eps); sigma = u'Wv, and the results
    are y, sigma, u and v. Without iterations, as in evaluation, v is needed and y and sigma are the results. The gradient
    takes u and v as constant. The iterations are one kernel, so there may be at most 32 of them; for more, call it again with
    the new u.

    Differs from PyTorch: the new u and v are results, nothing is overwritten.
    """
    left, right = cast(u, weight.kind), None if v is None else cast(v, weight.kind)
    for _ in range(n_power_iterations):
        right = f.sum_rows(weight * left)
        right = right / f.maximum(f.sqrt(f.sum_(right * right)), eps)
        image = f.sum_(weight * right)
        left = image / f.maximum(f.sqrt(f.sum_rows(image * image)), eps)
    if right is None:
        raise InvalidProblemError("v: got None; expected a tensor where n_power_iterations is 0")
    sigma = f.sum_rows(left * f.sum_(weight * right))
    results = {"y": weight / sigma, "sigma": sigma}
    return {**results, "new_u": left, "new_v": right} if n_power_iterations else results


@spectral_norm.backward
def _spectral_norm_backward(
    dy: Expr | None,
    dsigma: Expr | None,
    y: Expr,
    sigma: Expr,
    new_u: Expr | None,
    new_v: Expr | None,
    u: Own,
    v: Own | None = None,
    *,
    n_power_iterations: Annotated[int, AtLeast(0)] = 1,
    eps: NonNegative = 1e-12,
) -> dict[str, Expr]:
    outward = y * 0.0 if dy is None else dy / sigma
    along = dsigma
    if dy is not None:
        share = f.sum_rows(f.sum_(dy * y)) / sigma
        along = -share if dsigma is None else dsigma - share
    left, right = (cast(x, y.kind) for x in ((u, v) if new_u is None else (new_u, new_v)) if x is not None)
    return {"dweight": outward if along is None else outward + along * (left * right)}
