"""Losses of one element each: regression, binary classification, densities, policies."""

from __future__ import annotations

import math
from typing import Annotated

from baracuda.core.bounds import AtMost
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, as_expr, compare, select
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import NonNegative, Positive, Scalar, UnitInterval, Value
from baracuda.ops.losses.common import REDUCTIONS, Weighted, pointwise_loss

_BATCHMEAN = (*REDUCTIONS, "batchmean")


def _weighted(loss: Expr, weight: Expr | None) -> Expr | Weighted:
    return loss if weight is None else Weighted(loss * weight, weight)


def positive_part(x: Expr) -> Expr:
    """max(x, 0), whose gradient at 0 is 1; NaN stays NaN."""
    return select(x < 0.0, 0.0, x)


def softplus_of_negative(x: Expr) -> Expr:
    """log(1 + e**-|x|): softplus(x) is max(x, 0) plus this, and softplus(-x) is max(-x, 0) plus this.

    Written so, neither a loss nor its gradient cancels at either end.
    """
    return f.log1p(f.exp(-abs(x)))


# --- regression -------------------------------------------------------------------------------------------------------


@pointwise_loss(constants=("weight",))
def mse_loss(x: Expr, target: Expr, weight: Expr | None = None) -> Expr | Weighted:
    """weight * (x - target)**2; a mean is over the sum of the weights."""
    d = x - target
    return _weighted(d * d, weight)


@pointwise_loss(constants=("weight",))
def l1_loss(x: Value, target: Value, weight: Value | None = None) -> Expr | Weighted:
    """weight * |x - target|; a mean is over the sum of the weights."""
    return _weighted(abs(x - target), weight.re if isinstance(weight, Complex) else weight)


@pointwise_loss()
def smooth_l1_loss(x: Expr, target: Expr, *, beta: NonNegative = 1.0) -> Expr:
    """d**2 / (2 beta) for d = |x - target| below beta, else d - beta / 2; the absolute difference for beta = 0."""
    d = abs(x - target)
    return select(d < beta, 0.5 * d * d / beta, d - 0.5 * beta)


@pointwise_loss(constants=("weight",))
def huber_loss(x: Expr, target: Expr, weight: Expr | None = None, *, delta: Positive = 1.0) -> Expr:
    """weight times d**2 / 2 for d = |x - target| up to delta, delta * (d - delta / 2) beyond; a mean is over the number of
    elements, whatever their weights."""
    d = abs(x - target)
    loss = select(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta))
    return loss if weight is None else loss * weight


@pointwise_loss()
def log_cosh_loss(x: Expr, target: Expr) -> Expr:
    """log(cosh(d)) for d = x - target, as log1p(2 sinh(d / 2)**2) where that is accurate, else |d| + log1p(e**(-2|d|)) -
    log 2."""
    d = abs(x - target)
    s = f.sinh(0.5 * f.minimum(d, 1.0))
    return select(d < 1.0, f.log1p(2.0 * s * s), d + (f.log1p(f.exp(-2.0 * d)) - math.log(2.0)))


@log_cosh_loss.backward
def _log_cosh_loss_backward(dy: Expr, x: Expr, target: Expr, *, reduction: str) -> dict[str, Expr]:
    """dy * tanh(x - target)."""
    slope = (dy / f.row_length(dy.kind) if reduction == "mean" else dy) * f.tanh(x - target)
    return {"dx": slope, "dtarget": -slope}


# --- binary classification --------------------------------------------------------------------------------------------


@pointwise_loss(constants=("weight",))
def binary_cross_entropy(x: Expr, target: Expr, weight: Expr | None = None) -> Expr:
    """-weight * (target * log(x) + (1 - target) * log(1 - x)), each logarithm limited to -100 below.

    Differs from PyTorch: it raises for an input that is no probability, where here the loss is NaN or limited.
    """
    yes, no = f.maximum(f.log(x), -100.0), f.maximum(f.log1p(-x), -100.0)
    loss = (target - 1.0) * no - target * yes
    return loss if weight is None else loss * weight


@pointwise_loss(constants=("weight", "pos_weight"))
def binary_cross_entropy_with_logits(x: Expr, target: Expr, weight: Expr | None = None, pos_weight: Expr | None = None) -> Expr:
    """weight * (pos_weight * target * softplus(-x) + (1 - target) * softplus(x))."""
    loss = _with_logits(x, target if pos_weight is None else target * pos_weight, 1.0 - target)
    return loss if weight is None else loss * weight


def _with_logits(x: Expr, yes: Expr, no: Expr) -> Expr:
    """yes * softplus(-x) + no * softplus(x)."""
    return yes * f.maximum(-x, 0.0) + no * f.maximum(x, 0.0) + (yes + no) * softplus_of_negative(x)


@pointwise_loss(reduction="none")
def focal_loss(x: Expr, target: Expr, *, alpha: Annotated[Scalar, AtMost(1)] = 0.25, gamma: NonNegative = 2.0) -> Expr:
    """The sigmoid focal loss (Lin et al. 2017): with p the probability given to the target,

        (alpha * target + (1 - alpha) * (1 - target)) * (1 - p)**gamma * -log(p)

    A negative alpha leaves out the first factor.
    """
    missed = f.sigmoid(x) * (1.0 - target) + f.sigmoid(-x) * target
    loss = _with_logits(x, target, 1.0 - target) * f.pow_(missed, gamma)
    return select(compare("lt", as_expr(alpha, loss.kind), 0.0), loss, (alpha * target + (1.0 - alpha) * (1.0 - target)) * loss)


@pointwise_loss()
def soft_margin_loss(x: Expr, target: Expr) -> Expr:
    """log(1 + e**(-target * x)), target 1 or -1."""
    z = target * x
    return f.maximum(-z, 0.0) + softplus_of_negative(z)


@pointwise_loss(Rule.FLOATING, positions=("margin",))
def hinge_embedding_loss(x: Expr, target: Expr, *, margin: NonNegative = 1.0) -> Expr:
    """x where target is 1, max(0, margin - x) where it is -1; their sum for another target."""
    dissimilar = select(f.equal(target, 1.0), 0.0, positive_part(margin - x))
    return dissimilar + select(f.equal(target, -1.0), 0.0, x)


@pointwise_loss(Rule.FLOATING, positions=("margin",))
def margin_ranking_loss(a: Expr, b: Expr, target: Expr, *, margin: NonNegative = 0.0) -> Expr:
    """max(0, margin - target * (a - b)), target 1 where a is to rank higher, else -1."""
    return positive_part(margin - target * (a - b))


# --- densities --------------------------------------------------------------------------------------------------------


@pointwise_loss(modes=_BATCHMEAN)
def kl_div(x: Expr, target: Expr, *, log_target: bool = False) -> Expr:
    """target * (log(target) - x), where x is a logarithm of probabilities; e**target * (target - x) with
    log_target. A target of 0 counts 0."""
    if log_target:
        return f.exp(target) * (target - x)
    return select(f.equal(target, 0.0), 0.0, target * f.log(target)) - target * x


@pointwise_loss(modes=_BATCHMEAN)
def jsd_loss(x: Expr, target: Expr, *, beta: UnitInterval = 0.5) -> Expr:
    """The generalised Jensen-Shannon divergence of P = e**target and Q = e**x (logarithms of probabilities), term by term:

        beta * P * (target - log M) + (1 - beta) * Q * (x - log M),  M = beta * P + (1 - beta) * Q

    For beta = 0 it is KL(P || Q), P * (target - x), and for beta = 1 KL(Q || P), as in distillation (Agarwal et al. 2024).
    A probability of 0 counts 0.
    """
    p, q, beta = f.exp(target), f.exp(x), as_expr(beta, x.kind)
    top = f.maximum(x, target)
    middle = top + f.log(beta * f.exp(target - top) + (1.0 - beta) * f.exp(x - top))
    inside = beta * _term(p, target, middle) + (1.0 - beta) * _term(q, x, middle)
    return select(f.equal(beta, 0.0), _term(p, target, x), select(f.equal(beta, 1.0), _term(q, x, target), inside))


def _term(p: Expr, log_p: Expr, log_m: Expr) -> Expr:
    """p * (log_p - log_m), and 0 for p = 0."""
    return select(f.equal(p, 0.0), 0.0, p * (log_p - log_m))


@pointwise_loss(Rule.FLOATING, takes="float,int", positions=("log_input", "full"))
def poisson_nll_loss(x: Expr, target: Expr, *, log_input: bool = True, full: bool = False, eps: NonNegative = 1e-8) -> Expr:
    """e**x - target * x; x - target * log(x + eps) without log_input. `full` adds Stirling's approximation of
    log(target!), target * log(target) - target + log(2 pi target) / 2, for a target above 1."""
    loss = f.exp(x) - target * x if log_input else x - target * f.log(x + eps)
    if not full:
        return loss
    return loss + select(target > 1.0, target * f.log(target) - target + 0.5 * f.log(2.0 * math.pi * target), 0.0)


def _but_the_last(rank: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(range(rank - 1))


@pointwise_loss(places={"var": _but_the_last}, positions=("full", "eps", "reduction"))
def gaussian_nll_loss(x: Expr, target: Expr, var: Expr, *, full: bool = False, eps: NonNegative = 1e-6) -> Expr:
    """(log(v) + (x - target)**2 / v) / 2 with v = max(var, eps), plus log(2 pi) / 2 where `full` is set.

    `var` is a number, or broadcasts to the input and has its rank; or it lacks the last axis and is one variance for each row.
    The gradient passes the limit eps unchanged, as in PyTorch. A negative variance counts as eps.
    """
    v = f.maximum(var, eps)
    d = x - target
    loss = 0.5 * (f.log(v) + d * d / v)
    return loss + 0.5 * math.log(2.0 * math.pi) if full else loss


@gaussian_nll_loss.backward
def _gaussian_nll_loss_backward(
    dy: Expr, x: Expr, target: Expr, var: Expr, *, full: bool, eps: Scalar, reduction: str
) -> dict[str, Expr]:
    """dx = dy * (x - target) / v, dtarget = -dx, dvar = dy / 2 * (1 / v - ((x - target) / v)**2)."""
    dy = dy / f.row_length(dy.kind) if reduction == "mean" else dy
    v = f.maximum(var, eps)
    slope = (x - target) / v
    return {"dx": dy * slope, "dtarget": -(dy * slope), "dvar": 0.5 * dy * (1.0 / v - slope * slope)}
