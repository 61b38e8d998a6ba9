"""Cases of the optimizers' steps: torch.optim where it has them, else the papers' algorithms, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tests.cases.case import OpCases, Shapes

Tensor = torch.Tensor
FLOATS = ("f16", "bf16", "f32", "f64")


def _stepped(kind: Any, param: Tensor, grad: Tensor, lr: Tensor, state: dict[str, Any], **words: Any) -> tuple[Tensor, ...]:
    """A parameter and its state after a step of one of torch's optimizers; `state` in the order of the results."""
    grad = grad.expand(param.shape)
    p = torch.nn.Parameter(param.clone())
    optimizer = kind([p], lr=float(lr), foreach=False, **words)
    optimizer.state[p] = {n: v.expand(p.shape).clone() if n not in ("step", "mu_product") else v for n, v in state.items()}
    p.grad = grad
    optimizer.step()
    after = optimizer.state[p]
    return (p.detach(), *(after[n] for n in state if n not in ("step", "mu_product")))


def _betas(words: dict[str, Any]) -> dict[str, Any]:
    others = {n: v for n, v in words.items() if not n.startswith("beta")}
    return {
        **others,
        "weight_decay": others.get("weight_decay", 0.0),
        "betas": (words.get("beta1", 0.9), words.get("beta2", 0.999)),
    }


def _sgd(p: Tensor, g: Tensor, lr: Tensor, buffer: Tensor | None = None, first: bool = False, **words: Any) -> tuple[Tensor, ...]:
    state: dict[str, Any] = {} if buffer is None else {"momentum_buffer": None if first else buffer}
    if not first:
        return _stepped(torch.optim.SGD, p, g, lr, state, **words)
    q = torch.nn.Parameter(p.clone())
    optimizer = torch.optim.SGD([q], lr=float(lr), foreach=False, **words)
    q.grad = g.expand(p.shape)
    optimizer.step()
    return q.detach(), optimizer.state[q]["momentum_buffer"]


def _adam(kind: Any) -> Callable[..., Any]:
    def stepped(
        p: Tensor, g: Tensor, m: Tensor, v: Tensor, lr: Tensor, step: Tensor, top: Tensor | None = None, **words: Any
    ) -> tuple[Tensor, ...]:
        state = {"step": step - 1, "exp_avg": m, "exp_avg_sq": v} | ({} if top is None else {"max_exp_avg_sq": top})
        options = _betas(words)
        if kind is torch.optim.AdamW:
            options["weight_decay"] = words.get("weight_decay", 0.01)
        return _stepped(kind, p, g, lr, state, amsgrad=top is not None, **options)

    return stepped


def _adamax(p: Tensor, g: Tensor, m: Tensor, u: Tensor, lr: Tensor, step: Tensor, **words: Any) -> tuple[Tensor, ...]:
    return _stepped(torch.optim.Adamax, p, g, lr, {"step": step - 1, "exp_avg": m, "exp_inf": u}, **_betas(words))


def _nadam(
    p: Tensor, g: Tensor, m: Tensor, v: Tensor, lr: Tensor, step: Tensor, product: Tensor, **words: Any
) -> tuple[Tensor, ...]:
    options = _betas(words)
    mu = options["betas"][0] * (1 - 0.5 * 0.96 ** (float(step) * words.get("momentum_decay", 4e-3)))
    state = {"step": step - 1, "mu_product": product / mu, "exp_avg": m, "exp_avg_sq": v}
    return _stepped(torch.optim.NAdam, p, g, lr, state, **options)


def _radam(p: Tensor, g: Tensor, m: Tensor, v: Tensor, lr: Tensor, step: Tensor, **words: Any) -> tuple[Tensor, ...]:
    return _stepped(torch.optim.RAdam, p, g, lr, {"step": step - 1, "exp_avg": m, "exp_avg_sq": v}, **_betas(words))


def _adagrad(p: Tensor, g: Tensor, total: Tensor, lr: Tensor, step: Tensor, **words: Any) -> tuple[Tensor, ...]:
    return _stepped(torch.optim.Adagrad, p, g, lr, {"step": step - 1, "sum": total}, **words)


def _rmsprop(
    p: Tensor, g: Tensor, v: Tensor, lr: Tensor, mean: Tensor | None = None, buffer: Tensor | None = None, **words: Any
) -> tuple[Tensor, ...]:
    words["momentum"] = 0.0 if buffer is None else words.get("momentum", 0.0) or 1e-300  # which torch takes for no buffer
    state: dict[str, Any] = {"step": torch.tensor(3.0), "square_avg": v}
    state |= ({} if mean is None else {"grad_avg": mean}) | ({} if buffer is None else {"momentum_buffer": buffer})
    return _stepped(torch.optim.RMSprop, p, g, lr, state, centered=mean is not None, **words)


def _adadelta(p: Tensor, g: Tensor, v: Tensor, acc: Tensor, lr: Tensor, **words: Any) -> tuple[Tensor, ...]:
    return _stepped(torch.optim.Adadelta, p, g, lr, {"step": torch.tensor(3.0), "square_avg": v, "acc_delta": acc}, **words)


def _rprop(
    p: Tensor, g: Tensor, prev: Tensor, size: Tensor, etaminus: float = 0.5, etaplus: float = 1.2, maximize: bool = False
) -> tuple[Tensor, ...]:
    state = {"step": torch.tensor(3.0), "prev": prev, "step_size": size}
    return _stepped(torch.optim.Rprop, p, g, torch.tensor(0.1), state, etas=(etaminus, etaplus), maximize=maximize)


def _lion(
    p: Tensor, g: Tensor, m: Tensor, lr: Tensor, beta1: float = 0.9, beta2: float = 0.99, weight_decay: float = 0.0
) -> tuple[Tensor, ...]:
    return p * (1 - lr * weight_decay) - lr * torch.sign(beta1 * m + (1 - beta1) * g), beta2 * m + (1 - beta2) * g


def _sophia(
    p: Tensor, g: Tensor, m: Tensor, h: Tensor, lr: Tensor, gamma: float = 0.01, weight_decay: float = 0.0
) -> tuple[Tensor, ...]:
    m = 0.96 * m + 0.04 * g
    return p * (1 - lr * weight_decay) - lr * (m / (gamma * h).clamp(min=1e-12)).clamp(-1, 1), m


def _schedule_free(
    p: Tensor, g: Tensor, z: Tensor, v: Tensor, lr: Tensor, step: Tensor, c: Tensor, weight_decay: float = 0.0
) -> tuple[Tensor, ...]:
    x = (p - 0.1 * z) / 0.9  # from y = beta1 * x + (1 - beta1) * z
    v = 0.999 * v + 0.001 * g * g
    z = z - lr * (d := g / ((v / (1 - 0.999**step)).sqrt() + 1e-8) + weight_decay * p)
    x = (1 - c) * x + c * z
    return 0.9 * x + 0.1 * z + 0 * d, z, v


def _lamb(
    p: Tensor, g: Tensor, m: Tensor, v: Tensor, lr: Tensor, step: Tensor, beta1: float = 0.9, eps: float = 1e-6,
    weight_decay: float = 0.01, most_trust: float | None = None, correct_bias: bool = True, maximize: bool = False,
) -> tuple[Tensor, ...]:  # fmt: skip
    g = -g if maximize else g
    m, v = beta1 * m + (1 - beta1) * g, 0.999 * v + 0.001 * g * g
    corrected = (m / (1 - beta1**step), v / (1 - 0.999**step)) if correct_bias else (m, v)
    d = corrected[0] / (corrected[1].sqrt() + eps) + weight_decay * p
    norms = p.norm(), d.norm()
    trust = norms[0] / norms[1] if min(norms) > 0 else torch.ones(())
    return p - lr * (trust if most_trust is None else trust.clamp(max=most_trust)) * d, m, v


def _lars(
    p: Tensor, g: Tensor, lr: Tensor, buffer: Tensor | None = None, trust_coefficient: float = 0.001, momentum: float = 0.9,
    weight_decay: float = 0.0, maximize: bool = False, **words: Any,
) -> tuple[Tensor, ...]:  # fmt: skip
    g = (-g if maximize else g).expand(p.shape)
    share = trust_coefficient * p.norm() / (g.norm() + weight_decay * p.norm() + 1e-8)
    scaled = (share if min(p.norm(), g.norm()) > 0 else 1.0) * (g + weight_decay * p)
    return _sgd(p, scaled, lr, buffer, momentum=momentum, **words)


def _scaled(scale: Tensor, tracker: Tensor, found_inf: Tensor, growth_interval: int = 2000) -> tuple[Tensor, Tensor]:
    pairs = []
    for s, n, f in zip(scale.flatten(), tracker.flatten(), found_inf.flatten(), strict=True):
        own, count = s.clone().float(), n.clone().int()
        torch._amp_update_scale_(own, count, f.float(), 2.0, 0.5, growth_interval)
        pairs.append((own.double(), count.long()))
    return (
        torch.stack([a for a, _ in pairs]).reshape(scale.shape),
        torch.stack([b for _, b in pairs]).reshape(scale.shape),
    )


def _unscaled(g: Tensor, inverse: Tensor, axis: Any = None) -> tuple[Tensor, Tensor]:
    bad = ~g.isfinite()
    return g * inverse, bad.any() if axis is None else bad.any(axis)


def _tensors(count: int, *scalars: int) -> list[Shapes]:
    """A parameter and its gradient with `count - 2` tensors of state, then tensors without axes."""
    return [tuple([shape] * count + [()] * sum(scalars)) for shape in ((3, 67), (130,), (2, 5, 33))]


def case(
    reference: Callable[..., Any], domains: tuple[str, ...], shapes: list[Shapes], *words: dict[str, Any], **more: Any
) -> OpCases:
    usual = {"elements": FLOATS, "gradient": False, "specials": False, "tolerance": 24.0, "absolute": 4.0}
    return OpCases(reference, domains, shapes, ({}, *words), **{**usual, **more})


_STATE = ("any", "any", "any", "positive", "probability", "above one")
_WITH_TOP: list[Shapes] = [((3, 67),) * 4 + ((), (), None), ((2, 5, 33),) * 4 + ((), (), (2, 5, 33))]
_DECAY: tuple[dict[str, Any], ...] = ({"weight_decay": 0.1}, {"maximize": True})
CASES = {
    "sgd_step": case(
        _sgd, ("any", "any", "probability", "any"), [((3, 67), (3, 67), (), None), ((2, 5, 33), (2, 5, 33), (), (2, 5, 33))],
        {"weight_decay": 0.1, "momentum": 0.9, "dampening": 0.25}, {"momentum": 0.9, "maximize": True},
    ),
    "adam_step": case(_adam(torch.optim.Adam), (*_STATE, "positive"), _WITH_TOP, {"beta1": 0.5, "beta2": 0.9}, *_DECAY),
    "adamw_step": case(_adam(torch.optim.AdamW), (*_STATE, "positive"), _WITH_TOP, {"beta1": 0.0, "eps": 1e-3}, *_DECAY),
    "adamax_step": case(_adamax, _STATE, _tensors(4, 2), *_DECAY),
    "nadam_step": case(
        _nadam, (*_STATE, "probability"), _tensors(4, 3), *_DECAY, {"weight_decay": 0.1, "decoupled_weight_decay": True},
        tolerance=64.0,
    ),
    "radam_step": case(
        _radam, (*_STATE[:5], "index:60"), _tensors(4, 2), *_DECAY, {"weight_decay": 0.1, "decoupled_weight_decay": True},
        tolerance=64.0, elements=("f32", "f64"),
    ),
    "adagrad_step": case(
        _adagrad, ("any", "any", "positive", "probability", "above one"), _tensors(3, 2), {"lr_decay": 0.5}, *_DECAY
    ),
    "rmsprop_step": case(
        _rmsprop, ("any", "any", "above one", "probability", "small", "any"),
        [((3, 67),) * 3 + ((), None, None), ((2, 5, 33),) * 3 + ((), None, (2, 5, 33))], *_DECAY, {"alpha": 0.5, "momentum": 0.5},
    ),
    "adadelta_step": case(
        _adadelta, ("any", "any", "positive", "positive", "probability"), _tensors(4, 1), {"rho": 0.5}, *_DECAY
    ),
    "rprop_step": case(
        _rprop, ("any", "grid", "grid", "probability"), _tensors(4), {"etaminus": 0.25, "etaplus": 2.0}, {"maximize": True}
    ),
    "lion_step": case(_lion, ("any", "any", "any", "probability"), _tensors(3, 1), {"weight_decay": 0.1, "beta1": 0.5}),
    "sophia_step": case(
        _sophia, ("any", "any", "any", "positive", "probability"), _tensors(4, 1), {"weight_decay": 0.1, "gamma": 1.0}
    ),
    "schedule_free_adamw_step": case(
        _schedule_free, (*_STATE, "probability"), _tensors(4, 3), {"weight_decay": 0.1}, tolerance=64.0
    ),
    "lamb_step": case(
        _lamb, _STATE, _tensors(4, 2), *_DECAY, {"most_trust": 0.5, "beta1": 0.5}, {"correct_bias": False}, tolerance=64.0
    ),
    "lars_step": case(
        _lars, ("any", "any", "probability", "any"), [((3, 67), (3, 67), (), None), ((2, 5, 33), (2, 5, 33), (), (2, 5, 33))],
        *_DECAY, {"trust_coefficient": 0.5, "momentum": 0.5, "dampening": 0.25}, tolerance=64.0,
    ),
    "weight_decay_decoupled": case(
        lambda p, lr, weight_decay=0.01: p * (1 - lr * weight_decay), ("any", "probability"), _tensors(1, 1),
        {"weight_decay": 0.5},
    ),
    "ema_update": case(lambda a, v, decay=0.999: decay * a + (1 - decay) * v, ("any",), _tensors(2), {"decay": 0.5}),
    "clip_grad_value": OpCases(
        lambda g, clip_value=1.0: g.clamp(-clip_value, clip_value), keywords=({}, {"clip_value": 0.25}), gradient=False
    ),
    "grad_unscale": OpCases(
        _unscaled, ("any", "probability"), [((3, 67), ()), ((2, 5, 33), ()), ((1,), ())], ({}, {"axis": -1}), gradient=False
    ),
    "loss_scale_update": case(
        _scaled, ("positive", "index:4", "mask"), [((3, 67),) * 3, ((1,),) * 3, ((),) * 3], {"growth_interval": 2},
        elements=("f32",),
    ),
}  # fmt: skip
