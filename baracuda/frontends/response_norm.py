"""Global response normalization, forward and backward: several plans, each over one set of axes."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import function
from baracuda.frontends.function import Function
from baracuda.ops.declaration.composition import chosen, one_or_all
from baracuda.ops.declaration.totals import total
from baracuda.ops.declaration.words import Eps, Wrt
from baracuda.ops.normalization.response_norms import channel_lengths, channel_products, input_gradient, weight_gradient

_lengths, _products, _dx, _dweight, _total = map(
    Function, (channel_lengths, channel_products, input_gradient, weight_gradient, total)
)


def _between(x: Any) -> tuple[int, ...]:
    """The axes between samples and channels."""
    return tuple(range(1, len(describe(x, "x").shape) - 1))


def _lengths_of_channels(samples: int, rest: tuple[int, ...], channels: int) -> tuple[int, ...]:
    return (samples, 1, *(1 for _ in rest), channels)


_TENSORS: dict[str, str] = {"x": "samples between *rest channels : float", "weight": "channels", "bias": "channels"}


@declared(**_TENSORS, norms=_lengths_of_channels)
def global_response_norm(x: Any, weight: Any = None, bias: Any = None, norms: Any = None, *, eps: Eps = 1e-6) -> Any:
    """x + weight * x * n + bias with n = g / (mean of g over the channels + eps), g the length of each channel of a sample
    (Woo et al. 2023, ConvNeXt V2).

    x is (samples, ..., channels), weight and bias (channels). norms, (samples, 1, ..., channels), are g where the caller has it.
    """
    lengths = _lengths(x, axis=_between(x)) if norms is None else norms
    return function("global_response_norm")(x, weight, bias, lengths, eps=eps)


@declared(**_TENSORS, dy="samples between *rest channels : float")
def global_response_norm_backward(
    dy: Any, x: Any, weight: Any = None, bias: Any = None, *, eps: Eps = 1e-6, wrt: Wrt = None
) -> Any:
    """The gradients of `global_response_norm`'s x, weight and bias, those named in `wrt` or all that are given."""
    given = {"x": x, "weight": weight, "bias": bias}
    names = chosen(wrt, tuple(n for n, v in given.items() if v is not None))
    axes = _between(x)
    made: dict[str, Any] = {}
    if {"x", "weight"} & {*names}:
        lengths, products = _lengths(x, axis=axes), _products(dy, x, axis=axes)
        if "x" in names:
            made["x"] = _dx(dy, x, lengths, products, weight, eps=eps)
        if "weight" in names:
            made["weight"] = _over_all(_dweight(products, lengths, eps=eps), weight, "weight")
    if "bias" in names:
        made["bias"] = _over_all(dy, bias, "bias")
    found = tuple(made[n] for n in names)
    return one_or_all(found)


def _over_all(x: Any, like: Any, name: str) -> Any:
    """The sum over all axes but the channels, in the element of the tensor it is the gradient of."""
    ref = describe(like, name)
    kind: ElementKind = ref.kind
    rank = len(describe(x, name).shape)
    return _total(x, axis=tuple(range(rank - 1)), dtype=kind).reshape(ref.shape)
