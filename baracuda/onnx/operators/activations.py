"""Activations, and softmax."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

import baracuda
from baracuda.formula import functions as f
from baracuda.onnx.operators.registry import operator
from baracuda.onnx.operators.values import Tensor, positive
from baracuda.ops.declaration.traced import Scalar


@baracuda.fuse
def _selu(x: Any, *, alpha: Scalar, gamma: Scalar) -> Any:
    return f.where(x > 0.0, gamma * x, gamma * (alpha * f.expm1(x)))


@baracuda.fuse
def _thresholded(x: Any, *, alpha: Scalar) -> Any:
    return f.where(x > alpha, x, 0.0)


@baracuda.fuse
def _hard_sigmoid(x: Any, *, alpha: Scalar, beta: Scalar) -> Any:
    return f.maximum(f.minimum(alpha * x + beta, 1.0), 0.0)


@baracuda.fuse
def _hard_swish(x: Any) -> Any:
    return x * f.maximum(f.minimum(x / 6.0 + 0.5, 1.0), 0.0)


@baracuda.fuse
def _shrink(x: Any, *, lambd: Scalar, bias: Scalar) -> Any:
    return f.where(x > lambd, x - bias, f.where(x < -lambd, x + bias, 0.0))


@operator("Selu")
def selu(x: Tensor, *, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875) -> Tensor:
    """gamma * x above 0, gamma * alpha * (exp(x) - 1) below."""
    return _selu(x, alpha=alpha, gamma=gamma)


@operator("ThresholdedRelu", since=10)
def thresholded_relu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """x above alpha, else 0."""
    return _thresholded(x, alpha=alpha)


@operator("HardSigmoid")
def hard_sigmoid(x: Tensor, *, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    """alpha * x + beta within 0 and 1."""
    return _hard_sigmoid(x, alpha=alpha, beta=beta)


@operator("HardSwish", since=14)
def hard_swish(x: Tensor) -> Tensor:
    """x * (x / 6 + 1 / 2 within 0 and 1)."""
    return _hard_swish(x)


@operator("Elu")
def elu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """`baracuda.elu`."""
    return baracuda.elu(x, alpha=alpha)


@operator("Celu", since=12)
def celu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """`baracuda.celu`."""
    return baracuda.celu(x, alpha=alpha)


@operator("LeakyRelu")
def leaky_relu(x: Tensor, *, alpha: float = 0.01) -> Tensor:
    """`baracuda.leaky_relu`."""
    return baracuda.leaky_relu(x, negative_slope=alpha)


@operator("Softplus")
def softplus(x: Tensor) -> Tensor:
    """`baracuda.softplus`."""
    return baracuda.softplus(x)


@operator("Gelu", since=20)
def gelu(x: Tensor, *, approximate: Literal["none", "tanh"] = "none") -> Tensor:
    """`baracuda.gelu`."""
    return baracuda.gelu(x, approximate=approximate)


@baracuda.fuse
def _shrunk_swish(x: Any, *, alpha: Scalar) -> Any:
    return x * f.sigmoid(alpha * x)


@operator("Swish", since=24)
def swish(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """x * sigmoid(alpha * x)."""
    return _shrunk_swish(x, alpha=alpha)


@operator("Shrink", since=9)
def shrink(x: Tensor, *, lambd: float = 0.5, bias: float = 0.0) -> Tensor:
    """x nearer to 0 by bias beyond lambd, 0 within."""
    if np.dtype(x.dtype).kind in "iu":
        wide = baracuda.cast(x, dtype=np.dtype(np.float64))
        return baracuda.cast(_shrink(wide, lambd=lambd, bias=bias), dtype=x.dtype)
    return _shrink(x, lambd=lambd, bias=bias)


_ROWS: dict[str, Callable[..., Any]] = {
    "Softmax": baracuda.softmax,
    "LogSoftmax": baracuda.log_softmax,
    "Hardmax": baracuda.hardmax,
}


def _flat(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Tensor, *, axis: int = 1) -> Tensor:
        at = positive(axis, len(x.shape)) if axis != len(x.shape) else axis
        rows = baracuda.reshape(x, (math.prod(x.shape[:at]), math.prod(x.shape[at:])))
        return baracuda.reshape(function(rows, axis=-1), tuple(x.shape))

    return run


def _rows(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Tensor, *, axis: int = -1) -> Tensor:
        return function(x, axis=axis)

    return run


for _name, _function in _ROWS.items():
    operator(_name, since=1)(_flat(_function))  # all axes from `axis` on are one row
    operator(_name, since=13)(_rows(_function))
