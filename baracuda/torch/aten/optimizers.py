"""Steps of optimizers in one function."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves
from baracuda.torch.write import write

aten = torch.ops.aten


def skipped(grads: Any, grad_scale: Any, found_inf: Any) -> bool:
    """Whether a scaled loss was too large for this step; if it was not, gradients become those of the loss itself."""
    if found_inf is not None and found_inf.item():
        return True
    if grad_scale is not None:
        for g in grads:
            write(g, baracuda.div(g, grad_scale))
    return False


def _adam(step_of: Any) -> Any:
    def adam(
        params: Any,
        grads: Any,
        averages: Any,
        squares: Any,
        largest: Any,
        steps: Any,
        *,
        lr: Any,
        beta1: float,
        beta2: float,
        weight_decay: float,
        eps: float,
        amsgrad: bool,
        maximize: bool,
        grad_scale: Any = None,
        found_inf: Any = None,
    ) -> None:
        if skipped(grads, grad_scale, found_inf):
            return
        words = {"beta1": beta1, "beta2": beta2, "weight_decay": weight_decay, "eps": eps, "maximize": maximize}
        if params:
            most = [largest] if amsgrad else []
            lists = params, grads, averages, squares, lr, steps, *most
            baracuda.multi_tensor_apply(step_of, *lists, **words, out=(params, averages, squares, *most))

    return adam


serves(aten._fused_adamw_.default, aten._fused_adamw_.tensor_lr, writes=True)(_adam(baracuda.adamw_step))
serves(aten._fused_adam_.default, aten._fused_adam_.tensor_lr, writes=True)(_adam(baracuda.adam_step))


@serves(aten._fused_sgd_.default, aten._fused_sgd_.tensor_lr, writes=True)
def sgd(
    params: Any,
    grads: Any,
    buffers: Any,
    *,
    weight_decay: float,
    momentum: float,
    lr: Any,
    dampening: float,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
    grad_scale: Any = None,
    found_inf: Any = None,
) -> None:
    if skipped(grads, grad_scale, found_inf):
        return
    words = {"weight_decay": weight_decay or None, "maximize": maximize}
    if momentum:
        words |= {"momentum": momentum, "dampening": dampening, "nesterov": nesterov, "first": is_first_step}
    for i, (p, g) in enumerate(zip(params, grads, strict=True)):
        buffer = [buffers[i]] if momentum else []
        baracuda.sgd_step(p, g, lr, *buffer, **words, out=(p, *buffer) if momentum else p)
