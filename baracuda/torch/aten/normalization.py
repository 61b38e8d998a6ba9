"""Softmax and normalizations."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.aten.elements import converted, dense
from baracuda.torch.aten.gradients import masked
from baracuda.torch.registry import chooses, serves
from baracuda.torch.write import write

aten = torch.ops.aten


@serves(aten._softmax.default)
def softmax(x: Any, dim: int, half_to_float: bool) -> Any:
    return baracuda.softmax(dense(converted(x, torch.float32) if half_to_float else x), dim)


@serves(aten._log_softmax.default)
def log_softmax(x: Any, dim: int, half_to_float: bool) -> Any:
    return baracuda.log_softmax(dense(converted(x, torch.float32) if half_to_float else x), dim)


@serves(aten._safe_softmax.default)
def safe_softmax(x: Any, dim: int, dtype: Any = None) -> Any:
    """Rows of -inf alone give 0."""
    x = converted(x, dtype)
    return baracuda.masked_fill(baracuda.softmax(x, dim), baracuda.eq(baracuda.max(x, dim, True), float("-inf")), 0.0)


@serves(aten._softmax_backward_data.default)
def softmax_backward(dy: Any, y: Any, dim: int, input_dtype: Any) -> Any:
    return converted(baracuda.softmax_backward(dy, y, axis=dim), input_dtype)


@serves(aten._log_softmax_backward_data.default)
def log_softmax_backward(dy: Any, y: Any, dim: int, input_dtype: Any) -> Any:
    return converted(baracuda.log_softmax_backward(dy, y, axis=dim), input_dtype)


def _last(shape: Any) -> Any:
    return tuple(range(-len(shape), 0)) if len(shape) > 1 else -1


@serves(aten.native_layer_norm.default)
def layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    return baracuda.layer_norm(dense(x), weight, bias, axis=_last(shape), eps=eps, saved=True)


@serves(aten.native_layer_norm_backward.default)
def layer_norm_backward(dy: Any, x: Any, shape: Any, mean: Any, rstd: Any, weight: Any, bias: Any, output_mask: Any) -> Any:
    def gradients(wrt: tuple[str, ...]) -> Any:
        return baracuda.layer_norm_backward(dense(dy), dense(x), weight, bias, mean, rstd, axis=_last(shape), wrt=wrt)

    return masked(gradients, ("x", "weight", "bias"), output_mask, (True, weight is not None, bias is not None))


def _batch_norm(x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: float, eps: float) -> Any:
    if not training:
        y = baracuda.batch_norm(x, mean, var, weight, bias, eps=eps)
        return y, x.new_empty(0, dtype=mean.dtype), x.new_empty(0, dtype=mean.dtype)
    y, saved_mean, rstd, *moved = baracuda.batch_norm(x, mean, var, weight, bias, True, momentum, eps, saved=True)
    for target, value in zip((mean, var), moved, strict=False):
        write(target, value)
    return y, saved_mean, rstd


@serves(aten.native_batch_norm.default, aten._native_batch_norm_legit.default, writes=True)
def batch_norm(x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: float, eps: float) -> Any:
    return _batch_norm(x, weight, bias, mean, var, training, momentum, eps)


@serves(aten._native_batch_norm_legit_functional.default)
def batch_norm_functional(
    x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: float, eps: float
) -> tuple[Any, ...]:
    """The running mean and variance are results, as `torch.compile` asks for them."""
    if not training:
        return *_batch_norm(x, weight, bias, mean, var, False, momentum, eps), mean, var
    return baracuda.batch_norm(x, mean, var, weight, bias, True, momentum, eps, saved=True)  # type: ignore[no-any-return]


@serves(aten._native_batch_norm_legit.no_stats)
def batch_norm_no_stats(x: Any, weight: Any, bias: Any, training: bool, momentum: float, eps: float) -> Any:
    return _batch_norm(x, weight, bias, None, None, True, momentum, eps)


@serves(aten._native_batch_norm_legit_no_training.default)
def batch_norm_no_training(x: Any, weight: Any, bias: Any, mean: Any, var: Any, momentum: float, eps: float) -> Any:
    return _batch_norm(x, weight, bias, mean, var, False, momentum, eps)


@serves(aten.native_batch_norm_backward.default)
def batch_norm_backward(
    dy: Any, x: Any, weight: Any, mean: Any, var: Any, saved_mean: Any, rstd: Any, train: bool, eps: float, output_mask: Any
) -> Any:
    def gradients(wrt: tuple[str, ...]) -> Any:
        bias = weight  # its shape is what counts
        if not train:
            return baracuda.batch_norm_backward(dy, None, None, x, mean, var, weight, bias, None, None, eps=eps, wrt=wrt)
        return baracuda.batch_norm_backward(
            dy, None, None, x, None, None, weight, bias, saved_mean, rstd, training=True, eps=eps, wrt=wrt
        )

    given = weight is not None
    return masked(gradients, ("x", "weight", "bias"), output_mask, (True, given, given))


@serves(aten.cudnn_batch_norm.default, writes=True)
def cudnn_batch_norm(x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, momentum: float, eps: float) -> Any:
    """What PyTorch's compiler asks a GPU for."""
    return *_batch_norm(x, weight, bias, mean, var, training, momentum, eps), x.new_empty(0, dtype=torch.uint8)


@serves(aten.cudnn_batch_norm_backward.default)
def cudnn_batch_norm_backward(
    x: Any, dy: Any, weight: Any, mean: Any, var: Any, saved_mean: Any, rstd: Any, eps: float, reserve: Any
) -> Any:
    return batch_norm_backward(dy, x, weight, mean, var, saved_mean, rstd, True, eps, (True, True, True))


@chooses(aten.rms_norm.default)
def rms_norm(x: Any, shape: Any, weight: Any = None, eps: Any = None) -> Any:
    """In the pieces that PyTorch has for a CPU."""
    return aten._fused_rms_norm.default.decompose(x, shape, weight, eps)[0]


@serves(aten._weight_norm_interface.default)
def weight_norm(v: Any, g: Any, dim: int = 0) -> Any:
    y, norm = baracuda.weight_norm(v, g, axis=_others(v, dim), saved=True)
    return y, norm


@serves(aten._weight_norm_interface_backward.default)
def weight_norm_backward(dy: Any, v: Any, g: Any, norm: Any, dim: int) -> Any:
    return baracuda.weight_norm_backward(dy, v, g, norm, axis=_others(v, dim))


def _others(v: Any, dim: int) -> tuple[int, ...]:
    return tuple(i for i in range(v.ndim) if i != dim % v.ndim)


@serves(aten.native_group_norm.default)
def group_norm(x: Any, weight: Any, bias: Any, n: int, c: int, hw: int, group: int, eps: float) -> Any:
    y, mean, rstd = baracuda.group_norm(x, weight, bias, num_groups=group, eps=eps, saved=True)
    return y, mean.reshape(n, group), rstd.reshape(n, group)
