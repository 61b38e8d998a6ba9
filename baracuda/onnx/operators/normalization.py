"""Normalizations and dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

import baracuda
from baracuda.core.errors import InvalidProblemError
from baracuda.onnx.operators.elements import to_element
from baracuda.onnx.operators.registry import Key, Wanted, operator
from baracuda.onnx.operators.values import Host, Tensor, near, positive, scalar


@operator("BatchNormalization", since=7)
def batch_norm(
    x: Tensor,
    scale: Tensor,
    bias: Tensor,
    mean: Tensor,
    var: Tensor,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    spatial: int = 1,
    training_mode: bool = False,
) -> Any:
    """`baracuda.batch_norm`; in training with x's own statistics, the running ones moved towards them."""
    if not training_mode:
        return baracuda.batch_norm(x, mean, var, scale, bias, eps=epsilon)
    over = tuple(i for i in range(len(x.shape)) if i != 1)
    own_var, own_mean = baracuda.var_mean(x, axis=over)
    y = baracuda.batch_norm(x, own_mean, own_var, scale, bias, eps=epsilon)

    def moved(old: Tensor, new: Tensor) -> Tensor:
        return baracuda.lerp(to_element(new, old.dtype), old, near(momentum, old))

    return y, moved(mean, own_mean), moved(var, own_var)


@operator("InstanceNormalization")
def instance_norm(x: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float = 1e-5) -> Tensor:
    """`baracuda.instance_norm`."""
    return baracuda.instance_norm(x, scale, bias, eps=epsilon)


@operator("LayerNormalization", since=17)
def layer_norm(
    x: Tensor, scale: Tensor, bias: Tensor = None, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1, wanted: Wanted
) -> Any:
    """`baracuda.layer_norm` over the axes from `axis` on."""
    at = positive(axis, len(x.shape))
    row = tuple(x.shape[at:])
    over = tuple(range(at, len(x.shape)))
    scale = baracuda.broadcast_to(scale, row)
    bias = None if bias is None else baracuda.broadcast_to(bias, row)
    if wanted < 2:
        return baracuda.layer_norm(x, scale, bias, axis=over, eps=epsilon)
    y, mean, rstd = baracuda.layer_norm(x, scale, bias, axis=over, eps=epsilon, saved=True)
    kept = (*x.shape[:at], *(1,) * len(row))
    return y, baracuda.reshape(mean, kept), baracuda.reshape(rstd, kept)


@operator("RMSNormalization", since=23)
def rms_norm(x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1) -> Tensor:
    """`baracuda.rms_norm` over the axes from `axis` on."""
    at = positive(axis, len(x.shape))
    over = tuple(range(at, len(x.shape)))
    return baracuda.rms_norm(x, baracuda.broadcast_to(scale, tuple(x.shape[at:])), axis=over, eps=epsilon)


@operator("GroupNormalization", since=18)
def group_norm_by_groups(x: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float = 1e-5, num_groups: int) -> Tensor:
    """`baracuda.group_norm` with a weight for each group."""
    if num_groups < 1 or x.shape[1] % num_groups:
        raise InvalidProblemError(f"num_groups: {num_groups}; expected a divisor of {x.shape[1]} channels")
    each = x.shape[1] // num_groups
    weights = [baracuda.repeat_interleave(w, each, axis=0) for w in (scale, bias)]
    return baracuda.group_norm(x, *weights, num_groups=num_groups, eps=epsilon)


@operator("GroupNormalization", since=21)
def group_norm(x: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float = 1e-5, num_groups: int, stash_type: int = 1) -> Tensor:
    """`baracuda.group_norm`."""
    return baracuda.group_norm(x, scale, bias, num_groups=num_groups, eps=epsilon)


@operator("LRN")
def lrn(x: Tensor, *, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0, size: int) -> Tensor:
    """`baracuda.local_response_norm`, whose even windows have their larger half before the element, ONNX's behind."""
    if size % 2:
        return baracuda.local_response_norm(x, size, alpha, beta, bias)
    return baracuda.flip(baracuda.local_response_norm(baracuda.flip(x, 1), size, alpha, beta, bias), 1)


@operator("LpNormalization")
def lp_normalization(x: Tensor, *, axis: int = -1, p: int = 2) -> Tensor:
    """`baracuda.normalize`."""
    return baracuda.normalize(x, p=p, axis=axis)


@operator("Dropout", since=7)
def dropout_by_attribute(x: Tensor, *, ratio: float = 0.5, wanted: Wanted) -> Any:
    """x itself: an older Dropout drops nothing where a model is run."""
    return (x, baracuda.ones_like(x, np.dtype(bool))) if wanted > 1 else x


@operator("Dropout", since=12)
def dropout(
    x: Tensor, ratio: Host = None, training_mode: Host = None, *, seed: int | None = None, wanted: Wanted, key: Key
) -> Any:
    """x itself, or in training `baracuda.dropout` with the node's key."""
    p = 0.5 if ratio is None else float(scalar(ratio))
    if training_mode is None or not scalar(training_mode) or p == 0.0:
        return (x, baracuda.ones_like(x, np.dtype(bool))) if wanted > 1 else x
    y = baracuda.dropout(x, key, p)
    if wanted < 2:
        return y
    kept = baracuda.dropout(baracuda.ones_like(x), key, p)
    return y, baracuda.ne(kept, near(0, kept))
