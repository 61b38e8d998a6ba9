"""Global response normalization, forward and backward: several plans, each over one set of axes."""

from __future__ import annotations

from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.totals import total
from baracuda.ops.declaration.words import Eps, Wrt
from baracuda.ops.normalization import response_norms as r


def _between(x: TensorRef) -> tuple[int, ...]:
    """The axes between samples and channels."""
    return tuple(range(1, len(x.shape) - 1))


def _lengths_of_channels(samples: int, rest: tuple[int, ...], channels: int) -> tuple[int, ...]:
    return (samples, 1, *(1 for _ in rest), channels)


_TENSORS: dict[str, Any] = {"x": "samples between *rest channels : float", "weight": "channels", "bias": "channels"}


@composed(**_TENSORS, norm=_lengths_of_channels)
def global_response_norm(
    do: Steps, x: TensorRef, weight: Given = None, bias: Given = None, norm: Given = None, *, eps: Eps = 1e-6
) -> Any:
    """x + weight * x * n + bias with n = g / (mean of g over the channels + eps), g the length of each channel of a sample
    (Woo et al. 2023, ConvNeXt V2).

    x is (samples, ..., channels), weight and bias (channels). norm, (samples, 1, ..., channels), is g where the caller has it.
    """
    lengths = do.run(r.channel_lengths, {"x": x}, axis=_between(x)) if norm is None else norm
    tensors = {"x": x, "weight": weight, "bias": bias, "norm": lengths}
    return do.run(r.global_response_norm, tensors, eps=eps)


@composed(**_TENSORS, dy="samples between *rest channels : float")
def global_response_norm_backward(
    do: Steps, dy: TensorRef, x: TensorRef, weight: Given = None, bias: Given = None, *, eps: Eps = 1e-6, wrt: Wrt = None
) -> Any:
    """The gradients of `global_response_norm`'s x, weight and bias, those named in `wrt` or all that are given."""
    given = {n: t for n, t in (("x", x), ("weight", weight), ("bias", bias)) if t is not None}
    names = chosen(wrt, tuple(given))
    between, over_all = _between(x), tuple(range(len(x.shape) - 1))
    gradients: dict[str, Any] = {}
    shares: dict[str, TensorRef] = {"bias": dy}
    if {"x", "weight"} & {*names}:
        lengths = do.run(r.channel_lengths, {"x": x}, axis=between)
        products = do.run(r.channel_products, {"dy": dy, "x": x}, axis=between)
        if "x" in names:
            tensors = {"dy": dy, "x": x, "norms": lengths, "products": products, "weight": weight}
            gradients["x"] = do.run(r.input_gradient, tensors, eps=eps)
        if "weight" in names:
            shares["weight"] = do.run(r.weight_gradient, {"products": products, "norms": lengths}, eps=eps)
    for name in (n for n in names if n != "x"):
        summed = do.run(total, {"x": shares[name]}, axis=over_all, dtype=given[name].kind)
        gradients[name] = do.reshaped(summed, given[name].shape)
    return one_or_all([gradients[n] for n in names])
