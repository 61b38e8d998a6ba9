"""The pieces of batch norm over several devices, between which the caller gathers or sums across them.

Forward: `batch_norm_stats` on each device, a gather, `batch_norm_gather_stats`, `batch_norm_elemt`. Backward:
`batch_norm_backward_reduce` on each device, a sum over devices, `batch_norm_backward_elemt`. Names are torch's.
"""

from __future__ import annotations

from typing import Any

from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast
from baracuda.formula.pooling import pooled_squares
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.traced import NonNegative, Own, Result, Stored, UnitInterval
from baracuda.ops.normalization.channel_norms import all_but_channels, kept_axes, moved
from baracuda.ops.normalization.layer_norms import affine, scaled, statistics

_PIECE: dict[str, Any] = {"family": "normalization", "takes": "float", "rows": True, "differentiable": False}
_CHANNELS: dict[str, Any] = {**_PIECE, "axis": all_but_channels, "keepdims": False}


def _along_channels(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, kept_axes)


@op(**_CHANNELS, results=("mean", "rstd"))
def batch_norm_stats(x: Expr, *, eps: NonNegative = 1e-5) -> dict[str, Result]:
    """Mean and 1 / sqrt(var + eps) of each channel, in the kind that x computes in."""
    mean, rstd = statistics(x, eps)
    return {"mean": Stored(mean, mean.kind), "rstd": Stored(rstd, rstd.kind)}


@op(
    **_CHANNELS,
    results=("mean", "var", "new_running_mean", "new_running_var"),
    places=_along_channels("running_mean", "running_var"),
)
def batch_norm_update_stats(x: Expr, running_mean: Own, running_var: Own, *, momentum: UnitInterval = 0.1) -> dict[str, Result]:
    """Mean and variance of each channel, and the running statistics moved towards them by `momentum` (towards the variance
    with n - 1)."""
    n = f.row_length(x.kind)
    mean = f.sum_(x) / n
    d = x - mean
    squares = pooled_squares(d * d, n, mean)
    variance = squares / n
    return {
        "mean": Stored(mean, mean.kind),
        "var": Stored(variance, mean.kind),
        "new_running_mean": moved(running_mean, mean, momentum),
        "new_running_var": moved(running_var, squares / (n - 1.0), momentum),
    }


@op(
    **_PIECE,
    axis=0,
    keepdims=False,
    results=("mean", "rstd", "new_running_mean", "new_running_var"),
    places={"counts": lambda rank, axes: (0,)},
)
def batch_norm_gather_stats(
    means: Expr,
    rstds: Expr,
    counts: Own,
    running_mean: Own | None = None,
    running_var: Own | None = None,
    *,
    momentum: UnitInterval = 0.1,
    eps: NonNegative = 1e-5,
) -> dict[str, Result]:
    """The statistics of all elements from those of each device: means and rstds are (devices, channels), counts (devices),
    the elements that each device has to a channel.

    The variance is the mean of count * (1 / rstd**2 - eps + (mean - total mean)**2) (Chan et al. 1979).
    """
    n = cast(counts, means.kind)
    total = f.sum_(n)
    mean = f.sum_(means * n) / total
    d = means - mean
    squares = f.sum_(n * (1.0 / (rstds * rstds) - eps + d * d))
    results: dict[str, Result] = {"mean": mean, "rstd": f.rsqrt(squares / total + eps)}
    if running_mean is not None and running_var is not None:
        results["new_running_mean"] = moved(running_mean, mean, momentum)
        results["new_running_var"] = moved(running_var, squares / (total - 1.0), momentum)
    return results


@op(**{**_CHANNELS, "keepdims": None}, places=_along_channels("mean", "rstd", "weight", "bias"))
def batch_norm_elemt(x: Expr, mean: Own, rstd: Own, weight: Own | None = None, bias: Own | None = None) -> Expr:
    """(x - mean) * rstd * weight + bias, each but x with one element a channel."""
    return affine((x - cast(mean, x.kind)) * cast(rstd, x.kind), weight, bias)


@op(**_CHANNELS, results=("sum_dy", "sum_dy_xmu", "grad_weight", "grad_bias"), places=_along_channels("mean", "rstd"))
def batch_norm_backward_reduce(dy: Expr, x: Expr, mean: Own, rstd: Own) -> dict[str, Result]:
    """What the gradient needs of each channel: the sum of dy, that of dy * (x - mean), and this device's share of the
    gradients of weight and bias, in the kind that x computes in."""
    total = f.sum_(dy)
    products = f.sum_(dy * (x - cast(mean, x.kind)))
    weighted = products * cast(rstd, x.kind)
    sums = {"sum_dy": total, "sum_dy_xmu": products, "grad_weight": weighted, "grad_bias": total}
    return {name: Stored(value, value.kind) for name, value in sums.items()}


@op(
    **{**_CHANNELS, "keepdims": None},
    places=_along_channels("mean", "rstd", "sum_dy", "sum_dy_xmu", "weight"),
)
def batch_norm_backward_elemt(
    dy: Expr, x: Expr, mean: Own, rstd: Own, sum_dy: Own, sum_dy_xmu: Own, count: Own, weight: Own | None = None
) -> Expr:
    """The gradient of x: (dy - sum_dy / count - (x - mean) * rstd**2 * sum_dy_xmu / count) * rstd * weight, with sums over
    all devices and count the elements that they have to a channel, a number or a tensor without axes."""
    m, r, first, second, n = (cast(v, x.kind) for v in (mean, rstd, sum_dy, sum_dy_xmu, count))
    centred = dy - first / n - (x - m) * (r * r * (second / n))
    return centred * scaled(r, weight)
