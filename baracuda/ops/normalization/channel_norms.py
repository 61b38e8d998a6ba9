"""Normalizations with statistics of channels: batch, instance and group norm, and batch norm over several devices.

Tensors are (samples, channels, ...). Statistics are taken over the axes `axis`; weight, bias and running statistics lie along
the others, so any layout can be named: axis=(0, 1, 2) is batch norm of (N, H, W, C).
"""

from __future__ import annotations

from typing import Any

from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast
from baracuda.formula.pooling import pooled_squares
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.traced import NonNegative, Own, Result, Scalar, Stored, UnitInterval, stored_like
from baracuda.ops.normalization.layer_norms import affine, normalized_backward, scaled, statistics, through_standardization


def all_but_channels(rank: int) -> tuple[int, ...]:
    """Every axis but 1."""
    return tuple(a for a in range(rank) if a != 1)


def _from_second(rank: int) -> tuple[int, ...]:
    return tuple(range(2, rank))


def kept_axes(rank: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    """The axes that statistics are not taken over."""
    return tuple(a for a in range(rank) if a not in axes)


def _channel(rank: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    return (1,)


_RUNNING = ("running_mean", "running_var")
_AFFINE = ("weight", "bias")


def moved(running: Expr, value: Expr, momentum: Scalar) -> Stored:
    """A running statistic moved towards a new value, in its own element."""
    old = cast(running, value.kind)
    return stored_like(old + momentum * (value - old), running)


def _normalized_gradients(dy: Expr, x: Expr, mean: Expr, rstd: Expr, weight: Expr | None, *, from_x: bool) -> dict[str, Expr]:
    """Where weight and statistics are those of a channel; from_x: whether the statistics are x's own."""
    n = (x - mean) * rstd
    w = scaled(rstd, weight)
    dx = w * (dy - (f.mean(dy) + n * f.mean(dy * n))) if from_x else w * dy
    return {"dx": dx, "dweight": dy * n, "dbias": dy}


@op(
    rows=True,
    axis=all_but_channels,
    keepdims=False,
    results=("y", "mean", "rstd", "new_running_mean", "new_running_var"),
    saves=("mean", "rstd"),
    extra=("mean", "rstd"),
    constants=_RUNNING,
    places=dict.fromkeys((*_RUNNING, *_AFFINE), kept_axes),
    positions=("training", "momentum", "eps"),
)
def batch_norm(
    x: Expr,
    running_mean: Own | None = None,
    running_var: Own | None = None,
    weight: Own | None = None,
    bias: Own | None = None,
    *,
    training: bool = False,
    momentum: UnitInterval = 0.1,
    eps: NonNegative = 1e-5,
) -> dict[str, Result]:
    """(x - mean) / sqrt(var + eps) * weight + bias with one mean and variance a channel (Ioffe and Szegedy 2015).

    They are the running statistics or, with training=True or where there are none, x's own. In the second case `saved` adds
    mean and rstd, and running statistics that are given are not changed: the new ones are results, moved by `momentum` towards
    x's mean and its variance with n - 1.

    Differs from PyTorch: it writes the new running statistics over those that it is given.
    """
    if running_mean is not None and running_var is not None and not training:
        mean, rstd = _running_statistics(running_mean, running_var, x, eps)
        return {"y": affine((x - mean) * rstd, weight, bias)}
    mean, rstd, variance = _batch_statistics(x, eps)
    results: dict[str, Result] = {"y": affine((x - mean) * rstd, weight, bias), "mean": mean, "rstd": rstd}
    if running_mean is not None and running_var is not None:
        results["new_running_mean"] = moved(running_mean, mean, momentum)
        results["new_running_var"] = moved(running_var, variance, momentum)
    return results


def _running_statistics(running_mean: Expr, running_var: Expr, x: Expr, eps: Scalar) -> tuple[Expr, Expr]:
    return cast(running_mean, x.kind), f.rsqrt(cast(running_var, x.kind) + eps)


def _batch_statistics(x: Expr, eps: Scalar) -> tuple[Expr, Expr, Expr]:
    """Mean, reciprocal standard deviation, and the variance with n - 1."""
    n = f.row_length(x.kind)
    mean = f.sum_(x) / n
    d = x - mean
    squares = pooled_squares(d * d, n, mean)
    return mean, f.rsqrt(squares / n + eps), squares / (n - 1.0)


@batch_norm.backward
def _batch_norm_backward(
    dy: Expr,
    x: Expr,
    mean: Expr | None,
    rstd: Expr | None,
    running_mean: Own | None = None,
    running_var: Own | None = None,
    weight: Own | None = None,
    *,
    training: bool = False,
    momentum: UnitInterval = 0.1,
    eps: NonNegative = 1e-5,
) -> dict[str, Expr]:
    if mean is not None and rstd is not None:
        return _normalized_gradients(dy, x, mean, rstd, weight, from_x=True)
    assert running_mean is not None
    assert running_var is not None
    return _normalized_gradients(dy, x, *_running_statistics(running_mean, running_var, x, eps), weight, from_x=False)


#: What norms with statistics of each sample have in common.
_PER_SAMPLE: dict[str, Any] = {
    "rows": True,
    "axis": _from_second,
    "keepdims": False,
    "results": ("y", "mean", "rstd"),
    "saves": ("mean", "rstd"),
    "extra": ("mean", "rstd"),
    "positions": (),
}


@op(places=dict.fromkeys(_AFFINE, _channel), **_PER_SAMPLE)
def instance_norm(x: Expr, weight: Own | None = None, bias: Own | None = None, *, eps: NonNegative = 1e-5) -> dict[str, Expr]:
    """(x - mean) / sqrt(var + eps) * weight + bias with the mean and variance of each channel of each sample (Ulyanov et al.
    2016). With running statistics in their place it is `batch_norm`.

    Differs from PyTorch: there running statistics come second.
    """
    mean, rstd = statistics(x, eps)
    return {"y": affine((x - mean) * rstd, weight, bias), "mean": mean, "rstd": rstd}


@instance_norm.backward
def _instance_norm_backward(
    dy: Expr, x: Expr, mean: Expr, rstd: Expr, weight: Own | None = None, *, eps: NonNegative = 1e-5
) -> dict[str, Expr]:
    return _normalized_gradients(dy, x, mean, rstd, weight, from_x=True)


def _grouped(rank: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    return (1, 2)


_GROUPED = dict.fromkeys(_AFFINE, _grouped)


@op(places=_GROUPED, **_PER_SAMPLE)
def group_norm(x: Expr, weight: Own | None = None, bias: Own | None = None, *, eps: NonNegative = 1e-5) -> dict[str, Expr]:
    """(x - mean) / sqrt(var + eps) * weight + bias with the mean and variance of each group of channels of each sample (Wu and
    He 2018). x is (samples, groups, channels of a group, ...), weight and bias (groups, channels of a group).

    Differs from PyTorch: there x is (samples, channels, ...), and the number of groups comes second.
    """
    mean, rstd = statistics(x, eps)
    return {"y": affine((x - mean) * rstd, weight, bias), "mean": mean, "rstd": rstd}


group_norm.backward(normalized_backward)


@op(places=_GROUPED, **_PER_SAMPLE)
def group_norm_silu(x: Expr, weight: Own | None = None, bias: Own | None = None, *, eps: NonNegative = 1e-5) -> dict[str, Expr]:
    """silu(group_norm(x)), in one pass; the tensors are those of `group_norm`."""
    mean, rstd = statistics(x, eps)
    z = affine((x - mean) * rstd, weight, bias)
    return {"y": z * f.sigmoid(z), "mean": mean, "rstd": rstd}


@group_norm_silu.backward
def _group_norm_silu_backward(
    dy: Expr,
    x: Expr,
    mean: Expr,
    rstd: Expr,
    weight: Own | None = None,
    bias: Own | None = None,
    *,
    eps: NonNegative = 1e-5,
) -> dict[str, Expr]:
    n = (x - mean) * rstd
    z = affine(n, weight, bias)
    gate = f.sigmoid(z)
    dz = dy * (gate * (1.0 + z * (1.0 - gate)))
    return {"dx": through_standardization(scaled(dz, weight), n, rstd), "dweight": dz * n, "dbias": dz}
