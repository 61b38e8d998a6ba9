"""Steps of optimizers in one function."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves

aten = torch.ops.aten


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
        if grad_scale is not None or found_inf is not None:
            raise baracuda.UnsupportedError("a fused step with grad_scale or found_inf; expected neither")
        words = {"beta1": beta1, "beta2": beta2, "weight_decay": weight_decay, "eps": eps, "maximize": maximize}
        for i, (p, g, m, v, step) in enumerate(zip(params, grads, averages, squares, steps, strict=True)):
            most = [largest[i]] if amsgrad else []
            step_of(p, g, m, v, lr, step, *most, **words, out=(p, m, v, *most))

    return adam


serves(aten._fused_adamw_.default, aten._fused_adamw_.tensor_lr, writes=True)(_adam(baracuda.adamw_step))
serves(aten._fused_adam_.default, aten._fused_adam_.tensor_lr, writes=True)(_adam(baracuda.adam_step))
