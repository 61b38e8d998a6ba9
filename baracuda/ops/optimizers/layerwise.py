"""Steps whose length is a share of the parameter's norm, tensor by tensor; conventions as in
`baracuda.ops.optimizers.optimizers`. Norms are canonical sums over all elements of a tensor, in the kind that is computed in."""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, select
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.traced import Decay, NonNegative, Own, Stored, UnitInterval, stored_like
from baracuda.ops.optimizers.optimizers import bias_correction, decayed, descent, moved, replaced
from baracuda.ops.reductions.reductions import norm_of


def _trust(share: Expr, weight_norm: Expr, update_norm: Expr) -> Expr:
    """A ratio of norms; 1 where one of them is 0."""
    return select((weight_norm > 0.0) & (update_norm > 0.0), share, 1.0)


@op(results=("new_param", "new_exp_avg", "new_exp_avg_sq"), rows=True, axis=None, axis_option=False)
def lamb_step(
    param: Own,
    grad: Expr,
    exp_avg: Own,
    exp_avg_sq: Own,
    lr: Own,
    step: Own,
    *,
    beta1: Decay = 0.9,
    beta2: Decay = 0.999,
    eps: NonNegative = 1e-6,
    weight_decay: NonNegative = 0.01,
    most_trust: NonNegative | None = None,
    correct_bias: bool = True,
    maximize: bool = False,
) -> dict[str, Stored]:
    """param - lr * trust * d, d = m / (1 - beta1**step) / (sqrt(v / (1 - beta2**step)) + eps) + weight_decay * param, and
    trust = norm(param) / norm(d) over all elements, 1 where one of them is 0, and at most most_trust where that is given.

    m and v are the moving averages of the gradient and of its square; correct_bias=False leaves both divisions by
    1 - beta**step out. Source: You et al. 2020, "Large batch optimization for deep learning", algorithm 2.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> p, g = np.array([3.0, 4.0]), np.array([0.5, 0.5])
    >>> after, m, v = baracuda.lamb_step(p, g, np.zeros_like(p), np.zeros_like(p), 0.1, 1, weight_decay=0.0)
    >>> float(np.linalg.norm(p - after).round(6))  # a tenth of the norm, which is 5
    0.5
    """
    p, g = descent(param, grad, None, maximize=maximize)
    k = g.kind
    m, v = moved(cast(exp_avg, k), g, beta1), decayed(cast(exp_avg_sq, k), g * g, beta2)
    mean, square = m, v
    if correct_bias:
        t = cast(step, k)
        mean, square = m / bias_correction(beta1, t), v / bias_correction(beta2, t)
    direction = mean / (f.sqrt(square) + eps) + weight_decay * p
    weight_norm, update_norm = norm_of(p, 2), norm_of(direction, 2)
    trust = _trust(weight_norm / update_norm, weight_norm, update_norm)
    trust = trust if most_trust is None else f.minimum(trust, most_trust)
    updated = {"new_param": p - cast(lr, k) * trust * direction, "new_exp_avg": m, "new_exp_avg_sq": v}
    return replaced(updated, param=param, exp_avg=exp_avg, exp_avg_sq=exp_avg_sq)


@op(results=("new_param", "new_momentum_buffer"), rows=True, axis=None, axis_option=False)
def lars_step(
    param: Own,
    grad: Expr,
    lr: Own,
    momentum_buffer: Own | None = None,
    *,
    trust_coefficient: NonNegative = 0.001,
    momentum: UnitInterval = 0.9,
    dampening: UnitInterval = 0.0,
    eps: NonNegative = 1e-8,
    weight_decay: NonNegative = 0.0,
    nesterov: bool = False,
    maximize: bool = False,
    first: bool = False,
) -> dict[str, Stored]:
    """`sgd_step` with the gradient trust * (grad + weight_decay * param) in place of grad:

        trust = trust_coefficient * norm(param) / (norm(grad) + weight_decay * norm(param) + eps)

    over all elements, 1 where norm(param) or norm(grad) is 0. Without a momentum_buffer the step is lr times that gradient.
    Source: You, Gitman and Ginsburg 2017, "Large batch training of convolutional networks".

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.lars_step(np.float32([3, 4]), np.float32([0, 2]), 1.0, trust_coefficient=0.5).round(4).tolist()
    [3.0, 1.5]
    """
    p, g = descent(param, grad, None, maximize=maximize)
    k: ElementKind = g.kind
    rate = cast(lr, k)
    weight_norm, grad_norm = norm_of(p, 2), norm_of(g, 2)
    share = trust_coefficient * weight_norm / (grad_norm + weight_decay * weight_norm + eps)
    scaled = _trust(share, weight_norm, grad_norm) * (g + weight_decay * p)
    if momentum_buffer is None:
        return {"new_param": stored_like(p - rate * scaled, param)}
    moving = scaled if first else momentum * cast(momentum_buffer, k) + (1.0 - dampening) * scaled
    direction = scaled + momentum * moving if nesterov else moving
    return {"new_param": stored_like(p - rate * direction, param), "new_momentum_buffer": stored_like(moving, momentum_buffer)}
