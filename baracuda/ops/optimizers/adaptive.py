"""Steps of optimizers with a scale for each element beside Adam's, and what is done to gradients and parameters around a step;
conventions as in `baracuda.ops.optimizers.optimizers`."""

from __future__ import annotations

from typing import Annotated

from baracuda.core.bounds import Above, AtLeast, AtMost, Below
from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, const, reduce, select
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.traced import Decay, Host, NonNegative, Own, Scalar, Stored, UnitInterval, WholeScalar, stored_like
from baracuda.ops.optimizers.optimizers import bias_correction, decayed, descent, moved, replaced


@op(results=("new_param", "new_state_sum"))
def adagrad_step(
    param: Own,
    grad: Expr,
    state_sum: Own,
    lr: Own,
    step: Own,
    *,
    lr_decay: NonNegative = 0.0,
    eps: NonNegative = 1e-10,
    weight_decay: NonNegative | None = None,
    maximize: bool = False,
) -> dict[str, Stored]:
    """param - lr / (1 + (step - 1) * lr_decay) * grad / (sqrt(state_sum) + eps), with grad**2 added to state_sum before (Duchi
    et al. 2011; torch.optim.Adagrad)."""
    p, g = descent(param, grad, weight_decay, maximize=maximize)
    rate = cast(lr, g.kind) / (1.0 + (cast(step, g.kind) - 1.0) * lr_decay)
    total = cast(state_sum, g.kind) + g * g
    updated = {"new_param": p - rate * (g / (f.sqrt(total) + eps)), "new_state_sum": total}
    return replaced(updated, param=param, state_sum=state_sum)


@op(results=("new_param", "new_square_avg", "new_grad_avg", "new_momentum_buffer"))
def rmsprop_step(
    param: Own,
    grad: Expr,
    square_avg: Own,
    lr: Own,
    grad_avg: Own | None = None,
    momentum_buffer: Own | None = None,
    *,
    alpha: Annotated[Host, AtLeast(0), AtMost(1)] = 0.99,
    eps: NonNegative = 1e-8,
    momentum: UnitInterval = 0.0,
    weight_decay: NonNegative | None = None,
    maximize: bool = False,
) -> dict[str, Stored]:
    """param - lr * grad / (sqrt(v) + eps), v the moving average of grad**2 with alpha, less the square of that of grad where a
    grad_avg is given; with a momentum_buffer, what lr scales is gathered in it (torch.optim.RMSprop)."""
    p, g = descent(param, grad, weight_decay, maximize=maximize)
    k, updated = g.kind, {}
    v = decayed(cast(square_avg, k), g * g, alpha)
    updated["new_square_avg"] = spread = v
    if grad_avg is not None:
        updated["new_grad_avg"] = mean = moved(cast(grad_avg, k), g, alpha)
        spread = v - mean * mean
    direction = g / (f.sqrt(spread) + eps)
    if momentum_buffer is not None:
        updated["new_momentum_buffer"] = direction = momentum * cast(momentum_buffer, k) + direction
    updated["new_param"] = p - cast(lr, k) * direction
    return replaced(updated, param=param, square_avg=square_avg, grad_avg=grad_avg, momentum_buffer=momentum_buffer)


@op(results=("new_param", "new_square_avg", "new_acc_delta"))
def adadelta_step(
    param: Own,
    grad: Expr,
    square_avg: Own,
    acc_delta: Own,
    lr: Own,
    *,
    rho: Annotated[Host, AtLeast(0), AtMost(1)] = 0.9,
    eps: NonNegative = 1e-6,
    weight_decay: NonNegative | None = None,
    maximize: bool = False,
) -> dict[str, Stored]:
    """param - lr * d, d = sqrt(acc_delta + eps) / sqrt(square_avg + eps) * grad, with moving averages of grad**2 (before) and of
    d**2 (after) (Zeiler 2012; torch.optim.Adadelta)."""
    p, g = descent(param, grad, weight_decay, maximize=maximize)
    v, acc = decayed(cast(square_avg, g.kind), g * g, rho), cast(acc_delta, g.kind)
    delta = f.sqrt(acc + eps) / f.sqrt(v + eps) * g
    updated = {"new_param": p - cast(lr, g.kind) * delta, "new_square_avg": v, "new_acc_delta": decayed(acc, delta * delta, rho)}
    return replaced(updated, param=param, square_avg=square_avg, acc_delta=acc_delta)


@op(results=("new_param", "new_exp_avg"))
def sophia_step(
    param: Own,
    grad: Expr,
    exp_avg: Own,
    hessian: Own,
    lr: Own,
    *,
    beta1: Decay = 0.96,
    gamma: NonNegative = 0.01,
    eps: NonNegative = 1e-12,
    weight_decay: NonNegative | None = None,
    maximize: bool = False,
) -> dict[str, Stored]:
    """param * (1 - lr * weight_decay) - lr * clip(m / max(gamma * hessian, eps), 1), m the moving average of the gradient and
    hessian that of the diagonal's estimates, which the caller keeps (Liu et al. 2023, algorithm 3)."""
    p, g = descent(param, grad, None, maximize=maximize)
    rate = cast(lr, g.kind)
    p = p if weight_decay is None else p * (1.0 - rate * weight_decay)
    m = decayed(cast(exp_avg, g.kind), g, beta1)
    ratio = f.clamp(m / f.maximum(cast(hessian, g.kind) * gamma, eps), -1.0, 1.0)
    return replaced({"new_param": p - rate * ratio, "new_exp_avg": m}, param=param, exp_avg=exp_avg)


@op(results=("new_param", "new_z", "new_exp_avg_sq"))
def schedule_free_adamw_step(
    param: Own,
    grad: Expr,
    z: Own,
    exp_avg_sq: Own,
    lr: Own,
    step: Own,
    averaging: Own,
    *,
    beta1: Decay = 0.9,
    beta2: Decay = 0.999,
    eps: NonNegative = 1e-8,
    weight_decay: NonNegative | None = None,
    maximize: bool = False,
) -> dict[str, Stored]:
    """AdamW without a schedule (Defazio et al. 2024): param, where gradients are taken, is y = beta1 * x + (1 - beta1) * z for
    the average x and the iterate z. With d = grad / (sqrt(v / (1 - beta2**step)) + eps) + weight_decay * y

        y moves to y + c * (z - y) + lr * (beta1 * (1 - c) - 1) * d        z moves to z - lr * d

    averaging is c, this step's weight over the sum of all so far; a tensor without axes or a number.
    """
    p, g = descent(param, grad, None, maximize=maximize)
    k = g.kind
    rate, c, iterate = cast(lr, k), cast(averaging, k), cast(z, k)
    v = decayed(cast(exp_avg_sq, k), g * g, beta2)
    d = g / (f.sqrt(v / bias_correction(beta2, cast(step, k))) + eps)
    d = d if weight_decay is None else d + weight_decay * p
    y = p + c * (iterate - p) + rate * ((1.0 - c) * beta1 - 1.0) * d
    updated = {"new_param": y, "new_z": iterate - rate * d, "new_exp_avg_sq": v}
    return replaced(updated, param=param, z=z, exp_avg_sq=exp_avg_sq)


# --- around a step ----------------------------------------------------------------------------------------------------


@op(results=("new_average",))
def ema_update(average: Own, value: Expr, *, decay: Annotated[Host, AtLeast(0), AtMost(1)] = 0.999) -> dict[str, Stored]:
    """average + (1 - decay) * (value - average), in average's element."""
    return replaced({"new_average": moved(cast(average, value.kind), value, decay)}, average=average)


@op()
def clip_grad_value(grad: Expr, *, clip_value: NonNegative = 1.0) -> Expr:
    """The gradient limited to [-clip_value, clip_value]; NaN stays NaN."""
    return f.clamp(grad, -(clip_value * const(1.0, grad.kind)), clip_value)


@op(results=("y", "found_inf"), rows=True, axis=None, keepdims=False)
def grad_unscale(grad: Expr, inv_scale: Own) -> tuple[Expr, Expr]:
    """grad * inv_scale, a tensor without axes or a number, and whether some element of grad is infinite or NaN."""
    return grad * cast(inv_scale, grad.kind), reduce("or", ~(abs(grad) < float("inf")))


@op(family="optimizer", takes="float", results=("new_scale", "new_growth_tracker"))
def loss_scale_update(
    scale: Expr,
    growth_tracker: Own,
    found_inf: Own,
    *,
    growth_factor: Annotated[Scalar, Above(1)] = 2.0,
    backoff_factor: Annotated[Scalar, Above(0), Below(1)] = 0.5,
    growth_interval: Annotated[WholeScalar, AtLeast(1)] = 2000,
) -> dict[str, Expr | Stored]:
    """The scale of a loss after a step: times backoff_factor where found_inf (bool) says so; times growth_factor after
    growth_interval steps without, which growth_tracker, an integer, counts. A scale that would be infinite stays.

    Source: torch.amp.GradScaler.
    """
    one = const(1, growth_tracker.kind)
    count = select(found_inf, const(0, growth_tracker.kind), growth_tracker + one)
    due = f.equal(cast(count, ElementKind.S64), growth_interval)
    grown = scale * growth_factor
    grown = select(grown < float("inf"), grown, scale)
    new_scale = select(found_inf, scale * backoff_factor, select(due, grown, scale))
    tracker = stored_like(select(due, const(0, count.kind), count), growth_tracker)
    return {"new_scale": new_scale, "new_growth_tracker": tracker}
