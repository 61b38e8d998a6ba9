"""Cases of the activation functions, of one tensor and gated."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from tests.cases.case import OpCases, Shapes

#: A parameter for each channel, and one for all.
WITH_CHANNELS: list[Shapes] = [((3, 67), (67,)), ((2, 5, 33), (5, 1)), ((1,), ()), ((0, 4), (4,))]
DYT: list[Shapes] = [((3, 67), (), (67,), (67,)), ((2, 5, 33), (1,), (33,), (33,)), ((0, 4), (), (4,), (4,))]


def _gelu(x: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    return F.gelu(x, approximate=approximate)


def _silu(x: torch.Tensor) -> torch.Tensor:
    return x * torch.sigmoid(x)


def _softplus(x: torch.Tensor, beta: float = 1.0, threshold: float = 20.0) -> torch.Tensor:
    return torch.where(x * beta > threshold, x, torch.log1p(torch.exp((x * beta).clamp(max=threshold))) / beta)


def _swiglu_clamped(a: torch.Tensor, b: torch.Tensor, alpha: float = 1.702, limit: float = 7.0) -> torch.Tensor:
    gate, up = a.clamp(max=limit), b.clamp(-limit, limit)
    return gate * torch.sigmoid(alpha * gate) * (up + 1)


def _sparse_plus(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x <= -1, 0.0, torch.where(x >= 1, x, (x + 1) ** 2 / 4))


def _relu(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x <= 0, torch.zeros_like(x), x)


def _squareplus(x: torch.Tensor, b: float = 4.0) -> torch.Tensor:
    root = torch.sqrt(x * x + b)
    return torch.where(x < 0, b / (root - x), x + root) / 2


GELU = ({}, {"approximate": "tanh"})

CASES = {
    "relu": OpCases(torch.relu),
    "relu6": OpCases(F.relu6),
    "leaky_relu": OpCases(
        lambda x, negative_slope=0.01: F.leaky_relu(x, negative_slope), keywords=({}, {"negative_slope": 0.25})
    ),
    "threshold": OpCases(
        lambda x, threshold=0, value=0: torch.where(x <= threshold, torch.full_like(x, value), x),
        keywords=({}, {"threshold": 1, "value": 7}),
    ),
    "hardtanh": OpCases(
        lambda x, min=-1, max=1: F.hardtanh(x, min, max),
        keywords=({"min": 0, "max": 2}, {"max": 3}),
        elements=("f16", "bf16", "f32", "f64", "s8", "s16", "s32", "s64"),
    ),
    "hardshrink": OpCases(lambda x, lambd=0.5: torch.where(x.abs() <= lambd, 0.0, x), keywords=({}, {"lambd": 1.25})),
    "softshrink": OpCases(F.softshrink, keywords=({}, {"lambd": 1.25})),
    "relu_squared": OpCases(lambda x: _relu(x) ** 2),
    "hardsigmoid": OpCases(lambda x: torch.where(x <= -3, 0.0, torch.where(x >= 3, 1.0, (x + 3) / 6)), absolute=0.5),
    "hardswish": OpCases(lambda x: torch.where(x <= -3, x * 0, torch.where(x >= 3, x, x * (x + 3) / 6)), absolute=1.0),
    "elu": OpCases(F.elu, keywords=({}, {"alpha": 0.5})),
    "selu": OpCases(F.selu),
    "celu": OpCases(F.celu, keywords=({}, {"alpha": 0.5})),
    "gelu": OpCases(_gelu, keywords=GELU, absolute=1.0),
    "quick_gelu": OpCases(lambda x: x * torch.sigmoid(1.702 * x), absolute=0.5, tolerance=6.0),
    "silu": OpCases(_silu, domains=("small",), tolerance=8.0, absolute=1.0),  # between the poles at +-pi i
    "mish": OpCases(F.mish, tolerance=8.0, absolute=0.2),
    "softplus": OpCases(_softplus, keywords=({}, {"beta": 2.0, "threshold": 3.0}), absolute=0.5),
    "softsign": OpCases(lambda x: x / (1 + x.abs())),
    "tanhshrink": OpCases(F.tanhshrink, absolute=2.0),
    "logsigmoid": OpCases(lambda x: torch.clamp(x, max=0) - torch.log1p(torch.exp(-x.abs())), absolute=1.0),
    "squareplus": OpCases(_squareplus, keywords=({}, {"b": 1.0})),
    "sparse_plus": OpCases(_sparse_plus, absolute=0.5),
    "sparse_sigmoid": OpCases(lambda x: torch.where(x <= -1, 0.0, torch.where(x >= 1, 1.0, (x + 1) / 2)), absolute=0.5),
    "log1mexp": OpCases(lambda x: torch.log(-torch.expm1(-x)), domains=("positive",), absolute=0.1),
    "softcap": OpCases(lambda x, cap=30.0: cap * torch.tanh(x / cap), keywords=({}, {"cap": 2.0}), specials=False),
    "snake": OpCases(
        lambda x, a: x + torch.sin(a * x) ** 2 / a, domains=("any", "nonzero"), shapes=WITH_CHANNELS, absolute=2.0, specials=False
    ),
    "dyt": OpCases(lambda x, alpha, w, b: w * torch.tanh(alpha * x) + b, shapes=DYT, absolute=4.0),
    "rrelu": OpCases(lambda x, slope: torch.where(x >= 0, x, x * slope), domains=("any", "probability")),
    "prelu": OpCases(lambda x, w: torch.where(x > 0, x, w * x), shapes=WITH_CHANNELS),
    "bias_gelu": OpCases(
        lambda x, b, approximate="none": _gelu(x + b, approximate), shapes=WITH_CHANNELS, keywords=GELU, absolute=16.0
    ),
    "bias_silu": OpCases(lambda x, b: _silu(x + b), shapes=WITH_CHANNELS, absolute=8.0),
    "glu": OpCases(lambda a, b: a * torch.sigmoid(b), tolerance=6.0),
    "swiglu": OpCases(lambda a, b: _silu(a) * b, tolerance=6.0, absolute=0.5),
    "geglu": OpCases(lambda a, b, approximate="none": _gelu(a, approximate) * b, keywords=GELU, absolute=2.0, specials=False),
    "reglu": OpCases(lambda a, b: _relu(a) * b),
    "bilinear_glu": OpCases(lambda a, b: a * b),
    "swiglu_clamped": OpCases(_swiglu_clamped, keywords=({}, {"alpha": 1.0, "limit": 1.5}), absolute=2.0, specials=False),
}
