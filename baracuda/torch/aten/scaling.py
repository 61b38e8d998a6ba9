"""Scaling of losses, for gradients that f16 would lose."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves
from baracuda.torch.write import write

aten = torch.ops.aten


@serves(aten._amp_foreach_non_finite_check_and_unscale_.default, writes=True)
def unscale(grads: Any, found_inf: Any, inv_scale: Any) -> None:
    for g in grads:
        unscaled, found = baracuda.grad_unscale(g, inv_scale)
        write(g, unscaled)
        write(found_inf, baracuda.maximum(found_inf, baracuda.cast(found, dtype=found_inf.dtype)))


@serves(aten._amp_update_scale_.default, writes=True)
def update_scale(scale: Any, tracker: Any, found_inf: Any, growth: float, backoff: float, interval: int) -> Any:
    found = baracuda.ne(found_inf, 0).reshape(scale.shape)
    new, counted = baracuda.loss_scale_update(scale, tracker, found, growth, backoff, interval)
    write(tracker, counted)
    return write(scale, new)
