"""Losses of policies: preferences and clipped ratios, from log-probabilities."""

from __future__ import annotations

from typing import Literal

from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast
from baracuda.ops.declaration.traced import NonNegative, Own, Positive, UnitInterval
from baracuda.ops.losses.common import Weighted, pointwise_loss
from baracuda.ops.losses.pointwise import positive_part, softplus_of_negative

_PREFERENCES = ("sigmoid", "hinge", "ipo")


@pointwise_loss(constants=("reference_chosen", "reference_rejected"))
def dpo_loss(
    chosen: Expr,
    rejected: Expr,
    reference_chosen: Expr,
    reference_rejected: Expr,
    *,
    beta: Positive = 0.1,
    label_smoothing: UnitInterval = 0.0,
    loss_type: Literal["sigmoid", "hinge", "ipo"] = "sigmoid",
) -> Expr:
    """Direct preference optimisation (Rafailov et al. 2023) of the log-probabilities of whole answers, under the policy and
    under the reference: with h = (chosen - rejected) - (reference_chosen - reference_rejected),

    - "sigmoid": (1 - label_smoothing) * softplus(-beta h) + label_smoothing * softplus(beta h)
    - "hinge": max(0, 1 - beta h) (Zhao et al. 2023)
    - "ipo": (h - 1 / (2 beta))**2 (Azar et al. 2024)
    """
    h = (chosen - rejected) - (reference_chosen - reference_rejected)
    if loss_type == "sigmoid":
        z = beta * h
        sides = (1.0 - label_smoothing) * f.maximum(-z, 0.0) + label_smoothing * f.maximum(z, 0.0)
        return sides + softplus_of_negative(z)
    if loss_type == "hinge":
        return positive_part(1.0 - beta * h)
    d = h - 0.5 / beta
    return d * d


@pointwise_loss(constants=("old_log_probs", "advantages", "reference_log_probs", "mask"))
def ppo_clip_loss(
    log_probs: Expr,
    old_log_probs: Expr,
    advantages: Expr,
    reference_log_probs: Expr | None = None,
    mask: Own | None = None,
    *,
    clip_low: UnitInterval = 0.2,
    clip_high: NonNegative = 0.2,
    kl_weight: NonNegative = 0.04,
) -> Expr | Weighted:
    """The clipped policy loss (Schulman et al. 2017): with r = e**(log_probs - old_log_probs),

        -min(r * advantages, clamp(r, 1 - clip_low, 1 + clip_high) * advantages)

    With `reference_log_probs`, kl_weight * (e**d - d - 1) is added for d = reference_log_probs - log_probs, the estimate of
    the divergence that GRPO uses (Shao et al. 2024). Where `mask` (numbers or bool) is 0 a token counts nothing, and a mean
    is over the sum of the mask.
    """
    ratio = f.exp(log_probs - old_log_probs)
    loss = -f.minimum(ratio * advantages, f.clamp(ratio, 1.0 - clip_low, 1.0 + clip_high) * advantages)
    if reference_log_probs is not None:
        d = reference_log_probs - log_probs
        loss = loss + kl_weight * (f.expm1(d) - d)
    if mask is None:
        return loss
    weight = cast(mask, loss.kind)
    return Weighted(f.where(f.equal(weight, 0.0), 0.0, loss * weight), weight)
