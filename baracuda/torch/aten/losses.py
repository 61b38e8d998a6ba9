"""Losses."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.aten.elements import converted
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


@serves(aten.multi_margin_loss.default)
def multi_margin_loss(x: Any, target: Any, p: Any = 1, margin: Any = 1, weight: Any = None, reduction: int = 1) -> Any:
    return baracuda.multi_margin_loss(x, target, weight, p=int(p), margin=margin, reduction=REDUCTIONS[reduction])


@serves(aten.multi_margin_loss_backward.default)
def multi_margin_loss_backward(dy: Any, x: Any, target: Any, p: Any, margin: Any, weight: Any = None, reduction: int = 1) -> Any:
    return baracuda.multi_margin_loss_backward(
        dy, x, target, weight, p=int(p), margin=margin, reduction=REDUCTIONS[reduction], wrt=("x",)
    )


@serves(aten.multilabel_margin_loss_forward.default)
def multilabel_margin_loss(x: Any, target: Any, reduction: int) -> tuple[Any, Any]:
    """The loss, and which classes are targets: those before the first negative number of a row."""
    loss = baracuda.multilabel_margin_loss(x, target, reduction=REDUCTIONS[reduction])
    counts = baracuda.cumprod(converted(baracuda.ge(target, 0), x.dtype), -1)
    named = baracuda.where(baracuda.gt(counts, 0), target, 0)
    found = baracuda.scatter_reduce(
        baracuda.full(tuple(x.shape), 0, x.dtype, like=x), named, counts, reduce="amax", axis=x.ndim - 1
    )
    return loss, found


@serves(aten.multilabel_margin_loss_backward.default)
def multilabel_margin_loss_backward(dy: Any, x: Any, target: Any, reduction: int, is_target: Any) -> Any:
    return baracuda.multilabel_margin_loss_backward(dy, x, target, reduction=REDUCTIONS[reduction])


@serves(aten._ctc_loss.default, aten._ctc_loss.Tensor)
def ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, zero_infinity: bool = False
) -> tuple[Any, Any]:
    """The loss of each of the batch, infinite where there is no alignment (PyTorch replaces that above this), and alpha."""
    lengths = [_lengths(n, log_probs) for n in (input_lengths, target_lengths)]
    nll, alpha = baracuda.ctc_loss(log_probs, targets, *lengths, blank, "none", saved=True)[-2:]
    return nll, alpha


@serves(aten._ctc_loss_backward.default, aten._ctc_loss_backward.Tensor)
def ctc_loss_backward(
    dy: Any,
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    nll: Any,
    alpha: Any,
    blank: int,
    zero_infinity: bool = False,
) -> Any:
    lengths = [_lengths(n, log_probs) for n in (input_lengths, target_lengths)]
    return baracuda.ctc_loss_backward(
        dy, log_probs, targets, *lengths, nll, alpha, blank=blank, reduction="none", zero_infinity=zero_infinity
    )


def _lengths(given: Any, like: Any) -> Any:
    """Lengths as a tensor beside the others."""
    if not isinstance(given, torch.Tensor):
        given = torch.tensor(given, dtype=torch.int64)
    return given if given.device == like.device else given.to(like.device)
