"""Losses."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves

aten = torch.ops.aten
REDUCTIONS = ("none", "mean", "sum")


def _axis(x: Any) -> int:
    return 1 if x.ndim > 1 else 0


@serves(aten.nll_loss_forward.default, aten.nll_loss2d_forward.default)
def nll_loss(x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    return baracuda.nll_loss(
        x, target, weight, axis=_axis(x), ignore_index=ignore_index, reduction=REDUCTIONS[reduction], saved=True
    )


@serves(aten.nll_loss_backward.default, aten.nll_loss2d_backward.default)
def nll_loss_backward(dy: Any, x: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total: Any) -> Any:
    return baracuda.nll_loss_backward(
        dy, x, target, weight, total, axis=_axis(x), ignore_index=ignore_index, reduction=REDUCTIONS[reduction], wrt=("x",)
    )


@serves(aten.mse_loss.default)
def mse_loss(x: Any, target: Any, reduction: int = 1) -> Any:
    return baracuda.mse_loss(x, target, reduction=REDUCTIONS[reduction])


@serves(aten.mse_loss_backward.default)
def mse_loss_backward(dy: Any, x: Any, target: Any, reduction: int) -> Any:
    return baracuda.mse_loss_backward(dy, x, target, reduction=REDUCTIONS[reduction], wrt=("x",))
