"""Convolutions."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.aten.gradients import masked
from baracuda.torch.registry import serves

aten = torch.ops.aten


def _named(rank: int, transposed: bool, backward: bool = False) -> Any:
    return getattr(baracuda, f"conv{'_transpose' if transposed else ''}{rank}d{'_backward' if backward else ''}")


def _options(stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any, groups: int) -> dict[str, Any]:
    own = {"output_padding": tuple(output_padding)} if transposed else {}
    return {"stride": tuple(stride), "padding": tuple(padding), "dilation": tuple(dilation), "groups": groups, **own}


@serves(aten.convolution.default)
def convolution(x: Any, weight: Any, bias: Any, *options: Any) -> Any:
    return _named(weight.ndim - 2, options[3])(x, weight, bias, **_options(*options))


@serves(aten.convolution_backward.default)
def convolution_backward(dy: Any, x: Any, weight: Any, bias_sizes: Any, *rest: Any) -> Any:
    *options, output_mask = rest
    bias = dy.new_empty(tuple(bias_sizes)) if bias_sizes and output_mask[2] else None  # its shape is what counts

    def gradients(wrt: tuple[str, ...]) -> Any:
        return _named(weight.ndim - 2, options[3], True)(dy, x, weight, bias, **_options(*options), wrt=wrt)

    return masked(gradients, ("x", "weight", "bias"), output_mask, (True, True, bias is not None))
