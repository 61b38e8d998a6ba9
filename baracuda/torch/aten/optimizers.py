"""Steps of optimizers in one function."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.aten.lists import applied
from baracuda.torch.registry import serves

aten = torch.ops.aten


def skipped(grads: Any, grad_scale: Any, found_inf: Any) -> bool:
    """Whether a scaled loss was too large for this step; if it was not, gradients become those of the loss itself."""
    if found_inf is not None and found_inf.item():
        return True
    if grad_scale is not None:
        applied(baracuda.div, [grads, grad_scale], {}, in_place=True)
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
        amsgrad: bool,
        grad_scale: Any = None,
        found_inf: Any = None,
        **words: Any,
    ) -> None:
        if not skipped(grads, grad_scale, found_inf):
            most = [largest] if amsgrad else []
            applied(step_of, [params, grads, averages, squares, lr, list(steps), *most], words, in_place=True)

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
    applied(baracuda.sgd_step, [params, grads, lr, *([buffers] if momentum else [])], words, in_place=True)


@serves(aten._fused_adagrad_.default, aten._fused_adagrad_.tensor_lr, writes=True)
def adagrad(
    params: Any,
    grads: Any,
    sums: Any,
    steps: Any,
    *,
    lr: Any,
    weight_decay: float,
    grad_scale: Any = None,
    found_inf: Any = None,
    **words: Any,
) -> None:
    if not skipped(grads, grad_scale, found_inf):
        words["weight_decay"] = weight_decay or None
        applied(baracuda.adagrad_step, [params, grads, sums, lr, list(steps)], words, in_place=True)
