"""Steps of optimizers, of the domain ai.onnx.preview.training."""

from __future__ import annotations

from typing import Any, Literal

import baracuda
from baracuda.formula import functions as f
from baracuda.onnx.operators.registry import operator
from baracuda.onnx.operators.values import Host, Tensor, scalar
from baracuda.ops.declaration.traced import Scalar

_DOMAIN = "ai.onnx.preview.training"


@baracuda.fuse
def _adagrad(x: Any, g: Any, h: Any, *, rate: Scalar, norm: Scalar, eps: Scalar) -> Any:
    g = norm * x + g
    h = h + g * g
    return x - rate * g / (f.sqrt(h) + eps), h


@baracuda.fuse
def _adam(
    x: Any, g: Any, v: Any, h: Any, *, rate: Scalar, norm: Scalar, alpha: Scalar, rest_a: Scalar, beta: Scalar, rest_b: Scalar,
    eps: Scalar, post: Scalar,
) -> Any:  # fmt: skip
    g = norm * x + g
    v = alpha * v + rest_a * g
    h = beta * h + rest_b * (g * g)
    return post * (x - rate * v / (f.sqrt(h) + eps)), v, h


@baracuda.fuse
def _momentum(x: Any, g: Any, v: Any, *, rate: Scalar, norm: Scalar, alpha: Scalar, beta: Scalar) -> Any:
    v = alpha * v + beta * (norm * x + g)
    return x - rate * v, v


@baracuda.fuse
def _nesterov(x: Any, g: Any, v: Any, *, rate: Scalar, norm: Scalar, alpha: Scalar, beta: Scalar) -> Any:
    g = norm * x + g
    v = alpha * v + beta * g
    return x - rate * (g + alpha * v), v


def _lists(given: tuple[Tensor, ...], kinds: int) -> list[tuple[Tensor, ...]]:
    count = len(given) // kinds
    return [tuple(given[k * count + i] for k in range(kinds)) for i in range(count)]


def _columns(rows: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(v for column in zip(*rows, strict=True) for v in column)


@operator("Adagrad", domain=_DOMAIN)
def adagrad(
    r: Host, t: Host, *given: Tensor, decay_factor: float = 0.0, epsilon: float = 1e-6, norm_coefficient: float = 0.0
) -> Any:
    """One step of Adagrad for each tensor."""
    rate = scalar(r) / (1 + scalar(t) * decay_factor)
    return _columns([tuple(_adagrad(x, g, h, rate=rate, norm=norm_coefficient, eps=epsilon)) for x, g, h in _lists(given, 3)])


@operator("Adam", domain=_DOMAIN)
def adam(
    r: Host,
    t: Host,
    *given: Tensor,
    alpha: float = 0.9,
    beta: float = 0.999,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
    norm_coefficient_post: float = 0.0,
) -> Any:
    """One step of Adam for each tensor."""
    rate, step = scalar(r), scalar(t)
    if step > 0:
        rate = rate * (1 - beta**step) ** 0.5 / (1 - alpha**step)
    words = {
        "rate": rate, "norm": norm_coefficient, "alpha": alpha, "rest_a": 1 - alpha, "beta": beta, "rest_b": 1 - beta,
        "eps": epsilon, "post": 1 - norm_coefficient_post,
    }  # fmt: skip
    return _columns([tuple(_adam(x, g, v, h, **words)) for x, g, v, h in _lists(given, 4)])


@operator("Momentum", domain=_DOMAIN)
def momentum(
    r: Host,
    t: Host,
    *given: Tensor,
    alpha: float,
    beta: float,
    mode: Literal["standard", "nesterov"],
    norm_coefficient: float,
) -> Any:
    """One step with momentum for each tensor."""
    step = _nesterov if mode == "nesterov" else _momentum
    words = {"rate": scalar(r), "norm": norm_coefficient, "alpha": alpha, "beta": beta if scalar(t) > 0 else 1.0}
    return _columns([tuple(step(x, g, v, **words)) for x, g, v in _lists(given, 3)])
