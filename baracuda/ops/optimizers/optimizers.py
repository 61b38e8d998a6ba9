"""Steps of optimizers: a parameter and its state after one more gradient, in one pass over all of them.

Each result is called new_... and stored in the element of what it replaces; written there (`out=(param, exp_avg, ...)`) the
step is in place. The arithmetic is in the kind that the gradient computes in: f32 for 16-bit gradients, so that parameters and
state may be wider. `lr` and `step` (the number of this step, from 1) are tensors without axes or numbers; as tensors they may
change from call to call without another plan, and so may all numbers. With decay rates (beta1, ...) the host computes in double,
so that 1 - beta keeps its digits. `weight_decay` of None leaves it out; `maximize` goes up the gradient instead of down. Where
param is a master of more bits than what the model computes with, model_param is the model's tensor: new_model_param is new_param
in its element, written in the same pass; nothing of it is read.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from baracuda.core.bounds import Above, AtLeast, Below
from baracuda.formula import functions as f
from baracuda.formula import host
from baracuda.formula.expr import Expr, cast, const, select
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.traced import Decay, Host, NonNegative, Own, Scalar, Stored, UnitInterval, stored_like


def moved(average: Expr, value: Expr, beta: Host) -> Expr:
    """beta * average + (1 - beta) * value, exact where both are equal."""
    return average + (value - average) * (1.0 - beta)


def decayed(average: Expr, value: Expr, beta: Host) -> Expr:
    """beta * average + (1 - beta) * value, for what is never negative: nothing cancels."""
    return average * beta + value * (1.0 - beta)


def bias_correction(beta: Host, step: Expr) -> Expr:
    """1 - beta**step."""
    return -f.expm1(step * host.log(beta))


def descent(param: Expr, grad: Expr, weight_decay: Scalar | None, *, maximize: bool) -> tuple[Expr, Expr]:
    """The parameter, in the kind of the gradient, and the direction down, with the decay that is added to it."""
    p, g = cast(param, grad.kind), -grad if maximize else grad
    return p, g if weight_decay is None else g + weight_decay * p


def _sign(x: Expr) -> Expr:
    return select(x > 0.0, const(1.0, x.kind), select(x < 0.0, const(-1.0, x.kind), x * 0.0))


def replaced(updated: dict[str, Expr], *, model_param: Expr | None = None, **tensors: Expr | None) -> dict[str, Stored]:
    """What replaces each tensor that is given, by its name with new_ before; a model's parameter has the new one's values."""
    stored = {f"new_{n}": stored_like(updated[f"new_{n}"], v) for n, v in tensors.items() if v is not None}
    if model_param is not None:
        stored["new_model_param"] = stored_like(updated["new_param"], model_param)
    return stored


# --- gradient descent -------------------------------------------------------------------------------------------------


@op(results=("new_param", "new_momentum_buffer", "new_model_param"))
def sgd_step(
    param: Own,
    grad: Expr,
    lr: Own,
    momentum_buffer: Own | None = None,
    model_param: Own | None = None,
    *,
    momentum: UnitInterval = 0.0,
    dampening: UnitInterval = 0.0,
    weight_decay: NonNegative | None = None,
    nesterov: bool = False,
    maximize: bool = False,
    first: bool = False,
) -> dict[str, Stored]:
    """Gradient descent: param - lr * d, d = grad + weight_decay * param, or with a momentum_buffer
    d = momentum * momentum_buffer + (1 - dampening) * grad (with `first`, grad), and with nesterov grad + momentum * d.

    Source: torch.optim.SGD.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> float(baracuda.sgd_step(np.ones(1, np.float32), np.full(1, 2, np.float32), 0.25)[0])
    0.5
    """
    p, g = descent(param, grad, weight_decay, maximize=maximize)
    rate = cast(lr, g.kind)
    moving = direction = g
    if momentum_buffer is not None:
        moving = g if first else momentum * cast(momentum_buffer, g.kind) + (1.0 - dampening) * g
        direction = g + momentum * moving if nesterov else moving
    updated = {"new_param": p - rate * direction, "new_momentum_buffer": moving}
    return replaced(updated, param=param, momentum_buffer=momentum_buffer, model_param=model_param)


@op()
def weight_decay_decoupled(param: Expr, lr: Own, *, weight_decay: NonNegative = 0.01) -> Expr:
    """param * (1 - lr * weight_decay) (Loshchilov and Hutter 2019)."""
    return param * (1.0 - cast(lr, param.kind) * weight_decay)


@op(results=("new_param", "new_prev", "new_step_size"), ordered=(("step_min", "step_max"),))
def rprop_step(
    param: Own,
    grad: Expr,
    prev: Own,
    step_size: Own,
    *,
    etaminus: Annotated[Scalar, Above(0), Below(1)] = 0.5,
    etaplus: Annotated[Scalar, Above(1)] = 1.2,
    step_min: NonNegative = 1e-6,
    step_max: NonNegative = 50.0,
    maximize: bool = False,
) -> dict[str, Stored]:
    """A step of an element's own size against the sign of its gradient; the size grows where the sign stays and shrinks, with
    no step, where it turned. prev is the last gradient, 0 where it turned (Riedmiller and Braun 1993; torch.optim.Rprop)."""
    p, g = descent(param, grad, None, maximize=maximize)
    both = g * cast(prev, g.kind)
    factor = select(both > 0.0, etaplus * const(1.0, g.kind), select(both < 0.0, etaminus * const(1.0, g.kind), 1.0))
    size = f.clamp(cast(step_size, g.kind) * factor, step_min, step_max)
    step_gradient = select(both < 0.0, 0.0, g)
    return {
        "new_param": stored_like(p - _sign(step_gradient) * size, param),
        "new_prev": stored_like(step_gradient, prev),
        "new_step_size": stored_like(size, step_size),
    }


@op(results=("new_param", "new_exp_avg", "new_model_param"))
def lion_step(
    param: Own,
    grad: Expr,
    exp_avg: Own,
    lr: Own,
    model_param: Own | None = None,
    *,
    beta1: Decay = 0.9,
    beta2: Decay = 0.99,
    weight_decay: NonNegative | None = None,
    maximize: bool = False,
) -> dict[str, Stored]:
    """param * (1 - lr * weight_decay) - lr * sign(beta1 * exp_avg + (1 - beta1) * grad), and the average with beta2 (Chen et
    al. 2023)."""
    p, g = descent(param, grad, None, maximize=maximize)
    rate, m = cast(lr, g.kind), cast(exp_avg, g.kind)
    p = p if weight_decay is None else p * (1.0 - rate * weight_decay)
    updated = {"new_param": p - rate * _sign(decayed(m, g, beta1)), "new_exp_avg": decayed(m, g, beta2)}
    return replaced(updated, param=param, exp_avg=exp_avg, model_param=model_param)


# --- Adam -------------------------------------------------------------------------------------------------------------

_MOMENTS = ("new_param", "new_exp_avg", "new_exp_avg_sq", "new_max_exp_avg_sq", "new_model_param")


def _adam(
    p: Expr, g: Expr, state: dict[str, Expr | None], rate: Expr, step: Expr, betas: tuple[Host, Host], eps: Scalar
) -> dict[str, Any]:
    """The parameter and the state, in the kind of the gradient."""
    first, second, largest = (None if s is None else cast(s, g.kind) for s in state.values())
    assert first is not None
    assert second is not None
    t = cast(step, g.kind)
    m, v = moved(first, g, betas[0]), decayed(second, g * g, betas[1])
    top = v if largest is None else f.maximum(largest, v)
    denominator = f.sqrt(top) / f.sqrt(bias_correction(betas[1], t)) + eps
    updated = {"new_exp_avg": m, "new_exp_avg_sq": v}
    if largest is not None:
        updated["new_max_exp_avg_sq"] = top
    return {"new_param": p - rate / bias_correction(betas[0], t) * (m / denominator), **updated}


@op(results=_MOMENTS)
def adam_step(
    param: Own,
    grad: Expr,
    exp_avg: Own,
    exp_avg_sq: Own,
    lr: Own,
    step: Own,
    max_exp_avg_sq: Own | None = None,
    model_param: Own | None = None,
    *,
    beta1: Decay = 0.9,
    beta2: Decay = 0.999,
    eps: NonNegative = 1e-8,
    weight_decay: NonNegative | None = None,
    maximize: bool = False,
) -> dict[str, Stored]:
    """param - lr * m / (1 - beta1**step) / (sqrt(v / (1 - beta2**step)) + eps), m and v the moving averages of the gradient and
    of its square; with max_exp_avg_sq, of the largest v so far (AMSGrad). weight_decay * param is added to the gradient.

    Source: Kingma and Ba 2015; torch.optim.Adam.
    """
    p, g = descent(param, grad, weight_decay, maximize=maximize)
    state = {"exp_avg": exp_avg, "exp_avg_sq": exp_avg_sq, "max_exp_avg_sq": max_exp_avg_sq}
    updated = _adam(p, g, state, cast(lr, g.kind), step, (beta1, beta2), eps)
    return replaced(updated, param=param, **state, model_param=model_param)


@op(results=_MOMENTS)
def adamw_step(
    param: Own,
    grad: Expr,
    exp_avg: Own,
    exp_avg_sq: Own,
    lr: Own,
    step: Own,
    max_exp_avg_sq: Own | None = None,
    model_param: Own | None = None,
    *,
    beta1: Decay = 0.9,
    beta2: Decay = 0.999,
    eps: NonNegative = 1e-8,
    weight_decay: NonNegative = 0.01,
    maximize: bool = False,
) -> dict[str, Stored]:
    """`adam_step` from param * (1 - lr * weight_decay): the decay does not go through the moving averages.

    Source: Loshchilov and Hutter 2019; torch.optim.AdamW.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> p, g, m, v = np.ones(2), np.array([1.0, -1.0]), np.zeros(2), np.zeros(2)
    >>> _ = baracuda.adamw_step(p, g, m, v, 0.1, 1, weight_decay=0.0, out=(p, m, v))
    >>> p.round(6).tolist()
    [0.9, 1.1]
    """
    p, g = descent(param, grad, None, maximize=maximize)
    rate = cast(lr, g.kind)
    state = {"exp_avg": exp_avg, "exp_avg_sq": exp_avg_sq, "max_exp_avg_sq": max_exp_avg_sq}
    updated = _adam(p * (1.0 - rate * weight_decay), g, state, rate, step, (beta1, beta2), eps)
    return replaced(updated, param=param, **state, model_param=model_param)


@op(results=("new_param", "new_exp_avg", "new_exp_inf"))
def adamax_step(
    param: Own,
    grad: Expr,
    exp_avg: Own,
    exp_inf: Own,
    lr: Own,
    step: Own,
    *,
    beta1: Decay = 0.9,
    beta2: Decay = 0.999,
    eps: NonNegative = 1e-8,
    weight_decay: NonNegative | None = None,
    maximize: bool = False,
) -> dict[str, Stored]:
    """param - lr * m / (1 - beta1**step) / u, u = max(beta2 * u, |grad| + eps) (Kingma and Ba 2015; torch.optim.Adamax)."""
    p, g = descent(param, grad, weight_decay, maximize=maximize)
    k = g.kind
    m, u = moved(cast(exp_avg, k), g, beta1), f.maximum(cast(exp_inf, k) * beta2, abs(g) + eps)
    rate = cast(lr, k) / bias_correction(beta1, cast(step, k))
    updated = {"new_param": p - rate * (m / u), "new_exp_avg": m, "new_exp_inf": u}
    return replaced(updated, param=param, exp_avg=exp_avg, exp_inf=exp_inf)


@op(results=("new_param", "new_exp_avg", "new_exp_avg_sq"))
def nadam_step(
    param: Own,
    grad: Expr,
    exp_avg: Own,
    exp_avg_sq: Own,
    lr: Own,
    step: Own,
    mu_product: Own,
    *,
    beta1: Decay = 0.9,
    beta2: Decay = 0.999,
    eps: NonNegative = 1e-8,
    momentum_decay: Annotated[Host, AtLeast(0)] = 4e-3,
    weight_decay: NonNegative | None = None,
    decoupled_weight_decay: bool = False,
    maximize: bool = False,
) -> dict[str, Stored]:
    """Adam with Nesterov's momentum (Dozat 2016; torch.optim.NAdam).

    mu_product, kept by the caller, is the product of mu_t = beta1 * (1 - 0.96**(t * momentum_decay) / 2) over all steps t up to
    this one; a tensor without axes or a number.
    """
    p, g = descent(param, grad, None if decoupled_weight_decay else weight_decay, maximize=maximize)
    k = g.kind
    rate, t, product = cast(lr, k), cast(step, k), cast(mu_product, k)
    if decoupled_weight_decay and weight_decay is not None:
        p = p * (1.0 - rate * weight_decay)
    decay = momentum_decay * math.log(0.96)
    now, later = ((1.0 - 0.5 * f.exp(at * decay)) * beta1 for at in (t, t + 1.0))
    m, v = moved(cast(exp_avg, k), g, beta1), decayed(cast(exp_avg_sq, k), g * g, beta2)
    denominator = f.sqrt(v / bias_correction(beta2, t)) + eps
    by_gradient = rate * (1.0 - now) / (1.0 - product)
    by_average = rate * later / (1.0 - product * later)
    after = p - by_gradient * (g / denominator) - by_average * (m / denominator)
    updated = {"new_param": after, "new_exp_avg": m, "new_exp_avg_sq": v}
    return replaced(updated, param=param, exp_avg=exp_avg, exp_avg_sq=exp_avg_sq)


@op(results=("new_param", "new_exp_avg", "new_exp_avg_sq"))
def radam_step(
    param: Own,
    grad: Expr,
    exp_avg: Own,
    exp_avg_sq: Own,
    lr: Own,
    step: Own,
    *,
    beta1: Decay = 0.9,
    beta2: Decay = 0.999,
    eps: NonNegative = 1e-8,
    weight_decay: NonNegative | None = None,
    decoupled_weight_decay: bool = False,
    maximize: bool = False,
) -> dict[str, Stored]:
    """Adam whose step is scaled by how far the variance of its denominator is known, and is that of the average alone while it
    is not (Liu et al. 2020; torch.optim.RAdam)."""
    p, g = descent(param, grad, None if decoupled_weight_decay else weight_decay, maximize=maximize)
    k = g.kind
    rate, t = cast(lr, k), cast(step, k)
    if decoupled_weight_decay and weight_decay is not None:
        p = p * (1.0 - rate * weight_decay)
    m, v = moved(cast(exp_avg, k), g, beta1), decayed(cast(exp_avg_sq, k), g * g, beta2)
    correction = bias_correction(beta2, t)
    most = 2.0 / (1.0 - beta2) - 1.0
    length = most - 2.0 * t * (1.0 - correction) / correction
    known = f.maximum(length, 5.0)
    rectified = f.sqrt((known - 4.0) * (known - 2.0) * most / ((most - 4.0) * (most - 2.0) * known))
    scale = select(length > 5.0, f.sqrt(correction) * rectified / (f.sqrt(v) + eps), 1.0)
    updated = {"new_param": p - rate / bias_correction(beta1, t) * (m * scale), "new_exp_avg": m, "new_exp_avg_sq": v}
    return replaced(updated, param=param, exp_avg=exp_avg, exp_avg_sq=exp_avg_sq)
