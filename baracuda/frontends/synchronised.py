"""Batch norm with statistics over several devices: its pieces, with the caller's communication between them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import function
from baracuda.frontends.views import filled
from baracuda.ops.declaration.words import Eps

#: From a tensor of this device, those of every device, one after another along a new first axis.
Gather = Callable[[Any], Any]
#: From a tensor of this device, the sum over every device.
Add = Callable[[Any], Any]


def _with_leading_axis(value: Any) -> Any:
    return value[None]


def _itself(value: Any) -> Any:
    return value


_OF_CHANNELS = dict.fromkeys(("weight", "bias", "running_mean", "running_var"), "channels : float")


@declared(x="samples channels ... : float", **_OF_CHANNELS)
def sync_batch_norm(
    x: Any,
    weight: Any = None,
    bias: Any = None,
    running_mean: Any = None,
    running_var: Any = None,
    *,
    gather: Gather = _with_leading_axis,
    momentum: float = 0.1,
    eps: Eps = 1e-5,
) -> tuple[Any, ...]:
    """Batch norm of (samples, channels, ...) with the mean and variance of the elements of every device.

    `gather` takes a tensor to those of all devices, stacked along a new first axis (an all-gather); by default there is one
    device. It is called on the mean, 1 / sqrt(var + eps) and the number of elements of each channel.

    Returns y, then what the backward needs: mean, rstd and count, a tensor without axes, all of every device; and, where
    they are given, the new running mean and variance. Results have the same bits on every device.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> y, mean, rstd, count = baracuda.sync_batch_norm(np.float32([[1], [3]]))
    >>> y.round(3).tolist(), mean.tolist(), float(count)
    ([[-1.0], [1.0]], [2.0], 2.0)
    """
    ref = describe(x, "x")
    mean, rstd = function("batch_norm_stats")(x, eps=eps)
    own = filled(x, (), ElementKind.S64, prod(n for a, n in enumerate(ref.shape) if a != 1))
    counts = gather(own)
    mean, rstd, *running = function("batch_norm_gather_stats")(
        gather(mean), gather(rstd), counts, running_mean, running_var, momentum=momentum, eps=eps
    )
    count = function("sum")(counts)
    y = function("batch_norm_elemt")(x, mean, rstd, weight, bias)
    return (y, mean, rstd, count, *running)


@declared(
    x="samples channels *rest : float", dy="samples channels *rest : float", weight="channels or none : float",
    mean="channels : float", rstd="channels : float", count="()",
)  # fmt: skip
def sync_batch_norm_backward(
    dy: Any, x: Any, weight: Any, mean: Any, rstd: Any, count: Any, *, add: Add = _itself
) -> tuple[Any, Any, Any]:
    """The gradients of `sync_batch_norm`'s x, weight and bias; those of weight and bias are this device's share of the sum.

    mean, rstd and count are its results; weight may be None. `add` takes a tensor to its sum over all devices (an
    all-reduce); it is called on the sums of dy and of dy * (x - mean) of each channel.
    """
    total, products, dweight, dbias = function("batch_norm_backward_reduce")(dy, x, mean, rstd)
    dx = function("batch_norm_backward_elemt")(dy, x, mean, rstd, add(total), add(products), count, weight)
    return dx, dweight, dbias
